"""Rules for densities that are not bound, with their sums and integrals, and false twins."""

from __future__ import annotations

import pytest
from displays import AGREES, FAILS, holds, tried, twin

HOLDS = [
    (r"p(x) = \int p(x, y)\,dy", ("dy", "dx")),
    (r"p(x) = \sum_y p(x, y)", (r"\sum_y", r"\sum_x")),
    (r"p(x) = \int p(x \mid y) p(y) \, dy", (r"p(y) \,", "")),
    (r"p(x) = \iint p(x, y, z) \, dy \, dz", (r"dy \, dz", r"dx \, dz")),
    (r"p(x) = \int\!\!\int p(x, y, z) \, dy \, dz", ("p(x) =", "p(z) =")),
    (r"p(z) = \int p(x) \int p(z \mid x, y) p(y \mid x) \, dy \, dx", (r"p(x) \int", r"p(y) \int")),
    (r"\int p(x \mid y) dx = 1", ("dx", "dy")),
    (r"\sum_{x, y} p(x, y) = 1", (r"\sum_{x, y}", r"\sum_x")),
    (r"p(x) = \sum_{y \in \mathcal Y} p(x, y)", (r"\sum_{y", r"\sum_{x")),
    (r"P(X) = \sum_Y P(X \mid Y) P(Y)", (r"P(Y)", "P(X)")),
    (r"f_X(x) = \int_{-\infty}^{\infty} f_{X,Y}(x, y)\,dy", ("dy", "dx")),
    (r"f_{X|Y}(x | y) = \frac{f_{X,Y}(x, y)}{f_Y(y)}", ("f_Y(y)", "f_X(x)")),
    (r"p_\theta(x) = \int p_\theta(x \mid z) p_\theta(z) \mathrm{d}z", (r"(z) \m", r"(x) \m")),
    (r"p(x \mid y) = \frac{p(y \mid x) p(x)}{\int p(y \mid x') p(x') dx'}", ("p(x') d", "p(x) d")),
    (r"p(x \mid y) = \frac{p(y \mid x) p(x)}{\int p(y \mid x) p(x) dx}", ("dx", "dy")),
    (r"p(x \mid y) \propto p(y \mid x) p(x)", ("p(x)", "p(y)")),
    (r"p(\theta \mid D) \propto p(D \mid \theta) p(\theta)", (r"p(D \mid \theta)", "p(D)")),
    (r"p(x \mid y) = \frac{p(y \mid x) p(x)}{p(y)} \propto p(y \mid x) p(x)", ("{p(y)}", "{p(x)}")),
    (r"p(x, y \mid z) \propto p(z \mid x, y) p(x, y)", ("p(x, y)", "p(x)")),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "slip"), HOLDS)
def test_what_holds_for_any_densities_and_its_false_twin_does_not(
    latex: str, slip: tuple[str, str]
) -> None:
    assert "that was drawn" in holds(latex).why
    other = tried(twin(latex, slip), mending=False)
    assert other.outcome in ("", FAILS), str(other)


@pytest.mark.parametrize(
    ("latex", "region"),
    [
        (r"p(y_* \mid x_*, D) = \int p(y_* \mid x_*, w) p(w \mid D) dw",
         "w is independent of x_* given D and y_* is independent of D given w, x_*"),
        (r"p(x_t \mid y) = \int p(x_t \mid x_{t-1}) p(x_{t-1} \mid y) \, d x_{t-1}",
         "x_t is independent of y given x_{t-1}"),
        (r"p(w | y, X) \propto p(y | X, w) p(w)", "w is independent of X"),
        (r"p(x_1, x_2, x_3) = p(x_1) p(x_2 | x_1) p(x_3 | x_2)",
         "x_3 is independent of x_1 given x_2"),
    ],
)  # fmt: skip
def test_what_holds_where_some_are_independent_says_so(latex: str, region: str) -> None:
    found = tried(latex)
    assert (found.outcome, found.region) == ("holds if", region), str(found)


@pytest.mark.parametrize(
    "latex",
    [
        r"p(x) = \int p(x, y)\,dx",
        r"p(x \mid y) \propto p(y \mid x)",
        r"p(x \mid y) = p(y \mid x) p(x)",
        r"\int p(x \mid y) dy = 1",
    ],
)
def test_what_fails_for_all_densities_is_told_without_letters_of_ours(latex: str) -> None:
    found = tried(latex)
    assert (found.outcome, found.fails, found.mends) == (FAILS, False, ()), str(found)


@pytest.mark.parametrize(
    "latex",
    [
        r"p(x \mid y) \propto p(x)",  # the text must explain y
        r"p(y) = \int p(y \mid w) p(w \mid D) dw",
        r"p(y \mid x) \propto p(y \mid x) p(x)",  # so it is, and with p(y) for p(x) it is not seen
        r"p(\theta) = p(\theta_1) p(\theta_2)",  # its parts
        r"p(x_{1:2}) = p(x_1) p(x_2 \mid x_1)",
        r"p(x) = \int_0^1 p(x, y) dy",  # not all of its values
        r"p(x') = \int p(x' \mid x) p(x) dx",  # another value of the same variable
        r"p(x) = \int p(x \mid z) q(z) dz",  # two distributions
        r"p(x) \propto e^{-x^2}",
        r"p(x) \propto f(x)",
        r"x \propto y",  # in which argument?
        r"r^2 \propto 2 r",
        r"\mathbb E[x] = \int x p(x) dx",
    ],
)
def test_what_leaves_something_to_the_text_is_not_read(latex: str) -> None:
    assert tried(latex).verdict in ("not read", "definition"), str(tried(latex))


def test_a_ratio_that_numbers_do_not_change_is_proportional() -> None:
    assert tried(r"\sin^2 x \propto 1 - \cos^2 x").outcome == AGREES  # as it does without a square
    assert tried(r"\sin^2 x \propto 1 - \cos x").verdict == "not read"
