"""Numbers as the language sees them: columns (n, 1), rows (1, n), scalars without a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import OperationError

__all__ = ["Estimate", "Nodes", "conform", "host", "kind"]

Array = np.ndarray


def host(value: Any) -> Array:
    """`value` as a NumPy float64 array of its own shape, wherever it lives.

    CuPy arrays come down by ``get``; array-api-strict arrays and other devices by DLPack.
    """
    if hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):
        value = value.get()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.from_dlpack(_on_cpu(value))
    if array.dtype.kind not in "biuf":
        raise OperationError(f"a {type(value).__name__} is no real number or array")
    return array.astype(np.float64, copy=False)


def _on_cpu(value: Any) -> Any:
    namespace = value.__array_namespace__()
    return value.to_device(namespace.__array_namespace_info__().default_device())


def conform(value: Any) -> Array:
    """`value` in the shape that the language computes with.

    A vector (n,) becomes a column (n, 1); one number in any shape becomes a scalar; a
    matrix, or an array with more axes, stays as it is.

    >>> conform([1.0, 2.0]).shape, conform([[3.0]]).shape
    ((2, 1), ())
    """
    return shaped(host(value))


def shaped(array: Array) -> Array:
    if array.ndim == 1 and array.size != 1:
        return array[:, None]
    return array.reshape(()) if array.size == 1 and array.ndim else array


def kind(value: Any) -> str:
    """What the grammar must know of a bound value: "nodes", "callable", "set" or "value"."""
    if isinstance(value, Nodes):
        return "nodes"
    if callable(value) and not hasattr(value, "shape"):
        return "callable"
    if isinstance(value, set | frozenset | range | dict):
        return "set"
    return "value"


@dataclass(frozen=True, eq=False)
class Nodes:
    """The points and weights of a quadrature rule, or of an enumerated distribution.

    `points` is (n,) for a scalar variable and (n, d) for a vector, `weights` (n,). For an
    expectation the weights sum to one. Raises ValueError when the two do not match.

    >>> Nodes([0.0, 1.0], [0.25, 0.75]).weights.shape
    (2,)
    """

    points: Any
    weights: Any

    def __post_init__(self) -> None:
        points, weights = host(self.points), host(self.weights)
        if weights.ndim != 1 or points.ndim == 0 or len(points) != len(weights):
            raise ValueError(
                "points and weights must have shapes (n, ...) and (n,);"
                f" got {points.shape} and {weights.shape}"
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "weights", weights)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A Monte Carlo mean with its standard error, from `n` draws of the stream `seed`."""

    value: Any
    standard_error: Any
    n: int = 0
    seed: int = 0
