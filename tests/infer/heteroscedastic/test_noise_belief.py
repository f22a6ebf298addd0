"""The belief about the noise: its parts by matrices, its steps, and where they end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpnotes import RBF, Matern52
from gpnotes.infer.heteroscedastic import noise_belief
from gpnotes.infer.heteroscedastic.noise_belief import (
    Believed,
    Problem,
    _believed,
    _slope_along,
    _step,
    believe,
)

N = 9
EPS = float(np.finfo(float).eps)


@pytest.fixture
def problem(rng):
    X = np.sort(rng.uniform(0.0, 4.0, (N, 1)), axis=0)
    residual = np.sin(X[:, 0]) + np.exp(-1.0 + X[:, 0] / 3.0) * rng.normal(size=N)
    return Problem(Matern52(1.1, 0.8)(X), Matern52(1.4, 0.9)(X), 0.06, residual)


@pytest.fixture
def sites(rng):
    return rng.uniform(0.1, 1.5, N), rng.normal(size=N)


def test_its_parts_are_those_of_dense_matrices(problem, sites):
    precision, shift = sites
    found = _believed(problem, precision, shift)
    K_g = problem.noise_K
    Sigma = np.linalg.inv(np.linalg.inv(K_g) + np.diag(precision))
    mu = Sigma @ shift
    R = 0.06 * np.exp(mu - 0.5 * np.diag(Sigma))
    inverse = np.linalg.inv(problem.K + np.diag(R))
    alpha = inverse @ problem.residual
    wanted = {
        "precision": precision, "shift": shift, "slope": np.linalg.solve(K_g, mu), "mean": mu,
        "variance": np.diag(Sigma), "noise_var": R, "alpha": alpha,
        "wanted": 0.5 * R * (alpha**2 - np.diag(inverse)),
    }  # fmt: skip
    for name, value in wanted.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-7, atol=1e-9)
    normal = multivariate_normal(np.zeros(N), problem.K + np.diag(R)).logpdf(problem.residual)
    inner = np.trace(np.linalg.solve(K_g, Sigma)) + mu @ np.linalg.solve(K_g, mu) - N
    inner += np.linalg.slogdet(K_g)[1] - np.linalg.slogdet(Sigma)[1]
    assert found.bound == pytest.approx(normal - 0.25 * np.trace(Sigma) - 0.5 * inner, rel=1e-11)


def test_the_slope_along_a_step_is_that_of_the_bound(problem, sites, rng):
    """The mean of the slopes at both ends of a short step is the difference it makes."""
    precision, shift = sites
    step = 1e-4 * rng.normal(size=(2, N))
    now = _believed(problem, precision - step[0], shift - step[1])
    then = _believed(problem, precision + step[0], shift + step[1])
    mean = 0.5 * (_slope_along(now, then) - _slope_along(then, now))
    assert abs(mean) > 1e-6
    assert then.bound - now.bound == pytest.approx(mean, rel=1e-5)
    only = replace(then, mean=now.mean), replace(then, variance=now.variance)
    assert sum(_slope_along(now, one) for one in only) == pytest.approx(_slope_along(now, then))


def test_it_ends_where_the_natural_gradient_is_zero(problem):
    found = believe(problem)
    precision = found.wanted + 0.5
    tolerance = EPS**0.5
    off = np.abs(found.wanted - found.slope) * np.sqrt(found.variance)
    away = np.abs(precision - found.precision) * found.variance
    assert max(off.max(), away.max()) <= tolerance
    np.testing.assert_allclose(found.shift, found.wanted + precision * found.mean, atol=1e-7)


def test_it_begins_with_that_of_no_reading_and_doubles_or_halves_its_steps(problem, monkeypatch):
    """A step that went too far halves the next, down to a thirty-second; others double it to 1."""
    tried, slopes = [], iter([-1.0] * 7 + [0.0] + [1.0] * 7 + [-1.0] * 99)

    def step(problem, now, precision, shift, length):
        tried.append(length)
        there = _believed(problem, 0.5 * (now.precision + precision), 0.5 * (now.shift + shift))
        return length, None if len(tried) > 17 else replace(there, wanted=there.wanted + 1.0)

    begun = []
    plain = _believed
    monkeypatch.setattr(noise_belief, "_step", step)
    monkeypatch.setattr(noise_belief, "_slope_along", lambda now, then: next(slopes))
    monkeypatch.setattr(
        noise_belief, "_believed", lambda *given: begun.append(given) or plain(*given)
    )
    believe(problem)
    np.testing.assert_array_equal(begun[0][1], np.full(N, 0.5))
    np.testing.assert_array_equal(begun[0][2], np.zeros(N))
    down, up = [2.0**-k for k in range(6)], [2.0**-k for k in (4, 3, 2, 1, 0)]
    assert tried == [*down, 2.0**-5, 2.0**-5, *up, 1.0, 1.0, 1.0, 0.5, 0.25][:18]


def test_it_goes_on_until_both_mean_and_variance_have_settled(problem, monkeypatch):
    tolerance = EPS**0.5
    ended = replace(believe(problem), variance=np.full(N, 0.25))
    settled = replace(ended, precision=ended.wanted + 0.5, slope=ended.wanted)
    calls = []
    monkeypatch.setattr(
        noise_belief, "_step", lambda problem, now, *rest: calls.append(now) or (1.0, None)
    )
    for off, away in ((0.0, 0.0), (0.999, -0.999), (1.001, 0.0), (0.0, 1.001), (0.0, -1.001)):
        one = np.zeros(N)
        one[3] = tolerance
        start = replace(
            settled,
            slope=settled.slope + 2.0 * off * one,
            precision=settled.precision - 4.0 * away * one,
        )
        monkeypatch.setattr(noise_belief, "_believed", lambda *_, start=start: start)
        del calls[:]
        assert believe(problem) is start
        assert len(calls) == int(max(off, abs(away)) > 1.0)


def test_what_does_not_settle_or_start_is_an_error(problem):
    with pytest.raises(RuntimeError, match="the noise of the readings has not settled in 1 steps"):
        believe(problem, 1)
    with pytest.raises(RuntimeError, match="the bound must be finite; at the start it is nan"):
        believe(replace(problem, residual=1e200 * problem.residual))


def falling(by, monkeypatch, fails=()):
    """A bound that falls by so much at all steps; lengths that are tried."""
    tried = []

    def there(problem, precision, shift):
        length = float(precision[0])
        tried.append(length)
        if length in fails:
            raise noise_belief._check.NoValueError("too much noise")
        return Believed(*[None] * 10, bound=-7.0 - by(length))

    monkeypatch.setattr(noise_belief, "_believed", there)
    return tried


@pytest.fixture
def now():
    return Believed(np.zeros(2), np.full(2, 3.0), *[None] * 8, bound=-7.0)


TOWARDS = np.ones(2), np.full(2, 5.0)


@pytest.mark.parametrize(("slack", "taken"), [(9.5, True), (10.5, False)])
def test_a_step_may_fall_by_rounding_alone(monkeypatch, now, slack, taken):
    tried = falling(lambda length: slack * EPS * 8.0, monkeypatch)
    length, then = _step(None, now, *TOWARDS, 1.0)
    if taken:
        assert (length, tried) == (1.0, [1.0])
        assert then.bound < now.bound
    else:
        assert then is None
        assert tried == [2.0**-k for k in range(21)]
        assert length == 2.0**-21


def test_the_longest_of_the_halves_of_a_step_is_taken(monkeypatch, now):
    falling(lambda length: length - 0.125, monkeypatch)
    assert _step(None, now, *TOWARDS, 1.0)[0] == 0.125
    assert _step(None, now, *TOWARDS, 0.0625)[0] == 0.0625


def test_a_step_is_a_mixture_of_both_sites(problem, sites):
    precision, shift = sites
    now = _believed(problem, precision, shift)
    top = believe(problem)
    length, then = _step(problem, now, top.precision, top.shift, 0.25)
    assert length == 0.25
    np.testing.assert_allclose(then.precision, 0.75 * precision + 0.25 * top.precision)
    np.testing.assert_allclose(then.shift, 0.75 * shift + 0.25 * top.shift)


def test_noise_that_overflows_at_all_steps_is_told_of_the_readings(monkeypatch, now):
    lengths = [2.0**-k for k in range(21)]
    tried = falling(lambda length: 0.0, monkeypatch, lengths[:-1])
    assert _step(None, now, *TOWARDS, 1.0)[0] == 2.0**-20
    assert tried == lengths
    falling(lambda length: 0.0, monkeypatch, lengths)
    with pytest.raises(RuntimeError, match="y must be nearer to what model allows: too much noise"):
        _step(None, now, *TOWARDS, 1.0)


def test_in_single_precision_it_settles_where_no_step_moves_it_any_more():
    """Its shortest step changed no bit, was taken for a step uphill, and again 480 times."""
    rng = np.random.default_rng(3)
    X = np.linspace(0.0, 6.0, 100)[:, None]
    y = np.sin(X[:, 0]) + np.where(X[:, 0] < 3.0, 0.1, 0.5) * rng.normal(size=100)
    double = _of(X, y)
    single = _of(X.astype(np.float32), y.astype(np.float32))
    assert single.bound == pytest.approx(double.bound, abs=2e-3)
    np.testing.assert_allclose(single.noise_var, double.noise_var, rtol=2e-2)


def test_a_scale_that_the_model_does_not_allow_is_refused_and_gives_no_evidence():
    """Of y × 10⁹ under variances of one rounding made a bound of 2·10¹⁵, which was the highest."""
    X = np.linspace(0.0, 6.0, 40)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    assert _of(X, 1e6 * y).bound < 0.0
    with pytest.raises(RuntimeError, match="y must be nearer to what model allows"):
        _of(X, 1e9 * y)


def _of(X, y):
    K = RBF()(X)
    return believe(Problem(K, K, 0.1, y))
