"""Whole numbers from -3 to 40, and reals over eight decades: what holds for a few is told so."""

from __future__ import annotations

import pytest
from displays import tried

from checked_papers.findings import AGREES

EVERYWHERE = (
    r"\sum_{k=1}^n k = \frac{n (n + 1)}{2}",
    r"1 + 2 + \dots + n = \frac{n (n + 1)}{2}",
    r"\sum_{k=0}^n x^k = \frac{1 - x^{n+1}}{1 - x}",
    r"\sum_{k=0}^n \binom{n}{k} = 2^n",
    r"\binom{n}{k} = \binom{n}{n-k}",
    r"\binom{n}{k} = \frac{n!}{k! (n-k)!}",
    r"n! = n (n-1)!",
    r"(n+1)! - n! = n \cdot n!",
    r"\cos(n \pi) = (-1)^n",
    r"\cos(2 n \pi) = 1",
    r"(-1)^{2 n} = 1",
    r"x^{m+n} = x^m x^n",
    r"(x^m)^n = x^{m n}",
    r"\int_0^\infty x^n e^{-x} \, dx = n!",
    r"\frac{d}{dx} x^n = n x^{n-1}",
    r"|m n| = |m| |n|",
    r"\sqrt{n^2} = |n|",
    r"(n - 2)(n - 3) = n^2 - 5 n + 6",
    r"\prod_{k=1}^n k = n!",
    r"\lfloor n \rfloor = n",
    r"M_1 (v_1 + v_2) = M_1 v_1 + M_1 v_2",
    r"2^n \ge n",
    r"n^2 \ge n",
    r"x^2 \ge 0",
    r"e^x \ge 1 + x",
    r"|x + y| \le |x| + |y|",
    r"x y \le \frac{x^2 + y^2}{2}",
    r"|\sin x| \le |x|",
    r"\ln x \le x - 1, \quad x > 0",
    r"x (1 - x) \le \frac{1}{4}, \quad 0 < x < 1",
)
SOMEWHERE = (
    (r"|m| = m", "m ≥ 0"),
    (r"\sqrt{n^2} = n", "n ≥ 0"),
    (r"\sqrt{K^2} = K", "K ≥ 0"),
    (r"\sqrt{m_1^2 m_2^2} = m_1 m_2", "m_1, m_2 ≥ 0"),
    (r"\log(M^2) = 2 \log M", "M > 0"),
    (r"\cos(M_{ij} \pi) = (-1)^{M_{ij}}", "M_{ij} is whole"),
    (r"\sum_{k=0}^n (-1)^k \binom{n}{k} = 0", "n > 0"),
    (r"\int_0^{2 \pi} \cos(n x) \, dx = 0", "n ≠ 0"),
    (r"|n - 1| = n - 1", "n > 0"),
    (r"0^n = 0", "n > 0"),
)
FALSE = (
    r"(n - 2)(n - 3)(n - 4)(n - 5) = 0",
    r"\prod_{i=2}^5 (n - i) = 0",
    r"n \le 5",
    r"n \ge 2",
    r"k! < 200",
    r"2^n \le 32",
    r"n^2 \le 25",
    r"m n \le 20",
    r"m + n \ge 4",
    r"\det(M_{\alpha\beta}) > 0",
    r"\binom{n}{k} \le 10",
    r"\sum_{k=1}^n k \le 15",
    r"x \le 100",
    r"x \ge -100",
    r"x^2 \le 1000",
    r"x < y + 1000",
    r"|x| \ge 0.001",
    r"e^x \ge 0.001",
    r"\frac{1}{x^2} \le 10^6",
    r"x y \ge -1000",
    r"x^2 \le 0.9, \quad 0 < x < 1",
    r"\frac{1}{x} \le 500, \quad 0 < x < 1",
    r"|1000 - x| = 1000 - x",
    r"\max(x, 1000) = 1000",
    r"\min(x, -1000) = -1000",
    r"\lfloor x / 1000 \rfloor = 0",
    r"n! = 2^n",
    r"\sqrt{m^2 n^2} = m n",
    r"|k - 6| = 6 - k",
    r"(-1)^n = 1",
)


@pytest.mark.parametrize("latex", EVERYWHERE)
def test_what_holds_for_all_numbers_needs_no_condition(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome in ("holds", AGREES), str(found)
    assert not found.region


@pytest.mark.parametrize(("latex", "region"), SOMEWHERE)
def test_a_condition_that_the_first_draws_share_is_told(latex: str, region: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.region) == ("holds if", region), str(found)


@pytest.mark.parametrize("latex", FALSE)
def test_what_holds_for_a_few_numbers_alone_does_not_hold(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome not in ("holds", AGREES), str(found)
