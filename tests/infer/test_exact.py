"""Exact Gaussian processes against dense algebra, differences, brute force and scikit-learn."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest
from sloping_mean import Slope

from gpnotes import (
    GP,
    RBF,
    Constant,
    ConstantMean,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Normal,
    Periodic,
    SparseGP,
    StateSpaceGP,
    White,
    condition,
    log_evidence,
    log_evidence_and_gradient,
    prior,
    stream,
    to_numpy,
)
from gpnotes.ground.linalg import FactorisationError, JitterWarning, RoundingWarning
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.fitting import fit
from gpnotes.model.kernels import Polynomial
from gpnotes.model.means import BasisMean, Powers
from gpnotes.testing import check_posterior, gradcheck

D = 4


def models(asarray):
    """A kernel of the in-place path and one of the general path, each in the kind of `asarray`."""
    lengths = asarray([0.8, 1.5, 1.1, 2.0])
    one = Periodic(0.5, 1.0, 1.7)
    return {
        "in place": GP(RBF(1.3, lengths), 0.1, ConstantMean(0.5)),
        "general": GP(Matern32(0.9, lengths) * one + Linear(0.3) + White(0.05), 0.2),
    }


@pytest.fixture(params=["in place", "general"])
def which(request):
    return request.param


@pytest.fixture
def numbers(rng):
    """X, y and Xs on the host."""
    return rng.normal(size=(15, D)), rng.normal(size=15), rng.normal(size=(7, D))


def tolerance(space):
    return {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 2e-3, "atol": 2e-4}


def in_space(space, numbers, which):
    X, y, Xs = (space.asarray(a) for a in numbers)
    gp = models(space.asarray)[which]
    return gp, X, y, Xs


def dense(numbers, which):
    """What the book's formulas say, by NumPy's general solver in float64."""
    X, y, Xs = numbers
    gp = models(np.asarray)[which]
    Ky = gp.kernel(X) + gp.noise_var * np.eye(len(X))
    cross, residual = gp.kernel(X, Xs), y - gp.mean(X)
    gain = np.linalg.solve(Ky, cross)
    mean = gp.mean(Xs) + gain.T @ residual
    covariance = gp.kernel(Xs) - cross.T @ gain
    fit = residual @ np.linalg.solve(Ky, residual)
    evidence = -0.5 * (fit + np.linalg.slogdet(Ky)[1] + len(X) * np.log(2.0 * np.pi))
    return mean, covariance, evidence


# Prediction and evidence in every namespace


def test_the_views_of_a_posterior_are_those_of_dense_algebra(space, numbers, which):
    gp, X, y, Xs = in_space(space, numbers, which)
    posterior = condition(gp, X, y)
    mean, covariance, evidence = dense(numbers, which)
    close = tolerance(space)
    np.testing.assert_allclose(to_numpy(posterior.predict(Xs)[0]), mean, **close)
    np.testing.assert_allclose(to_numpy(posterior.predict(Xs)[1]), np.diag(covariance), **close)
    np.testing.assert_allclose(to_numpy(posterior.covariance(Xs)), covariance, **close)
    np.testing.assert_allclose(posterior.log_evidence, evidence, **close)
    assert posterior.cholesky.jitter == 0.0


def test_the_views_of_a_posterior_agree_and_stay_in_their_space(space, numbers, which):
    gp, X, y, Xs = in_space(space, numbers, which)
    posterior = condition(gp, X, y)
    check_posterior(posterior, Xs)
    left_out, draws = posterior.leave_one_out(), posterior.sample(Xs, 3, rng=stream(1))
    arrays = [posterior.alpha, posterior.cholesky.lower, draws, *vars(left_out).values()]
    assert all(space.holds(a) for a in arrays)
    assert isinstance(posterior.log_evidence, float)


def test_noise_adds_its_variance_to_y_and_nothing_between_points(numbers, which):
    X, y, Xs = numbers
    gp = models(np.asarray)[which]
    posterior = condition(gp, X, y)
    added = posterior.covariance(Xs, noise=True) - posterior.covariance(Xs)
    np.testing.assert_allclose(added, gp.noise_var * np.eye(len(Xs)), atol=1e-15)
    grown = posterior.variance(Xs, noise=True) - posterior.variance(Xs)
    np.testing.assert_allclose(grown, gp.noise_var, rtol=1e-12)


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_chunks_change_nothing(numbers, which, chunk):
    X, y, Xs = numbers
    posterior = condition(models(np.asarray)[which], X, y)
    for part, whole in zip(posterior.predict(Xs, chunk=chunk), posterior.predict(Xs), strict=True):
        np.testing.assert_allclose(part, whole, rtol=1e-12)


def test_no_points_to_predict_at_give_no_predictions(numbers, which):
    X, y, Xs = numbers
    mean, variance = condition(models(np.asarray)[which], X, y).predict(Xs[:0])
    assert mean.shape == variance.shape == (0,)


def test_the_prior_of_y_has_the_evidence_as_its_density(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    evidence = log_evidence(gp, X, y)
    density = prior(gp, X, noise=True).log_density(y)
    assert evidence == pytest.approx(density, rel=1e-10 if space.double else 1e-3)


def test_the_prior_of_f_has_the_kernel_as_its_covariance(numbers, which):
    X, _, _ = numbers
    gp = models(np.asarray)[which]
    f = prior(gp, X)
    np.testing.assert_allclose(f.covariance, gp.kernel(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(f.mean, gp.mean(X))


# Gradients


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.3, np.asarray([0.8, 1.5, 1.1, 2.0])),
        Matern32(0.9, 1.2),
        Matern52(1.1, np.asarray([1.0, 2.0, 1.5, 0.7])) * Periodic(0.5, 1.0, 1.7) + White(0.05),
        Polynomial(0.4, 1.0, 2) + Constant(0.3),
    ],
    ids=["rbf", "matern32", "composite", "polynomial"],
)
def test_the_pullback_of_the_evidence_agrees_with_differences(numbers, kernel):
    X, y, _ = numbers

    def pullback(gp, X, y, bar):
        assert bar == 1.0
        return condition(gp, X, y).evidence_gradient()

    gradcheck(log_evidence, pullback, GP(kernel, 0.3, ConstantMean(0.4)), X, y)


def test_the_pullback_of_the_evidence_is_the_same_in_every_space(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    gp_bar, X_bar, y_bar = condition(gp, X, y).evidence_gradient()
    assert space.holds(X_bar)
    assert space.holds(y_bar)
    reference = models(np.asarray)[which]
    wanted = condition(reference, *numbers[:2]).evidence_gradient()
    close = {"rtol": 1e-8, "atol": 1e-8} if space.double else {"rtol": 1e-2, "atol": 1e-2}
    gradients = flatten_gradient(gp, gp_bar), flatten_gradient(reference, wanted[0])
    np.testing.assert_allclose(*gradients, **close)
    np.testing.assert_allclose(to_numpy(X_bar), wanted[1], **close)
    np.testing.assert_allclose(to_numpy(y_bar), wanted[2], **close)


@pytest.mark.parametrize("kind", [RBF, Matern12, Matern32, Matern52])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("lengths", ["one length", "a length per dimension"])
def test_the_path_in_place_agrees_with_the_general_one(rng, kind, d, lengths):
    X, y = rng.normal(size=(90, d)) + 50.0, rng.normal(size=90)
    lengthscale = 1.3 if lengths == "one length" else rng.uniform(0.5, 2.0, size=d)
    gp = GP(kind(1.7, lengthscale), 0.2, ConstantMean(0.3))
    value, gp_bar = log_evidence_and_gradient(gp, X, y)
    # the sum with nothing takes the general path
    general = GP(_summed(gp.kernel), gp.noise_var, gp.mean)
    posterior = condition(general, X, y)
    assert value == pytest.approx(posterior.log_evidence, rel=1e-10)
    wanted = flatten_gradient(general, posterior.evidence_gradient()[0])
    np.testing.assert_allclose(flatten_gradient(gp, gp_bar), wanted, rtol=1e-10, atol=1e-10)
    assert type(gp_bar.kernel.lengthscale) is type(gp.kernel.lengthscale)


def _summed(kernel):
    from gpnotes.model.kernels import Sum

    return Sum((kernel,))


def test_the_gradient_in_place_stays_in_single_precision(rng):
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    lengths = rng.uniform(1.0, 2.0, size=5)
    wanted = log_evidence_and_gradient(GP(RBF(1.5, lengths), 0.3), X, y)
    single = GP(RBF(1.5, lengths.astype(np.float32)), 0.3)
    value, gp_bar = log_evidence_and_gradient(single, X.astype(np.float32), y.astype(np.float32))
    assert gp_bar.kernel.lengthscale.dtype == np.float32
    assert type(gp_bar.kernel.variance) is type(gp_bar.noise_var) is type(value) is float
    assert value == pytest.approx(wanted[0], rel=1e-5)
    gradients = flatten_gradient(single, gp_bar), flatten_gradient(single, wanted[1])
    np.testing.assert_allclose(*gradients, rtol=2e-4, atol=2e-4)


def test_every_space_gets_value_and_gradient_by_one_call(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    value, gp_bar = log_evidence_and_gradient(gp, X, y)
    posterior = condition(gp, X, y)
    close = {"rtol": 1e-9, "atol": 1e-9} if space.double else {"rtol": 1e-2, "atol": 1e-2}
    np.testing.assert_allclose(value, posterior.log_evidence, **close)
    both = flatten_gradient(gp, gp_bar), flatten_gradient(gp, posterior.evidence_gradient()[0])
    np.testing.assert_allclose(*both, **close)


# Leave-one-out, extension, samples


def test_leaving_one_out_is_conditioning_on_the_others(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    left_out = condition(gp, X, y).leave_one_out()
    X, y, _ = numbers
    gp = models(np.asarray)[which]
    white = 0.05 if which == "general" else 0.0
    assert left_out.mean.shape == left_out.variance.shape == left_out.log_density.shape == y.shape
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        mean, variance = condition(gp, X[others], y[others]).predict(X[i : i + 1], noise=True)
        assert white <= variance[0]
        density = -0.5 * ((y[i] - mean[0]) ** 2 / variance[0] + np.log(2.0 * np.pi * variance[0]))
        found_here = [float(a[i]) for a in (left_out.mean, left_out.variance, left_out.log_density)]
        np.testing.assert_allclose(found_here, [mean[0], variance[0], density], **tolerance(space))


def test_extending_is_conditioning_on_everything(space, numbers, which):
    gp, X, y, Xs = in_space(space, numbers, which)
    whole = condition(gp, X, y)
    parts = condition(gp, X[:6, :], y[:6]).extend(X[6:7, :], y[6:7]).extend(X[7:, :], y[7:])
    close = tolerance(space)
    np.testing.assert_allclose(
        to_numpy(parts.cholesky.lower), to_numpy(whole.cholesky.lower), **close
    )
    for part, all_at_once in zip(parts.predict(Xs), whole.predict(Xs), strict=True):
        np.testing.assert_allclose(to_numpy(part), to_numpy(all_at_once), **close)
    assert parts.log_evidence == pytest.approx(whole.log_evidence, rel=close["rtol"])
    assert all(space.holds(a) for a in (parts.X, parts.y, parts.alpha))


@pytest.mark.parametrize(("name", "own"), [("noise_var", 0.0), ("weights", 0.3)])
def test_extending_by_readings_with_noise_of_their_own_is_conditioning_on_all(rng, name, own):
    X, y, each = rng.normal(size=(8, 2)), rng.normal(size=8), rng.uniform(0.1, 2.0, size=8)
    gp, Xs = GP(RBF(1.3, 0.8), own), rng.normal(size=(4, 2))
    first = condition(gp, X[:5], y[:5], **{name: each[:5]})
    whole = condition(gp, X, y, **{name: each})
    parts = first.extend(X[5:], y[5:], **{name: each[5:]})
    assert parts.log_evidence == pytest.approx(whole.log_evidence, rel=1e-10)
    for one, other in zip(parts.predict(Xs), whole.predict(Xs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for wrong in (each[6:], each[5:6]):  # of three readings, with two columns each
        with pytest.raises(ValueError, match=rf"{name} must have shape \(3,\)"):
            first.extend(X[5:], y[5:], **{name: wrong})


def test_extending_by_nothing_changes_nothing(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    before = condition(gp, X, y)
    after = before.extend(X[:0, :], y[:0])
    np.testing.assert_array_equal(to_numpy(after.cholesky.lower), to_numpy(before.cholesky.lower))
    assert after.log_evidence == pytest.approx(before.log_evidence, rel=1e-6)


def test_processes_are_equal_by_value():
    lengths = np.asarray([1.0, 2.0])
    assert GP(RBF(1.0, lengths), 0.1) == GP(RBF(1.0, lengths.copy()), 0.1)
    assert GP(RBF(), 0.1) != GP(RBF(), 0.2)
    assert len({GP(RBF(), 0.1), GP(RBF(), 0.1)}) == 1


def test_derivatives_are_not_taken_for_a_process(numbers, which):
    X, y, _ = numbers
    gp_bar = log_evidence_and_gradient(models(np.asarray)[which], X, y)[1]
    with pytest.raises(TypeError, match="holds derivatives"):
        condition(gp_bar, X, y)
    with pytest.raises(TypeError, match="holds derivatives and cannot be part of a process"):
        dataclasses.replace(gp_bar, noise_var=0.1)


def test_samples_have_the_posterior_mean_and_covariance(numbers, which):
    X, y, Xs = numbers
    posterior = condition(models(np.asarray)[which], X, y)
    n = 20_000
    for noise in (False, True):
        draws = posterior.sample(Xs, n, noise=noise, rng=stream(3))
        covariance = posterior.covariance(Xs, noise=noise)
        assert draws.shape == (n, len(Xs))
        z = (draws.mean(axis=0) - posterior.mean(Xs)) / np.sqrt(np.diag(covariance) / n)
        assert np.max(np.abs(z)) < 4.0
        # the standard error of a sample covariance is about √((Σᵢᵢ Σⱼⱼ + Σᵢⱼ²) / n)
        top = np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2
        z = (np.cov(draws.T) - covariance) / np.sqrt(top / n)
        assert np.max(np.abs(z)) < 4.5


def test_the_same_stream_draws_the_same_functions_in_every_space(space, numbers, which):
    gp, X, y, Xs = in_space(space, numbers, which)
    draws = condition(gp, X, y).sample(Xs, 2, rng=stream(5))
    wanted = condition(models(np.asarray)[which], *numbers[:2]).sample(numbers[2], 2, rng=stream(5))
    np.testing.assert_allclose(to_numpy(draws), wanted, atol=1e-7 if space.double else 5e-3)


def test_the_joint_distribution_is_that_of_the_single_views(space, numbers, which):
    gp, X, y, Xs = in_space(space, numbers, which)
    posterior = condition(gp, X, y)
    tolerance = 1e-10 if space.double else 1e-4
    for noise in (False, True):
        joint = posterior.joint(Xs, noise=noise)
        assert space.holds(joint.mean)
        assert space.holds(joint.root)
        wanted = (*posterior.predict(Xs, noise=noise), posterior.covariance(Xs, noise=noise))
        for view, other in zip((joint.mean, joint.variance, joint.covariance), wanted, strict=True):
            np.testing.assert_allclose(to_numpy(view), to_numpy(other), atol=tolerance)


@pytest.mark.parametrize("noise_var", [0.0, 1e-8, 0.1])
def test_draws_at_crowded_points_have_their_covariance(space, numbers, which, noise_var):
    """With some root or other: it is rounding that decides whether a Cholesky factor exists."""
    gp, X, y, _ = in_space(space, numbers, which)
    posterior = condition(dataclasses.replace(gp, noise_var=noise_var), X[:4, :], y[:4])
    line = np.linspace(-2.0, 2.0, 120)[:, None] * np.ones((1, X.shape[1]))
    crowded = space.asarray(np.concatenate([line, line[:5], to_numpy(X)[:4]]))
    joint = posterior.joint(crowded)
    assert joint.root_kind in ("cholesky", "pivoted cholesky")
    covariance = to_numpy(posterior.covariance(crowded)).astype(np.float64)
    variance = float(np.max(to_numpy(posterior.gp.kernel.diag(crowded))))
    rounding = len(covariance) * (1e-16 if space.double else 5e-8) * variance
    root = to_numpy(joint.root).astype(np.float64)
    np.testing.assert_allclose(root @ root.T, covariance, atol=30.0 * rounding)


def test_new_values_are_the_same_in_every_space_however_crowded(space, numbers, which):
    gp, X, y, _ = in_space(space, numbers, which)
    crowded = np.concatenate([numbers[0], numbers[2], numbers[0]])
    joint = condition(gp, X, y).joint(space.asarray(crowded), noise=True)
    assert joint.root_kind == "cholesky"
    host = condition(models(np.asarray)[which], *numbers[:2])
    wanted = host.joint(crowded, noise=True).sample(2, rng=stream(5))
    tolerance = 1e-9 if space.double else 1e-2
    np.testing.assert_allclose(to_numpy(joint.sample(2, rng=stream(5))), wanted, atol=tolerance)


def test_samples_need_no_jitter_where_the_covariance_is_singular(numbers):
    X, y, _ = numbers
    posterior = condition(GP(RBF(1.0, 1.0), 1e-6), X, y)
    crowded = np.concatenate([X, X[:3], X + 1e-9])
    draws = posterior.sample(crowded, 4, rng=stream(0))
    np.testing.assert_allclose(draws[:, :3], draws[:, len(X) : len(X) + 3], atol=1e-6)


# No noise, little noise, jitter


def test_without_noise_the_mean_passes_through_the_data(numbers):
    X, y, _ = numbers
    posterior = condition(GP(Matern52(1.0, 1.0), 0.0), X, y)
    mean, variance = posterior.predict(X)
    np.testing.assert_allclose(mean, y, atol=1e-10)
    assert np.all(variance >= 0.0)
    np.testing.assert_allclose(variance, 0.0, atol=1e-10)
    assert posterior.cholesky.jitter == 0.0


def test_jitter_is_added_only_where_it_must_be_and_is_recorded(numbers):
    X, y, Xs = numbers
    twice, y_twice = np.concatenate([X, X]), np.concatenate([y, y])
    gp = GP(RBF(1.0, 1.0), 0.0)
    with pytest.warns(JitterWarning, match=r"Gram matrix of RBF\(.*noise_var=0"):
        posterior = condition(gp, twice, y_twice)
    assert 0.0 < posterior.cholesky.jitter < 1e-6
    np.testing.assert_allclose(posterior.mean(Xs), condition(gp, X, y).mean(Xs), rtol=1e-4)
    with pytest.warns(JitterWarning):
        value, _ = log_evidence_and_gradient(gp, twice, y_twice)
    assert value == posterior.log_evidence


def test_readings_that_contradict_each_other_without_noise_warn_and_are_all_but_impossible(numbers):
    X, y, _ = numbers
    twice = np.concatenate([X, X])
    with pytest.warns(JitterWarning, match="not positive definite in its precision: added"):
        posterior = condition(GP(Matern52(), 0.0), twice, np.concatenate([y, y + 2.0]))
    assert np.all(np.isfinite(posterior.mean(X)))
    assert posterior.log_evidence < -1e6


# An evidence whose digits are lost


def crowded(rng, n=30, rough=0.1):
    X = np.sort(rng.uniform(0.0, 10.0, (n, 1)), axis=0)
    return X, np.sin(X[:, 0]) + rough * rng.normal(size=n)


def evidence_in_50_digits(X, y, lengthscale, noise_var):
    """By mpmath, of a Matérn 5/2 of variance one."""
    with mpmath.workdps(50):
        apart = [[abs(mpmath.mpf(a) - mpmath.mpf(b)) for b in X[:, 0].tolist()]
                 for a in X[:, 0].tolist()]  # fmt: skip
        q = [[mpmath.sqrt(5) * r / mpmath.mpf(lengthscale) for r in row] for row in apart]
        K = mpmath.matrix([[(1 + v + v * v / 3) * mpmath.exp(-v) for v in row] for row in q])
        K += mpmath.mpf(noise_var) * mpmath.eye(len(y))
        r = mpmath.matrix(y.tolist())
        fit = (r.T * mpmath.cholesky_solve(K, r))[0]
        log_det = 2 * sum(mpmath.log(v) for v in np.diag(np.array(mpmath.cholesky(K).tolist())))
        return -(fit + log_det + len(y) * mpmath.log(2 * mpmath.pi)) / 2


@pytest.mark.parametrize("noise_var", [1e-14, 1e-12, 1e-9, 1e-4])
@pytest.mark.parametrize("lengthscale", [3.0, 30.0])
@pytest.mark.parametrize("rough", [0.0, 0.1])
def test_the_error_of_an_evidence_is_of_the_size_that_it_says(noise_var, lengthscale, rough):
    X, y = crowded(np.random.default_rng(1), 14, rough)
    posterior = condition(GP(Matern52(1.0, lengthscale), noise_var), X, y)
    expected = evidence_in_50_digits(X, y, lengthscale, noise_var)
    error, said = abs(float(posterior.log_evidence - expected)), posterior.evidence_error
    assert error < 20.0 * said + 1e-13 * abs(expected)
    assert said < 1e-5 * max(abs(expected), 14.0)


@pytest.mark.parametrize("verb", [
    log_evidence,
    lambda gp, X, y: log_evidence_and_gradient(gp, X, y)[0],
    lambda gp, X, y: condition(gp, X, y).log_evidence,
])  # fmt: skip
@pytest.mark.parametrize(
    "prior", [GP(Matern52(1.0, 30.0), 1e-14), GP(Matern52(1.0, 30.0) + White(1e-20), 1e-14)]
)
def test_an_evidence_that_has_lost_its_digits_warns(verb, prior):
    X, y = crowded(np.random.default_rng(1))
    said = (
        r"log evidence -.* may be off by .*e\+.*: the Gram matrix of .* noise_var=1e-14 is nearly"
    )
    with pytest.warns(RoundingWarning, match=said) as told:
        value = verb(prior, X, y)
    assert [one.filename for one in told] == [__file__]
    right = log_evidence(StateSpaceGP(GP(Matern52(1.0, 30.0), 1e-14)), X, y)
    assert abs(value / right - 1.0) < 0.1


def test_an_evidence_in_single_precision_warns_by_its_own_digits():
    X, y = (a.astype(np.float32) for a in crowded(np.random.default_rng(1), 100))
    with pytest.warns(RoundingWarning, match="noise_var=1e-06"):
        log_evidence(GP(Matern52(1.0, 3.0), 1e-6), X, y)
    log_evidence(GP(Matern52(1.0, 3.0), 1e-2), X, y)


@pytest.mark.parametrize("noise_var", [1e-8, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize(
    "kernel", [RBF(1.0, 1.0), RBF(1e4, 30.0), Matern52(1.0, 30.0), Linear(1.0) + RBF(0.1, 3.0)]
)
@pytest.mark.parametrize("rough", [0.0, 0.1])
def test_ordinary_models_are_far_from_warning(noise_var, kernel, rough):
    """Of noise down to a hundred millionth of the variance at a hundred readings."""
    X, y = crowded(np.random.default_rng(2), 100, rough)
    scale = float(kernel._diag(X).max())
    posterior = condition(GP(kernel, noise_var * scale), X, scale**0.5 * y)
    assert posterior.cholesky.jitter == 0.0
    assert posterior.evidence_error < 1e-6 * max(abs(posterior.log_evidence), 100.0)


# Readings that leave little to say, or too much


def test_one_reading_and_readings_that_are_all_equal_are_ordinary(space):
    one = space.asarray(np.zeros((1, 1)))
    mean, variance = condition(GP(RBF(), 1.0), one, space.asarray(np.ones(1))).predict(one)
    np.testing.assert_allclose([float(mean[0]), float(variance[0])], 0.5)
    X = space.asarray(np.linspace(0.0, 1.0, 9)[:, None])
    posterior = condition(GP(RBF(), 0.01, ConstantMean(3.0)), X, space.asarray(np.full(9, 3.0)))
    np.testing.assert_array_equal(to_numpy(posterior.mean(X)), np.full(9, 3.0))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_row_of_a_reading_that_is_none_is_named(space, numbers, value):
    X, y, _ = numbers
    broken = np.where(np.arange(len(y)) == 2, value, y)
    words = "y must be finite; 1 of its entries are not, the first in row 2"
    for door in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.raises(ValueError, match=words):
            door(GP(RBF(), 0.1), space.asarray(X), space.asarray(broken))


def test_readings_too_large_for_their_precision_are_refused_and_never_nan(space, numbers):
    largest = float(np.max(np.abs(numbers[1])))
    X, y = (space.asarray(a) for a in (numbers[0], numbers[1] / largest))
    huge = y * (1.7e308 if space.double else 3.4e38)
    gp = GP(RBF(1e-3), 1e-3)  # at most 0.016 along any direction: K_y⁻¹ y is larger than y
    with np.errstate(over="ignore", invalid="ignore"):
        with pytest.raises(ValueError, match="y must be smaller in size: K_y⁻¹ y overflows"):
            condition(gp, X, huge)
        large = y * (1e160 if space.double else 1e25)
        posterior = condition(gp, X, large)
        assert np.all(np.isfinite(to_numpy(posterior.mean(X))))
        with pytest.raises(ValueError, match="y must be smaller in size: yᵀK_y⁻¹ y overflows"):
            _ = posterior.log_evidence
        for door in (log_evidence, log_evidence_and_gradient):
            with pytest.raises(ValueError, match=r"y must be smaller than .*squares overflow"):
                door(gp, X, large)


class Indefinite(type(Constant())):
    """A function that is no covariance: the negative of one."""

    def _gram(self, x, z):
        return -super()._gram(x, z)


def test_a_matrix_that_is_no_covariance_is_refused_with_a_remedy(numbers):
    X, y, _ = numbers
    with pytest.raises(FactorisationError, match=r"Indefinite\(variance=1\).*Add noise"):
        condition(GP(Indefinite(1.0), 0.1), X, y)


# The public door


class Wide(ConstantMean):
    """A mean whose values would broadcast against y."""

    def __call__(self, x):
        return x[:, :1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda gp, X, y: condition(gp, X, y[:-1]), ValueError, r"y must have shape \(15,\)"),
        (lambda gp, X, y: condition(gp, X[:, 0], y), ValueError, r"X must have shape"),
        (lambda gp, X, y: condition(gp, X, y.astype(np.float32)), TypeError, "y must have the dty"),
        (lambda gp, X, y: log_evidence_and_gradient(gp, X, y[1:]), ValueError, "y must have shape"),
        (lambda gp, X, y: condition(gp, X[:0], y[:0]), ValueError, "X must have at least one row"),
        (lambda gp, X, y: condition(gp, X * np.nan, y), ValueError, "X must be finite"),
        (lambda gp, X, y: condition(gp, X, y).predict(X[:, :2]), ValueError, r"Xs must have shape"),
        (lambda gp, X, y: condition(gp, X, y).mean(X[0]), ValueError, r"Xs must have shape"),
        (lambda gp, X, y: condition(gp, X, y).predict(X, chunk=0), ValueError, "chunk must be a w"),
        (lambda gp, X, y: condition(gp, X, y).predict(X, chunk=2.5), TypeError, "chunk must be"),
        (lambda gp, X, y: prior(gp, {0.0}), TypeError, "Xs must be an array; got set"),
        (lambda gp, X, y: condition(gp, X[:, :0], y), ValueError, "must have at least one column"),
        (lambda gp, X, y: GP("rbf", 0.1), TypeError, "kernel must be a gpnotes Kernel; got"),
        (
            lambda gp, X, y: GP(RBF(), 0.1, 3.0),
            TypeError,
            r"a mean function, .*; got float",
        ),
        (lambda gp, X, y: condition(gp, X, y).extend(X, y[1:]), ValueError, "y must have shape"),
        (lambda gp, X, y: condition(gp, X, y).extend(X[:, 1:], y), ValueError, "^x must have sh"),
        (lambda gp, X, y: GP(gp.kernel, -1.0), ValueError, "noise_var must be non-negative"),
        (
            lambda gp, X, y: condition(gp, X, y).predict(X, noise=1),
            TypeError,
            "noise must be True or F",
        ),
        (
            lambda gp, X, y: condition(gp, X, y).covariance(X, noise="y"),
            TypeError,
            "noise must be True",
        ),
        (lambda gp, X, y: prior(gp, X, noise=1), TypeError, "noise must be True or False; got 1"),
        (lambda gp, X, y: prior(gp, X[:, :0]), ValueError, "Xs must have at least one column"),
        (
            lambda gp, X, y: condition(gp, X, y).sample(X, 2, rng=np.random.RandomState(0)),
            TypeError,
            "rng must be a Stream, a NumPy Generator",
        ),
        (
            lambda gp, X, y: condition(gp, X, y).sample(X, 2.5, rng=stream(0)),
            TypeError,
            "num_samples must be a w",
        ),
        (lambda gp, X, y: GP(gp.kernel, 0.1, ConstantMean), TypeError, "a mean function"),
        (
            lambda gp, X, y: log_evidence_and_gradient(GP(gp.kernel, 0.1, lambda x: x[:, 0]), X, y),
            TypeError,
            r"gp\.mean must be a mean function with a pullback, .*; function lacks pullback",
        ),
        (lambda gp, X, y: condition(gp, X, y).mean(0.0), TypeError, "Xs must be an array; got"),
        (lambda gp, X, y: condition(gp, X, y).predict(X, chunk=True), TypeError, "chunk must be"),
        (
            lambda gp, X, y: condition(GP(gp.kernel, 0.1, Wide()), X, y),
            ValueError,
            r"gp\.mean\(X\) must have shape \(15,\); got \(15, 1\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(numbers, which, call, error, words):
    X, y, _ = numbers
    with pytest.raises(error, match=words):
        call(models(np.asarray)[which], X, y)


@pytest.mark.parametrize("gp", [RBF(), None, "gp", GP])
def test_what_is_no_process_is_refused_at_every_door(numbers, gp):
    X, y, _ = numbers
    doors = [
        lambda: condition(gp, X, y), lambda: log_evidence(gp, X, y), lambda: fit(gp, X, y),
        lambda: log_evidence_and_gradient(gp, X, y),
    ]  # fmt: skip
    for door in doors:
        with pytest.raises(TypeError, match=r"model must be a GP, or a model with an evid.* got"):
            door()
    with pytest.raises(TypeError, match="gp must be a gpnotes GP; got"):
        prior(gp, X)


def test_lengthscales_that_do_not_fit_the_inputs_are_refused(numbers):
    X, y, _ = numbers
    gp = GP(RBF(1.0, np.ones(3)), 0.1)
    with pytest.raises(ValueError, match=r"X must have shape \(n, 3\)"):
        condition(gp, X, y)
    with pytest.raises(ValueError, match=r"X must have shape \(n, 3\)"):
        log_evidence_and_gradient(gp, X, y)


# Another package


@pytest.mark.parametrize("trial", range(3))
@pytest.mark.parametrize("kind", ["rbf", "matern12", "matern32", "matern52"])
def test_scikit_learn_agrees(rng, trial, kind):
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    kernels = gaussian_process.kernels
    d = trial + 1
    X, y, Xs = rng.normal(size=(30, d)), rng.normal(size=30), rng.normal(size=(11, d))
    variance, noise_var = rng.uniform(0.5, 2.0), rng.uniform(0.05, 0.5)
    lengths = rng.uniform(0.5, 2.0, size=d)
    ours = {"rbf": RBF, "matern12": Matern12, "matern32": Matern32, "matern52": Matern52}[kind]
    shape = kernels.RBF(lengths) if kind == "rbf" else kernels.Matern(lengths, nu=int(kind[-2]) / 2)
    theirs = kernels.ConstantKernel(variance) * shape + kernels.WhiteKernel(noise_var)
    other = gaussian_process.GaussianProcessRegressor(theirs, alpha=0.0, optimizer=None).fit(X, y)

    gp = GP(ours(variance, lengths), noise_var)
    mean, sd = other.predict(Xs, return_std=True)
    our_mean, our_variance = condition(gp, X, y).predict(Xs, noise=True)
    np.testing.assert_allclose(our_mean, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.sqrt(our_variance), sd, rtol=1e-8)
    value, gradient = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
    our_value, gp_bar = log_evidence_and_gradient(gp, X, y)
    assert our_value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(flatten_gradient(gp, gp_bar), gradient, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(1.3, 0.8), Matern32(0.9, 1.1) + Linear(0.2)])
@pytest.mark.parametrize("known", [None, np.linspace(0.1, 0.5, 7)], ids=["alike", "known"])
def test_the_gradient_is_that_of_differences_for_a_mean_that_depends_on_x(rng, kernel, known):
    X, y = rng.normal(size=(7, 2)), rng.normal(size=7)

    def value(gp, X, y):
        return log_evidence(gp, X, y, noise_var=known)

    def pullback(gp, X, y, bar):
        assert bar == 1.0
        return condition(gp, X, y, noise_var=known).evidence_gradient()

    gradcheck(value, pullback, GP(kernel, 0.2, Slope()), X, y)
    gp_bar = log_evidence_and_gradient(GP(kernel, 0.2, Slope()), X, y, noise_var=known)[1]
    wanted = pullback(GP(kernel, 0.2, Slope()), X, y, 1.0)[0]
    assert gp_bar.noise_var == pytest.approx(wanted.noise_var)
    assert gp_bar.mean.rate == pytest.approx(wanted.mean.rate)


@pytest.mark.parametrize("kernel", [RBF(1.3, 0.8), Matern32(0.9, 1.1) + White(0.1)])
def test_a_mean_of_unknown_weights_is_a_linear_kernel(rng, kernel):
    """With the prior N(0, B) the weights of (1, x) are a constant and a linear kernel of f."""
    X, y, Xs = rng.normal(size=(9, 1)), rng.normal(size=9), rng.normal(size=(4, 1))
    weights = Normal(np.zeros(2), np.diag([1.5, 0.7]))
    ours = condition(GP(kernel, 0.2, BasisMean(Powers(1), weights)), X, y)
    line = Constant(1.5**2) + Linear(0.7**2)
    theirs = condition(GP(kernel + line, 0.2), X, y)
    assert ours.log_evidence == pytest.approx(theirs.log_evidence)
    for noise in (False, True):
        found, wanted = (posterior.predict(Xs, noise=noise) for posterior in (ours, theirs))
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
        found, wanted = (posterior.joint(Xs, noise=noise) for posterior in (ours, theirs))
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.covariance, wanted.covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.covariance(Xs), theirs.covariance(Xs), rtol=1e-9, atol=1e-12)
    assert ours.evidence_gradient()[0].noise_var == pytest.approx(
        theirs.evidence_gradient()[0].noise_var
    )
    found, wanted = (posterior.leave_one_out() for posterior in (ours, theirs))
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-8)
    np.testing.assert_allclose(found.variance, wanted.variance, rtol=1e-8)
    more = X[:2] + 0.3, np.asarray([0.4, -0.1])
    grown = [posterior.extend(*more).predict(Xs) for posterior in (ours, theirs)]
    np.testing.assert_allclose(*grown, rtol=1e-9)


def test_a_part_of_a_sum_is_that_of_dense_algebra(rng):
    X, y, Xs = rng.normal(size=(9, 2)), rng.normal(size=9), rng.normal(size=(4, 2))
    first, second = RBF(1.3, 0.8), Linear(0.4)
    posterior = condition(GP(first + second, 0.2, ConstantMean(0.3)), X, y)
    K = (first + second)(X) + 0.2 * np.eye(9)
    for k, kernel in enumerate((first, second)):
        part, cross = posterior.part(k), kernel(Xs, X)
        pull = cross @ np.linalg.solve(K, y - 0.3)
        wanted = kernel(Xs) - cross @ np.linalg.solve(K, cross.T)
        mean, variance = part.predict(Xs)
        constant = mean - pull  # which part has the mean is said elsewhere
        np.testing.assert_allclose(constant, constant[0], atol=1e-12)
        np.testing.assert_allclose(variance, np.diag(wanted), rtol=1e-9)
        np.testing.assert_allclose(part.covariance(Xs), wanted, rtol=1e-9, atol=1e-12)


def test_the_gradients_of_predictions_are_those_of_differences(rng):
    X, y, Xs = rng.normal(size=(9, 2)), rng.normal(size=9), rng.normal(size=(3, 2))
    posterior = condition(GP(RBF(1.3, 0.8), 0.2, Slope()), X, y)
    by_mean, by_variance = posterior.predict_gradient(Xs)
    for k, step in enumerate(1e-5 * np.eye(2)):
        ahead, behind = posterior.predict(Xs + step), posterior.predict(Xs - step)
        slopes = [(a - b) / 2e-5 for a, b in zip(ahead, behind, strict=True)]
        np.testing.assert_allclose(by_mean[:, k], slopes[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(by_variance[:, k], slopes[1], rtol=1e-6, atol=1e-8)


def test_extending_tells_of_a_prior_too_wide_as_conditioning_does(rng):
    X = np.linspace(0.0, 1.0, 30)[:, None]
    y, wide = X[:, 0] + 0.01 * rng.normal(size=30), GP(RBF(1.0, 0.3) + Constant(1e10), 1e-4)
    begun = condition(wide, X[:2], y[:2])
    for extended in (lambda: begun.extend(X[2:], y[2:]), lambda: condition(wide, X, y)):
        with pytest.warns(RoundingWarning, match="smaller variance") as told:
            extended()
        assert [one.filename for one in told] == [__file__]


@pytest.mark.parametrize("model", [lambda gp: gp, lambda gp: SparseGP(gp, inducing=2)])
def test_a_trend_of_a_prior_too_wide_is_no_secret_and_a_basis_takes_it(model):
    """Deviations were zero, or ten times too large, without a word until the evidence was asked."""
    X, Xs = np.linspace(0.0, 5.0, 20)[:, None], np.asarray([[0.5], [2.2], [7.0]])
    y = 2.0 * X[:, 0] + 1.0
    # rounding decides whether the factor needs jitter, which has a warning of its own
    with pytest.warns((RoundingWarning, JitterWarning), match="smaller variance|to its diagonal"):
        condition(model(GP(Linear(1e14) + Constant(1e14), 1.0)), X, y)
    wide = Normal(np.zeros(2), 1e7 * np.eye(2))
    basis = GP(Constant(1e-12), 1.0, BasisMean(Powers(), wide))
    vague = GP(Constant(1e-12), 1.0, BasisMean(Powers()))
    known, limit = (condition(gp, X, y).predict(Xs) for gp in (basis, vague))
    np.testing.assert_allclose(known[1], limit[1], rtol=1e-9)


def test_a_mean_that_rounding_has_the_digits_of_is_no_secret(rng):
    """Without noise a rough y was missed by a seventh of its size; only the evidence told."""
    X = np.linspace(0.0, 5.0, 20)[:, None]
    smooth = np.sin(X[:, 0])
    rough, gp = smooth + 0.1 * rng.normal(size=20), GP(RBF(), 0.0)
    for told in (
        lambda: condition(gp, X, rough),
        lambda: condition(gp, X[:9], rough[:9]).extend(X[9:], rough[9:]),
    ):
        with pytest.warns(
            RoundingWarning, match="the mean of f may be off .* larger noise_var"
        ) as said:
            told()
        assert {one.filename for one in said} == {__file__}
    condition(GP(RBF(), 1e-4), X, rough)
    X = X[::2]
    np.testing.assert_allclose(condition(gp, X, smooth[::2]).mean(X), smooth[::2], atol=1e-9)
