"""Stationary kernels: functions of ``q = Σ_d (x_d − z_d)² / ℓ_d²``, with a length per dimension.

Everything is differentiated in q, not in the distance: all but Matérn-1/2 are smooth in q at
zero. Each class brings ``_profile(q)`` and its derivative ``_slope(q)``; the rest is shared.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar, NamedTuple, Self

from ...fast import radial_profiles
from ...fast.stationary_evidence import supports
from ...fast.tiled_kernels import OfDistances
from ...fast.tiles import TiledKernel
from ...ground import check as _check
from ...ground.late_reads import number
from ...ground.params import cotangent, positive
from ...ground.xp import (
    Array,
    HostArray,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    kept_where,
    whole_power,
)
from .algebra import Kernel
from .pullback_sums import per_dimension, total
from .scaled_inputs import ScaledInputs, scaled

__all__ = ["RBF", "Matern12", "Matern32", "Matern52", "RationalQuadratic", "Stationary", "bare"]


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of scaled distances, ``k(x, z) = σ_f² p(q)`` with ``q = Σ_d (x_d − z_d)² / ℓ_d²``.

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    lengthscale : float or Vector, shape (d,), default 1.0
        ℓ, positive: one length, or one per dimension.

    Notes
    -----
    The profile p has ``p(0) = 1``. A class of your own brings ``_profile``, which is p, and
    ``_slope``, its derivative by q; both take and return arrays, and q may be zero. Further
    hyperparameters are further fields, with their derivatives in ``_shape_bars``. If there are
    none, ``profile_in_place`` lets NumPy arrays take the paths of `fast`, which are faster;
    ``in_place`` says whether a class has it. ``_higher_slopes`` lets `WithGradients` take the
    class: ``differentiable`` says whether it has them.

    Examples
    --------
    >>> import numpy as np
    >>> class Cauchy(Stationary):
    ...     def _profile(self, q):
    ...         return 1.0 / (1.0 + q)
    ...     def _slope(self, q):
    ...         return -1.0 / (1.0 + q) ** 2
    >>> Cauchy(lengthscale=2.0)(np.asarray([[0.0], [2.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Numbers = positive(1.0, per_dimension=True, unit="x")

    differentiable: ClassVar[bool] = False  # whether `WithGradients` can work for the class
    fusible: ClassVar[bool] = False  # whether profile and slope are such as `namespace.fused` takes

    def __init_subclass__(cls) -> None:
        """A class speaks for itself, not for its subclasses: they may have another profile."""
        super().__init_subclass__()
        only_these = cls._shape_bars is Stationary._shape_bars
        cls.in_place = only_these and "profile_in_place" in vars(cls)
        cls.fusible = vars(cls).get("fusible", False)
        cls.differentiable = only_these and "_higher_slopes" in vars(cls)

    @abstractmethod
    def _profile(self, q: Array) -> Array:
        """``p(q)``, entry by entry."""

    @abstractmethod
    def _slope(self, q: Array) -> Array:
        """``dp/dq``, entry by entry."""

    def _higher_slopes(self, q: Array) -> tuple[Array, Array]:
        """``d²p/dq²`` and ``d³p/dq³``, entry by entry; where q is zero, zero will do for both."""
        raise NotImplementedError(f"{type(self).__name__} has no higher derivatives by q")

    def _shape_bars(self, q: Array, K_bar: Matrix) -> dict[str, float]:
        """``Σᵢⱼ K_barᵢⱼ ∂kᵢⱼ/∂θ`` of hyperparameters θ but variance and lengthscale, by name."""
        return {}

    @property
    def of_pairs(self) -> bool:
        """True, unless a class has a matrix of its own."""
        kind = type(self)
        return kind._gram is Stationary._gram and kind._pullback is Stationary._pullback

    def profile(self, q: Array) -> Array:
        """Evaluate ``p(q)``, the correlation at scaled squared distances of any shape."""
        return self._profile(_check.array(q, "q"))

    def profile_in_place(self, q: HostArray, slope: HostArray) -> None:
        """Put ``p(q)`` in the place of q and ``dp/dq`` into `slope`, two NumPy arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no in-place version")

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        inputs = scaled(x, z, self.lengthscale)
        if self.fusible and inputs.expanded:
            passes = _passes(type(self))
            return inputs.through(inputs.products(), passes.covariance, *self._numbers)
        return self.variance * self._profile(inputs.distances())

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        inputs = scaled(x, z, self.lengthscale)
        if self.fusible and inputs.expanded and not self._shapes:
            return self._carried(inputs, K_bar)
        u, v, q = inputs.u, inputs.v, inputs.distances()
        bars = self._shape_bars(q, K_bar)
        by_variance = array_namespace(q).sum(K_bar * self._profile(q))
        # where points coincide q is least: rounding alone would move it
        q_bar = inside(self.variance * K_bar * self._slope(q), q)
        u_bar, v_bar = inputs.pullback(q_bar)
        # u = x / ℓ: x_bar = u_bar / ℓ and ℓ_bar = −Σ u_bar u / ℓ
        xp = array_namespace(x)
        terms = u_bar * u if v is None else xp.concat([u_bar * u, v_bar * v], axis=0)
        lengthscale_bar = per_dimension(-terms / self.lengthscale, self.lengthscale)
        z_bar = None if v_bar is None else v_bar / self.lengthscale
        variance_bar = number(by_variance)  # read when all the rest is launched
        kernel_bar = cotangent(self, variance=variance_bar, lengthscale=lengthscale_bar, **bars)
        return kernel_bar, u_bar / self.lengthscale, z_bar

    def _carried(self, inputs: ScaledInputs, K_bar: Matrix) -> tuple[Self, Matrix, Matrix | None]:
        """`_pullback` in few launches; the second product of a pair may differ in its last bit."""
        xp, passes, products = array_namespace(K_bar), _passes(type(self)), inputs.products()
        rows = inputs.through(products, passes.by_variance, K_bar, *self._numbers)
        turned = xp.matrix_transpose(K_bar) if inputs.v is None else 0.0
        W = inputs.through(products, passes.slopes, K_bar, turned, *self._numbers)
        x_bar, z_bar, by_lengths = inputs.carried(W, self.lengthscale)
        by_variance = xp.sum(rows)
        by_length = total(by_lengths) if isinstance(self.lengthscale, float) else by_lengths
        bar = cotangent(self, variance=number(by_variance), lengthscale=by_length)
        return bar, x_bar, z_bar

    @property
    def _shapes(self) -> tuple[str, ...]:
        """The names of the hyperparameters other than variance and lengthscale."""
        return tuple(item.name for item in fields(self) if item.name not in _SHARED)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return (self.variance, *(getattr(self, name) for name in self._shapes))

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        xp = array_namespace(x)
        zeros, column = xp.zeros_like(x), d_bar[:, None]
        bars = self._shape_bars(xp.zeros_like(column), column) if self._shapes else {}
        lengthscale_bar = per_dimension(zeros, self.lengthscale)
        bar = cotangent(self, variance=total(d_bar), lengthscale=lengthscale_bar, **bars)
        return bar, zeros

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return OfDistances(self, x) if supports(self, x) else super()._on_tiles(x)


_SHARED = ("variance", "lengthscale")


class _Passes(NamedTuple):
    """Elementwise functions of squared distances."""

    covariance: Callable[..., Matrix]
    by_variance: Callable[..., Vector]
    slopes: Callable[..., Matrix]


@cache
def _passes(kind: type[Stationary]) -> _Passes:
    """Return those of a class; each takes the numbers of a kernel at its end."""

    def covariance(q: Array, *numbers: float) -> Array:
        kernel = bare(kind, numbers)
        return kernel.variance * kernel._profile(q)

    def by_variance(q: Array, K_bar: Array, *numbers: float) -> Vector:
        return array_namespace(q).sum(K_bar * bare(kind, numbers)._profile(q), axis=1)

    def slopes(q: Array, K_bar: Array, turned: Numbers, *numbers: float) -> Array:
        kernel = bare(kind, numbers)
        return inside(kernel.variance * (K_bar + turned) * kernel._slope(q), q)

    return _Passes(covariance, by_variance, slopes)


def bare(kind: type[Stationary], numbers: tuple[object, ...]) -> Stationary:
    """Return a kernel with numbers, or stacks of them, that are not validated, and no length."""
    kernel = object.__new__(kind)
    names = [item.name for item in fields(kind) if item.name != "lengthscale"]
    for name, value in zip(names, numbers, strict=True):
        object.__setattr__(kernel, name, value)
    return kernel


def roots(q: Array) -> Array:
    """Take the root ``√q`` of squares, but not so small that three divisions by it overflow."""
    xp = array_namespace(q)
    return xp.clip(xp.sqrt(q), float(xp.finfo(q.dtype).smallest_normal) ** 0.25, None)


def inside(values: Array, q: Array) -> Array:
    """Keep values where the squared distances q are positive; where points coincide, put zero."""
    return kept_where(q > 0.0, values)


@dataclass(frozen=True)
class RBF(Stationary):
    """The squared exponential kernel; its functions have derivatives of every order.

    ``k(x, z) = σ_f² exp(−q/2)`` with ``q = Σ_d (x_d − z_d)² / ℓ_d²``.

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    lengthscale : float or Vector, shape (d,), default 1.0
        ℓ, positive: one length, or one per dimension.

    Notes
    -----
    Source: Rasmussen & Williams (2006), equation 4.9 (one length) and 5.1 (one per dimension).

    Examples
    --------
    >>> import numpy as np
    >>> RBF(variance=2.0)(np.asarray([[0.0], [1.0]])).round(4)
    array([[2.    , 1.2131],
           [1.2131, 2.    ]])
    """

    def _profile(self, q: Array) -> Array:
        return array_namespace(q).exp(-0.5 * q)

    def _slope(self, q: Array) -> Array:
        return -0.5 * array_namespace(q).exp(-0.5 * q)

    def _higher_slopes(self, q: Array) -> tuple[Array, Array]:
        p = self._profile(q)
        return 0.25 * p, -0.125 * p

    profile_in_place = staticmethod(radial_profiles.rbf)
    fusible = True


@dataclass(frozen=True)
class Matern12(Stationary):
    """The exponential kernel, Matérn with ν = 1/2; its functions are continuous and rough.

    ``k(x, z) = σ_f² exp(−√q)`` with ``q = Σ_d (x_d − z_d)² / ℓ_d²``.

    Parameters
    ----------
    variance, lengthscale
        As in `RBF`.

    Notes
    -----
    The kernel has a kink where two points coincide. There the derivative by the inputs is taken as
    zero: the mean of the one-sided ones, and exact on the diagonal of a matrix of x with itself,
    where k is constant; the derivative by the lengthscale is zero anyway.
    Source: Rasmussen & Williams (2006), section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> Matern12()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def _profile(self, q: Array) -> Array:
        xp = array_namespace(q)
        return xp.exp(-xp.sqrt(q))

    def _slope(self, q: Array) -> Array:
        xp = array_namespace(q)
        r = xp.sqrt(q)
        apart = xp.astype(r > 0.0, r.dtype)
        return -0.5 * apart * xp.exp(-r) / (r + (1.0 - apart))

    profile_in_place = staticmethod(radial_profiles.matern12)
    fusible = True


@dataclass(frozen=True)
class Matern32(Stationary):
    """The Matérn kernel with ν = 3/2; its functions have one derivative.

    ``k(x, z) = σ_f² (1 + s) exp(−s)`` with ``s = √(3q)`` and ``q = Σ_d (x_d − z_d)² / ℓ_d²``.

    Parameters
    ----------
    variance, lengthscale
        As in `RBF`.

    Notes
    -----
    Source: Rasmussen & Williams (2006), equation 4.17.

    Examples
    --------
    >>> import numpy as np
    >>> Matern32()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.4834],
           [0.4834, 1.    ]])
    """

    def _profile(self, q: Array) -> Array:
        s = math.sqrt(3.0) * array_namespace(q).sqrt(q)
        return (1.0 + s) * array_namespace(q).exp(-s)

    def _slope(self, q: Array) -> Array:
        xp = array_namespace(q)
        return -1.5 * xp.exp(-math.sqrt(3.0) * xp.sqrt(q))

    def _higher_slopes(self, q: Array) -> tuple[Array, Array]:
        # with s = √(3q), whose derivative by q is 3/2s; both are infinite at zero
        s = math.sqrt(3.0) * roots(q)
        decay = inside(array_namespace(q).exp(-s), q)
        return 2.25 * decay / s, -3.375 * decay * (1.0 + s) / whole_power(s, 3)

    profile_in_place = staticmethod(radial_profiles.matern32)
    fusible = True


@dataclass(frozen=True)
class Matern52(Stationary):
    """The Matérn kernel with ν = 5/2; its functions have two derivatives.

    ``k(x, z) = σ_f² (1 + s + s²/3) exp(−s)`` with ``s = √(5q)`` and ``q = Σ_d (x_d − z_d)² /
    ℓ_d²``.

    Parameters
    ----------
    variance, lengthscale
        As in `RBF`.

    Notes
    -----
    Source: Rasmussen & Williams (2006), equation 4.17.

    Examples
    --------
    >>> import numpy as np
    >>> Matern52()(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """

    def _profile(self, q: Array) -> Array:
        s = math.sqrt(5.0) * array_namespace(q).sqrt(q)
        return (1.0 + s + s * s / 3.0) * array_namespace(q).exp(-s)

    def _slope(self, q: Array) -> Array:
        s = math.sqrt(5.0) * array_namespace(q).sqrt(q)
        return -5.0 / 6.0 * (1.0 + s) * array_namespace(q).exp(-s)

    def _higher_slopes(self, q: Array) -> tuple[Array, Array]:
        # with s = √(5q), whose derivative by q is 5/2s; the third is infinite at zero
        s = math.sqrt(5.0) * roots(q)
        decay = array_namespace(q).exp(-s)
        return 25.0 / 12.0 * decay, -125.0 / 24.0 * inside(decay, q) / s

    profile_in_place = staticmethod(radial_profiles.matern52)
    fusible = True


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """A scale mixture of squared exponential kernels; RBF in the limit of large `alpha`.

    ``k(x, z) = σ_f² (1 + q / 2α)^(−α)`` with ``q = Σ_d (x_d − z_d)² / ℓ_d²``,
    [eq-ke-rational].

    Parameters
    ----------
    variance, lengthscale
        As in `RBF`.
    alpha : float, default 1.0
        α, positive.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> RationalQuadratic(alpha=0.5)(np.asarray([[0.0], [1.0]])).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    alpha: float = positive(1.0)
    fusible = True

    def _profile(self, q: Array) -> Array:
        xp = array_namespace(q)
        return xp.exp(-self.alpha * xp.log1p(q / (2.0 * self.alpha)))

    def _slope(self, q: Array) -> Array:
        return -0.5 * self._profile(q) / (1.0 + q / (2.0 * self.alpha))

    def _shape_bars(self, q: Array, K_bar: Matrix) -> dict[str, float]:
        return {"alpha": self.variance * total(self._by_alpha(q, K_bar))}

    def _by_alpha(self, q: Array, K_bar: Array) -> Array:
        """The terms of the derivative by α, ``p (t / (1 + t) − log(1 + t))`` with t = q / 2α."""
        xp = array_namespace(q)
        t = xp.clip(q / (2.0 * self.alpha), None, 1e30)
        relative = t / (1.0 + t) - xp.log1p(t)
        return K_bar * self._profile(q) * relative
