"""Entries of what nobody bound, each statement beside a twin that is false."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import holds_and_its_twin_does_not, tried

from checked_papers.declarations import declared
from checked_papers.tried.verdicts import FAILS


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"\sum_{i=1}^n (x_i + y_i) = \sum_{i=1}^n x_i + \sum_{i=1}^n y_i", ("+ y_i)", "- y_i)")),
        (r"\sum_{k=1}^n (x_{k+1} - x_k) = x_{n+1} - x_1", ("x_{n+1}", "x_n")),
        (r"\sum_{k=0}^n a_k x^k = a_0 + x \sum_{k=1}^n a_k x^{k-1}", ("x^{k-1}", "x^k")),
        (r"\sum_{i=1}^n \sum_{j=1}^n x_i x_j = \left(\sum_{i=1}^n x_i\right)^2", (r"\right)^2", r"\right)^3")),
        (r"\log \prod_{i=1}^n p_i = \sum_{i=1}^n \log p_i", (r"\prod", r"\sum")),
        # a bar is their mean, and n how many there are
        (r"\sum_{i=1}^n (x_i - \bar x)^2 = \sum_{i=1}^n x_i^2 - n \bar x^2", ("- n", "+ n")),
        (r"\sum_i (X_i - \bar X)(Y_i - \bar Y) = \sum_i X_i Y_i - n \bar X \bar Y", ("= \\sum_i X_i Y_i - n", "= \\sum_i X_i Y_i - 2 n")),
        # entries of the arrays beside them
        (r"\mathbf x^\top \mathbf y = \sum_{i=1}^n x_i y_i", ("y_i", "x_i")),
        (r"\|\mathbf x\|_1 = \sum_{i=1}^n |x_i|", ("|x_i|", "x_i^2")),
        (r"(A B)_{ij} = \sum_{k=1}^n a_{ik} b_{kj}", ("b_{kj}", "b_{ki}")),
        (r"\operatorname{tr}(A B) = \sum_i \sum_j A_{ij} B_{ji}", ("B_{ji}", "B_{ij}")),
        (r"x^T A x = \sum_{i,j} A_{ij} x_i x_j", ("x_i x_j", "x_i x_i")),
        # vectors with an index
        (
            r"\sum_{i=1}^n \mathbf x_i^T A \mathbf x_i "
            r"= \operatorname{tr}\left(A \sum_{i=1}^n \mathbf x_i \mathbf x_i^T\right)",
            (r"(A \sum", r"(2 A \sum"),
        ),
    ],
)  # fmt: skip
def test_what_holds_for_any_entries_and_its_false_twin_does_not(
    latex: str, slip: tuple[str, str]
) -> None:
    holds_and_its_twin_does_not(latex, slip)


def test_a_slip_in_a_sum_is_mended() -> None:
    latex = r"\sum_{i=1}^n (x_i + y_i)^2 = \sum_{i=1}^n x_i^2 + \sum_{i=1}^n x_i y_i + \sum_{i=1}^n y_i^2"
    found = tried(latex)
    assert found.outcome == "does not hold"
    assert any("factor `2` inserted" in one for one in found.mends)


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"x_t = \sum_{s=1}^{t-1} x_s", "may be related to the others"),  # it says what x is
        (r"\sum_{i=1}^n p_i \log p_i = \log n", "on one side only"),
        (r"p_i = \frac{x_i}{\sum_i x_i}", "runs, and stands free as well"),
        (r"\sum_{i=1}^n (x_i - \bar x)^2 = \sum_{i=1}^n x_i^2 + n \bar x^2", "another mean"),
    ],
)
def test_what_the_text_must_say_is_not_read(latex: str, said: str) -> None:
    found = tried(latex)
    assert found.verdict == "not read" or found.outcome == FAILS, str(found)
    assert said in found.why


def test_entries_of_what_is_declared() -> None:
    known = declared("x in R^n; A be symmetric n×n")
    assert tried(r"x^T A x = \sum_{i=1}^n \sum_{j=1}^n A_{ji} x_i x_j", known).outcome == "holds"
    assert tried(r"\sum_{i=1}^n A_{ij} x_i = (A x)_j", known).outcome == "holds"
    assert tried(r"\sum_i x_i^2 = x^T x", known).outcome == "holds"
    assert tried(r"\sum_i x_i \sum_j x_j = \left(\sum_i x_i\right)^2", known).outcome == "holds"


def test_what_says_what_a_mean_is_defines_it() -> None:
    assert tried(r"\bar x = \frac{1}{n} \sum_{i=1}^n x_i").verdict == "definition"


def test_what_was_drawn_is_told() -> None:
    found = tried(r"\sum_{i=1}^n \sum_{j=1}^m b_{ij} x_i = \sum_{i=1}^n x_i \sum_{j=1}^m b_{ij}")
    assert found.drawn["x"] == "real for each index"
    assert found.drawn["b"] == "real for each two indices"
