"""Checks and their records: an equation on numbers, a definition and the thing it defines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from .. import plugins
from ..errors import EquationError, is_of_library
from ..evaluate.evaluator import NO_NUMBER
from ..evaluate.libraries import Drawn
from ..evaluate.values import Estimate
from ..latex.balance import balanced
from ..latex.equation import Equation, located
from ..latex.macros import Macros, expand_equation
from ..latex.parser import parse_free
from ..latex.tree import Statement
from . import statements
from .bindings import (
    DRAWS,
    Bindings,
    Fields,
    Naming,
    Tight,
    draw_bindings,
    draw_tight_bindings,
)
from .definitions import compare_definition, refuse_second_claim
from .mutant_outcomes import Survivors, check_mutants
from .records import Record
from .relations import Tolerance
from .statements import BoundStatement, check_steps, worst_estimate

# Parts of plug-ins: the mends of an equation in words, and notes on what its draws share.
Suggestion = Callable[[str, Sequence[Drawn], Tolerance], str]
DrawNotes = Callable[[Statement, Sequence[Drawn], Tolerance], tuple[str, ...]]
# What a string that is not raw makes of \frac, \beta, \times, \rho and \nabla.
_LOST = re.compile(r"[\a\b\f\v]|\t(?=imes|heta|ilde|ext|au\b|op\b)|\r(?=ho\b)|\n(?=abla\b)")

_LETTERS = dict(zip("\a\b\f\v\t\r\n", "abfvtrn", strict=True))


@dataclass(frozen=True)
class Terms:
    """The terms on which an equation is checked.

    The tolerance `allowed`, the mutants to `spare` and why, the numbers on which an inequality
    is `tight`, and the `oracle` by which the numbers come. `chapter` is the place of the equation,
    and with the label the seed of its draws; `fields` are those of the book's notation.
    """

    allowed: Tolerance
    oracle: str = ""
    spare: Mapping[str, str] = field(default_factory=dict)
    tight: Tight = None
    chapter: str = ""
    fields: Fields = field(default_factory=Fields)

    def place(self, equation: Equation) -> tuple[str, Naming]:
        """The seed of the draws of `equation`, and the fields that stand for its symbols."""
        return f"{self.chapter}:{equation.label}", self.fields.naming(equation.latex)


def equation_record(
    equation: Equation, bindings: Bindings, terms: Terms
) -> tuple[Record, BoundStatement]:
    """Check `equation` on numbers: its record, and the statement bound to them."""
    terms.allowed.refuse_loose()
    for draws in (DRAWS, *MORE):
        try:
            return _record_of(equation, bindings, terms, draws)
        except Survivors as wrong:  # of an inequality a few draws may leave some by luck
            if draws == MORE[-1] or not (callable(bindings) and wrong.of_inequality):
                raise
    raise AssertionError("the last number of draws returns or raises")


MORE = (12, 25)  # draws, where mutants of an inequality survive the first


def _record_of(
    equation: Equation, bindings: Bindings, terms: Terms, draws: int
) -> tuple[Record, BoundStatement]:
    drawn = draw_bindings(bindings, *terms.place(equation), draws)
    attained = draw_tight_bindings(terms.tight, *terms.place(equation))
    every = (*drawn, *attained)
    allowed = replace(terms.allowed, decimals=True)
    with _mended(equation.latex, drawn, allowed):
        bound = statements.bind_statement(equation.latex, every, allowed, tight=len(attained))
    statements.refuse_unused(drawn[0], equation.latex, bound.statement)
    record = _compared(statements.kind_of_statement(bound), bound, drawn, equation, terms)
    return replace(record, tight=len(attained), estimate=worst_estimate(bound)), bound.anew()


def _compared(
    kind: str,
    bound: BoundStatement,
    drawn: Sequence[Drawn],
    equation: Equation,
    terms: Terms,
) -> Record:
    """The record of a statement that was evaluated."""
    allowed = terms.allowed
    with _mended(equation.latex, drawn, allowed):
        steps = check_steps(bound, equation)
    rounded = [bound.rounding(place) for place in range(len(steps))]
    return Record(
        equation.label, terms.chapter, kind, equation.line, terms.oracle,
        allowed.rtol, max([allowed.atol, *rounded]), allowed.approx,
        steps=steps,
        mutants=check_mutants(bound, equation.latex, terms.spare, terms.tight),
        draws=len(drawn),
        backend=drawn[0].library,
        route=statements.route_of(bound.statement, drawn[0]),
        notes=_notes(bound, drawn, allowed),
    )  # fmt: skip


WIDE = 1e-8  # an absolute tolerance that a line of digits does not show


@contextmanager
def _mended(latex: str, drawn: Sequence[Drawn], allowed: Tolerance) -> Iterator[None]:
    """Let an error that is raised inside name, when it is shown, the mends of the equation.

    Nothing is said of an estimate, whose noise hides too much, nor where a library of arrays has
    not the function asked of it, or something is bound to what is no number.
    """
    try:
        yield
    except EquationError as error:
        noisy = any(isinstance(value, Estimate) for value in drawn[0].values())
        if not noisy and not is_of_library(error) and NO_NUMBER not in error.problem:
            error.mend = partial(_suggestion, latex, drawn, allowed)
        raise


def _suggestion(latex: str, drawn: Sequence[Drawn], allowed: Tolerance) -> str:
    """Return the mends of the equation in the words of a plug-in; empty where there is none."""
    suggest: Suggestion | None = plugins.load("mends")
    return suggest(latex, drawn, allowed) if suggest else ""


def _notes(bound: BoundStatement, drawn: Sequence[Drawn], allowed: Tolerance) -> tuple[str, ...]:
    """Return a note on a wide tolerance, and those of a plug-in on the draws."""
    notes_on: DrawNotes | None = plugins.load("notes")
    wide = allowed.atol > WIDE and f"an absolute error of {allowed.atol:.0e} is allowed"
    said = notes_on(bound.statement, drawn, allowed) if notes_on else ()
    return (wide, *said) if wide else said


def definition_record(
    equation: Equation, bindings: Bindings | None, why: str, terms: Terms
) -> tuple[Record, BoundStatement | None]:
    """Hold a definition against the thing it defines: its record, and the statement compared."""
    latex, bound = equation.latex, None
    terms.allowed.refuse_loose()
    drawn = () if bindings is None else draw_bindings(bindings, *terms.place(equation))
    bare: tuple[str, ...] = (balanced(latex, (0, len(latex))),)
    if drawn:
        bound, bare = compare_definition(latex, drawn, terms.allowed)
    else:
        refuse_second_claim(latex, parse_free(latex))
    if bare and not why.strip():
        raise EquationError(f"why= must say why nothing is compared with {'; '.join(bare)}", latex)
    if bound is None or not bound.statement.steps:
        place = (equation.label, terms.chapter, "definition", equation.line, terms.oracle)
        return Record(*place, bare=bare, why=why), None
    record = _compared("definition", bound, drawn, equation, terms)
    return replace(record, bare=bare, why=why), bound.anew()


def finished(record: Record, equation: Equation, start: float) -> Record:
    """Return `record` with its worst residual, the text read, and the time since `start`."""
    return replace(
        record,
        residual=max((step.residual or 0.0 for step in record.steps), default=None),
        milliseconds=round(1e3 * (time.perf_counter() - start), 3),
        digest=equation.digest,
        latex=equation.latex,
    )


def check_equation(
    latex: str,
    bindings: Bindings,
    *,
    oracle: str = "",
    rtol: float = 1e-9,
    atol: float = 0.0,
    approx: float | None = None,
    spare: Mapping[str, str] | None = None,
    tight: Tight = None,
    macros: Macros | None = None,
) -> Record:
    """Evaluate one equation, given as a string, on numbers, step by step, and mutate it.

    This is `Chapter.check` for a string: no chapter, no page and no label is needed. The record
    shows itself as the same badge when it is the last thing in a cell.

    Parameters
    ----------
    latex : str
        The equation.
    bindings : mapping or Callable
        The value of each symbol by its LaTeX, or a function of a NumPy generator that returns such
        a mapping; then it is drawn three times and the worst residual counts. Arrays may
        be of any library, as in `Chapter.check`.
    oracle, rtol, atol, approx, spare, tight
        As in `Chapter.check`.
    macros : mapping, optional
        Commands of your own, as MathJax is given them: ``{"R": r"\\mathbb R"}``.

    Raises
    ------
    EquationError
        With a caret below the place: for a step that does not hold, a mutant that survives, a
        symbol that is not bound and all LaTeX that is not read.
    TypeError
        If an argument is of another type than these.

    Examples
    --------
    >>> import numpy as np
    >>> from checked_equations import EquationError
    >>> A, B = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, 0.3], [-0.7, 2.0]])
    >>> check_equation(r"(A B)^{-1} = B^{-1} A^{-1}", {"A": A, "B": B})
    holds to 1e-09 · 1 step · 11 of 11 mutants caught
    >>> try:
    ...     check_equation(r"(A B)^{-1} = A^{-1} B^{-1}", {"A": A, "B": B})
    ... except EquationError as error:
    ...     print(error)  # doctest: +ELLIPSIS
    line 1, column 14: step 1 of 1, (A B)^{-1} = A^{-1} B^{-1}, does not hold: relative residual ...
        (A B)^{-1} = A^{-1} B^{-1}
                     ^^^^^^^^^^^^^
    """
    start = time.perf_counter()
    refuse_other_types(bindings, latex=latex, oracle=oracle)
    if not isinstance(spare or {}, Mapping):
        raise TypeError(f"spare must map names of mutants to reasons; got {spare!r}")
    refuse_lost_backslash(latex)
    terms = Terms(Tolerance(rtol, atol, approx), oracle, spare or {}, tight)
    equation = expanded(latex, macros)
    with located("", equation):
        record, _ = equation_record(equation, bindings, terms)
    return finished(record, equation, start)


def refuse_other_types(bindings: object, **strings: object) -> None:
    """Refuse values that are no strings, and bindings that are no mapping and no function."""
    for name, value in strings.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string; got {value!r}")
    if not (isinstance(bindings, Mapping) or callable(bindings)):
        raise TypeError(f"bindings must map symbols to values, or return such; got {bindings!r}")


def refuse_lost_backslash(latex: str) -> None:
    """Refuse a string in which Python took a command for a character, such as a tab."""
    if lost := _LOST.search(latex):
        problem = "a backslash was lost: write r before the string, as in r'\\frac{a}{b}'"
        at = lost.start()
        meant = latex[:at] + "\\" + _LETTERS[lost[0]] + latex[at + 1 :]
        raise EquationError(problem, meant, (at, at + 2))


def expanded(latex: str, macros: Macros | None) -> Equation:
    """An equation that is given as a string, with the commands of its author written out."""
    written = Equation("", latex, 1)
    with located("", written):
        return expand_equation(written, macros or {})
