"""A kernel taken apart into its summands."""

from __future__ import annotations

from collections.abc import Iterator

from .algebra import ActiveDims, Kernel, Scaled, Sum

__all__ = ["summands_of"]


def summands_of(
    kernel: Kernel, columns: tuple[int, ...], scale: float = 1.0
) -> Iterator[tuple[Kernel, tuple[int, ...], float]]:
    """The kernels that a kernel is a sum of, each with the columns that it looks at and its factor.

    Sums, multiples and choices of columns are taken apart; `columns` and `scale` are its own.
    """
    if isinstance(kernel, Sum):
        for part in kernel.parts:
            yield from summands_of(part, columns, scale)
    elif isinstance(kernel, Scaled):
        yield from summands_of(kernel.kernel, columns, scale * kernel.scale)
    elif isinstance(kernel, ActiveDims):
        yield from summands_of(kernel.kernel, tuple(columns[k] for k in kernel.places), scale)
    else:
        yield kernel, columns, scale
