"""The tables that the book works on, which the package carries.

A notebook that is downloaded alone has its data so; a note with each table gives its source,
its columns and the terms under which it may be used.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .ground.xp import HostMatrix

__all__ = ["dataset"]

_DATA = Path(__file__).with_name("data")


def dataset(name: str) -> HostMatrix:
    """Load one of the tables that the book works on.

    The package carries the tables, so that a notebook that is downloaded alone has its data; a
    note with each gives its source.

    Parameters
    ----------
    name : str
        The name of the table.

    Returns
    -------
    HostMatrix, shape (n, columns)
        The table, in float64.

    Examples
    --------
    >>> dataset("engel").shape
    (235, 2)
    """
    # the largest are packed, so that the package stays light
    tables = {path.name.partition(".")[0]: path for path in sorted(_DATA.glob("*.csv*"))}
    if not isinstance(name, str) or name not in tables:
        raise ValueError(f"name must be one of {', '.join(tables)}; got {name!r}")
    return np.genfromtxt(tables[name], delimiter=",", skip_header=1, ndmin=2)
