"""Compositions of processes before any data, and the mean that keeps them from forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ...ground import check as _check
from ...ground.params import fixed
from ...ground.random import RNG, stream_of
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.gaussian_process import GP, prior, require_known_mean

__all__ = ["Coordinate", "compose"]


@dataclass(frozen=True)
class Coordinate:
    """The mean function that is one coordinate of its input, ``m(x) = x_column``.

    With it a layer of a deep process begins as the identity, instead of forgetting its input.

    Parameters
    ----------
    column : int, default 0
        The number of the coordinate, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> Coordinate(1)(np.asarray([[2.0, 5.0], [3.0, 7.0]]))
    array([5., 7.])
    """

    column: int = fixed(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", _check.whole(self.column, "Coordinate.column"))

    def __call__(self, x: Matrix) -> Vector:
        """Evaluate the mean."""
        return self._values(_check.matrix(x, "x"))

    def _values(self, x: Matrix) -> Vector:
        if x.shape[1] <= self.column:
            wanted = f"more than {self.column} columns, for Coordinate({self.column})"
            raise ValueError(f"x must have {wanted}; got {tuple(x.shape)}")
        return x[:, self.column]

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """Carry derivatives by the means back to the inputs.

        Parameters
        ----------
        bar : Vector, shape (n,)
            The derivatives by the means.

        Returns
        -------
        mean_bar : Coordinate
            This mean, which has no parameters.
        x_bar : Matrix, shape (n, d)
            `bar` in the column, and zeros.
        """
        self(x)
        _check.alike(_check.vector(bar, "bar", size=x.shape[0]), "bar", x, "x")
        return self._pulled(x, bar)

    def _pulled(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        zero = array_namespace(x).zeros_like(bar)
        columns = [bar if j == self.column else zero for j in range(x.shape[1])]
        return self, array_namespace(x).stack(columns, axis=1)


def compose(layers: Sequence[GP], X: Matrix, *, rng: RNG) -> tuple[Vector, ...]:
    """Draw a composition ``f_L(… f_2(f_1(x)))`` of processes at some inputs, layer by layer.

    [eq-dg-compose]. Each layer has one function, which is drawn at the values of the one
    before: exact, no inducing points.

    Parameters
    ----------
    layers : sequence of GP
        The processes, the first with inputs X; their ``noise_var`` is not added.

    Returns
    -------
    tuple of Vector, each of shape (n,)
        The values after each layer.

    Notes
    -----
    O(L n³). Values that lie within rounding of each other take the jitter of `linalg.cholesky`.

    Source: Damianou & Lawrence (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, stream
    >>> X = np.linspace(0.0, 1.0, 5)[:, None]
    >>> [h.shape for h in compose([GP(RBF(), 0.0)] * 3, X, rng=stream(0))]
    [(5,), (5,), (5,)]
    """
    if isinstance(layers, str) or not isinstance(layers, Sequence):
        raise TypeError(f"layers must be a sequence of GPs; got {_check.kind_of(layers)}")
    if not layers:
        raise ValueError("layers must hold at least one GP; got none")
    for number, gp in enumerate(layers):
        require_known_mean(_check.instance(gp, f"layers[{number}]", GP))
    layers[0].kernel.validate_inputs(X, "X")
    stream = stream_of(rng)
    values: list[Vector] = []
    for gp in layers:
        values.append(prior(gp, values[-1][:, None] if values else X).sample(1, rng=stream)[0, :])
    return tuple(values)
