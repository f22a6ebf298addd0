"""Words of a frame as numbers for a kernel of categories, and never another number later.

A kernel of numbers would take codes for amounts, so nothing here is done unasked: a frame with
words is refused at every door, and `Levels` gives the codes to whoever wants them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self, TypeVar, cast

import numpy as np

from . import check as _check
from .conversion import columns_of, floats, ordered
from .xp import HostMatrix, HostVector

__all__ = ["Levels"]

F = TypeVar("F")


@dataclass(frozen=True)
class Levels:
    """The columns of a frame, and of those that hold words their levels; made by `Levels.of`.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns.
    known : tuple of tuple
        The levels of each column, whose places are their codes; none of a column of numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from gpnotes import RBF
    >>> from gpnotes.model.kernels import Hamming
    >>> cars = pd.DataFrame({"origin": ["usa", "japan", "usa"], "tons": [1.8, 0.9, 1.4]})
    >>> levels = Levels.of(cars)
    >>> levels.codes(cars)
    array([[1. , 1.8],
           [0. , 0.9],
           [1. , 1.4]])
    >>> kernel = RBF().on(*levels.numbers) * Hamming().on(*levels.words)
    >>> kernel(levels.codes(cars)).shape
    (3, 3)

    As a frame the codes keep the names of their columns, which kernels and predictions find:

    >>> levels.frame(cars)
       origin  tons
    0     1.0   1.8
    1     0.0   0.9
    2     1.0   1.4
    >>> named = RBF().on("tons") * Hamming().on("origin")
    >>> bool((named(levels.frame(cars)) == kernel(levels.codes(cars))).all())
    True
    """

    columns: tuple[str, ...]
    known: tuple[tuple[Hashable, ...], ...]

    @classmethod
    def of(cls, frame: Any) -> Self:
        """Read the levels of a frame of pandas or Polars.

        Of a categorical column of pandas they are its categories in their order; of any other
        column of words, or of truths, the values in it, sorted.

        Raises
        ------
        TypeError
            If it is no frame, or words and numbers stand in one column.
        """
        columns = columns_of(frame)
        if not columns:
            raise TypeError(f"frame must have columns with names; got {_check.kind_of(frame)}")
        if len(set(columns)) < len(columns):
            raise ValueError(f"frame must have each column once; got {list(columns)}")
        return cls(columns, tuple(_levels(frame[name], name) for name in columns))

    @property
    def words(self) -> tuple[int, ...]:
        """The numbers of the columns that hold categories."""
        return tuple(d for d, levels in enumerate(self.known) if levels)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the columns that hold numbers."""
        return tuple(d for d, levels in enumerate(self.known) if not levels)

    def codes(self, frame: Any) -> HostMatrix:
        """Give the frame as a matrix, (n, d), with codes in the place of words.

        Its columns are matched by name, as in a prediction. A level that was not among those of
        `of` is a `ValueError`, which names it and its column.
        """
        if not columns_of(frame):
            raise TypeError(f"frame must have columns with names; got {_check.kind_of(frame)}")
        frame = ordered(frame, "frame", self.columns)
        parts = (
            _codes(frame[name], name, levels) if levels else _numbers(frame, name)
            for name, levels in zip(self.columns, self.known, strict=True)
        )  # fmt: skip
        return np.stack(list(parts), axis=1)

    def frame(self, frame: F) -> F:
        """Give the frame with codes in the place of words, by `codes`.

        It is of the same library, and has the columns of `of` in their order, and the labels of its
        rows.
        """
        columns = dict(zip(self.columns, self.codes(frame).T, strict=True))
        labels = {"index": frame.index} if hasattr(frame, "index") else {}
        made: Any = type(frame)
        return cast(F, made(columns, **labels))


def _levels(column: object, name: str) -> tuple[object, ...]:
    if hasattr(column, "cat") and hasattr(column.cat, "categories"):  # of pandas
        return tuple(column.cat.categories)
    values = np.asarray(column)
    if values.dtype.kind not in "OUb":
        return ()
    levels = set(values.tolist())
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in levels):
        return ()
    if len({type(value) for value in levels}) > 1:
        got = sorted({type(value).__name__ for value in levels})
        raise TypeError(f"frame must hold one kind of value in column {name!r}; got {got}")
    return tuple(sorted(levels))


def _codes(column: object, name: str, levels: tuple[object, ...]) -> HostVector:
    codes = {level: float(code) for code, level in enumerate(levels)}
    values = np.asarray(column).tolist()
    for row, value in enumerate(values):
        if value not in codes:
            wanted = f"frame must hold the levels {list(levels)} in column {name!r}"
            raise ValueError(f"{wanted}; got {value!r} in row {row}")
    return np.asarray([codes[value] for value in values], dtype=np.float64)


def _numbers(frame: Any, name: str) -> HostVector:
    column = floats(frame[[name]], "frame")
    return np.asarray(column, dtype=np.float64)[:, 0]
