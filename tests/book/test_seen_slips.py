"""A slip that is seen: each one that is caught moves what is drawn, or cannot be drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import engine, scripts, slips_beside

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = {
    "fv": "gaussian-processes/function-view", "mf": "gaussian-processes/mean-functions",
    "sm": "gaussian-processes/smoothing", "wv": "gaussian-processes/weight-view",
    "ff": "fast/fourier-features", "ip": "fast/inducing-points", "vi": "fast/variational-inference",
}  # fmt: skip
# How far what is drawn moves with each of some edits, or why nothing can be drawn.
MOVED = """([label, whole, edits]) => {
    const { curves } = window.seenSlips;
    const right = curves(label, whole, whole);
    const apart = now => now.values.length != right.values.length ? Infinity : Math.max(
        ...right.values.flatMap((one, j) => one.map((v, i) => Math.abs(v - now.values[j][i]))));
    return edits.map(([start, end, text]) => {
        try { return apart(curves(label, whole.slice(0, start) + text + whole.slice(end), whole)); }
        catch (error) {
            if (!(error instanceof equationMembers.Nonsense)) throw error;
            return error.message;
        }
    });
}"""


@pytest.fixture
def sheet(opened: Any) -> Any:
    """A page with the scripts that evaluate a slip."""
    return opened("exact", tail=engine("members") + scripts("seen-slips.js"))


def test_every_slip_that_is_caught_is_seen_or_has_no_value(sheet: Any, book_html: Path) -> None:
    labels = sheet.evaluate("() => Object.keys(window.seenSlips.DRAWN)")
    assert len(labels) >= 10
    unseen = {}
    for label in labels:
        page = f"book/{PAGES[label.split('-')[1]]}.html"
        its = slips_beside(book_html, page)[label][0]
        mutants = [one for one in its["mutants"] if one[5] and one[2] == "caught"]
        moved = sheet.evaluate(MOVED, [label, its["latex"], [one[5] for one in mutants]])
        numbers = [far for far in moved if not isinstance(far, str)]
        assert len(numbers) > 1, label
        pairs = zip(mutants, moved, strict=True)
        unseen[label] = [m[0] for m, far in pairs if not isinstance(far, str) and far < 1e-3]
    assert {label: said for label, said in unseen.items() if said} == {}


def test_the_picture_comes_with_the_slip_and_goes_with_it(read: Any) -> None:
    page = read("book/gaussian-processes/function-view.html").page
    badge = page.locator("details.eqn-badge[data-label='eq-fv-predict-y']")
    badge.scroll_into_view_if_needed()
    badge.locator("> summary").click()
    place = badge.locator("xpath=..").locator(".eqn-place[title='flip the sign of C_{**}']")
    place.click()
    seen = badge.locator(".book-seen")
    seen.wait_for()
    assert "off by up to" in seen.inner_text()
    assert seen.locator("path").count() == 3
    place.click()
    seen.wait_for(state="detached")
    badge.evaluate("badge => { badge.open = false; }")
