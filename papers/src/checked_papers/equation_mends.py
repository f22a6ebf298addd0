"""The single edits that would mend an equation, as a record that prints itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checked_equations.check.bindings import Bindings, draw_bindings, name_kinds, normalised
from checked_equations.check.equation_check import (
    expanded,
    refuse_lost_backslash,
    refuse_other_types,
)
from checked_equations.check.html import code, element, say, table
from checked_equations.check.records import Shown
from checked_equations.check.relations import Tolerance
from checked_equations.errors import EquationError
from checked_equations.latex.equation import located
from checked_equations.latex.macros import Macros

from .mends import Mends, holds_as_read, in_words, mends_of_equation, told

__all__ = ["Mended", "mend_equation"]


@dataclass(frozen=True, repr=False)
class Mended(Shown):
    """An equation that does not hold, and the single edits after which it does.

    `found` are pairs: the edit in words and the edited step. `said` is the same in a sentence, and
    so is `shown`, with mathematics between dollars. `tried` counts the edits; `whole` is True if
    the search came to its end.
    """

    latex: str
    found: tuple[tuple[str, str], ...] = ()
    tried: int = 0
    whole: bool = True
    said: str = ""
    shown: str = ""
    kind: str = "mended"

    def panel(self) -> str:
        """Return the mends as a table, with a note on suggestions."""
        rows = (element("tr", element("td", say(c)), element("td", code(s))) for c, s in self.found)
        shown = table("eqn-steps", ("single edit", "the step then reads"), rows)
        ended = "" if self.whole else "; the search was cut short"
        words = f"{self.tried} edits were tried{ended}. A mend is a suggestion: it holds on these "
        words += "numbers, and what was meant only its author knows."
        foot = element("p", say(words), class_="eqn-foot")
        return (shown if self.found else "") + foot


def mend_equation(
    latex: str,
    bindings: Bindings,
    *,
    rtol: float = 1e-9,
    atol: float = 0.0,
    macros: Macros | None = None,
) -> Mended:
    r"""Return the single edits that would mend an equality that does not hold.

    The edits are the mutants of a check, and insertions of the parts that a slip most often loses:
    an index, a factor, a term, a sign, a transpose, an inverse, a square. An edit inserts only
    symbols that the equation names. Several spellings of one claim are one mend.

    Parameters
    ----------
    latex : str
        The equation.
    bindings : mapping or Callable
        The value of each symbol by its LaTeX, or a function of a NumPy generator that returns such
        a mapping; then it is drawn three times, and a mend holds on every draw.
    rtol, atol : float
        As in `check_equation`.
    macros : mapping, optional
        As in `check_equation`.

    Returns
    -------
    Mended
        The mends, none where no edit mends it.

    Raises
    ------
    EquationError
        If the equation holds as it is, or cannot be read.
    TypeError
        If the equation is no string, or the bindings are no mapping and no function.

    Examples
    --------
    >>> mend_equation("c = a + b", {"a": 1.1, "b": 0.7, "c": 0.4})
    does not hold; it does with `-` for `+`: c = a - b
    """
    refuse_other_types(bindings, latex=latex)
    refuse_lost_backslash(latex)
    allowed = Tolerance(rtol, atol)
    allowed.refuse_loose()
    equation = expanded(latex, macros)
    drawn = draw_bindings(bindings, ":", normalised)
    with located("", equation):
        if holds_as_read(equation.latex, drawn, allowed):
            raise EquationError("it holds: there is nothing to mend", equation.latex)
        mends = mends_of_equation(equation.latex, drawn, allowed)
    return _record(equation.latex, mends, name_kinds(drawn[0]))


def _record(latex: str, mends: Mends, kinds: Mapping[str, Any]) -> Mended:
    words = in_words(mends, latex, kinds) or "no single edit that was tried mends it"
    found = tuple(told(mend, latex, kinds) for mend in mends.found)
    said = f"does not hold; {words}"
    shown = said.replace("`", "$")
    for _, reads in found:
        shown = shown.replace(f": {reads}", f": ${reads}$", 1)
    return Mended(latex, found, mends.tried, mends.whole, said, shown)
