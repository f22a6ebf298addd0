"""Dates as numbers: days since a day that is said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import check as _check
from .xp import HostArray, HostVector

__all__ = ["days_since"]

_DAY = np.timedelta64(1, "D")


def days_since(dates: object, origin: object) -> HostVector:
    """Return dates as the days, and parts of days, that they are after an origin.

    Lengthscales and periods of a model of these inputs are then in days: a year is a period of
    365.25. The origin is yours to say, and to say again when predicting, so no model remembers it.
    In a frame, as a column ``"days"``, they give a report the unit of its lengthscales.

    Parameters
    ----------
    dates : array_like, shape (n,)
        A column of a frame of pandas or Polars, a ``DatetimeIndex``, an array of ``datetime64``, or
        a list of dates, of datetimes or of texts such as ``"2020-01-31"``; without a time zone. Of
        periods of pandas it is the start.
    origin : date, datetime, datetime64 or str
        The day that is zero.

    Returns
    -------
    HostVector, shape (n,)
        The days, in float64.

    Raises
    ------
    TypeError
        For values that are no dates, and for dates with a time zone.
    ValueError
        If a date is missing.

    Examples
    --------
    >>> days_since(["2020-01-02", "2020-01-01T12:00"], "2020-01-01")
    array([1. , 0.5])
    >>> import datetime
    >>> days_since([datetime.date(2021, 1, 1)], "2020-01-01")
    array([366.])
    """
    (found, parts), (start, part) = _as_dates(dates, "dates"), _as_dates(origin, "origin")
    if found.ndim != 1:
        raise ValueError(f"dates must have shape (n,); got {found.shape}")
    if start.ndim:
        raise ValueError(f"origin must be one date; got {start.shape}")
    return (found - start) / _DAY + (parts - part)


def _as_dates(given: object, name: str) -> tuple[HostArray, HostArray]:
    """Dates by the microsecond, and the days that they are after it."""
    host = np.asarray(given)
    entries = host.ravel().tolist() if host.dtype.kind in "OU" else []
    of_polars = getattr(getattr(given, "dtype", None), "time_zone", None)  # whose array is in UTC
    way = "dt.replace_time_zone(None)" if of_polars else "dt.tz_localize(None)"
    remedy = f"convert them to one zone and leave it out, as `{way}` does"
    zoned = TypeError(f"{name} must have no time zone; {remedy}")
    if of_polars or any(getattr(one, "tzinfo", None) is not None for one in entries):
        raise zoned
    if moving := {"now", "today"}.intersection(one for one in entries if isinstance(one, str)):
        raise TypeError(f"{name} must be dates, such as '2020-01-31'; got {moving.pop()!r}")
    if entries and host.ndim <= 1:
        # NumPy would take the last day of a period of pandas, without its hours
        told = [None if _is_missing(one) else getattr(one, "start_time", one) for one in entries]
        host = np.asarray(told, dtype=object).reshape(host.shape)
    try:
        if host.dtype.kind not in "OUM":
            raise ValueError
        with warnings.catch_warnings(action="error"):  # of a zone, as NumPy makes UTC of it
            made = host.astype("datetime64[us]")
    except Warning as problem:
        raise zoned from problem
    except (ValueError, TypeError) as problem:
        got = _check.kind_of(given) if host.ndim == 0 else _first_that_is_none(host)
        raise TypeError(f"{name} must be dates, such as '2020-01-31'; got {got}") from problem
    missing = np.isnat(made)
    if bool(np.any(missing)):
        what = f"{name} must have no missing dates; {missing.sum()} are"
        where = f", the first in row {np.argmax(missing)}: leave those rows out" * missing.ndim
        raise _check.NoValueError(what + where)
    if host.dtype.kind != "M":
        finer = np.asarray([_finer(one) for one in host.ravel()], "timedelta64[ns]")
        return made, finer.reshape(host.shape) / _DAY
    return made, (host - made) / _DAY


def _finer(entry: Any) -> Any:
    """The nanoseconds that an entry is after its microsecond."""
    as_numpy = isinstance(entry, str | np.datetime64)
    if as_numpy:
        return np.datetime64(entry) - np.datetime64(entry, "us")
    return getattr(entry, "nanosecond", 0)


def _is_missing(entry: Any) -> bool:
    """Return True for an entry that is NaN, or NaT of pandas."""
    return np.ndim(entry) == 0 and bool(entry != entry)


def _first_that_is_none(host: HostArray) -> str:
    """The first entry that is no date, or the type of all where they are no dates by type."""
    for row, one in enumerate(host if host.dtype.kind in "OU" and host.ndim == 1 else ()):
        try:
            np.asarray(one).astype("datetime64[us]")
        except (ValueError, TypeError):
            return f"{one!r} in row {row}"
    return f"entries of type {host.dtype}"
