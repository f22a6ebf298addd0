"""Limits and indefinite integrals: what holds, what does not, and what has no value."""

from __future__ import annotations

import math

import pytest
from problems import says

from checked_equations import EquationError, check_equation
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex.parser import parse_expression, parse_free
from checked_equations.latex.printer import to_latex
from checked_equations.latex.tree import Derivative, Integral

HOLDS = [
    (r"d = \lim_{u \to 0} \frac{e^{a u} - 1}{u}", 0.3),
    (r"d = \lim_{n \to \infty} \left( 1 + \frac{a}{n} \right)^n", math.exp(0.3)),
    (r"d = a \lim_{u \to -\infty} \tanh u", -0.3),
    (r"d = \lim_{u \rightarrow a} \frac{u^3 - a^3}{u - a}", 3 * 0.09),
    (r"d = \lim_{u \to 0^-} 3^{|u| / u} + a", 1 / 3 + 0.3),
    (r"d = a + \lim_{n \to \infty} n^{1 / \log n}", 0.3 + math.e),
]
NO_VALUE = [
    (r"d = \lim_{u \to 0} \frac{a |u|}{u}", "from one side it is -0.3, from the other 0.3"),
    (r"d = a \lim_{n \to \infty} \sin n", "do not settle"),
    (r"d = \lim_{n \to \infty} (-1)^n + a - 0.3", "do not settle"),
    (r"d = a \lim_{u \to 0} \cos \frac{8 \pi}{u}", "do not settle"),
    (r"d = \lim_{u \to 0} \frac{a}{u^2}", "grow apart"),
    (r"d = \lim_{n \to \infty} a n", "grow apart"),
    (r"d = a \lim_{u \to \infty} \sin(\log u)", "do not settle"),
    (r"d = a \lim_{u \to \infty} \cos \frac{\log u}{3}", "do not settle"),
    (r"d = \lim a", "write where the limit is taken"),
]


@pytest.mark.parametrize(("latex", "d"), HOLDS)
def test_a_true_limit_holds_and_a_false_one_does_not(latex, d):
    assert check_equation(latex, {"d": d, "a": 0.3}, rtol=1e-6).mutants.caught > 0
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, {"d": d + 0.01, "a": 0.3}, rtol=1e-6)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_two_sides_agree_in_the_units_of_the_limit(size):
    latex = r"d = \lim_{u \to 1} \frac{s (u^7 - 1)}{u - 1}"
    assert check_equation(latex, {"d": 7.0 * size, "s": size}, rtol=1e-6).mutants.caught > 0


@pytest.mark.parametrize(
    "body",
    ["u / e^u", "u^2 / 2^u", r"\frac{\log u}{\sqrt{u}}", r"\sqrt{u + 1} - \sqrt{u}", "1 / u"],
)
def test_a_limit_that_is_nothing_is_exactly_that(body):
    """What is left of it by extrapolation is no value to be compared with zero."""
    zero = rf"\lim_{{u \to \infty}} \left({body}\right)"
    (step,) = parse_free(f"d = {zero}").steps
    assert Evaluator({}, zero).value(step.right) == 0.0


@pytest.mark.parametrize(("latex", "said"), NO_VALUE)
def test_what_has_no_limit_says_why(latex, said):
    with pytest.raises(EquationError, match=said):
        check_equation(latex, {"d": 1.0, "a": 0.3}, rtol=1e-6)


def test_a_limit_is_printed_as_it_is_read():
    for latex in (r"\lim_{x \to 0^{+}} x + a", r"\left( \lim_{x \to a} x^2 \right) a"):
        node = parse_expression(latex, {"a": "value"})
        assert parse_expression(to_latex(node), {"a": "value"}) == node


INTEGRALS = [
    r"\int e^{n x} \,\mathrm d x = \frac{e^{n x}}{n} + C",
    r"\int \frac{\mathrm d x}{n + x^2} = \frac{\arctan(x / \sqrt{n})}{\sqrt{n}}",
    r"n \int x \cos x \,\mathrm d x = n x \sin x - n \int \sin x \,\mathrm d x",
    r"\int n \,\mathrm d x = n x + C",
    r"\int n \,\mathrm d x + \int x \,\mathrm d x = n x + \frac{x^2}{2}",
]
WRONG = [
    r"\int e^{n x} \,\mathrm d x = n e^{n x} + C",
    r"n \int x \cos x \,\mathrm d x = n x \sin x + n \int \sin x \,\mathrm d x",
    r"\int n \,\mathrm d x = x + C",
    r"\int n \,\mathrm d x + x^2 = x^2 + C",
]


@pytest.mark.parametrize("latex", INTEGRALS)
def test_a_true_integral_holds(latex):
    assert check_equation(latex, {"x": 0.8, "n": 3}, rtol=1e-6).mutants.caught > 0


@pytest.mark.parametrize("latex", WRONG)
def test_a_false_integral_does_not_hold(latex):
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, {"x": 0.8, "n": 3}, rtol=1e-6)


def test_an_integral_inside_a_function_is_refused():
    with pytest.raises(EquationError, match="stands alone, in a sum, or with constant factors"):
        check_equation(r"\exp(\int x \,\mathrm d x) = x", {"x": 0.8})


def test_where_nothing_is_bound_the_other_side_says_whether_it_is_indefinite():
    (step,) = parse_free(r"\int \cos x \,\mathrm d x = \sin x").steps
    assert isinstance(step.right, Derivative)
    (step,) = parse_free(r"\int p(x) \,\mathrm d x = 1").steps
    assert isinstance(step.left, Integral)
