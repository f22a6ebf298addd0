"""Right calls of sums over chunks, of regression on random features, of draws on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpnotes import GP, RBF, Matern32, condition, fit, stream, testing
from gpnotes.draw import grids
from gpnotes.ground import chunks
from gpnotes.infer import features, interdomain, sparse
from gpnotes.infer import state_space as line
from gpnotes.model import kernels as k

from ..answers import call
from ..kinds import (
    Argument,
    flag,
    function,
    matrix,
    nonnegative,
    number,
    one_of,
    positive,
    thing,
    vector,
    whole,
)  # fmt: skip
from ..kinds import stream as stream_kind
from ..posteriors import of_posterior

_DRAW = np.random.default_rng(0)

_X, _XS = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal((4, 2))
_Y = _DRAW.standard_normal(6)
_GP = GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.1)
_GPS = thing(_GP, RBF(), k.Linear())
_XY = {"X": matrix(_X, rows=True, columns=True), "y": vector(_Y, size=True)}
_NEW = matrix(_XS, columns=True)
_PAIRS = [(_X, _Y), (_XS, _Y[:4])]
_CHUNKS = Argument(
    _PAIRS,
    {
        "None": None, "a number": 3, "no chunk": [], "a pair": (_X, _Y), "an array": _X,
        "a string": "xy", "a chunk of None": [None], "no rows": [(_X[:0], _Y[:0])],
        "a NaN": [(_X, _Y), (_X, np.full(6, np.nan))],
    },
)  # fmt: skip
_MAP = function(map)

_FREQUENCIES = features.draw_frequencies(_GP.kernel, _X, 4, rng=stream(1))
_FEATURES = condition(features.FeatureGP(_GP, _FREQUENCIES), _X, _Y)
_SINES = features.leading_sines(_GP.kernel, np.concatenate([_X, _XS]), 4)
_DRAWN: dict[str, Any] = {"gp": _GPS, "frequencies": thing(_FREQUENCIES, RBF())}
_Z = _XS[:3]
_POINTS = interdomain.InducingPoints(_Z)
_WEIGHTED = interdomain.WeightedPoints(_Z, np.asarray([[1.0, -1.0, 0.0], [0.0, 0.5, 0.5]]))
_HARMONICS = interdomain.Harmonics(np.asarray([0.0, 1.0, 2.0]))
_CIRCULAR = k.CircularRBF()
_WINDOWS = interdomain.GaussianWindows(_Z, _Z + 1.0)
_INTERVAL = interdomain.IntervalHarmonics(np.asarray([0.0, 2.0]), -3.0, 3.0)
_ANGLES = matrix(_XS[:, :1], mates=False).but(**{"two columns": _XS, "no columns": _XS[:, :0]})
_SPARSE = condition(sparse.SparseGP(_GP, _Z), _X, _Y)
_ON_LINE = GP(Matern32(1.0, 2.0), 0.1)
_LINE = condition(line.StateSpaceGP(_ON_LINE), _X[:, :1], _Y)
_GROWN = _LINE.extend(_X[:1, :1] + 9.0, _Y[:1])
_INDUCED: dict[str, Any] = {
    "gp": _GPS, "inducing": matrix(_Z, columns=True).but("no columns"), "method": one_of("pep"),
    "power": number(0.5).but(negative=-0.5, beyond=1.5),
}  # fmt: skip


def _work(X: Any, y: Any) -> float:
    if X.shape[0] == 0 or not np.all(np.isfinite(y)):
        raise ValueError("y must be finite, and X have rows")
    return float(y.sum())


def _of_variables(
    name: str, variables: Any, kernel: Any, X: Argument, *, by_kernel: bool = False
) -> tuple[Any, ...]:
    size, n = variables.size, X.right.shape[0]
    kinds = thing(kernel, _GP)
    across = {"kernel": kinds, "X": X}
    under = {"kernel": kinds} if by_kernel else {}
    return (
        call(f"{name}.apply", variables.apply, function=function(lambda x: x[:, 0]), **under),
        call(f"{name}.gram", variables.gram, kernel=kinds),
        call(f"{name}.gram_pullback", variables.gram_pullback, kernel=kinds,
             K_bar=matrix(np.ones((size, size)), rows=True, columns=True)),
        call(f"{name}.cross", variables.cross, **across),
        call(f"{name}.cross_pullback", variables.cross_pullback, **across,
             K_bar=matrix(np.ones((size, n)), rows=True, columns=True)),
    )  # fmt: skip


CALLS = (
    *_of_variables("InducingPoints", _POINTS, _GP.kernel, matrix(_XS, columns=True)),
    *_of_variables("WeightedPoints", _WEIGHTED, _GP.kernel, matrix(_XS, columns=True)),
    *(call(f"{name}.moved", points.moved, inputs=matrix(_Z, rows=True, columns=True))
      for name, points in (("InducingPoints", _POINTS), ("WeightedPoints", _WEIGHTED))),
    call("Harmonics.moved", _HARMONICS.moved,
         inputs=Argument(_Z[:0, :1], {"None": None, "a number": 1.0, "a row": _Z[:1, :1],
                                      "two columns": _Z[:0, :2], "a vector": _Z[:0, 0],
                                      "another precision": _Z[:0, :1].astype(np.float32)})),
    *_of_variables("Harmonics", _HARMONICS, _CIRCULAR, matrix(_XS[:, :1], columns=True)),
    *_of_variables("GaussianWindows", _WINDOWS, _GP.kernel, matrix(_XS, columns=True)),
    call("GaussianWindows.moved", _WINDOWS.moved,
         inputs=matrix(_WINDOWS.inputs, rows=True, columns=True)),
    call("GaussianWindows", interdomain.GaussianWindows, Z=matrix(_Z, rows=True),
         widths=matrix(_Z, rows=True, columns=True)),
    *_of_variables("IntervalHarmonics", _INTERVAL, Matern32(), matrix(_XS[:, :1], columns=True),
                   by_kernel=True),
    call("IntervalHarmonics", interdomain.IntervalHarmonics,
         orders=vector([0.0, 1.0, 3.0], mates=False).but(
             empty=np.zeros(0), repeated=np.ones(2), fractions=np.asarray([0.0, 0.5])),
         low=number(0.0).but(above=2.0), high=number(1.0).but(below=-1.0)),
    call("InducingPoints", interdomain.InducingPoints, Z=matrix(_Z, mates=False).but()),
    call("WeightedPoints", interdomain.WeightedPoints, Z=matrix(_Z, rows=True),
         weights=matrix(np.ones((2, 3)), columns=True)),
    call("Harmonics", interdomain.Harmonics,
         orders=vector([0.0, 1.0, 3.0], mates=False).but(
             empty=np.zeros(0), repeated=np.ones(2), fractions=np.asarray([0.0, 0.5]),
             negative=np.asarray([-1.0, 1.0]))),
    call("check_inducing_variables", testing.check_inducing_variables,
         variables=thing(_POINTS, _GP.kernel), kernel=thing(_GP.kernel, _GP),
         X=matrix(_XS, columns=True), rtol=number(1e-6).but(negative=-1.0)),
    call("Harmonics.lost", _HARMONICS.lost, kernel=thing(_CIRCULAR, RBF())),
    call("leading_harmonics", interdomain.leading_harmonics, kernel=thing(_CIRCULAR, RBF()),
         X=_ANGLES, n=whole(3)),
    call("harmonics_within", interdomain.harmonics_within, kernel=thing(_CIRCULAR, RBF()),
         X=_ANGLES, share=number(0.01).but(zero=0.0, negative=-0.1, beyond=1.5, tiny=1e-30)),
    call("wave_sums", interdomain.wave_sums, variables=thing(_HARMONICS, _POINTS),
         X=matrix(_X[:, :1], rows=True, columns=True), y=vector(_Y, size=True)),
    call("add_up", chunks.add_up, work=function(_work), chunks=_CHUNKS, map=_MAP,
         by_reading=flag()),
    call("Rows", lambda X, y: fit(_GP, X, y, max_steps=1), X=_XY["X"].table, y=_XY["y"].table),
    call("Chunks", lambda **parts: fit(
        sparse.SparseGP(_GP, _X[:2]), chunks.Chunks(**parts), max_steps=1),
         chunks=_CHUNKS, map=_MAP, by_reading=flag().but("None")),
    call("Chunks of rows with a noise", lambda noise_var, weights: fit(
        sparse.SparseGP(_GP, _X[:2]), chunks.Chunks([chunks.Rows(_X, _Y, noise_var, weights)]),
        max_steps=1),
         noise_var=vector(np.full(6, 0.3), size=True).but("None", negative=np.full(6, -0.3)),
         weights=vector(np.full(6, 2.0), size=True).but("None", negative=np.full(6, -2.0))),
    call("repeatable", chunks.repeatable, chunks=Argument(_PAIRS, {"None": None, "a number": 3})),
    call("embed_circulant", grids.embed_circulant, kernel=thing(RBF(), _GP, k.Linear()),
         shape=whole(5).but("a list", nothing=(), **{"a negative pair": (2, -1)}),
         step=positive(0.5).but("a list", **{"a pair": (0.5, 0.5)}), error=nonnegative(1e-6),
         doublings=whole(2, 0), like=thing(np.ones(2), optional=True).but("an array", "a list")),
    call("CirculantEmbedding.sample", grids.embed_circulant(RBF(), (4, 3), 0.5).sample,
         rng=stream_kind(), num_samples=whole(2, 0), antithetic=flag()),
    call("draw_frequencies", features.draw_frequencies, kernel=thing(_GP.kernel, _GP),
         X=matrix(_X, columns=True, mates=False), n=whole(4).but("a boolean"),
         rng=stream_kind(), kind=one_of("paired"), orthogonal=flag()),
    call("Frequencies", features.Frequencies, unit=matrix(np.ones((3, 2)), rows=True),
         phases=vector(np.ones(3), size=True),
         terms=Argument(RBF, {"None": None, "a kernel": RBF(), "a string": "RBF",
                                     "another class": int})),
    call("Frequencies.features", _FREQUENCIES.features, kernel=thing(_GP.kernel, _GP, k.Linear()),
         X=_NEW),
    call("Frequencies.pullback", _FREQUENCIES.pullback, kernel=thing(_GP.kernel, k.Linear()),
         X=matrix(_X, rows=True, columns=True),
         Phi_bar=matrix(np.ones((6, 4)), rows=True, columns=True)),
    call("FeatureGP", features.FeatureGP, **_DRAWN),
    call("leading_sines", features.leading_sines, kernel=thing(_GP.kernel, _GP, k.Linear()),
         X=matrix(_X, columns=True, mates=False), n=whole(4).but("a boolean"),
         margin=positive(1.5)),
    call("BoxSines", features.BoxSines,
         orders=matrix(np.asarray([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), rows=True).but(
             fractions=np.full((1, 2), 0.5), zeros=np.zeros((1, 2)), twice=np.ones((2, 2))),
         low=vector(np.full(2, -9.0), size=True), high=vector(np.full(2, 9.0), size=True)),
    call("BoxSines.features", _SINES.features, kernel=thing(_GP.kernel, _GP, k.Linear()),
         X=_NEW.but(outside=np.full((1, 2), 99.0))),
    *of_posterior(_FEATURES, _X, vector(_Y, size=True), lacks=("probability",)),
    call("StateSpaceGP", line.StateSpaceGP, gp=thing(_ON_LINE, _GP, RBF()), compiled=flag()),
    call("StateSpaceForecast.extend", _GROWN.extend, x=matrix(_X[:1, :1] + 9.0, columns=True),
         y=vector(_Y[:1], size=True)),
    *of_posterior(_LINE, _X[:, :1], vector(_Y, size=True), lacks=("probability",)),
    *of_posterior(_GROWN, _X[:, :1], vector(_Y, size=True), lacks=("probability",)),
    call("SparseGP", sparse.SparseGP, **(_INDUCED | {"inducing": _INDUCED["inducing"].table})),
    call("SparseGP of a number", sparse.SparseGP, **(_INDUCED | {"inducing": whole(3)})),
    *of_posterior(_SPARSE, _X, vector(_Y, size=True), lacks=("probability",)),
    call("greedy_points", sparse.greedy_points, kernel=thing(_GP.kernel, _GP),
         X=matrix(_X, columns=True, mates=False), n=whole(2).but("beyond")),
    call("kmeans_points", sparse.kmeans_points, X=matrix(_X, mates=False),
         n=whole(2), rng=stream_kind(), max_steps=whole(3)),
    call("random_points", sparse.random_points, X=matrix(_X, mates=False), n=whole(2),
         rng=stream_kind()),
    call("FeaturePosterior.extend", _FEATURES.extend, x=matrix(_X, rows=True, columns=True),
         y=vector(_Y, size=True)),
)  # fmt: skip
