"""The commands that a book gives MathJax, so that an equation is read as it is typeset."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from ..latex.equation import Equation
from ..latex.macros import Macros, expand
from .file_states import once_a_state
from .prose import Relation
from .settings import find_settings, read_yaml

_WHERE = ("sphinx", "config", "mathjax3_config", "tex", "macros")


def read_macros(folder: Path) -> Macros:
    """The macros of the book that `folder` lies in; none where it tells of none.

    They stand in the nearest ``_config.yml`` at or above `folder`, for MathJax, and in the book's
    ``equations.toml``, for the engine: a ``conf.py`` is a program, and is not read.
    """
    places = (place / "_config.yml" for place in (folder, *folder.parents))
    config = next((place for place in places if place.is_file()), None)
    # PyYAML comes with what builds a book; without it a macro is an unbound symbol
    known = _written(config) if config and find_spec("yaml") else {}
    return {**known, **find_settings(folder, packed=False).macros}


@once_a_state
def _written(config: Path) -> Macros:
    part = read_yaml(config)
    for key in _WHERE:
        part = part.get(key) if isinstance(part, dict) else None
    return part or {}


def expand_equation(equation: Equation, macros: Macros) -> Equation:
    """`equation` without macros; its digest stays that of what is written."""
    if not macros:
        return equation
    full = expand(equation.latex, macros).latex
    return replace(equation, latex=full, written=equation.latex)


def expand_relation(relation: Relation, macros: Macros) -> Relation:
    """`relation` without macros."""
    return replace(relation, latex=expand(relation.latex, macros).latex) if macros else relation
