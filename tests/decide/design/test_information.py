"""Information and gain against dense algebra; monotone and submodular on random instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes import GP, RBF, condition, to_numpy
from gpnotes.decide.design import information_gain, marginal_gains

CHOSEN = [3, 7, 1]


def close(space):
    return {"rtol": 1e-9, "atol": 1e-12} if space.double else {"rtol": 2e-3, "atol": 2e-4}


@pytest.mark.parametrize("noisy", ["one noise", "a noise each"])
def test_information_is_the_entropy_of_y_less_that_of_the_noise(
    space, process, inputs, noises, dense, noisy
):
    gp, X = process(space.asarray), space.asarray(inputs)
    if noisy == "one noise":
        information, wanted = information_gain(gp, X), dense(gp, X, 0.2)
    else:
        information, wanted = information_gain(gp, X, space.asarray(noises)), dense(gp, X, noises)
    assert isinstance(information, float)
    np.testing.assert_allclose(information, wanted.information(range(12)), **close(space))


@pytest.mark.parametrize("noisy", ["one noise", "a noise each"])
def test_gain_is_what_one_more_measurement_adds(space, process, inputs, noises, dense, noisy):
    gp, X = process(space.asarray), space.asarray(inputs)
    given_noise, host = (None, 0.2) if noisy == "one noise" else (space.asarray(noises), noises)
    gains = marginal_gains(gp, X, CHOSEN, given_noise)
    assert space.holds(gains)
    sets, others = dense(gp, X, host), [j for j in range(12) if j not in CHOSEN]
    before = sets.information(CHOSEN)
    wanted = [sets.information([*CHOSEN, j]) - before for j in others]
    np.testing.assert_allclose(to_numpy(gains)[others], wanted, **close(space))
    # a candidate that was measured may be measured again: its variance is what is left
    left = np.diag(sets.covariance(CHOSEN))[CHOSEN]
    again = 0.5 * np.log1p(left / sets.noise[CHOSEN])
    np.testing.assert_allclose(to_numpy(gains)[CHOSEN], again, **close(space))


def test_gain_before_any_measurement_is_that_of_the_prior(inputs):
    gp = GP(RBF(2.0), 0.5)
    np.testing.assert_allclose(marginal_gains(gp, inputs), 0.5 * np.log(5.0), rtol=1e-14)


def test_a_measurement_may_repeat_in_what_is_given(inputs):
    gp = GP(RBF(), 0.5)
    twice = marginal_gains(gp, inputs, [4, 4])
    better = marginal_gains(gp, inputs, [4], np.where(np.arange(12) == 4, 0.25, 0.5))
    others = np.arange(12) != 4
    np.testing.assert_allclose(twice[others], better[others], rtol=1e-12)


def test_of_a_posterior_it_is_what_the_rest_adds(space, process, inputs):
    gp, X = process(space.asarray), space.asarray(inputs)
    posterior = condition(gp, X[:4, :], X[:4, 0])
    information = information_gain(posterior, X[4:, :])
    # the white noise of the kernel is part of f at each point: the chain rule holds with it
    np.testing.assert_allclose(
        information, information_gain(gp, X) - information_gain(gp, X[:4, :]), **close(space)
    )
    first = marginal_gains(posterior, X[4:, :])
    assert space.holds(first)
    wanted = to_numpy(marginal_gains(gp, X, range(4)))[4:]
    np.testing.assert_allclose(to_numpy(first), wanted, **close(space))


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_information_is_monotone_and_submodular(seed, n):
    """For S within T and x outside: a gain at S is at least that at T, and no gain is negative."""
    rng = np.random.default_rng(seed)
    gp = GP(RBF(rng.uniform(0.1, 3.0), rng.uniform(0.2, 2.0)), 1.0)
    X, noise = rng.normal(size=(n + 1, 2)), rng.uniform(0.01, 2.0, n + 1)
    order = rng.permutation(n + 1)
    x, T = int(order[0]), [int(j) for j in order[1:]]
    S = T[: rng.integers(0, n + 1)]

    def value(rows):
        return information_gain(gp, X[rows], noise[rows])

    at_S, at_T = value([*S, x]) - value(S), value([*T, x]) - value(T)
    assert at_S >= at_T - 1e-9
    assert at_T >= -1e-9
    assert value(T) >= value(S) - 1e-9
    gains = marginal_gains(gp, X, S, noise), marginal_gains(gp, X, T, noise)
    assert np.all(gains[0] >= gains[1] * (1.0 - 1e-9))
    assert gains[0][x] == pytest.approx(at_S, rel=1e-7, abs=1e-9)


def test_no_measurements_have_no_information(inputs):
    assert information_gain(GP(RBF(), 0.1), inputs[:0]) == 0.0


def test_a_second_copy_brings_something_and_less():
    gp, X = GP(RBF(), 0.1), np.asarray([[0.3], [0.3]])
    first = 0.5 * np.log1p(10.0)
    assert information_gain(gp, X[:1]) == pytest.approx(first)
    # two measurements of one value: a noise of half the variance
    assert information_gain(gp, X) == pytest.approx(0.5 * np.log1p(20.0), rel=1e-12)
    second = information_gain(gp, X) - first
    assert 0.0 < second < first
    assert marginal_gains(gp, X, [0])[1] == pytest.approx(second, rel=1e-12)


# Bad input


@pytest.mark.parametrize("function", [information_gain, marginal_gains])
def test_without_noise_information_is_infinite_and_refused(inputs, function):
    with pytest.raises(ValueError, match="noise_var must be positive for information"):
        function(GP(RBF(), 0.0), inputs)
    some = np.ones(12)
    some[5] = 0.0
    with pytest.raises(ValueError, match="noise_var must be positive for information"):
        function(GP(RBF(), 0.1), inputs, noise_var=some)


@pytest.mark.parametrize(
    ("noise", "error", "message"),
    [
        (-0.1, ValueError, "noise_var must be non-negative and finite; got -0.1"),
        (float("nan"), ValueError, "noise_var must be non-negative and finite; got nan"),
        (np.ones(3), ValueError, r"noise_var must have shape \(12,\); got \(3,\)"),
        (np.ones((12, 1)), ValueError, r"float or have shape \(12,\); got \(12, 1\)"),
        (np.full(12, np.nan), ValueError, "noise_var must be finite; 12 of its entries are not"),
        (np.ones(12, np.float32), TypeError, "noise_var must have the dtype of X, float64"),
    ],
)
def test_a_noise_that_does_not_fit(inputs, noise, error, message):
    with pytest.raises(error, match=message):
        information_gain(GP(RBF(), 0.1), inputs, noise)


def test_candidates_that_do_not_fit(inputs):
    gp, spoiled = GP(RBF(1.0, np.ones(2)), 0.1), inputs.copy()
    spoiled[2, 1] = np.nan
    with pytest.raises(ValueError, match="X must be finite; 1 of its entries"):
        information_gain(gp, spoiled)
    with pytest.raises(ValueError, match=r"X must have shape \(n, 2\)"):
        information_gain(gp, inputs[:, :1])
    with pytest.raises(TypeError, match="gp must be a GP or an ExactPosterior; got RBF"):
        information_gain(gp.kernel, inputs)
    posterior = condition(gp, inputs, inputs[:, 0])
    with pytest.raises(ValueError, match=r"X must have shape \(n, 2\)"):
        marginal_gains(posterior, inputs[:, :1])
    with pytest.raises(ValueError, match=r"chosen must be entries 0 to 11 of X; got \(12,\)"):
        marginal_gains(gp, inputs, [12])
    with pytest.raises(TypeError, match="chosen must be whole numbers"):
        marginal_gains(gp, inputs, [0.5])


def test_a_noise_whose_reciprocal_overflows_is_named():
    with pytest.raises(ValueError, match="noise_var must be larger"):
        information_gain(GP(RBF(), 0.1), np.arange(3.0)[:, None], noise_var=1e-320)
