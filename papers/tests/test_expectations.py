"""Means, variances, probabilities and entropies that nobody bound, beside twins that are false."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import FAILS, holds, tried, twin


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"\mathbb E[a X + b] = a \mathbb E[X] + b", ("+ b]", "- b]")),
        (r"\operatorname{Var}(X) = E[X^2] - E[X]^2", ("- E", "+ E")),
        (r"\mathrm{Var}(a X + b) = a^2 \mathrm{Var}(X)", ("a^2", "a")),
        (
            r"\mathrm{Cov}(X, Y) = \mathrm{E}\left[(X - \mathrm{E}(X)) (Y - \mathrm{E}(Y))\right] "
            r"= \mathrm{E}(X Y) - \mathrm{E}(X) \mathrm{E}(Y)",
            (r"\mathrm{E}(X Y) -", r"\mathrm{E}(X Y) +"),
        ),
        (r"\mathbb{E}\left[(X - \mu)^2\right] = \mathbb{E}[X^2] - \mu^2 = \sigma^2", ("- \\mu^2", "- \\mu")),
        (r"\mathrm{Cov}(a X_1 + X_2, X_1) = a \mathrm{Var}(X_1) + \mathrm{Cov}(X_1, X_2)", ("= a", "= a^2")),
        (r"P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}", (r"P(A)}{P(B)}", r"P(B)}{P(A)}")),
        (r"\Pr(A \cup B) = \Pr(A) + \Pr(B) - \Pr(A \cap B)", (r"- \Pr", r"+ \Pr")),
        (r"P(B) = P(B \mid A) P(A) + P(B \mid A^c) P(A^c)", (r"P(A^c)", r"P(A)")),
        (r"\mathbb{P}[A \cap \overline{B}] = \mathbb{P}[A] - \mathbb{P}[A \cap B]", (r"\overline{B}", "B")),
        (r"H(X, Y) = H(X) + H(Y \mid X)", (r"Y \mid X", r"X \mid Y")),
        (r"I(X; Y | Z) = H(X | Z) - H(X | Y, Z)", ("- H(X", "- H(Y")),
        (r"\mathrm{I}(X, Y) = \mathrm{H}(X) + \mathrm{H}(Y) - \mathrm{H}(X, Y)", ("- ", "+ ")),
        (r"\mathbb{E}_x[a x + b] = a \mathbb{E}_x[x] + b", ("a x", "a^2 x")),
        (r"\mathbb{E}_{x, y}[x + y] = \mathbb{E}_x[x] + \mathbb{E}_y[y]", ("x + y", "x - y")),
        (r"\operatorname{Var}_{x \sim p}(x) = \mathbb{E}_{x \sim p}[x^2] - \mathbb{E}_{x \sim p}[x]^2", ("x^2]", "x]")),
        (r"\mathbb{E}_{q(x)}[2 x] = 2 \mathbb{E}_{q(x)}[x]", ("[2 x]", "[x]")),
        (r"p(x \mid y) = \frac{p(y \mid x) p(x)}{p(y)}", (r"p(x)}{p(y)}", r"p(y)}{p(x)}")),
        (r"p(x \mid y) = \frac{p(y \mid x) p(x)}{p(y)}", (r"p(y \mid x)", r"p(x \mid y)")),
        (r"p(\theta | \mathcal{D}) = \frac{p(\mathcal{D} | \theta) p(\theta)}{p(\mathcal{D})}", (r"{p(\mathcal{D})}", r"{p(\theta)}")),
        (r"\log p(x, z) = \log p(x | z) + \log p(z)", ("+ ", "- ")),
        (r"p(x_1, x_2, x_3) = p(x_1) p(x_2 \mid x_1) p(x_3 \mid x_1, x_2)", (r"x_2)", "x_1)")),
    ],
)  # fmt: skip
def test_what_holds_for_any_distribution_and_its_false_twin_does_not(
    latex: str, slip: tuple[str, str]
) -> None:
    found = holds(latex)
    assert "drawn" in found.why
    other = tried(twin(latex, slip))
    assert other.outcome in ("", FAILS), str(other)


@pytest.mark.parametrize(
    ("latex", "region"),
    [
        (r"\operatorname{Var}(X + Y) = \operatorname{Var}(X) + \operatorname{Var}(Y)", "X, Y are independent"),
        (r"E[X Y] = E[X] E[Y]", "X, Y are independent"),
        (r"P(A \cap B) = P(A) P(B)", "A, B are independent"),
        (r"H(X, Y) = H(X) + H(Y)", "X, Y are independent"),
        (r"p(x, y) = p(x) p(y)", "x, y are independent"),
        # inputs are given and never drawn: what leaves them out does not depend on them
        (r"p(\mathbf w | \mathbf y, X) = \frac{p(\mathbf y | X, \mathbf w) p(\mathbf w)}{p(\mathbf y | X)}", r"\mathbf w is independent of X"),
        (r"p(x_3, z | x_1, x_2) = p(x_3 | x_2) p(z | x_1, x_2, x_3)", "x_3 is independent of x_1 given x_2"),
    ],
)  # fmt: skip
def test_what_holds_for_independent_ones_says_so(latex: str, region: str) -> None:
    found = tried(latex)
    assert (found.outcome, found.region) == ("holds if", region), str(found)


@pytest.mark.parametrize(
    "latex",
    [
        r"\operatorname{Var}(X - Y) = \operatorname{Var}(X) - \operatorname{Var}(Y)",
        r"E[X^2] = E[X]^2",
        r"E[X^3] \ge E[X]^3",  # one distribution says nothing of an order
        r"H(X) \le H(Y)",
        r"I(X; X) = I(X; X)",  # nothing could be noticed
        r"P(A \cap B \cup C) = P(A) P(B)",  # which comes first?
        r"P(X = x) = P(Y = x)",
        r"\mathbb{E}_x[x y] = \mathbb{E}_x[x] \mathbb{E}_y[y]",  # y stays as it is in the first
        r"\mathbb{E}_{p}[X] = \mathbb{E}_{q}[X]",  # two distributions
        r"p(x \mid y) = p(y \mid x) p(x)",
        r"p(y | x, z) = p(y | z) p(z | x)",  # independent if all are, which is not what is meant
        r"p(x, y) = p(y, x)",  # of any symmetric polynomial, too
        r"p(x \mid \theta) = \frac{1}{Z}",  # one density, and no rule of all
        r"p(x | y) = \theta p(y)",
        r"p(x + 1) = p(x) p(1 | x)",
        # means of what is no variable
        r"\operatorname{Var}(\hat Y) = \operatorname{Var}(\hat a) + x^2 \operatorname{Var}(\hat b)",
        r"\operatorname{Var}(\bar X) = \frac{1}{n} \sum_{h=1}^n (1 - h) c",
        r"\operatorname{Var}(\theta X) = \operatorname{Var}(\theta) \operatorname{Var}(X)",
    ],
)
def test_what_does_not_accuses_nobody(latex: str) -> None:
    assert tried(latex).outcome in ("", FAILS), str(tried(latex))
