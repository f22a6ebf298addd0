"""Right calls of the ground floors: arrays, linear algebra, random numbers, normals."""

from __future__ import annotations

import numpy as np
import pandas as pd

import gpnotes
from gpnotes.ground import distances, linalg, params, quadrature, random
from gpnotes.model import normal, positive_priors, priors

from ..answers import call
from ..kinds import (
    Argument,
    covariance,
    entries,
    flag,
    function,
    matrix,
    name,
    number,
    one_of,
    positive,
    stream,
    thing,
    vector,
    whole,
    within,
)  # fmt: skip

_K = np.asarray([[2.0, 0.5, 0.3], [0.5, 1.5, 0.2], [0.3, 0.2, 1.0]])
_FACTOR = linalg.cholesky(_K)
_NORMAL = gpnotes.Normal.from_covariance(np.asarray([1.0, 2.0, 3.0]), _K)
_OTHER = gpnotes.Normal.from_covariance(np.asarray([0.0, 1.0, 1.5]), _K + np.eye(3))
_SMALL = gpnotes.Normal.from_covariance(np.asarray([0.0, 1.0]), _K[:2, :2])
_MEAN, _SD = number(0.0).but("a vector"), positive().but("a vector")  # one for each dimension
_STREAM = random.stream(2)
_JITTER = positive(1e-6).but("zero", "minus zero", **{"another word": "none"})


def _rule(n: int, size: int) -> Argument:
    return whole(size).but(**{"more than there are": n + 1})


_SHAPE = whole(3, 0).but("a list", **{"a negative pair": (2, -1), "a pair of words": ("a", "b")})
_LIKE = thing(np.ones(2), optional=True).but("an array", "a list")

_FRAME = pd.DataFrame({"origin": ["usa", "japan"], "tons": [1.8, 0.9]})
_TABLE = Argument(_FRAME, {"None": None, "an array": np.ones((2, 2)), "a list": [[1.0, 2.0]],
                           "a string": "origin", "a number": 1.0})  # fmt: skip

CALLS = (
    call("Levels.of", gpnotes.Levels.of, frame=_TABLE),
    call("Levels.codes", gpnotes.Levels.of(_FRAME).codes, frame=_TABLE.but(
         **{"another level": _FRAME.assign(origin="mars"), "no column": _FRAME[["tons"]]})),
    call("Levels.frame", gpnotes.Levels.of(_FRAME).frame, frame=_TABLE),
    call("cholesky", linalg.cholesky, K=covariance(_K, mates=False).but(
         "an asymmetric matrix"), jitter=_JITTER),
    call("Cholesky.solve", _FACTOR.solve, b=matrix(np.ones((3, 2)), rows=True).but("a vector")),
    call("Cholesky.half_solve", _FACTOR.half_solve,
         b=matrix(np.ones((3, 2)), rows=True).but("a vector")),
    call("Cholesky.half_solve_t", _FACTOR.half_solve_t,
         b=matrix(np.ones((3, 2)), rows=True).but("a vector")),
    call("Cholesky.extend", _FACTOR.extend,
         cross=matrix(0.1 * np.ones((3, 2)), rows=True, columns=True),
         block=covariance(_K[:2, :2]).but("an asymmetric matrix", "a negative matrix")),
    call("squared_distances", distances.squared_distances, u=matrix(np.ones((3, 2)), columns=True),
         v=matrix(np.ones((4, 2)), columns=True).but("None")),
    call("squared_distances_pullback", distances.squared_distances_pullback,
         u=matrix(np.ones((3, 2)), columns=True),
         v=matrix(np.ones((4, 2)), columns=True).but("None"),
         q_bar=matrix(np.ones((3, 4)), rows=True, columns=True)),
    call("stream", random.stream, seed=whole(3, 0)),
    call("Stream.normal", _STREAM.normal, shape=_SHAPE, like=_LIKE),
    call("Stream.uniform", _STREAM.uniform, shape=_SHAPE, like=_LIKE),
    call("Stream.integers", _STREAM.integers, low=whole(1, 0).but("too small", "far too small"),
         high=whole(5, 2), shape=_SHAPE, like=_LIKE),
    call("Stream.permutation", _STREAM.permutation, n=whole(4, 0), like=_LIKE),
    call("Stream.choice", _STREAM.choice, n=whole(4, 2).but("too small"),
         size=_rule(4, 2).but("too small"), replace=flag(), like=_LIKE),
    call("Stream.spawn", _STREAM.spawn, name=name()),
    call("gauss_hermite", quadrature.gauss_hermite, n=whole(5)),
    call("expect", quadrature.expect, f=function(np.exp), mean=vector([0.5, 1.0]),
         variance=vector([0.5, 1.0], size=True).but(negative=np.asarray([-1.0, 1.0])), n=whole(5)),
    call("Normal", normal.Normal, mean=vector([1.0, 2.0], size=True),
         root=matrix(np.eye(2), rows=True)),
    call("Normal.from_covariance", normal.Normal.from_covariance,
         mean=vector([1.0, 2.0, 0.0], size=True), covariance=covariance(_K)),
    call("Normal.marginal", _NORMAL.marginal, indices=entries([0, 2], 3, repeat=True).but("below")),
    call("Normal.condition", _NORMAL.condition, values=vector([0.0, 1.0], size=True),
         indices=entries([0, 2], 3, repeat=True).but("below")),
    call("Normal.interval", _NORMAL.interval, level=within(0.9, 0.0, 1.0)),
    call("Normal.kl", _NORMAL.kl, other=thing(_OTHER).but(**{"another size": _SMALL})),
    call("Normal.product", _NORMAL.product, other=thing(_OTHER).but(**{"another size": _SMALL})),
    call("Normal.log_density", _NORMAL.log_density, x=vector([1.0, 2.0, 0.0], size=True)),
    call("Normal.sample", _NORMAL.sample, rng=stream(), num_samples=whole(3, 0)),
    call("NormalPrior", priors.NormalPrior, mean=_MEAN, sd=_SD),
    call("LogNormalPrior", priors.LogNormalPrior, mean=_MEAN, sd=_SD),
    call("NormalPrior.log_density", priors.NormalPrior().log_density,
         value=number().but("a vector")),
    call("LogNormalPrior.log_density", priors.LogNormalPrior().log_density,
         value=positive().but("a vector")),
    call("NormalPrior.gradient", priors.NormalPrior().gradient,
         value=number().but("a vector")),
    call("LogNormalPrior.gradient", priors.LogNormalPrior().gradient,
         value=positive().but("a vector")),
    call("GammaPrior", positive_priors.GammaPrior, shape=positive(), rate=positive()),
    call("InverseGammaPrior", positive_priors.InverseGammaPrior, shape=positive(),
         scale=positive()),
    call("InverseGammaPrior.between", positive_priors.InverseGammaPrior.between,
         low=positive(0.1), high=positive(2.0), mass=within(0.98, 0.0, 1.0)),
    *(call(one.__name__, one, **{name: positive()}) for one, name in (
        (positive_priors.HalfNormalPrior, "sd"), (positive_priors.HalfCauchyPrior, "scale"),
        (positive_priors.SAASPrior, "shrinkage"))),
    call("SAASPrior.log_density", positive_priors.SAASPrior().log_density,
         value=positive().but("a vector")),
    call("SAASPrior.gradient", positive_priors.SAASPrior().gradient,
         value=positive().but("a vector")),
    call("asarray", gpnotes.asarray, data=thing([1.0, 2.0]).but(
         "a number", "a boolean", "a list", "an array",
         complex=[1j], words=["a"], ragged=[[1.0], [1.0, 2.0]])),
    call("to_numpy", gpnotes.to_numpy, a=thing(np.ones(2)).but("an array")),
    call("dataset", gpnotes.dataset, name=one_of("engel")),
    call("flatten", params.flatten, obj=thing(gpnotes.RBF()),
         fixed=Argument((), {"a string": "lengthscale", "an unknown name": ["nobody"], "None": None,
                             "a number": 3, "numbers": [3]})),
    call("params.names", params.names, obj=thing(gpnotes.RBF())),
)  # fmt: skip
