"""Right calls of what every posterior can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .answers import Call, call
from .kinds import Argument, flag, matrix, stream, vector, whole

__all__ = ["CLASSES_LACK", "of_posterior"]

CLASSES_LACK = ("covariance", "joint", "sample", "noise")


def of_posterior(
    posterior: Any, X: Any, y: Argument | None, *, lacks: tuple[str, ...] = ()
) -> tuple[Call, ...]:
    """The calls of a posterior at inputs X and observations y, but of what it lacks."""
    Xs, kind = matrix(X, columns=True), type(posterior).__name__
    noise, chunk = {"noise": flag()}, {"chunk": whole(2, optional=True)}
    options: dict[str, dict[str, Any]] = {
        **dict.fromkeys(("predict", "mean", "variance"), noise | chunk),
        **dict.fromkeys(("covariance", "joint"), noise),
        "sample": {"num_samples": whole(2, 0), "rng": stream(), **noise},
        "probability": {"num_samples": whole(10, 2), **chunk},
    }
    calls = [
        call(f"{kind}.{name}", getattr(posterior, name), Xs=Xs,
             **{key: value for key, value in more.items() if key not in lacks})
        for name, more in options.items() if name not in lacks
    ]  # fmt: skip
    if y is None:
        return tuple(calls)
    rows = matrix(X, rows=True, columns=True)
    if posterior._shifts:
        shift = vector(np.linspace(-1.0, 1.0, X.shape[0]), size=True).but("None")
        calls += [
            call(f"{kind}.{name}, offset", getattr(posterior, name), Xs=rows, offset=shift)
            for name in ("predict", "mean", "variance", "probability") if name not in lacks
        ]  # fmt: skip
        calls += [call(f"{kind}.log_density, offset", posterior.log_density, Xs=rows, y=y,
                       offset=shift)]  # fmt: skip
    return (*calls, call(f"{kind}.log_density", posterior.log_density, Xs=rows, y=y))
