"""A kernel of categories: how alike two rows of codes are, by the columns in which they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from ...ground.params import cotangent, positive
from ...ground.xp import Matrix, Numbers, Vector, array_namespace, how_many, zeros
from .algebra import Kernel
from .pullback_sums import per_dimension, total

__all__ = ["Hamming"]


@dataclass(frozen=True)
class Hamming(Kernel):
    """Categories that are alike or not: ``k(x, z) = σ_f² exp(−Σ_d [x_d ≠ z_d] / ℓ_d)``.

    Each column holds codes of categories, whole numbers, as `gpnotes.Levels` gives them to the
    words of a frame; their order says nothing. Rows that differ in column d alone have the
    correlation ``exp(−1/ℓ_d)``, the same for each pair of its categories.

    Parameters
    ----------
    variance : float, default 1.0
        σ_f², positive.
    lengthscale : float or Vector, shape (d,), default 1.0
        ℓ, positive: one, or one per column; of a column that does not matter it grows large.

    Notes
    -----
    It is positive semidefinite as a product of matrices ``(1 − ρ) I + ρ 1 1ᵀ`` of categories, with
    ρ from 0 to 1: categories are never against each other. Where some are, or some are closer than
    others, `Coregion` of one column learns a matrix for all pairs. Times a kernel of other columns,
    ``RBF().on(0, 1) * Hamming().on(2)``, each category has a function of its own, which tells of
    the others'. Costs O(n m d). It is BoTorch's
    ``CategoricalKernel``, but that the sum is not divided by d.

    Examples
    --------
    >>> import numpy as np
    >>> Hamming(1.0, 2.0)(np.asarray([[0.0, 3.0], [0.0, 1.0], [2.0, 0.0]])).round(4)
    array([[1.    , 0.6065, 0.3679],
           [0.6065, 1.    , 0.3679],
           [0.3679, 0.3679, 1.    ]])
    """

    variance: float = positive(1.0, unit="y²")
    lengthscale: Numbers = positive(1.0, per_dimension=True)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        xp = array_namespace(x)
        wrong = x != xp.round(x)
        if bool(xp.any(wrong)):
            row = how_many(wrong)[1]
            wanted = "hold codes of categories, whole numbers, for Hamming"
            raise ValueError(f"{name} must {wanted}; got fractions in row {row}")

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.variance * self._correlation(x, z)

    def _diag(self, x: Matrix) -> Vector:
        return array_namespace(x).full_like(x[:, 0], self.variance)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        # by ℓ_d the derivative of k is k [x_d ≠ z_d] / ℓ_d²
        xp, weighted = array_namespace(x), K_bar * self._correlation(x, z)
        by_rate = xp.stack([xp.sum(weighted * differs) for differs in _differences(x, z)])
        bar = self._bar(total(weighted), self.variance * by_rate)
        return bar, xp.zeros_like(x), None if z is None else xp.zeros_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        x_bar = array_namespace(x).zeros_like(x)
        return self._bar(total(d_bar), array_namespace(x).sum(x_bar, axis=0)), x_bar

    def _correlation(self, x: Matrix, z: Matrix | None) -> Matrix:
        other, lengths = x if z is None else z, self.lengthscale
        exponent = zeros((x.shape[0], other.shape[0]), x)
        for d, differs in enumerate(_differences(x, z)):
            exponent -= differs / (lengths if isinstance(lengths, float) else lengths[d])
        return array_namespace(x).exp(exponent)

    def _bar(self, variance_bar: float, by_rate: Vector) -> Self:
        lengths = self.lengthscale  # whose square may overflow
        lengths_bar = per_dimension(by_rate[None, :] / lengths / lengths, lengths)
        return cotangent(self, variance=variance_bar, lengthscale=lengths_bar)


def _differences(x: Matrix, z: Matrix | None) -> Iterator[Matrix]:
    """For each column ones where rows differ in it, (n, m), and zeros where they do not."""
    xp, other = array_namespace(x), x if z is None else z
    for d in range(x.shape[1]):
        yield xp.astype(x[:, d][:, None] != other[:, d][None, :], x.dtype)
