"""The common parts of the checks: shapes, kinds, and agreement within rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.xp import Array, HostArray, Numbers, array_namespace, device, epsilon, to_numpy

__all__ = ["close", "hold", "is_array", "is_double", "rounding", "semidefinite"]


def hold(condition: bool, problem: str) -> None:
    """Fail with a message unless a condition holds."""
    if not condition:
        raise AssertionError(problem)


def is_array(name: str, a: Any, shape: tuple[int, ...], like: Array) -> None:
    """Check that a value is a finite array of a shape, of the kind of another array."""
    hold(hasattr(a, "shape"), f"{name} must be an array of shape {shape}; got {type(a).__name__}")
    got = tuple(a.shape)
    hold(got == shape, f"{name} must have shape {shape}; got {got}")
    kind = (array_namespace(a), a.dtype, device(a))
    wanted = (array_namespace(like), like.dtype, device(like))
    hold(kind == wanted, f"{name} is {kind}, the inputs are {wanted}")
    bad = int(np.sum(~np.isfinite(to_numpy(a))))
    hold(bad == 0, f"{name} is not finite in {bad} of its entries")


def is_double(a: Array) -> bool:
    """True where `a` has the precision that differences need."""
    return epsilon(a) < 1e-12


def rounding(*arrays: Array) -> float:
    """A bound for rounding of the largest entry, in the precision of the first array."""
    sizes = [float(np.max(np.abs(to_numpy(a)), initial=0.0)) for a in arrays]
    return 1e3 * epsilon(arrays[0]) * (1e-300 + max(sizes))


def close(what: str, a: Numbers, b: Numbers, atol: float) -> None:
    """Check that two arrays of one shape agree up to a gap; `what` names both in errors."""
    left, right = _host(a), _host(b)
    hold(left.shape == right.shape, f"{what} have the shapes {left.shape} and {right.shape}")
    gap = float(np.max(np.abs(left - right), initial=0.0))
    hold(gap <= atol, f"{what} differ by {gap:.3g}, more than {atol:.3g}")


def semidefinite(name: str, a: Array, atol: float) -> None:
    """Check that a matrix (n, n) is symmetric, up to a gap, and positive semidefinite.

    No eigenvalue may be below zero by more than n times the gap.
    """
    host = _host(a)
    gap = float(np.max(np.abs(host - host.T), initial=0.0))
    hold(gap <= atol, f"{name} is not symmetric: its transpose differs from it by {gap:.3g}")
    lowest = float(np.min(np.linalg.eigvalsh(host), initial=0.0))
    hold(lowest >= -atol * host.shape[0], f"{name} has the eigenvalue {lowest:.3g}")


def _host(a: Numbers) -> HostArray:
    return np.asarray(a if isinstance(a, float | np.ndarray) else to_numpy(a), dtype=np.float64)
