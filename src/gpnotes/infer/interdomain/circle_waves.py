"""Fourier coefficients of f on the circle as inducing variables, and how many of them to take.

They are independent, so that K_uu is diagonal, and the variance of f that they leave is the same
everywhere: the coefficients of the kernel that are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.xp import (
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    diagonal,
    eye,
    in_double,
    to_numpy,
)
from ...model.contracts import MeanFunction
from ...model.kernels import Circular
from .waves import WaveVariables

__all__ = ["Harmonics", "harmonics_within", "leading_harmonics"]

_ROUNDING = 1e-16  # share of the variance below which a harmonic adds nothing
_LEAST_SHARE = 1e-14  # less is rounding
_MOST = 2**14  # harmonics that `harmonics_within` looks for
_LEAST_NODES = 256  # of the integrals of `apply`


@dataclass(frozen=True, eq=False, repr=False)
class Harmonics(WaveVariables[Circular]):
    """The Fourier coefficients of f on the circle as inducing variables.

    ``u = ∫ f(θ) cos nθ dθ / π`` for each order n, then ``∫ f(θ) sin nθ dθ / π`` for each but 0;
    for ``n = 0`` the mean, ``∫ f dθ / 2π``. With a kernel ``Σ aₙ cos nd`` on the circle,
    `Circular`, ``cov(u, f(θ))`` is ``aₙ cos nθ`` or ``aₙ sin nθ`` and K_uu is diagonal with the
    same aₙ. M is 2R, or 2R − 1 where 0 is an order. There are no inputs to move. A kernel without
    some of the orders costs K_uu a jitter: `leading_harmonics` leaves these out.

    Parameters
    ----------
    orders : Vector, shape (R,)
        The orders n, distinct whole numbers from 0, in floats of the data's dtype; copied.

    Notes
    -----
    Source: Hensman, Durrande & Solin (2018) have harmonics as inducing variables on an interval;
    on spheres Dutordoir, Durrande & Hensman (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.model.kernels import CircularArcCosine
    >>> u = Harmonics(np.asarray([0.0, 1.0]))
    >>> (u.cross(CircularArcCosine(np.pi**2), np.zeros((1, 1)))).round(4)  # mean, cosine, sine
    array([[4.9348],
           [4.    ],
           [0.    ]])
    """

    @property
    def circle(self) -> tuple[float, float]:
        """A turn from 0."""
        return 0.0, 2.0 * math.pi

    def amplitudes(self, kernel: Circular) -> Vector:
        """aₙ of each of the M, (M,)."""
        return kernel.variance * kernel._spectrum(self.of_each).value

    def amplitudes_pullback(self, kernel: Circular, bar: Vector) -> Circular:
        """The derivatives by the kernel."""
        return kernel.coefficients_pullback(self.of_each, bar)

    def apply(self, function: MeanFunction, kernel: Circular | None = None) -> Vector:
        """The Fourier coefficients of a function of angles, by the trapezoidal rule.

        Parameters
        ----------
        function : callable
            The function, of angles (n, 1).
        kernel : Circular or None, default None
            Ignored: the coefficients are the same under any.

        Returns
        -------
        Vector, shape (M,)
            The coefficients.

        Notes
        -----
        The rule takes 256 angles or, if that is more, eight for each harmonic up to the highest:
        enough for all digits if the function is smooth round the circle; the error of one with
        kinks falls with the square of that number.
        """
        _check.function(function, "function")
        nodes = max(_LEAST_NODES, 8 * self.highest)
        angles = as_array(2.0 * math.pi / nodes * np.arange(nodes)[:, None], self.orders)
        # a mean over the nodes is ∫/2π: u itself for n = 0, and for the others half of it
        means = self.waves(angles) @ function(angles) / nodes
        return array_namespace(means).where(self.of_each == 0.0, means, 2.0 * means)

    def lost(self, kernel: Circular) -> float:
        """The variance of f at any angle that u leaves, ``σ_f² − Σ aₙ`` over the orders; O(R)."""
        self.require_kernel(kernel)
        # in float64: a small share that is lost is 1 less nearly 1
        wide = in_double(self.orders)
        kept = float(array_namespace(wide).sum(kernel._spectrum(wide).value))
        return kernel.variance * max(0.0, 1.0 - kept)

    def gram(self, kernel: Circular) -> Matrix:
        """The covariance of u, ``diag(aₙ)``, as a dense matrix.

        Returns
        -------
        Matrix, shape (M, M)
            K_uu.
        """
        self.require_kernel(kernel)
        memory.require_square(self.size, like=self.orders, copies=2, what="K_uu")
        return eye(self.size, self.orders) * self.amplitudes(kernel)

    def gram_pullback(self, kernel: Circular, K_bar: Matrix) -> tuple[Circular, Matrix]:
        """Carry derivatives by K_uu back to the kernel.

        Parameters
        ----------
        K_bar : Matrix, shape (M, M)
            The derivatives; only the diagonal matters.

        Returns
        -------
        kernel_bar : Circular
            The derivatives by the hyperparameters.
        inputs_bar : Matrix, shape (0, 1)
            Nothing, since there are no inputs.
        """
        self.require_kernel(kernel)
        self.require_bar(K_bar, self.size)
        return self.amplitudes_pullback(kernel, diagonal(K_bar)), self.inputs

    def require_kernel(self, kernel: Circular) -> None:
        """Raise for a kernel that is not on the circle."""
        if not isinstance(kernel, Circular):
            wanted = "a kernel on the circle, such as CircularRBF()"
            raise TypeError(f"kernel must be {wanted}; got {kernel!r}")
        kernel._validate_inputs(self.inputs, "inputs")


def leading_harmonics(kernel: Circular, X: Matrix, n: int) -> Harmonics:
    """The harmonics of the first orders that f has.

    Orders whose coefficient is below 1e-16 of the variance are left out; where more than half of
    the first 2n are, as for a smooth kernel, fewer than n come back.

    Parameters
    ----------
    X : Matrix, shape (N, 1)
        Angles, of the namespace and dtype that the orders take.
    n : int
        The number of orders.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.model.kernels import CircularArcCosine
    >>> leading_harmonics(CircularArcCosine(), np.zeros((1, 1)), 4).orders
    array([0., 1., 3., 5.])
    """
    _validate_angles(kernel, X)
    return Harmonics(
        as_array(_orders_and_shares(kernel, memory.count(n, "n", each=2, like=X))[0], X)
    )


def harmonics_within(kernel: Circular, X: Matrix, share: float) -> Harmonics:
    """As few leading harmonics as leave at most a share of the variance: a spectral truncation.

    Parameters
    ----------
    X : Matrix, shape (N, 1)
        Angles, of the namespace and dtype that the orders take.
    share : float
        The share, from 1e-14 to below 1.

    Returns
    -------
    Harmonics
        The harmonics. The trace term of VFE is then ``−share · n σ_f² / 2σ²`` nats at worst, for n
        observations.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.model.kernels import CircularRBF
    >>> found = harmonics_within(CircularRBF(1.0, 0.5), np.zeros((1, 1)), 1e-6)
    >>> found.size, found.lost(CircularRBF(1.0, 0.5)) < 1e-6
    (21, True)
    """
    _validate_angles(kernel, X)
    share = _check.number(share, "share")
    if not _LEAST_SHARE <= share < 1.0:
        raise ValueError(f"share must be from {_LEAST_SHARE} to 1; got {share}")
    n = 8
    while n <= _MOST:
        orders, shares = _orders_and_shares(kernel, n)
        enough = np.flatnonzero(1.0 - np.cumsum(shares) <= share)
        if enough.size:
            return Harmonics(as_array(orders[: enough[0] + 1], X))
        n *= 2
    raise ValueError(f"share must be one that {_MOST} harmonics of {kernel!r} leave; got {share}")


def _orders_and_shares(kernel: Circular, n: int) -> tuple[HostVector, HostVector]:
    orders = np.arange(2.0 * n)
    shares = to_numpy(kernel._spectrum(orders).value)
    kept = np.flatnonzero(shares > _ROUNDING)[:n]
    return orders[kept], shares[kept]


def _validate_angles(kernel: Circular, X: Matrix) -> None:
    if not isinstance(kernel, Circular):
        raise TypeError(f"kernel must be on the circle, such as CircularRBF(); got {kernel!r}")
    kernel.validate_inputs(X, "X")
