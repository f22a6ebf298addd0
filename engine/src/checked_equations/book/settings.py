"""Settings that a book gives the engine: ``equations.toml`` at its root, or above its chapters.

Its settings are the fields of `Settings`, and each may be left out; paths are relative to the file.
Of the notation, groups of ``symbols`` in YAML or JSON, the engine reads ``fields``, by symbol, and
``chapter``, where the letters mean this and only there.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from ..check.bindings import Fields
from ..latex.macros import Macros

NAME = "equations.toml"
CLAIMS = "_claims"  # a book's folder of what was found for its claims
# A package may carry its book. It declares the folder as an entry point:
# [project.entry-points."checked_equations"], mine = "mine:__equations__".
_GROUP = __package__.split(".")[0]
_KNOWN = {"notation", "macros", "let"}

T = TypeVar("T")


def once_a_state(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Return a reader that calls `read` once for each state of a file."""
    known = lru_cache(maxsize=1024)(lambda file, changed, size: read(file))

    @wraps(read)
    def current(file: Path) -> T:
        state = file.stat()
        return known(file, state.st_mtime_ns, state.st_size)

    return current


def nearest(name: str, folder: Path) -> Path | None:
    """The file of a `name` in `folder` or above it, if there is one."""
    above = (folder.resolve(), *folder.resolve().parents)
    return next((place / name for place in above if (place / name).is_file()), None)


@dataclass(frozen=True)
class Settings:
    """The settings of a book and the file that they stand in; without one, there are none.

    Symbols are fields of a problem by the `notation`; `macros` are the book's own, where no
    ``_config.yml`` has them.
    `let` declares symbols that are not bound, and `let_for` so for single labels.
    Those that are `installed` were found in a package that carries them, far from the book.
    """

    file: Path | None = None
    notation: str = ""
    macros: Macros = field(default_factory=dict)
    let: tuple[str, ...] = ()
    let_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    installed: bool = False

    @property
    def notation_file(self) -> Path | None:
        """The file of the notation."""
        return self.file.parent / self.notation if self.file and self.notation else None

    def rows(self) -> list[dict[str, Any]]:
        """The rows that name fields; raises `ValueError` for a field of no form of its row."""
        file = self.notation_file
        groups = []
        if file and file.suffix == ".json":
            groups = json.loads(file.read_text(encoding="utf-8"))
        elif file and find_spec("yaml"):  # without it a symbol has no field
            groups = read_yaml(file)
        rows = [row for group in groups for row in group["symbols"] if row.get("fields")]
        for row in rows:
            strange = sorted(set(row["fields"]) - {*row["latex"], *row.get("shown", ())})
            if strange:
                said = f"{', '.join(strange)} is no form of a row of the notation"
                raise ValueError(f"{file}: {said}")
        return rows

    def fields(self, chapter: str) -> Fields:
        """The fields that the notation gives to the symbols of `chapter`."""
        own = [row["fields"] for row in self.rows() if row.get("chapter", chapter) == chapter]
        return Fields.of_rows(own)


@once_a_state
def read_yaml(file: Path) -> Any:
    """Return the content of a file of YAML, by libyaml if PyYAML has it: in a tenth of the time."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text(encoding="utf-8"), Loader=loader)


def claims_file(root: Path, chapter: str) -> Path:
    """Return the file in which a book with settings at `root` stores the claims of a chapter."""
    return root / CLAIMS / f"{chapter}.json"


def find_settings(folder: Path, *, installed: bool = True) -> Settings:
    """Return the settings nearest to `folder`, else those of an `installed` package, if wanted.

    Raises `ValueError` for unknown ones.
    """
    near = nearest(NAME, folder)
    if near or not installed:
        return _read(near) if near else Settings()
    # what is installed is only looked through where no file is near
    far = next(filter(Path.is_file, (place / NAME for place in carried())), None)
    return replace(_read(far), installed=True) if far else Settings()


@once_a_state
def _read(file: Path) -> Settings:
    given: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        raise ValueError(f"{file}: {', '.join(unknown)} is no setting of the engine")
    let = given.pop("let", {})
    by_label = let if isinstance(let, dict) else {"": let}
    told = {label: _listed(clauses) for label, clauses in by_label.items()}
    every = told.pop("", ())
    return Settings(file, let=every, let_for=told, **given)


def _listed(clauses: str | list[str]) -> tuple[str, ...]:
    """One declaration, or several."""
    return (clauses,) if isinstance(clauses, str) else tuple(clauses)


def carried() -> tuple[Path, ...]:
    """Return the folders of the books that installed packages carry."""
    return tuple(Path(entry.load()) for entry in entry_points(group=_GROUP))


def read_macros(folder: Path) -> Macros:
    """The commands that a book gives MathJax, in the nearest ``_config.yml`` or its settings.

    A ``conf.py`` is a program, and is not read.
    """
    config = nearest("_config.yml", folder)
    # without a parser of YAML a macro is an unbound symbol
    known = read_yaml(config) if config and find_spec("yaml") else {}
    for key in ("sphinx", "config", "mathjax3_config", "tex", "macros"):
        known = (known.get(key) if isinstance(known, dict) else None) or {}
    return {**known, **find_settings(folder, installed=False).macros}
