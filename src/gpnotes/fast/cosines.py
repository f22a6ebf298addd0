"""Cosines of many angles in NumPy arrays, in place and in blocks that fit the cache.

NumPy's cosine of float64 numbers takes several times as long as all else that features of them
need. Here ``cos 2πu = 1 − 2 sin² πv`` with v = u minus the nearest whole number, |v| ≤ 1/2, and
the sine as an odd polynomial: additions and products only. A test holds it to NumPy's.
"""

from __future__ import annotations

import numpy as np

from ..ground.memory import blocks
from ..ground.xp import (
    HostArray,
    HostMatrix,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_host,
    blas,
    is_numpy_namespace,
)

__all__ = ["cosines_of_turns", "gram_and_cross", "supports", "waves"]

_ROWS = 2**20  # entries of the features that are there at a time: 8 MiB

_BLOCK = 2**14  # entries: 128 KiB in float64, so that the three blocks at work fit a core's cache

# sin(πv) / v as a polynomial in v² on [0, 1/4], interpolated at its eight Chebyshev points with 60
# digits: off by 4e-16 at most, before rounding.
_SINE = (
    3.1415926535897927, -5.1677127800497855, 2.5501640398618677, -0.599264528825224,
    0.08214587881631043, -0.0073703643265304155, 4.659870158043378e-4, -2.113362735205297e-5,
)  # fmt: skip


def supports(X: Matrix) -> bool:
    """Return True for inputs that this module takes: arrays of NumPy in float64, not empty."""
    return is_numpy_namespace(array_namespace(X)) and X.dtype == np.float64 and X.size > 0


def waves(X: Matrix, omega: Matrix, offset: Vector, amplitude: float) -> HostMatrix:
    """``amplitude cos 2π(X ωᵀ + offset)``, (n, R), for X (n, d), omega (R, d), offset (R,)."""
    out = np.empty((X.shape[0], omega.shape[0]))
    return _fill(X, _augmented(omega, offset), amplitude, out)


def gram_and_cross(
    X: Matrix, r: Vector, omega: Matrix, offset: Vector, amplitude: float
) -> tuple[HostMatrix, HostVector]:
    """``ΦᵀΦ`` (R, R) and ``Φᵀr`` (R,) of Φ as `waves` makes it, in one buffer of a few rows.

    All products go through SciPy's library; NumPy's own would fight it for the cores.
    """
    size = omega.shape[0]
    turned = _augmented(omega, offset)
    gram = np.zeros((size, size), order="F")
    cross = np.zeros(size)
    rows = blocks(X.shape[0], size, _ROWS)
    buffer = np.empty((rows[0].stop, size))
    for some in rows:
        part = as_host(X)[some]
        Phi = _fill(part, turned, amplitude, buffer[: part.shape[0]])
        blas("syrk", gram.dtype)(1.0, Phi.T, 1.0, gram, lower=1, overwrite_c=1)
        blas("gemv", gram.dtype)(1.0, Phi.T, as_host(r)[some], 1.0, cross, overwrite_y=1)
    return np.tril(gram) + np.tril(gram, -1).T, cross


def _augmented(omega: Matrix, offset: Vector) -> HostMatrix:
    """``[ω offset]``, (R, d + 1) in Fortran order: one product brings the offset with it."""
    return np.asfortranarray(np.column_stack([as_host(omega), as_host(offset)]))


def _fill(X: Matrix, omega: HostMatrix, amplitude: float, out: HostMatrix) -> HostMatrix:
    """Write `waves` into `out` (n, R) in C order; BLAS writes to its transpose."""
    inputs = np.column_stack([as_host(X), np.ones(X.shape[0])])
    blas("gemm", out.dtype)(1.0, omega, inputs.T, c=out.T, overwrite_c=1)
    cosines_of_turns(out, amplitude)
    return out


def cosines_of_turns(u: HostArray, amplitude: float = 1.0) -> None:
    """Turn u into ``amplitude cos 2πu``, in place; u is contiguous, of any shape."""
    flat = u.reshape(-1)
    size = min(_BLOCK, flat.size)
    squares = np.empty(size)
    sines = np.empty(size)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        _cosines(block, squares[: block.size], sines[: block.size], amplitude)


def _cosines(v: HostArray, square: HostArray, sine: HostArray, amplitude: float) -> None:
    np.rint(v, out=square)
    v -= square
    np.multiply(v, v, out=square)
    np.multiply(square, _SINE[-1], out=sine)
    for coefficient in _SINE[-2:0:-1]:
        sine += coefficient
        sine *= square
    sine += _SINE[0]
    # sin² πv = v² times the square of the polynomial
    sine *= sine
    sine *= square
    np.multiply(sine, -2.0 * amplitude, out=v)
    v += amplitude
