"""The posterior of a part of a sum, against conditioning all parts and y at once."""

from __future__ import annotations

import numpy as np
import pytest

import gpnotes as g
from gpnotes import condition, named
from gpnotes.ground.xp import to_numpy
from gpnotes.infer import features, laplace, sparse, svgp
from gpnotes.model.means import BasisMean, ConstantMean, Powers

TREND, SEASON = g.RBF(2.0, 3.0), g.Periodic(0.7, 1.3, 1.5)
KERNEL = named(trend=TREND, season=SEASON) + g.Linear(0.2)
PARTS = ("trend", "season", 2)
NOISE, LEVEL = 0.3, 1.7
BASIS = BasisMean(Powers(1), g.Normal(np.asarray([1.0, 0.3]), np.diag([0.8, 0.5])))


@pytest.fixture
def data(space, rng):
    X, Xs = (rng.uniform(0.0, 4.0, (n, 1)) for n in (9, 5))
    return tuple(map(space.asarray, (X, np.sin(3.0 * X[:, 0]) + X[:, 0], Xs)))


def dense(parts, X, y, Xs, mean=None):
    """Mean and covariance of each part (m,) at Xs given y, from one joint normal, with NumPy."""
    X, y, Xs = map(to_numpy, (X, y, Xs))
    grams = [(k(X), k(X, Xs), k(Xs)) for k in parts]
    K_y = sum(K for K, _, _ in grams) + NOISE * np.eye(len(y))
    for_mean = np.zeros(len(Xs))
    residual = y
    if isinstance(mean, BasisMean):  # h(x)ᵀβ is a part as well, with its prior covariance
        H, Hs = mean.columns(X), mean.columns(Xs)
        B = mean.weights.covariance
        residual, for_mean = y - H @ mean.weights.mean, Hs @ mean.weights.mean
        K_y = K_y + H @ B @ H.T
        grams.append((None, H @ B @ Hs.T, Hs @ B @ Hs.T))
    elif mean is not None:
        residual, for_mean = y - LEVEL, for_mean + LEVEL
        grams.append((None, np.zeros((len(y), len(Xs))), np.zeros((len(Xs), len(Xs)))))
    solved = [np.linalg.solve(K_y, cross) for _, cross, _ in grams]
    pulls = [cross.T @ np.linalg.solve(K_y, residual) for _, cross, _ in grams]
    covariances = [K - cross.T @ s for (_, cross, K), s in zip(grams, solved, strict=True)]
    both = grams[0][1] + grams[1][1]
    joint = grams[0][2] + grams[1][2] - both.T @ np.linalg.solve(K_y, both)
    return pulls, covariances, for_mean, joint


@pytest.mark.parametrize("mean", [None, ConstantMean(LEVEL)])
def test_each_part_is_what_dense_algebra_says(space, data, mean):
    X, y, Xs = data
    gp = g.GP(KERNEL, NOISE) if mean is None else g.GP(KERNEL, NOISE, mean)
    posterior = condition(gp, X, y)
    pulls, covariances, _, joint = dense(KERNEL.parts, X, y, Xs, mean)
    tolerance = {"rtol": 1e-7, "atol": 1e-9} if space.double else {"rtol": 2e-3, "atol": 2e-3}
    for name, pull, covariance in zip(PARTS, pulls, covariances, strict=False):
        part = posterior.part(name)
        predicted, variance = part.predict(Xs)
        assert space.holds(predicted)
        assert space.holds(variance)
        np.testing.assert_allclose(to_numpy(predicted), pull, **tolerance)
        np.testing.assert_allclose(to_numpy(variance), np.diag(covariance), **tolerance)
        np.testing.assert_allclose(to_numpy(part.covariance(Xs)), covariance, **tolerance)
        np.testing.assert_allclose(to_numpy(part.mean(Xs)), pull, **tolerance)
    both = posterior.part("trend", "season")
    np.testing.assert_allclose(to_numpy(both.covariance(Xs)), joint, **tolerance)
    np.testing.assert_allclose(to_numpy(both.mean(Xs)), pulls[0] + pulls[1], **tolerance)


def test_a_mean_whose_weights_are_learnt_is_a_part(rng):
    X, Xs = (rng.uniform(0.0, 4.0, (n, 1)) for n in (9, 5))
    y = np.sin(3.0 * X[:, 0]) + X[:, 0]
    posterior = condition(g.GP(KERNEL, NOISE, BASIS), X, y)
    pulls, covariances, for_mean, _ = dense(KERNEL.parts, X, y, Xs, BASIS)
    pulls[-1] = pulls[-1] + for_mean
    for name, pull, covariance in zip((*PARTS, "mean"), pulls, covariances, strict=True):
        part = posterior.part(name)
        np.testing.assert_allclose(part.mean(Xs), pull, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(part.covariance(Xs), covariance, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(part.variance(Xs), np.diag(covariance), rtol=1e-6, atol=1e-9)


def _labels(y):
    return np.where(y > np.median(y), 1.0, -1.0)


LATENT = g.GP(KERNEL, 0.0, ConstantMean(0.4))
NOISY = g.GP(KERNEL, NOISE, ConstantMean(LEVEL))
X = np.linspace(0.0, 4.0, 12)[:, None]
Y = np.sin(3.0 * X[:, 0]) + X[:, 0]
MODELS = {
    "exact": (NOISY, Y),
    "basis": (g.GP(KERNEL, NOISE, BasisMean(Powers(1))), Y),
    "sparse": (sparse.SparseGP(NOISY, X[::3]), Y),
    "degenerate": (sparse.SparseGP(NOISY, X[::3], method="sor"), Y),
    "variational": (svgp.SVGP(LATENT, g.Gaussian(NOISE), X[::3]), Y),
    "labels": (laplace.LaplaceGP(LATENT), _labels(Y)),
    "labels by moments": (laplace.EPGP(LATENT), _labels(Y)),
}
XS = np.linspace(-0.3, 5.0, 8)[:, None]


@pytest.mark.parametrize("name", MODELS)
def test_all_parts_together_are_f(name):
    posterior = condition(*[MODELS[name][0], X, MODELS[name][1]])
    whole = posterior.part(*PARTS, "mean")
    np.testing.assert_allclose(whole.mean(XS), posterior.mean(XS), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(whole.variance(XS), posterior.variance(XS), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(whole.covariance(XS), posterior.covariance(XS), rtol=1e-7, atol=1e-8)
    added = sum(posterior.part(one).mean(XS) for one in (*PARTS, "mean"))
    np.testing.assert_allclose(added, posterior.mean(XS), rtol=1e-8, atol=1e-8)
    part = posterior.part("season")
    np.testing.assert_allclose(
        np.diag(part.covariance(XS)), part.variance(XS), rtol=1e-6, atol=1e-8
    )


def test_inducing_points_at_the_data_say_what_the_exact_posterior_says():
    exact = condition(NOISY, X, Y).part("season", "mean")
    through = condition(sparse.SparseGP(NOISY, X), X, Y).part("season", "mean")
    q = condition(svgp.SVGP(g.GP(KERNEL, 0.0, ConstantMean(LEVEL)), g.Gaussian(NOISE), X), X, Y)
    for other in (through, q.part("season", "mean")):
        for one, two in zip(exact.predict(XS), other.predict(XS), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


def test_draws_of_a_part_scatter_as_it_says():
    part = condition(NOISY, X, Y).part("trend")
    drawn = part.sample(XS, 4000, rng=3)
    mean, variance = part.predict(XS)
    assert np.abs(drawn.mean(axis=0) - mean).max() < 6.0 * np.sqrt(variance.max() / 4000)
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.2)


def test_the_names_of_parts_are_told():
    assert condition(NOISY, X, Y).part_names == PARTS
    assert condition(g.GP(TREND + SEASON, NOISE), X, Y).part_names == (0, 1)
    assert condition(g.GP(TREND, NOISE), X, Y).part_names == (0,)


def test_a_known_mean_alone_is_certain():
    part = condition(NOISY, X, Y).part("mean")
    np.testing.assert_array_equal(part.mean(XS), np.full(8, LEVEL))
    np.testing.assert_array_equal(part.variance(XS), np.zeros(8))
    np.testing.assert_array_equal(part.sample(XS, 2, rng=1), np.full((2, 8), LEVEL))


def test_a_kernel_that_is_no_sum_is_its_one_part():
    posterior = condition(g.GP(TREND, NOISE, ConstantMean(LEVEL)), X, Y)
    np.testing.assert_allclose(posterior.part(0).mean(XS) + LEVEL, posterior.mean(XS))


def test_a_part_matches_the_columns_of_a_frame_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[::-1, 0] ** 2})
    gp = g.GP(named(first=TREND.on(0), second=TREND.on(1)), NOISE)
    part = condition(gp, frame, Y).part("first")
    np.testing.assert_array_equal(part.mean(frame[["b", "a"]]), part.mean(frame))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.part(), ValueError, r"which must name at least one part, each once; got \(\)"),
        (lambda p: p.part("trend", 0), ValueError, "which must name at least one part, each once"),
        (lambda p: p.part("sea"), ValueError, "which must be among 'trend', 'season', 'mean', or"),
        (lambda p: p.part(3), ValueError, "which must be a whole number from 0 to 2; got 3"),
        (lambda p: p.part(0.5), TypeError, "which must be a whole number from 0 to 2; got 0.5"),
        (lambda p: p.part(0).predict(XS, noise=True), TypeError, "PartPosterior.predict: noise is"),
        (lambda p: p.part(0).log_density(XS, Y[:8]), TypeError, "PartPosterior.log_density: noise"),
        (lambda p: p.part(0).part(0), TypeError, "PartPosterior.part: it is a part already"),
        (lambda p: p.part(0).mean(np.ones((2, 2))), ValueError, r"Xs must have shape \(n, 1\)"),
    ],
)
def test_what_is_no_part_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(condition(NOISY, X, Y))


def test_a_model_that_is_not_taken_apart_says_so():
    frequencies = features.draw_frequencies(TREND, X, 12, rng=g.stream(1))
    posterior = condition(features.FeatureGP(g.GP(TREND, NOISE), frequencies), X, Y)
    with pytest.raises(TypeError, match=r"FeaturePosterior\.part: its model is not taken apart"):
        posterior.part(0)
