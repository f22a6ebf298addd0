"""Derivatives of f as observations and predictions: rows with a label, value or derivative.

The derivatives of a Gaussian process are Gaussian with it, and their covariances are derivatives
of the kernel. So nothing but the kernel changes: `WithGradients` takes rows of d + 1 columns,
the last a label, and works wherever a kernel does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground import memory
from ...ground.params import added, cotangent, fixed, positive
from ...ground.xp import Array, Matrix, Vector, array_namespace, how_many
from .algebra import Kernel, require_kernels
from .derivative_covariances import Observed, Rows, covariances_of
from .pullback_sums import total
from .white import White

__all__ = ["GradientNoise", "WithGradients", "derivatives_at", "gradients_at", "values_at"]

_ENTRIES = 2**18  # of each matrix that a covariance is made of, at a time


class _OfLabelled(Kernel):
    """A kernel whose inputs end in a label: value, or which derivative of f a row observes."""

    @property
    def labels_rows(self) -> bool:
        """They do."""
        return True

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        _validate_labels(x, name)


@dataclass(frozen=True)
class WithGradients(_OfLabelled):
    """Covariances of the values and the partial derivatives of f, where `kernel` is that of f.

    A row of its inputs, (n, d + 1), is a point of d columns and a label: 0 for the value of f, k
    for its derivative by the input with number k, from 1 to d. `values_at` and `gradients_at`
    write the labels. Then ``cov(f(x), ∂f(z)/∂z_b) = ∂k(x, z)/∂z_b`` and ``cov(∂f(x)/∂x_a,
    ∂f(z)/∂z_b) = ∂²k(x, z)/∂x_a ∂z_b``.

    Parameters
    ----------
    kernel : Kernel
        RBF, Matern52, Matern32 or ThinPlate, Linear or Constant, or a sum or a multiple of these.

    Notes
    -----
    Under Matern32 and ThinPlate f has one derivative, which is rough, and no derivative by the
    inputs of its own: where points coincide, it is taken as zero.

    A mean must follow the labels as well: `ConstantOfValues` is a constant of values alone,
    and a process refuses `ConstantMean`. Noise is of one variance for all rows, whatever their
    units: `GradientNoise` adds to that of derivatives.

    Source: Solak et al. (2002), Derivative observations in Gaussian process models of dynamic
    systems.

    Examples
    --------
    Four values of a sine, and four with their slopes:

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> x, new = np.linspace(0.0, 9.0, 4)[:, None], np.linspace(0.0, 9.0, 50)[:, None]
    >>> gp = GP(WithGradients(RBF(1.0, 1.5)), 1e-6)
    >>> plain = condition(gp, values_at(x), np.sin(x[:, 0]))
    >>> both = plain.extend(gradients_at(x), np.cos(x[:, 0]))
    >>> for posterior in (plain, both):
    ...     mean, variance = posterior.predict(values_at(new))
    ...     print(np.abs(mean - np.sin(new[:, 0])).max().round(2), np.sqrt(variance.max()).round(2))
    0.9 0.59
    0.06 0.16
    """

    kernel: Kernel = fixed()

    def __post_init__(self) -> None:
        super().__post_init__()
        require_kernels("kernel", self.kernel)
        covariances_of(self.kernel)

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        xp = array_namespace(x)
        left = Rows.of(x)
        right = left if z is None else Rows.of(z)
        blocks = memory.blocks(x.shape[0], right.points.shape[0], _ENTRIES, like=x)
        K = xp.concat([self._seen.gram(left.take(rows), right) for rows in blocks], axis=0)
        if z is not None:
            return K
        return xp.tril(K) + xp.matrix_transpose(xp.tril(K, k=-1))  # symmetric to the last bit

    def _diag(self, x: Matrix) -> Vector:
        return self._seen.diag(Rows.of(x))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        left = Rows.of(x)
        right = left if z is None else Rows.of(z)
        x_bars = []
        bar: Kernel | None = None
        z_bar = array_namespace(x).zeros_like(right.points)
        for rows in memory.blocks(x.shape[0], right.points.shape[0], _ENTRIES, like=x):
            one, by_x, by_z = self._seen.pull(left.take(rows), right, K_bar[rows, :])
            bar = one if bar is None else added(bar, one)
            x_bars.append(by_x)
            z_bar = z_bar + by_z
        x_bar = array_namespace(x).concat(x_bars, axis=0)
        kernel_bar = cotangent(self, kernel=bar)
        if z is None:
            return kernel_bar, _unlabelled(x_bar + z_bar), None
        return kernel_bar, _unlabelled(x_bar), _unlabelled(z_bar)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar, x_bar = self._seen.pull_diag(Rows.of(x), d_bar)
        return cotangent(self, kernel=bar), _unlabelled(x_bar)

    @property
    def _seen(self) -> Observed:
        return covariances_of(self.kernel)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        self.kernel._validate_inputs(x[:, :-1], f"{name}[:, :-1]")

    def __repr__(self) -> str:
        return f"WithGradients({self.kernel!r})"


@dataclass(frozen=True)
class GradientNoise(_OfLabelled):
    """Independent noise of derivatives, none of values: rows are labelled as for `WithGradients`.

    As for `White`, it is ``variance`` on the diagonal of ``k(x)`` and nothing in ``k(x, z)``.

    Parameters
    ----------
    variance : float, default 1.0
        The variance of the noise, positive.

    Examples
    --------
    >>> import numpy as np
    >>> GradientNoise(0.5).diag(np.asarray([[3.0, 0.0], [3.0, 1.0]]))
    array([0. , 0.5])
    """

    variance: float = positive(1.0)

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        K = White(self.variance)._gram(x, z)
        return K if z is not None else K * _is_derivative(x)[:, None]

    def _diag(self, x: Matrix) -> Vector:
        return self.variance * _is_derivative(x)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        weighted = K_bar if z is not None else K_bar * _is_derivative(x)[:, None]
        bar, x_bar, z_bar = White(self.variance)._pullback(x, z, weighted)
        return cotangent(self, variance=bar.variance), x_bar, z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        variance_bar = total(d_bar * _is_derivative(x))
        return cotangent(self, variance=variance_bar), array_namespace(x).zeros_like(x)


def values_at(x: Matrix) -> Matrix:
    """Label points as rows that see the values of f there.

    Parameters
    ----------
    x : Matrix, shape (n, d)
        The points.

    Returns
    -------
    Matrix, shape (n, d + 1)
        The columns of x, and zeros.

    Examples
    --------
    >>> import numpy as np
    >>> values_at(np.asarray([[3.0, 4.0]]))
    array([[3., 4., 0.]])
    """
    return _labelled(_points(x), 0)


def derivatives_at(x: Matrix, which: int) -> Matrix:
    """Label points as rows that see the derivative of f by one input there.

    Parameters
    ----------
    x : Matrix, shape (n, d)
        The points.
    which : int
        The number of the input, from 1 to d.

    Returns
    -------
    Matrix, shape (n, d + 1)
        The columns of x, and `which`.

    Examples
    --------
    >>> import numpy as np
    >>> derivatives_at(np.asarray([[3.0, 4.0]]), 2)
    array([[3., 4., 2.]])
    """
    return _labelled(x, _check.whole(which, "which", 1, _points(x).shape[1]))


def gradients_at(x: Matrix) -> Matrix:
    """Label points as rows that see all partial derivatives of f there, point by point.

    Gradients G (n, d) go with them as ``reshape(G, (n * d,))``.

    Parameters
    ----------
    x : Matrix, shape (n, d)
        The points.

    Returns
    -------
    Matrix, shape (n d, d + 1)
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> gradients_at(np.asarray([[3.0, 4.0]]))
    array([[3., 4., 1.],
           [3., 4., 2.]])
    """
    n, d = _points(x).shape
    by_input = [_labelled(x, which) for which in range(1, d + 1)]
    xp = array_namespace(x)
    return xp.reshape(xp.stack(by_input, axis=1), (n * d, d + 1))


def _points(x: Matrix) -> Matrix:
    if _check.matrix(x, "x").shape[1] == 0:
        raise ValueError(f"x must have at least one column; got {tuple(x.shape)}")
    return x


def _labelled(x: Matrix, label: int) -> Matrix:
    xp = array_namespace(x)
    return xp.concat([x, xp.full_like(x[:, :1], float(label))], axis=1)


def _unlabelled(x_bar: Matrix) -> Matrix:
    """Derivatives by points as derivatives by rows: by a label there is none."""
    return _labelled(x_bar, 0)


def _is_derivative(x: Matrix) -> Array:
    return array_namespace(x).astype(x[:, -1] != 0.0, x.dtype)


def _validate_labels(x: Matrix, name: str) -> None:
    """Raise unless the last column names, for each row, the value of f or one of its inputs."""
    d = x.shape[1] - 1
    if d == 0:
        wanted = "columns for a point and one for labels"
        raise ValueError(f"{name} must have {wanted}; got {tuple(x.shape)}")
    xp = array_namespace(x)
    label = x[:, d]
    wrong = (label != xp.round(label)) | (label < 0.0) | (label > float(d))
    if bool(xp.any(wrong)):
        row = how_many(wrong)[1]
        wanted = f"0 for a value, or 1 to {d} for the derivative by that input"
        raise ValueError(
            f"{name}[:, -1] must be {wanted}; got {float(label[row]):.6g} in row {row}"
        )
