"""Right calls of deep processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpnotes import GP, RBF, Gaussian, stream, testing
from gpnotes.infer import deep, svgp

from ..answers import call
from ..kinds import Argument, flag, matrix, thing, vector, whole
from ..kinds import stream as stream_kind
from ..posteriors import of_posterior

_DRAW = np.random.default_rng(0)
_X, _Y = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal(6)
_TOP = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), _X[:3]))
_MODEL = deep.with_inner_layers(_TOP, [RBF()], num_samples=2)
_UNIT = _MODEL.layers[1][0]
_POSTERIOR = deep.DeepPosterior(_MODEL, num_samples=2)
_NOISE = deep.draw_noise(_MODEL, 6, 2, rng=stream(0))
_NEW = matrix(_X[:4], columns=True)
_OF_ROWS: dict[str, Any] = {
    "model": thing(_MODEL, _UNIT), "X": matrix(_X, rows=True, columns=True),
    "y": vector(_Y, size=True),
    "noise": Argument(_NOISE, {"a string": "x", "a number": 2, "a stream": stream(0),
                               "of two rows": deep.draw_noise(_MODEL, 2, 2, rng=stream(0))}),
    "total": whole(8, 6, optional=True),
}  # fmt: skip
_KINDS = {"None": None, "a number": 1, "a string": "xy", "a process": GP(RBF(), 0.1)}

_MIXED = ("covariance", "joint", "probability", "chunk")
CALLS = (
    call("Coordinate", deep.Coordinate, column=whole(1, 0)),
    call("Coordinate()", deep.Coordinate(1), x=matrix(_X, mates=False).but(
        narrow=_X[:, :1], nothing=_X[:, :0])),
    call("Coordinate.pullback", deep.Coordinate(1).pullback, x=matrix(_X, rows=True),
         bar=vector(_Y, size=True)),
    call("compose", deep.compose, layers=Argument(
        [GP(RBF(), 0.0)] * 2, _KINDS | {"nothing": [], "kernels": [RBF()]}),
        X=matrix(_X, mates=False).but(nothing=_X[:, :0]), rng=stream_kind()),
    call("Unit", deep.Unit, gp=thing(GP(RBF(), 0.0), RBF()).but(noisy=GP(RBF(), 0.1)),
         Z=matrix(_X[:3], rows=True), weights=vector(_Y[:3], size=True),
         scales=vector(np.ones(3), size=True).but(zero=np.zeros(3)),
         couplings=vector(_Y[:3], size=True)),
    call("DeepGP", deep.DeepGP, layers=Argument(
        _MODEL.layers, _KINDS | {"nothing": (), "an empty layer": (_MODEL.layers[0], ()),
                                 "a wide last one": (_MODEL.layers[0],),
                                 "a unit": (_UNIT,)}),
         likelihood=thing(Gaussian(0.1), RBF()), num_samples=whole(2), seed=whole(0, 0),
         nodes=whole(20, 2)),
    call("with_inner_layers", deep.with_inner_layers, posterior=thing(_TOP, _MODEL),
         kernels=Argument([RBF()], _KINDS | {"processes": [GP(RBF(), 0.1)]}),
         linear=flag(), num_samples=whole(2), seed=whole(0, 0)),
    call("Noise", deep.Noise, normals=Argument(
        _NOISE.normals, {"None": None, "an array": _NOISE.normals[0], "a matrix": (_X,),
                         "of three draws": (np.zeros((3, 6, 2)),),
                         "a NaN": (_NOISE.normals[0] * np.nan,)}),
         weights=vector(_NOISE.weights, size=True).but(
             "no entries", negative=np.asarray([1.5, -0.5]), uneven=np.asarray([0.5, 0.7]))),
    call("draw_noise", deep.draw_noise, model=thing(_MODEL, _UNIT), n=whole(3),
         rng=stream_kind(), num_samples=whole(2)),
    call("quadrature_noise", deep.quadrature_noise, model=thing(_MODEL, _UNIT),
         nodes=whole(3).but(many=340)),
    call("deep.elbo", deep.elbo, **_OF_ROWS),
    call("deep.elbo_and_gradient", deep.elbo_and_gradient, **_OF_ROWS),
    call("DeepPosterior", deep.DeepPosterior, model=thing(_MODEL, _UNIT), num_samples=whole(2),
         seed=whole(0, 0)),
    call("DeepPosterior.components", _POSTERIOR.components, Xs=_NEW),
    *of_posterior(_POSTERIOR, _X, vector(_Y, size=True), lacks=_MIXED),
    call("check_mixture", testing.check_mixture, posterior=thing(_POSTERIOR, _MODEL), Xs=_NEW,
         continuous=flag()),
)  # fmt: skip
