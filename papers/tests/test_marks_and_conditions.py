"""What print leaves to custom: marks that mean an operation, and conditions behind a display.

Each right display has a false twin, which is not said to hold, and which accuses nobody wrongly.
"""

from __future__ import annotations

import pytest
from displays import AGREES

from checked_papers.declarations import Declared
from checked_papers.display_trials import Task, try_one
from checked_papers.findings import Finding

HOLDS = [
    r"(A B)' = B' A'",
    r"x'(A + A')x = 2 x'Ax",
    r"(y - Xb)'(y - Xb) = y'y - 2 b'X'y + b'X'Xb",
    r"\overline{z w} = \bar z \bar w",
    r"\overline{e^{z}} = e^{\bar z}",
    r"(z w)^* = z^* w^*",
    r"|z + w|^2 = |z|^2 + |w|^2 + z^* w + z w^*",
    r"\nabla \|x\|^2 = 2 x",
    r"\nabla_x \frac12 \|A x - b\|^2 = A^\top (A x - b)",
    r"\nabla (x^\top A x) = (A + A^\top) x",
    r"\frac{a + b}{2} \ge \sqrt{a b}, \quad a, b > 0",
    r"\frac{a + b}{2} \ge \sqrt{a b} \quad (a, b > 0)",
    r"\frac{1}{1 - x} = \sum_{k=0}^\infty x^k \qquad (|x| < 1)",
    r"\ln x = \int_1^x \frac{dt}{t} \quad (x > 0).",
    r"n! \sim \sqrt{2 \pi n}\, n^n e^{-n}, \quad n \to \infty",
    r"n! \sim \sqrt{2 \pi n} \left(\frac{n}{e}\right)^n \quad (n \to \infty)",
    r"-\sum_{k} p_k \log p_k \le \log n, \quad \sum_k p_k = 1",
    r"\sum_{i=1}^n w_i (x_i - a) = \sum_{i=1}^n w_i x_i - a, \quad \sum_{i=1}^n w_i = 1",
    r"{}_2F_1(1, 1; 2; x) = -\frac{\ln(1 - x)}{x}",
]
FALSE = [
    r"(A B)' = A' B'",
    r"x'(A + A')x = x'Ax",
    r"(y - Xb)'(y - Xb) = y'y - b'X'y + b'X'Xb",
    r"\overline{z w} = \bar z w",
    r"\overline{e^{z}} = e^{z}",
    r"(z w)^* = z w^*",
    r"|z + w|^2 = |z|^2 + |w|^2 + z^* w - z w^*",
    r"\nabla \|x\|^2 = x",
    r"\nabla_x \frac12 \|A x - b\|^2 = A^\top (A x + b)",
    r"\nabla (x^\top A x) = 2 A x",
    r"\frac{a + b}{2} \le \sqrt{a b}, \quad a, b > 0",
    r"\frac{a + b}{2} \le \sqrt{a b} \quad (a, b > 0)",
    r"\frac{1}{1 - x} = \sum_{k=1}^\infty x^k \qquad (|x| < 1)",
    r"\ln x = \int_0^x \frac{dt}{t} \quad (x > 0).",
    r"n! \sim \sqrt{\pi n}\, n^n e^{-n}, \quad n \to \infty",
    r"n! \sim \sqrt{2 \pi n} \left(\frac{n}{e}\right)^{n + 1} \quad (n \to \infty)",
    r"-\sum_{k} p_k \log p_k \ge \log n, \quad \sum_k p_k = 1",
    r"\sum_{i=1}^n w_i (x_i - a) = \sum_{i=1}^n w_i x_i + a, \quad \sum_{i=1}^n w_i = 1",
    r"{}_2F_1(1, 1; 2; x) = \frac{\ln(1 - x)}{x}",
    r"\bar x = x",  # a bar over a real number is no conjugate
    r"\overline{x y} = \bar x \bar y",
]


def found(latex: str) -> Finding:
    """What a paper is told that prints it."""
    return try_one(Task(("paper.tex", 1, 1), latex, "", {}, Declared(), mending=False))


@pytest.mark.parametrize("latex", HOLDS)
def test_it_holds_as_custom_reads_it(latex: str) -> None:
    told = found(latex)
    assert told.outcome == "holds" or (told.outcome == AGREES and told.mutants["survived"])


@pytest.mark.parametrize("latex", FALSE)
def test_its_twin_is_not_said_to_hold(latex: str) -> None:
    assert found(latex).outcome not in ("holds", AGREES)


def test_a_reading_by_custom_is_told() -> None:
    assert "with a prime for a transpose" in found(HOLDS[0]).why
    assert "conjugate" in found(r"\overline{z w} = \bar z \bar w").why
    assert "with the derivative by x" in found(r"\nabla \|x\|^2 = 2 x").why


def test_differences_below_their_rounding_are_no_region() -> None:
    told = found(r"\frac{d}{dx} \operatorname{erf}(x) = \frac{2}{\pi} e^{-x^2}")
    assert told.outcome == ""  # it was *holds if* where x is large


def test_weights_that_sum_to_one_may_be_negative() -> None:
    told = found(r"\sum_{i=1}^n |w_i| = 1, \quad \sum_{i=1}^n w_i = 1")
    assert (told.outcome, told.region) == ("holds if", "w > 0")
