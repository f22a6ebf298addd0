"""A constant mean in units of the data: what an optimiser sees of it knows no units.

A fit works on logarithms of what is positive, for which units are only another start. The value of
a constant mean enters as it is. Where y is of the size of 1e-6, its slope drowns all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ..ground.params import cotangent, fixed, real, settle
from ..ground.xp import Matrix, Vector, array_namespace
from ..model.means import ConstantMean

__all__ = ["Offset"]


@dataclass(frozen=True)
class Offset:
    """``m(x) = centre + scale · value``: a constant that is fitted in units of `scale`.

    >>> Offset(3.0, 0.5, 2.0).as_constant()
    ConstantMean(value=4.0)
    """

    centre: float = fixed()
    scale: float = fixed()
    value: float = real(0.0)

    def __post_init__(self) -> None:
        settle(self)

    def __call__(self, x: Matrix) -> Vector:
        """The constant, repeated to shape (n,), for x (n, d)."""
        return self.as_constant()(x)

    def pullback(self, x: Matrix, bar: Vector) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for `bar` (n,); ``mean_bar.value`` is `scale` times its sum."""
        xp = array_namespace(x)
        return cotangent(self, value=self.scale * float(xp.sum(bar))), xp.zeros_like(x)

    def as_constant(self) -> ConstantMean:
        """The same mean, in the units of y."""
        return ConstantMean(self.centre + self.scale * self.value)
