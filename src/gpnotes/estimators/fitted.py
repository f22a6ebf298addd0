"""The parts of a fitted estimator, and checks that values read from a file are such parts.

A constructor of the package refuses wrong values, but results, which nobody makes by hand, have
none that looks: a file could hold a posterior of arrays that do not go together, and be found out
by its predictions alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.linalg import Cholesky
from ..ground.xp import diagonal
from ..infer.exact import Posterior
from ..infer.fitting import Run
from ..model.basis import Trend
from ..model.gaussian import Normal
from ..model.means import BasisMean
from ..model.process import GP, validate_data

__all__ = ["FITTED", "validate_fitted"]

FITTED = ("posterior_", "runs_", "n_features_in_", "feature_names_in_")


def validate_fitted(values: Mapping[str, Any]) -> None:
    """Refuse values that are not what a fit sets, all of it in shape.

    Parameters
    ----------
    values : mapping of str
        The values by the names of `FITTED`.

    Raises
    ------
    ValueError
        If shapes do not match, or numbers are out of range.
    TypeError
        If a value is of another kind than a fit sets.
    """
    posterior = _check.instance(values["posterior_"], "posterior_", Posterior)
    d = _posterior(posterior)
    runs = _tuple(values["runs_"], "runs_")
    for run in runs:
        _run(_check.instance(run, "runs_", Run))
    _check.whole(values["n_features_in_"], "n_features_in_", d, d)
    names = _tuple(values["feature_names_in_"], "feature_names_in_")
    if len(names) not in (0, d) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names_in_ must be {d} strings, or none; got {names}")


def _posterior(posterior: Posterior) -> int:
    """The number of columns of X."""
    _double(posterior.X, "X")
    validate_data(posterior.gp, posterior.X, posterior.y, learns=True)
    n, d = posterior.X.shape
    for name in ("residual", "alpha"):
        vector = _check.vector(getattr(posterior, name), name, size=n)
        _check.alike(vector, name, posterior.X, "X")
    factor = _check.instance(posterior.cholesky, "cholesky", Cholesky)
    _check.matrix(factor.lower, "cholesky.lower", rows=n, columns=n)
    _check.alike(factor.lower, "cholesky.lower", posterior.X, "X")
    _check.positive(diagonal(factor.lower), "the diagonal of cholesky.lower")
    _check.positive(_check.number(factor.jitter, "cholesky.jitter"), "cholesky.jitter", zero=True)
    if isinstance(posterior.gp.mean, BasisMean):
        _trend(posterior.trend, posterior)
    elif posterior.trend is not None:
        raise ValueError(f"trend must be None without a BasisMean; got {posterior.trend!r}")
    return d


def _trend(trend: Any, posterior: Posterior) -> None:
    """Refuse a trend that is not of this mean, with weights for its columns."""
    _check.instance(trend, "trend", Trend)
    mean = _check.instance(trend.mean, "trend.mean", BasisMean)
    n, p = mean.columns(posterior.X).shape
    weights = _check.instance(trend.weights, "trend.weights", Normal)
    _check.vector(weights.mean, "trend.weights.mean", size=p)
    _check.matrix(trend.solved, "trend.solved", rows=n, columns=p)
    for array, name in ((weights.mean, "trend.weights"), (trend.solved, "trend.solved")):
        _check.alike(array, name, posterior.X, "X")
    for name in ("surcharge", "degrees_of_freedom"):
        _check.finite(_check.number(getattr(trend, name), f"trend.{name}"), f"trend.{name}")


def _run(run: Run[GP]) -> None:
    _check.instance(run.model, "runs_.model", GP)
    for name in ("log_evidence", "log_prior"):  # minus infinity where a start had none
        if math.isnan(_check.number(getattr(run, name), f"runs_.{name}")):
            raise ValueError(f"runs_.{name} must be a number; got NaN")
    _check.whole(run.evaluations, "runs_.evaluations")
    _check.flag(run.converged, "runs_.converged")
    texts = (run.message, *_tuple(run.at_bounds, "runs_.at_bounds"))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"runs_.message and runs_.at_bounds must be strings; got {texts}")
    for value in _tuple(run.trace, "runs_.trace"):
        _check.number(value, "runs_.trace")


def _tuple(value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{name} must be a tuple; got {_check.kind_of(value)}")
    return value


def _double(a: Any, name: str) -> None:
    if getattr(a, "dtype", None) != np.float64:
        raise TypeError(f"{name} must be an array of float64; got {_check.kind_of(a)}")
