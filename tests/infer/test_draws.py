"""Draws of all posteriors have the moments that are predicted, to rounding: they are linear maps.

Known noise, the order of the readings and the part of a sum count in draws as in predictions.
"""

from __future__ import annotations

import numpy as np
import pytest
from maps_of_draws import check_two_draws

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Bernoulli,
    Constant,
    ConstantMean,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Linear,
    Matern12,
    Normal,
    Poisson,
    SparseGP,
    StateSpaceGP,
    White,
    condition,
    prior,
)
from gpnotes.draw.paths import sample_paths
from gpnotes.infer.features import FeatureGP, draw_frequencies
from gpnotes.infer.laplace import EPGP
from gpnotes.infer.linear import BayesianLinear
from gpnotes.model.means import BasisMean, Powers

DRAW = np.random.default_rng(3)
X = DRAW.permutation(np.linspace(0.0, 5.0, 7))[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.3
KNOWN = {"noise_var": DRAW.uniform(0.0, 0.5, 7), "weights": DRAW.uniform(0.5, 4.0, 7)}
XS = np.asarray([[1.0], [6.5], [-0.7]])
NEW = {"noise_var": np.asarray([0.1, 0.0, 0.7]), "weights": np.asarray([2.0, 1.0, 0.5])}
NOISES = {"f": {}, "y": {"noise": True}, "y of known noise": {"noise": True, **NEW}}
MEAN, ZERO = ConstantMean(0.3), GP(RBF(1.3, 0.9), 0.0)
FLAT, WIDE = GP(RBF(1.3, 0.9), 0.1, MEAN), Normal(np.ones(2), np.eye(2))
SUM = GP(Matern12(0.8, 0.7) + White(0.4), 0.1, MEAN)
NORMAL = {
    "exact": (FLAT, KNOWN), "vague mean": (GP(RBF(1.3, 0.9), 0.1, BasisMean(Powers(1))), KNOWN),
    "mean": (GP(RBF(1.3, 0.9), 0.1, BasisMean(Powers(1), WIDE)), KNOWN),
    "sparse": (SparseGP(FLAT, X[::2]), KNOWN), "fitc": (SparseGP(FLAT, X[::2], "fitc"), {}),
    "degenerate": (SparseGP(FLAT, X[::2], "sor"), {}),
    "bound": (SVGP(GP(RBF(1.3, 0.9), 0.0, MEAN), Gaussian(0.1), X[::2]), KNOWN),
    "features": (FeatureGP(FLAT, draw_frequencies(RBF(1.3, 0.9), X, 8, rng=1)), KNOWN),
}  # fmt: skip
OTHER = {
    "labels": (LaplaceGP(ZERO, Bernoulli()), np.sign(Y), {}),
    "sites": (EPGP(ZERO), np.sign(Y), {}),
    "counts": (LaplaceGP(ZERO, Poisson()), np.round(np.exp(Y)), {"offset": np.cos(X[:, 0])}),
    "counts by points": (SVGP(ZERO, Poisson(), X[::2]), np.round(np.exp(Y)), {}),
    "noise that varies": (HeteroscedasticGP(FLAT, RBF(0.5, 2.0)), Y, {}),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", NORMAL)
def test_draws_are_as_wide_as_is_predicted(name, noise):
    """The moments of functions, of new y, and of new y whose noise is known."""
    model, known = NORMAL[name]
    posterior = condition(model, X, Y, **known)
    for Xs in (XS, XS[:1]):  # more draws than inputs go another way
        new = {key: one if one is True else one[: len(Xs)] for key, one in NOISES[noise].items()}
        covariance = posterior.covariance(Xs, **new)
        mean = posterior.mean(Xs)
        check_two_draws(
            lambda s, Xs=Xs, new=new: posterior.sample(Xs, 2, rng=s, **new), mean, covariance
        )


@pytest.mark.parametrize("name", OTHER)
def test_functions_behind_labels_and_counts_are_as_wide_as_is_predicted(name):
    model, y, known = OTHER[name]
    posterior = condition(model, X, y, **known)
    mean, covariance = posterior.mean(XS), posterior.covariance(XS)
    check_two_draws(lambda s: posterior.sample(XS, 2, rng=s), mean, covariance)


def test_priors_parts_and_weights_are_as_wide_as_is_predicted():
    known = prior(FLAT, XS)
    check_two_draws(lambda s: known.sample(2, rng=s), known.mean, known.covariance)
    for model in (SUM, StateSpaceGP(SUM)):
        one = condition(model, X, Y, **KNOWN).part(1, "mean")
        check_two_draws(
            lambda s, one=one: one.sample(XS, 2, rng=s), one.mean(XS), one.covariance(XS)
        )
    Phi, Phis = (np.concatenate([np.ones_like(x), x], axis=1) for x in (X, XS))
    found = condition(BayesianLinear(np.diag([2.0, 0.5]), 0.2), Phi, Y, **KNOWN)
    for noise in (False, True):
        covariance = found.covariance(Phis, noise=noise)
        check_two_draws(
            lambda s, n=noise: found.sample(Phis, 2, rng=s, noise=n), found.mean(Phis), covariance
        )


@pytest.mark.parametrize(
    "model",
    [
        GP(Linear(0.8) + 0.7 * Constant(0.5), 0.1, MEAN),
        SparseGP(GP(Linear(0.8) + 0.7 * Constant(0.5), 0.1, MEAN), X[:2]),
        SVGP(GP(Linear(0.8) + 0.7 * Constant(0.5), 0.0, MEAN), Gaussian(0.1), X[:2]),
    ],
    ids=["exact", "sparse", "bound"],
)
def test_paths_are_as_wide_as_is_predicted(model):
    """Of kernels whose features are exact: of cosines there would have to be no end."""
    posterior = condition(model, X, Y, **KNOWN)
    mean, covariance = posterior.mean(XS), posterior.covariance(XS)
    check_two_draws(lambda s: sample_paths(posterior, 2, rng=s)(XS), mean, covariance, 1e-6)
