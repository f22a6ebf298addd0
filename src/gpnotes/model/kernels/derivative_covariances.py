"""The covariances of a process and its gradient, between rows of values or derivatives.

A row is a point and a label: 0 for the value of f there, k for its derivative by the input with
number k, counted from 1. Each class here carries the labels through kernels of one kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ...ground.distances import _squared_distances_pullback
from ...ground.params import cotangent
from ...ground.xp import Array, Matrix, Vector, array_namespace, as_index, eye, zero_where
from .algebra import Constant, Kernel, Scaled, Sum
from .linear import Linear
from .pullback_sums import added, per_dimension, total
from .scaled_inputs import about_centre, distances
from .stationary import Stationary
from .thin_plate import ThinPlate

__all__ = ["Observed", "Rows", "covariances_of"]


class Rows(NamedTuple):
    """Points, and for each the kind of observation of f there: its value, or a derivative."""

    points: Matrix
    value: Vector  # (n,): 1 where it is the value, 0 where a derivative
    unit: Matrix  # (n, d): 1 in the column of the input that it is a derivative by
    column: Array  # (n,): the number of that column from 0, and 0 for values

    @classmethod
    def of(cls, x: Matrix) -> Self:
        """Read validated rows (n, d + 1), whose last column holds the labels."""
        xp = array_namespace(x)
        d = x.shape[1] - 1
        label = as_index(x[:, d], x)
        identity = eye(d, x)
        units = xp.concat([xp.zeros_like(identity[:1, :]), identity], axis=0)
        return cls(
            x[:, :d],
            xp.astype(label == 0, x.dtype),
            xp.take(units, label, axis=0),
            xp.clip(label - 1, 0, None),
        )

    def take(self, rows: slice) -> Self:
        """Select some of the rows."""
        return type(self)(
            self.points[rows, :], self.value[rows], self.unit[rows, :], self.column[rows]
        )


class Observed(ABC):
    """The covariances of values and derivatives of a process with some kernel.

    Its methods check nothing: rows are validated before.
    """

    @abstractmethod
    def gram(self, left: Rows, right: Rows) -> Matrix:
        """Evaluate the covariances (n, m) of n rows with m rows."""

    @abstractmethod
    def diag(self, rows: Rows) -> Vector:
        """Evaluate the variances."""

    @abstractmethod
    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        """Carry derivatives by the entries (n, m) of `gram` back to kernel and points.

        The kernel's are a kernel of the same class.
        """

    @abstractmethod
    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        """Carry derivatives by the entries (n,) of `diag` back to kernel and points."""


class _Pairs(NamedTuple):
    """The parts of the covariances of a kernel of distances, (n, m) each.

    With ``δ = (x − z) / ℓ``, and for a row that is a derivative by input a ``eᵢ = 1 / ℓₐ``, for
    one that is a value ``eᵢ = 0``: `left` is ``eᵢ δₐ`` for the label a of the row, `right` ``eⱼ
    δ_b`` for that of the column, and `same` ``eᵢ eⱼ`` where a = b.
    """

    u: Matrix
    v: Matrix
    q: Matrix
    left: Matrix
    right: Matrix
    same: Matrix


@dataclass(frozen=True)
class _OfDistances(Observed):
    """``k = σ_f² p(q)``, differentiated by the chain rule through q.

    ``∂q/∂xₐ = 2 δₐ/ℓₐ`` and ``∂q/∂z_b = −2 δ_b/ℓ_b``, so that, with 1 for values and 0 for
    derivatives in s, `_Pairs` for the rest,
    ``K/σ_f² = sᵢ sⱼ p + 2 p′ (sⱼ left − sᵢ right − same) − 4 p″ left right``.
    """

    kernel: Stationary

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return self.kernel.variance * self._correlations(left, right, self._pairs(left, right))

    def diag(self, rows: Rows) -> Vector:
        return self.kernel.variance * (rows.value - 2.0 * self._bend(rows) * self._rates(rows) ** 2)

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Stationary, Matrix, Matrix]:
        kernel = self.kernel
        xp = array_namespace(K_bar)
        pairs = self._pairs(left, right)
        s, t = left.value[:, None], right.value[None, :]
        slope = kernel._slope(pairs.q)
        second, third = kernel._higher_slopes(pairs.q)
        variance_bar = total(K_bar * self._correlations(left, right, pairs))
        K_bar = kernel.variance * K_bar
        first = t * pairs.left - s * pairs.right - pairs.same
        both = pairs.left * pairs.right
        q_bar = K_bar * (s * t * slope + 2.0 * second * first - 4.0 * third * both)
        q_bar = zero_where(pairs.q == 0.0, q_bar)  # where points coincide q is least
        left_bar = K_bar * (2.0 * t * slope - 4.0 * second * pairs.right)
        right_bar = -K_bar * (2.0 * s * slope + 4.0 * second * pairs.left)
        same_bar = -2.0 * K_bar * slope
        # left = eᵢ (u − v)ₐ, right = eⱼ (u − v)_b
        e, f = left.unit / kernel.lengthscale, right.unit / kernel.lengthscale
        u_bar, v_bar = _squared_distances_pullback(pairs.u, pairs.v, q_bar)
        u_bar = u_bar + e * xp.sum(left_bar, axis=1)[:, None] + right_bar @ f
        v_bar = v_bar - xp.matrix_transpose(left_bar) @ e - f * xp.sum(right_bar, axis=0)[:, None]
        # u = x / ℓ, v = z / ℓ and e = unit / ℓ: each has a share in ℓ_bar
        by_e = xp.sum(left_bar * pairs.left + same_bar * pairs.same, axis=1)[:, None] * left.unit
        by_f = xp.sum(right_bar * pairs.right + same_bar * pairs.same, axis=0)[:, None] * right.unit
        terms = xp.concat([u_bar * pairs.u + by_e, v_bar * pairs.v + by_f], axis=0)
        lengthscale_bar = per_dimension(-terms / kernel.lengthscale, kernel.lengthscale)
        bar = cotangent(kernel, variance=variance_bar, lengthscale=lengthscale_bar)
        return bar, u_bar / kernel.lengthscale, v_bar / kernel.lengthscale

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Stationary, Matrix]:
        kernel = self.kernel
        slopes = -2.0 * self._bend(rows) * self._rates(rows) ** 2
        variance_bar = total(d_bar * (rows.value + slopes))
        # the variances of derivatives go with 1 / ℓ²
        terms = (kernel.variance * d_bar * slopes)[:, None] * rows.unit
        lengthscale_bar = per_dimension(-2.0 * terms / kernel.lengthscale, kernel.lengthscale)
        bar = cotangent(kernel, variance=variance_bar, lengthscale=lengthscale_bar)
        return bar, array_namespace(d_bar).zeros_like(rows.points)

    def _rates(self, rows: Rows) -> Vector:
        """``1 / ℓₐ`` for derivatives by input a, zero for values."""
        return array_namespace(rows.unit).sum(rows.unit / self.kernel.lengthscale, axis=1)

    def _bend(self, rows: Rows) -> Vector:
        """``p′(0)``, (n,)."""
        return self.kernel._slope(array_namespace(rows.value).zeros_like(rows.value))

    def _pairs(self, left: Rows, right: Rows) -> _Pairs:
        xp = array_namespace(left.points)
        u, v = about_centre(left.points, right.points, self.kernel.lengthscale)
        assert v is not None
        e, f = self._rates(left)[:, None], self._rates(right)[None, :]
        own_left = xp.sum(left.unit * u, axis=1)[:, None]
        own_right = xp.sum(right.unit * v, axis=1)[None, :]
        other = xp.take(xp.matrix_transpose(v), left.column, axis=0)
        return _Pairs(
            u, v, distances(u, v),
            e * (own_left - other), f * (xp.take(u, right.column, axis=1) - own_right),
            e * f * xp.astype(left.column[:, None] == right.column[None, :], u.dtype),
        )  # fmt: skip

    def _correlations(self, left: Rows, right: Rows, pairs: _Pairs) -> Matrix:
        s, t = left.value[:, None], right.value[None, :]
        first = t * pairs.left - s * pairs.right - pairs.same
        second, _ = self.kernel._higher_slopes(pairs.q)
        K = s * t * self.kernel._profile(pairs.q) + 2.0 * self.kernel._slope(pairs.q) * first
        return K - 4.0 * second * pairs.left * pairs.right


@dataclass(frozen=True)
class _OfThinPlate(Observed):
    """A kernel that is one of distances, but for its parameters."""

    kernel: ThinPlate

    @property
    def _inner(self) -> _OfDistances:
        return _OfDistances(self.kernel._inner)

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return self._inner.gram(left, right)

    def diag(self, rows: Rows) -> Vector:
        return self._inner.diag(rows)

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        bar, x_bar, z_bar = self._inner.pull(left, right, K_bar)
        return cotangent(self.kernel, variance=bar.variance), x_bar, z_bar

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        bar, x_bar = self._inner.pull_diag(rows, d_bar)
        return cotangent(self.kernel, variance=bar.variance), x_bar


@dataclass(frozen=True)
class _OfLinear(Observed):
    """Of a linear function the derivative by an input is its value at that unit vector."""

    kernel: Linear

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return self.kernel._gram(_weights(left), _weights(right))

    def diag(self, rows: Rows) -> Vector:
        return self.kernel._diag(_weights(rows))

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        bar, x_bar, z_bar = self.kernel._pullback(_weights(left), _weights(right), K_bar)
        assert z_bar is not None
        return bar, left.value[:, None] * x_bar, right.value[:, None] * z_bar

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        bar, x_bar = self.kernel._diag_pullback(_weights(rows), d_bar)
        return bar, rows.value[:, None] * x_bar


def _weights(rows: Rows) -> Matrix:
    """The factors of the slopes of a linear function: the point, or a unit vector."""
    return rows.value[:, None] * rows.points + rows.unit


@dataclass(frozen=True)
class _OfConstant(Observed):
    """An offset is in every value and in no derivative."""

    kernel: Constant

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return self.kernel.variance * left.value[:, None] * right.value[None, :]

    def diag(self, rows: Rows) -> Vector:
        return self.kernel.variance * rows.value

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        xp = array_namespace(K_bar)
        bar = total(K_bar * left.value[:, None] * right.value[None, :])
        zeros = xp.zeros_like(left.points), xp.zeros_like(right.points)
        return cotangent(self.kernel, variance=bar), *zeros

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        zeros = array_namespace(d_bar).zeros_like(rows.points)
        return cotangent(self.kernel, variance=total(d_bar * rows.value)), zeros


@dataclass(frozen=True)
class _OfSum(Observed):
    """The derivative of a sum is the sum of the derivatives."""

    kernel: Sum
    parts: tuple[Observed, ...]

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return added(part.gram(left, right) for part in self.parts)

    def diag(self, rows: Rows) -> Vector:
        return added(part.diag(rows) for part in self.parts)

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        pulled = (part.pull(left, right, K_bar) for part in self.parts)
        bars, x_bars, z_bars = zip(*pulled, strict=True)
        return cotangent(self.kernel, parts=bars), added(x_bars), added(z_bars)

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        bars, x_bars = zip(*(part.pull_diag(rows, d_bar) for part in self.parts), strict=True)
        return cotangent(self.kernel, parts=bars), added(x_bars)


@dataclass(frozen=True)
class _OfScaled(Observed):
    """A factor stays in front."""

    kernel: Scaled
    inner: Observed

    def gram(self, left: Rows, right: Rows) -> Matrix:
        return self.kernel.scale * self.inner.gram(left, right)

    def diag(self, rows: Rows) -> Vector:
        return self.kernel.scale * self.inner.diag(rows)

    def pull(self, left: Rows, right: Rows, K_bar: Matrix) -> tuple[Kernel, Matrix, Matrix]:
        scale_bar = total(K_bar * self.inner.gram(left, right))
        bar, x_bar, z_bar = self.inner.pull(left, right, self.kernel.scale * K_bar)
        return cotangent(self.kernel, scale=scale_bar, kernel=bar), x_bar, z_bar

    def pull_diag(self, rows: Rows, d_bar: Vector) -> tuple[Kernel, Matrix]:
        scale_bar = total(d_bar * self.inner.diag(rows))
        bar, x_bar = self.inner.pull_diag(rows, self.kernel.scale * d_bar)
        return cotangent(self.kernel, scale=scale_bar, kernel=bar), x_bar


_LEAVES: dict[type, Any] = {Linear: _OfLinear, Constant: _OfConstant, ThinPlate: _OfThinPlate}


def covariances_of(kernel: Kernel) -> Observed:
    """Find the covariances of values and derivatives for a kernel."""
    if type(kernel) is Sum:
        return _OfSum(kernel, tuple(map(covariances_of, kernel.parts)))
    if type(kernel) is Scaled:
        return _OfScaled(kernel, covariances_of(kernel.kernel))
    if isinstance(kernel, Stationary) and kernel.differentiable:
        return _OfDistances(kernel)
    if type(kernel) in _LEAVES:
        return _LEAVES[type(kernel)](kernel)
    raise ValueError(_refusal(kernel))


def _refusal(kernel: Kernel) -> str:
    name = type(kernel).__name__
    rough = {
        "Matern12": "its functions have no derivative",
        "White": "noise has no derivative; add it outside, or GradientNoise",
    }
    served = (
        "RBF, Matern52, Matern32, ThinPlate, Linear and Constant kernels, their sums and multiples"
    )
    return f"kernel of WithGradients must be among {served}; got {name}: " + rough.get(
        name, "its derivatives by the inputs are not written here"
    )
