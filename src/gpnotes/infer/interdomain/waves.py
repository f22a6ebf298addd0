"""Inducing variables whose covariances with f are waves, and the sums of readings they need.

The waves of an angle θ are ``cos nθ`` and ``sin nθ``: no hyperparameter is in them. So regression
through such variables asks of the readings sums that are formed once, and since a product of two
waves is a sum of two others, a few for each order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ...ground import check as _check
from ...ground import memory
from ...ground.showing import summary
from ...ground.xp import (
    Matrix,
    Vector,
    array_namespace,
    as_array,
    as_index,
    in_double,
    keep_copies,
    to_numpy,
)
from ...model.bounds import Spread, spread
from ...model.contracts import MeanFunction
from ...model.kernels import Kernel
from ...model.kernels.circle import require_orders

__all__ = ["Moments", "WaveSums", "WaveVariables", "wave_sums"]

K = TypeVar("K", bound=Kernel)
T = TypeVar("T")
HostOrders: TypeAlias = NDArray[np.int64]

_TURN = 2.0 * math.pi
_BLOCK = 2**15  # waves that are there at a time: 256 KiB, as much for the sines


@dataclass(frozen=True, eq=False)
class WaveVariables(ABC, Generic[K]):
    """Inducing variables whose ``cov(u, f(x))`` is a multiple of a wave, for each order n.

    The cosines come first, then the sines of the orders but 0. A subclass gives the length of a
    turn by `circle`, and the factors of the waves by `amplitudes`.

    Parameters
    ----------
    orders : Vector, shape (R,)
        The orders n, distinct whole numbers from 0, in floats of the data's dtype; copied.
    """

    orders: Vector

    __repr__ = summary

    def __post_init__(self) -> None:
        host = to_numpy(require_orders(self.orders, "orders"))
        if host.size == 0 or np.unique(host).size < host.size:
            raise ValueError(f"orders must be at least one, all distinct; got {self.orders}")
        keep_copies(self, "orders")

    @property
    @abstractmethod
    def circle(self) -> tuple[float, float]:
        """The input where a turn begins, and how long it is."""

    @abstractmethod
    def apply(self, function: MeanFunction, kernel: K) -> Vector:
        """As in `contracts.InducingVariables`."""

    @abstractmethod
    def gram(self, kernel: K) -> Matrix:
        """As in `contracts.InducingVariables`."""

    @abstractmethod
    def gram_pullback(self, kernel: K, K_bar: Matrix) -> tuple[K, Matrix]:
        """As in `contracts.InducingVariables`."""

    @abstractmethod
    def require_kernel(self, kernel: K) -> None:
        """Raise for a kernel that these variables are not for."""

    @abstractmethod
    def amplitudes(self, kernel: K) -> Vector:
        """Return the factors of the waves under a kernel, which is not validated, (M,)."""

    @abstractmethod
    def amplitudes_pullback(self, kernel: K, bar: Vector) -> K:
        """The derivatives by a kernel that derivatives (M,) by its amplitudes bring."""

    @property
    def inputs(self) -> Matrix:
        """An array (0, 1), since there are none to move."""
        return self.orders[:0][:, None]

    @property
    def size(self) -> int:
        """The number of inducing variables M."""
        return self.orders.shape[0] + self.sines.shape[0]

    @cached_property
    def sines(self) -> Vector:
        """The orders that have a sine."""
        xp = array_namespace(self.orders)
        rows = np.flatnonzero(to_numpy(self.orders))
        return xp.take(self.orders, as_index(rows, self.orders), axis=0)

    @cached_property
    def of_each(self) -> Vector:
        """The order of each of the M."""
        return array_namespace(self.orders).concat([self.orders, self.sines], axis=0)

    @property
    def highest(self) -> int:
        """The highest order."""
        return int(np.max(to_numpy(self.orders)))

    def moved(self, inputs: Matrix) -> Self:
        """These variables, since there are no inputs to move; `inputs` must be (0, 1)."""
        _check.matrix(inputs, "inputs", rows=0, columns=1)
        _check.alike(inputs, "inputs", self.orders, "orders")
        return self

    def require_places(self, X: Matrix, name: str = "X") -> Matrix:
        """Inputs, if these variables take them.

        Parameters
        ----------
        X : Matrix, shape (n, 1)
            The inputs.
        name : str, default ``"X"``
            Their name in errors.

        Returns
        -------
        Matrix, shape (n, 1)
            The same.
        """
        return _check.alike(_check.matrix(X, name, columns=1), name, self.orders, "orders")

    def waves(self, X: Matrix) -> Matrix:
        """Cosines, then sines, of inputs (n, 1) that are validated, (M, n)."""
        xp = array_namespace(X)
        turned = xp.matrix_transpose(self.angles(X))
        cosines, sines = xp.cos(self.orders[:, None] * turned), self.sines[:, None] * turned
        return xp.concat([cosines, xp.sin(sines)], axis=0)

    def angles(self, X: Matrix) -> Matrix:
        """The angles of inputs, of their shape."""
        start, period = self.circle
        # angles from 0 over a turn stay as they are, to the last bit
        return X if (start, period) == (0.0, _TURN) else (X - start) * (_TURN / period)

    def cross(self, kernel: K, X: Matrix) -> Matrix:
        """The covariance of u with f at inputs, amplitudes times waves; O(M n).

        Parameters
        ----------
        kernel : Kernel
            The kernel, of a class that these variables are for.
        X : Matrix, shape (n, 1)
            The inputs.

        Returns
        -------
        Matrix, shape (M, n)
            K_uf.
        """
        self.require_kernel(kernel)
        self.require_places(X)
        return self.amplitudes(kernel)[:, None] * self.waves(X)

    def cross_pullback(self, kernel: K, X: Matrix, K_bar: Matrix) -> tuple[K, Matrix]:
        """Carry derivatives by K_uf back to the kernel.

        Parameters
        ----------
        kernel, X
            As in `cross`.
        K_bar : Matrix, shape (M, n)
            The derivatives by K_uf.

        Returns
        -------
        kernel_bar : Kernel
            The derivatives by the hyperparameters.
        inputs_bar : Matrix, shape (0, 1)
            Nothing, since there are no inputs.
        """
        self.require_kernel(kernel)
        self.require_places(X)
        self.require_bar(K_bar, X.shape[0])
        bar = array_namespace(X).sum(K_bar * self.waves(X), axis=1)
        return self.amplitudes_pullback(kernel, bar), self.inputs

    def require_bar(self, K_bar: Matrix, columns: int) -> None:
        """Raise for derivatives that are not (M, columns), of the kind of the orders."""
        _check.matrix(K_bar, "K_bar", rows=self.size, columns=columns)
        _check.alike(K_bar, "K_bar", self.orders, "orders")


class Moments(NamedTuple):
    """Moments of readings with the waves H (M, n) of some variables: ``HHᵀ``, ``H 1`` and ``H ỹ``.

    ỹ is y less its mean.
    """

    gram: Matrix
    waves: Vector
    products: Vector


@dataclass(frozen=True, eq=False)
class WaveSums:
    """Readings as the sums that waves up to an order ask for; those of two sets of readings add.

    With ``θ = 2π (x − start) / period`` and ``ỹ = y − mean``: ``Σ cos kθᵢ`` and ``Σ sin kθᵢ`` for k
    up to 2T, ``Σ ỹᵢ cos kθᵢ`` and ``Σ ỹᵢ sin kθᵢ`` up to T. They stand in the place of the readings
    wherever a verb takes them. Made by `wave_sums`.

    Parameters
    ----------
    count : int
        The number of readings n.
    mean : float
        The mean of y.
    squares : float
        ``Σ ỹᵢ²``.
    cosines, sines : Vector, shape (2T + 1,)
        The sums of waves.
    with_cosines, with_sines : Vector, shape (T + 1,)
        The sums of waves times ỹ.
    circle : tuple of float
        Where a turn starts, and its period.
    spread : Spread
        How far the readings reach, for a fit.

    Notes
    -----
    ``cos nθ cos mθ = ½ (cos (n − m)θ + cos (n + m)θ)``, and so on: HHᵀ of [eq-id-once]
    is made of 4T + 2 sums. They are in float64 where the device has it, in O(T) memory.

    Source: Hensman, Durrande & Solin (2018) for sums that are formed once.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.infer.interdomain import Harmonics
    >>> u, X = Harmonics(np.asarray([0.0, 1.0])), np.asarray([[0.0], [np.pi]])
    >>> first, second = (wave_sums(u, X[i : i + 1], np.ones(1)) for i in range(2))
    >>> (first + second).cosines
    array([2., 0., 2.])
    """

    count: int
    mean: float
    squares: float
    cosines: Vector
    sines: Vector
    with_cosines: Vector
    with_sines: Vector
    circle: tuple[float, float]
    spread: Spread

    __repr__ = summary

    @property
    def highest(self) -> int:
        """The highest order T that they are for."""
        return self.with_cosines.shape[0] - 1

    def __add__(self, other: WaveSums) -> WaveSums:
        if not isinstance(other, WaveSums):
            return NotImplemented
        if (self.highest, self.circle) != (other.highest, other.circle):
            ours, theirs = (f"order {s.highest} round {s.circle}" for s in (self, other))
            raise ValueError(f"sums must be of the same waves to be added; got {ours}, {theirs}")
        count = self.count + other.count
        apart = other.mean - self.mean
        share = other.count / count
        # about the mean of both ỹ of the first are larger by −share · apart, others by the rest
        mine, yours = -share * apart, (1.0 - share) * apart
        top = self.highest + 1
        return WaveSums(
            count,
            self.mean + share * apart,
            # about one mean they are more, by n₁ n₂ / (n₁ + n₂) of the squared gap of the two means
            self.squares + other.squares + self.count * share * apart**2,
            self.cosines + other.cosines,
            self.sines + other.sines,
            self.with_cosines + other.with_cosines
            + mine * self.cosines[:top] + yours * other.cosines[:top],
            self.with_sines + other.with_sines
            + mine * self.sines[:top] + yours * other.sines[:top],
            self.circle,
            self.spread + other.spread,
        )  # fmt: skip

    def moments(self, variables: WaveVariables[Kernel]) -> Moments:
        """Return the moments for the waves of some variables; O(M²), and kept for the next call.

        Parameters
        ----------
        variables : WaveVariables
            The variables, of orders up to T.

        Returns
        -------
        Moments
            The Gram matrix of their waves, the sums of these, and their products with ỹ.
        """
        self.require_for(_check.instance(variables, "variables", WaveVariables))
        orders = to_numpy(variables.orders)
        key = orders.dtype.char, orders.tobytes()
        found = self._kept.get(key)
        if found is None:  # a fit asks for the same again and again
            found = self._moments(variables)
            self._kept.clear()
            self._kept[key] = found
        return found  # not what is kept by now: another thread may have cleared that

    @cached_property
    def _kept(self) -> dict[tuple[str, bytes], Moments]:
        return {}

    def _moments(self, variables: WaveVariables[Kernel]) -> Moments:
        p, q = (to_numpy(a).astype(np.int64) for a in (variables.orders, variables.sines))
        xp = array_namespace(self.cosines)
        # cos pθ sin qθ = ½ (sin (p + q)θ + sin (q − p)θ)
        across = self._half(self.sines, p[:, None] + q) + self._half(self.sines, q - p[:, None])
        # cosines of sums and differences: cos cos is half of their sum, sin sin of their difference
        apart, joined = (self._half(self.cosines, p[:, None] + sign * p) for sign in (-1, 1))
        apart_s, joined_s = (self._half(self.cosines, q[:, None] + sign * q) for sign in (-1, 1))
        above = xp.concat([apart + joined, across], axis=1)
        below = xp.concat([xp.matrix_transpose(across), apart_s - joined_s], axis=1)
        waves, products = (
            xp.concat([_taken(of_cosines, p), _taken(of_sines, q)])
            for of_cosines, of_sines in (
                (self.cosines, self.sines), (self.with_cosines, self.with_sines)
            )
        )  # fmt: skip
        return Moments(xp.concat([above, below], axis=0), waves, products)

    def require_for(self, variables: WaveVariables[Kernel]) -> None:
        """Raise, naming the argument, for variables whose sums these are not."""
        if variables.circle != self.circle or variables.highest > self.highest:
            wanted = f"of orders up to {self.highest}, a turn from {self.circle}"
            got = f"orders up to {variables.highest}, a turn from {variables.circle}"
            raise ValueError(f"variables must be {wanted}, as the sums are; got {got}")
        _check.alike(in_double(variables.orders), "variables", self.cosines, "sums")

    def _half(self, sums: Vector, k: HostOrders) -> Matrix:
        """Half of the sums of whole orders k of either sign: sines are odd."""
        signs = np.where(k < 0, -0.5, 0.5) if sums is self.sines else np.full(k.shape, 0.5)
        values = _taken(sums, np.abs(k).reshape(-1))
        return array_namespace(sums).reshape(values, k.shape) * as_array(signs, sums)

    def over(self, work: Callable[..., T]) -> T:
        """Return a function's value for the readings, if it asks for these sums alone.

        Parameters
        ----------
        work : callable
            `bounds.spread`, or work with a method `of_waves`, which gets these sums.
        """
        if work is spread:
            return cast("T", self.spread)
        if not hasattr(work, "of_waves"):
            wanted = "rows or chunks: sums of waves do only for a sparse.SparseGP"
            raise TypeError(f"X must be {wanted}; got {_check.kind_of(self)}")
        return work.of_waves(self)


def _taken(sums: Vector, orders: HostOrders) -> Vector:
    xp = array_namespace(sums)
    return xp.take(sums, as_index(orders, sums), axis=0)


def wave_sums(variables: WaveVariables[Kernel], X: Matrix, y: Vector) -> WaveSums:
    """Form the sums that regression through waves asks of readings, in one pass.

    Parameters
    ----------
    variables : WaveVariables
        The variables, `Harmonics` or `IntervalHarmonics`; the sums will do for all others of the
        same circle or interval whose orders are no higher.
    X : Matrix, shape (n, 1)
        The inputs.

    Notes
    -----
    O(n T) for the highest order T, M/2 or more: one cosine and one sine for each
    reading, all others by the addition theorems. That is less than O(n M²) for a pass of products.
    Memory is O(T), whatever n is.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, condition
    >>> from gpnotes.infer import sparse
    >>> from gpnotes.infer.interdomain import Harmonics
    >>> from gpnotes.model.kernels import CircularRBF
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> u, gp = Harmonics(np.arange(9.0)), GP(CircularRBF(), 0.1)
    >>> sums = wave_sums(u, X, np.sin(X[:, 0]))
    >>> condition(sparse.SparseGP(gp, u), sums).mean(np.asarray([[1.5]])).round(1)
    array([1.])
    """
    _check.instance(variables, "variables", WaveVariables)
    if variables.require_places(X).shape[0] == 0:
        raise ValueError(f"X must have at least one row; got {tuple(X.shape)}")
    _check.alike(_check.vector(y, "y", rows=X), "y", X, "X")
    wide, values = in_double(X), _check.squarable(in_double(y), "y")
    xp = array_namespace(wide)
    mean = float(xp.mean(values))
    left = values - mean
    top = variables.highest
    parts = [
        _waves_of(variables.angles(wide[rows, :])[:, 0], left[rows], top)
        for rows in memory.blocks(X.shape[0], 2 * top + 1, _BLOCK, like=wide)
    ]
    cosines, sines, of_cosines, of_sines = (
        xp.sum(xp.stack(part), axis=0) for part in zip(*parts, strict=True)
    )
    return WaveSums(
        X.shape[0], mean, float(xp.sum(left * left)), cosines, sines, of_cosines, of_sines,
        variables.circle, spread(X, y),
    )  # fmt: skip


def _waves_of(theta: Vector, left: Vector, top: int) -> tuple[Vector, Vector, Vector, Vector]:
    """The four vectors of sums over a few readings."""
    xp = array_namespace(theta)
    cosines, sines = _powers(theta, 2 * top)
    pair = cosines[: top + 1, :] @ left, sines[: top + 1, :] @ left
    return xp.sum(cosines, axis=1), xp.sum(sines, axis=1), *pair


def _powers(theta: Vector, top: int) -> tuple[Matrix, Matrix]:
    """``cos kθ`` and ``sin kθ`` for k up to `top`, (top + 1, n): each step doubles their number."""
    xp = array_namespace(theta)
    cosines, sines = xp.ones_like(theta)[None, :], xp.zeros_like(theta)[None, :]
    if top:
        cosines = xp.concat([cosines, xp.cos(theta)[None, :]], axis=0)
        sines = xp.concat([sines, xp.sin(theta)[None, :]], axis=0)
    while (done := cosines.shape[0] - 1) < top:
        more = min(done, top - done)
        c, s, last_c, last_s = (
            a[rows, :] for rows in (slice(1, more + 1), done) for a in (cosines, sines)
        )
        cosines = xp.concat([cosines, c * last_c - s * last_s], axis=0)
        sines = xp.concat([sines, s * last_c + c * last_s], axis=0)
    return cosines, sines
