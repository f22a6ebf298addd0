"""Which text a chapter is read from, and whether that is the text which is shown.

That is the notebook that runs, where its host says which file it is: Jupyter's server names it in
``JPY_SESSION_NAME``, Visual Studio Code in a variable of the notebook. Else it is the one text of
the chapter in the working directory; two that differ are refused. Else it is the copy that the
book or the installed package carries, and then all that is said about it says so.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import plugins
from ..latex.equation import Equation
from ..latex.macros import expand, expand_equation
from . import markup, prose
from .carried_pages import carried_equations
from .prose import Relation
from .settings import once_a_state, read_macros

# What reads the labelled equations of a paper, without its commands.
PaperReader = Callable[[Path], Mapping[str, Equation]]
AS_PACKAGED = "as packaged, not as in this notebook"
_ELSEWHERE = Path("not-a-file-here.ipynb")  # Colab keeps a notebook where no kernel can read it


@dataclass(frozen=True)
class Manuscript:
    """A chapter's equations as they were last read.

    `name` is the name of the file, or words that say that it is not the one which is shown; `saved`
    says when it was saved, and stands in no line that a test compares.
    """

    name: str
    equations: Mapping[str, Equation]
    file: Path | None = None
    saved: str = ""

    def changed(self, newer: Manuscript) -> set[str]:
        """The labels of the equations that read otherwise in `newer`, or are not there."""
        new = {label: e.digest for label, e in newer.equations.items()}
        return {label for label, e in self.equations.items() if new.get(label) != e.digest}

    def formulas(self) -> list[Relation]:
        """The mathematics of the text outside its numbered equations, as it stands now."""
        if self.file is None or self.file.suffix in markup.TEX:
            return []
        macros = read_macros(self.file.resolve().parent)
        read = prose.read_formulas(self.file)
        return [replace(f, latex=expand(f.latex, macros).latex) for f in read] if macros else read


def read_manuscript(slug: str, folder: Path, file: Path | None = None) -> Manuscript:
    """The text of a chapter as it is now; raises `ValueError` for none, and for two that differ."""
    if file is not None:
        return _of(file)
    named = running()
    if named is not None and _is_text(named, slug):
        return _of(named)
    elsewhere = named is not None and (not named.is_file() or slug in _opened(named))
    beside = _beside(slug, folder)
    if beside is None:
        return Manuscript(AS_PACKAGED, carried_equations(slug))
    return _of(beside, ", not this notebook" if elsewhere else "")


def running() -> Path | None:
    """The file of the notebook that runs, if its host says which; a console names no file."""
    if "COLAB_RELEASE_TAG" in os.environ:
        return _ELSEWHERE
    shell = running_shell()
    variable = shell.user_ns.get("__vsc_ipynb_file__", "") if shell else ""
    named = os.environ.get("JPY_SESSION_NAME") or str(variable)
    return Path(named) if Path(named).suffix else None


def running_shell() -> Any:
    """Return the shell of the notebook or the console that runs; None where no IPython does."""
    ipython: Any = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _of(file: Path, apart: str = "") -> Manuscript:
    saved = datetime.fromtimestamp(file.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    if file.suffix in markup.TEX:
        return Manuscript(file.name + apart, _of_paper(file), file, saved)
    macros = read_macros(file.resolve().parent)
    read = _parsed(file, file.read_bytes())
    equations = {label: expand_equation(equation, macros) for label, equation in read.items()}
    return Manuscript(file.name + apart, equations, file, saved)


def _of_paper(file: Path) -> Mapping[str, Equation]:
    """The labelled equations of a paper, as the plug-in for papers reads them."""
    read: PaperReader = plugins.require("papers", f"{file.name} is LaTeX: reading it")
    return read(file)


@lru_cache(maxsize=32)
def _parsed(file: Path, content: bytes) -> Mapping[str, Equation]:
    """Read once for each state of the file: every verb looks again."""
    try:
        return markup.parse(content.decode("utf-8"), file.suffix)
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from error


def _is_text(file: Path, slug: str) -> bool:
    """Return whether a file opens the chapter, or has its name, and has equations of its own."""
    if file.suffix not in markup.KINDS or not file.is_file():
        return False
    return (file.stem == Path(slug).name or slug in _opened(file)) and bool(_of(file).equations)


@once_a_state
def _opened(file: Path) -> set[str]:
    """The chapters that a file opens; in a notebook the quotes are escaped."""
    text = file.read_text(encoding="utf-8", errors="replace")
    return set(re.findall(r"""Chapter\(\s*\\?["']([^"'\\]*)\\?["']""", text))


def _beside(slug: str, folder: Path) -> Path | None:
    """The chapter's text in `folder`: by its name, ``.md`` before ``.ipynb``, or by its code."""
    by_name = [folder / f"{Path(slug).name}{kind}" for kind in markup.KINDS]
    others = sorted(path for path in folder.glob("[!.~]*") if path.suffix in markup.KINDS)
    texts = [path for path in dict.fromkeys([*by_name, *others]) if _is_text(path, slug)]
    for other in texts[1:]:
        first, second = _of(texts[0]), _of(other)
        equations = sorted(first.changed(second) | second.changed(first))
        relations = sorted(_spoken(texts[0]) ^ _spoken(other))
        if differing := [*equations, *(f"${latex}$" for latex in relations)]:
            raise ValueError(
                f"two texts of this chapter lie here, {texts[0].name} and {other.name}, and they "
                f"differ in {', '.join(differing[:5])}; keep one of them, or say which is meant: "
                f'Chapter("{slug}", "{other.name}")'
            )
    return next(iter(texts or filter(Path.is_file, by_name[:1])), None)


@once_a_state
def _spoken(file: Path) -> set[str]:
    return prose.sentences(file.read_text(encoding="utf-8"), file.suffix)
