"""How far indices run where nobody says, each statement beside a twin that is false."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import holds_and_its_twin_does_not, tried

from checked_papers.declarations import declared

SQUARE = r"\left(\sum_i a_i\right)^2"


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        # indices of one row run equally far
        (rf"\sum_i \sum_j a_i a_j = {SQUARE}", ("a_i a_j", "a_i a_i")),
        (rf"\sum_{{i,j}} a_i a_j = {SQUARE}", ("{i,j}", "{i}")),
        (r"\sum_i a_i b_i = \sum_j b_j a_j", ("b_j a_j", "b_j b_j")),
        (r"\sum_i a_i \sum_j a_j = \left(\sum_k a_k\right)^2", ("a_j", "a_j^2")),
        (r"\sum_{i=1}^n a_i = \sum_j a_j", ("a_j", "a_j^2")),
        (rf"\sum_{{i,j}} (a_i - a_j)^2 = 2 n \sum_i a_i^2 - 2 {SQUARE}", ("2 n", "n")),
        # one letter twice, a sum within the other
        (r"\sum_i a_i^2 \sum_i b_i = \sum_j b_j \sum_i a_i^2", ("b_j", "b_j^2")),
        (r"\left(\sum_i a_i b_i\right)^2 = \sum_i a_i^2 \sum_i b_i^2 - \frac{1}{2} \sum_{i,j} (a_i b_j - a_j b_i)^2", (r"\frac{1}{2}", "")),
        # two indices that differ
        (r"\sum_{i \ne j} a_i b_j = \sum_i a_i \sum_j b_j - \sum_i a_i b_i", ("- \\sum_i", "+ \\sum_i")),
        (r"\sum_{\substack{i,j=1 \\ i \ne j}}^n a_i a_j = \left(\sum_{i=1}^n a_i\right)^2 - \sum_{i=1}^n a_i^2", ("a_i a_j", "a_i a_i")),
        (r"\sum_{i \neq j} A_{ij} = \sum_{i,j} A_{ij} - \sum_i A_{ii}", ("- \\sum_i", "- 2 \\sum_i")),
        (rf"\sum_{{i < j}} a_i a_j = \frac{{1}}{{2}} \left({SQUARE} - \sum_i a_i^2\right)", (r"\frac{1}{2}", r"\frac{1}{3}")),
        (rf"\sum_{{i \le j}} a_i a_j = \frac{{1}}{{2}} \left({SQUARE} + \sum_i a_i^2\right)", (r"\le", "<")),
        (rf"\sum_{{i < j}} (a_i - a_j)^2 = n \sum_i a_i^2 - {SQUARE}", ("n \\sum", "2 n \\sum")),
        # one that is given
        (r"\sum_{j \neq i} a_j = \sum_j a_j - a_i", ("- a_i", "+ a_i")),
        (r"\sum_{j = 1, j \neq i}^n a_j = \sum_{j = 1}^n a_j - a_i", ("- a_i", "- 2 a_i")),
        (r"\sum_{j \neq i}^n a_j = \sum_{j = 1}^n a_j - a_i", ("- a_i", "- a_n")),
        (r"\prod_{j \neq i} a_j = \frac{\prod_j a_j}{a_i}", ("{a_i}", "{a_i^2}")),
    ],
)  # fmt: skip
def test_what_holds_of_all_rows_and_its_false_twin_does_not(
    latex: str, slip: tuple[str, str]
) -> None:
    found = holds_and_its_twin_does_not(latex, slip)
    assert "holds if" not in str(found)


@pytest.mark.parametrize(
    ("latex", "mend"),
    [
        (r"\sum_{i \ne j} a_i b_j = \sum_i a_i \sum_j b_j", "also where `i = j`"),
        (rf"\sum_{{i,j}} a_i a_j = {SQUARE} - \sum_i a_i^2", r"only where `j \ne i`"),
        (rf"\sum_{{i < j}} a_i a_j = {SQUARE} - \sum_i a_i^2", "a factor `2` inserted"),
    ],
)
def test_a_slip_with_two_indices_is_mended_and_no_range_is_edited(latex: str, mend: str) -> None:
    found = tried(latex)
    assert found.outcome == "does not hold", str(found)
    assert any(mend in one for one in found.mends), found.mends
    assert not any(r"\in j" in one or r"\ne j +" in one for one in found.mends)


def test_indices_of_what_is_declared() -> None:
    known = declared("a, b in R^n")
    latex = r"\sum_{i \ne j} a_i b_j = \sum_i a_i \sum_j b_j - a^T b"
    assert tried(latex, known).outcome == "holds"
    assert tried(latex.replace("a^T b", "a^T a"), known).outcome == "does not hold"


def test_a_maximum_that_agrees_by_chance_is_no_region() -> None:
    found = tried(r"\max_i (a_i b_i) = \max_i a_i \max_i b_i")
    assert found.verdict == "not read", str(found)
    assert "agrees on some numbers and not on others" in found.why
    assert "holds if c, a > 0" in str(tried(r"\max_i (c a_i) = c \max_i a_i"))
