"""Likelihoods: densities, derivatives, averages over f."""

import functools
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from documented import defaults
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfcx, gammaln, log_expit, log_ndtr, logsumexp
from scipy.stats import binom, nbinom, norm, poisson, t

from gpnotes import Bernoulli, Gaussian, Poisson, StudentT
from gpnotes.ground import memory
from gpnotes.ground.params import flatten_gradient, positive
from gpnotes.ground.quadrature import expect
from gpnotes.ground.xp import has_double, to_numpy
from gpnotes.model import likelihoods
from gpnotes.model.likelihoods import Binomial, NegativeBinomial
from gpnotes.model.likelihoods.adapter import (
    is_latent,
    moves_under_laplace,
    require_observable,
    with_hooks,
)
from gpnotes.model.likelihoods.binary import _NODES
from gpnotes.model.likelihoods.counts import log_factorial
from gpnotes.testing import check_likelihood, gradcheck


@pytest.fixture
def y(space):
    return space.asarray([0.3, -1.2, 2.0])


@pytest.fixture
def f(space):
    return space.asarray([0.1, 0.4, -0.5])


def test_the_density_is_that_of_scipy(space, y, f):
    log_density = Gaussian(0.7).log_density(y, f)
    assert space.holds(log_density)
    wanted = norm(to_numpy(f), np.sqrt(0.7)).logpdf(to_numpy(y))
    np.testing.assert_allclose(to_numpy(log_density), wanted, rtol=1e-12 if space.double else 1e-5)


def test_each_derivative_is_the_slope_of_the_one_before(space, y, f):
    noise, step = Gaussian(0.7), 0.25  # central differences of a quadratic are exact
    for k, derivative in enumerate(noise.derivatives(y, f)):
        assert space.holds(derivative)
        up, down = (
            noise.log_density(y, g) if k == 0 else noise.derivatives(y, g)[k - 1]
            for g in (f + step, f - step)
        )
        gap = to_numpy(derivative) - to_numpy(up - down) / (2.0 * step)
        assert np.abs(gap).max() < (1e-12 if space.double else 1e-4)


def test_the_expected_density_is_that_of_quadrature(space, y, f):
    variance = space.asarray([0.2, 1.0, 0.5])
    expectation = Gaussian(0.7).expected_log_density(y, f, variance)
    assert space.holds(expectation)
    # a quadratic in f: two nodes are exact
    wanted = expect(lambda t: Gaussian(0.7).log_density(y[:, None], t), f, variance, n=2)
    tolerance = 1e-12 if space.double else 1e-5
    np.testing.assert_allclose(to_numpy(expectation), to_numpy(wanted), rtol=tolerance)


def test_a_variance_is_positive():
    with pytest.raises(ValueError, match=r"Gaussian\.variance must be positive and finite; got 0"):
        Gaussian(0)


# Labels


LINKS = ["probit", "logit"]
F = np.asarray([-45.0, -8.0, -2.1, -1.9, -0.3, 0.0, 0.7, 2.0, 6.0, 37.0])


def log_probability(link, z):
    return log_ndtr(z) if link == "probit" else log_expit(z)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_density_of_a_label_is_that_of_scipy(space, link, sign):
    y = space.asarray(np.full(F.size, sign))
    log_density = Bernoulli(link).log_density(y, space.asarray(F))
    assert space.holds(log_density)
    wanted = log_probability(link, sign * F)
    rtol = 1e-13 if space.double else 1e-5
    np.testing.assert_allclose(
        to_numpy(log_density), wanted, rtol=rtol, atol=0 if space.double else 1e-7
    )


def test_the_slope_of_a_probit_loses_no_digit_in_the_tail(space):
    """Against the scaled complementary error function; the difference of two logarithms is lost."""
    near = np.linspace(-30.0, 3.0, 500)
    far = -1e20 if has_double(space.asarray([0.0])) else -1e18  # whose square has a place
    z = np.concatenate([[far, -1e8, -300.0, -26.0, -24.0, -10.0, -1.0, 2.0], near])
    given = space.asarray(z)
    _, slope = Bernoulli()._value_and_slope(space.asarray(np.ones_like(z)), given)
    wanted = np.sqrt(2.0 / np.pi) / erfcx(-to_numpy(given).astype(float) / np.sqrt(2.0))
    np.testing.assert_allclose(to_numpy(slope), wanted, rtol=1e-12 if space.double else 1e-5)


@pytest.mark.parametrize("link", LINKS)
def test_the_derivatives_for_a_label_are_slopes(link):
    label, step = Bernoulli(link), 1e-3
    y = np.where(np.arange(F.size) % 2, 1.0, -1.0)

    def value(k, f):
        return label.log_density(y, f) if k == 0 else label.derivatives(y, f)[k - 1]

    for k, derivative in enumerate(label.derivatives(y, F)):
        central = [(value(k, F + h) - value(k, F - h)) / (2.0 * h) for h in (step, step / 2)]
        wanted = (4.0 * central[1] - central[0]) / 3.0
        # differences lose digits where the value itself is large
        rounding = 1e-11 * np.maximum(1.0, np.abs(value(k, F)))
        assert np.all(np.abs(derivative - wanted) < rounding)


@pytest.mark.parametrize("link", LINKS)
def test_the_derivatives_for_a_label_are_the_same_in_every_space(space, link):
    y = np.where(np.arange(F.size) % 3, 1.0, -1.0)
    derivatives = Bernoulli(link).derivatives(space.asarray(y), space.asarray(F))
    for one, wanted in zip(derivatives, Bernoulli(link).derivatives(y, F), strict=True):
        assert space.holds(one)
        tolerance = {"rtol": 1e-11, "atol": 1e-13} if space.double else {"rtol": 1e-4, "atol": 1e-5}
        np.testing.assert_allclose(to_numpy(one), wanted, **tolerance)


def test_the_derivatives_of_an_all_but_impossible_label_keep_their_digits():
    """Against the expansion of log Φ(−x) = −x²/2 − log x − log √2π − 1/x² + 5/2x⁴ − …"""
    x = np.asarray([100.0, 1e3, 1e5, 1e8])
    first, second, third = Bernoulli().derivatives(np.ones(4), -x)
    np.testing.assert_allclose(first, x + 1 / x - 2 / x**3, rtol=1e-9)
    np.testing.assert_allclose(second, -1 + 1 / x**2 - 6 / x**4, rtol=1e-10)
    np.testing.assert_allclose(third, 2 / x**3 - 24 / x**5 + 300 / x**7, rtol=1e-8)
    assert np.all(second >= -1.0)


@functools.cache  # every space is compared with the same
def averages(link, mean, variance):
    """P(y = 1), E H(y | f) and I(y; f) by a sum over 50 001 points."""
    z = np.linspace(-12.0, 12.0, 50_001)
    weights = np.exp(-0.5 * z * z)
    weights /= weights.sum()
    up, down = (log_probability(link, s * (mean + np.sqrt(variance) * z)) for s in (1.0, -1.0))
    entropy = -(np.exp(up) * up + np.exp(down) * down) @ weights
    p, q = np.exp(up) @ weights, np.exp(down) @ weights
    return p, entropy, -p * np.log(p) - q * np.log(q) - entropy


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [1e-4, 0.3, 3.0, 15.9, 16.1, 200.0, 1e5])
def test_averages_over_f_are_those_of_brute_force(space, link, variance):
    """From a narrow f to one so wide that its entropy is a spike; both sides of the two rules."""
    means = np.asarray([0.0, 0.4, -2.5, 7.0])
    label, m, v = Bernoulli(link), space.asarray(means), space.asarray(np.full(4, variance))
    ours = label.probability(m, v), label.expected_entropy(m, v), label.information(m, v)
    wanted = np.asarray([averages(link, mean, variance) for mean in means]).T
    for average, brute in zip(ours, wanted, strict=True):
        assert space.holds(average)
        np.testing.assert_allclose(
            to_numpy(average), brute, rtol=0, atol=1e-12 if space.double else 2e-6
        )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("variance", [1e-3, 1.0, 30.0, 1e4])
def test_what_a_label_makes_of_a_normal_f_is_that_of_brute_force(space, link, variance):
    """Labels that were expected, and one that lies ten deviations off."""
    means, sd = np.asarray([0.0, 0.4, -2.5, 7.0, -10.0 * variance**0.5]), variance**0.5
    y = np.asarray([1.0, -1.0, 1.0, -1.0, 1.0])
    f = means + sd * np.linspace(-22.0, 22.0, 50_001)[:, None]
    logs = log_probability(link, y * f) - 0.5 * ((f - means) / sd) ** 2
    weights = np.exp(logs - logs.max(0))
    mean = (weights * f).sum(0) / weights.sum(0)
    var = (weights * (f - mean) ** 2).sum(0) / weights.sum(0)
    log_z = logs.max(0) + np.log(weights.sum(0) * 44.0 / 50_000) - 0.5 * np.log(2.0 * np.pi)
    v = np.full(5, variance)
    found = Bernoulli(link).tilted(*(space.asarray(a) for a in (y, means, v)))
    assert all(space.holds(a) for a in found)
    ours, alpha, beta = (to_numpy(a).astype(float) for a in found)
    rtol = 1e-7 if space.double else 2e-3
    np.testing.assert_allclose(ours, log_z, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(means + v * alpha, mean, rtol=rtol, atol=rtol * sd)
    np.testing.assert_allclose(v - v * v * beta, var, rtol=rtol if space.double else 0.05)


@pytest.mark.parametrize("link", LINKS)
def test_averages_over_f_are_those_of_many_gauss_hermite_nodes(link):
    label, means = Bernoulli(link), np.asarray([0.0, 0.4, -2.5])
    variance = np.asarray([0.5, 2.0, 1.0])
    wanted = expect(label.entropy, means, variance, n=300)
    np.testing.assert_allclose(label.expected_entropy(means, variance), wanted, rtol=1e-12)
    chance = expect(lambda f: np.exp(label.log_density(1.0, f)), means, variance, n=300)
    np.testing.assert_allclose(label.probability(means, variance), chance, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_information_keeps_digits_of_a_variance_however_small(link):
    """To first order it is half the variance times the Fisher information of f."""
    means, variance = np.asarray([0.0, 0.8, -3.0]), np.full(3, 1e-10)
    label, one = Bernoulli(link), np.ones(3)
    p = label.probability(means, 0.0 * variance)
    fisher = (p * label.derivatives(one, means)[0]) ** 2 / (p * (1.0 - p))
    np.testing.assert_allclose(label.information(means, variance), 0.5e-10 * fisher, rtol=1e-4)


@pytest.mark.parametrize("link", LINKS)
def test_information_lies_between_nothing_and_a_bit(rng, space, link):
    means, variance = 20.0 * rng.normal(size=(40, 25)), np.exp(6.0 * rng.normal(size=(40, 25)))
    variance[0, :] = 0.0
    information = Bernoulli(link).information(space.asarray(means), space.asarray(variance))
    assert space.holds(information)
    host = to_numpy(information)
    assert host.shape == (40, 25)
    assert np.max(host[0]) < (1e-15 if space.double else 1e-7)
    assert np.all((host >= 0.0) & (host <= np.log(2.0) * (1.0 + 1e-7)))
    assert host[1:].max() > 0.6


@pytest.mark.parametrize("link", LINKS)
def test_labels_are_certain_far_away_and_open_at_zero(link):
    label, far = Bernoulli(link), np.asarray([-1e4, 0.0, 1e4])
    np.testing.assert_allclose(label.probability(far, np.ones(3)), [0.0, 0.5, 1.0], atol=1e-300)
    np.testing.assert_allclose(label.entropy(far), [0.0, np.log(2.0), 0.0], atol=1e-300)
    np.testing.assert_allclose(label.expected_entropy(far[::2], np.ones(2)), 0.0, atol=1e-300)


def test_blocks_of_entries_change_nothing(monkeypatch, rng):
    means, variance = rng.normal(size=7), rng.uniform(0.1, 40.0, 7)
    wanted = Bernoulli("logit").information(means, variance)
    monkeypatch.setattr(memory, "ENTRIES", 3 * _NODES)
    np.testing.assert_array_equal(Bernoulli("logit").information(means, variance), wanted)
    assert Bernoulli("logit").information(means[:0], variance[:0]).shape == (0,)


def test_what_is_no_link_no_variance_or_no_mean():
    with pytest.raises(
        ValueError, match=r"link must be one of \['probit', 'logit'\]; got 'cloglog'"
    ):
        Bernoulli("cloglog")
    label, one = Bernoulli(), np.ones(2)
    for average in (label.probability, label.expected_entropy, label.information):
        with pytest.raises(ValueError, match="variance must be non-negative and finite"):
            average(one, -one)
        with pytest.raises(ValueError, match=r"variance must have the shape of mean, \(2,\)"):
            average(one, np.ones(3))
        with pytest.raises(ValueError, match="mean must be finite; 2 of its entries"):
            average(one * np.nan, one)


@pytest.mark.parametrize("link", LINKS)
def test_averages_are_of_floating_arrays_of_one_kind(link):
    """Nodes in the dtype of whole numbers would be whole numbers: P(y = 1) of 0 for a mean of 1."""
    label, one = Bernoulli(link), np.ones(2)
    for average in (label.probability, label.expected_entropy, label.information):
        with pytest.raises(TypeError, match="mean must have a real floating dtype"):
            average(np.ones(2, dtype=int), np.ones(2, dtype=int))
        with pytest.raises(TypeError, match="variance must have the dtype of mean, float32"):
            average(one.astype(np.float32), one)
        with pytest.raises(TypeError, match="mean must be an array; got float"):
            average(0.3, 1.0)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("y", [np.asarray([0.0, 1.0]), 0.0, np.asarray([np.nan, 1.0])])
def test_labels_are_one_and_minus_one(link, y):
    label, f = Bernoulli(link), np.ones(2)
    for method in (label.log_density, label.derivatives):
        with pytest.raises(ValueError, match="y must hold labels, 1 and -1"):
            method(y, f)
    np.testing.assert_array_equal(label.log_density(-1.0, f), label.log_density(-f, f))
    np.testing.assert_array_equal(label.log_density(np.asarray(-1.0), f), label.log_density(-f, f))


@pytest.mark.parametrize("likelihood", [Gaussian(0.5), Bernoulli(), Bernoulli("logit")])
@pytest.mark.parametrize(
    ("y", "f", "error", "message"),
    [
        (np.ones((3, 1)), np.ones(3), ValueError, r"shape of f, \(3,\); got \(3, 1\)"),
        (np.ones(3), np.ones((3, 1)), ValueError, r"shape of f, \(3, 1\); got \(3,\)"),
        (np.ones(1), np.ones(3), ValueError, r"shape of f, \(3,\); got \(1,\)"),
        (np.ones(3), np.ones((2, 3)), ValueError, r"shape of f, \(2, 3\); got \(3,\)"),
        (np.ones((1, 1)), np.ones((2, 3)), ValueError, r"shape of f, \(2, 3\); got \(1, 1\)"),
        (np.ones(2), np.asarray([0.0, np.nan]), ValueError, "f must be finite; 1 of its"),
        (np.ones(2), np.asarray([0.0, np.inf]), ValueError, "f must be finite; 1 of its"),
        (np.ones(2), [0.0, 1.0], TypeError, "f must be an array; got list"),
        ([1.0, 1.0], np.ones(2), TypeError, "y must be a number; got list"),
        ("1", np.ones(2), TypeError, "y must be a number; got str"),
        (None, np.ones(2), TypeError, "y must be a number; got NoneType"),
        (True, np.ones(2), TypeError, "y must be a number; got bool"),
        (np.ones(2, int), np.ones(2), TypeError, "y must have a real floating dtype"),
        (np.ones(2), np.ones(2, int), TypeError, "f must have a real floating dtype"),
        (np.ones(2, "f4"), np.ones(2), TypeError, "y must have the dtype of f, float64"),
    ],
)
def test_y_and_f_go_together_or_are_refused_by_name(likelihood, y, f, error, message):
    for method in (likelihood.log_density, likelihood.derivatives):
        with pytest.raises(error, match=message):
            method(y, f)


@pytest.mark.parametrize("y", [np.asarray([np.nan, 1.0]), np.inf, np.asarray(-np.inf)])
def test_what_is_observed_with_noise_is_finite(y):
    with pytest.raises(ValueError, match="y must be finite"):
        Gaussian().log_density(y, np.ones(2))


@pytest.mark.parametrize("name", likelihoods.__all__)
def test_a_default_is_the_one_that_is_documented(name):
    for parameter, (said, there) in defaults(getattr(likelihoods, name)).items():
        assert there == said, parameter


def test_a_column_of_another_library_is_no_number():
    """One that has a type of its entries and no dimensions, as those of polars."""
    with pytest.raises(TypeError, match="y must be a number"):
        Gaussian().log_density(SimpleNamespace(dtype=np.dtype(float)), np.ones(2))


def test_y_may_be_one_number_or_stand_before_nodes(space):
    y, nodes = space.asarray([1.0, -1.0]), space.asarray([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    for likelihood in (Gaussian(0.5), Bernoulli()):
        log_density = likelihood.log_density(y[:, None], nodes)
        assert space.holds(log_density)
        for k in range(3):
            wanted = to_numpy(likelihood.log_density(y, nodes[:, k]))
            np.testing.assert_allclose(to_numpy(log_density)[:, k], wanted, rtol=1e-6)
        one, same = (
            likelihood.log_density(1.0, nodes),
            likelihood.log_density(0.0 * nodes + 1, nodes),
        )
        np.testing.assert_allclose(to_numpy(one), to_numpy(same), rtol=1e-6)


@pytest.mark.parametrize(
    ("variance", "error", "message"),
    [
        (np.asarray([-0.1, 1.0]), ValueError, "variance must be non-negative and finite"),
        (np.ones((2, 1)), ValueError, r"variance must have the shape of mean, \(2,\); got \(2, 1"),
        (0.1, TypeError, "variance must be an array; got float"),
    ],
)
def test_an_expected_density_needs_a_variance(variance, error, message):
    with pytest.raises(error, match=message):
        Gaussian().expected_log_density(np.ones(2), np.ones(2), variance)


@pytest.mark.parametrize("link", LINKS)
def test_what_is_certain_has_no_entropy(space, link):
    """Its other label has the logarithm −∞."""
    most = 1e200 if space.name == "numpy-float64" else 1e15
    far = space.asarray([most, -most, 1e6])
    label, one = Bernoulli(link), 0.0 * far + 1.0
    for value in (
        label.entropy(far), label.expected_entropy(far, one), label.information(far, one)
    ):  # fmt: skip
        assert space.holds(value)
        assert (to_numpy(value) == 0.0).all()


@pytest.mark.parametrize("f", [0.3, [0.1], None, "f"])
def test_an_entropy_is_of_an_array(f):
    with pytest.raises(TypeError, match="f must be an array; got"):
        Bernoulli().entropy(f)
    with pytest.raises(ValueError, match="f must be finite"):
        Bernoulli().entropy(np.asarray([np.nan]))


@pytest.mark.parametrize("link", ["cloglog", None, 3, ["probit"], {"probit"}])
def test_a_link_is_one_of_two(link):
    with pytest.raises(ValueError, match=r"link must be one of \['probit', 'logit'\]; got"):
        Bernoulli(link)


# Counts and heavy tails


COUNTS = np.asarray([0.0, 1.0, 2.0, 7.0, 15.0, 16.0, 40.0, 1000.0])
RATES = np.asarray([-3.0, 0.2, 1.5, 1.0, 3.0, 2.0, 3.7, 6.0])


def close(space, rtol=1e-12):
    return {"rtol": rtol, "atol": 1e-12} if space.double else {"rtol": 3e-5, "atol": 3e-5}


def test_the_density_of_a_count_is_that_of_scipy(space):
    log_density = Poisson().log_density(space.asarray(COUNTS), space.asarray(RATES))
    assert space.holds(log_density)
    wanted = poisson(np.exp(RATES)).logpmf(COUNTS)
    np.testing.assert_allclose(to_numpy(log_density), wanted, **close(space))
    one = Poisson().log_density(3.0, space.asarray(RATES))
    assert space.holds(one)
    np.testing.assert_allclose(to_numpy(one), poisson(np.exp(RATES)).logpmf(3), **close(space))


def test_factorials_are_those_of_the_gamma_function(space):
    y = np.concatenate([np.arange(60.0), [1e3, 1e5, 1e7]])
    logs = log_factorial(space.asarray(y), space.asarray(y))
    assert space.holds(logs)
    rtol, atol = (4e-16, 4e-15) if space.double else (5e-7, 5e-6)
    np.testing.assert_allclose(to_numpy(logs), gammaln(y + 1.0), rtol=10 * rtol, atol=atol)


@pytest.mark.parametrize("dof", [0.6, 1.0, 3.5, 40.0])
def test_the_density_with_heavy_tails_is_that_of_scipy(space, dof):
    y, f = np.asarray([0.3, -1.2, 2.0, 90.0]), np.asarray([0.1, 0.4, -0.5, 1.0])
    log_density = StudentT(0.7, dof).log_density(space.asarray(y), space.asarray(f))
    assert space.holds(log_density)
    np.testing.assert_allclose(to_numpy(log_density), t(dof, f, 0.7).logpdf(y), **close(space))


ALL = [
    (Gaussian(0.7), [0.3, -1.2, 2.0]),
    (Bernoulli("probit"), [1.0, -1.0, -1.0]),
    (Bernoulli("logit"), [1.0, -1.0, -1.0]),
    (Poisson(), [0.0, 3.0, 1.0]),
    (StudentT(0.9, 3.5), [0.3, -1.2, 4.0]),
    (Binomial(7), [0.0, 3.0, 7.0]),
    (NegativeBinomial(0.6), [0.0, 3.0, 1.0]),
]
KINDS = pytest.mark.parametrize(("likelihood", "y"), ALL, ids=lambda value: str(value)[:16])


@functools.cache
def average_density(likelihood, y, m, v):
    weight = norm(m, v**0.5).pdf

    def integrand(f):
        return float(likelihood.log_density(y, np.asarray([f]))[0]) * weight(f)

    reach = 10.0 * v**0.5
    return quad(integrand, m - reach, m + reach, epsabs=1e-11, epsrel=1e-11, limit=200)[0]


@KINDS
def test_averages_of_the_density_are_those_of_brute_force(space, likelihood, y):
    """``∫ log p(y | f) N(f; m, v) df`` by adaptive quadrature."""
    m, v = np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 1.0, 0.5])
    arguments = [space.asarray(a) for a in (y, m, v)]
    got = likelihood.expected_log_density(*arguments, nodes=60)
    assert space.holds(got)
    wanted = [average_density(likelihood, *one) for one in zip(y, m, v, strict=True)]
    np.testing.assert_allclose(to_numpy(got), wanted, **close(space, 1e-7))


@KINDS
@pytest.mark.parametrize("nodes", [2, 7, 20])
def test_slopes_of_averages_are_those_of_the_rule_itself(likelihood, y, nodes):
    """Not of the integral: with seven nodes the two differ, and an ascent needs the first."""
    y, m, v = np.asarray(y), np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 1.0, 0.5])

    def pullback(mean, variance, bar):
        slopes = likelihood.expected_derivatives(y, mean, variance, nodes)
        return tuple(bar * slope for slope in slopes)

    gradcheck(lambda m, v: likelihood.expected_log_density(y, m, v, nodes), pullback, m, v)


@KINDS
def test_slopes_of_averages_in_every_space_and_where_f_is_known(space, likelihood, y):
    m, v = np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 0.0, 1e-20])
    slopes = likelihood.expected_derivatives(*(space.asarray(a) for a in (y, m, v)))
    wanted = likelihood.expected_derivatives(*(np.asarray(a) for a in (y, m, v)))
    for got, one in zip(slopes, wanted, strict=True):
        assert space.holds(got)
        np.testing.assert_allclose(to_numpy(got), one, **close(space, 1e-9))
    first, second, _ = likelihood.derivatives(np.asarray(y), m)
    np.testing.assert_allclose(wanted[0][1:], first[1:], rtol=1e-9)
    np.testing.assert_allclose(wanted[1][1:], 0.5 * second[1:], rtol=1e-9)


@pytest.mark.parametrize(("likelihood", "y"), ALL[:4], ids=lambda value: str(value)[:16])
def test_where_the_density_is_log_concave_no_slope_by_a_variance_is_positive(rng, likelihood, y):
    means, variances = 5.0 * rng.normal(size=(3, 200)), np.exp(2.0 * rng.normal(size=(3, 200)))
    for i in range(3):
        slope = likelihood.expected_derivatives(y[i], means[i], variances[i], 20)[1]
        assert np.all(slope <= 1e-14)
    heavy = StudentT(0.5, 3.0).expected_derivatives(np.full(1, 5.0), np.zeros(1), np.full(1, 0.1))
    assert heavy[1] > 0.05


@KINDS
def test_averages_are_the_same_for_a_likelihood_that_is_not_ours(likelihood, y):
    """By Gauss-Hermite what is known of a closed form otherwise."""
    brought = SimpleNamespace(
        log_density=likelihood.log_density, derivatives=likelihood.derivatives
    )
    y, m, v = np.asarray(y), np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 1.0, 0.0])
    ours, theirs = (with_hooks(part)._expected(y, m, v, 40) for part in (likelihood, brought))
    for got, wanted in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9)
    logs = [with_hooks(part)._log_predictive(y, m, v) for part in (likelihood, brought)]
    np.testing.assert_allclose(*logs, rtol=1e-5)


@pytest.mark.parametrize("likelihood", [Gaussian(0.7), StudentT(0.9, 3.5)])
def test_the_bar_of_an_average_agrees_with_differences(likelihood):
    y, m, v = np.asarray([0.3, -1.2, 4.0]), np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 1, 0.5])
    gradcheck(
        lambda part: part.expected_log_density(y, m, v, 7),
        lambda part, bar: (with_hooks(part)._expected_bar(y, m, v, bar, 7),),
        likelihood,
    )
    assert with_hooks(Poisson())._expected_bar(y, m, v, y, 7) == Poisson()


@KINDS
def test_how_likely_y_was_is_the_average_of_its_density(space, likelihood, y):
    m, v = np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 1.0, 0.5])
    got = likelihood.log_predictive(*(space.asarray(a) for a in (y, m, v)))
    assert space.holds(got)
    z = np.linspace(-12.0, 12.0, 5_001)
    weights = np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
    f = m[:, None] + np.sqrt(v)[:, None] * z
    density = np.exp(likelihood.log_density(np.asarray(y)[:, None], f))
    np.testing.assert_allclose(to_numpy(got), np.log(density @ weights), **close(space, 1e-7))


def of_count(y, m, v):
    """``log E p(y | f)`` of a count, by the trapezoidal rule about its mode."""
    low, high = min(m, np.log(y + 1e-9)) - 40.0 * v, max(m, np.log(y + 1e-9)) + 1.0
    slope = lambda f: y - np.exp(f) - (f - m) / v  # noqa: E731
    mode = brentq(slope, low, high, xtol=1e-14)
    width = 1.0 / np.sqrt(np.exp(mode) + 1.0 / v)
    f = mode + width * np.linspace(-60.0, 60.0, 6_001)
    normal = -0.5 * ((f - m) ** 2 / v + np.log(2.0 * np.pi * v))
    terms = y * f - np.exp(f) - gammaln(y + 1.0) + normal
    return logsumexp(terms) + np.log(f[1] - f[0])


@pytest.mark.parametrize("y", [0.0, 1.0, 30.0, 1000.0, 8100.0, 30_000.0])
@pytest.mark.parametrize("variance", [1e-4, 0.05, 1.0, 4.0])
def test_counts_told_more_sharply_than_f_is_known(y, variance):
    for mean in (np.log(y + 0.5), 0.0, 4.0):
        got = Poisson().log_predictive(*(np.asarray([a]) for a in (y, mean, variance)))
        np.testing.assert_allclose(got, of_count(y, mean, variance), rtol=1e-8, atol=1e-7)


def of_heavy_tail(noise, y, v):
    """Student's t is a normal distribution whose precision has a gamma distribution."""
    half = 0.5 * noise.dof
    log_precision = np.linspace(-80.0 / min(1.0, half), 10.0, 40_001)
    total = v + noise.scale**2 * np.exp(-log_precision)
    terms = norm(0.0, np.sqrt(total)).logpdf(y) + half * (np.log(half) + log_precision)
    terms -= half * np.exp(log_precision) + gammaln(half)
    return logsumexp(terms) + np.log(log_precision[1] - log_precision[0])


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("dof", [1.0, 4.0, 300.0])
def test_heavy_tails_told_more_sharply_than_f_is_known(scale, dof):
    noise = StudentT(scale, dof)
    for y in (0.0, 0.3, 5.0, 40.0, 1e4):
        got = noise.log_predictive(*(np.asarray([a]) for a in (y, 0.0, 1.0)))
        np.testing.assert_allclose(got, of_heavy_tail(noise, y, 1.0), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("variance", [0.5, 30.0, 1e3, 1e8])
@pytest.mark.parametrize("mean", [-40.0, -3.0, 0.0, 3.0])
def test_labels_of_which_f_is_hardly_known(variance, mean):
    label = Bernoulli("logit")
    y, m, v = (np.asarray([a]) for a in (1.0, mean, variance))
    if -mean < 8.0 * np.sqrt(variance):  # beyond, a probability has lost its digits
        wanted = np.log(label.probability(m, v))
        np.testing.assert_allclose(label.log_predictive(y, m, v), wanted, atol=1e-8)
    np.testing.assert_allclose(
        np.exp(label.log_predictive(y, m, v)) + np.exp(label.log_predictive(-y, m, v)), 1.0
    )


SHARP = [
    (Poisson(), [1000.0, 0.0, 10_000.0], [6.9, 3.0, 9.2]),
    (StudentT(0.001, 4.0), [0.3, 5.0, 40.0], [0.0, 0.0, 1.0]),
    (Bernoulli("logit"), [1.0, -1.0, 1.0], [3.0, 3.0, -30.0]),
]


@pytest.mark.parametrize(("likelihood", "y", "m"), SHARP)
def test_sharp_averages_in_every_space_and_for_others_likelihoods(space, likelihood, y, m):
    v = [0.5, 0.0, 4.0]
    wanted = likelihood.log_predictive(*map(np.asarray, (y, m, v)))
    arrays = [space.asarray(a) for a in (y, m, v)]
    got = likelihood.log_predictive(*arrays)
    assert space.holds(got)
    tolerance = {"rtol": 1e-7} if space.double else {"rtol": 3e-3, "atol": 3e-3}
    np.testing.assert_allclose(to_numpy(got), wanted, **tolerance)
    brought = SimpleNamespace(
        log_density=likelihood.log_density, derivatives=likelihood.derivatives
    )
    np.testing.assert_allclose(
        to_numpy(with_hooks(brought)._log_predictive(*arrays)), wanted, **tolerance
    )


@pytest.mark.parametrize(("y", "m"), [(0.0, 1e200), (1e200, 0.0), (3.0, -1e200), (1e200, 460.0)])
@pytest.mark.parametrize("likelihood", [Poisson(), StudentT(), Bernoulli("logit")])
def test_nothing_is_undefined_however_far_the_numbers_are(likelihood, y, m):
    y = np.sign(y) * 2.0 - 1.0 if isinstance(likelihood, Bernoulli) else y
    value = likelihood.log_predictive(*(np.asarray([a]) for a in (y, m, 1.0)))
    assert value <= 0.0
    if isinstance(likelihood, StudentT):
        np.testing.assert_allclose(value, likelihood.log_density(y, np.asarray([m])), rtol=1e-9)


@pytest.mark.parametrize("f", [1e100, -1e200, 1e300])
@pytest.mark.parametrize("likelihood", [StudentT(), Bernoulli(), Bernoulli("logit")])
def test_no_derivative_is_undefined_however_far_f_is(likelihood, f):
    y, f, bar = np.asarray([1.0, -1.0]), np.full(2, f), np.ones(2)
    assert all(np.all(np.isfinite(part)) for part in likelihood.derivatives(y, f))
    found = likelihood.derivatives_bar(y, f, bar, bar, bar), likelihood.pullback(y, f, bar)[0]
    assert np.all(np.isfinite([v for one in found for v in flatten_gradient(likelihood, one)]))


def test_many_observations_are_worked_on_in_blocks(rng, monkeypatch):
    y, m = rng.poisson(20.0, size=(2, 7, 5)).astype(float), rng.normal(3.0, 1.0, size=(7, 5))
    whole = Poisson().log_predictive(y[0], m, 0.0 * m + 0.3)
    monkeypatch.setattr(memory, "ENTRIES", 2000)
    np.testing.assert_array_equal(Poisson().log_predictive(y[0], m, 0.0 * m + 0.3), whole)
    nothing = Poisson().log_predictive(y[0, :0], m[:0], m[:0])
    assert nothing.shape == (0, 5)


MEANS, VARIANCES = np.asarray([0.1, 0.4, -0.5]), np.asarray([0.2, 0.3, 0.5])


@functools.cache
def moments_of_draws(likelihood):
    rng = np.random.default_rng(0)
    f = MEANS + np.sqrt(VARIANCES) * rng.normal(size=(400_000, 3))
    draws = {
        "Gaussian": lambda: f + 0.7**0.5 * rng.normal(size=f.shape),
        "Poisson": lambda: rng.poisson(np.exp(f)),
        "Binomial": lambda: rng.binomial(7, np.exp(log_expit(f))),
        "NegativeBinomial": lambda: rng.negative_binomial(0.6, 0.6 / (0.6 + np.exp(f))),
        "StudentT": lambda: f + 0.9 * rng.standard_t(3.5, size=f.shape),
        "Bernoulli": lambda: np.where(
            np.log(rng.uniform(size=f.shape)) < likelihood.log_density(1.0, f), 1.0, -1.0
        ),
    }[type(likelihood).__name__]()
    return draws.mean(axis=0), draws.var(axis=0)


@KINDS
def test_predicted_moments_are_those_of_many_draws(space, likelihood, y):
    mean, variance = likelihood.predict(space.asarray(MEANS), space.asarray(VARIANCES))
    assert space.holds(mean)
    assert space.holds(variance)
    wanted = moments_of_draws(likelihood)
    np.testing.assert_allclose(to_numpy(mean), wanted[0], atol=0.02)
    np.testing.assert_allclose(to_numpy(variance), wanted[1], rtol=0.06)


def test_what_has_no_variance_says_so():
    mean, variance = StudentT(1.0, 2.0).predict(np.ones(2), np.ones(2))
    np.testing.assert_array_equal(variance, np.inf)
    np.testing.assert_array_equal(mean, 1.0)


@pytest.mark.parametrize("y", [np.asarray([0.5, 1.0]), np.asarray([-1.0, 1.0]), -1.0])
def test_counts_are_whole_and_not_negative(y):
    for method in (Poisson().log_density, Poisson().derivatives):
        with pytest.raises(ValueError, match="y must hold counts, 0, 1, 2"):
            method(y, np.ones(2))


@pytest.mark.parametrize("nodes", [1, 0, 351, 10**30, 2.0, True])
def test_a_rule_has_at_least_two_nodes(nodes):
    for method in (StudentT().expected_log_density, StudentT().expected_derivatives):
        with pytest.raises(
            (ValueError, TypeError), match="nodes must be a whole number from 2 to 350"
        ):
            method(np.ones(2), np.ones(2), np.ones(2), nodes)


# Trials, and counts that scatter


G = np.asarray([-45.0, -8.0, -2.1, -0.3, 0.0, 0.7, 2.0, 6.0, 37.0])


@pytest.mark.parametrize("trials", [1, 7, 4000])
def test_the_density_of_successes_is_that_of_scipy(space, trials):
    y = np.minimum(np.asarray([0.0, 0, 1, 0, 1, 1, 1, 5, 4000]), trials)
    got = Binomial(trials).log_density(space.asarray(y), space.asarray(G))
    assert space.holds(got)
    p = np.exp(log_expit(G))
    wanted = binom(trials, p).logpmf(y)
    exact = gammaln(trials + 1) - gammaln(y + 1) - gammaln(trials - y + 1)
    exact = exact + y * log_expit(G) + (trials - y) * log_expit(-G)
    np.testing.assert_allclose(exact[2:7], wanted[2:7], rtol=1e-9)
    # log C(n, y) is a difference of numbers as large as log n!
    rounding = 0.0 if space.double else 2e-7 * gammaln(trials + 1)
    kind = close(space, 1e-10)
    np.testing.assert_allclose(to_numpy(got), exact, **(kind | {"atol": kind["atol"] + rounding}))


def test_one_trial_is_a_label_by_the_logit():
    y = np.where(np.arange(G.size) % 2, 1.0, 0.0)
    one, label = Binomial(), Bernoulli("logit")
    signs = 2.0 * y - 1.0
    np.testing.assert_allclose(one.log_density(y, G), label.log_density(signs, G), atol=1e-14)
    for got, wanted in zip(one.derivatives(y, G), label.derivatives(signs, G), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("shape", [0.05, 1.0, 30.0, 1e6])
def test_the_density_of_scattered_counts_is_that_of_scipy(space, shape):
    y, f = np.asarray([0.0, 1.0, 4.0, 30.0, 900.0]), np.asarray([-3.0, 0.0, 1.0, 3.0, 7.0])
    got = NegativeBinomial(shape).log_density(space.asarray(y), space.asarray(f))
    assert space.holds(got)
    wanted = nbinom(shape, shape / (shape + np.exp(f))).logpmf(y)
    tolerance = 1e-8 if shape == 1e6 else 1e-11
    loose = {"rtol": 1e-3, "atol": 2.0 if shape == 1e6 else 1e-2}
    np.testing.assert_allclose(
        to_numpy(got), wanted, **(close(space, tolerance) if space.double else loose)
    )


@pytest.mark.parametrize("shape", [0.05, 1.0, 30.0])
def test_the_bar_of_a_shape_agrees_with_differences(shape):
    y, f = np.asarray([0.0, 1.0, 4.0, 30.0]), np.asarray([-3.0, 0.0, 1.0, 3.0])
    gradcheck(
        lambda part, f: part.log_density(y, f),
        lambda part, f, bar: part.pullback(y, f, bar),
        NegativeBinomial(shape), f,
    )  # fmt: skip


@pytest.mark.parametrize("variance", [0.0, 1e-8, 0.3, 0.99, 1.01, 4.0, 1e3])
@pytest.mark.parametrize("mean", [-3.0, 0.2, 12.0])
def test_the_moments_of_successes_are_those_of_sums(mean, variance):
    """The mean and the variance of σ(f) by a sum over 50 001 points."""
    z = np.linspace(-12.0, 12.0, 50_001)
    weights = np.exp(-0.5 * z * z)
    weights /= weights.sum()
    chance = np.exp(log_expit(mean + np.sqrt(variance) * z))
    p, square = chance @ weights, chance**2 @ weights
    got = Binomial(9).predict(np.asarray([mean]), np.asarray([variance]))
    wanted = 9 * p, 9 * (p - square) + 81 * (square - p * p)
    np.testing.assert_allclose(np.concatenate(got), wanted, rtol=1e-9, atol=1e-11)


def test_the_moments_of_scattered_counts_are_those_of_draws_of_their_rates():
    mean, variance, r = 0.4, 0.3, 1.7
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    rates, weights = np.exp(mean + np.sqrt(variance) * z), weights / weights.sum()
    first = rates @ weights
    second = (rates + rates**2 * (1.0 + 1.0 / r)) @ weights
    got = NegativeBinomial(r).predict(np.asarray([mean]), np.asarray([variance]))
    np.testing.assert_allclose(np.concatenate(got), [first, second - first**2], rtol=1e-11)


def test_what_cannot_be_counted_is_refused():
    f = np.zeros(1)
    for likelihood, wrong in ((Binomial(3), 4.0), (Binomial(3), 0.5), (NegativeBinomial(), -1.0)):
        with pytest.raises(ValueError, match=r"y must hold counts"):
            likelihood.log_density(np.full(1, wrong), f)
    with pytest.raises(ValueError, match=r"Binomial\.trials must be a whole number from 1; got 0"):
        Binomial(0)
    with pytest.raises(ValueError, match=r"NegativeBinomial\.shape must be positive"):
        NegativeBinomial(0.0)


PLACES = np.linspace(0.2, 5.8, 24)
LEVELS = 1.5 + np.sin(PLACES)
MANY = np.random.default_rng(7).negative_binomial(2.0, 2.0 / (2.0 + np.exp(LEVELS))).astype(float)
READINGS = LEVELS + 0.2 * np.random.default_rng(8).standard_t(5.0, 24)
BENDING = [
    (NegativeBinomial(1.3), MANY),
    (Gaussian(0.3), READINGS),
    (StudentT(1.5, 3.0), READINGS),
]


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [
        *BENDING,
        (StudentT(0.9, 0.8), READINGS),
        (Poisson(), MANY),
        (Binomial(40), MANY),
        (Bernoulli(), np.sign(LEVELS - 2.0)),
    ],
)
def test_the_parameters_bend_the_density_as_they_say(likelihood, y):
    check_likelihood(likelihood, y, LEVELS, log_concave=False)


@pytest.mark.parametrize(("likelihood", "y"), BENDING)
def test_derivatives_by_parameters_are_the_same_in_every_space(space, likelihood, y):
    bars = np.cos(LEVELS), np.sin(LEVELS), np.cos(2.0 * LEVELS)
    wanted = likelihood.derivatives_bar(y, LEVELS, *bars)
    found = likelihood.derivatives_bar(*(space.asarray(a) for a in (y, LEVELS, *bars)))
    rtol = 1e-9 if space.double else 2e-3
    for name in likelihood.__dataclass_fields__:
        assert type(getattr(found, name)) is float
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=rtol, abs=rtol)


@pytest.mark.parametrize(("likelihood", "y"), BENDING[1:])
def test_the_bar_of_an_average_by_its_public_name_is_that_of_differences(likelihood, y):
    m, v = LEVELS, 0.2 + PLACES / 6.0
    gradcheck(
        lambda part: part.expected_log_density(y, m, v),
        lambda part, bar: (part.expected_bar(y, m, v, bar),),
        likelihood,
    )
    for wrong in (1, 10**6):
        with pytest.raises(ValueError, match="nodes must be a whole number from 2"):
            likelihood.expected_bar(y, m, v, y, wrong)


class Louder(Gaussian):
    """A subclass that changes a public method, so that its hooks are no longer its own."""

    def log_density(self, y, f):
        return super().log_density(y, f) + 1.0


def outside(likelihood, *names):
    """A likelihood from outside with some methods of ours, and with our parameters."""

    @dataclass(frozen=True)
    class Outside:
        variance: float = positive(0.7, unit="y²")

    for name in ("log_density", "derivatives", *names):
        setattr(Outside, name, staticmethod(getattr(likelihood, name)))
    return Outside()


def test_a_likelihood_that_is_not_ours_is_asked_by_its_public_methods():
    ours, y, f = Gaussian(0.7), np.asarray([0.3, -1.2]), np.asarray([0.1, 0.4])
    assert with_hooks(ours) is ours
    loud = with_hooks(Louder(0.7))
    np.testing.assert_allclose(loud._log_density(y, f), ours.log_density(y, f) + 1.0)
    theirs = with_hooks(outside(ours, "predict", "pullback", "derivatives_bar"))
    np.testing.assert_array_equal(theirs._predict(f, y * y), ours.predict(f, y * y))
    assert theirs._bar(y[0], f, f) == ours.pullback(np.full(2, y[0]), f, f)[0]
    assert theirs._derivatives_bar(y, f, (f, y, f * y)) == ours.derivatives_bar(y, f, f, y, f * y)
    without = SimpleNamespace(log_density=ours.log_density, derivatives=ours.derivatives)
    for found in (
        with_hooks(without)._derivatives_bar(y, f, (f, y, y)),
        with_hooks(without)._expected_bar(y, f, y * y, f, 7),
    ):
        assert found is without  # it has no parameters
    stiff = outside(ours)
    assert with_hooks(stiff)._derivatives_bar(y, f, (f, y, y)) is stiff


def test_what_moves_under_laplace_says_how():
    told = [NegativeBinomial(), Gaussian(), outside(Gaussian(), "derivatives_bar")]
    silent = [Poisson(), Bernoulli(), outside(Gaussian()), SimpleNamespace()]
    assert [moves_under_laplace(part) for part in told] == [True] * 3
    assert [moves_under_laplace(part) for part in silent] == [False] * 4


def test_only_parameters_in_the_unit_of_y_give_f_that_unit():
    assert [is_latent(part) for part in (Poisson(), Bernoulli(), NegativeBinomial())] == [True] * 3
    assert [is_latent(part) for part in (Gaussian(), StudentT())] == [False] * 2


def test_a_likelihood_is_tried_before_data_are_taken():
    y, f = np.asarray([0.0, 2.0]), np.zeros(2)
    require_observable(Poisson(), y, f)
    require_observable(Gaussian(), y, f)
    with pytest.raises(ValueError, match="y must hold counts"):
        require_observable(Poisson(), y + 0.5, f)
    short = SimpleNamespace(log_density=lambda y, f: f[:1], derivatives=lambda y, f: (f, f, f))
    few = SimpleNamespace(log_density=lambda y, f: f, derivatives=lambda y, f: (f, f))
    for wrong in (short, few):
        with pytest.raises(ValueError, match="a log density and three derivatives of shape"):
            require_observable(wrong, y, f)
