"""An example of what is read, and one of what is refused: both can be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checked_equations.check.bindings import Bindings, draw_bindings, name_kinds, swap_groups
from checked_equations.check.equation_check import Terms, check_equation, definition_record
from checked_equations.check.mutants import Mutant, all_mutants
from checked_equations.check.records import Record
from checked_equations.check.relations import Tolerance
from checked_equations.errors import EquationError
from checked_equations.latex.balance import balanced
from checked_equations.latex.equation import Equation
from checked_equations.latex.macros import expand
from checked_equations.latex.parser import parse
from checked_equations.latex.tree import Node

from .grammar_parts import parts_of

__all__ = ["Definition", "Example", "Missing", "Refusal"]


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

    @property
    def expanded(self) -> str:
        """Its LaTeX without commands of one's own."""
        return expand(self.latex, self.options.get("macros", {})).latex

    def parts(self) -> frozenset[str]:
        """The rules and the words of the grammar that it shows."""
        drawn, *_ = draw_bindings(self.bindings, "example")
        return parts_of(self.expanded, name_kinds(drawn))

    def mutants(self) -> tuple[Mutant, ...]:
        """Return its mutants."""
        drawn, *_ = draw_bindings(self.bindings, "example")
        statement = parse(self.latex, name_kinds(drawn), macros=self.options.get("macros"))
        return all_mutants(statement, swap_groups(drawn), lambda n: balanced(self.latex, n.span))

    def slips(self) -> list[tuple[type[Node], str]]:
        """Its mutants: the kind of node that each edits, and its name."""
        return [(type(mutant.before), mutant.said) for mutant in self.mutants()]


class Missing(Example):
    """A word of the vocabulary that has no example yet: its record is an error that says so."""

    def __init__(self, word: str, why: str) -> None:
        super().__init__(word, word, {})
        object.__setattr__(self, "why", why)

    def record(self) -> Record:
        """Raise `AssertionError`, with what to add."""
        raise AssertionError(
            f"{self.says} of vocabulary.py has no example ({self.why}): add one to"
            " engine/docs/language_by_example/words.py, where the words of its register have theirs"
        )

    def parts(self) -> frozenset[str]:
        """Return nothing: no part of the grammar is shown."""
        return frozenset()

    def mutants(self) -> tuple[Mutant, ...]:
        """Return none."""
        return ()


@dataclass(frozen=True, eq=False)
class Definition:
    """LaTeX that defines: what of it is bound is compared, the rest has its reason `why`."""

    says: str
    latex: str
    bindings: Mapping[str, Any] | None = None
    why: str = "nothing is bound"

    def record(self) -> Record:
        """What a chapter's `define` finds; raises `EquationError` where it is no definition."""
        equation = Equation("", self.latex, 1)
        terms = Terms(Tolerance())
        record, _ = definition_record(equation, self.bindings, self.why, terms)
        return record

    @property
    def expanded(self) -> str:
        """Its LaTeX, in which there are no commands of one's own."""
        return self.latex

    def parts(self) -> frozenset[str]:
        """The rules and the words of the grammar that it shows."""
        return parts_of(self.latex, name_kinds(self.bindings or {}), free=True)


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
