"""Statements without symbols are judged to the last digit; rounding at a zero is no slip."""

from __future__ import annotations

import pytest
from displays import AGREES, holds, tried
from hypothesis import given, settings
from hypothesis import strategies as st

LAST_DIGITS = [
    ("20! = 2432902008176640000", "20! = 2432902008176640001"),
    ("2^{64} = 18446744073709551616", "2^{64} = 18446744073709551615"),
    ("2^{31} - 1 = 2147483647", "2^{31} = 2147483647"),
    (r"\sum_{k=0}^{31} 2^k = 2^{32} - 1", r"\sum_{k=0}^{31} 2^k = 2^{32}"),
    ("3^2 + 4^2 = 5^2", "1782^{12} + 1841^{12} = 1922^{12}"),
    (r"10^{-3} = \frac{1}{1000}", r"\frac{1}{10^{12} + 1} = 10^{-12}"),
    (r"\binom{40}{20} = 137846528820", r"\binom{40}{20} = 137846528821"),
]


@pytest.mark.parametrize(("right", "wrong"), LAST_DIGITS)
def test_every_digit_counts(right: str, wrong: str) -> None:
    holds(right)
    assert tried(wrong).outcome == "does not hold"


def test_roots_that_are_nearly_right_do_not_hold() -> None:
    holds(r"4 \arctan\frac15 - \arctan\frac1{239} = \frac\pi4")
    assert tried(r"\sqrt[4]{\frac{2143}{22}} = \pi").outcome == ""


@settings(max_examples=15, deadline=None)
@given(st.integers(3, 99), st.integers(9, 25), st.sampled_from([-1, 1]))
def test_one_more_is_another_number(base: int, power: int, one: int) -> None:
    assert tried(rf"{base}^{{{power}}} = {base**power}", mending=False).outcome == "holds"
    wrong = tried(rf"{base}^{{{power}}} = {base**power + one}", mending=False)
    assert wrong.outcome == "does not hold"


@pytest.mark.parametrize(
    "latex",
    [r"\sin\pi = 0", r"\cos\frac\pi2 = 0", r"\tan\pi = 0", r"\sin(n\pi) = 0",
     r"\cos\left(\frac{(2n+1)\pi}{2}\right) = 0", r"\operatorname{Im}(e^{i\pi}) = 0"],
)  # fmt: skip
def test_zeros_of_functions_are_zeros(latex: str) -> None:
    assert tried(latex, mending=False).outcome in ("holds", AGREES)


@pytest.mark.parametrize(
    "latex", [r"\sin 3 = 0", r"\sin(10^{-9}) = 0", r"\sin(10^{10}) = 0", r"\ln(1 + 10^{-9}) = 0"]
)
def test_what_is_near_zero_is_not_zero(latex: str) -> None:
    assert tried(latex, mending=False).outcome in ("does not hold", "")
