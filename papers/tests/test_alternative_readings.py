"""What holds of a display that is not read as a whole, beside a twin that is false."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import tried, twin


@pytest.mark.parametrize(
    ("latex", "said", "false"),
    [
        # a part of a chain
        (
            r"a_{2n-1} + a_{2n} = \frac{1}{2n-1} - \frac{1}{2n} = \frac{1}{2n (2n-1)}",
            "without the first of its 3 sides",
            ("2n (2n-1)", "2n (2n+1)"),
        ),
        (r"\textrm{Prob}\{X = 0\} &= .25 + .1 = .35", "without the first", (".35", ".36")),
        (
            r"\frac{d f}{d x} = 12 x^3 - 12 x^2 - 24 x = 12 x (x - 2) (x + 1)",
            "without the first of its 3 sides",
            ("(x + 1)", "(x - 1)"),
        ),
        (
            r"(a + b)^2 = a^2 + 2 a b + b^2 = \mathbb E[X]",
            "without the last of its 3 sides",
            ("2 a b", "3 a b"),
        ),
        # what goes to a number
        (r"\frac{n^2 + 3}{(n + 5) (2n - 1)} \to \frac{1}{2}.", r"\infty", ("{2}.", "{3}.")),
        (
            r"\frac{n^2 + 3}{(n + 5) (2n - 1)} = \frac{1 + 3/n^2}{(1 + 5/n) (2 - 1/n)} \to \frac12",
            r"\infty",
            ("1 + 3/n^2", "1 + 4/n^2"),
        ),
        (
            r"\frac{\sin x}{x} \to 1 \quad\text{as $x \to 0$}",
            r"as `x \to 0`",
            (r"\to 1", r"\to 2"),
        ),
        # what is said of any function
        (
            r"\frac{d}{d x} f(g(x)) = f'(g(x)) g'(x)",
            "for any smooth f, g",
            (r"f'(g(x)) g'", r"f'(x) g'"),
        ),
        (r"\int_a^b f'(t) \, d t = f(b) - f(a)", "for any smooth f", ("f(b)", "2 f(b)")),
        (
            r"\frac{f'(x)}{g(x)} - f(x) \frac{g'(x)}{g(x)^2} "
            r"= \frac{f'(x) g(x) - f(x) g'(x)}{g(x)^2}",
            "for any smooth f, g",
            ("- f(x) g'(x)}", "+ f(x) g'(x)}"),
        ),
    ],
)
def test_a_part_is_tried_and_its_false_twin_neither_passes_nor_is_accused(
    latex: str, said: str, false: tuple[str, str]
) -> None:
    found = tried(latex)
    assert (found.verdict, found.outcome) == ("tried", "holds"), str(found)
    assert said in found.why
    assert found.mutants["caught"]
    other = tried(twin(latex, false))
    assert other.verdict == "not read", str(other)


@pytest.mark.parametrize(
    "latex",
    [
        r"f(-x) = f(x)",  # of some functions
        r"f(x + y) = f(x) f(y)",
        r"A \to B",
        r"\frac{k}{n} \to 0",  # which of the two grows?
        r"n + S(m) = S(n + m) = S(m) + n",
        r"0 \le x_{ij} \le \mathbb E[C]",  # x may be negative
        r"P(A), \quad P(B) = 1 - p = q",  # the chain does not begin the display
    ],
)
def test_what_only_the_text_can_say_is_not_read(latex: str) -> None:
    assert tried(latex).verdict == "not read", str(tried(latex))


@pytest.mark.parametrize(
    ("latex", "name"),
    [
        (r"\mu = \begin{bmatrix} \mu_1 \\ \mu_2 \end{bmatrix}", r"\mu"),
        (r"S_N = \sum_{n = 1}^N a_n", "S_N"),
    ],
)
def test_what_defines_an_array_is_a_definition(latex: str, name: str) -> None:
    found = tried(latex)
    assert (found.verdict, found.why) == ("definition", f"of {name}")
    assert tried(latex.replace(name, "2", 1)).verdict == "not read"


# Steps that can be judged, and do not hold; the first has so many mends that the night tries it.
HIDDEN = [
        r"\frac{\partial \mathbf a^T \mathbf X \mathbf a}{\partial \mathbf X} "
        r"= \frac{\partial \mathbf a^T \mathbf X^T \mathbf a}{\partial \mathbf X} = 2 \mathbf a \mathbf a^T",
        r"(A - c I) \mathbf x = A \mathbf x + c I \mathbf x = d \mathbf x + c \mathbf x = (d + c) \mathbf x",
        r"(a + b)^2 = (a + b)(b + a) = a^2 + 3 a b + b^2 = \mathbb P(c)",
]  # fmt: skip


@pytest.mark.parametrize("latex", [*HIDDEN[1:], *HIDDEN[:1]])
def test_no_part_hides_a_step_that_does_not_hold(latex: str) -> None:
    assert tried(latex).outcome in ("", "does not hold"), str(tried(latex))


def test_letters_that_share_a_font_are_parted() -> None:
    found = tried(r"\mathbf{A B}^T = (\mathbf{B A}^T)^T")
    assert found.outcome == "holds"
    assert set(found.drawn) == {r"\mathbf A", r"\mathbf B"}
    assert tried(r"(\mathbf{AB})^T = \mathbf{B}^T \mathbf{A}^T").outcome == "holds"
    assert tried(r"(\mathbf{AB})^T = \mathbf{A}^T \mathbf{B}^T").outcome != "holds"
