"""What a definition may say that no check could judge, and what of it is compared."""

from __future__ import annotations

import numpy as np

from checked_equations.evaluate.values import Nodes

from .example import Definition as Row

__all__ = ["DEFINITIONS"]

_POINTS = np.array([[0.3, 1.1], [1.4, -0.2], [-0.5, 0.6], [0.8, 2.0]])
_WEIGHTS = np.array([0.1, 0.4, 0.2, 0.3])
_MEAN = _WEIGHTS @ _POINTS
_COVARIANCE = (_POINTS - _MEAN).T @ (_WEIGHTS[:, None] * (_POINTS - _MEAN))

DEFINITIONS = (
    Row("what is bound is compared", "d := a^2 b", {"d": 2.25 * 0.7, "a": 1.5, "b": 0.7}, ""),
    Row("of a normal variable, mean and covariance are",
        r"\mathbf x \sim \mathcal N(\mathbf m, S)",
        {r"\mathbf x": Nodes(_POINTS, _WEIGHTS), r"\mathbf m": _MEAN, "S": _COVARIANCE}, ""),
    Row("a model", r"y \mid f \sim \mathcal N(f, v)"),
    Row("where a thing lives", r"f \in \mathcal F"),
    Row("what a function takes and gives", r"\mathcal X \to \mathcal Y, \quad x \mapsto x^2"),
    Row("what is left out", r"a \ne b"),
    Row("a mean without brackets, of the rest of the term",
        r"V = \mathbb E_0 \sum_{t=0}^\infty \beta^t u(c_t)"),
    Row("a probability", r"p = \Pr(A)"),
    Row("what behaves alike", r"a \simeq b"),
)  # fmt: skip
