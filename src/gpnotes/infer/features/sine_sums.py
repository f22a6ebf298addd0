"""Readings as sums that a fit through sines on a box forms once.

Hyperparameters move the weights of the sines, not the sines: so all evaluations of a fit
are made of the same products of sines, readings and ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from ...ground import memory
from ...ground.late_reads import number
from ...ground.params import cotangent
from ...ground.threads import threads_for
from ...ground.xp import HostMatrix, Matrix, Vector, array_namespace, in_double, to_numpy, zeros
from ...model.gaussian_process import GP, differentiable_mean
from ...model.means import ConstantMean
from ..sufficient_statistics import Statistics
from .box_sines import BoxSines
from .row_sums import Pull, Slopes, Sums, validate_rows

__all__ = ["Former", "SineSums"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SineSums:
    """All products of ``[S 1 ỹ]``, the sines, ones and ``ỹ = y − centre``; of two sets they add.

    Parameters
    ----------
    products : Matrix, shape (R + 2, R + 2)
        ``[S 1 ỹ]ᵀ[S 1 ỹ]``, in float64 where the device has it.
    centre : float
        The number subtracted from y, near its mean, so that no digits are lost.
    """

    products: Matrix
    centre: float

    def __add__(self, other: SineSums) -> SineSums:
        return SineSums(self.products + other.products, self.centre)

    def over(self, work: Callable[..., T]) -> T:
        """Return a pass's value for the readings.

        Parameters
        ----------
        work : Sums or Pull
            The pass.
        """
        if isinstance(work, Pull):
            return cast("T", self._slopes(work))
        assert isinstance(work, Sums)
        return cast("T", self._statistics(work))

    def _statistics(self, work: Sums) -> Statistics:
        gp, S, a = work.gp, self.products, _deviations(work)
        low, noise_var = self._level(gp), gp.noise_var
        # Σ(ỹ − low)² = Σỹ² − 2 low Σỹ + n low²
        total, of_squares = self._of_readings[:, 1].tolist()
        squares = of_squares - low * (2.0 * total - low * self.count)
        # products with ones are in the column before the last, those with ỹ in the last: together
        # they are Sᵀ(ỹ − low 1), which is Sᵀr
        return Statistics(
            self.count,
            a[:, None] * S[:-2, :-2] * a[None, :] / noise_var,
            a * (S[:-2, -1] - low * S[:-2, -2]) / noise_var,
            squares / noise_var,
            self.count * math.log(noise_var),
        )

    def _slopes(self, work: Pull) -> Slopes:
        gp, S, a = work.gp, self.products, _deviations(work)
        fitted = number(array_namespace(a).sum(S[:-2, -2] * a * work.weight_mean))
        left = float(self._of_readings[0, 1]) - self.count * self._level(gp) - fitted  # Σ(r − Φw)
        mean = differentiable_mean(gp)
        bars = {"value": left / gp.noise_var} if type(mean) is ConstantMean else {}
        # the frequencies of sines stay where they are: nothing is carried back to them
        return Slopes(zeros(work.frequencies.like.shape, a), cotangent(mean, **bars))

    @property
    def count(self) -> int:
        """The number of readings n."""
        return round(float(self._of_readings[0, 0]))

    @cached_property
    def _of_readings(self) -> HostMatrix:
        """``[1 ỹ]ᵀ[1 ỹ]``, on the host: a fit reads it once."""
        return to_numpy(self.products[-2:, -2:])

    def _level(self, gp: GP) -> float:
        """The mean of a process, which is the same everywhere, from the centre."""
        return (gp.mean.value if type(gp.mean) is ConstantMean else 0.0) - self.centre


@dataclass(frozen=True, eq=False)
class Former:
    """The pass that forms the sums, a function of rows (X, y), here or elsewhere.

    Parameters
    ----------
    gp : GP
        The process.
    frequencies : BoxSines
        The sines.
    centre : float
        The number subtracted from y.
    """

    gp: GP
    frequencies: BoxSines
    centre: float

    def __call__(self, X: Matrix, y: Vector) -> SineSums:
        """The sums of the rows (X, y)."""
        validate_rows(self.gp, self.frequencies, X, y)
        return self._call(X, y)

    @threads_for(lambda self, X, y: self.frequencies.size**2 * X.shape[0])
    def _call(self, X: Matrix, y: Vector) -> SineSums:
        xp = array_namespace(X)
        left = in_double(y) - self.centre
        products = zeros((self.frequencies.size + 2, self.frequencies.size + 2), left)
        for rows in memory.blocks(X.shape[0], self.frequencies.size, like=X):
            S = in_double(self.frequencies.sines(X[rows, :]))
            both = xp.stack([xp.ones_like(left[rows]), left[rows]], axis=1)
            seen = xp.concat([S, both], axis=1)
            products = products + xp.matrix_transpose(seen) @ seen
        return SineSums(products, self.centre)


def _deviations(work: Sums | Pull) -> Vector:
    assert isinstance(work.frequencies, BoxSines)
    return in_double(work.frequencies.deviations(work.gp.kernel))
