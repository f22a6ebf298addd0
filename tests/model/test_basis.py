"""Means with a basis against dense algebra, differences, brute force and their own limit."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Linear,
    Matern32,
    Normal,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    prior,
    stream,
    to_numpy,
)
from gpnotes.decide import design
from gpnotes.draw import paths
from gpnotes.ground.check import NoValueError
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.infer import laplace
from gpnotes.model.basis import _require_distinct
from gpnotes.model.means import BasisMean, Powers
from gpnotes.testing import check_posterior, gradcheck

N, D, P = 14, 2, 3


@pytest.fixture
def numbers(rng):
    """X, y and Xs on the host."""
    return rng.normal(size=(N, D)), rng.normal(size=N), rng.normal(size=(5, D))


@pytest.fixture
def weights(rng):
    """A prior of the weights with a full covariance, on the host."""
    return Normal(rng.normal(size=P), rng.normal(size=(P, 2 * P)))


@pytest.fixture(params=["in place", "general"])
def kernel(request):
    return RBF(1.3, 0.8) if request.param == "in place" else Matern32(0.9, 1.1) + Linear(0.2)


def moved(space, *arrays):
    return tuple(space.asarray(one) for one in arrays)


def in_space(space, weights):
    return Normal(*moved(space, weights.mean, weights.root))


def tolerance(space):
    return {"rtol": 1e-8, "atol": 1e-9} if space.double else {"rtol": 3e-3, "atol": 1e-3}


def dense(kernel, noise, weights, X, y, Xs):
    """Mean, covariance and log evidence with the weights put into kernel and mean."""
    H, Hs = Powers(1)(X), Powers(1)(Xs)
    b, B = weights.mean, weights.covariance
    K = kernel(X) + H @ B @ H.T + noise * np.eye(len(X))
    cross = kernel(Xs, X) + Hs @ B @ H.T
    gap = y - H @ b
    mean = Hs @ b + cross @ np.linalg.solve(K, gap)
    covariance = kernel(Xs) + Hs @ B @ Hs.T - cross @ np.linalg.solve(K, cross.T)
    log_det = np.linalg.slogdet(K)[1]
    fit = gap @ np.linalg.solve(K, gap)
    return mean, covariance, -0.5 * (fit + log_det + len(X) * np.log(2 * np.pi))


def test_a_posterior_with_a_basis_keeps_the_contract(space, numbers, kernel):
    X, y, Xs = moved(space, *numbers)
    check_posterior(condition(GP(kernel, 0.2, BasisMean(Powers(1))), X, y), Xs)


def test_normal_weights_agree_with_dense_algebra(space, numbers, weights, kernel):
    X, y, Xs = moved(space, *numbers)
    posterior = condition(GP(kernel, 0.2, BasisMean(Powers(1), in_space(space, weights))), X, y)
    mean, covariance, evidence = dense(kernel, 0.2, weights, *numbers)
    close = tolerance(space)
    for one in (posterior.mean(Xs), posterior.predict(Xs)[0], posterior.joint(Xs).mean):
        assert space.holds(one)
        np.testing.assert_allclose(to_numpy(one), mean, **close)
    np.testing.assert_allclose(to_numpy(posterior.variance(Xs)), np.diag(covariance), **close)
    np.testing.assert_allclose(to_numpy(posterior.covariance(Xs)), covariance, **close)
    np.testing.assert_allclose(to_numpy(posterior.joint(Xs).covariance), covariance, **close)
    np.testing.assert_allclose(posterior.log_evidence, evidence, **close)


def test_the_vague_limit_is_one(numbers, kernel):
    X, y, Xs = numbers
    wide = Normal(np.zeros(P), 1e4 * np.eye(P))
    mean, covariance, evidence = dense(kernel, 0.2, wide, *numbers)
    posterior = condition(GP(kernel, 0.2, BasisMean(Powers(1))), X, y)
    np.testing.assert_allclose(posterior.mean(Xs), mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(posterior.covariance(Xs), covariance, rtol=1e-5, atol=1e-5)
    volume = 0.5 * np.linalg.slogdet(2 * np.pi * wide.covariance)[1]
    np.testing.assert_allclose(posterior.log_evidence, evidence + volume, rtol=1e-5)
    near = condition(GP(kernel, 0.2, BasisMean(Powers(1), wide)), X, y)
    np.testing.assert_allclose(posterior.basis.mean, near.basis.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(near.trend.degrees_of_freedom, P, rtol=1e-6)
    assert posterior.trend.degrees_of_freedom == P


def test_weights_have_their_posterior(numbers, weights, kernel):
    X, y, _ = numbers
    posterior = condition(GP(kernel, 0.2, BasisMean(Powers(1), weights)), X, y)
    H, K = Powers(1)(X), kernel(X) + 0.2 * np.eye(N)
    A = np.linalg.inv(weights.covariance) + H.T @ np.linalg.solve(K, H)
    right = np.linalg.solve(K, y) @ H + np.linalg.solve(weights.covariance, weights.mean)
    np.testing.assert_allclose(posterior.basis.covariance, np.linalg.inv(A), rtol=1e-8)
    np.testing.assert_allclose(posterior.basis.mean, np.linalg.solve(A, right), rtol=1e-8)
    learnt = np.trace(np.linalg.solve(A, H.T @ np.linalg.solve(K, H)))
    np.testing.assert_allclose(posterior.trend.degrees_of_freedom, learnt, rtol=1e-8)


def test_a_weight_that_is_known_stays(numbers):
    X, y, Xs = numbers
    known = Normal(np.asarray([0.5, 0.0, 0.0]), np.zeros((P, P)))
    posterior = condition(GP(RBF(), 0.2, BasisMean(Powers(1), known)), X, y)
    wanted = condition(GP(RBF(), 0.2, ConstantMean(0.5)), X, y)
    np.testing.assert_allclose(posterior.mean(Xs), wanted.mean(Xs))
    np.testing.assert_allclose(posterior.covariance(Xs), wanted.covariance(Xs), atol=1e-14)
    np.testing.assert_allclose(posterior.log_evidence, wanted.log_evidence)
    assert posterior.trend.degrees_of_freedom == 0.0


@pytest.mark.parametrize("vague", [True, False])
def test_the_gradient_of_the_evidence(numbers, weights, kernel, vague):
    X, y, _ = numbers
    gp = GP(kernel, 0.2, BasisMean(Powers(2), None if vague else Normal(*_five(weights))))

    def pullback(gp, X, y, bar):
        """Through the posterior."""
        assert bar == 1.0
        return condition(gp, X, y).evidence_gradient()

    gradcheck(log_evidence, pullback, gp, X, y)
    value, bar = log_evidence_and_gradient(gp, X, y)
    posterior = condition(gp, X, y)
    assert value == posterior.log_evidence
    assert bar.noise_var == posterior.evidence_gradient()[0].noise_var


def _five(weights):
    root = np.zeros((5, 2 * P))
    root[:P], root[3, 0], root[4, 1] = weights.root, 0.7, 1.2
    return np.concatenate([weights.mean, [0.3, -0.2]]), root


@pytest.mark.parametrize("vague", [True, False])
def test_leave_one_out_leaves_one_out(numbers, weights, vague):
    X, y, _ = numbers
    gp = GP(RBF(1.2, 0.9), 0.3, BasisMean(Powers(1), None if vague else weights))
    found = condition(gp, X, y).leave_one_out()
    for i in range(N):
        others = np.arange(N) != i
        mean, variance = condition(gp, X[others], y[others]).predict(X[[i]], noise=True)
        np.testing.assert_allclose([found.mean[i], found.variance[i]], [mean[0], variance[0]])


@pytest.mark.parametrize("noise_var", [1.0, 1e-3, 1e-6])
def test_a_reading_whose_others_leave_a_weight_unknown_has_no_prediction(rng, noise_var):
    """All others stand at one place, and do not tell the slope."""
    for n in range(2, 12):
        X, y = np.full((n, 1), rng.normal()), rng.normal(size=n)
        X[-1] += 1.0
        found = condition(GP(RBF(), noise_var, BasisMean(Powers(1))), X, y).leave_one_out()
        assert np.isnan(found.mean[-1])
        assert (found.variance[-1], found.log_density[-1]) == (np.inf, -np.inf)
        if n > 2:  # each of the others is told by its equals
            told = np.mean(y[:-1]) + (np.mean(y[:-1]) - y[:-1]) / (n - 2)
            np.testing.assert_allclose(found.mean[:-1], told, rtol=1e-5)


def test_a_posterior_is_extended(numbers):
    X, y, Xs = numbers
    gp = GP(RBF(1.2, 0.9), 0.3, BasisMean(Powers(1)))
    whole = condition(gp, X, y)
    grown = condition(gp, X[:9], y[:9]).extend(X[9:], y[9:])
    np.testing.assert_allclose(grown.mean(Xs), whole.mean(Xs))
    np.testing.assert_allclose(grown.basis.covariance, whole.basis.covariance)
    np.testing.assert_allclose(grown.log_evidence, whole.log_evidence)


def test_a_vague_mean_takes_any_polynomial_back(numbers):
    """What is added to y and lies in the basis is added to the prediction, and to nothing else."""
    X, y, Xs = numbers
    gp = GP(RBF(1.2, 0.9), 0.3, BasisMean(Powers(1)))
    before, after = condition(gp, X, y), condition(gp, X, y + 30.0 * X[:, 1] - 7.0)
    np.testing.assert_allclose(after.mean(Xs), before.mean(Xs) + 30.0 * Xs[:, 1] - 7.0)
    np.testing.assert_allclose(after.log_evidence, before.log_evidence)


def test_a_fit_depends_on_no_level_and_scales_with_the_unit(rng):
    X = np.linspace(0.0, 9.0, 30)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
    here = fit(GP(RBF(), 0.1, BasisMean(Powers(0))), X, y)
    there = fit(GP(RBF(), 0.1, BasisMean(Powers(0))), X, y + 1e4)
    np.testing.assert_allclose(
        here.model.kernel.lengthscale, there.model.kernel.lengthscale, rtol=1e-3
    )
    wide = fit(GP(RBF(1e6), 1e5, BasisMean(Powers(0))), X, 1e3 * y)
    np.testing.assert_allclose(
        here.model.kernel.lengthscale, wide.model.kernel.lengthscale, rtol=1e-3
    )


def test_columns_of_very_different_size_do_no_harm():
    """Normal equations of years would lose all digits: the condition number would be squared."""
    t = np.linspace(1990.0, 2000.0, 40)[:, None]
    y = 300.0 + 1.5 * (t[:, 0] - 1995.0) + 0.2 * (t[:, 0] - 1995.0) ** 2
    posterior = condition(GP(RBF(1.0, 1.0), 0.1, BasisMean(Powers(2))), t, y)
    np.testing.assert_allclose(posterior.mean(np.asarray([[2005.0]])), [335.0], rtol=1e-6)


FAR = pytest.mark.parametrize(("origin", "scale"), [
    (0.0, 1.0), (1e5, 1.0), (1.7e9, 1.0), (1.7e9, 3600.0), (-1.7e12, 86400.0),
])  # fmt: skip


def at_origin(rng, origin, scale):
    """Readings of a cubic, and the same from zero in units of one: no place is rounded."""
    t = np.round(4096.0 * rng.uniform(0.0, 9.0, (30, 1))) / 4096.0
    y = 1.0 + t[:, 0] - 0.3 * t[:, 0] ** 2 + 0.01 * t[:, 0] ** 3 + 0.1 * rng.normal(size=30)
    ts = np.asarray([[-3.0], [0.5], [20.0]])
    return t, origin + scale * t, y, ts, origin + scale * ts


@FAR
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_vague_powers_are_the_same_from_any_origin(origin, scale, degree, rng):
    t, X, y, ts, Xs = at_origin(rng, origin, scale)
    near = condition(GP(Matern32(1.0, 1.0), 0.01, BasisMean(Powers(degree))), t, y)
    far = condition(GP(Matern32(1.0, scale), 0.01, BasisMean(Powers(degree))), X, y)
    for one, other in zip(far.predict(Xs), near.predict(ts), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    jacobian = 0.5 * degree * (degree + 1) * np.log(scale)  # of weights in another unit
    assert far.log_evidence + jacobian == pytest.approx(near.log_evidence, abs=1e-9)
    np.testing.assert_allclose(far.leave_one_out().mean, near.leave_one_out().mean, rtol=1e-9)
    _, by_X, _ = far.evidence_gradient()
    np.testing.assert_allclose(scale * by_X, near.evidence_gradient()[1], rtol=1e-7, atol=1e-8)
    top = far.basis.mean[-1], far.basis.variance[-1]
    wanted = near.basis.mean[-1], near.basis.variance[-1]
    np.testing.assert_allclose(top, [wanted[0] / scale**degree, wanted[1] / scale ** (2 * degree)])


def test_weights_of_powers_from_an_origin_are_those_of_the_basis_itself(rng):
    """With two inputs and a basis other than `Powers`, which has no origin to move."""
    X, y = 3.0 + rng.normal(size=(30, 2)), rng.normal(size=30)
    ours, own = (condition(GP(RBF(), 0.3, BasisMean(basis)), X, y).basis
                 for basis in (Powers(3), lambda x: Powers(3)(x)))  # fmt: skip
    np.testing.assert_allclose(ours.mean, own.mean, rtol=1e-8)
    np.testing.assert_allclose(ours.covariance, own.covariance, rtol=1e-8)


@FAR
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_columns_that_cancel_are_right_or_told(origin, scale, degree, rng):
    """Of a basis that may not be moved: right to 1e-6 of a reading, or a warning, or an error."""
    t, X, y, ts, Xs = at_origin(rng, origin, scale)
    near = condition(GP(Matern32(1.0, 1.0), 0.01, BasisMean(Powers(degree))), t, y)
    gp = GP(Matern32(1.0, scale), 0.01, BasisMean(lambda x: Powers(degree)(x)))
    verbs = condition, log_evidence, log_evidence_and_gradient, lambda *one: far.extend(*one[1:])
    refused = ""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            far = condition(gp, X, y)
        except ValueError as problem:
            refused = str(problem)
    if refused:
        assert "measure X from a place among the readings" in refused
        return
    if said:
        for verb in verbs:
            with pytest.warns(RoundingWarning, match="measure X from a place among") as told:
                verb(gp, X, y)
            assert told[0].filename == __file__
        return
    off = (far.mean(Xs) - near.mean(ts)) / near.variance(ts, noise=True) ** 0.5
    np.testing.assert_allclose(off, 0.0, atol=1e-6)


def test_a_basis_of_ones_own_needs_no_pullback(numbers):
    X, y, Xs = numbers
    gp = GP(RBF(), 0.1, BasisMean(lambda x: np.stack([np.sin(x[:, 0]), np.cos(x[:, 0])], axis=1)))
    found = fit(gp, X, y, max_steps=3)
    assert found.log_evidence >= log_evidence(gp, X, y)
    assert condition(gp, X, y).mean(Xs).shape == (5,)
    assert np.isnan(condition(gp, X, y).evidence_gradient()[1]).all()
    with pytest.raises(TypeError, match=r"BasisMean\.basis must have a pullback, such as Powers"):
        BasisMean(gp.mean.basis, Normal(np.zeros(2), np.eye(2))).pullback(X, y)


def test_the_prior_has_moments_unless_it_is_vague(numbers, weights):
    X = numbers[0]
    found = prior(GP(RBF(), 0.5, BasisMean(Powers(1), weights)), X, noise=True)
    H = Powers(1)(X)
    wanted = RBF()(X) + 0.5 * np.eye(N) + H @ weights.covariance @ H.T
    np.testing.assert_allclose(found.mean, H @ weights.mean)
    np.testing.assert_allclose(found.covariance, wanted)
    with pytest.raises(ValueError, match=r"gp\.mean must have a prior on its weights; vague"):
        prior(GP(RBF(), 0.5, BasisMean(Powers(1))), X)


def test_weights_that_the_inputs_cannot_tell_apart_are_refused(numbers):
    X, y, _ = numbers
    gp = GP(RBF(), 0.1, BasisMean(Powers(1)))
    with pytest.raises(ValueError, match="X must have at least 3 rows"):
        condition(gp, X[:2], y[:2])
    same = np.stack([X[:, 0], 2.0 * X[:, 0] + 1.0], axis=1)
    with pytest.raises(ValueError, match="column 2 of its basis is zero or a combination"):
        condition(gp, same, y)
    with pytest.raises(ValueError, match=r"BasisMean\.basis\(x\) must have shape \(14, 2\)"):
        condition(GP(RBF(), 0.1, BasisMean(Powers(1), Normal(np.ones(2), np.eye(2)))), X, y)


def test_methods_that_do_not_learn_the_weights_refuse_them(numbers):
    X, y, _ = numbers
    gp = GP(RBF(), 0.1, BasisMean(Powers(1)))
    posterior = condition(gp, X, y)
    calls = (
        lambda: condition(laplace.LaplaceGP(dataclasses.replace(gp, noise_var=0.0)), X, np.sign(y)),
        lambda: paths.sample_paths(posterior, 2, rng=stream(0)),
        lambda: design.greedy_design(posterior, X, 2),
    )
    for call in calls:
        with pytest.raises(TypeError, match=r"gp\.mean must be known"):
            call()


def test_a_known_mean_has_no_weights(numbers):
    X, y, _ = numbers
    posterior = condition(GP(RBF(), 0.1), X, y)
    assert posterior.trend is None
    with pytest.raises(ValueError, match=r"gp\.mean must have a basis to have weights"):
        _ = posterior.basis


@pytest.mark.parametrize(("tilt", "told"), [(50.0, False), (1000.0, True)])
def test_columns_are_apart_beyond_the_rounding_of_a_factor(tilt, told):
    """Of a hundred entries of size one that loses a thousand ε; a tilt of t leaves 10 t."""
    signs = np.where(np.arange(100) % 2, 1.0, -1.0)
    columns = np.column_stack([np.ones(100), 1.0 + tilt * np.finfo(float).eps * signs])
    if told:
        _require_distinct(columns)
        return
    with pytest.raises(NoValueError, match="column 1 of its basis"):
        _require_distinct(columns)
