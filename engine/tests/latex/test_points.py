"""Derivatives at a point, and what stands beside a derivative."""

import numpy as np
import pytest
from problems import says

from checked_equations import EquationError, check_equation
from checked_equations.latex.parser import parse, parse_expression
from checked_equations.latex.printer import to_latex

NUMBERS = {"f": np.sin, "c": np.cos, "y": 0.7}
KINDS = {"f": "callable", "c": "callable", "y": "value", "x": "value"}


@pytest.mark.parametrize(
    "slope",
    [
        r"\frac{\partial f}{\partial x}(y)",
        r"\frac{\mathrm d f}{\mathrm d x} \left( y \right)",
        r"\left. \frac{\partial f(x)}{\partial x} \right|_{x = y}",
        r"\frac{\partial f}{\partial x}\Big|_{x=y}",
        r"\nabla_x f(x) |_{x=y}",
        r"\left. \nabla_x f \right\rvert_{x=y}",
    ],
)
def test_a_derivative_at_a_point(slope):
    assert check_equation(f"{slope} = c(y)", NUMBERS).mutants.caught
    for wrong in (f"{slope} = y c(y)", f"{slope} = y c(x)"):
        with pytest.raises(EquationError, check=says(r"does not hold|`x` is no variable of `f`")):
            check_equation(wrong, {**NUMBERS, **({"x": 0.3} if "x)" in wrong[-2:] else {})})


def test_of_a_second_derivative_and_of_two_points():
    latex = r"\frac{\partial^2 f}{\partial x^2}(y) = -f(y)"
    assert check_equation(latex, {"f": np.sin, "y": 0.7}, rtol=1e-8).mutants.caught
    latex = r"h = \left. \frac{\partial g(u, v)}{\partial u} \right|_{u = a, v = b}"
    bound = {"h": 2.6 * 0.7, "g": lambda u, v: u**2 * v, "a": 1.3, "b": 0.7}
    assert check_equation(latex, bound).mutants.survived == 0


def test_an_expression_beside_it_is_a_factor():
    latex = r"\frac{\partial f(x)}{\partial x} (y - x) = c(x) (y - x)"
    assert check_equation(latex, {**NUMBERS, "x": 0.3}).mutants.survived == 0


def test_inside_or_outside_of_a_gradient():
    latex = r"\nabla_x \log f(x) |_{x=y}"
    with pytest.raises(EquationError, match="ambiguous: is this differentiated there"):
        parse(latex + " = c(y)", KINDS)
    around = rf"\left. {latex[:-7]} \right|_{{x=y}} = c(y) / f(y)"
    assert check_equation(around, NUMBERS).mutants.survived == 0


def test_it_is_printed_as_it_is_read():
    node = parse_expression(r"\frac{\partial f}{\partial x}(y)", KINDS)
    assert to_latex(node) == r"\left. \frac{\partial f}{\partial x} \right|_{x = y}"
    assert parse_expression(to_latex(node), KINDS) == node
