"""Right calls of the verbs, for every model that there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Matern32,
    condition,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground.chunks import Chunks
from gpnotes.infer import deep, features, interdomain, laplace, sparse, stacks, svgp
from gpnotes.infer.heteroscedastic import HeteroscedasticGP
from gpnotes.infer.linear import BayesianLinear
from gpnotes.infer.state_space import StateSpaceGP
from gpnotes.model.kernels import CircularRBF

from ..answers import Call, call
from ..kinds import Argument, function, matrix, thing, vector

_DRAW = np.random.default_rng(4)
_X, _Y = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal(6)
_LABELS = np.asarray([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
_GP = GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.1, ConstantMean(0.5))
_CLEAN, _Z = GP(_GP.kernel, 0.0), _X[:3]
_WAVES = features.draw_frequencies(_GP.kernel, _X, 4, rng=1)
_SPARSE = sparse.SparseGP(_GP, _Z)
_CIRCLE = sparse.SparseGP(GP(CircularRBF(), 0.1), interdomain.Harmonics(np.asarray([0.0, 1.0])))
_DEEP = deep.with_inner_layers(
    svgp.initial_posterior(svgp.SVGP(_CLEAN, Gaussian(0.2), _Z)), [RBF()]
)

_ROWS = matrix(_X, rows=True, columns=True).table
_PLACES = matrix(_X[:, :1], rows=True, columns=True).table
_VALUES = vector(_Y, size=True).table
_SIGNS = vector(_LABELS, size=True).but("a scalar array", other=2.0 * _LABELS).table
_CLASSES = vector(1.0 + _LABELS, size=True).but("a scalar array", other=-2.0 * _LABELS).table
_EXACT = condition(_GP, _X, _Y)
_VERBS = (condition, log_evidence, log_evidence_and_gradient)

# a model, the inputs and the observations that it takes
_MODELS: dict[str, tuple[Any, Argument, Argument]] = {
    "GP": (_GP, matrix(_X, rows=True).table, _VALUES),
    "StateSpaceGP": (StateSpaceGP(GP(Matern32(), 0.1)), _PLACES, _VALUES),
    "FeatureGP": (features.FeatureGP(_GP, _WAVES), _ROWS, _VALUES),
    "SparseGP": (_SPARSE, _ROWS, _VALUES),
    "SparseGP of a number": (sparse.SparseGP(_GP, 3), _ROWS, _VALUES),
    "SparseGP through waves": (_CIRCLE, _PLACES, _VALUES),
    "HeteroscedasticGP": (HeteroscedasticGP(_GP, RBF()), _ROWS, _VALUES),
    "LaplaceGP": (laplace.LaplaceGP(_CLEAN, Bernoulli()), _ROWS, _SIGNS),
    "EPGP": (laplace.EPGP(_CLEAN, Bernoulli()), _ROWS, _SIGNS),
    "SoftmaxGP": (laplace.SoftmaxGP(_CLEAN, 3), _ROWS, _CLASSES),
    "SVGP": (svgp.SVGP(_CLEAN, Bernoulli(), _Z), _ROWS, _SIGNS),
    "SVGP of a number": (svgp.SVGP(_CLEAN, Bernoulli(), 3), _ROWS, _SIGNS),
    "BayesianLinear": (BayesianLinear(np.eye(2), 0.1), _ROWS, _VALUES),
    "DeepGP": (_DEEP, _ROWS, _VALUES),
}
_KNOWN = vector(np.full(6, 0.3), size=True).table.but("None", negative=np.full(6, -0.3))
_PAIRS = [(_X, _Y), (_X[:4], _Y[:4])]
_CHUNKED = Argument(
    Chunks(_PAIRS),
    {"None": None, "a number": 3, "pairs": _PAIRS, "a string": "xy",
     "no chunk": Chunks([]), "a pair": Chunks((_X, _Y)), "a chunk of None": Chunks([None]),
     "no rows": Chunks([(_X[:0], _Y[:0])]), "a NaN": Chunks([(_X, np.full(6, np.nan))])},
)  # fmt: skip
_SUMS = interdomain.wave_sums(_CIRCLE.variables, _X[:, :1], _Y)
_STACK = np.stack([_X, 2.0 * _X])
_SEVERAL = Argument(
    [_GP, _GP],
    {"None": None, "a number": 3.0, "a string": "x", "its class": GP, "three": [_GP] * 3,
     "none": [], "a kernel": RBF(), "kernels": [RBF(), RBF()], "a posterior": _EXACT},
)  # fmt: skip


def _of_stack(a: np.ndarray) -> Argument:
    """Data of two models."""
    return Argument(
        a,
        {"None": None, "a number": 3.0, "a string": "x", "words": np.full(a.shape, "a"),
         "one more axis": a[None], "a scalar": a[(0,) * a.ndim], "a NaN": a * np.nan,
         "three": np.stack([*a, a[0]]), "rows too few": a[:, :-1], "no rows": a[:, :0],
         "complex": a + 1j, "float32": a.astype(np.float32), "huge": np.full(a.shape, np.inf)},
    )  # fmt: skip


CALLS: tuple[Call, ...] = (
    *(call(f"{verb.__name__} of a {name}", verb, model=thing(model, RBF(), _EXACT), X=X, y=y)
      for name, (model, X, y) in _MODELS.items() for verb in _VERBS
      if not (verb is condition and name == "DeepGP")),
    *(call(f"{verb.__name__} of a GP, {name}", verb, model=thing(_GP), X=_MODELS["GP"][1],
           y=_VALUES, **{name: _KNOWN})
      for verb in _VERBS for name in ("noise_var", "weights")),
    *(call(f"{verb.__name__} of a {name}, offset", verb, model=thing(_MODELS[name][0]),
           X=_ROWS, y=_SIGNS, offset=vector(_Y, size=True).table.but("None"))
      for verb in _VERBS for name in ("LaplaceGP", "EPGP", "SVGP")),
    *(call(f"{verb.__name__} of chunks, {type(model).__name__}", verb,
           model=thing(model, RBF(), _EXACT), X=_CHUNKED)
      for model in (_SPARSE, _MODELS["FeatureGP"][0]) for verb in _VERBS),
    call("evidences_and_gradients", stacks.evidences_and_gradients,
         models=_SEVERAL, X=_of_stack(_STACK), y=_of_stack(_STACK[:, :, 0])),
    call("in_step", stacks.in_step, function=function(lambda one: one), items=Argument(
        (1, 2), {"None": None, "a number": 3})),
    *(call(f"{verb.__name__} of sums", verb, model=thing(_CIRCLE, _SPARSE), X=thing(_SUMS))
      for verb in _VERBS),
)  # fmt: skip
