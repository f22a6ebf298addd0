"""What runs at night alone is a short list, and by day no level of a parameter is missing."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import night
import pytest

pytestmark = pytest.mark.slow  # of the house, not of the processor


def test_each_level_of_each_parameter_that_runs_at_night_runs_by_day(root, pytestconfig):
    """Compare what runs when in the whole suite; each entry of the list matches a test.

    A run of the whole suite has collected it already; any other does so here.
    """
    if (whole := pytestconfig.stash.get(night.WHOLE, None)) is not None:
        assert night.broken(whole) == []
        return
    command = [sys.executable, str(root / "tests" / "support" / "night.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_each_entry_has_a_reason_and_the_list_is_short():
    assert all(len(row["reason"]) > 20 for row in night.rows())
    assert len(night.rows()) <= 30


def item(nodeid, nightly, **params):
    mark = "nightly" if nightly else None
    return SimpleNamespace(
        nodeid=nodeid, callspec=SimpleNamespace(params=params), get_closest_marker={mark: 1}.get
    )


def test_a_level_that_only_the_night_takes_is_named():
    pairs = [("probit", 1, False), ("probit", 2, True), ("logit", 1, True), ("logit", 2, True)]
    items = [item(f"t.py::test_ep[{a}-{b}]", late, link=a, n=b) for a, b, late in pairs]
    assert list(night.lost_levels(items)) == [
        "t.py::test_ep: link = 'logit' runs at night alone",
        "t.py::test_ep: n = 2 runs at night alone",
    ]


def test_pairs_that_cover_each_level_will_do():
    pairs = [("probit", 1, False), ("probit", 2, True), ("logit", 1, True), ("logit", 2, False)]
    items = [item(f"t.py::test_ep[{a}-{b}]", late, link=a, n=b) for a, b, late in pairs]
    assert list(night.lost_levels(items)) == []
