"""Sines on a box, with the spectral density of a kernel for their weights: nothing is drawn.

On a box at whose walls they vanish, the eigenfunctions of the Laplace operator are products of
sines. Of a stationary kernel each has the weight that the spectral density gives its frequency:
``k(x, z) ≈ Σⱼ S(ωⱼ) φⱼ(x) φⱼ(z)``. The better, the further the walls are from x and z, and the less
spectral density is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.late_reads import number
from ...ground.params import cotangent
from ...ground.showing import summary
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    Numbers,
    Vector,
    array_namespace,
    as_array,
    as_index,
    keep_copies,
    to_numpy,
)
from ...model.kernels import RBF, Kernel, Matern12, Matern32, Matern52, Stationary
from ...model.kernels.pullback_sums import per_dimension
from .feature_map import FeatureMap

__all__ = ["BoxSines", "leading_sines"]

# the degrees of freedom of the frequencies: Student's t, and the normal distribution at their end
_FREEDOM = {RBF: math.inf, Matern12: 1.0, Matern32: 3.0, Matern52: 5.0}


@dataclass(frozen=True, eq=False)
class BoxSines(FeatureMap):
    """R products of sines on a box, for an RBF or Matérn kernel: a map from inputs to features.

    ``φⱼ(x) = √S(ωⱼ) Π_k √(2/L_k) sin ωⱼₖ(x_k − low_k)`` with ``ωⱼₖ = π orderⱼₖ / L_k``, the sides
    ``L = high − low`` and the spectral density S of the kernel. A fit moves S, while box and orders
    stay, so that it goes through the readings once. Inputs off the box are refused. Made by
    `leading_sines`.

    Parameters
    ----------
    orders : Matrix, shape (R, d)
        Whole numbers from 1, in floats of the data's dtype, no row twice; copied.
    low, high : Vector, shape (d,)
        The corners of the box; copied.

    Notes
    -----
    All sines are zero at the walls, as f is not: take a box that leaves the inputs, those of
    predictions too, a margin of a lengthscale or two.

    Source: Solin & Särkkä (2020), *Hilbert space methods for reduced-rank Gaussian process
    regression*; a lengthscale for each column as in Riutort-Mayol, Bürkner, Andersen, Solin &
    Vehtari (2023).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> sines = BoxSines(np.arange(1.0, 16.0)[:, None], np.asarray([-3.0]), np.asarray([4.0]))
    >>> Phi = sines.features(RBF(), np.asarray([[0.0], [1.0]]))
    >>> (Phi @ Phi.T).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    orders: Matrix
    low: Vector
    high: Vector

    name: ClassVar[str] = "sines on a box"

    __repr__ = summary

    def __post_init__(self) -> None:
        d = _check.matrix(self.orders, "orders").shape[1]
        if 0 in self.orders.shape:
            raise ValueError(f"orders must have at least one row; got {tuple(self.orders.shape)}")
        for end in ("low", "high"):
            held = _check.vector(getattr(self, end), end, size=d)
            _check.alike(held, end, self.orders, "orders")
        _require_orders(to_numpy(self.orders))
        if not bool(np.all(to_numpy(self.low) < to_numpy(self.high))):
            raise ValueError(f"low must be below high, {self.high}; got {self.low}")
        keep_copies(self, "orders", "low", "high")

    @property
    def like(self) -> Matrix:
        """`orders`, which are of the dtype and on the device of the inputs and features."""
        return self.orders

    def validate_kernel(self, kernel: Kernel) -> Kernel:
        """The kernel, if its spectral density is known here; else a `TypeError`."""
        _known(kernel)._validate_inputs(self.orders[:0, :], "X")
        return kernel

    def require_match(self, kernel: Kernel, X: Matrix, name: str = "X") -> Kernel:
        """`FeatureMap.require_match`, for inputs in the box."""
        super().require_match(kernel, X, name)
        outside = (self.low > X) | (self.high < X)
        if bool(array_namespace(X).any(outside)):
            wanted = f"lie in the box of the sines, from {self.low} to {self.high}"
            low, high = _ends(X)
            raise ValueError(f"{name} must {wanted}; it goes from {low} to {high}")
        return kernel

    def _features(self, kernel: Kernel, X: Matrix) -> Matrix:
        return self.sines(X) * self.deviations(kernel)[None, :]

    def sines(self, X: Matrix) -> Matrix:
        """The products of sines, without hyperparameters, (n, R): orthonormal on the box.

        Parameters
        ----------
        X : Matrix, shape (n, d)
            The inputs; they are not validated.
        """
        xp = array_namespace(X)
        product, columns = None, as_index(self.orders, self.orders) - 1
        for k, top in enumerate(to_numpy(self.orders).max(axis=0).astype(int)):
            # one sine for each order, of which the features have many the same
            side = self.high[k] - self.low[k]
            steps = as_array(math.pi * np.arange(1, top + 1), X) / side
            table = xp.sqrt(2.0 / side) * xp.sin((X[:, k] - self.low[k])[:, None] * steps[None, :])
            factor = xp.take(table, columns[:, k], axis=1)
            product = factor if product is None else product * factor
        assert product is not None
        return product

    def deviations(self, kernel: Kernel) -> Vector:
        """The prior standard deviations ``√S(ω)`` of the weights of the sines, (R,).

        Parameters
        ----------
        kernel : Kernel
            The kernel; it is not validated.
        """
        leaf = _known(kernel)
        q, nu, d = self._squares(leaf), _FREEDOM[type(leaf)], self.orders.shape[1]
        xp = array_namespace(q)
        # Π ℓ over all columns: one length for all of them counts d times
        logs = xp.log(leaf.lengthscale + xp.zeros_like(self.low))
        volume = leaf.variance * _exp(number(xp.sum(logs))) * (2.0 * math.pi) ** (0.5 * d)
        if math.isinf(nu):
            # √S with the root in the exponent: S itself underflows at half the q
            return _sqrt(volume) * xp.exp(-0.25 * q)
        scale = math.lgamma(0.5 * (nu + d)) - math.lgamma(0.5 * nu) + 0.5 * d * math.log(2.0 / nu)
        return _sqrt(volume * math.exp(scale)) * (1.0 + q / nu) ** (-0.25 * (nu + d))

    def kernel_bar(self, kernel: Kernel, weighted: Vector, omega_bar: Matrix) -> Kernel:
        """By the spectral density alone, since the frequencies stay."""
        leaf = _known(kernel)
        xp = array_namespace(weighted)
        nu, d = _FREEDOM[type(leaf)], self.orders.shape[1]
        scaled = (self._frequencies * leaf.lengthscale) ** 2
        # log S = log σ_f² + Σ log ℓ + log p(q), with a slope of −½ by q or of −½ (ν + d)/(ν + q)
        falls = 1.0 if math.isinf(nu) else (nu + d) / (nu + xp.sum(scaled, axis=1)[:, None])
        terms = 0.5 * weighted[:, None] * (1.0 - falls * scaled) / leaf.lengthscale
        return cotangent(
            leaf,
            variance=number(xp.sum(weighted)) / (2.0 * leaf.variance),
            lengthscale=per_dimension(terms, leaf.lengthscale),
        )

    @property
    def _frequencies(self) -> Matrix:
        """ω, (R, d)."""
        return self.orders * (math.pi / (self.high - self.low))[None, :]

    def _squares(self, leaf: Stationary) -> Vector:
        """``Σ_k ℓ_k² ω_k²`` of each, (R,)."""
        scaled = self._frequencies * leaf.lengthscale
        return array_namespace(scaled).sum(scaled * scaled, axis=1)


def _exp(a: Numbers) -> Numbers:
    return math.exp(a) if isinstance(a, float) else array_namespace(a).exp(a)


def _sqrt(a: Numbers) -> Numbers:
    return math.sqrt(a) if isinstance(a, float) else array_namespace(a).sqrt(a)


def _known(kernel: Kernel) -> Stationary:
    if not isinstance(kernel, Stationary) or type(kernel) not in _FREEDOM:
        known = ", ".join(kind.__name__ for kind in _FREEDOM)
        raise TypeError(f"kernel must be one of {known}, for sines on a box; got {kernel!r}")
    return kernel


def _require_orders(orders: HostMatrix) -> None:
    if not np.all((orders >= 1.0) & (orders == np.rint(orders))):
        raise ValueError(f"orders must be whole numbers from 1; got {orders}")
    if len(np.unique(orders, axis=0)) < len(orders):
        raise ValueError("orders must have no row twice")


def _ends(X: Matrix) -> tuple[Vector, Vector]:
    xp = array_namespace(X)
    return xp.min(X, axis=0), xp.max(X, axis=0)


@takes("X")
def leading_sines(kernel: Kernel, X: MatrixLike, n: int, *, margin: float = 1.5) -> BoxSines:
    """The n sines of the largest spectral density, on a box around some inputs.

    Parameters
    ----------
    kernel : Kernel
        An `RBF` or a Matérn kernel. Its lengthscales are all that counts.
    X : Matrix, shape (m, d)
        Inputs that reach as far as those to come.
    n : int
        The number of sines.
    margin : float, default 1.5
        How far the walls are from the inputs at either end, in lengthscales. Near a wall f has too
        little variance, and a wide box asks for more sines: where these are few for it, as in three
        columns or for a rough kernel, a smaller margin is better.

    Notes
    -----
    O(n log n) for each column. In a box of V lengthscales, V squared ones in two columns, the last
    of n sines of an `RBF` has ``exp(−(π n / V)² / 2)`` and ``exp(−2π n / V)`` of its largest
    spectral density.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.infer.features import FeatureGP
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> model = FeatureGP(GP(RBF(), 0.01), leading_sines(RBF(), X, 12))
    >>> condition(model, X, np.sin(X[:, 0])).mean([[1.5]]).round(2)
    array([1.])
    >>> leading_sines(RBF(), [[0.0, 0.0], [3.0, 1.0]], 5).orders[:, 1]
    array([1., 1., 2., 1., 2.])
    """
    _check.matrix(X, "X")
    leaf = _known(kernel)
    leaf._validate_inputs(X, "X")
    n = memory.count(n, "n", each=2 * X.shape[1], like=X)
    margin = _check.positive(_check.number(margin, "margin"), "margin")
    lengths = array_namespace(X).zeros_like(X[0, :]) + leaf.lengthscale
    # f is not zero at a wall, and forgets within a lengthscale or two that its sines are
    low, high = (end + s * margin * lengths for end, s in zip(_ends(X), (-1, 1), strict=True))
    if not bool(np.all(to_numpy(low) < to_numpy(high))):
        raise ValueError("X must lie nearer to zero: next to it the margin is lost to rounding")
    steps = to_numpy(lengths / (high - low)).astype(float)
    return BoxSines(as_array(_smallest(n, steps), X), low, high)


def _smallest(n: int, steps: HostVector) -> HostMatrix:
    """Return the n rows of whole numbers j from 1 whose ``Σ (steps j)²`` is smallest, (n, d)."""
    orders, sums = np.empty((1, 0)), np.zeros(1)
    for step in steps:
        # with the a-th row and the number b there are a b others that are no larger
        a, b = np.asarray([(i, j) for i in range(len(sums)) for j in range(1, n // (i + 1) + 1)]).T
        found = sums[a] + (step * b) ** 2
        first = np.argsort(found, kind="stable")[:n]
        orders, sums = np.column_stack([orders[a], b])[first], found[first]
    return orders
