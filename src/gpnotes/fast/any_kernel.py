"""The evidence of any kernel in place: in two buffers where its distances serve, else by tiles."""

from __future__ import annotations

from typing import Protocol

from ..ground import memory
from ..ground.xp import Matrix, Vector
from . import evidence, tiles
from .factors import Evidence
from .tiled_kernels import Hooks, tiled

__all__ = ["evidence_in_place"]


class AnyKernel(Hooks, evidence.AnyKernel, Protocol):
    """What both ways ask of a kernel."""


_WHAT = "the Gram matrix"


def evidence_in_place(
    kernel: AnyKernel, noise_var: float, X: Matrix, residual: Vector
) -> Evidence | None:
    """By two n × n buffers or by one; None for other namespaces, and where K_y needs jitter.

    `residual` (n,) is what the observations have beyond the mean.
    """
    n = X.shape[0]
    if evidence.serves(kernel, X):
        memory.require_square(n, like=X, copies=2, what=_WHAT)
        return evidence.evidence_and_gradient(kernel, noise_var, X, residual)
    memory.require_square(n, like=X, copies=1, what=_WHAT)
    if not tiles.serves(X):
        return None
    return tiles.evidence_and_gradient(tiled(kernel, X), noise_var, X, residual)
