"""Printed numbers have exact values, however many digits they have."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checked_equations.evaluate.evaluator import Evaluator, magnitude
from checked_equations.evaluate.exact import Unknown, fraction_of
from checked_equations.latex.parser import parse_expression


def value(latex: str) -> Fraction:
    return fraction_of(parse_expression(latex, {}), {})


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**25), st.integers(-6, 6))
def test_arithmetic_of_whole_numbers_is_exact(a: int, b: int, n: int) -> None:
    assert value(rf"\frac{{{a}}}{{{b}}} - {b}") == Fraction(a, b) - b
    assert value(rf"{b}^{{{n}}} \cdot {b}") == Fraction(b) ** n * b


@pytest.mark.parametrize(
    ("latex", "number"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        (r"20! + \binom{40}{20}", factorial(20) + comb(40, 20)),
        (r"\sum_{k=0}^{63} 2^k", 2**64 - 1),
        (r"\prod_{k=1}^{3} \frac{k}{7}", Fraction(6, 343)),
        (r"\lfloor \frac{7}{2} \rfloor", 3),
        ("18446744073709551616", 2**64),
    ],
)
def test_what_is_a_fraction(latex: str, number: Fraction) -> None:
    assert value(latex) == number


@pytest.mark.parametrize(
    "latex", [r"\sqrt 2", r"\pi", "9^{9^9}", r"\frac{1}{3 - 3}", r"\sum_{k=1}^{9999} k", "(-3)!"]
)
def test_what_is_none_or_takes_long_is_unknown(latex: str) -> None:
    with pytest.raises(Unknown):
        value(latex)


@pytest.mark.parametrize("latex", [r"\sin \pi", r"\ln(\sqrt2 \sqrt2 / 2)"])
def test_a_function_has_the_size_of_its_argument_at_a_zero(latex: str) -> None:
    node, ev = parse_expression(latex, {}), Evaluator({})
    assert abs(ev.value(node)) < 1e-15
    assert magnitude(node, ev) == 1.0
