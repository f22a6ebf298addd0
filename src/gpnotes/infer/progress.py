"""A bar of how much is done, by ``tqdm`` of the extra `progress`."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Bar", "bar_of"]


class Bar(Protocol):
    """The part of a bar of tqdm's that is used here."""

    def update(self, n: int, /) -> bool | None:
        """So many more are done."""

    def close(self) -> None:
        """No more will be."""


def bar_of(total: int, said: str, unit: str) -> Bar:
    """Return a bar of so many units, with what is being done before it.

    Raises
    ------
    ImportError
        If there is no ``tqdm``.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as problem:
        message = (
            "progress=True needs the package tqdm, extra `progress`; without, there is callback="
        )
        raise ImportError(message) from problem
    bar: Bar = tqdm(total=total, desc=said, unit=unit)
    return bar
