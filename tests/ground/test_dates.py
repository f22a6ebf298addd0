"""Dates as days, from whatever holds them."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpnotes import GP, RBF, Matern52, Periodic, StateSpaceGP, condition, days_since, fit, named

TEXTS = ["2019-12-31", "2020-03-01T06:00", "2021-01-01"]
DAYS = [-1.0, 60.25, 366.0]


@pytest.mark.parametrize("made", [
    list, np.asarray, lambda texts: np.asarray(texts, dtype="datetime64[ns]"),
    lambda texts: [datetime.datetime.fromisoformat(text) for text in texts],
    lambda texts: pd.Series(pd.to_datetime(texts, format="ISO8601")),
    lambda texts: pd.DatetimeIndex(pd.to_datetime(texts, format="ISO8601")),
    lambda texts: pl.Series([datetime.datetime.fromisoformat(text) for text in texts]),
])  # fmt: skip
def test_dates_of_all_kinds_are_days(made):
    for origin in ("2020-01-01", np.datetime64("2020-01-01"), datetime.date(2020, 1, 1),
                   pd.Timestamp("2020-01-01")):  # fmt: skip
        found = days_since(made(TEXTS), origin)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, DAYS)


@pytest.mark.parametrize(("often", "days"), [("h", [0.0, 1 / 24]), ("M", [0.0, 31.0]),
                                             ("D", [0.0, 1.0])])  # fmt: skip
def test_a_period_is_its_start(often, days):
    periods = pd.period_range("2020-01-01", periods=2, freq=often)
    for made in (periods, pd.Series(periods), list(periods)):
        np.testing.assert_allclose(days_since(made, "2020-01-01"), days, atol=1e-15)
        before = [-days[1], 0.0]
        np.testing.assert_allclose(days_since(made, periods[1]), before, atol=1e-15)


def test_what_is_no_date_is_named():
    zone = pd.Series(pd.to_datetime(TEXTS[:1])).dt.tz_localize("UTC")
    noon = pl.Series([datetime.datetime(2020, 7, 1, 12)]).dt.replace_time_zone("Europe/Berlin")
    with pytest.raises(TypeError, match=r"no time zone; .*as `dt\.replace_time_zone"):
        days_since(noon, "2020-01-01")
    assert days_since(noon.dt.replace_time_zone(None), "2020-01-01") == [182.5]
    for wrong, words in (([1.0], "dates must be dates"), (["soon"], "dates must be dates"),
                         (["now"], "got .now."), ([None], "missing"),
                         (np.asarray(["NaT"], "datetime64[s]"), "missing"),
                         (zone, "no time zone"), (["2020-01-01T06:00+02:00"], "no time zone"),
                         (["2020-01-01T06:00Z"], "no time zone"), ([TEXTS], "shape")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            days_since(wrong, "2020-01-01")
    for wrong, words in ((["2020-01-31", "2020-13-01"], "got '2020-13-01' in row 1"),
                         (["2020-01-31", 3.5], "got '3.5' in row 1"),
                         ([pd.Timestamp("2020-01-31"), pd.NaT], "1 are, the first in row 1: leave"),
                         (np.asarray([TEXTS[0], math.nan], object), "in row 1")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            days_since(wrong, "2020-01-01")
    for origin in (0, "soon", "today", None, TEXTS):
        with pytest.raises((TypeError, ValueError), match="origin"):
            days_since(TEXTS, origin)


@pytest.mark.parametrize(
    "made",
    [np.asarray, list, pd.DatetimeIndex, pd.Series, lambda a: pl.Series(a), lambda a: a.astype(str),
     lambda a: [pd.Timestamp(one) for one in a], lambda a: [a[0], pd.Timestamp(a[1]), str(a[2])]],
)  # fmt: skip
def test_stamps_keep_their_nanoseconds(made):
    """All were cut to microseconds: readings 400 ns apart fell upon each other."""
    later = np.asarray([100, 500, 1300])
    stamps = np.datetime64("2020-01-01T00:00:00", "ns") + later.astype("timedelta64[ns]")
    for origin, since in (("2020-01-01", 0), (stamps[1], 500), (pd.Timestamp(stamps[1]), 500)):
        found = days_since(made(stamps), origin)
        np.testing.assert_allclose(found * 86400e9, later - since, rtol=1e-12, atol=1e-12)
    far = days_since(made(stamps), "0001-01-01")
    np.testing.assert_allclose(far, 737424.0, rtol=1e-15)


def test_a_model_that_gets_dates_names_the_way_out():
    dates = np.asarray(TEXTS, dtype="datetime64[us]")
    for X in (dates[:, None], pd.DataFrame({"date": dates}), [[d] for d in dates],
              pd.DataFrame({"date": dates, "a": 1.0}), pl.DataFrame({"date": dates})):  # fmt: skip
        with pytest.raises(TypeError, match="days_since"):
            condition(GP(RBF(), 0.1), X, np.zeros(3))


def test_a_report_says_days_where_the_column_is_called_so():
    dates = pd.date_range("2020-01-01", periods=40, freq="36h")
    days = days_since(dates, "2020-01-01")
    kernel = named(trend=Matern52(1.0, 30.0), season=Periodic(1.0, 1.0, 7.0))
    found = fit(StateSpaceGP(GP(kernel, 0.1)), pd.DataFrame({"days": days}),
                np.sin(days), max_steps=2)  # fmt: skip
    report = found.report().hyperparameters
    units = {one.name.removeprefix("gp.kernel."): one.column for one in report}
    assert units["trend.lengthscale"] == units["season.period"] == "days"
    assert units["season.lengthscale"] == units["trend.variance"] == ""
    assert "trend.lengthscale (days)" in str(found)
