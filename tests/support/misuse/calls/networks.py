"""Right calls of Bayesian neural networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpnotes import RBF, testing
from gpnotes import networks as n

from ..answers import call
from ..kinds import Argument, matrix, number, one_of, positive, thing, vector, whole, within
from ..kinds import stream as stream_kind

_DRAW = np.random.default_rng(0)
_X, _Y = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal(6)
_NET = n.Network((2, 3, 2))
_MODEL = n.BayesianNetwork(_NET)
_P = _NET.num_weights
_THETA, _THETAS = 0.1 * _DRAW.standard_normal(_P), 0.1 * _DRAW.standard_normal((3, _P))
_SIZES = Argument(
    (2, 3, 1),
    {
        "None": None, "one number": 3, "one size": (3,), "a string": "23", "floats": (2.0, 1.0),
        "a zero": (2, 0, 1), "negative": (2, -1), "booleans": (True, False), "nested": ((2, 1),),
    },
)  # fmt: skip
_MODELS = thing(_MODEL, _NET, RBF())
_NETS = thing(_NET, _MODEL)
_XS = matrix(_X, columns=True).but("no rows")
_DATA: dict[str, Argument] = {
    "X": matrix(_X, rows=True, columns=True), "y": vector(_Y, size=True),
}  # fmt: skip
_ONE = vector(_THETA, size=True)
_MANY = matrix(_THETAS, columns=True).but("a vector", "a scalar array")
_COUNTS = vector(np.ones(6), size=True).but("None", "one more axis", negative=-np.ones(6))
_BAR = matrix(np.ones((6, 2)), rows=True, columns=True)
_LIKE = Argument(np.ones(2), {"a number": 1.0, "a string": "x", "integers": np.ones(2, int)})
_Q = n.MeanField(_THETA, np.full(_P, -2.0))
_LEFT = number(0.2).but(one=1.0, negative=-0.1)
_STREAM = stream_kind()
_RATE, _STEPS = positive(0.01), whole(3)
_MOMENTS = n.RunningMoments.init(_THETA)
_SWAG = n.SWAG.init(_THETA, 3).update(0.1 + _THETA)
_MIXTURE = n.Mixture(np.ones((3, 6)), np.ones((3, 6)))
_LAPLACE = n.fit_linearised_laplace(_MODEL, _THETA, _X, _Y)
_NEXT = vector(0.1 + _THETA, size=True)


def _pulled(F_bar: Any) -> Any:
    return _NET.values_and_pullback(_THETA, _X)[1](F_bar)


CALLS = (
    call("Network", n.Network, sizes=_SIZES, activation=one_of("relu")),
    call("Network.__call__", _NET, theta=_MANY, X=_XS),
    call("Network.layers", _NET.layers, theta=_MANY.but("another namespace", "another precision")),
    call("Network.values_and_pullback", _NET.values_and_pullback, theta=_MANY, X=_XS),
    call("pullback", _pulled, F_bar=_BAR),
    call("Network.row_gradients", _NET.row_gradients, theta=_ONE,
         X=matrix(_X, rows=True, columns=True), F_bar=_BAR),
    call("check_network", testing.check_network, network=_NETS, theta=_ONE, X=_XS),
    call("Network.features", _NET.features, theta=_ONE, X=_XS),
    call("Network.scaled_variances", _NET.scaled_variances, weight_variance=positive(),
         bias_variance=positive(), like=_LIKE),
    call("BayesianNetwork", n.BayesianNetwork, network=_NETS,
         prior_variance=positive().but("a vector")),
    call("BayesianNetwork of one output", n.BayesianNetwork, network=thing(n.Network((2, 1)), _NET),
         noise_variance=positive(0.1).but("None")),
    call("BayesianNetwork.draw", _MODEL.draw, rng=_STREAM, num_samples=whole(3), like=_LIKE),
    *(call(f.__name__, f, model=_MODELS, theta=_MANY, **_DATA, counts=_COUNTS)
      for f in (n.log_joint, n.log_joint_and_gradient)),
    call("predict", n.predict, model=_MODELS, thetas=_MANY.but(**{"no networks": _THETAS[:0]}),
         X=_XS),
    call("Mixture", n.Mixture, means=matrix(np.ones((3, 6)), rows=True, columns=True),
         variances=matrix(np.ones((3, 6)), rows=True, columns=True).but(zero=np.zeros((3, 6)))),
    call("Mixture.log_density", _MIXTURE.log_density, y=vector(_Y, size=True)),
    call("Mixture.quantile", _MIXTURE.quantile, share=within(0.5, 0.0, 1.0)),
    call("Mixture.cdf", _MIXTURE.cdf, y=vector(_Y, size=True)),
    call("map_estimate", n.map_estimate, model=_MODELS, **_DATA, start=_MANY, num_steps=_STEPS,
         learning_rate=_RATE, counts=_COUNTS),
    call("bootstrap_counts", n.bootstrap_counts, rng=_STREAM, n=whole(4), num_samples=whole(2),
         like=_LIKE),
    call("MeanField", n.MeanField, mean=_ONE, log_sd=_ONE),
    call("MeanField.draw", _Q.draw, rng=_STREAM, num_samples=whole(2)),
    call("elbo_and_gradient", n.elbo_and_gradient, model=_MODELS, q=thing(_Q, _MODEL),
         noise=matrix(_THETAS, columns=True).but(**{"no draws": _THETAS[:0]}), **_DATA),
    call("fit_mean_field", n.fit_mean_field, model=_MODELS, **_DATA, start=thing(_Q, _MODEL),
         rng=_STREAM, num_steps=_STEPS, learning_rate=_RATE,
         num_samples=whole(2)),
    call("RunningMoments.init", n.RunningMoments.init, theta=vector(_THETA, mates=False)),
    call("RunningMoments.update", _MOMENTS.update, theta=_NEXT),
    call("SWAG.init", n.SWAG.init, theta=vector(_THETA, mates=False),
         rank=whole(3, 2)),
    call("SWAG.update", _SWAG.update, theta=_NEXT),
    call("SWAG.draw", _SWAG.draw, rng=_STREAM, num_samples=whole(2)),
    call("fit_swag", n.fit_swag, model=_MODELS, **_DATA, start=_ONE,
         rng=_STREAM, num_steps=whole(4), learning_rate=_RATE,
         batch=whole(2).but(**{"too many": 7}),
         every=whole(1).but(**{"never": 9}), rank=whole(3, 2)),
    call("dropout_masks", n.dropout_masks, network=_NETS, rng=_STREAM, num_samples=whole(2),
         dropout_rate=_LEFT, kind=one_of("dropconnect"), like=_LIKE),
    call("fit_mc_dropout", n.fit_mc_dropout, model=_MODELS, **_DATA, start=_ONE, rng=_STREAM,
         dropout_rate=_LEFT, kind=one_of("dropout"), num_steps=_STEPS, learning_rate=_RATE,
         num_samples=whole(2)),
    call("fit_last_layer", n.fit_last_layer, model=_MODELS, theta=_ONE, **_DATA),
    call("LastLayer.draw", n.fit_last_layer(_MODEL, _THETA, _X, _Y).draw,
         rng=_STREAM, num_samples=whole(2)),
    call("fit_linearised_laplace", n.fit_linearised_laplace, model=_MODELS, theta=_ONE, **_DATA),
    call("LinearisedLaplace.outputs", _LAPLACE.outputs, X=_XS),
    call("LinearisedLaplace.predict", _LAPLACE.predict, X=_XS, rng=_STREAM, num_samples=whole(2)),
    call("LinearisedLaplace.draw", _LAPLACE.draw, rng=_STREAM, num_samples=whole(2)),
)  # fmt: skip
