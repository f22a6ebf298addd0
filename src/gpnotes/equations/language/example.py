"""An example of what is read, and one of what is refused: both can be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..book.records import Record
from ..book.single import check_equation
from ..check.bindings import Bindings, draw_bindings
from ..errors import EquationError
from ..evaluate.values import kind
from ..latex.macros import expand
from ..latex.parser import parts_of

__all__ = ["Example", "Refusal"]


@dataclass(frozen=True, eq=False)
class Example:
    """LaTeX that is read, in words, and the numbers on which it holds.

    `options` are those of `check_equation`.
    """

    says: str
    latex: str
    bindings: Bindings
    options: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> Record:
        """What a check finds; raises `EquationError` where the example does not hold."""
        return check_equation(self.latex, self.bindings, **self.options)

    def parts(self) -> frozenset[str]:
        """The rules and the words of the grammar that it shows."""
        drawn, *_ = draw_bindings(self.bindings, "example")
        kinds = {name: kind(value) for name, value in drawn.items()}
        return parts_of(expand(self.latex, self.options.get("macros", {})).latex, kinds)


@dataclass(frozen=True, eq=False)
class Refusal:
    """LaTeX that is not read, or not believed."""

    latex: str
    bindings: Bindings
    options: Mapping[str, Any] = field(default_factory=dict)

    def problem(self) -> str:
        """The words of the error; raises `AssertionError` where there is none."""
        try:
            check_equation(self.latex, self.bindings, **self.options)
        except EquationError as error:
            return error.problem
        raise AssertionError(f"{self.latex} is read")
