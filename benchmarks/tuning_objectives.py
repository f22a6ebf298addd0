"""Tuning problems of mixed inputs: logarithms, whole numbers and categories, and corners far off.

`svr` is the one on which the search was found to stall; `kernel_ridge` and `classifier` are those
by which the warp of its values was chosen instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gpnotes.decide.bayesopt import Categorical, Integer, Real, Space

__all__ = ["TUNING", "Tuning"]

Tuning = tuple[Space, Callable[[dict[str, Any]], float]]

KERNELS = ["rbf", "poly", "sigmoid"]
SCALED = Categorical([False, True])

SVR_SPACE = Space({
    "C": Real(0.01, 1e4, log=True),
    "epsilon": Real(0.01, 100.0, log=True),
    "gamma": Real(1e-4, 10.0, log=True),
    "degree": Integer(2, 5),
    "kernel": Categorical(KERNELS),
    "scaled": SCALED,
})  # fmt: skip
RIDGE_SPACE = Space({
    "alpha": Real(1e-6, 100.0, log=True),
    "gamma": Real(1e-4, 10.0, log=True),
    "coef0": Real(0.0, 2.0),
    "degree": Integer(2, 5),
    "kernel": Categorical(KERNELS),
    "scaled": SCALED,
})  # fmt: skip
CLASSIFIER_SPACE = Space({
    "rate": Real(1e-4, 10.0, log=True),
    "decay": Real(1e-6, 10.0, log=True),
    "width": Integer(2, 64, log=True),
    "unit": Categorical(["relu", "tanh", "identity"]),
    "scaled": SCALED,
})  # fmt: skip


def svr(p: dict[str, Any]) -> float:
    """Root mean square error of a support vector regression over five folds of 200 patients.

    At most 20 000 steps a fold, so that a corner takes a second; what has not converged there is
    hundreds or thousands where the best is near 54.
    """
    from sklearn.svm import SVR

    X, y = _patients()
    names = "C", "epsilon", "gamma", "degree", "kernel"
    return _error(SVR(**{name: p[name] for name in names}, max_iter=20_000), p, X, y)


def kernel_ridge(p: dict[str, Any]) -> float:
    """Root mean square error of a kernel ridge regression over five folds of 200 made rows."""
    from sklearn.datasets import make_friedman1
    from sklearn.kernel_ridge import KernelRidge

    X, y = make_friedman1(200, noise=1.0, random_state=0)
    names = "alpha", "gamma", "coef0", "degree", "kernel"
    return _error(KernelRidge(**{name: p[name] for name in names}), p, X, y - y.mean())


def classifier(p: dict[str, Any]) -> float:
    """Cross-entropy of a small network over three folds of the wines, after forty rounds."""
    from sklearn.datasets import load_wine
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neural_network import MLPClassifier

    X, y = load_wine(return_X_y=True)
    net = MLPClassifier((p["width"],), activation=p["unit"], alpha=p["decay"],
                        learning_rate_init=p["rate"], max_iter=40, random_state=0)  # fmt: skip
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # that forty rounds are few
        said = cross_val_predict(_machine(net, p), X, y, cv=folds, method="predict_proba")
    return float(log_loss(y, np.nan_to_num(said, nan=1.0 / 3.0)))


def _error(model: Any, p: dict[str, Any], X: np.ndarray, y: np.ndarray) -> float:
    from sklearn.model_selection import KFold, cross_val_predict

    folds = KFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that steps have an end, and matrices are singular
        miss = cross_val_predict(_machine(model, p), X, y, cv=folds) - y
    return float(np.sqrt(np.mean(miss**2)))


def _machine(model: Any, p: dict[str, Any]) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model) if p["scaled"] else model


@cache
def _patients() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:200]
    return X[rows], y[rows]


TUNING: dict[str, Tuning] = {
    "svr": (SVR_SPACE, svr),
    "kernel ridge": (RIDGE_SPACE, kernel_ridge),
    "classifier": (CLASSIFIER_SPACE, classifier),
}
