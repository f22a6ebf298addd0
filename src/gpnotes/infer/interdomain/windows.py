"""Averages of f under Gaussian windows as inducing variables: points with a width of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.params import cotangent
from ...ground.quadrature import gauss_hermite
from ...ground.showing import summary
from ...ground.xp import Array, Matrix, Vector, array_namespace, as_array, keep_copies
from ...model.contracts import MeanFunction
from ...model.kernels import RBF
from ...model.kernels.pullback_sums import per_dimension
from .point_functionals import require_bar, require_places

__all__ = ["GaussianWindows"]

_NODES = 20  # of the rule of `apply`, in a dimension


@dataclass(frozen=True, eq=False)
class GaussianWindows:
    """Averages of f under normal densities as inducing variables, for an RBF kernel.

    ``uₘ = ∫ N(x; zₘ, diag(cₘ²)) f(x) dx``, each with widths c of its own: several scales in one
    approximation. With widths of zero it is a value, ``f(zₘ)``. Centres and widths can be moved.

    Parameters
    ----------
    Z : Matrix, shape (M, d)
        The centres z, which are copied.
    widths : Matrix, shape (M, d)
        The widths c, which are copied. Their sign does not count, and at zero the slope by a width
        is zero: start where they are not.

    Notes
    -----
    ``cov(uₘ, f(x)) = σ_f² Π_d (ℓ_d² / v_d)^½ exp(−(z_md − x_d)² / 2v_d)`` with ``v_d = ℓ_d² +
    c_md²``, and of two averages the same with ``v_d = ℓ_d² + c_md² + c_nd²``.

    Source: Lázaro-Gredilla & Figueiras-Vidal (2009), the multi-scale features of section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF
    >>> u = GaussianWindows(np.zeros((2, 1)), np.asarray([[0.0], [1.0]]))
    >>> u.gram(RBF()).round(4)  # a value, and an average that knows it in part
    array([[1.    , 0.7071],
           [0.7071, 0.5774]])
    """

    Z: Matrix
    widths: Matrix

    __repr__ = summary

    def __post_init__(self) -> None:
        if _check.matrix(self.Z, "Z").shape[0] == 0:
            raise ValueError(f"Z must have at least one row; got {tuple(self.Z.shape)}")
        _check.matrix(self.widths, "widths", rows=self.Z.shape[0], columns=self.Z.shape[1])
        _check.alike(self.widths, "widths", self.Z, "Z")
        keep_copies(self, "Z", "widths")

    @property
    def inputs(self) -> Matrix:
        """The centres, and below them the widths, shape (2M, d), in the units of the inputs."""
        return array_namespace(self.Z).concat([self.Z, self.widths], axis=0)

    @property
    def size(self) -> int:
        """The number of inducing variables M."""
        return self.Z.shape[0]

    def moved(self, inputs: Matrix) -> Self:
        """The averages under other windows.

        Parameters
        ----------
        inputs : Matrix, shape (2M, d)
            Their centres and widths, as in `inputs`.
        """
        M, d = self.Z.shape
        _check.matrix(inputs, "inputs", rows=2 * M, columns=d)
        _check.alike(inputs, "inputs", self.Z, "Z")
        return replace(self, Z=inputs[:M, :], widths=inputs[M:, :])

    def apply(self, function: MeanFunction, kernel: RBF | None = None) -> Vector:
        """The averages of a function g, by a Gauss-Hermite rule of 20 nodes in each dimension.

        Parameters
        ----------
        function : callable
            The function g, of inputs (n, d).
        kernel : RBF or None, default None
            Ignored: the averages are the same under any.

        Returns
        -------
        Vector, shape (M,)
            The averages.
        """
        _check.function(function, "function")
        d = self.Z.shape[1]
        memory.require(_NODES**d, d, copies=4, like=self.Z, what="the nodes of the rule")
        nodes, weights = (np.asarray(a) for a in gauss_hermite(_NODES))
        grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
        mass = np.prod(np.stack(np.meshgrid(*[weights] * d, indexing="ij")), axis=0).reshape(-1)
        steps, share = as_array(grid, self.Z), as_array(mass, self.Z)
        xp = array_namespace(self.Z)
        averages = []
        for i in range(self.size):
            places = self.Z[i, :][None, :] + steps * self.widths[i, :][None, :]
            values = _check.vector(function(places), "function(x)", size=places.shape[0])
            averages.append(xp.sum(share * values))
        return xp.stack(averages)

    def gram(self, kernel: RBF) -> Matrix:
        """The covariance of u; O(M² d).

        Returns
        -------
        Matrix, shape (M, M)
            K_uu.
        """
        self._require_kernel(kernel)
        return _covariance(kernel, self._pairs(kernel, None))

    def gram_pullback(self, kernel: RBF, K_bar: Matrix) -> tuple[RBF, Matrix]:
        """Carry derivatives by K_uu back to the kernel, the centres and the widths.

        Parameters
        ----------
        K_bar : Matrix, shape (M, M)
            The derivatives by K_uu.

        Returns
        -------
        kernel_bar : RBF
            The derivatives by the hyperparameters.
        inputs_bar : Matrix, shape (2M, d)
            The derivatives by centres and widths.
        """
        self._require_kernel(kernel)
        require_bar(K_bar, self.size, self.size, self.Z)
        return self._pulled(kernel, K_bar, None)

    def cross(self, kernel: RBF, X: Matrix) -> Matrix:
        """The covariance of u with f; O(M n d).

        Returns
        -------
        Matrix, shape (M, n)
            K_uf.
        """
        self._require_kernel(kernel)
        require_places(X, self.Z)
        return _covariance(kernel, self._pairs(kernel, X))

    def cross_pullback(self, kernel: RBF, X: Matrix, K_bar: Matrix) -> tuple[RBF, Matrix]:
        """Carry derivatives by K_uf back to the kernel, the centres and the widths.

        Parameters
        ----------
        kernel, X
            As in `cross`.
        K_bar : Matrix, shape (M, n)
            The derivatives by K_uf.

        Returns
        -------
        kernel_bar, inputs_bar
            As in `gram_pullback`.
        """
        self._require_kernel(kernel)
        require_places(X, self.Z)
        require_bar(K_bar, self.size, X.shape[0], self.Z)
        return self._pulled(kernel, K_bar, X)

    def _pairs(self, kernel: RBF, X: Matrix | None) -> list[_Pair]:
        """A dimension at a time, u with f at X, or with itself."""
        others = self.Z if X is None else X
        pairs = []
        for d in range(self.Z.shape[1]):
            length = _length(kernel, d)
            squares = self.widths[:, d] ** 2
            spread = squares[:, None] + squares[None, :] if X is None else squares[:, None]
            way = self.Z[:, d][:, None] - others[:, d][None, :]
            pairs.append(_Pair(length, way, length**2 + spread))
        return pairs

    def _pulled(self, kernel: RBF, K_bar: Matrix, X: Matrix | None) -> tuple[RBF, Matrix]:
        """With ``G = K_bar ∘ K`` and ``T = δ²/v² − 1/v``: ``z_bar = −Σ G δ/v``, ``c_bar = c Σ G T``
        and ``ℓ_bar = Σ G (1/ℓ + ℓ T)``; in K_uu each window is on both sides."""
        xp = array_namespace(K_bar)
        pairs = self._pairs(kernel, X)
        G = K_bar * _covariance(kernel, pairs)
        both = G + xp.matrix_transpose(G) if X is None else G
        total = xp.sum(G)
        centres, widths, lengths = [], [], []
        for d, (length, way, spread) in enumerate(pairs):
            slope = way / spread
            bend = slope * slope - 1.0 / spread
            centres.append(-xp.sum(both * slope, axis=1))
            widths.append(self.widths[:, d] * xp.sum(both * bend, axis=1))
            lengths.append(total / length + length * xp.sum(G * bend))
        kernel_bar = cotangent(
            kernel,
            variance=float(total) / kernel.variance,
            lengthscale=per_dimension(xp.stack(lengths)[None, :], kernel.lengthscale),
        )
        columns = [xp.stack(part, axis=1) for part in (centres, widths)]
        return kernel_bar, xp.concat(columns, axis=0)

    def _require_kernel(self, kernel: RBF) -> None:
        if type(kernel) is not RBF:
            raise TypeError(f"kernel must be an RBF for averages under windows; got {kernel!r}")
        kernel._validate_inputs(self.Z, "Z")


class _Pair(NamedTuple):
    """Of one dimension ℓ, the ways δ from window to window or input, and the squares v."""

    length: float
    way: Matrix
    spread: Array


def _length(kernel: RBF, d: int) -> float:
    held = kernel.lengthscale
    return held if isinstance(held, float) else float(held[d])


def _covariance(kernel: RBF, pairs: list[_Pair]) -> Matrix:
    """``σ_f² Π (ℓ²/v)^½ exp(−δ²/2v)``, from the sum of the logarithms."""
    xp = array_namespace(pairs[0].way)
    # logarithms are added: in many columns a product of roots may underflow on its way
    logs = xp.full_like(pairs[0].way, math.log(kernel.variance))
    for length, way, spread in pairs:
        logs = logs - 0.5 * (way * way / spread + xp.log(spread / length**2))
    return xp.exp(logs)
