"""The ``repr`` of results: a line with the shapes of their arrays, never their numbers.

`summary` is the ``__repr__`` of dataclasses and named tuples:

>>> import numpy as np
>>> from typing import NamedTuple
>>> class Moments(NamedTuple):
...     mean: Array
...     count: int
...     __repr__ = summary
>>> Moments(np.zeros((30, 2)), 30)
Moments(mean=<30×2 float64>, count=30)
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from .namespace import array_namespace

__all__ = ["aligned", "preformatted", "summary"]

_FEW = 4  # entries of a tuple that are printed one by one


def summary(value: object) -> str:
    """The class and its fields on one line, arrays by shape and dtype."""
    kind: Any = type(value)
    names = [f.name for f in fields(kind) if f.repr] if is_dataclass(kind) else kind._fields
    parts = ", ".join(f"{name}={_brief(getattr(value, name))}" for name in names)
    return f"{kind.__name__}({parts})"


def preformatted(value: object) -> str:
    """The page that ``print`` gives, as a notebook shows it: the ``_repr_html_`` of results."""
    return f"<pre>{html.escape(str(value))}</pre>"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, each column as wide as its widest cell.

    >>> aligned([("", "least"), ("value", "0.5")])
    ['       least', 'value  0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _brief(value: Any) -> str:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        if len(value) > _FEW:
            return f"<{len(value)} of {type(value[0]).__name__}>"
        inner = ", ".join(map(_brief, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"<{len(value)} of {type(value[0]).__name__}>" if value else "[]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_brief(part)}" for name, part in value.items()) + "}"
    if _is_array(value):
        shape = "×".join(map(str, value.shape))
        return f"<{shape} {value.dtype}>" if value.ndim else f"{value}"
    return summary(value) if hasattr(value, "_fields") else repr(value)


def _is_array(value: object) -> bool:
    if not hasattr(value, "shape") or not hasattr(value, "dtype") or not hasattr(value, "ndim"):
        return False
    try:
        array_namespace(value)
    except TypeError:
        return hasattr(value, "nnz")  # a sparse matrix
    return True
