"""What is tried of displays that nobody bound, and that are not read as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from checked_equations.papers.declarations import Declared
from checked_equations.papers.findings import Finding
from checked_equations.papers.trying import Task, try_one

__all__ = ["TRIED", "Display"]


@dataclass(frozen=True)
class Display:
    """A display, which no other reading accuses, and what is tried of it."""

    says: str
    latex: str

    def finding(self) -> Finding:
        """What a paper that prints it is told."""
        return try_one(Task(("paper.tex", 1, 1), self.latex, "", {}, Declared(), mending=False))


TRIED = (
    Display("a condition in words", r"\text{If } x < 0, \quad |x| = -x"),
    Display(
        "a part of a chain, where a side is not known",
        r"\operatorname{Prob}(X) = (a + b)^2 = a^2 + 2 a b + b^2",
    ),
    Display("where it goes, behind an arrow", r"\frac{n^2 + 3}{(n + 5) (2 n - 1)} \to \frac{1}{2}"),
    Display(
        "where words say what goes there",
        r"\frac{\sin x}{x} \to 1 \quad \text{as $x \to 0$}",
    ),
    Display("what is said of any function", r"\frac{d}{d x} f(g(x)) = f'(g(x)) g'(x)"),
)
