"""Notation that printed pages use: read as everyone reads it, or refused with the reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from checked_equations import check_equation
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression, parse_free
from checked_equations.latex.printer import to_latex

rng = np.random.default_rng(39)
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(30)
BOUND = {
    "A": rng.normal(size=(3, 3)), "x": rng.normal(size=3), "a": 0.6, "n": 7, "m": 2,
    "z": rng.normal(size=4), "z^+": rng.normal(size=3), "A_2": rng.normal(size=(3, 3)),
    "s": Nodes((_POINTS + 1) / 2, _WEIGHTS / 2),
    r"p(a \mid \operatorname{do}(n))": lambda y, x: y / x,
}  # fmt: skip


def read(latex, bound=BOUND):
    return parse_expression(latex, {normal(key): kind(value) for key, value in bound.items()})


def value(latex, bound=BOUND):
    return Evaluator(bound, latex).value(read(latex, bound))


def problem(latex, bound=BOUND):
    with pytest.raises(EquationError) as caught:
        value(latex, bound)
    return caught.value.problem


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("-.5 a", -0.3),
        ("a - .25", 0.35),
        (r"10\,000 a", 6000.0),
        (r"12\,345\,678", 12345678.0),
        (r"1.77245\;38509\;05", 1.772453850905),
        (r"1.234~567", 1.234567),
        ("n!!", 105.0),
        ("(n - 1)!!", 48.0),
        (r"\cos(a)^2", math.cos(0.6) ** 2),
        (r"\sin (a)^2 + \tanh(a)^3", math.sin(0.6) ** 2 + math.tanh(0.6) ** 3),
        (r"\ln e", 1.0),
        (r"\log(e a)", 1 + math.log(0.6)),
        (r"\sum_{i=-3}^{-1} a^i", sum(0.6**i for i in (-3, -2, -1))),
        (r"\int_0^1 \frac{\mathrm d s}{1 + s}", math.log(2)),
        (r"a \int_0^1 \frac{s^2 \,\mathrm d s}{1 + s}", 0.6 * (math.log(2) - 0.5)),
        (r"p(a \mid \operatorname{do}(n))", 0.6 / 7),
        ("z^+_m", BOUND["z^+"][1]),
        ("z_1^+", BOUND["z^+"][0]),
        ("z_m^2", BOUND["z"][1] ** 2),
    ],
)
def test_it_is_read(latex, wanted):
    assert value(latex) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("(A x - x)'", r"(A x - x)^\top"),
        ("A' A", r"A^\top A"),
        ("x' A x", r"x^\top A x"),
        ("A_2' A", r"A_2^\top A"),
        ("x_m' A", r"(x_m)^\top A"),
        (r"\begin{bmatrix} a & n \end{bmatrix}'", r"\begin{bmatrix} a & n \end{bmatrix}^\top"),
    ],
)
def test_a_prime_that_is_in_no_name_is_a_transpose(latex, wanted):
    assert read(latex) == read(wanted)


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        ("a x'", "unbound symbol `x'`"),
        ("A''", "unbound symbol `A''`"),
        ("(A)''", "a prime belongs to a bound name"),
        ("1.23 45", "two numbers side by side"),
        ("2 3", "two numbers side by side"),
        (r"2 \, 30", "two numbers side by side"),
        ("n.5", "`.` cannot stand here"),
        (r"\log(a)^2", "does the power belong to log"),
        (r"\cos(a)^{-1}", "does the power belong to cos"),
        ("n!!!", "ambiguous: the factorial of a factorial"),
        (r"\|A\|", "ambiguous: which norm of a matrix?"),
        (r"\mathop{n^a \mathrm{erfc}}(a)", "unbound symbol"),
        ("a + e", "unbound symbol `e`"),
        (r"\ln e_1", "unbound symbol `e_1`"),
        (r"p(a \mid n)", "unbound symbol"),
        ("z^-_m", "unbound symbol"),
        (r"\int_{^-}^{c} s \,\mathrm d s", "unbound symbol `^-`"),
    ],
)
def test_it_is_refused(latex, said):
    assert said in problem(latex)


def test_names_with_primes_keep_their_primes():
    bound = {**BOUND, "x'": rng.normal(size=3)}
    assert "unbound symbol `A'`" in problem("A' A", bound)
    assert value("x' + x", bound) == pytest.approx((bound["x'"] + bound["x"])[:, None])


@pytest.mark.parametrize("latex", [r"\sum_{t=1}^T a_t", r"\int_0^T f(s) \,\mathrm d s"])
def test_an_upper_limit_is_no_transpose(latex):
    (step,) = parse_free(f"d = {latex}").steps
    over = step.right.over if isinstance(step.right, t.Reduction) else step.right
    assert over.last == t.Name("T")


@pytest.mark.parametrize("latex", ["n!!", r"p(a|\operatorname{do}(n))", r"\|x\|_1", r"\|x\|"])
def test_it_is_printed_so_that_it_reads_back(latex):
    node = read(latex)
    assert read(to_latex(node)) == node


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\sec a \csc a", 1 / (math.cos(0.6) * math.sin(0.6))),
        (r"\operatorname{arsinh}(a) \operatorname{sech} a", math.asinh(0.6) / math.cosh(0.6)),
        (r"\sin^{-1} a + \tanh^{-1}(a)", math.asin(0.6) + math.atanh(0.6)),
        (r"\cot^{-1} n", math.atan(1 / 7)),
        (r"\operatorname{arccot}(-n)", -math.atan(1 / 7)),
    ],
)  # fmt: skip
def test_words_of_functions(latex, wanted):
    assert value(latex) == pytest.approx(wanted)


@pytest.mark.parametrize("latex", [r"\sin^{-1} a = \frac{1}{\sin a}", r"\coth a = \tanh a"])
def test_a_false_statement_with_a_word_is_caught(latex):
    with pytest.raises(EquationError, match="does not hold"):
        check_equation(latex, {"a": 0.6})


def test_complex_numbers_have_parts():
    bound = {"z": 1.2 - 0.5j, "a": 0.6}
    assert value(r"\Re z \, \Im z", bound) == pytest.approx(-0.6)
    assert value(r"\operatorname{ph} z - \arg(z)", bound) == pytest.approx(0.0)
    assert value(r"\Im a", bound) == 0.0


def test_a_pole_has_no_value():
    assert "cot has a pole here" in problem(r"\cot(a - a)")
