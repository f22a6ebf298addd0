"""Which summands of a kernel `Posterior.part` is asked for, by names or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ..ground import check as _check
from ..ground.params import cotangent
from ..ground.xp import Matrix, Vector, array_namespace, zeros
from ..model.kernels import Kernel, Sum

__all__ = ["picked"]


@dataclass(frozen=True)
class _Nothing(Kernel):
    """``k(x, z) = 0``: of the mean function alone no function is left."""

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return zeros((x.shape[0], (x if z is None else z).shape[0]), x)

    def _diag(self, x: Matrix) -> Vector:
        return zeros((x.shape[0],), x)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        return cotangent(self), xp.zeros_like(x), None if z is None else xp.zeros_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        return cotangent(self), array_namespace(x).zeros_like(x)


def picked(kernel: Kernel, which: tuple[str | int, ...]) -> tuple[Kernel, bool]:
    """The sum of some summands of a kernel, and whether the mean is asked for as well.

    A kernel that is no sum is its own part 0. Of the mean alone, the kernel is zero.
    """
    parts = kernel.parts if isinstance(kernel, Sum) else (kernel,)
    names = kernel.names if isinstance(kernel, Sum) else ()
    numbers = [_number_of(one, names, len(parts)) for one in which if one != "mean"]
    if not which or len(set(numbers)) < len(numbers) or which.count("mean") > 1:
        raise ValueError(f"which must name at least one part, each once; got {which}")
    chosen = tuple(parts[k] for k in numbers)
    if not chosen:
        return _Nothing(), True
    return chosen[0] if len(chosen) == 1 else Sum(chosen), len(numbers) < len(which)


def _number_of(one: str | int, names: tuple[str, ...], size: int) -> int:
    """The number of a part, by its name or its number."""
    if isinstance(one, str):
        if not one or one not in names:
            known = ", ".join(map(repr, [*filter(None, names), "mean"]))
            wanted = f"among {known}, or numbers from 0 to {size - 1}"
            raise ValueError(f"which must be {wanted}; got {one!r}")
        return names.index(one)
    return _check.whole(one, "which", 0, size - 1)
