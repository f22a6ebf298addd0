"""What a book tells the engine: a file ``equations.toml`` at its root, or above its chapters.

Every setting may be left out::

    notation = "book/notation.yml"    # which symbol is which field of a problem, see `notation`
    carry = ["book/data/*.csv"]       # what a notebook far from the book needs beside equations

    [macros]                          # the book's own commands, where no _config.yml tells them
    R = '\\mathbb R'
    vec = ['\\mathbf{#1}', 1]

Paths are relative to the file. In a folder of packed data (see `packing`) they count by their
last part, since everything lies beside the file there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ..latex.macros import Macros
from .file_states import once_a_state

NAME = "equations.toml"
CLAIMS = "_claims"  # a book's folder of what was found for its claims
PACKED = "_equations"  # a book's own folder of packed data
# A package may carry the packed data of its book. It declares the folder as an entry point:
# [project.entry-points."checked_equations"], mine = "mine:__equations__".
_GROUP = __package__.split(".")[0]
_KNOWN = {"notation", "carry", "macros"}


@dataclass(frozen=True)
class Settings:
    """The settings of a book and the file that they stand in; without one, there are none."""

    file: Path | None = None
    notation: str = ""
    carry: tuple[str, ...] = ()
    macros: Macros = field(default_factory=dict)

    @property
    def notation_file(self) -> Path | None:
        """The notation: the book's own, or what was packed of it."""
        if not self.notation:
            return None
        folder = self.file.parent if self.file else Path()
        places = folder / self.notation, folder / Path(self.notation).with_suffix(".json").name
        return next(filter(Path.is_file, places), None)

    def carried_files(self) -> Iterator[Path]:
        """The files that go with the equations where these are packed."""
        if self.file is not None:
            for pattern in self.carry:
                yield from sorted(self.file.parent.glob(pattern))
            yield self.file


def read_yaml(file: Path) -> Any:
    """What stands in a file of YAML, by libyaml if PyYAML has it: in a tenth of the time."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text(encoding="utf-8"), Loader=loader)


def claims_file(root: Path, chapter: str) -> Path:
    """Where a book, whose settings lie at `root`, stores what was found for a chapter's claims."""
    return root / CLAIMS / f"{chapter}.json"


def find_settings(folder: Path, *, packed: bool = True) -> Settings:
    """The settings of the book that `folder` belongs to: from the file in it, or above it.

    Else, with `packed`, those of the packed copy that is nearest. Raises `ValueError` for a
    setting that does not exist.
    """
    above = (folder.resolve(), *folder.resolve().parents)
    file = next((place / NAME for place in above if (place / NAME).is_file()), None)
    if file is None and packed:  # what is installed is only looked through where no file is near
        copies = (*(place / PACKED for place in above), *carried())
        file = next((place / NAME for place in copies if (place / NAME).is_file()), None)
    return _read(file) if file else Settings()


@once_a_state
def _read(file: Path) -> Settings:
    given: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        raise ValueError(f"{file}: {', '.join(unknown)} is no setting of the engine")
    return Settings(file, **{**given, "carry": tuple(given.get("carry", ()))})


def carried() -> tuple[Path, ...]:
    """The folders of packed data that travel with installed packages."""
    return tuple(Path(entry.load()) for entry in entry_points(group=_GROUP))
