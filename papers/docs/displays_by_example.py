"""Displays that nobody bound, and that are not read as a whole, tried as their page is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

import checked_papers
from checked_equations.check.html import code, element, say, scrolled, table
from checked_equations.sphinx.directives import Place, generated
from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, try_one
from checked_papers.findings import Finding

if TYPE_CHECKING:  # the signature alone names it
    from sphinx.application import Sphinx

__all__ = ["TITLE", "TRIED", "Display", "section", "setup"]

TITLE = "Displays that nobody bound"
HOMES = (Path(checked_papers.__file__).parent, Path(__file__).parent)  # what the page rests on


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
        r"(a + b)^2 = a^2 + 2 a b + b^2 = \operatorname{Prob}(X)",
    ),
    Display("where it goes, behind an arrow", r"\frac{n^2 + 3}{(n + 5) (2 n - 1)} \to \frac{1}{2}"),
    Display(
        "where words say what goes there",
        r"\frac{\sin x}{x} \to 1 \quad \text{as $x \to 0$}",
    ),
    Display(
        "numbers with an index",
        r"\sum_{i=1}^n (x_i - \bar x)^2 = \sum_{i=1}^n x_i^2 - n \bar x^2",
    ),
    Display(
        "two indices that differ, of rows as long as each other",
        r"\sum_{i \ne j} a_i a_j = \left(\sum_i a_i\right)^2 - \sum_i a_i^2",
    ),
    Display("entries of an array beside it", r"(A B)_{ij} = \sum_{k=1}^n a_{ik} b_{kj}"),
    Display("columns of ones", r"\mathbf 1^T A \mathbf 1 = \sum_{i,j} A_{ij}"),
    Display(
        "vectors with an index",
        r"\sum_{i=1}^n \mathbf x_i^T \mathbf a = \mathbf a^T \sum_{i=1}^n \mathbf x_i",
    ),
    Display("means and variances of any variable", r"\operatorname{Var}(X) = E[X^2] - E[X]^2"),
    Display(
        "of as many variables as an index says",
        r"E\left[\sum_{i=1}^n a_i X_i\right] = \sum_{i=1}^n a_i E[X_i]",
    ),
    Display("given a variable", r"E[E[X \mid Y]] = E[X]"),
    Display(
        "the chance of a relation, of any variable",
        r"P(a < X \le b) = P(X \le b) - P(X \le a)",
    ),
    Display(
        "conditions in brackets, of several", r"\sqrt{a b} \le \frac{a + b}{2} \quad (a, b > 0)"
    ),
    Display(
        "weights that sum to one",
        r"\sum_{i=1}^n w_i (x_i - a) = \sum_{i=1}^n w_i x_i - a, \quad \sum_i w_i = 1",
    ),
    Display("a prime for a transpose", "(A B)' = B' A'"),
    Display("bars and stars for conjugates", r"\overline{z w} = \bar z \bar w"),
    Display("a gradient by x, where nobody says so", r"\nabla \|x\|^2 = 2 x"),
    Display("the way to a limit", r"\log(1 + 2 x) \sim 2 x, \quad x \to 0"),
    Display("entropies", r"H(X, Y) = H(X) + H(Y \mid X)"),
    Display("densities", r"p(x, y) = p(x \mid y) p(y)"),
    Display("their sums and integrals", r"p(x) = \int p(x \mid y) p(y) \, dy"),
    Display("proportional in the argument on the left", r"p(x \mid y) \propto p(y \mid x) p(x)"),
    Display("a mean over one variable", r"\mathbb E_x[a x + b] = a \mathbb E_x[x] + b"),
    Display("probabilities", r"P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}"),
    Display("sets, however they lie", r"(A \cup B)^c = A^c \cap B^c"),
    Display("what follows from what", r"x > 0 \implies |x| = x"),
    Display(
        "dots and crosses between vectors",
        r"\vec a \cdot (\vec b \times \vec c) = \vec b \cdot (\vec c \times \vec a)",
    ),
    Display(
        "without a note at a brace", r"(a + b)^2 = \underbrace{a^2 + b^2}_{\text{squares}} + 2 a b"
    ),
    Display("what is said of any function", r"\frac{d}{d x} f(g(x)) = f'(g(x)) g'(x)"),
)


def section() -> str:
    """The displays as a table in HTML, each with what a paper that prints it is told."""
    rows = [_row(display) for display in TRIED]
    return scrolled(table("eqn-small", ("what", "LaTeX", "what is told"), rows), TITLE)


def _row(display: Display) -> str:
    found = display.finding()
    told = "; ".join(filter(None, (found.said, found.why)))
    cells = (say(display.says), code(display.latex), _words(told))
    return element("tr", *(element("td", cell) for cell in cells))


def _words(told: str) -> str:
    """Symbols stand between backticks."""
    pieces = told.split("`")
    return "".join(code(piece) if i % 2 else say(piece) for i, piece in enumerate(pieces))


class Displays(Place):
    """``{equation-displays}``: displays that nobody bound, tried."""

    what = "displays"

    def run(self) -> list[nodes.Node]:
        """The place, on a page that is read again with any file of the plug-in."""
        for path in (path for home in HOMES for path in home.rglob("*.py")):
            self.env.note_dependency(str(path))
        return super().run()


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the table into its place before the engine fills its own."""
    for place in list(doctree.findall(generated)):
        if place["what"] == Displays.what:
            place.replace_self(nodes.raw("", section(), format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, for a book that has the page."""
    app.add_directive("equation-displays", Displays)
    app.connect("doctree-resolved", fill, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
