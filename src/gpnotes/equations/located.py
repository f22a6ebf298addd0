"""The place of an equation, added to whatever goes wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import EquationError
from .text import Equation

__all__ = ["located"]


@contextmanager
def located(place: str, equation: Equation) -> Iterator[None]:
    """Add `place`, the equation's label and its line in the file to an error raised inside."""
    where = {"chapter": place, "label": equation.label, "first_line": equation.line}
    try:
        yield
    except EquationError as error:
        elsewhere = error.latex not in ("", equation.latex)
        problem = error.problem + (f" in `{error.latex}`" if elsewhere else "")
        span = (0, 0) if elsewhere else error.span
        raise EquationError(problem, equation.latex, span, **where) from error
    except ValueError as error:
        raise EquationError(str(error), equation.latex, **where) from error
    except Exception as error:  # of the author's own code: it keeps its kind
        error.add_note(f"{place}, {equation.label}, line {equation.line}")
        raise
