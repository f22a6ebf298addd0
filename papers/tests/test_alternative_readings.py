"""What holds of a display in another reading, beside a twin that is false."""

from __future__ import annotations

import pytest
from displays import FAILS, tried, twin


@pytest.mark.parametrize(
    ("latex", "said", "false"),
    [
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
def test_it_is_tried_and_its_false_twin_neither_passes_nor_is_accused(
    latex: str, said: str, false: tuple[str, str]
) -> None:
    found = tried(latex)
    assert (found.verdict, found.outcome) == ("tried", "holds"), str(found)
    assert said in found.why
    assert found.mutants["caught"]
    other = tried(twin(latex, false))
    assert other.outcome in ("", FAILS), str(other)


@pytest.mark.parametrize(
    "latex",
    [
        r"f(-x) = f(x)",  # of some functions
        r"f(x + y) = f(x) f(y)",
        r"A \to B",
        r"\frac{k}{n} \to 0",  # which of the two grows?
        r"n + S(m) = S(n + m) = S(m) + n",
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


def test_letters_that_share_a_font_are_parted() -> None:
    found = tried(r"\mathbf{A B}^T = (\mathbf{B A}^T)^T")
    assert found.outcome == "holds"
    assert set(found.drawn) == {r"\mathbf A", r"\mathbf B"}
    assert tried(r"(\mathbf{AB})^T = \mathbf{B}^T \mathbf{A}^T").outcome == "holds"
    assert tried(r"(\mathbf{AB})^T = \mathbf{A}^T \mathbf{B}^T").outcome != "holds"
