"""The displays that the page *The language* tries hold, and stand on it."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx")

from displays_by_example import TRIED, section


@pytest.mark.parametrize("display", TRIED, ids=lambda display: display.latex)
def test_a_display_that_nobody_bound_is_tried(display):
    found = display.finding()
    assert (found.verdict, found.outcome) == ("tried", "holds"), str(found)


def test_the_table_has_a_row_for_each():
    html = section()
    assert html.count("<tr>") > len(TRIED)
    assert html.count("<td>holds") == len(TRIED)
