"""Right calls of the face for scikit-learn, which takes more for arrays than the package does."""

from __future__ import annotations

import atexit
import tempfile
from functools import wraps
from typing import Any

import numpy as np

from gpnotes import GP, RBF, ConstantMean, LogNormalPrior, load, save
from gpnotes.estimators import GPClassifier, GPRegressor, MultiOutputGPRegressor
from gpnotes.infer import saving

from ..answers import call
from ..kinds import Argument, flag, matrix, name, nonnegative, one_of, thing, vector, whole
from .models import NAMES

_DRAW = np.random.default_rng(0)
_X, _XS = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal((4, 2))
_Y = _X @ np.asarray([1.0, 0.5])
_KERNEL = RBF(1.0, np.asarray([1.0, 2.0]))
_CONVERTED = (
    "a list", "integers", "booleans", "objects", "half precision", "another precision",
    "another namespace", "a list of truths")  # fmt: skip
_ROWS = matrix(_XS, columns=True).but(*_CONVERTED)
_STATE = whole(1, 0).but("None", **{"a generator of NumPy": np.random.default_rng(0)})


@wraps(GPRegressor)
def _fitted(**arguments: Any) -> GPRegressor:
    """Arguments are looked at by the fit, as scikit-learn wants it."""
    return GPRegressor(**arguments).fit(_X, _Y)


@wraps(GPClassifier)
def _classified(**arguments: Any) -> GPClassifier:
    return GPClassifier(**arguments).fit(_X, _LABELS)


@wraps(MultiOutputGPRegressor)
def _of_several(**arguments: Any) -> MultiOutputGPRegressor:
    return MultiOutputGPRegressor(**arguments).fit(_X, _TABLE)


_TABLE = np.asarray([[1.0, 2.0], [0.5, 2.5], [1.5, 1.0], [0.2, 2.9], [1.1, 2.2], [0.9, 2.0]])
_SEVERAL = MultiOutputGPRegressor(_KERNEL, optimise=False).fit(_X, _TABLE)
_LABELS = np.asarray(["a", "b", "a", "a", "b", "b"])
_CLASSES = GPClassifier(_KERNEL, optimise=False).fit(_X, _LABELS)
_MODEL = GPRegressor(_KERNEL, noise_var=0.1, optimise=False).fit(_X, _Y)
_FOLDER = tempfile.TemporaryDirectory(prefix="gpnotes-")
atexit.register(_FOLDER.cleanup)
_PATH = name(f"{_FOLDER.name}/model.npz")
_MODEL.save(_PATH.right)
_CLASSES.save(f"{_FOLDER.name}/classes.npz")
_BY_NAME = {
    "max_steps": whole(200),
    "fixed": NAMES,
    "bounds": Argument({}, {"a number": 3, "pairs": [(1.0, 2.0)], "unknown": {"nobody": (0.1, 1)}}),
    "priors": Argument({}, {"a number": 3, "a list": [], "unknown": {"nobody": LogNormalPrior()}}),
    "tied": Argument((), {"a number": 3, "None": None, "names": ["a"], "one": [("noise_var",)],
                          "unknown": [("nobody", "somebody")]}),
}  # fmt: skip
_MEAN = one_of("constant").but(kernel=RBF(), **{"its class": ConstantMean})

CALLS = (
    call("GPRegressor", _fitted, kernel=thing(_KERNEL, GP(RBF(), 0.1), optional=True),
         noise_var=nonnegative(0.1).but("None"), alpha=nonnegative(0.1), mean=_MEAN,
         restarts=whole(1, 0), random_state=_STATE, optimise=flag(True), max_steps=whole(200),
         inducing=whole(2, optional=True)),
    call("GPRegressor, by names", _fitted, **_BY_NAME),
    call("GPRegressor.fit", GPRegressor(optimise=False).fit,
         X=matrix(_X, rows=True).but(*_CONVERTED, **{"no columns": _X[:, :0]}),
         y=vector(_Y, size=True).but(*_CONVERTED, "a column"),
         noise_var=vector(np.full(6, 0.3), size=True).but(
             *_CONVERTED, "None", "a column", negative=np.full(6, -0.3)),
         weights=vector(np.full(6, 2.0), size=True).but(
             *_CONVERTED, "None", "a column", negative=np.full(6, -2.0))),
    call("GPRegressor.predict", _MODEL.predict, X=_ROWS, return_std=flag(), return_cov=flag(),
         noise=flag()),
    call("GPRegressor.sample_y", _MODEL.sample_y, X=_ROWS, n_samples=whole(2), random_state=_STATE,
         noise=flag()),
    call("GPClassifier", _classified, kernel=thing(_KERNEL, GP(RBF(), 0.1), optional=True),
         restarts=whole(1, 0), random_state=_STATE, optimise=flag(True), max_steps=whole(200),
         inducing=whole(2, optional=True)),
    call("GPClassifier, by a method", _classified, method=one_of("laplace").but("None")),
    call("GPClassifier, by names", _classified, **_BY_NAME),
    call("GPClassifier.fit", GPClassifier(optimise=False).fit,
         X=matrix(_X, rows=True).but(*_CONVERTED, **{"no columns": _X[:, :0]}),
         y=vector([0.0, 1.0, 0.0, 1.0, 1.0, 0.0], size=True).but(*_CONVERTED, "a column")),
    call("GPClassifier.predict", _CLASSES.predict, X=_ROWS),
    call("GPClassifier.predict_proba", _CLASSES.predict_proba, X=_ROWS),
    call("GPClassifier.save", _CLASSES.save, path=_PATH),
    call("GPClassifier.load", GPClassifier.load, path=name(f"{_FOLDER.name}/classes.npz")),
    call("MultiOutputGPRegressor", _of_several,
         kernel=thing(_KERNEL, GP(RBF(), 0.1), optional=True), rank=whole(1),
         restarts=whole(1, 0), random_state=_STATE, optimise=flag(True),
         max_steps=whole(200)),
    call("MultiOutputGPRegressor, by names", _of_several, **_BY_NAME),
    call("MultiOutputGPRegressor.fit", MultiOutputGPRegressor(optimise=False).fit,
         X=matrix(_X, rows=True).but(*_CONVERTED, **{"no columns": _X[:, :0]}),
         y=Argument(_TABLE, {"None": None, "a number": 1.0, "a string": "y", "words": [["a"]] * 6,
                             "a row too few": _TABLE[1:], "inf": np.full((6, 2), np.inf)}),
         noise_var=Argument(np.full((6, 2), 0.3), {
             "a number": 1.0, "a string": "y", "words": [["a"]] * 6,
             "a row too few": np.ones((5, 2)),
             "a vector": np.ones(6), "negative": np.full((6, 2), -0.3),
             "NaN": np.full((6, 2), np.nan), "inf": np.full((6, 2), np.inf)})),
    call("MultiOutputGPRegressor.predict", _SEVERAL.predict, X=_ROWS, return_std=flag(),
         noise=flag()),
    call("GPRegressor.save", _MODEL.save, path=_PATH),
    call("GPRegressor.load", GPRegressor.load, path=_PATH),
    call("save", save, fitted=Argument(
        _KERNEL, {"a function": abs, "an object": object(), "a set": {1.0}, "bytes": b"x"}),
        path=name(f"{_FOLDER.name}/kernel")),
    call("load", load, path=_PATH),
    call("register", saving.register, name=name("ours")),
)  # fmt: skip
