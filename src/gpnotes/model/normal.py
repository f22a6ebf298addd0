"""The multivariate Gaussian, held by its mean and a root of its covariance.

A root is any matrix R with ``Σ = R Rᵀ``, lower triangular or not, square or not: a covariance of
rank r needs r columns. Nothing here adds jitter; where a covariance must not be singular, an error
says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ..ground import check as _check
from ..ground import memory
from ..ground.linalg import Cholesky, FactorisationError
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Matrix,
    Vector,
    array_namespace,
    as_index,
    cholesky_factor,
    diagonal,
    epsilon,
    is_numpy_namespace,
    keep_copies,
    lapack,
    set_at,
    triangular_product,
)

__all__ = ["Normal"]

RootKind = Literal["given", "cholesky", "pivoted cholesky"]


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution ``N(mean, root rootᵀ)`` of n variables, [eq-fv-density].

    Parameters
    ----------
    mean : Vector, shape (n,)
        The mean; it is copied.
    root : Matrix, shape (n, r)
        A root of the covariance, ``Σ = root rootᵀ``; it is copied.
    root_kind : str, default "given"
        "cholesky" or "pivoted cholesky" where the root was found here, from a covariance, and
        "given" elsewhere; with a Cholesky factor draws cost half.

    Notes
    -----
    Source: Rasmussen & Williams (2006), appendix A.2.

    Examples
    --------
    >>> import numpy as np
    >>> x = Normal(np.zeros(2), np.asarray([[1.0, 0.0], [0.6, 0.8]]))
    >>> x.covariance
    array([[1. , 0.6],
           [0.6, 1. ]])
    >>> x.condition([0], np.asarray([2.0])).mean
    array([1.2])
    """

    mean: Vector
    root: Matrix
    root_kind: RootKind = "given"

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.vector(self.mean, "mean")
        _check.matrix(self.root, "root", rows=self.mean.shape[0])
        _check.alike(self.root, "root", self.mean, "mean")
        _check.choice(self.root_kind, "root_kind", get_args(RootKind))
        if self.root_kind == "cholesky" and not _is_lower(self.root):
            raise ValueError("root must be square and lower triangular to be a Cholesky factor")
        keep_copies(self, "mean", "root")

    @staticmethod
    def from_covariance(mean: Vector, covariance: Matrix) -> Normal:
        """Make ``N(mean, covariance)`` from a positive semidefinite covariance, singular or not.

        The root is the Cholesky factor where there is one, else a pivoted one, of as many columns
        as the covariance has rank; `root_kind` says which.

        Parameters
        ----------
        covariance : Matrix, shape (n, n)
            The covariance, symmetric up to rounding.
        """
        n = _check.vector(mean, "mean").shape[0]
        _check.matrix(covariance, "covariance", rows=n, columns=n)
        _check.alike(covariance, "covariance", mean, "mean")
        lower = cholesky_factor(_check.symmetric(covariance, "covariance"))
        mean = array_namespace(mean).asarray(mean, copy=True)
        if lower is not None:
            return of_root(mean, lower, "cholesky")
        covariance = _check.semidefinite(covariance, "covariance", error=FactorisationError)
        return of_root(mean, _pivoted_root(covariance, diagonal(covariance)), "pivoted cholesky")

    @property
    def size(self) -> int:
        """The number of variables n."""
        return self.mean.shape[0]

    @property
    def covariance(self) -> Matrix:
        """``Σ = R Rᵀ``, (n, n)."""
        return self.root @ array_namespace(self.root).matrix_transpose(self.root)

    @property
    def variance(self) -> Vector:
        """The diagonal of the covariance, (n,)."""
        return array_namespace(self.root).sum(self.root**2, axis=1)

    def marginal(self, indices: Sequence[int]) -> Normal:
        """Select the variables at `indices`, in their order, [eq-fv-marginal].

        Parameters
        ----------
        indices : sequence of int
            Whole numbers, counted from 0, or back from the end if they are negative.

        Notes
        -----
        Source: Rasmussen & Williams (2006), appendix A.2.
        """
        xp = array_namespace(self.mean)
        places = self._places(indices)
        rows = as_index(places, self.mean)
        return Normal(xp.take(self.mean, rows), xp.take(self.root, rows, axis=0))

    def condition(self, indices: Sequence[int], values: Vector) -> Normal:
        """Condition the other variables, in their order, on the `values` of those at `indices`.

        Parameters
        ----------
        indices : sequence of int
            The variables observed, as in `marginal`.
        values : Vector, shape (len(indices),)
            Their observed values.

        Returns
        -------
        Normal
            ``N(m_b + Σ_ba Σ_aa⁻¹ (values − m_a), Σ_bb − Σ_ba Σ_aa⁻¹ Σ_ab)``,
            [eq-fv-conditional].

        Raises
        ------
        ValueError
            If an index is that of no variable, the shape of `values` differs, an entry is not
            finite, or a singular distribution cannot take the values.

        Notes
        -----
        With rows R_a, R_b of the root and P the projection off the row space of R_a, the
        covariance is ``(R_b P)(R_b P)ᵀ``: no matrices are subtracted. Where Σ_aa is singular, its
        pseudo-inverse stands in. Source: Rasmussen & Williams (2006), appendix A.2.
        """
        places = self._places(indices)
        given = self.marginal(places)
        rest = self.marginal(sorted({*range(self.size)} - {*places}))
        _check.vector(values, "values", size=len(places))
        gap = _check.alike(values, "values", self.mean, "mean") - given.mean
        basis, scores = _row_space(given, gap)
        along = rest.root @ basis
        xp = array_namespace(self.mean)
        return Normal(rest.mean + along @ scores, rest.root - along @ xp.matrix_transpose(basis))

    def _places(self, indices: Sequence[int]) -> tuple[int, ...]:
        """`indices` counted from 0: the namespaces disagree about negative ones."""
        of = "the variables"
        return _check.entries(indices, "indices", self.size, of, repeat=True, back=True)

    def product(self, other: Normal) -> Normal:
        """Multiply two densities and normalise the product.

        Parameters
        ----------
        other : Normal
            The other distribution, of as many variables.

        Returns
        -------
        Normal
            ``N(m, Σ)`` with ``Σ⁻¹ = Σ₁⁻¹ + Σ₂⁻¹`` and ``Σ⁻¹ m = Σ₁⁻¹ m₁ + Σ₂⁻¹ m₂``.

        Raises
        ------
        ValueError
            If the sizes differ, or both are singular and no point is possible under both.

        Notes
        -----
        The product is found without inverses: x from the first, given that x plus noise from the
        second is observed. Source: Rasmussen & Williams (2006), appendix A.2.
        """
        self._validate(other)
        xp = array_namespace(self.mean)
        # x = m₁ + R₁ s and x + e = m₁ + R₁ s + R₂ t
        top = xp.concat([self.root, xp.zeros_like(other.root)], axis=1)
        both = xp.concat([top, xp.concat([self.root, other.root], axis=1)], axis=0)
        joint = Normal(xp.concat([self.mean, self.mean]), both)
        product = joint.condition(range(self.size, 2 * self.size), other.mean)
        return Normal(product.mean, _compact(product.root))

    def kl(self, other: Normal) -> float:
        """Compute the divergence ``KL(self ‖ other)`` in nats.

        ``½ (tr Σ₂⁻¹Σ₁ + (m₂ − m₁)ᵀ Σ₂⁻¹ (m₂ − m₁) − n + log |Σ₂| − log |Σ₁|)``.

        Parameters
        ----------
        other : Normal
            The other distribution, of as many variables.

        Returns
        -------
        float
            The divergence; infinite where this distribution is singular and the other is not.

        Notes
        -----
        Source: Rasmussen & Williams (2006), appendix A.5.
        """
        self._validate(other)
        xp = array_namespace(self.mean)
        theirs = other._cholesky()
        trace = float(xp.sum(theirs.half_solve(self.root) ** 2))
        distance = float(xp.sum(theirs.half_solve(other.mean - self.mean) ** 2))
        try:
            log_det = self._cholesky().log_det
        except FactorisationError:
            return math.inf
        return 0.5 * (trace + distance - self.size + theirs.log_det - log_det)

    def log_density(self, x: Vector) -> float:
        """Evaluate ``log N(x; mean, Σ)``, the logarithm of [eq-fv-density].

        Parameters
        ----------
        x : Vector, shape (n,)
            The point.
        """
        _check.alike(_check.vector(x, "x", size=self.size), "x", self.mean, "mean")
        cholesky = self._cholesky()
        z = cholesky.half_solve(x - self.mean)
        squares = float(array_namespace(z).sum(z * z))
        return -0.5 * (squares + cholesky.log_det + self.size * LOG_2PI)

    def interval(self, level: float = 0.95) -> tuple[Vector, Vector]:
        """Find the central interval of each variable alone that holds it with probability `level`.

        Parameters
        ----------
        level : float, default 0.95
            The probability, between 0 and 1.

        Returns
        -------
        tuple of Vector, shape (n,)
            The lower and the upper ends.
        """
        level = _check.number(level, "level")
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1; got {level}")
        sd = array_namespace(self.mean).sqrt(self.variance)
        from statistics import NormalDist  # a tenth of the work of importing the package

        reach = NormalDist().inv_cdf(0.5 * (1.0 + level)) * sd
        return self.mean - reach, self.mean + reach

    def sample(self, num_samples: int, *, rng: RNG) -> Matrix:
        """Draw independently from the distribution: mean plus root times standard normal numbers.

        Parameters
        ----------
        num_samples : int
            How many draws to make, from 0.

        Returns
        -------
        Matrix, shape (num_samples, size)
            The draws, one a row.
        """
        stream = stream_of(rng)
        memory.count(num_samples, "num_samples", 0, each=2 * self.root.shape[0], like=self.mean)
        draws = stream.normal((num_samples, self.root.shape[1]), like=self.mean)
        xp = array_namespace(draws)
        if self.root_kind == "cholesky":
            moved = triangular_product(self.root, xp.matrix_transpose(draws))
            return self.mean + xp.matrix_transpose(moved)
        return self.mean + draws @ xp.matrix_transpose(self.root)

    def _validate(self, other: Normal) -> None:
        _check.instance(other, "other", Normal)
        _check.vector(other.mean, "the mean of other", size=self.size)
        _check.alike(other.mean, "the mean of other", self.mean, "mean")

    def _cholesky(self) -> Cholesky:
        """The covariance's Cholesky factor, from the root alone: squaring would lose digits."""
        xp = array_namespace(self.root)
        lower = _compact(self.root)
        # a share of each variable's own sd: variables may have very different units
        floor = self.size * epsilon(lower) * _sizes(lower)
        if lower.shape[1] < self.size or bool(xp.any(xp.abs(diagonal(lower)) <= floor)):
            raise FactorisationError("the covariance is singular: there is no density")
        return Cholesky(lower * xp.sign(diagonal(lower))[None, :])


def _is_lower(root: Matrix) -> bool:
    xp = array_namespace(root)
    return root.shape[0] == root.shape[1] and bool(xp.all(xp.tril(root) == root))


def _compact(root: Matrix) -> Matrix:
    """A lower triangular root of the same covariance, by QR of the transpose."""
    xp = array_namespace(root)
    return xp.matrix_transpose(xp.linalg.qr(xp.matrix_transpose(root)).R)


def normal_of(mean: Vector, covariance: Matrix, scales: Vector) -> Normal:
    """Make ``N(mean, covariance)`` from a covariance that needs no check.

    Of the covariance (n, n) only the lower triangle is read. The `scales` (n,) are the sizes of the
    numbers that the variances were computed from: they say how far rounding goes. ``root rootᵀ`` is
    the covariance up to a multiple of the rounding.

    The root is the Cholesky factor where there is one: it is unique, and every backend finds the
    same. A covariance that is singular up to rounding may have none. Then a pivoted factorisation
    takes the variable with the most variance left, until no more than ``n eps max(scales)`` is
    left anywhere: r columns, O(n² r).
    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 10.3.
    """
    mean = array_namespace(mean).asarray(mean, copy=True)
    lower = cholesky_factor(covariance)
    if lower is not None:
        return of_root(mean, lower, "cholesky")
    return of_root(mean, _pivoted_root(covariance, scales), "pivoted cholesky")


def of_root(mean: Vector, root: Matrix, kind: RootKind = "given") -> Normal:
    """Make a `Normal` of a mean (n,) and a root (n, r) of the covariance, validated before.

    No caller may hold these arrays, which are not copied; `kind` is ``Normal.root_kind``.
    """
    normal = object.__new__(Normal)
    for name, value in (("mean", mean), ("root", root), ("root_kind", kind)):
        object.__setattr__(normal, name, value)
    return normal


def _pivoted_root(covariance: Matrix, scales: Vector) -> Matrix:
    xp = array_namespace(covariance)
    rounding = covariance.shape[0] * epsilon(covariance) * float(xp.max(scales))
    if is_numpy_namespace(xp):
        return _pivoted_by_lapack(covariance, rounding)
    return _pivoted_by_columns(covariance, rounding)


def _pivoted_by_lapack(covariance: Matrix, rounding: float) -> Matrix:
    xp = array_namespace(covariance)
    factor = lapack("pstrf", covariance.dtype)
    lower, order, rank, _ = factor(covariance, tol=rounding, lower=1)
    root = xp.zeros_like(lower[:, :rank])
    root[order - 1, :] = xp.tril(lower[:, :rank])
    return root


def _pivoted_by_columns(covariance: Matrix, rounding: float) -> Matrix:
    """The same with standard operations, one column after the other."""
    xp = array_namespace(covariance)
    root = xp.zeros_like(covariance)
    left = diagonal(covariance)
    for k in range(covariance.shape[0]):
        j = int(xp.argmax(left))
        pivot = float(left[j])
        if not pivot > rounding:
            return root[:, :k]
        column = (covariance[:, j] - root[:, :k] @ root[j, :k]) / math.sqrt(pivot)
        root = set_at(root, (slice(None), k), column)
        left = left - root[:, k] ** 2
    return root


def _sizes(root: Matrix) -> Vector:
    """The norm of each row, (n,): the standard deviations."""
    xp = array_namespace(root)
    return xp.sqrt(xp.sum(root * root, axis=1))


def _row_space(given: Normal, gap: Vector) -> tuple[Matrix, Vector]:
    """An orthonormal basis (r, k) of the rows of the root, and s with ``root basis s = gap``.

    Rows and gap are in units of each variable's sd, so that a rank does not depend on units.
    """
    xp = array_namespace(gap)
    sd = _sizes(given.root)
    sd = xp.where(sd > 0.0, sd, xp.ones_like(sd))
    left, values, right = xp.linalg.svd(given.root / sd[:, None], full_matrices=False)
    top = float(xp.max(values)) if values.shape[0] else 0.0
    rounding = max(1, *given.root.shape) * epsilon(gap)
    rank = int(xp.sum(xp.astype(values > rounding * top, xp.int32)))
    scores = xp.matrix_transpose(left[:, :rank]) @ (gap / sd)
    missed = xp.abs(gap / sd - left[:, :rank] @ scores)
    # what the gap lost when the mean was subtracted is no reason to call values impossible
    size = top + xp.abs(gap / sd) + xp.abs(given.mean / sd)
    if bool(xp.any(missed > 1e3 * rounding * size)):
        worst = float(xp.max(missed))
        raise ValueError(f"values are impossible under a singular covariance, by {worst:.3e} sd")
    return xp.matrix_transpose(right[:rank, :]), scores / values[:rank]
