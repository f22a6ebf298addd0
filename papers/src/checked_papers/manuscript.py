"""The labelled equations of a paper, for pages that check them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from checked_equations.latex.equation import Equation
from checked_equations.latex.macros import expand_equation

from .sources import paper


def equations_of(file: Path) -> Mapping[str, Equation]:
    """Return the labelled equations of a paper, without its commands.

    Lines are those of the files that they stand in. Raises `ValueError` where a label stands twice.
    """
    found: dict[str, Equation] = {}
    read = paper.read(file)
    for one in (one for one in read.equations if one.label):
        if one.label in found:
            raise ValueError(f"{file.name}: the label {one.label} stands at two equations")
        _, line, column = read.place(one.at)
        latex = " " * (column - 1) + one.latex  # so that columns are those of the file
        found[one.label] = expand_equation(Equation(one.label, latex, line), one.macros)
    return found
