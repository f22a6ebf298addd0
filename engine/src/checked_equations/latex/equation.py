"""A labelled equation, and its place added to whatever goes wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from ..errors import EquationError


@dataclass(frozen=True)
class Equation:
    """An equation's `label`, its LaTeX, and the line of the file on which the LaTeX begins.

    Where the book has commands of its own, `latex` is without and `written` with them.
    """

    label: str
    latex: str
    line: int
    written: str = ""

    @property
    def digest(self) -> str:
        """Return sixteen hex digits for the content of the equation, whatever its spaces and lines.

        >>> Equation("eq-a", "a = b", 3).digest == Equation("eq-a", "a  =\\n b", 9).digest
        True
        """
        return sha256("".join((self.written or self.latex).split()).encode()).hexdigest()[:16]


@contextmanager
def located(place: str, equation: Equation) -> Iterator[None]:
    """Add `place`, the equation's label and its line in the file to an error raised inside."""
    label, line = equation.label, equation.line
    try:
        yield
    except ValueError as error:
        problem, span, mend = "", (0, 0), None
        if not isinstance(error, EquationError):
            problem = str(error)
        else:
            mend = error.mend
            elsewhere = error.latex not in ("", equation.latex)
            problem = error.problem + (f" in `{error.latex}`" if elsewhere else "")
            span = (0, 0) if elsewhere else error.span
        raise EquationError(
            problem, equation.latex, span, chapter=place, label=label, first_line=line, mend=mend
        ) from error
    except Exception as error:  # of the author's own code: it keeps its kind
        error.add_note(f"{place}, {label}, line {line}")
        raise
