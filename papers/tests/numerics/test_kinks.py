"""Integrals across kinks: from one to the next, and refused where there are too many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from displays import FAILS, holds, tried, twin

from checked_equations.errors import OperationError
from checked_papers.numerics.kinks import _PLACES, cuts, from_kink_to_kink


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"\int_0^3 |x - 1| \, dx = \frac{5}{2}", ("5", "3")),
        (r"\int_{-1}^2 |x| dx = \frac{5}{2}", ("_{-1}", "_{0}")),
        (r"\int_0^2 \max(x, 1) dx = \frac{5}{2}", (r"\max", r"\min")),
        (r"\int_0^2 \min(x, x^2) dx = \frac{11}{6}", ("x^2", "x^3")),
        (r"\int_{-\infty}^\infty e^{-|x - 1|} dx = 2", ("= 2", "= 1")),
        (r"\int_0^\infty \max(1 - x, 0) dx = \frac{1}{2}", ("1 - x", "2 - x")),
        (r"\int_{-1}^2 \frac{|x|}{x} dx = 1", ("^2", "^3")),
        (r"\int_0^{2 \pi} |\sin x| dx = 4", ("= 4", "= 0")),
        (r"\int_0^{2 a} |x - a| dx = a^2, \quad a > 0", ("= a^2", "= 2 a^2")),
        (r"\int_3^0 |x - 1| dx = -\frac{5}{2}", ("= -", "= ")),
        (r"\int_0^8 (1 + \operatorname{sech}^2(40 (x - 5))) dx = 8 + \frac{1}{20}", ("8 +", "8 -")),
        (r"\int_0^{10} (1 + e^{-(99 x - 33)^2}) dx = 10 + \frac{\sqrt\pi}{99}", ("- 33", "- 0")),
        (r"\int_0^{20} (1 + e^{-900(x^2 - 14x + 49)}) dx = 20 + \frac{\sqrt\pi}{30}",
         (r" + \frac{\sqrt\pi}{30}", "")),
        (r"\int_0^{20} (x + \exp(-900(x^2 - 14x + 49))) dx = 200 + \frac{\sqrt\pi}{30}",
         (r"200 + \frac{\sqrt\pi}{30}", "200")),
    ],
)  # fmt: skip
def test_an_integral_goes_from_kink_to_kink(latex: str, slip: tuple[str, str]) -> None:
    holds(latex)
    assert tried(twin(latex, slip)).outcome in ("does not hold", FAILS)


@pytest.mark.parametrize(
    "latex",
    [
        r"\int_{-1}^1 \frac{dx}{|x|} = 0",
        r"\int_0^2 \frac{1}{|x - 1|} dx = 4",
        r"\int_{-1}^1 \frac{1}{x} dx = 0",
    ],
)
def test_a_pole_between_bars_has_no_integral(latex: str) -> None:
    assert "does not settle" in tried(latex).why


def test_zeros_are_found_where_signs_change() -> None:
    assert cuts(math.sin, 1.0, 7.0) == pytest.approx([math.pi, 2 * math.pi], rel=1e-15)
    assert cuts(lambda x: x - 0.5, -math.inf, math.inf) == pytest.approx([0.5])
    assert cuts(lambda x: x + 3.0, -math.inf, 0.0) == pytest.approx([-3.0])
    assert cuts(lambda x: x * x, -1.0, 1.0) == []
    assert cuts(lambda x: math.sin(200.0 * x), 0.0, 3.0) == []  # too many


def test_what_nobody_names_as_a_kink_stays_unsettled() -> None:
    def f(x: float) -> complex:
        return abs(x - math.sqrt(2.0))

    with pytest.raises(OperationError, match="does not settle"):
        from_kink_to_kink(f, [], 0.0, 3.0)
    found = from_kink_to_kink(f, [lambda x: x - math.sqrt(2.0)], 0.0, 3.0)
    assert found == pytest.approx((2.0 + (3.0 - math.sqrt(2.0)) ** 2) / 2, rel=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_zero_at_a_place_that_is_looked_at_is_found_once(sign: float) -> None:
    place = float(np.linspace(0.0, 1.0, _PLACES + 2)[5])
    assert cuts(lambda x: sign * (x - place), 0.0, 1.0) == [place]
