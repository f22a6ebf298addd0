"""A finger drags a point whichever way it goes, and the page stays where it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import FIGURE

pytestmark = pytest.mark.browser

CHAPTER = Path(__file__).parents[2] / "book" / "gaussian-processes" / "hyperparameters.md"
READINGS = re.search(r"data-gp-given='(.*?)'", CHAPTER.read_text("utf-8"))[1]
# The figures whose points stand there from the start, and whether one may go anywhere.
KINDS = {
    "bound": True,
    "circle": False,
    "evidence": False,
    "exact": True,
    "inducing": False,
    "laplace": True,
    "mean": True,
    "pair": False,
    "smoothing": False,
    "surface": True,
    "weight": True,
}
WAYS = {"up": (0, -1), "down": (0, 1), "aslant": (0.6, -0.8), "sideways": (1, 0)}
PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True}
DOUBLE = 200  # milliseconds: taps this close are surely a double tap in Chromium
TALL = "<div style='height: 3000px'></div>"

# The middle of each point, the one nearest the middle of the plot first: it has room on all sides.
POINTS = """() => {
    const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
    const place = (node) => middle(node.getBoundingClientRect());
    const [x, y] = place(document.querySelector('.gp-plot svg'));
    const far = (node) => Math.hypot(place(node)[0] - x, place(node)[1] - y);
    window.gpDots ??= [...document.querySelectorAll('.gp-point .gp-dot')]
        .sort((one, other) => far(one) - far(other));
    return window.gpDots.map(place);
}"""
AFRESH = f"() => {{ window.gpDots = null; {FIGURE}.reset(); }}"
WATCH = """() => {
    window.gpCancelled = 0;
    addEventListener('pointercancel', () => { window.gpCancelled += 1; });
}"""


def swept(page: Any, start: list[float], way: tuple[float, float], far: int) -> None:
    """A finger laid down, moved in small steps and taken off, as a screen tells the browser."""
    touch = page.context.new_cdp_session(page)
    for step in range(far // 5 + 1):
        x, y = (at + 5 * step * by for at, by in zip(start, way, strict=True))
        at = {"type": "touchMove" if step else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        touch.send("Input.dispatchTouchEvent", at)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_follows_the_finger(opened: Any, kind: str) -> None:
    given = READINGS if kind == "evidence" else "{}"
    page = opened(kind, given=given, tail=TALL, **PHONE)
    page.evaluate(WATCH)
    for way, by in WAYS.items():
        page.evaluate(AFRESH)
        start = page.evaluate(POINTS)[0]
        swept(page, start, by, 40)
        page.wait_for_timeout(100)  # a page that scrolls has begun by now
        assert page.evaluate("[scrollY, window.gpCancelled]") == [0, 0], way
        if KINDS[kind]:
            wanted = [at + 40 * step for at, step in zip(start, by, strict=True)]
            assert page.evaluate(POINTS)[0] == pytest.approx(wanted, abs=1.5), way


def test_two_taps_on_a_point_remove_it_as_two_clicks_do(opened: Any) -> None:
    page = opened("exact", tail=TALL, **PHONE)
    count = page.locator(".gp-point").count()
    place = page.evaluate(POINTS)[0]
    page.evaluate("taps = []; addEventListener('touchstart', e => taps.push(e.timeStamp), true)")
    for _ in range(6):  # a busy machine may part two taps for too long: then they are no double tap
        page.touchscreen.tap(*place)
        page.touchscreen.tap(*place)
        apart = page.evaluate("taps.at(-1) - taps.at(-2)")
        if apart < DOUBLE or page.locator(".gp-point").count() != count:
            break
    assert page.locator(".gp-point").count() == count - 1
