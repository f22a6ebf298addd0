"""What the text around a display says of its symbols."""

from __future__ import annotations

from pathlib import Path

import pytest

from checked_papers.declarations import Declared
from checked_papers.defined_functions import Defined, defined, with_functions
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding
from checked_papers.substitution import substituted


def last(folder: Path, text: str) -> Finding:
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    return try_one(list(tasks(read(folder / "paper.tex"), Declared(), {}))[-1])


def is_told(folder: Path, text: str, outcome: str, why: str) -> None:
    """The last display of `text` has this outcome, and the reason has `why` in it."""
    found = last(folder, text)
    assert (found.outcome, why in found.why) == (outcome, True), str(found)


@pytest.mark.parametrize(
    ("text", "outcome", "why"),
    [
        # definitions
        (r"\[ \log p = - a x^2 \] where $p = \exp(-a x^2)$.", "holds",
         r"with p = \exp(-a x^2), as the text says"),
        (r"Let $c = a + b$. Then \[ c^2 = a^2 + 2 a b + b^2. \]", "holds",
         "with c = a + b, as the text says"),
        (r"\[ K_y^{-1} K + \sigma^2 K_y^{-1} = I \] where $K_{y} = K + \sigma^2 I$", "holds",
         r"with K_{y} = K + \sigma^2 I, as the text says"),
        # conditions
        (r"\[ \sqrt{x^2} = x \] for all $x > 0$.", "holds", "for x > 0, as the text says"),
        # a text that does not help, or speaks of another display
        (r"\[ c^2 = a^2 + 3 a b + b^2 \] where $c = a + b$.", "", "one side only"),
        (r"\[ \sqrt{x^2} = x \] It is known. Now for $x > 0$.", "holds if", ""),
        (r"\[ \sqrt{x^2} = x. \] for all $x > 0$.", "holds if", ""),
        (r"We saw $c = a + b$ once. \[ d = e \] Then \[ c^2 = a^2 + 2 a b + b^2. \]", "",
         "one side only"),
        (r"not: $c = a + b$, \[ c^2 = a^2 + 2 a b + b^2. \]", "", "one side only"),
    ],
)  # fmt: skip
def test_what_the_text_says(tmp_path: Path, text: str, outcome: str, why: str) -> None:
    is_told(tmp_path, text, outcome, why)


@pytest.mark.parametrize(
    ("latex", "definition", "wanted"),
    [
        ("K_y^{-1} b", "K_{y} = A", r"\left(A\right)^{-1} b"),
        (r"\hat x + x_1 + x' + ax + x", "x = y", r"\hat x + x_1 + x' + a\left(y\right) + "
         r"\left(y\right)"),
        (r"\sigma s", r"\sigma = 2", r"\left(2\right) s"),
        ("x = x + 1", "x = x + 1", "x = x + 1"),
        ("f(x)", "f(x) = x", "f(x)"),
    ],
)  # fmt: skip
def test_substitution(latex: str, definition: str, wanted: str) -> None:
    assert substituted(latex, [definition]) == wanted


BOWL = r"\[ f(x) = \tfrac12 x^\top A x - b^\top x \] "
WITH_BOWL = r"with f(x) = \tfrac12 x^\top A x - b^\top x, as the text says"
LOGISTIC = r"\[ \sigma(x) = \frac{1}{1 + e^{-x}} \] We saw it. \[ a + a = 2 a \] "
LINE = r"\[ f(x) = a x^2 + b x \] "


@pytest.mark.parametrize(
    ("text", "outcome", "why"),
    [
        (LOGISTIC + r"\[ \sigma'(x) = \sigma(x) (1 - \sigma(x)) \]", "holds",
         r"with \sigma(x) = \frac{1}{1 + e^{-x}}, as the text says"),
        (LOGISTIC + r"\[ \tanh x = 2 \sigma(2 x) - 1 \]", "holds", "as the text says"),
        (BOWL + r"\[ \nabla f(x) = \frac12 (A + A^\top) x - b \]", "holds", WITH_BOWL),
        (BOWL + r"\[ \nabla f(\mu) = A \mu - b \]", "holds if", WITH_BOWL),
        (BOWL + r"\[ f(x + d) = f(x) + (A x - b)^\top d + \frac12 d^\top A d \]", "holds if",
         WITH_BOWL),
        (LINE + r"\[ \frac{d^2 f}{d x^2} = 2 a \]", "holds", "as the text says"),
        (LINE + r"\[ f'(0) = b \]", "holds", "as the text says"),
        (LINE + r"\[ \int_0^1 f(x) \, dx = \frac a3 + \frac b2 \]", "holds", "as the text says"),
        (r"Let $g(x) = \exp(-x^2)$. \[ h = 2 k \] \[ g'(x) = -2 x g(x) \]", "holds",
         r"with g(x) = \exp(-x^2), as the text says"),
        (r"\[ g(x, y) = x^2 y \] \[ \frac{\partial g}{\partial x} = 2 x y \]", "holds",
         "with g(x, y) = x^2 y, as the text says"),
        # what is said last counts; what does not hold so is told, and accuses nobody
        (LINE + r"\[ f(x) = a x^3 \] \[ f'(x) = 3 a x^2 \]", "holds", "with f(x) = a x^3, as"),
        (LINE + r"\[ f'(x) = a x + b \]", "fails on all numbers drawn",
         "with f(x) = a x^2 + b x, as the"),
        # another function of that letter; the same one, in other words and in the same ones
        (LINE + r"\[ f(x) = a x^3 \]", "", ""),
        (LINE + r"\[ f(x) = (a x + b) x \]", "holds", "with f(x) = a x^2 + b x, as the text says"),
        (LINE + r"\[ f(x) = a x^{2} + b\, x. \]", "", ""),
        # an equation to be solved, a letter of many functions
        (r"\[ f(x) = 0 \] \[ f'(x) = 0 \]", "", ""),
        (r"\[ p(x) = e^{-x} \] \[ p(y) = e^{-y} \]", "", ""),
    ],
)  # fmt: skip
def test_what_a_function_is(tmp_path: Path, text: str, outcome: str, why: str) -> None:
    is_told(tmp_path, text, outcome, why)


@pytest.mark.parametrize(
    ("latex", "function"),
    [
        (
            r"g_1(\mathbf{x}, y) := \mathbf x y.",
            Defined("g_1", (r"\mathbf x", "y"), r"\mathbf x y"),
        ),
        ("f(x) = x^2 = a", Defined("f", ("x",), "x^2")),
        ("f(x) = 0", None),
        ("f(x) = x", None),
        ("f(x) = f(x - 1) + x", None),
        ("d(x, y) = x - y", None),
        ("f(2) = x", None),
        ("f = x^2", None),
    ],
)
def test_what_defines_a_function(latex: str, function: Defined | None) -> None:
    assert defined(latex) == function


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("f(f(x))", r"\left({\left(\left(x^2\right)\right)}^2\right)"),
        ("a f(y)", r"a \left({y}^2\right)"),
        (r"\nabla^2 f", r"\left(\nabla_{x}^2 \left(x^2\right)\right)"),
        (r"\nabla_x f", r"\nabla_x \left(x^2\right)"),
        ("f''(x)", r"\left(\frac{d^2}{d x^2}\left(x^2\right)\right)"),
        ("f'(a)", r"\left(\left.\frac{d}{d x}\left(x^2\right)\right|_{x = a}\right)"),
        # another symbol, an argument more, a bracket that is not closed, and f by itself
        (r"\inf(x) + f_1(x) + \operatorname{f}(x)", ""),
        ("f(x, y)", ""),
        ("f(x", ""),
        ("f = g", ""),
    ],
)
def test_calls_of_a_function(latex: str, wanted: str) -> None:
    assert with_functions(latex, [Defined("f", ("x",), "x^2")]) == (wanted or latex)


def test_an_argument_is_no_call_and_no_subscript() -> None:
    """`A (x + d)` would be a call of A, and of `x_1` nobody says what it is at x + d."""
    row, entry = Defined("f", ("x",), "A x"), Defined("f", ("x",), "x_1 + x")
    assert with_functions("f(x + d)", [row]) == r"\left(A \cdot {\left(x + d\right)}\right)"
    assert with_functions("f(x + d)", [entry]) == "f(x + d)"
