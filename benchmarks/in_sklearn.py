"""What several tables ask of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def evidence_of(regressor: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], np.ndarray]:
    """``log_marginal_likelihood`` with its gradient at the regressor's own kernel."""
    few = min(10, len(X))
    regressor.fit(X[:few], y[:few])  # so that kernel_ exists; the data are replaced below
    regressor.X_train_, regressor.y_train_ = X, y

    def call() -> np.ndarray:
        theta = regressor.kernel_.theta
        value, gradient = regressor.log_marginal_likelihood(
            theta, eval_gradient=True, clone_kernel=False
        )
        return np.concatenate([[value], gradient])

    return call
