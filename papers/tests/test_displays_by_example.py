"""The displays that the page *The language* tries hold, and stand on it."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx")

from displays import AGREES

from displays_by_example import TRIED, section


def outcome(display):
    """What becomes of it: orders agree, since they may with a slip, and a part holds in part."""
    if display.says.startswith("conditions in brackets"):
        return AGREES
    return "holds in part" if "part of a chain" in display.says else "holds"


@pytest.mark.parametrize("display", TRIED, ids=lambda display: display.latex)
def test_a_display_that_nobody_bound_is_tried(display):
    found = display.finding()
    assert found.outcome == outcome(display), str(found)


def test_the_table_has_a_row_for_each():
    html = section()
    assert html.count("<tr>") > len(TRIED)
    assert html.count("<td>holds") == sum(outcome(display) == "holds" for display in TRIED)
