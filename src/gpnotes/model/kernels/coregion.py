"""Several outputs at once: which output a row is of stands in a column of its own.

A product with a kernel of the inputs is the intrinsic coregionalisation model, and a sum of such
products the linear model of coregionalisation. A reading that is missing is a row that is not
there, so nothing but the kernel changes: all that takes a kernel takes several outputs.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.params import cotangent, nonnegative, positive, real
from ...ground.xp import (
    Array,
    Matrix,
    MatrixLike,
    Vector,
    array_namespace,
    as_array,
    as_index,
    device,
    diagonal,
    eye,
    how_many,
    keep_copies,
)
from .algebra import Kernel

__all__ = ["Coregion", "OutputNoise", "outputs_at", "readings_of"]


class _OfOutputs(Kernel):
    """A kernel of one column, the numbers of outputs."""

    @property
    @abstractmethod
    def _outputs(self) -> int:
        """The number p of outputs."""

    @property
    @abstractmethod
    def _parameter(self) -> tuple[Array, str]:
        """An array that the inputs must be like, and its name."""

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        if x.shape[1] != 1:
            raise ValueError(f"{name} must have one column, of outputs; got {tuple(x.shape)}")
        array, label = self._parameter
        _check.alike(array, f"{type(self).__name__}.{label}", x, name)
        xp, column = array_namespace(x), x[:, 0]
        wrong = (column != xp.round(column)) | (column < 0.0) | (column >= self._outputs)
        if bool(xp.any(wrong)):
            row = how_many(wrong)[1]
            wanted = f"hold outputs, whole numbers 0 to {self._outputs - 1}"
            raise ValueError(f"{name} must {wanted}; got {float(column[row]):.6g} in row {row}")


@dataclass(frozen=True)
class Coregion(_OfOutputs):
    """The covariance of several outputs, ``k(i, j) = B_ij`` with ``B = W Wᵀ + diag κ``.

    Its inputs are one column, (n, 1), of numbers of outputs from 0. Times a kernel of the other
    columns it is the intrinsic coregionalisation model: ``RBF().on(0) * Coregion(W, κ).on(1)``
    has ``cov(f_i(x), f_j(z)) = B_ij k(x, z)``, so that each output tells of the others.

    Parameters
    ----------
    weights : Matrix, shape (p, r)
        W, in the unit of y: how much each of p outputs has of each of r functions that they share.
    own : Vector, shape (p,)
        κ, not negative, in the unit of y²: the variance that each output has for itself. Zeros are
        held by a fit that names them in ``fixed``.

    Notes
    -----
    The other factor should keep its variance, which B has too: a fit takes it by its name,
    ``fixed=["kernel.parts.0.kernel.variance"]`` for the product above. At ``W = 0``, and where
    columns of W are equal, the gradient is that of fewer columns: start elsewhere. A fit can turn
    the sign of a column, and rotate several; B stays the same. Alone, ``Coregion(zeros, κ).on(1)``
    in a sum gives each output a level of its own, which need not be subtracted then.

    Costs O(n m) for the entries and O(n m p) for a pullback, without an array (n, m, p). Source:
    Bonilla, Chai & Williams (2007), Multi-task Gaussian process prediction; Álvarez, Rosasco &
    Lawrence (2012), Kernels for vector-valued functions, section 4.2; the name is geostatistics',
    Goovaerts (1997).

    Examples
    --------
    Two outputs, the second about minus the first, which alone was read at 1:

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> B = Coregion(np.asarray([[1.0], [-1.0]]), np.asarray([0.01, 0.01]))
    >>> rows, y = readings_of(
    ...     np.asarray([[0.0], [1.0]]), np.asarray([[0.5, -0.5], [0.9, np.nan]]), gaps=True
    ... )
    >>> posterior = condition(GP(RBF().on(0) * B.on(1), 1e-4), rows, y)
    >>> mean, variance = posterior.predict(outputs_at(np.asarray([[1.0]]), 2))
    >>> mean.round(2), np.sqrt(variance).round(2)
    (array([ 0.9 , -0.89]), array([0.01, 0.11]))
    """

    weights: Matrix = real(unit="y")
    own: Vector = nonnegative(per_dimension=True, unit="y²")

    def __post_init__(self) -> None:
        W = _check.matrix(self.weights, "Coregion.weights")
        if 0 in W.shape:
            raise ValueError(f"Coregion.weights must have rows and columns; got {tuple(W.shape)}")
        _check.vector(self.own, "Coregion.own", size=W.shape[0])
        _check.alike(self.own, "Coregion.own", W, "Coregion.weights")
        _check.positive(self.own, "Coregion.own", zero=True)
        keep_copies(self, "weights", "own")

    @property
    def covariance(self) -> Matrix:
        """B, (p, p)."""
        xp, W = array_namespace(self.weights), self.weights
        B = W @ xp.matrix_transpose(W)
        B = xp.tril(B) + xp.matrix_transpose(xp.tril(B, k=-1))  # symmetric to the last bit
        return B + self.own[:, None] * eye(W.shape[0], W)

    @property
    def correlation(self) -> Matrix:
        """B with ones on its diagonal, (p, p); NaN for an output without variance."""
        B = self.covariance
        sd = array_namespace(B).sqrt(diagonal(B))
        return B / (sd[:, None] * sd[None, :])

    @property
    def _outputs(self) -> int:
        return self.own.shape[0]

    @property
    def _parameter(self) -> tuple[Array, str]:
        return self.own, "own"

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        xp = array_namespace(x)
        rows = xp.take(self.covariance, _number(x), axis=0)
        return xp.take(rows, _number(x if z is None else z), axis=1)

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).take(diagonal(self.covariance), _number(x))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp, left = array_namespace(x), _membership(x, self._outputs)
        right = left if z is None else _membership(z, self._outputs)
        B_bar = xp.matrix_transpose(left) @ (K_bar @ right)
        return self._bar(B_bar), xp.zeros_like(x), None if z is None else xp.zeros_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        d_bar = d_bar @ _membership(x, self._outputs)
        bar = self._bar(d_bar[:, None] * eye(self._outputs, x))
        return bar, array_namespace(x).zeros_like(x)

    def _bar(self, B_bar: Matrix) -> Self:
        """The derivatives by W and κ of those by B."""
        weights_bar = (B_bar + array_namespace(B_bar).matrix_transpose(B_bar)) @ self.weights
        return cotangent(self, weights=weights_bar, own=diagonal(B_bar))


@dataclass(frozen=True)
class OutputNoise(_OfOutputs):
    """Independent noise of every reading, of a variance that each output has for itself.

    As for `White` it is on the diagonal of ``k(x)``, and nothing in ``k(x, z)``. Its inputs are
    those of `Coregion`; with it ``noise_var`` may be zero.

    Parameters
    ----------
    variance : Vector, shape (p,)
        The variances of the noise, positive.

    Notes
    -----
    It is part of f, as `White` is: predictions of f have it in their variance. Without it that is
    ``posterior.variance(rows) - noise.diag(rows)``. Methods that approximate f between readings,
    inducing points by VFE and paths, want the noise in ``noise_var``: divide each output, in y and
    in B, by its deviation. Costs O(n²) for the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> OutputNoise(np.asarray([0.1, 0.4]))(np.asarray([[0.0], [1.0], [1.0]]))
    array([[0.1, 0. , 0. ],
           [0. , 0.4, 0. ],
           [0. , 0. , 0.4]])
    """

    variance: Vector = positive(per_dimension=True, unit="y²")

    def __post_init__(self) -> None:
        if _check.vector(self.variance, "OutputNoise.variance").shape[0] == 0:
            raise ValueError("OutputNoise.variance must have an entry for each output; got none")
        super().__post_init__()

    @property
    def _outputs(self) -> int:
        return self.variance.shape[0]

    @property
    def _parameter(self) -> tuple[Array, str]:
        return self.variance, "variance"

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        if z is None:
            return self._diag(x)[:, None] * eye(x.shape[0], x)
        xp = array_namespace(x)
        return xp.zeros((x.shape[0], z.shape[0]), dtype=x.dtype, device=device(x))

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).take(self.variance, _number(x))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        if z is None:
            return *self._diag_pullback(x, diagonal(K_bar)), None
        xp = array_namespace(x)
        bar = cotangent(self, variance=xp.zeros_like(self.variance))
        return bar, xp.zeros_like(x), xp.zeros_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar = cotangent(self, variance=d_bar @ _membership(x, self._outputs))
        return bar, array_namespace(x).zeros_like(x)


@takes("x")
def outputs_at(x: MatrixLike, outputs: int) -> Matrix:
    """Rows for all outputs at some places, place by place.

    A prediction at these rows, (m p,), is a table by ``reshape(mean, (m, p))``.

    Parameters
    ----------
    x : Matrix, shape (m, d)
        The places.
    outputs : int
        The number p of outputs, from 1.

    Returns
    -------
    Matrix, shape (m p, d + 1)
        The columns of x, and the number of the output, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> outputs_at(np.asarray([[3.0], [4.0]]), 2)
    array([[3., 0.],
           [3., 1.],
           [4., 0.],
           [4., 1.]])
    """
    m, d = _check.matrix(x, "x").shape
    p = memory.count(outputs, "outputs", each=m * (d + 1), like=x)
    xp = array_namespace(x)
    places = xp.broadcast_to(x[:, None, :], (m, p, d))
    numbers = xp.broadcast_to(as_array(range(p), x)[None, :, None], (m, p, 1))
    return xp.reshape(xp.concat([places, numbers], axis=2), (m * p, d + 1))


@takes("x", "Y")
def readings_of(x: MatrixLike, Y: MatrixLike, *, gaps: bool = False) -> tuple[Matrix, Vector]:
    """Write a table of several outputs as rows and readings, without the missing ones.

    Parameters
    ----------
    x : Matrix, shape (n, d)
        The places.
    Y : Matrix, shape (n, p)
        The table, a column an output.
    gaps : bool, default False
        Take NaN for a reading that is missing; otherwise it is an error, as everywhere here.

    Returns
    -------
    rows : Matrix, shape (m, d + 1)
        Place and number of the output of each of m readings, in the order of `outputs_at`.
    y : Vector, shape (m,)
        The readings.

    Examples
    --------
    >>> import numpy as np
    >>> readings_of(np.asarray([[3.0], [4.0]]), np.asarray([[1.0, np.nan], [2.0, 5.0]]), gaps=True)
    (array([[3., 0.],
           [4., 0.],
           [4., 1.]]), array([1., 2., 5.]))
    """
    n = _check.matrix(x, "x").shape[0]
    xp = array_namespace(_check.floating(Y, "Y"))
    filled = xp.where(xp.isnan(Y), xp.zeros_like(Y), Y) if _check.flag(gaps, "gaps") else Y
    _check.alike(_check.matrix(filled, "Y", rows=n), "Y", x, "x")
    (there,) = xp.nonzero(xp.reshape(~xp.isnan(Y), (-1,)))
    if there.shape[0] == 0:
        raise ValueError(f"Y must hold at least one reading; got {tuple(Y.shape)} without any")
    rows = outputs_at(x, Y.shape[1])
    return xp.take(rows, there, axis=0), xp.take(xp.reshape(Y, (-1,)), there)


def _number(x: Matrix) -> Array:
    """The outputs of rows, (n,), as whole numbers."""
    return as_index(x[:, 0], x)


def _membership(x: Matrix, outputs: int) -> Matrix:
    """A one at the output of each row, (n, p), and zeros elsewhere."""
    xp = array_namespace(x)
    return xp.astype(x == as_array(range(outputs), x)[None, :], x.dtype)
