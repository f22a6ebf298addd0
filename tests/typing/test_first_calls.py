"""First calls as a user types them: they run, and pyright, which an editor asks, accepts them.

``make types`` has pyright read this file; `assert_type` is for it alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
import pandas as pd

import gpnotes
from gpnotes import (
    EPGP,
    GP,
    RBF,
    ExactPosterior,
    GPRegressor,
    SparseGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    minimise,
    plot,
)
from gpnotes.assess.scores import mean_squared_error
from gpnotes.infer.laplace import EPPosterior
from gpnotes.infer.sparse import SparsePosterior

if TYPE_CHECKING:
    import polars as pl

    from gpnotes import (
        SVGP,
        BayesianLinear,
        DeepGP,
        FeatureGP,
        HeteroscedasticGP,
        LaplaceGP,
        SoftmaxGP,
        StateSpaceGP,
    )
    from gpnotes.infer.deep import DeepPosterior
    from gpnotes.infer.features import FeaturePosterior
    from gpnotes.infer.fitting import Fit
    from gpnotes.infer.heteroscedastic import HeteroscedasticPosterior
    from gpnotes.infer.laplace import LaplacePosterior, SoftmaxPosterior
    from gpnotes.infer.linear import WeightPosterior
    from gpnotes.infer.state_space import StateSpacePosterior
    from gpnotes.infer.svgp import Minibatches
    from gpnotes.infer.svgp.posterior import Variational

X = np.linspace(0.0, 3.0, 8)[:, None]
y = np.sin(X[:, 0])
ROWS, READINGS = [[0.0], [1.0], [2.5]], [0.0, 1.0, 0.5]
FRAME = pd.DataFrame({"day": [0.0, 1.0, 2.5], "mm": READINGS})


def test_an_array_of_numpy_is_an_array_and_what_comes_back_completes_as_one():
    posterior = condition(GP(RBF(lengthscale=np.ones(1)), 0.1), X, y)
    mean, variance = posterior.predict(X, noise=True)
    assert_type(mean, np.ndarray[tuple[Any, ...], np.dtype[Any]])
    assert mean.max() < 1.0 < (mean + 2.0 * np.sqrt(variance)).max().round(1)


def test_lists_and_frames_are_data():
    by_lists = fit(GP(RBF(), 0.1), ROWS, READINGS, max_steps=5)
    by_frames = fit(GP(RBF(), 0.1), FRAME[["day"]], FRAME["mm"], max_steps=5)
    assert by_lists.log_evidence == by_frames.log_evidence
    posterior = condition(by_lists.model, ROWS, READINGS)
    assert np.array_equal(posterior.mean(ROWS), posterior.mean(FRAME[["day"]]))
    assert mean_squared_error(FRAME["mm"], posterior.mean(ROWS)) < 1.0


def test_whatever_is_conditioned_completes_as_what_it_is():
    gp = GP(RBF(), 0.1)
    assert_type(condition(gp, ROWS, READINGS), ExactPosterior)
    assert_type(condition(SparseGP(gp, X[::3]), FRAME[["day"]], FRAME["mm"]), SparsePosterior)
    labels = EPGP(GP(RBF(), 0.0))
    assert_type(condition(labels, ROWS, [1.0, -1.0, 1.0]), EPPosterior)
    assert_type(fit(labels, ROWS, [1.0, -1.0, 1.0]).posterior, EPPosterior)
    value, gradient = log_evidence_and_gradient(gp, ROWS, READINGS)
    assert_type(gradient, GP)
    assert value == log_evidence(gp, X=ROWS, y=READINGS)


def by_type(
    deep: DeepGP, features: FeatureGP, labels: LaplaceGP, line: StateSpaceGP,
    linear: BayesianLinear, noisy: HeteroscedasticGP, softmax: SoftmaxGP, variational: SVGP,
) -> None:  # fmt: skip
    assert_type(fit(deep, X, y), Fit[DeepGP, DeepPosterior])
    assert_type(condition(features, X, y), FeaturePosterior)
    assert_type(fit(labels, X, y), Fit[LaplaceGP, LaplacePosterior])
    assert_type(condition(line, X, y), StateSpacePosterior)
    assert_type(fit(linear, X, y), Fit[BayesianLinear, WeightPosterior])
    assert_type(condition(noisy, X, y), HeteroscedasticPosterior)
    assert_type(fit(softmax, X, y), Fit[SoftmaxGP, SoftmaxPosterior])
    assert_type(fit(variational, X, y, minibatches=Minibatches(8)), Fit[SVGP, Variational])


def of_polars(table: pl.DataFrame) -> GP:
    return fit(GP(RBF(), 0.1), table.select("day"), table["mm"]).model


def test_a_fit_has_the_class_of_its_model():
    found = fit(SparseGP(GP(RBF(), 0.1), inducing=3), X, y, max_steps=2)
    assert_type(found.model, SparseGP)
    assert_type(found.posterior, SparsePosterior)
    assert_type(fit(GP(RBF(), 0.1), X, y, max_steps=2, rng=1).posterior, ExactPosterior)
    assert found.model.gp.noise_var > 0.0
    assert found.model.gp.kernel.lengthscale > 0.0


def test_wings_and_estimators_are_there():
    model = GPRegressor().fit(X, y)
    mean, sd = model.predict(ROWS, return_std=True)
    assert_type(model.predict(ROWS), np.ndarray[tuple[Any, ...], np.dtype[Any]])
    _, covariance = model.predict(FRAME[["day"]].to_numpy(), return_cov=True, noise=False)
    assert covariance.shape == (3, 3)
    assert sd.min() > 0.0
    _, ax = gpnotes.plot.figure()
    plot.band(ax, [0.0, 1.0, 2.5], mean, sd)
    plot.points(ax, FRAME["day"], FRAME["mm"])


def test_a_search_completes(tmp_path: Path):
    found = minimise(lambda x: float(x[0] ** 2), [(-1.0, 1.0)], budget=3, rng=0)
    assert_type(found.best_so_far(), np.ndarray[tuple[Any, ...], np.dtype[Any]])
    assert found.best.y <= found.best_so_far()[0]
    assert abs(found.best.x[0]) <= abs(found.recommended.x[0]) + 1.0
