"""The parts of a fitted estimator, and checks that values read from a file are such parts.

A constructor of the package refuses wrong values, but results, which no user makes by hand, have
none that checks: a file could hold a posterior of arrays that do not go together, and be found out
by its predictions alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.linalg import Cholesky
from ..ground.xp import Matrix, diagonal, to_numpy
from ..infer.exact import ExactPosterior
from ..infer.fitting import Run
from ..infer.interdomain import InducingPoints
from ..infer.laplace import (
    EPGP,
    EPPosterior,
    LaplaceGP,
    LaplacePosterior,
    SoftmaxGP,
    SoftmaxPosterior,
)
from ..infer.laplace.softmax import Curvature
from ..infer.run import M
from ..infer.sparse import SparseGP, SparsePosterior
from ..infer.sparse.projection import Inducing
from ..infer.svgp import SVGP, ClassesPosterior, VariationalPosterior
from ..infer.svgp.multiclass import Whitened
from ..model.basis import Trend
from ..model.gaussian_process import GP, validate_data
from ..model.likelihoods import Bernoulli, Categorical
from ..model.likelihoods.multiclass import require_classes
from ..model.means import BasisMean
from ..model.normal import Normal

__all__ = ["FITTED", "validate_fitted"]

FITTED = ("posterior_", "runs_", "n_features_in_", "feature_names_in_")
_MODELS: dict[type, type] = {
    ExactPosterior: GP, SparsePosterior: SparseGP, LaplacePosterior: LaplaceGP,
    EPPosterior: EPGP, SoftmaxPosterior: SoftmaxGP, VariationalPosterior: SVGP,
    ClassesPosterior: SVGP,
}  # fmt: skip


def validate_fitted(values: Mapping[str, Any], posteriors: tuple[type, ...]) -> None:
    """Refuse values, by the names of `FITTED`, that a fit cannot have set, or of unfit shapes.

    The posterior must be of one of the classes that the fit can end with.
    """
    if values.keys() != set(FITTED):
        raise ValueError(f"a fit sets {sorted(FITTED)}, not {sorted(values)}")
    posterior = values["posterior_"]
    if type(posterior) not in posteriors:
        wanted = " or ".join(kind.__name__ for kind in posteriors)
        raise TypeError(f"posterior_ must be a {wanted}; got {_check.kind_of(posterior)}")
    d = _columns(posterior)
    runs = _tuple(values["runs_"], "runs_")
    for run in runs:
        _run(_check.instance(run, "runs_", Run), _MODELS[type(posterior)])
    _check.whole(values["n_features_in_"], "n_features_in_", d, d)
    names = _tuple(values["feature_names_in_"], "feature_names_in_")
    if len(names) not in (0, d) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names_in_ must be {d} strings, or none; got {names}")


@singledispatch
def _columns(posterior: object) -> int:
    """Return the number of columns of X of a posterior, once all its parts agree."""
    raise TypeError(f"posterior_ must be an estimator's own; got {_check.kind_of(posterior)}")


@_columns.register
def _(posterior: ExactPosterior) -> int:
    X = _double(posterior.X, "X")
    validate_data(posterior.gp, X, posterior.y, learns=True)
    n, d = X.shape
    _vectors(posterior, X, "residual", "alpha")
    _factor(posterior.cholesky, "cholesky", n, X)
    if isinstance(posterior.gp.mean, BasisMean):
        _trend(posterior.trend, posterior)
    elif posterior.trend is not None:
        raise ValueError(f"trend must be None without a BasisMean; got {posterior.trend!r}")
    return d


@_columns.register
def _(posterior: SparsePosterior) -> int:
    Z = _double(posterior.Z, "Z")
    gp = _check.instance(posterior.gp, "gp", GP)
    gp.kernel.validate_inputs(Z, "Z")
    inducing = _check.instance(posterior.inducing, "inducing", Inducing)
    for variables in (inducing.variables, inducing.given):
        same = _check.instance(variables, "inducing.variables", InducingPoints).inputs
        if not np.array_equal(to_numpy(same), to_numpy(Z)):
            raise ValueError("inducing.variables must be the values at Z; they are others")
    if inducing.kernel != gp.kernel:
        raise ValueError(f"inducing.kernel must be {gp.kernel!r}; got {inducing.kernel!r}")
    m = Z.shape[0]
    _factor(inducing.factor, "inducing.factor", m, Z)
    _factor(posterior.cholesky, "cholesky", m, Z)
    _check.alike(_check.vector(posterior.weight_mean, "weight_mean", size=m), "weight_mean", Z, "Z")
    _check.number(posterior.log_evidence, "log_evidence")
    _check.flag(posterior.degenerate, "degenerate")
    return Z.shape[1]


@_columns.register
def _(posterior: LaplacePosterior) -> int:
    X = _of_labels(posterior)
    _vectors(posterior, X, "mode", "third")
    _check.whole(posterior.steps, "steps")
    for name in ("bent", "offset"):  # of labels there are none
        if getattr(posterior, name) is not None:
            raise ValueError(f"{name} must be None; got {_check.kind_of(getattr(posterior, name))}")
    return X.shape[1]


@_columns.register
def _(posterior: EPPosterior) -> int:
    X = _of_labels(posterior)
    _check.number(posterior.log_evidence, "log_evidence")
    _check.whole(posterior.sweeps, "sweeps")
    return X.shape[1]


def _of_labels(posterior: LaplacePosterior | EPPosterior) -> Matrix:
    """X of a posterior of labels, whose sites and factor are looked at."""
    X = _double(posterior.X, "X")
    validate_data(posterior.gp, X, posterior.y)
    label = _check.instance(posterior.likelihood, "likelihood", Bernoulli)
    label.log_density(posterior.y, posterior.y)  # which says what are no labels
    _vectors(posterior, X, "gradient", "sqrt_W")
    _factor(posterior.cholesky, "cholesky", X.shape[0], X)
    return X


@_columns.register
def _(posterior: SoftmaxPosterior) -> int:
    X = _double(posterior.X, "X")
    n, c = X.shape[0], _check.whole(posterior.classes, "classes", 2)
    validate_data(posterior.gp, X, posterior.y)
    require_classes(posterior.y, c)
    curvature = _check.instance(posterior.curvature, "curvature", Curvature)
    _check.positive(curvature.share, "curvature.share", zero=True)
    for name, a in (("mode", posterior.mode), ("gradient", posterior.gradient),
                    ("curvature.share", curvature.share)):  # fmt: skip
        _check.alike(_check.matrix(a, name, rows=n, columns=c), name, X, "X")
    own = _tuple(curvature.own, "curvature.own")
    if len(own) != c:
        raise ValueError(f"curvature.own must have a factor for each class; got {len(own)}")
    for factor in (*own, curvature.common):
        _factor(factor, "a factor of the curvature", n, X)
    _check.whole(posterior.steps, "steps")
    return X.shape[1]


@_columns.register
def _(posterior: VariationalPosterior) -> int:
    d = _variational(posterior)
    _check.instance(posterior.model.likelihood, "likelihood", Bernoulli)
    _q(posterior, posterior.inducing.size)
    return d


@_columns.register
def _(posterior: ClassesPosterior) -> int:
    d = _variational(posterior)
    likelihood: Any = posterior.model.likelihood
    c = _check.instance(likelihood, "likelihood", Categorical).classes
    if len(_tuple(posterior.whitened, "whitened")) != c:
        raise ValueError(f"whitened must be {c} Gaussians; got {len(posterior.whitened)}")
    for own in posterior.whitened:
        _q(_check.instance(own, "whitened", Whitened), posterior.inducing.size)
    return d


def _variational(posterior: VariationalPosterior | ClassesPosterior) -> int:
    """The columns of the inducing points, whose factor is looked at."""
    model = _check.instance(posterior.model, "model", SVGP)
    Z = _double(model.inducing, "Z")
    model.gp.kernel.validate_inputs(Z, "Z")
    _factor(posterior.inducing, "inducing", Z.shape[0], Z)
    _check.whole(posterior.steps, "steps")
    return Z.shape[1]


def _q(q: VariationalPosterior | Whitened, m: int) -> None:
    """Refuse a Gaussian of m whitened values whose parts do not go together."""
    precision = _check.matrix(q.precision, "precision", rows=m, columns=m)
    _factor(q.cholesky, "cholesky", m, precision)
    _check.alike(_check.vector(q.weights, "weights", size=m), "weights", precision, "precision")


def _vectors(posterior: object, X: Matrix, *names: str) -> None:
    for name in names:
        vector = _check.vector(getattr(posterior, name), name, size=X.shape[0])
        _check.alike(vector, name, X, "X")


def _factor(factor: Cholesky, name: str, n: int, like: Matrix) -> None:
    lower = _check.instance(factor, name, Cholesky).lower
    _check.matrix(lower, f"{name}.lower", rows=n, columns=n)
    _check.alike(lower, f"{name}.lower", like, "X")
    _check.positive(diagonal(lower), f"the diagonal of {name}.lower")
    _check.positive(_check.number(factor.jitter, f"{name}.jitter"), f"{name}.jitter", zero=True)


def _trend(trend: Any, posterior: ExactPosterior) -> None:
    """Refuse a trend that is not of this mean, with weights for its columns."""
    _check.instance(trend, "trend", Trend)
    mean = _check.instance(trend.mean, "trend.mean", BasisMean)
    n, p = mean.columns(posterior.X).shape
    weights = _check.instance(trend.weights, "trend.weights", Normal)
    _check.vector(weights.mean, "trend.weights.mean", size=p)
    _check.matrix(trend.solved, "trend.solved", rows=n, columns=p)
    for array, name in ((weights.mean, "trend.weights"), (trend.solved, "trend.solved")):
        _check.alike(array, name, posterior.X, "X")
    if trend.origin is not None:
        _check.vector(trend.origin, "trend.origin", size=posterior.X.shape[1])
        _check.alike(trend.origin, "trend.origin", posterior.X, "X")
    for name in ("surcharge", "degrees_of_freedom", "rounding"):
        _check.finite(_check.number(getattr(trend, name), f"trend.{name}"), f"trend.{name}")


def _run(run: Run[M], model: type) -> None:
    _check.instance(run.model, "runs_.model", model)
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


def _tuple(value: object, name: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{name} must be a tuple; got {_check.kind_of(value)}")
    return value


def _double(a: Any, name: str) -> Matrix:
    if getattr(a, "dtype", None) != np.float64:
        raise TypeError(f"{name} must be an array of float64; got {_check.kind_of(a)}")
    return a
