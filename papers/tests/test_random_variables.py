"""Displays of random variables that nobody bound: sums of them, probabilities, means given others.

Each right one has a false twin, which is not said to hold, and which accuses nobody either.
"""

from __future__ import annotations

import pytest

from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, try_one
from checked_papers.findings import Finding

ALIKE = "the X_i are independent and distributed alike"
HOLDS = [
    (r"P(X > t) = 1 - P(X \le t)", ""),
    (r"\Pr(X \le t) + \Pr(X > t) = 1", ""),
    (r"P(X \le b) - P(X \le a) = P(a < X \le b)", ""),
    (r"P(X = x, Y = y) = P(X = x \mid Y = y) P(Y = y)", ""),
    (r"P(\max(X, Y) \le t) = P(X \le t) P(Y \le t)", "X, Y are independent"),
    (r"P(X > s, Y > t) = P(X > s) P(Y > t)", "X, Y are independent"),
    (r"\mathbb E[\mathbb 1\{X \le t\}] = \mathbb P(X \le t)", ""),
    (r"P(X = k) = P(X \le k) - P(X < k)", ""),
    (r"P(|X| > t) = P(X > t) + P(X < -t), \quad t > 0", ""),
    (r"P(|X| > t) = P(X > t) + P(X < -t)", "t > 0"),
    (r"E[X] = E[E[X \mid Y]]", ""),
    (
        r"\operatorname{Var}(Y) = E[\operatorname{Var}(Y \mid X)]"
        r" + \operatorname{Var}(E[Y \mid X])",
        "",
    ),
    (r"E[X Y] = E[X E[Y \mid X]]", ""),
    (r"\operatorname{Cov}(X, Y) = \operatorname{Cov}(X, E[Y \mid X])", ""),
    (r"\mathbb E_0[a X + b] = a \mathbb E_0[X] + b", ""),
    (r"\mathbb E[\sum_i X_i] = \sum_i \mathbb E[X_i]", ""),
    (
        r"\operatorname{Var}(\sum_{i=1}^n X_i) = \sum_{i=1}^n \operatorname{Var}(X_i)"
        r" + 2 \sum_{i<j} \operatorname{Cov}(X_i, X_j)",
        "",
    ),
    (
        r"\operatorname{Var}(\sum_{i=1}^n a_i X_i) = \sum_{i=1}^n a_i^2 \operatorname{Var}(X_i)",
        "the X_i are independent",
    ),
    (r"\operatorname{Var}(\bar X) = \frac{\sigma^2}{n}", ALIKE),
    (r"E[\frac{1}{n-1} \sum_{i=1}^n (X_i - \bar X)^2] = \sigma^2", ALIKE),
]  # fmt: skip
FALSE = [
    r"P(X > t) = 1 - P(X < t)",
    r"\Pr(X \le t) + \Pr(X \ge t) = 1",
    r"P(X \le b) - P(X \le a) = P(a \le X \le b)",
    r"P(X = x, Y = y) = P(X = x \mid Y = y) P(X = x)",
    r"P(\max(X, Y) \le t) = P(X \le t) + P(Y \le t)",
    r"P(X > s, Y > t) = P(X > s) P(Y < t)",
    r"\mathbb E[\mathbb 1\{X \le t\}] = \mathbb P(X \ge t)",
    r"P(|X| > t) = P(X > t), \quad t > 0",
    r"P(X > 0) = P(X \ge 0)",
    r"P(X^2 \le t) = P(X^2 < t)",
    r"E[\mathbb 1\{X > t\}] = E[\mathbb 1\{X \ge t\}]",
    r"E[X] = E[E[Y \mid X]]",
    r"\operatorname{Var}(Y) = E[\operatorname{Var}(Y \mid X)] - \operatorname{Var}(E[Y \mid X])",
    r"E[X Y] = E[Y E[Y \mid X]]",
    r"\mathbb E_0[a X + b] = a \mathbb E_0[X] - b",
    r"\mathbb E[\sum_i X_i] = \prod_i \mathbb E[X_i]",
    r"\operatorname{Var}(\sum_{i=1}^n X_i) = \sum_{i=1}^n \operatorname{Var}(X_i)"
    r" + \sum_{i<j} \operatorname{Cov}(X_i, X_j)",
    r"\operatorname{Var}(\sum_{i=1}^n a_i X_i) = \sum_{i=1}^n a_i \operatorname{Var}(X_i)",
    r"\operatorname{Var}(\bar X) = \frac{\sigma^2}{n - 1}",
    r"E[\frac{1}{n} \sum_{i=1}^n (X_i - \bar X)^2] = \sigma^2",
]


def found(latex: str, *, mending: bool = False) -> Finding:
    """What a paper is told that prints it."""
    return try_one(Task(("paper.tex", 1, 1), latex, "", {}, Declared(), mending=mending))


@pytest.mark.parametrize(("latex", "region"), HOLDS)
def test_what_is_said_of_any_distribution_is_tried_on_one(latex: str, region: str) -> None:
    told = found(latex)
    assert (told.outcome, told.region or "") == ("holds if" if region else "holds", region)
    assert "that was drawn" in told.why


@pytest.mark.parametrize("latex", FALSE)
def test_what_fails_for_it_is_told_and_accuses_nobody(latex: str) -> None:
    told = found(latex)
    assert told.outcome == "fails on all numbers drawn", str(told)
    assert "that was drawn" in told.why
    assert not told.fails


@pytest.mark.parametrize("latex", [r"E_t[X] = E_{t+1}[X]", r"E[X] = E_0[X]", r"E[X_i] \le E[X_j]"])
def test_what_leaves_open_under_what_a_mean_is_taken_is_not_tried(latex: str) -> None:
    assert found(latex, mending=True).verdict == "not read"
