"""Linear algebra: what NumPy would raise for is NaN here, unless `errstate` asks for the error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import linalg as host

from .arrays import down, ndarray, up
from .counts import allocated, crossing, launch

__all__ = ["LINALG", "errstate", "solve_triangular"]

_set = threading.local()


@contextmanager
def errstate(
    *,
    divide: Any = None,
    over: Any = None,
    under: Any = None,
    invalid: Any = None,
    linalg: Any = None,
) -> Iterator[None]:
    """``linalg="raise"`` has a failed factorisation raise, which waits for the device."""
    before = getattr(_set, "linalg", "ignore")
    _set.linalg = linalg
    try:
        yield
    finally:
        _set.linalg = before


def _quiet(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A routine whose failures are numbers that mean nothing."""

    def function(*args: Any, **kwargs: Any) -> Any:
        given = _matrices(*args)
        launch()
        if getattr(_set, "linalg", "ignore") == "raise":
            crossing()
        try:
            return up(plain(*given, **kwargs))
        except np.linalg.LinAlgError:
            if getattr(_set, "linalg", "ignore") == "raise":
                raise
            safe = [
                np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape) for a in given[:1]
            ]
            return up(_spoilt(plain(*safe, *given[1:], **kwargs)))

    return function


def _matrices(first: Any, *others: Any) -> list[Any]:
    for a in (first, *others):
        if isinstance(a, np.ndarray) or (a is first and not isinstance(a, ndarray)):
            raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
    return [down(a) if isinstance(a, ndarray) else a for a in (first, *others)]


def _spoilt(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_spoilt, value))
    return np.full_like(value, np.nan)


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = False,
) -> ndarray:
    """By substitution in the dtype of `a`; where it fails, NaN. cuBLAS refuses an empty matrix."""
    matrix, right = _matrices(a, b)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError("expected square matrix")
    if len(matrix) != len(right):
        raise ValueError("incompatible dimensions")
    if not matrix.size:
        raise RuntimeError("CUBLAS_STATUS_INVALID_VALUE")
    launch()
    if not matrix.flags.f_contiguous:  # it is copied
        launch()
        allocated(matrix.copy())
    right = right.astype(matrix.dtype)
    try:
        x = host.solve_triangular(
            matrix, right, trans, lower, unit_diagonal, overwrite_b, check_finite
        )
    except np.linalg.LinAlgError:
        x = np.full_like(right, np.nan)
    return up(np.asarray(x, dtype=matrix.dtype))


_NAMES = (
    "cholesky det eigh eigvalsh inv lstsq matrix_power matrix_rank norm pinv qr slogdet solve svd"
)
LINALG = {name: _quiet(getattr(np.linalg, name)) for name in _NAMES.split()}
