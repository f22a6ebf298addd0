"""Derivatives, integrals, limits and special functions of the browser against known values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
from browsing import engine

# ruff: noqa: E501 - a call of JavaScript on a line

pytestmark = [pytest.mark.book, pytest.mark.browser]

EXPORTS = """
const { Undefined } = $numbers;
window.numbers = { ...$special, ...$calculus, ...$complex, Undefined };
"""
PLAIN = "{ add: (a, b) => a + b, times: (a, b) => a * b, most: Math.abs }"


@pytest.fixture(scope="module")
def computed(browser: Any) -> Any:
    """A function: what an expression of JavaScript gives, or why it gives nothing."""
    page = browser.new_page()
    page.set_content(engine("trial").replace("})();\n</script>", f"{EXPORTS}}})();\n</script>"))
    ask = """source => {
        try { return eval(source); } catch (error) {
            if (!(error instanceof numbers.Undefined)) throw error;
            return error.message;
        }
    }"""
    yield lambda source: page.evaluate(ask, source)
    page.close()


@pytest.mark.parametrize(
    ("name", "places", "most"),
    [
        ("gamma", np.r_[np.linspace(-5.93, 20.07, 521), 50.5, 100.3, 165.7, 1e-8], 1e-13),
        ("erf", np.r_[np.linspace(-6.0, 6.0, 480), 1e-9, 30.0], 1e-15),
        ("erfc", np.r_[np.linspace(-6.0, 12.0, 481), 20.0, 26.0], 1e-13),
    ],
)
def test_special_functions_are_those_of_scipy(
    computed: Any, name: str, places: Any, most: float
) -> None:
    found = np.array(computed(f"{[float(x) for x in places]}.map(numbers.{name})"))
    wanted = getattr(scipy.special, name)(places)
    assert np.max(np.abs(found - wanted) / np.abs(wanted)) < most


def test_the_gamma_function_has_poles_and_exact_factorials(computed: Any) -> None:
    assert computed("[0, -1, -7].map(numbers.gamma).every(Number.isNaN)")
    assert computed("numbers.gamma(23)") == float(np.prod(np.arange(1, 23, dtype=object)))


SMOOTH = [
    ("Math.sin", 1.3, 1, np.cos(1.3)), ("Math.exp", 0.4, 3, np.exp(0.4)),
    ("x => 1 / x", 0.3, 2, 2 / 0.3**3), ("Math.log", 0.3, 1, 1 / 0.3),
    ("x => x ** 4", 0.0, 4, 24.0), ("Math.abs", -0.7, 1, -1.0), ("x => x * Math.abs(x)", 0.05, 1, 0.1),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "order", "wanted"), SMOOTH)
def test_derivatives_have_ten_digits(
    computed: Any, function: str, at: float, order: int, wanted: float
) -> None:
    value, _ = computed(f"numbers.derivative({function}, {at}, {order}, {PLAIN})")
    assert value == pytest.approx(wanted, rel=1e-10)


INTEGRALS = [
    ("x => Math.exp(-x * x)", "-Infinity", "Infinity", np.sqrt(np.pi)),
    ("x => 1 / (1 + x * x)", "-Infinity", "Infinity", np.pi), ("Math.log", "0", "1", -1.0),
    ("x => 1 / Math.sqrt(x)", "0", "1", 2.0), ("x => Math.sin(x) / x", "0", "Infinity", np.pi / 2),
    ("x => Math.exp(-x)", "Infinity", "0", -1.0), ("x => x ** 9", "1", "-2", (2**10 - 1) / 10),
    ("x => Math.cos(20 * x)", "0", "3", np.sin(60.0) / 20), ("x => x", "2", "2", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("function", "low", "high", "wanted"), INTEGRALS)
def test_integrals_have_ten_digits(
    computed: Any, function: str, low: str, high: str, wanted: float
) -> None:
    value, _ = computed(f"numbers.integral({function}, {low}, {high})")
    assert value == pytest.approx(wanted, rel=1e-10)


SEQUENCES = [
    ("limit(x => Math.sin(x) / x, 0, '')", 1.0), ("limit(n => (1 + 2 / n) ** n, Infinity, '')", np.e**2),
    ("limit(x => Math.sqrt(x * x + x) - x, Infinity, '')", 0.5), ("limit(Math.sign, 0, '-')", -1.0),
    ("series(k => 1 / (k * k), 1)", np.pi**2 / 6), ("series(k => (-1) ** k / (2 * k + 1), 0)", np.pi / 4),
    ("series(k => 0.5 ** k, 0)", 2.0), ("product(k => 1 + (-1) ** k / 2 ** k, 1)", None),
]  # fmt: skip


@pytest.mark.parametrize(("call", "wanted"), SEQUENCES)
def test_limits_and_endless_sums_have_ten_digits(
    computed: Any, call: str, wanted: float | None
) -> None:
    value, _ = computed(f"numbers.{call}")
    if wanted is None:
        k = np.arange(1.0, 60.0)
        wanted = float(np.prod(1 + (-1) ** k / 2**k))
    assert value == pytest.approx(wanted, rel=1e-10)


UNSETTLED = [
    "derivative(Math.abs, 0, 1, PLAIN)", "derivative(x => Math.floor(x), 1, 1, PLAIN)",
    "integral(x => 1 / x, 0, 1)", "integral(x => 1 / x, -1, 1)", "integral(x => 1 / x, -1, 2)",
    "integral(x => x / (1 + x * x), -Infinity, Infinity)", "integral(x => 1, 0, Infinity)",
    "integral(Math.cos, 0, Infinity)", "integral(x => 1 / (x * x), -1, 1)",
    "limit(x => 1 / x, 0, '+')", "limit(Math.sign, 0, '')", "limit(x => Math.sin(1 / x), 0, '')",
    "limit(n => (-1) ** n, Infinity, '')", "limit(x => Math.sin(Math.PI / x), 0, '')",
    "limit(x => Math.sin(2 * Math.PI * x), Infinity, '')",
    "limit(x => x * Math.log(x), 0, '+')", "series(k => 1 / k, 1)", "series(k => (-1) ** k, 0)",
    "series(k => 2 ** k, 0)", "product(k => 1 + 1 / k, 1)",
]  # fmt: skip


@pytest.mark.parametrize("call", UNSETTLED)
def test_what_does_not_settle_is_refused(computed: Any, call: str) -> None:
    """No value, or one whose digits are few, is no number at all."""
    assert isinstance(computed(f"numbers.{call.replace('PLAIN', PLAIN)}"), str)


FUNCTIONS = ["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"]


def test_complex_arithmetic_is_that_of_python(computed: Any) -> None:
    stream = np.random.default_rng(3)
    for a, b in stream.normal(size=(12, 2, 2)):
        z, w = complex(*a), complex(*b)
        said = ", ".join(f"new numbers.Complex({v.real}, {v.imag})" for v in (z, w))
        found = computed(
            f"(([z, w]) => [numbers.plus(z, w), numbers.mul(z, w), numbers.over(z, w), numbers.power(z, w),"
            f" numbers.power(z, 3), ...{FUNCTIONS}"
            f".map(how => numbers.OF_COMPLEX[how](z))].map(numbers.parts))([{said}])"
        )
        wanted = [z + w, z * w, z / w, z**w, z**3]
        wanted += [complex(getattr(np, how)(z)) for how in FUNCTIONS]
        assert np.allclose([complex(*one) for one in found], wanted, rtol=1e-12)
