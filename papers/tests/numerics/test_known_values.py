"""Integrals, series and derivatives settle on known values, or say that they do not."""

import contextlib
import math

import numpy as np
import pytest

from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.effort import allowing, spend
from checked_equations.evaluate.epsilon_table import even_columns
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Word, kind
from checked_equations.latex.parser import parse_expression
from checked_papers.numerics import unbound
from checked_papers.numerics.cauchy_derivatives import derivative
from checked_papers.numerics.compiled_functions import function_of
from checked_papers.numerics.extrapolation import product, series
from checked_papers.numerics.quadrature import integrate, roughly
from checked_papers.numerics.time_limit import TooLong, limited

INTEGRALS = (
    (lambda t: math.exp(-t), 0, math.inf, 1.0),
    (lambda t: t**-0.5, 0, 1, 2.0),
    (lambda t: math.log(t), 0, 1, -1.0),
    (lambda t: math.exp(-t * t), -math.inf, math.inf, math.sqrt(math.pi)),
    (lambda t: math.sin(t) / t, 0, math.inf, math.pi / 2),
    (lambda t: math.cos(t * t), 0, math.inf, math.sqrt(math.pi / 8)),
    (lambda t: np.exp(1j * t) / (1 + t), 0, math.inf, 0.3433779615564 + 0.6214496242358j),
    (lambda t: 1 / t, 1, math.e, 1.0),
    (lambda t: t, 1, 0, -0.5),
    (lambda t: t, 2, 2, 0.0),
    (math.exp, -math.inf, 1, math.e),
    (lambda t: 1 / (1 + t * t), -math.inf, math.inf, math.pi),
    (lambda t: np.sin(t) / t if t else 1.0, -math.inf, math.inf, math.pi),
    (lambda t: 1j * math.cos(t) / (1 + t), 0, math.inf, 0.3433779615564j),
)


@pytest.mark.parametrize(("f", "low", "high", "value"), INTEGRALS)
def test_integrals(f, low, high, value):
    assert abs(integrate(f, low, high) - value) < 1e-9


@pytest.mark.parametrize("f", [lambda t: 1 / (t - 0.37), lambda t: 1 / t, lambda t: 1.0 + 0 * t])
def test_an_integral_that_does_not_converge_has_no_value(f):
    with pytest.raises(OperationError, match="settle"):
        integrate(f, 0, math.inf)


SERIES = (
    (lambda k: 1 / k**2, 1, math.pi**2 / 6),
    (lambda k: (-1) ** k / (2 * k + 1), 0, math.pi / 4),
    (lambda k: 0.5**k, 0, 2.0),
    (lambda k: 1 / math.factorial(k), 0, math.e),
    (lambda k: 1 / k**1.5, 1, 2.612375348685488),
    (lambda k: math.sin(math.pi * k / 2).__round__() / k, 1, math.pi / 4),
    (lambda k: 20.0**k / math.factorial(k) / math.exp(20), 0, 1.0),
    (lambda k: 0.99**k, 3, 0.99**3 / 0.01),
    (lambda k: 0.6**k * 1j, 0, 2.5j),
)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x / (1.0 + x * x),
        lambda x: (1.0 + x) / (1.0 + x * x),
        lambda x: x,
        math.tanh,
        lambda x: math.exp(-x * x) / x,  # of which each half ends at a pole
    ],
)
def test_a_principal_value_over_the_whole_line_is_no_integral(f):
    with pytest.raises(OperationError, match="does not settle: it has a principal value at most"):
        integrate(f, -math.inf, math.inf)


@pytest.mark.parametrize(
    "f",
    [
        math.sin,
        lambda x: math.sqrt(x) * math.sin(x),
        lambda x: (1.0 + 1.0 / (1.0 + x)) * math.sin(2.0 * x),
        lambda x: math.exp(-((x - 40.0) ** 2)),  # a peak between the nodes
        lambda x: math.exp(-((x - 200.0) ** 2)),
    ],
)
def test_what_only_turns_or_hides_between_nodes_has_no_integral(f):
    with pytest.raises(OperationError, match="does not settle"):
        integrate(f, 0.0, math.inf)


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0, 1.5])
def test_a_tail_that_dies_away_slowly_has_one(power):
    value = math.gamma(1.0 - power) * math.cos(power * math.pi / 2) if power != 1.0 else math.pi / 2
    assert abs(integrate(lambda x: math.sin(x) * x**-power, 0.0, math.inf) - value) < 1e-7


def test_what_is_gone_before_its_exponentials_overflow_has_an_integral():
    def logistic(x):
        return math.exp(x) / (1.0 + math.exp(x)) / (1.0 + math.exp(x))

    for f in (logistic, lambda x: logistic(-x)):
        assert abs(integrate(f, -math.inf, math.inf) - 1.0) < 1e-9
    with pytest.raises(OperationError, match="does not settle"):
        integrate(lambda x: math.exp(x) / math.exp(x), 0.0, math.inf)


def test_nothing_has_the_integral_zero():
    assert integrate(lambda x: 0.0, 0.0, math.inf) == integrate(lambda x: 0.0, -1.0, 2.0) == 0.0


@pytest.mark.parametrize("power", [1, 3, 5])
def test_a_principal_value_between_two_limits_is_no_integral(power):
    """Each division into panels is symmetric about the pole, so that both give zero."""
    with pytest.raises(OperationError, match="does not settle"):
        integrate(lambda x: x**-power, -1.0, 1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * math.exp(-x * x),
        lambda x: x / (1.0 + x * x) ** 2,
        lambda x: math.sin(x) / (1.0 + x * x),
        lambda x: x * math.sin(x * x) / (1.0 + x**4),
    ],
)
def test_an_odd_function_that_dies_away_has_the_integral_zero(f):
    assert abs(integrate(f, -math.inf, math.inf)) < 1e-12


@pytest.mark.parametrize(("term", "first", "value"), SERIES)
def test_series(term, first, value):
    assert abs(series(term, first) - value) < 1e-8


@pytest.mark.parametrize(
    "term",
    [lambda k: 1 / k, lambda k: 1.0, lambda k: 2.0**k, lambda k: math.exp(-((k - 500.0) ** 2))],
)
def test_a_series_that_grows_has_no_value(term):
    with pytest.raises(OperationError, match="die away"):
        series(term, 1)


def test_products():
    assert abs(product(lambda k: 1 - 1 / k**2, 2) - 0.5) < 1e-9
    assert abs(product(lambda k: 1 + 0.5**k, 1) - 2.384231029031371) < 1e-12
    assert product(lambda k: k - 3.0, 1) == 0
    with pytest.raises(OperationError, match="do not die away"):
        product(lambda k: 1 + 1 / k, 1)


def test_terms_that_vanish_of_a_sudden_are_no_series():
    with pytest.raises(OperationError, match="do not die away"):
        series(lambda k: 1.5**k if k < 60 else 0.0, 0)


def test_derivatives_of_any_order():
    assert abs(derivative(np.exp, 0.7, 4) - math.exp(0.7)) < 1e-9
    assert abs(derivative(np.log, 2.0 + 1j, 2) + 1 / (2 + 1j) ** 2) < 1e-10


def test_what_is_not_analytic_has_no_circle():
    assert derivative(abs, 1.0 + 1.0j, 1) is None
    for harmonic in (lambda z: math.log(abs(z)), np.real, np.imag, np.angle, np.conj):
        assert derivative(harmonic, 0.7, 1) is None
        assert derivative(harmonic, 0.7 + 0.4j, 1) is None
    assert derivative(lambda z: abs(z) ** 2, 0.7, 1) is None
    assert derivative(lambda z: np.log(z) + 1e-4 * abs(z) ** 2, 0.7, 2) is None
    assert derivative(lambda z: 1 / 0, 1.0, 1) is None
    assert abs(derivative(lambda z: z**3, 0.0, 3) - 6) < 1e-9


def test_what_is_allowed_within_is_no_more_than_around_it():
    with allowing(10), allowing(1000), pytest.raises(TimeoutError):
        spend_for_long()
    with allowing(10):
        with allowing(1000, anew=True):
            spend_for_long()
        spend(5)  # what was spent anew does not count here


def spend_for_long():
    for _ in range(100):
        spend(1)


def test_a_rough_integral_has_five_digits_and_is_asked_less_often():
    asked = []

    def f(t):
        asked.append(t)
        return math.exp(-t * t) / (1 + t * t)

    exact, many = integrate(f, 0, math.inf), len(asked)
    with roughly():
        assert abs(integrate(f, 0, math.inf) - exact) < 1e-5
    assert len(asked) < 1.6 * many


INTEGRANDS = (
    r"e^{-a t} \cos(t)", r"\frac{\sqrt{t + 1}}{(1 + t^2)^{3/2}}", r"|t - \mathrm{i}|^{-1} t^{-1}",
    r"\frac{-t + a}{\log(2 + t)}", r"\sum_{k=1}^{3} t^{k}",
)  # fmt: skip


@pytest.mark.parametrize("latex", INTEGRANDS)
def test_a_compiled_expression_has_the_values_of_the_evaluator(latex):
    kinds = {"a": "value", "\\mathrm i": "value"}
    node = parse_expression(latex, {**kinds, "t": "value"})
    ev = Evaluator({"a": 0.7, "\\mathrm i": 1j}, beyond=unbound)
    of = function_of(node, "t", ev, {}, "at")
    for place in (0.3, 1.7, 0.4 + 0.2j):
        there = Evaluator({"a": 0.7, "\\mathrm i": 1j, "t": place}, beyond=unbound)
        assert abs(of(place) - complex(there.value(node))) <= 1e-13 * abs(of(place))


QUICK = (
    "f(t) + a", "-t - a t", r"\sqrt[3]{t} + \sqrt{t}", r"\frac{t^2}{a + t}", r"\log(2 + t) t",
    "f(a t)^{-1}", r"\max(t, a)", "w(t) - t + f(w(t))",
)  # fmt: skip


@pytest.mark.parametrize("latex", QUICK)
def test_the_evaluator_is_asked_for_no_value_of_a_quick_expression(latex, monkeypatch):
    """It has it all the same, some ten times as slowly."""
    bound = {"a": 0.7, "f": lambda u: u * u + 1.0, "w": Word(lambda u: u - 3.0)}
    node = parse_expression(latex, {key: kind(one) for key, one in bound.items()} | {"t": "value"})
    wanted = complex(Evaluator({**bound, "t": 1.3}).value(node))
    of = function_of(node, "t", Evaluator(bound), {}, "at")
    monkeypatch.delattr("checked_papers.numerics.compiled_functions._Of.slowly")
    assert of(1.3) == pytest.approx(wanted, rel=1e-13)


def test_where_a_compiled_expression_has_no_value_the_evaluator_says_why():
    node = parse_expression(r"\frac{1}{t - 1}", {"t": "value"})
    with pytest.raises(EquationError, match="division by zero"):
        function_of(node, "t", Evaluator({}), {}, "at")(1.0)


@pytest.mark.parametrize("ratios", [(0.5,), (0.5, -0.7), (0.9, 0.3, -0.4)])
def test_the_last_column_of_the_epsilon_table_is_exact_for_as_many_powers(ratios):
    values = [2.5 + sum(ratio**i for ratio in ratios) for i in range(2 * len(ratios) + 1)]
    columns = even_columns(values)
    assert [len(column) for column in columns] == list(range(len(values), 0, -2))
    assert columns[-1][0] == pytest.approx(2.5, rel=1e-9)


def swallow_all_errors():
    while True:
        with contextlib.suppress(Exception):  # as an evaluator does that makes them its own
            sum(range(1000))


def test_what_never_asks_for_the_time_and_swallows_errors_is_stopped():
    with pytest.raises(TooLong), limited(0.05):
        swallow_all_errors()
    with limited(5.0):
        assert sum(range(3)) == 3


@pytest.mark.parametrize(
    ("f", "low"),
    [(lambda t: t * math.exp(-t * t), -math.inf), (lambda t: t**3, -2.0), (math.sin, -math.pi)],
)
def test_what_cancels_to_rounding_is_zero(f, low):
    assert integrate(f, low, -low) == 0.0


def test_a_slope_of_rounding_is_zero_and_a_small_one_stays():
    flat = derivative(lambda z: np.sin(z) ** 2 + np.cos(z) ** 2, 1.3, 1)
    assert flat == 0.0
    assert derivative(lambda z: 3.0 + 1e-9 * z, 1.3, 1).real == pytest.approx(1e-9, rel=1e-5)
