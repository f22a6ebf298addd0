"""Errors of equations, with their place."""

from __future__ import annotations

from collections.abc import Callable


class OperationError(ValueError):
    """An operation refused its operands; the evaluator adds where it stands."""


class ShapeError(OperationError):
    """The operands do not fit each other."""


class LibraryError(OperationError):
    """A bound value cannot be had from its library of arrays: no fault of the equation."""


def is_of_library(error: BaseException | None) -> bool:
    """Return whether an error comes from a `LibraryError`, so that no edit mends it."""
    while error is not None and not isinstance(error, LibraryError):
        error = error.__cause__
    return error is not None


class EquationError(ValueError):
    """A fault in an equation: the problem, its line and column, and the LaTeX with a caret.

    The `problem` lies in the `latex` from the first character of the `span` to before the last; the
    `latex` is that of the equation `label` of a `chapter`, or its file, and begins on `first_line`
    of that. `mend` names the mends of an equality, when the error is shown for the first time:
    to look for it takes longer than to raise.

    >>> print(EquationError("unbound symbol `b`", "a = b", (4, 5)))
    line 1, column 5: unbound symbol `b`
        a = b
            ^
    """

    def __init__(
        self,
        problem: str,
        latex: str = "",
        span: tuple[int, int] = (0, 0),
        *,
        chapter: str = "",
        label: str = "",
        first_line: int = 1,
        mend: Callable[[], str] | None = None,
    ) -> None:
        self.problem = problem
        self.mend = mend
        self._suggested: str | None = None
        self.latex = latex
        self.span = span
        self.chapter = chapter
        self.label = label
        self.first_line = first_line
        before = latex[: span[0]]
        self.line = before.count("\n") + first_line
        self.column = span[0] - before.rfind("\n")
        place = filter(None, (chapter, label, f"line {self.line}, column {self.column}"))
        said, below = f"{', '.join(place)}: {problem}", ""
        if latex:
            text = latex.split("\n")[self.line - first_line]
            width = min(span[1] - span[0], len(text) - self.column + 1)
            below = f"\n    {text}\n    {' ' * (self.column - 1)}{'^' * max(width, 1)}"
        self._said = said, below
        super().__init__(said + below)

    def __str__(self) -> str:
        """Return the message, with the mends of the equation where they are known."""
        said, below = self._said
        return f"{said}{'; ' if self.suggested else ''}{self.suggested}{below}"

    @property
    def suggested(self) -> str:
        """The mends of the equation, in words; empty where none was found."""
        if self._suggested is None:
            self._suggested = self.mend() if self.mend else ""
        return self._suggested
