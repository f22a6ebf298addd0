"""Paths of a posterior: functions with its mean and covariance, that do not change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Constant,
    ConstantMean,
    Gaussian,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SparseGP,
    White,
    condition,
    stream,
    to_numpy,
)
from gpnotes.draw.paths import sample_paths
from gpnotes.draw.paths.feature_maps import draw_feature_map
from gpnotes.draw.paths.matheron import _inducing_weights, matheron_update
from gpnotes.ground.linalg import Cholesky, JitterWarning
from gpnotes.ground.params import cotangent, real
from gpnotes.infer import interdomain, svgp
from gpnotes.model.kernels import Coregion
from gpnotes.testing import gradcheck

LENGTHS = np.asarray([0.8, 1.5])
OUTPUTS = Coregion(np.asarray([[1.0, 0.3], [-0.8, 0.5], [0.4, 1.2]]), np.asarray([0.2, 0.0, 0.6]))
PRODUCTS = (
    Linear(np.asarray([0.7, 1.9])) * Linear(0.6),
    Linear(0.7).on(1) * (Linear(0.4) + Constant(1.2)) * Linear(1.3).on(0),
    Linear(1.1) * RBF(1.3, LENGTHS),
    2.5 * (Matern52(0.8, 0.9).on(0) + Constant(0.4)) * Linear(0.5).on(1) + Linear(0.3),
)
EXACT = (
    Linear(0.7),
    Linear(np.asarray([0.7, 1.9])),
    Linear(0.7) + Constant(1.4),
    2.5 * (Linear(0.4) + 0.6 * Constant(1.2)),
    (Linear(np.asarray([1.9, 0.7])).on(1, 0) + Linear(0.8).on(1)).on(1, 0),
)
RANDOM = (
    RBF(1.3, LENGTHS),
    Matern32(0.9, 0.7) + Constant(0.5),
    0.7 * Matern52(1.2, 0.6).on(1) + Linear(0.3).on(0),
    RBF(0.8, 1.1) + 1.7 * (Matern12(0.5, 2.0) + Linear(0.2)),
    RationalQuadratic(1.1, LENGTHS, 0.7),
)
HALVES = np.full(6, 0.5)


@dataclass(frozen=True)
class Plane:
    """A mean that is steep in the first column."""

    slope: float = real(1.7)

    def __call__(self, x):
        return self.slope * x[:, 0]

    def pullback(self, x, bar):
        return cotangent(self, slope=float(bar @ x[:, 0])), self.slope * bar[:, None]


N = 20_000  # paths of a test of moments


def problem(kernel, rng, noise_var=0.2, n=7, asarray=np.asarray):
    X = rng.uniform(-1.5, 1.5, (n, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1]
    posterior = condition(GP(kernel, noise_var, ConstantMean(0.3)), asarray(X), asarray(y))
    return posterior, rng.uniform(-2.0, 2.0, (5, 2))


def deviations(values, mean, covariance):
    """By how many of their standard errors sample mean and covariance are off.

    Of N normal vectors the mean has the variances C_ii / N, and the average of the products of
    deviations from the true mean C_ij the variances (C_ii C_jj + C_ij²) / N.
    """
    size = values.shape[0]
    variances = np.diag(covariance)
    of_mean = (values.mean(axis=0) - mean) / np.sqrt(variances / size)
    gaps = values - mean
    spread = np.sqrt((variances[:, None] * variances[None, :] + covariance**2) / size)
    return np.abs(of_mean), np.abs(gaps.T @ gaps / size - covariance) / spread


@pytest.mark.parametrize("kernel", EXACT, ids=repr)
def test_with_exact_features_the_moments_are_those_of_the_posterior(kernel, rng):
    """Of 5 means and 15 covariances none is off by five standard errors: P < 2e-5."""
    posterior, Xs = problem(kernel, rng)
    values = sample_paths(posterior, N, rng=stream(1))(Xs)
    of_mean, of_covariance = deviations(values, posterior.mean(Xs), posterior.covariance(Xs))
    assert np.max(of_mean) < 5.0
    assert np.max(of_covariance) < 5.0


@pytest.mark.parametrize("kernel", RANDOM, ids=repr)
def test_with_random_features_the_moments_are_those_of_the_prior_that_they_make(kernel, rng):
    """Given them the covariance is ``A k̂ Aᵀ + σ² B Bᵀ``, ``A = (I, −B)``, ``B = K_*f K_y⁻¹``.

    k̂ is the kernel that the features make at Xs and X together. The mean is the posterior's.
    """
    posterior, Xs = problem(kernel, rng)
    paths = sample_paths(posterior, N, num_features=32, rng=stream(1))
    Phi = paths.features.rows(np.concatenate([Xs, posterior.X]))
    noise_var = posterior.gp.noise_var
    K_y = kernel(posterior.X) + noise_var * np.eye(len(posterior.X))
    B = np.linalg.solve(K_y, kernel(posterior.X, Xs)).T
    A = np.hstack([np.eye(len(Xs)), -B])
    covariance = A @ Phi @ Phi.T @ A.T + noise_var * B @ B.T
    of_mean, of_covariance = deviations(paths(Xs), posterior.mean(Xs), covariance)
    assert np.max(of_mean) < 5.0
    assert np.max(of_covariance) < 5.0
    # thirty-two features are not the kernel: this test can tell the two apart
    other = deviations(paths(Xs), posterior.mean(Xs), posterior.covariance(Xs))[1]
    assert np.max(other) > 5.0


@pytest.mark.parametrize("kernel", [*EXACT, *RANDOM], ids=repr)
def test_the_features_of_a_kernel_average_to_it(kernel, rng):
    """Over 60 draws; of 21 entries none is off by 4.5 of the standard errors of their mean.

    Exact features do not vary.
    """
    posterior, Xs = problem(kernel, rng)
    points = np.concatenate([Xs, posterior.X[:1]])
    estimates = []
    for seed in range(60):
        Phi = sample_paths(posterior, 1, num_features=200, rng=stream(seed)).features.rows(points)
        estimates.append(Phi @ Phi.T)
    error = np.mean(estimates, axis=0) - kernel(points)
    bars = np.std(estimates, axis=0, ddof=1) / math.sqrt(60)
    assert np.all(np.abs(error) < 4.5 * bars + 1e-12)


@pytest.mark.parametrize("kernel", [*PRODUCTS[:2], 2.0 * Linear(0.7)], ids=repr)
def test_exact_features_of_a_product_have_its_covariance(kernel, rng):
    X = rng.uniform(-1.5, 1.5, (6, 2))
    Phi = draw_feature_map(kernel, X, 2, stream(1)).rows(X)
    np.testing.assert_allclose(Phi @ Phi.T, kernel(X), rtol=1e-12, atol=1e-12)


def test_features_of_some_columns_leave_the_others_out(rng):
    X = rng.uniform(-1.5, 1.5, (2, 3))  # as many rows as the kernel has columns
    Phi = draw_feature_map(RBF(1.0, 0.8).on(0, 1), X, 6, stream(1)).rows(X)
    alone = draw_feature_map(RBF(1.0, 0.8), X[:, :2], 6, stream(1)).rows(X[:, :2])
    np.testing.assert_array_equal(Phi, alone)


@pytest.mark.parametrize("kernel", [OUTPUTS.on(1), Linear(0.7).on(0) * OUTPUTS.on(1)], ids=repr)
def test_features_of_several_outputs_have_their_covariance(kernel, rng):
    X = np.stack([rng.uniform(-1.5, 1.5, 7), np.arange(7.0) % 3], axis=1)
    features = draw_feature_map(kernel, X, 2, stream(1))
    Phi = features.rows(X)
    np.testing.assert_allclose(Phi @ Phi.T, kernel(X), rtol=1e-12, atol=1e-12)
    assert np.max(abs(features.pull(X, Phi)[:, 1])) == 0.0  # there is no place between outputs


@pytest.mark.parametrize("kernel", PRODUCTS, ids=repr)
def test_the_pullback_of_products_of_features_agrees_with_differences(kernel, rng):
    X = rng.uniform(-1.5, 1.5, (4, 2))
    features = draw_feature_map(kernel, X, 6, stream(1))
    gradcheck(features.rows, lambda X, bar: (features.pull(X, bar),), X)


def test_the_pullback_of_features_of_several_outputs_agrees_with_differences(rng):
    places, outputs = rng.uniform(-1.5, 1.5, (4, 1)), np.arange(4.0)[:, None] % 3
    at = lambda places: np.concatenate([places, outputs], axis=1)  # noqa: E731
    features = draw_feature_map(RBF(1.3, 0.8).on(0) * OUTPUTS.on(1), at(places), 6, stream(1))
    pullback = lambda places, bar: (features.pull(at(places), bar)[:, :1],)  # noqa: E731
    gradcheck(lambda places: features.rows(at(places)), pullback, places)


@pytest.mark.parametrize("kernel", [Linear(0.7), RBF(1.3, LENGTHS) + Constant(0.5)], ids=repr)
def test_one_reading_is_enough(kernel, rng):
    posterior, _ = problem(kernel, rng, noise_var=0.0, n=1)
    values = sample_paths(posterior, 3, num_features=8, rng=stream(1))(posterior.X)
    np.testing.assert_allclose(values, np.full((3, 1), posterior.y[0]), rtol=1e-9)


def test_more_features_come_nearer_to_the_posterior(rng):
    """The covariance over all draws is the posterior's; of few features it misses by √16 times."""
    posterior, Xs = problem(RBF(1.3, LENGTHS), rng)
    wanted, errors = posterior.covariance(Xs), {}
    for features in (64, 1024):
        found = []
        for seed in range(15):
            paths = sample_paths(posterior, 2000, num_features=features, rng=stream(seed))
            gaps = paths(Xs) - posterior.mean(Xs)
            found.append(np.max(np.abs(gaps.T @ gaps / 2000 - wanted)))
        errors[features] = np.mean(found)
    assert errors[1024] < 0.5 * errors[64]


@pytest.mark.parametrize("kernel", [*EXACT[2:4], *RANDOM], ids=repr)
def test_a_path_is_one_function(kernel, rng):
    """Asked at many points, at one, in another order, and in blocks, it has the same values."""
    posterior, Xs = problem(kernel, rng)
    paths = sample_paths(posterior, 3, num_features=50, rng=stream(1))
    whole = paths(Xs)
    assert whole.shape == (paths.count, len(Xs)) == (3, 5)
    np.testing.assert_allclose(paths(Xs[::-1])[:, ::-1], whole, rtol=1e-11, atol=1e-12)
    for i, x in enumerate(Xs):
        np.testing.assert_allclose(paths(x[None])[:, 0], whole[:, i], rtol=1e-11, atol=1e-12)
    assert paths(Xs[:0]).shape == (3, 0)


def test_blocks_are_put_together_again(rng, monkeypatch):
    posterior, Xs = problem(RBF(), rng)
    paths = sample_paths(posterior, 3, num_features=50, rng=stream(1))
    values, pull = paths.values_and_pullback(Xs)
    bar = rng.standard_normal(values.shape)
    X_bar = pull(bar)
    monkeypatch.setattr("gpnotes.ground.memory.ENTRIES", 2 * (50 + 7))
    assert len(paths._blocks(Xs)) == 3
    np.testing.assert_allclose(paths(Xs), values, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(pull(bar), X_bar, rtol=1e-11, atol=1e-12)
    again = sample_paths(posterior, 3, num_features=50, rng=stream(1))
    np.testing.assert_allclose(again.update, paths.update, rtol=1e-9)
    monkeypatch.setattr("gpnotes.ground.memory.ENTRIES", 2 * (50 + 7) - 1)
    assert len(paths._blocks(Xs)) == 5  # a row has entries for 50 features and 7 inputs


@pytest.mark.parametrize("kernel", [Linear(1.1) + Constant(0.4), *RANDOM], ids=repr)
def test_the_gradient_is_that_of_the_values(kernel, rng):
    posterior, _ = problem(kernel, rng)
    paths = sample_paths(posterior, 3, num_features=20, rng=stream(1))
    Xs = rng.uniform(-2.0, 2.0, (4, 2))
    gradcheck(paths, lambda Xs, bar: (paths.values_and_pullback(Xs)[1](bar),), Xs)


def test_the_gradient_has_the_slope_of_the_mean_and_of_a_multiple_of_one_column(rng):
    X = rng.uniform(-1.5, 1.5, (6, 1))
    posterior = condition(GP(0.7 * RBF(), 0.2, Plane()), X, X[:, 0] ** 2)
    paths = sample_paths(posterior, 3, num_features=20, rng=stream(1))
    gradcheck(paths, lambda Xs, bar: (paths.values_and_pullback(Xs)[1](bar),), 2.0 * X[:4])


def test_a_row_of_ones_gives_the_gradients_of_one_path(rng):
    posterior, Xs = problem(RANDOM[2], rng)
    paths = sample_paths(posterior, 3, num_features=20, rng=stream(1))
    values, pull = paths.values_and_pullback(Xs)
    np.testing.assert_array_equal(values, paths(Xs))
    one = np.zeros_like(values)
    one[1] = 1.0
    step = 1e-6 * np.eye(2)
    for k in range(2):
        slope = (paths(Xs + step[k]) - paths(Xs - step[k]))[1] / 2e-6
        np.testing.assert_allclose(pull(one)[:, k], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", RANDOM, ids=repr)
def test_without_noise_every_path_goes_through_the_data(kernel, rng):
    posterior, Xs = problem(kernel, rng, noise_var=0.0, n=5)
    paths = sample_paths(posterior, 4, num_features=16, rng=stream(1))
    wanted = np.tile(posterior.y, (4, 1))
    np.testing.assert_allclose(paths(posterior.X), wanted, rtol=1e-8, atol=1e-9)
    assert np.min(np.std(paths(Xs), axis=0)) > 1e-4


def test_jitter_counts_as_noise(rng):
    """What was added to the diagonal of K_y stands where a noise would stand."""
    noisy, Xs = problem(RANDOM[0], rng)
    quiet = replace(noisy.gp, noise_var=0.0)
    jittered = replace(noisy, gp=quiet, cholesky=Cholesky(noisy.cholesky.lower, 0.2))
    np.testing.assert_array_equal(
        sample_paths(jittered, 2, rng=stream(1))(Xs), sample_paths(noisy, 2, rng=stream(1))(Xs)
    )


def test_readings_with_a_noise_of_their_own_have_it_in_the_update(rng):
    X, y = rng.uniform(-1.5, 1.5, (6, 2)), rng.standard_normal(6)
    same = condition(GP(RANDOM[0], 0.2), X, y), condition(GP(RANDOM[0], 0.1), X, y, weights=HALVES)
    values = [sample_paths(posterior, 2, rng=stream(1))(X) for posterior in same]
    np.testing.assert_allclose(*values, rtol=1e-9)


def test_jitter_of_inducing_points_is_the_variance_of_a_noise_of_theirs(rng):
    factor = Cholesky(np.tril(rng.normal(size=(3, 3))) + 4.0 * np.eye(3), 0.25)
    weights = _inducing_weights(factor, np.zeros(3), lambda normals: 7.0 * normals)
    alone = np.concatenate([np.zeros((3, 2)), rng.normal(size=(3, 2))])
    wanted = -factor.solve(0.5 * alone[3:])
    np.testing.assert_allclose(weights(np.zeros((3, 2)), alone), wanted, rtol=1e-12)
    for kind in ("vfe", "variational"):
        assert matheron_update(induced(kind, RBF(), rng)[0]).num_normals == 5


def test_the_seed_decides(rng):
    posterior, Xs = problem(RANDOM[1], rng)
    one = sample_paths(posterior, 2, rng=stream(3))(Xs)
    np.testing.assert_array_equal(sample_paths(posterior, 2, rng=stream(3))(Xs), one)
    assert np.min(np.abs(sample_paths(posterior, 2, rng=stream(4))(Xs) - one)) > 0.0
    source = stream(3)
    np.testing.assert_array_equal(sample_paths(posterior, 2, rng=source)(Xs), one)
    assert np.min(np.abs(sample_paths(posterior, 2, rng=source)(Xs) - one)) > 0.0


@pytest.mark.parametrize("name", ["stationary", "sum"])
def test_they_live_where_the_posterior_does(space, rng, name):
    lengths = space.asarray(LENGTHS)
    slopes = space.asarray(np.asarray([0.7, 1.9]))
    summed = 0.7 * Matern52(1.2, 0.6).on(1) + Linear(slopes).on(1, 0) + Constant(0.3)
    kernel = {"stationary": RBF(1.3, lengths), "sum": summed}[name]
    posterior, Xs = problem(kernel, rng, asarray=space.asarray)
    paths = sample_paths(posterior, 3, num_features=10, rng=stream(1))
    values, pull = paths.values_and_pullback(space.asarray(Xs))
    X_bar = pull(values)
    host = to_numpy(LENGTHS), to_numpy(slopes).astype(float)
    there = 0.7 * Matern52(1.2, 0.6).on(1) + Linear(host[1]).on(1, 0) + Constant(0.3)
    gp = GP({"stationary": RBF(1.3, host[0]), "sum": there}[name], 0.2, ConstantMean(0.3))
    X, y = (to_numpy(a).astype(float) for a in (posterior.X, posterior.y))
    wanted, back = sample_paths(
        condition(gp, X, y), 3, num_features=10, rng=stream(1)
    ).values_and_pullback(Xs)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if space.double else {"rtol": 2e-3, "atol": 2e-4}
    for got, expected in ((values, wanted), (X_bar, back(wanted))):
        assert space.holds(got)
        np.testing.assert_allclose(to_numpy(got), expected, **tolerance)


def test_far_from_the_origin_nothing_is_lost(rng):
    """Features are of differences from the centre of the data."""
    posterior, Xs = problem(RBF(1.3, LENGTHS), rng)
    here = sample_paths(posterior, 2, rng=stream(1))(Xs)
    moved = condition(posterior.gp, posterior.X + 2.0**20, posterior.y)
    there = sample_paths(moved, 2, rng=stream(1))(Xs + 2.0**20)
    np.testing.assert_allclose(there, here, atol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        Periodic(),
        RBF() + White(0.1),
        RBF() * RBF(),
        2.0 * Periodic().on(0),
        (RBF() + Linear()) * (Linear() + Matern32()),
    ],
    ids=["periodic", "white", "product", "inside", "sums with cosines"],
)
def test_a_kernel_without_features_is_refused(kernel, rng):
    posterior, _ = problem(kernel, rng)
    with pytest.raises(TypeError, match=r"posterior\.gp\.kernel must be made of RBF, Matern12, "):
        sample_paths(posterior, 1, rng=stream(1))


def test_an_odd_number_of_features_is_refused(rng):
    posterior, _ = problem(RBF(), rng)
    with pytest.raises(ValueError, match=r"features must be even, .*; got 7"):
        sample_paths(posterior, 1, num_features=7, rng=stream(1))


def test_a_mean_without_a_pullback_has_values_but_no_gradient(rng):
    gp = GP(RBF(), 0.1, mean=lambda x: x[:, 0])
    posterior = condition(gp, rng.standard_normal((4, 2)), rng.standard_normal(4))
    paths = sample_paths(posterior, 1, rng=stream(1))
    assert paths(np.zeros((2, 2))).shape == (1, 2)
    with pytest.raises(TypeError, match=r"gp\.mean must be a mean function with a pullback"):
        paths.values_and_pullback(np.zeros((2, 2)))


def test_derivatives_that_do_not_fit_are_refused(rng):
    posterior, Xs = problem(RBF(), rng)
    pull = sample_paths(posterior, 3, rng=stream(1)).values_and_pullback(Xs)[1]
    with pytest.raises(ValueError, match=r"values_bar must have shape \(3, 5\); got \(5,\)"):
        pull(np.ones(5))


def test_paths_that_have_no_room_are_refused_before_they_are_drawn(rng):
    posterior, _ = problem(RBF(), rng)
    with pytest.raises(MemoryError, match="num_samples must be smaller: 1000000000000"):
        sample_paths(posterior, 10**12, rng=stream(1))
    with pytest.raises(ValueError, match="num_samples must be a whole number from 1; got 0"):
        sample_paths(posterior, 0, rng=stream(1))


def induced(kind, kernel, rng, asarray=np.asarray):
    """A posterior of five inducing points given forty data, and places to ask."""
    X, Z = rng.uniform(-1.5, 1.5, (40, 2)), rng.uniform(-1.5, 1.5, (5, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1]
    Xs = rng.uniform(-2.0, 2.0, (5, 2))
    mean, (X, Z, Xs) = ConstantMean(0.3), (asarray(a) for a in (X, Z, Xs))
    if kind == "variational":
        model = svgp.SVGP(GP(kernel, 0.0, mean), Bernoulli(), Z)
        return condition(model, X, asarray(np.sign(y))), Xs
    return condition(SparseGP(GP(kernel, 0.2, mean), Z, kind), X, asarray(y)), Xs


@pytest.mark.parametrize("kind", ["variational", "vfe", "fitc"])
@pytest.mark.parametrize(
    "kernel",
    [Linear(0.7) + Constant(1.4), RBF(1.3, LENGTHS)],
    ids=repr,
)
def test_paths_of_inducing_points_have_the_moments_of_their_posterior(kind, kernel, rng):
    """With two thousand features within five standard errors and what features are off by."""
    kernel = kernel + RBF(0.4, 0.9)  # so that five values of f have a covariance of full rank
    posterior, Xs = induced(kind, kernel, rng)
    paths = sample_paths(posterior, N, num_features=2048, rng=stream(1))
    values = paths(Xs)
    covariance = posterior.covariance(Xs)
    of_mean, _ = deviations(values, posterior.mean(Xs), covariance)
    assert np.max(of_mean) < 5.0
    spread = 5.0 * np.sqrt(2.0 / N) * np.max(np.diag(covariance))
    slack = 5.0 * np.max(np.diag(kernel(Xs))) / np.sqrt(2048)
    np.testing.assert_allclose(np.cov(values.T), covariance, atol=spread + slack)


@pytest.mark.parametrize("kind", ["vfe", "variational"])
def test_paths_of_inducing_points_vary_there_as_their_posterior_does(kind, rng):
    """At Z the update has the last word: no error of features, none by five standard errors."""
    posterior, _ = induced(kind, RBF(1.3, LENGTHS), rng)
    paths = sample_paths(posterior, N, num_features=64, rng=stream(1))
    Z = paths.inputs
    checks = deviations(paths(Z), posterior.mean(Z), posterior.covariance(Z))
    assert np.max(checks[0]) < 5.0
    assert np.max(checks[1]) < 5.0


@pytest.mark.parametrize("kind", ["vfe", "variational"])
def test_paths_of_coinciding_points_keep_their_variance(kind, rng):
    """K_uu then takes jitter, which counts as noise of u."""
    X = rng.uniform(-1.5, 1.5, (40, 1))
    Z = np.asarray([[0.0], [0.0], [1.0]])
    y = np.sin(X[:, 0])
    make = {
        "vfe": lambda: condition(SparseGP(GP(RBF(), 0.2), Z), X, y),
        "variational": lambda: condition(svgp.SVGP(GP(RBF(), 0.0), Bernoulli(), Z), X, np.sign(y)),
    }[kind]
    with pytest.warns(JitterWarning, match="is not positive definite"):
        posterior = make()
    at = np.asarray([[0.0], [1.0]])
    values = sample_paths(posterior, N, rng=stream(1))(at)
    checks = deviations(values, posterior.mean(at), posterior.covariance(at))
    assert max(np.max(check) for check in checks) < 5.0


@pytest.mark.parametrize("kind", ["vfe", "variational"])
def test_paths_in_single_precision_vary_as_their_posterior_does(kind, rng):
    """Values of so smooth an f at Z determine each other: K_uu⁻¹ makes much of any rounding."""
    X = rng.uniform(0.0, 6.0, (100, 2)).astype(np.float32)
    y = np.sin(X[:, 0])
    gp = GP(RBF(1.0, np.full(2, 6.0, np.float32)), 0.01)
    of_one = svgp.SVGP(replace(gp, noise_var=0.0), Gaussian(0.01), 40)
    posterior = condition(SparseGP(gp, 40) if kind == "vfe" else of_one, X, y)
    at = X[:5] + np.float32(0.1)
    paths = sample_paths(posterior, 1000, rng=stream(1))
    values, pull = paths.values_and_pullback(at)
    assert values.dtype == pull(values).dtype == np.float32
    mean, variance = posterior.predict(at)
    np.testing.assert_allclose(values.mean(axis=0), mean, rtol=0.0, atol=0.01)
    np.testing.assert_allclose(values.var(axis=0), variance, rtol=0.3)


@pytest.mark.parametrize("kind", ["vfe", "variational"])
def test_paths_of_inducing_points_are_functions_in_every_namespace(kind, space, rng):
    posterior, Xs = induced(kind, RBF(1.3, 0.8), rng, space.asarray)
    paths = sample_paths(posterior, 3, num_features=32, rng=stream(1))
    values = paths(Xs)
    assert space.holds(values)
    np.testing.assert_array_equal(to_numpy(values), to_numpy(paths(Xs)))


def test_the_gradient_of_paths_of_inducing_points_agrees_with_differences(rng):
    posterior, Xs = induced("vfe", RBF(1.3, LENGTHS), rng)
    paths = sample_paths(posterior, 2, num_features=32, rng=stream(1))
    gradcheck(paths, lambda X, bar: (paths.values_and_pullback(X)[1](bar),), Xs)


def test_posteriors_without_such_paths_are_refused(rng):
    posterior, _ = induced("sor", RBF(), rng)
    with pytest.raises(ValueError, match="posterior must be of a method that leaves f free"):
        sample_paths(posterior, 1, rng=stream(1))
    Z, X = rng.normal(size=(3, 2)), rng.normal(size=(9, 2))
    weighted = interdomain.WeightedPoints(Z, np.eye(3))
    other = condition(SparseGP(GP(RBF(), 0.1), weighted), X, X[:, 0])
    with pytest.raises(TypeError, match="posterior must be one of inducing points"):
        sample_paths(other, 1, rng=stream(1))
    with pytest.raises(TypeError, match="posterior must be an ExactPosterior, a Sparse"):
        sample_paths(None, 1, rng=stream(1))
