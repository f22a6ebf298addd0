"""Each rule of the numerics by itself, at its ends and at what it refuses."""

import itertools
import math

import numpy as np
import pytest

from checked_equations.errors import OperationError
from checked_equations.evaluate.effort import allowing, spend
from checked_equations.evaluate.epsilon_table import even_columns
from checked_papers.numerics import extrapolation, quadrature
from checked_papers.numerics.cauchy_derivatives import derivative
from checked_papers.numerics.extrapolation import levin, series, wynn
from checked_papers.numerics.quadrature import integrate, roughly

INF = math.inf


def broken(x):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("f", "low", "high", "wanted"),
    [
        (lambda t: t**3, 2.0, 5.0, 609 / 4),
        (math.sqrt, 0.0, 4.0, 16 / 3),
        (lambda t: t**-0.5, 0.0, 4.0, 4.0),
        (lambda t: math.exp(-t), 2.0, INF, math.exp(-2.0)),
        (lambda t: t**-2.0, 3.0, INF, 1 / 3),
        (lambda t: math.exp(-t * t), -INF, INF, math.sqrt(math.pi)),
    ],
)
def test_the_double_exponential_rule_needs_no_other(f, low, high, wanted):
    assert quadrature._double_exponential(f, low, high) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize(
    ("f", "low", "high"),
    [
        (lambda t: t, -INF, INF),  # zero by symmetry, and not small at the ends
        (lambda t: 1 / t, 0.0, 1.0),
        (lambda t: math.sin(1 / t), 0.0, 1.0),
        (lambda t: math.sqrt(t) if t > 1e-3 else broken(t), 0.0, 1.0),
    ],
)
def test_it_says_where_it_does_not_settle(f, low, high):
    assert quadrature._double_exponential(f, low, high) is None


def test_a_place_and_its_weight():
    finite, half, whole = (
        quadrature._substitution(*ends) for ends in ((2.0, 6.0), (2.0, INF), (-INF, INF))
    )
    assert finite(0.0) == (4.0, pytest.approx(math.pi))
    assert half(0.0) == (3.0, pytest.approx(math.pi / 2))
    assert whole(0.0) == (0.0, pytest.approx(math.pi / 2))
    s = math.pi / 2 * math.sinh(0.7)
    grown = math.pi / 2 * math.cosh(0.7)
    assert finite(0.7) == pytest.approx((4 + 2 * math.tanh(s), 2 * grown / math.cosh(s) ** 2))
    assert finite(-0.7) == pytest.approx((4 - 2 * math.tanh(s), 2 * grown / math.cosh(s) ** 2))
    assert half(0.7) == pytest.approx((2 + math.exp(s), math.exp(s) * grown))
    assert half(-0.7) == pytest.approx((2 + math.exp(-s), math.exp(-s) * grown))
    assert whole(-0.7) == pytest.approx((-math.sinh(s), math.cosh(s) * grown))
    assert finite(4.0) == (6.0, 0.0)
    assert finite(-4.0) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("x", "weight", "value"),
    [
        (1.0, 0.0, 0.0), (INF, 1.0, 0.0), (1.0, INF, 0.0), (1.0, 0.9e-9, 0.0), (1.0, 1.1e9, 0.0),
        (1.0, 1.1e-9, None), (1.0, 0.9e9, None),
    ],
)  # fmt: skip
def test_an_integrand_may_have_no_value_where_it_counts_for_nothing(x, weight, value):
    found = quadrature._term(broken, x, weight)
    assert found == value if value is not None else np.isnan(found)
    assert quadrature._term(lambda t: 3.0 * t, 2.0, 0.5) == 3.0


@pytest.mark.parametrize(
    ("f", "high", "wanted"),
    [
        (lambda t: t * t, 3.0, 26 / 3),
        (lambda t: 1.0, 3.0, 2.0),
        (lambda t: math.sin(200 * t), 3.0, None),
        (broken, 3.0, None),
        (lambda t: math.inf, 3.0, None),
        (lambda t: math.exp(1.0 - t), INF, 1.0),
        (lambda t: t**-2.0, INF, None),
        (lambda t: math.exp(1.0 - t) if t < 200 else broken(t), INF, 1.0),
    ],
)
def test_panels_from_one_to_an_end(f, high, wanted):
    found = quadrature._by_panels(f, 1.0, high)
    assert found is None if wanted is None else found == pytest.approx(wanted, rel=1e-12)


def test_where_panels_end():
    """By a line of equal lengths where they end, else by powers: the last leaves digits behind."""
    points = np.polynomial.legendre.leggauss(24)[0]

    def asked(high):
        places = []
        quadrature._by_panels(lambda x: places.append(x) or 1.0, 3.0, high)
        return places

    coarse, fine = np.cumsum([0.0, 1.0, *2.0 ** np.arange(9)]), [0.0, *1.3 * 1.7 ** np.arange(12)]
    for high, ends in ((7.0, (np.arange(5.0), np.arange(8.0) * 4 / 7)), (INF, (coarse, fine))):
        panels = [pair for cuts in ends for pair in itertools.pairwise(cuts)]
        wanted = [3.0 + a + (b - a) * (1 + x) / 2 for a, b in panels for x in points]
        assert asked(high) == pytest.approx(wanted, rel=1e-12)


def test_panels_are_as_many_as_count():
    cuts = np.arange(10.0)
    total, size, last = quadrature._panelled(lambda t: 1.0, cuts)
    assert (total, size, last) == pytest.approx((9.0, 9.0, 1.0))
    total, size, last = quadrature._panelled(lambda t: -1.0 if t < 1 else 0.0, cuts)
    assert (total, size, last) == pytest.approx((-1.0, 1.0, 0.0))
    asked = []
    quadrature._panelled(lambda t: asked.append(t) or float(t < 1), cuts)
    assert max(asked) < 4.0


def test_a_polynomial_is_integrated_without_an_error():
    whole = (3**10 - 1) / 10
    assert quadrature._panel(lambda t: -(t**9), 1.0, 3.0) == pytest.approx(
        (-whole, whole), rel=1e-13
    )
    assert quadrature._panel(lambda t: 1j * t, 2.0, 3.0) == pytest.approx((2.5j, 2.5), rel=1e-13)


def test_where_the_ends_lose_their_digits_panels_do():
    def lost(t):
        return 2.0 if t > 1e-4 else broken(t)

    assert integrate(lost, 0.0, 1.0) == pytest.approx(2.0, rel=1e-12)
    assert integrate(lost, 1.0, 0.0) == pytest.approx(-2.0, rel=1e-12)
    with pytest.raises(OperationError, match="does not settle"):
        integrate(lambda t: 1 / (t - 0.37), 0.0, 1.0)
    with pytest.raises(OperationError, match="does not settle"):
        integrate(lambda t: math.cos(t) / t, 0.0, INF)
    assert integrate(lambda t: math.exp(t), -INF, 2.0) == pytest.approx(math.exp(2), rel=1e-11)
    assert integrate(lambda t: math.sin(t) / t, 2.0, INF) == pytest.approx(-0.0346166500)


def test_where_a_tail_is_cut():
    zeros = quadrature._zeros(math.cos, 0.0)
    assert zeros == pytest.approx([math.pi * (k + 0.5) for k in range(19)], abs=1e-8)
    assert quadrature._zeros(math.cos, 2.0)[0] == pytest.approx(1.5 * math.pi, abs=1e-8)
    assert len(quadrature._zeros(lambda t: math.sin(2 * t), 0.0)) == 26
    mixed = quadrature._zeros(lambda t: 1j * math.cos(t) + 0.1 * math.sin(t), 0.0)
    assert mixed == pytest.approx(zeros, abs=1e-8)
    real = quadrature._zeros(lambda t: math.cos(t) + 0.1j * math.sin(t), 0.0)
    assert real == pytest.approx(zeros, abs=1e-8)
    gone = quadrature._zeros(lambda t: math.cos(t) if t < 50 else broken(t), 0.0)
    assert gone == []  # which part is larger is not known
    few = [k * math.pi for k in range(1, 10)]

    def nine(t):
        return math.sin(t) * math.exp(-t) if t < 9.5 * math.pi else -math.exp(-t)

    assert quadrature._zeros(nine, 0.0) == pytest.approx(few, abs=1e-8)
    with pytest.raises(OperationError, match="does not settle"):
        quadrature._oscillating(nine, 0.0)


def test_a_rough_integral_is_rough_within_alone():
    def f(t):
        return math.exp(-t) * (1.0 + 0.5 * math.sin(2 * t))

    wanted = 1.2
    assert abs(integrate(f, 0, INF) - wanted) < 1e-11
    with roughly():
        assert abs(integrate(f, 0, INF) - wanted) < 1e-5
    assert abs(integrate(f, 0, INF) - wanted) < 1e-11


def test_series_that_die_away_late_or_not_at_all():
    assert series(lambda k: k**-6.0, 1) == pytest.approx(math.pi**6 / 945, rel=1e-10)
    with pytest.raises(OperationError, match="do not die away"):
        series(lambda k: k**-6.0 if k < 100 else 2.0**k, 1)
    with pytest.raises(OperationError, match="do not die away"):
        series(lambda k: 1.5**k if k < 30 else 0.0, 0)


@pytest.mark.parametrize(("size", "fine"), [(20, True), (21, False)])
def test_a_sum_that_ends_of_a_sudden_is_short(size, fine):
    if fine:
        assert series(lambda k: 1.0 if k < size else 0.0, 0) == size
    else:
        with pytest.raises(OperationError, match="do not die away"):
            series(lambda k: 1.0 if k < size else 0.0, 0)


def test_a_series_is_asked_for_no_more_than_eight_terms_that_add_nothing():
    asked = []
    assert series(lambda k: asked.append(k) or float(k == 3), 3) == 1.0
    assert asked == list(range(3, 12))
    asked.clear()
    assert series(lambda k: asked.append(k) or float(k == 5), 3) == 1.0
    assert asked[-1] == 13


def test_what_is_slow_is_extrapolated_after_sixty_terms():
    asked = []
    series(lambda k: asked.append(k) or 1 / k**2, 1)
    assert len(asked) == 60


def test_slow_terms_are_a_hundredth_of_the_middle_ones_at_the_end():
    def alone(places):
        return [float(places.get(k, 0.0)) for k in range(60)]

    for k in range(50):
        assert extrapolation._slow(alone({k: 1.0, 59: -0.009})) == (k not in range(20, 30))
    for k in range(60):
        assert extrapolation._slow(alone({25: -1.0, k: 0.011})) == (k >= 50)
    assert not extrapolation._slow(alone({25: 1.0, 55: 0.01}))


def test_torn_terms_are_those_that_were_still_large():
    with pytest.raises(OperationError, match="do not die away"):
        extrapolation._refuse_torn([1.0] * 20 + [1.1e-3, 0.0])
    extrapolation._refuse_torn([1.0] * 20 + [0.9e-3, 0.0])
    extrapolation._refuse_torn([1.0] * 20)
    with pytest.raises(OperationError, match="do not die away"):
        extrapolation._refuse_torn([0.0] * 5 + [-1.0] * 21)


def test_levins_transformation_takes_zeros_out_and_wants_enough_terms():
    terms = [(-1.0) ** k / (k + 1) for k in range(60)]
    assert levin(terms) == pytest.approx(math.log(2), rel=1e-12)
    apart = [part for term in terms for part in (0.0, term)]
    assert levin(apart) == levin(terms)
    assert levin(terms[:24]) == pytest.approx(math.log(2), rel=1e-9)
    with pytest.raises(OperationError, match="do not die away"):
        levin(terms[:23])
    with pytest.raises(OperationError, match="do not die away"):
        levin([1.0] * 60)
    with pytest.raises(OperationError, match="do not die away"):
        levin([math.sin(k * k) / (k + 1) for k in range(60)])
    value = extrapolation._levin([1.0, -0.5, 1 / 3], 2)
    weights = [1 * (1 / 3) ** 1, -2 * (2 / 3), 1.0]
    sums, left = [1.0, 0.5, 5 / 6], [1.0, 2 * -0.5, 3 * (1 / 3)]
    wanted = sum(w * s / r for w, s, r in zip(weights, sums, left, strict=True))
    assert value == pytest.approx(wanted / sum(w / r for w, r in zip(weights, left, strict=True)))


def test_the_epsilon_table_ends_where_entries_are_alike():
    halves = [2.0 - 0.5**k for k in range(7)]
    columns = even_columns(halves)
    assert columns[0] == halves
    assert columns[1] == pytest.approx([2.0] * 5)
    assert len(even_columns([1.0, 1.0, 2.0])) == 1
    assert len(even_columns([1.0, 2.0, 2.0 + 1e-9])) == 2
    assert len(even_columns([1.0, 2.0, 2.0 + 1e-9], settled=1e-8)) == 1
    assert len(even_columns([0.0, 1e-9, 2.0], settled=1e-9)) == 1
    assert len(even_columns([0.0, 3e-9, 2.0], settled=1e-9)) == 2
    assert extrapolation._spread([1.0, 4.0, 2.0]) == 1.0
    assert extrapolation._spread([0.0, 0.0]) == 0.0
    assert extrapolation._spread([2.5, -2.0]) == 2.25
    assert extrapolation._spread([3 * 2.0**-30, 2.0**-30]) == 2.0


def test_partial_integrals_come_to_rest_or_do_not():
    halves = [2.0 - 0.5**k for k in range(7)]
    assert wynn(halves) == pytest.approx(2.0, rel=1e-12)
    mixed = [2.0 + 0.5**k + (-0.8) ** k for k in range(9)]
    assert wynn(mixed) == pytest.approx(2.0, rel=1e-9)
    for wild in ([0, 1, 0, 1, 0, 1, 0, 2, 5, 1.0, 3, 4], [1.0, 1.0]):
        with pytest.raises(OperationError, match="the integral does not settle"):
            wynn(wild)


def test_products_that_are_done_before_they_are_extrapolated():
    asked = []

    def factor(k):
        asked.append(k)
        return 3.0 if k == 4 else 1.0

    assert extrapolation.product(factor, 4) == 3.0
    assert asked == list(range(4, 64))
    asked.clear()
    assert extrapolation.product(lambda k: asked.append(k) or float(k != 6), 4) == 0
    assert asked == [4, 5, 6]
    assert extrapolation.product(lambda k: 2.0 if k == 51 else 1.0, 0) == 2.0
    with pytest.raises(OperationError, match="do not die away"):
        extrapolation.product(lambda k: 2.0 if k == 52 else 1.0, 0)


@pytest.mark.parametrize(
    ("f", "z", "order", "wanted"),
    [
        (lambda z: 1 / (z - 1.3), 1.0, 1, -1 / 0.09),
        (lambda z: 1 / (z - 0.3), 0.0, 2, -2 / 0.027),
        (np.sqrt, 0.01 + 0.5j, 1, 0.5 / np.sqrt(0.01 + 0.5j)),
        (np.log, 5.0, 3, 2 / 125),
        (lambda z: z**5, 2.0, 5, 120.0),
        (lambda z: 1e-8 * z**3, 1.0, 1, 3e-8),
    ],
)
def test_a_circle_around_the_point(f, z, order, wanted):
    assert derivative(f, z, order) == pytest.approx(wanted, rel=1e-9, abs=1e-10)


def test_the_circles_are_small_beside_the_point():
    places = []
    derivative(lambda z: places.append(z) or z, 3.0, 1)
    assert len(places) == 5 * 48 + 2  # two places inside one of them
    shares = [abs(np.array(places[48 * i : 48 * (i + 1)]) - 3.0).mean() for i in range(5)]
    assert shares == pytest.approx([1.65, 1.2, 0.6, 0.42, 0.21])
    places.clear()
    derivative(lambda z: places.append(z) or z, 0.0, 1)
    assert abs(places[0]) == pytest.approx(0.11)
    assert all(abs(place) < 0.08 for place in places[5 * 48 :])


def spend_for_long():
    for _ in range(100):
        spend(1)


def test_patience_is_that_of_the_innermost_or_less():
    with allowing(1000):
        spend()
        with allowing(10), pytest.raises(TimeoutError):
            spend_for_long()
        spend()
    spend()


def test_a_late_term_is_measured_by_the_first():
    """A hundred times as large is left to the transformation, ten thousand times refused."""

    def term(last):
        return lambda k: last if k == extrapolation._FALLS - 1 else 1e7 * (-0.85) ** min(k, 100)

    assert series(term(1e9), 0).real == pytest.approx(1e7 / 1.85, rel=1e-8)
    with pytest.raises(OperationError, match="do not die away"):
        series(term(1e11), 0)
