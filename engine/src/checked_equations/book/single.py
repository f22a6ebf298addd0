"""The check of one equation that stands in no chapter."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from ..check.bindings import Bindings, Tight
from ..check.relations import Tolerance
from ..errors import EquationError
from ..latex.equation import Equation, located
from ..latex.macros import Macros
from .checks import Terms, equation_record, finished
from .records import Record
from .settings import expand_equation


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

    This is `Chapter.check` for a string: no chapter, no page and no label is needed. What comes
    back shows itself as the same badge when it is the last thing in a cell.

    Parameters
    ----------
    latex : str
        The equation.
    bindings : mapping or Callable
        The value of each symbol by its LaTeX, or a function of a NumPy generator that returns such
        a mapping; then it is drawn three times and the worst residual counts.
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
    for name, value in (("latex", latex), ("oracle", oracle)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string; got {value!r}")
    if not (isinstance(bindings, Mapping) or callable(bindings)):
        raise TypeError(f"bindings must map symbols to values, or return such; got {bindings!r}")
    if not isinstance(spare or {}, Mapping):
        raise TypeError(f"spare must map names of mutants to reasons; got {spare!r}")
    if lost := _LOST.search(latex):
        problem = "a backslash was lost: write r before the string, as in r'\\frac{a}{b}'"
        at = lost.start()
        meant = latex[:at] + "\\" + _LETTERS[lost[0]] + latex[at + 1 :]
        raise EquationError(problem, meant, (at, at + 2))
    written = Equation("", latex, 1)
    terms = Terms(Tolerance(rtol, atol, approx), oracle, spare or {}, tight)
    with located("", written):
        equation = expand_equation(written, macros or {})
    with located("", equation):
        record, _ = equation_record(equation, bindings, terms)
    return finished(record, equation, start)


# What a string that is not raw makes of \frac, \beta, \times, \rho and \nabla.
_LOST = re.compile(r"[\a\b\f\v]|\t(?=imes|heta|ilde|ext|au\b|op\b)|\r(?=ho\b)|\n(?=abla\b)")

_LETTERS = dict(zip("\a\b\f\v\t\r\n", "abfvtrn", strict=True))
