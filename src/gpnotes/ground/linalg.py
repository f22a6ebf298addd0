"""Linear algebra that Gaussian processes need: one factorisation, passed on.

The jitter policy stands here, once: a matrix is factored as it is; if that fails, a little is
added to its diagonal, ten times more each try, up to a cap; the sum is recorded on the
result, and one warning says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.linalg import LinAlgError

from . import check as _check
from .caller_warnings import warn_caller
from .late_reads import expect, number, unforeseen
from .showing import summary
from .xp import (
    Array,
    Matrix,
    Vector,
    array_namespace,
    cholesky_factor,
    cholesky_inverse,
    diagonal,
    epsilon,
    eye,
    fused,
    solve_triangular,
    to_numpy,
)

__all__ = ["Cholesky", "FactorisationError", "JitterWarning", "RoundingWarning", "cholesky"]


class FactorisationError(LinAlgError):
    """The error for a matrix that should be positive definite and is not, with a remedy."""


class JitterWarning(UserWarning):
    """The warning that a diagonal was added to, so that a factorisation could succeed."""


class RoundingWarning(UserWarning):
    """The warning that of a number most digits are lost, since a matrix is nearly singular."""


@dataclass(frozen=True)
class NameWith:
    """The name of a matrix, with parts that are spelt where a message has it.

    A kernel's numbers would be read from a device for it.
    """

    text: str
    parts: tuple[object, ...]

    def __str__(self) -> str:
        """Put the parts where the braces of the text are."""
        return self.text.format(*self.parts)


@fused
def _doubled_logs(pivots: Vector) -> Array:
    xp = array_namespace(pivots)
    return 2.0 * xp.sum(xp.log(pivots))


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A symmetric positive definite matrix ``K = L Lᵀ``, held by its lower factor.

    Parameters
    ----------
    lower : Matrix, shape (n, n)
        The factor L.
    jitter : float, default 0.0
        The sum added to the diagonal of K, mostly 0.

    Examples
    --------
    >>> import numpy as np
    >>> K = cholesky(np.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> K.lower
    array([[2., 0.],
           [1., 2.]])
    >>> round(K.log_det, 4)
    2.7726
    """

    lower: Matrix
    jitter: float = 0.0

    __repr__ = summary

    @property
    def size(self) -> int:
        """The number of rows n."""
        return self.lower.shape[0]

    @property
    def log_det(self) -> float:
        """The logarithm ``log |K|``, twice the sum of those of the factor's diagonal."""
        return number(_doubled_logs(diagonal(self.lower)))

    def solve(self, b: Array) -> Array:
        """Return ``K⁻¹ b``; O(n² m).

        Parameters
        ----------
        b : Array, shape (n,) or (n, m)
            Right-hand sides, finite and of the kind of the factor.

        Returns
        -------
        Array, shape (n,) or (n, m)
            The solution.
        """
        return self._solve(self._validate(b))

    def half_solve(self, b: Array) -> Array:
        """Return ``L⁻¹ b`` for b of shape (n,) or (n, m), as in `solve`; O(n² m)."""
        return self._half_solve(self._validate(b))

    def half_solve_t(self, b: Array) -> Array:
        """Return ``L⁻ᵀ b`` for b of shape (n,) or (n, m), as in `solve`; O(n² m)."""
        return self._half_solve_t(self._validate(b))

    def _solve(self, b: Array) -> Array:
        return self._half_solve_t(self._half_solve(b))

    def _half_solve_t(self, b: Array) -> Array:
        return solve_triangular(self.lower, b, transpose=True)

    def _half_solve(self, b: Array) -> Array:
        return solve_triangular(self.lower, b)

    def _validate(self, b: Array) -> Array:
        """`b` if it is a right-hand side, (n,) or (n, m), of the kind of the factor."""
        if getattr(b, "ndim", 0) == 1:
            _check.vector(b, "b", size=self.size)
        else:
            _check.matrix(b, "b", rows=self.size)
        return _check.alike(b, "b", self.lower, "the factor")

    def inverse(self) -> Matrix:
        """Return ``K⁻¹``, (n, n), for gradients that need every entry; otherwise `solve`."""
        return cholesky_inverse(self.lower)

    def extend(self, cross: Matrix, block: Matrix, *, name: str = "K") -> Cholesky:
        """Return the factor of ``[[K, cross], [crossᵀ, block]]``, in O(n² m) instead of O(n³).

        Parameters
        ----------
        cross : Matrix, shape (n, m)
            The block to the right of K.
        block : Matrix, shape (m, m)
            The block below it, symmetric.
        name : str, default "K"
            The name of the matrix in the error and the warning.

        Returns
        -------
        Cholesky
            The factor of the whole. Its `jitter` is the sum of the old one and of that of
            the block alone.

        Notes
        -----
        For m = 1 this is [eq-fv-extend]. The jitter of the old factor is added to the block
        too, so that the whole matrix is treated alike; any more that the block needs is added
        to it alone, with a `JitterWarning`.
        """
        m = _check.matrix(cross, "cross", rows=self.size).shape[1]
        _check.matrix(block, "block", rows=m, columns=m)
        for part, what in ((cross, "cross"), (block, "block")):
            _check.alike(part, what, self.lower, "the factor")
        _check.symmetric(block, "block")
        longer = self._extend(cross, block, name=name)
        warn_of_jitter(longer.jitter - self.jitter, name)
        return longer

    def _extend(self, cross: Matrix, block: Matrix, *, name: str) -> Cholesky:
        """`extend`, and it is the caller who warns of jitter."""
        xp = array_namespace(self.lower)
        # L21ᵀ = L11⁻¹ K12 and L22 L22ᵀ = K22 − L21 L21ᵀ
        side = xp.matrix_transpose(solve_triangular(self.lower, cross))
        block = block + self.jitter * eye(block.shape[0], block)
        corner = _factorise(block - side @ xp.matrix_transpose(side), name, _scale(block))
        top = xp.concat([self.lower, xp.zeros_like(cross)], axis=1)
        lower = xp.concat([top, xp.concat([side, corner.lower], axis=1)], axis=0)
        return Cholesky(lower, self.jitter + corner.jitter)


def cholesky(K: Matrix, *, name: str = "K", jitter: Literal["auto"] | float = "auto") -> Cholesky:
    """Factor a symmetric positive definite matrix, with jitter only where it must be.

    Parameters
    ----------
    K : Matrix, shape (n, n)
        The matrix; only its lower triangle is read.
    name : str, default "K"
        The name of the matrix in the error and the warning.
    jitter : "auto" or float, default "auto"
        With ``"auto"`` K is tried as it is, then with ``n · eps · mean(diag K)`` added to its
        diagonal, ten times more each try, until a cap near ``sqrt(eps) · mean(diag K)``. With a
        number, exactly that much is added.

    Returns
    -------
    Cholesky
        The factor, ``K = L Lᵀ`` with L lower triangular, and the jitter.

    Notes
    -----
    Warns with `JitterWarning` if a try but the first succeeded. Source: Higham, Accuracy and
    Stability of Numerical Algorithms (2002), chapter 10: Cholesky succeeds once the smallest
    eigenvalue exceeds a modest multiple of n eps times the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.eye(3)).jitter
    0.0
    """
    _check.square(K, name)
    if isinstance(jitter, str) and jitter == "auto":
        factor = _cholesky(K, name=name)
        warn_of_jitter(factor.jitter, name)
        return factor
    added = _check.positive(_check.number(jitter, "jitter"), "jitter", zero=True)
    lower = cholesky_factor(K + added * eye(K.shape[0], K) if added else K)
    if lower is None:
        raise _failure(K, name, added)
    return Cholesky(lower, added)


def _cholesky(K: Matrix, *, name: str | NameWith, finite: bool = False) -> Cholesky:
    """`cholesky` by its jitter policy; it is the caller who sees ``jitter`` and warns of it.

    Numbers that are not finite end in the diagonal of the factor, which is not looked at where K is
    known to be `finite`.
    """
    _check.floating(K, "K")
    if (lower := cholesky_factor(K, finite=finite)) is not None:
        return Cholesky(lower)
    unforeseen()
    name = str(name)
    return _factorise(_check.square(K, name), name, _scale(K))


def warn_of_jitter(
    jitter: float, name: str | NameWith, remedy: Callable[[], str] | None = None
) -> None:
    """Warn, if it is not zero, that so much was added to the diagonal of `name`, with a remedy."""
    if jitter:
        what = f"is not positive definite in its precision: added {jitter:.1e} to its diagonal"
        mended = remedy() if remedy else ""
        warn_caller(f"{name} {what}{mended and '; '}{mended}", JitterWarning)


def warn_of_loss(
    size: Array,
    eps: float,
    parts: tuple[Array | float, Array | float] = (1.0, 0.0),
    *,
    remedy: str = "compute in float64",
) -> None:
    """Warn where rounding of a prior, `size` times what data leave of it, has most digits.

    `parts` are sums of its variances and of squares of y: if these are as large, no harm is done.
    """
    most = eps**-0.75
    if expect(lambda: size, most) or not (norm := float(size)) > most:
        return
    if float(parts[0]) > eps**-0.5 * float(parts[1]):
        said = f"variances of f and the evidence may be off by {eps * norm:.1e} of themselves"
        why = "the prior is too wide beside what y says"
        mended = f"{remedy}, or give gp.kernel a smaller variance"
        warn_caller(f"{said}: {why}; {mended}", RoundingWarning)


def _scale(K: Matrix) -> float:
    return abs(float(array_namespace(K).sum(diagonal(K)))) / max(1, K.shape[0])


def _factorise(K: Matrix, name: str, scale: float) -> Cholesky:
    for tried in (0.0, *_jitters(K.shape[0], epsilon(K), scale)):
        lower = cholesky_factor(K + tried * eye(K.shape[0], K) if tried else K)
        if lower is not None:
            return Cholesky(lower, tried)
    raise _failure(K, name, tried)


def _jitters(n: int, eps: float, scale: float) -> list[float]:
    """The jitters that are tried in turn; at least two, in float32 with many points too."""
    first = max(1, n) * eps
    cap = max(math.sqrt(eps), 10.0 * n * eps)
    tries = 1 + math.floor(math.log10(cap / first) + 1e-9)
    return [scale * first * 10.0**k for k in range(tries)]


def _failure(K: Matrix, name: str, jitter: float) -> FactorisationError:
    row, pivot = _failing_pivot(K)
    shape = tuple(K.shape)
    return FactorisationError(
        f"{name} of shape {shape} is not positive definite, even with {jitter:.1e} added to its "
        f"diagonal: without it pivot {row} is {pivot:.3e}. Add noise (a White kernel or a larger "
        "noise_var), remove repeated inputs, shorten the lengthscales, or compute in float64."
    )


def _failing_pivot(K: Matrix) -> tuple[int, float]:
    """The 1-based row at which elimination breaks down, and the pivot that it meets there."""
    host = to_numpy(K)
    good, bad = 0, K.shape[0]
    factor = Cholesky(host[:0, :0])
    while bad - good > 1:
        middle = (good + bad) // 2
        lower = cholesky_factor(host[:middle, :middle])
        if lower is None:
            bad = middle
        else:
            good = middle
            factor = Cholesky(lower)
    if good == 0:
        return 1, float(host[0, 0])
    half = factor.half_solve(host[good, :good])
    return good + 1, float(host[good, good] - half @ half)
