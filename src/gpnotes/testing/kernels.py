"""Checks of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.xp import Matrix, array_namespace, diagonal, to_numpy
from ..model.kernels import Kernel
from .agreement import close, hold, is_array, is_double, rounding, semidefinite
from .differences import gradcheck

__all__ = ["check_kernel"]


def check_kernel(kernel: Kernel, X: Matrix, *, labels: bool = False) -> None:
    """Check that a kernel keeps its contract.

    Its matrix is symmetric, positive semidefinite within rounding, of the kind of X; `diag` is its
    diagonal; ``k(x, z)`` is the transpose of ``k(z, x)``; in float64 its pullbacks agree with
    differences.

    Parameters
    ----------
    labels : bool, default False
        The last column of X holds labels, which stay as they are, and by which there is no
        derivative.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> check_kernel(RBF(), np.asarray([[0.0], [0.5], [2.0]]))
    """
    _check.matrix(X, "X")
    _check.flag(labels, "labels")
    if isinstance(kernel, type) or not callable(kernel):
        raise TypeError(f"kernel must be a kernel, such as RBF(); got {kernel!r}")
    n = X.shape[0]
    moving = X.shape[1] - labels
    Z = _moved(X[: max(1, n // 2), :], X[: max(1, n // 2), :moving] + 0.25)
    K = kernel(X)
    across = kernel(X, Z)
    is_array("k(x)", K, (n, n), X)
    is_array("k.diag(x)", kernel.diag(X), (n,), X)
    is_array("k(x, z)", across, (n, Z.shape[0]), X)
    host = to_numpy(K)
    top = rounding(K)
    hold(np.array_equal(host, host.T), "k(x) is not symmetric")
    close("k.diag(x) and the diagonal of k(x)", kernel.diag(X), diagonal(K), top)
    back = array_namespace(X).matrix_transpose(kernel(Z, X))
    close("k(x, z) and k(z, x)ᵀ", across, back, top)
    semidefinite("k(x)", K, top)
    _check_pullbacks(kernel, X, Z, moving)


def _moved(X: Matrix, points: Matrix) -> Matrix:
    """X (n, d) with other entries in its first columns."""
    return array_namespace(X).concat([points, X[:, points.shape[1] :]], axis=1)


def _check_pullbacks(kernel: Kernel, X: Matrix, Z: Matrix, moving: int) -> None:
    kernel_bar, x_bar, z_bar = kernel.pullback(X, Z, kernel(X, Z))
    is_array("x_bar", x_bar, X.shape, X)
    is_array("z_bar", z_bar, Z.shape, X)
    is_array("diag's x_bar", kernel.diag_pullback(X, kernel.diag(X))[1], X.shape, X)
    hold(kernel.pullback(X, None, kernel(X))[2] is None, "z_bar without z must be None")
    hold(type(kernel_bar) is type(kernel), "kernel_bar has another class than the kernel")
    if not is_double(X):
        return
    names = ("kernel", "x", "z")
    x, z = X[:, :moving], Z[:, :moving]

    def at(points: Matrix) -> Matrix:
        return _moved(X, points)

    def of(points: Matrix) -> Matrix:
        return _moved(Z, points)

    gradcheck(
        lambda k, x, z: k(at(x), of(z)),
        lambda k, x, z, bar: _of_points(k.pullback(at(x), of(z), bar), moving), kernel, x, z,
        names=names, what="pullback(x, z, K_bar)",
    )  # fmt: skip
    gradcheck(
        lambda k, x: k(at(x)),
        lambda k, x, bar: _of_points(k.pullback(at(x), None, bar)[:2], moving), kernel, x,
        names=names, what="pullback(x, None, K_bar)",
    )  # fmt: skip
    gradcheck(
        lambda k, x: k.diag(at(x)),
        lambda k, x, bar: _of_points(k.diag_pullback(at(x), bar), moving), kernel, x,
        names=names, what="diag_pullback",
    )  # fmt: skip


def _of_points(bars: tuple[Any, ...], moving: int) -> tuple[object, ...]:
    """The derivatives of a pullback, less those by labels, which must be zero."""
    kernel_bar, *by_rows = bars
    for bar in by_rows:
        hold(bool((to_numpy(bar[:, moving:]) == 0.0).all()), "derivatives by labels must be zero")
    return kernel_bar, *(bar[:, :moving] for bar in by_rows)
