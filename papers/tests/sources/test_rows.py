"""Rows of a display that are no equations: words alone, and rows with a bracket closed below."""

from __future__ import annotations

import pytest

from checked_papers.sources.displays import Display, equations


def rows(latex: str) -> list[str]:
    """The equations of an aligned display."""
    found = equations(latex, Display("align", 0, len(latex)))
    return [" ".join(one.latex.replace("\\\\", " ").split()) for one in found]


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\text{Predict} \\ a &= b \\ \text{Update step} \\ c &= d", ["a &= b", "c &= d"]),
        (r"a &= b \\ \text{Update step}", ["a &= b"]),
        (r"a &= f( \\ &\quad b + c) \\ d &= e", [r"a &= f( &\quad b + c)", "d &= e"]),
        (r"a &= f( \\ &\quad b) = c \\ d &= e", [r"a &= f( &\quad b) = c", "d &= e"]),
        # a condition is no heading, and a bracket that is closed nowhere takes in nothing
        (r"a &= b \\ \text{If $x > 0$}", [r"a &= b \text{If $x > 0$}"]),
        (r"\text{For all positive x} \\ a &= b", [r"\text{For all positive x} a &= b"]),
        (r"a &= (b \\ c &= d", ["a &= (b", "c &= d"]),
    ],
)
def test_rows_that_are_no_equations(latex: str, wanted: list[str]) -> None:
    assert rows(latex) == wanted
