"""The surface that a reader turns: it is the chapter's, it is drawn, and it turns."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, assert_prints_its_picture, drag

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import rabbit as tool  # noqa: E402

MOST = 150_000  # bytes


@pytest.fixture(scope="module")
def mesh() -> dict[str, np.ndarray]:
    """The surface of the page, read as its numbers were written."""
    text = tool.MESH.read_text("utf-8")
    sizes = {name: int(n) for name, n in re.findall(r"(places|squares|touches): (\d+)", text)}
    data, at, found = base64.b64decode(text.split('data: "')[1].split('"')[0]), 0, {}
    for name, rows, columns, kind, by in (
        ("x", sizes["places"], 3, "<i2", 10_000), ("sd", sizes["places"], 1, "<u2", 100),
        ("points", sizes["touches"], 3, "<i2", 10_000), ("squares", sizes["squares"], 4, "<u2", 1),
        ("normals", sizes["places"], 3, "i1", 127), ("facing", sizes["touches"], 3, "i1", 127),
    ):  # fmt: skip
        values = np.frombuffer(data, kind, rows * columns, at)
        at += values.nbytes + values.nbytes % 2
        found[name] = values.reshape(rows, columns) / by
    assert at == len(data)
    return found


@pytest.mark.book
def test_it_is_the_surface_of_the_chapter(
    mesh: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run tools/rabbit.py when the cells of the chapter have changed."""
    monkeypatch.setenv("MPLBACKEND", "agg")  # as the tool would, for all tests to come
    assert tool.MESH.stat().st_size < MOST
    made = tool.made(drawn=False)
    slopes = made["slopes_of"](made["posterior"], mesh["x"])
    steepness = np.linalg.norm(slopes, axis=1)
    away, sd = made["off"](made["posterior"], mesh["x"])
    assert np.max(away) < 1e-3  # each place is on it
    assert mesh["normals"] == pytest.approx(slopes / steepness[:, None], abs=0.006)
    assert mesh["sd"][:, 0] == pytest.approx(1000 * sd, rel=0.02, abs=0.05)
    assert mesh["points"] == pytest.approx(made["points"], abs=1e-4)
    assert mesh["facing"] == pytest.approx(made["normals"], abs=0.01)
    corners = mesh["x"][mesh["squares"].astype(int)]
    assert np.max(np.ptp(corners, axis=1)) < 0.25  # squares are small, and between neighbours


def eye(turn: float, tilt: float) -> np.ndarray:
    """Rows: what is right, what is up, and where the eye is; the first as the chapter has it."""
    a, b = np.radians(turn) + np.arctan2(-0.85, 0.35), np.radians(tilt)
    view = np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.array([right, np.cross(view, right), view])


WHOLE = "window.gpSkin.unpack(window.gpRabbit)"


@pytest.mark.parametrize(("turn", "tilt"), [(68, 5), (0, 18), (-130, -40)])
def test_each_pixel_is_a_place_of_the_surface(opened: Any, mesh: Any, turn: int, tilt: int) -> None:
    page = opened("rabbit")
    run = f"([turn, tilt]) => [...window.gpSkin.render({WHOLE}, turn, tilt, 50).near]"
    near = np.array([-np.inf if d is None else d for d in page.evaluate(run, [turn, tilt])])
    seen = np.flatnonzero(np.isfinite(near))
    assert 400 < len(seen) < 1400  # of 2500
    axes, middle = eye(turn, tilt), np.array([0.0, 0.0, 0.5])
    down, across = np.divmod(seen, 50)
    high = (25 - down) * 3.1 / 50 + axes[1] @ middle
    places = np.column_stack([(across - 25) * 3.1 / 50, high, near[seen]]) @ axes
    gaps = np.linalg.norm(places[:, None] - mesh["x"][None], axis=2)
    assert np.max(gaps.min(axis=1)) < 0.07
    # and none of those places, seen from there, stands far before its pixel
    x, y, depth = axes @ (mesh["x"] - [0, 0, 0.5]).T
    pixels = np.rint(25 - 50 * y / 3.1).astype(int) * 50 + np.rint(25 + 50 * x / 3.1).astype(int)
    inside = np.isfinite(near[pixels])
    assert np.mean(inside) > 0.9  # but for those at the rim
    ahead = depth + axes[2] @ middle - near[pixels]
    assert np.quantile(ahead[inside], 0.95) < 0.1


@pytest.mark.parametrize(("turn", "tilt"), [(0, 18), (120, -20)])
def test_it_says_how_well_what_faces_the_reader_is_known(
    opened: Any, mesh: Any, turn: int, tilt: int
) -> None:
    page = opened("rabbit", at=f"#still?turn={turn}&tilt={tilt}")
    facing = mesh["normals"] @ eye(turn, tilt)[2] > 0
    right = np.quantile(mesh["sd"][facing], [0.5, 0.9, 1])
    said = [float(one) for one in re.findall(r"\d+\.\d", page.inner_text(".gp-status"))]
    assert said == pytest.approx(right, abs=0.06)


SHARE = """() => {
    const canvas = document.querySelector('.gp-plot canvas');
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    let [seen, light] = [0, 0];
    for (let i = 0; i < data.length; i += 4) {
        seen += data[i + 3] > 0;
        light += data[i];
    }
    return [seen / (width * height), light / seen];
}"""
PICTURE = "document.querySelector('.gp-plot canvas').toDataURL()"
STATE = f"[{FIGURE}.state.turn, {FIGURE}.state.tilt]"


def test_the_picture_is_no_blank(opened: Any) -> None:
    page = opened("rabbit")
    share, light = page.evaluate(SHARE)
    assert 0.2 < share < 0.6
    assert 90 < light < 230
    page.select_option("[data-name=shown]", "sd")
    assert page.evaluate(SHARE)[0] == share
    assert page.evaluate(SHARE)[1] < light
    before = page.evaluate(PICTURE)
    page.select_option("[data-name=shown]", "touches")
    assert page.evaluate(PICTURE) != before


def test_arrow_keys_turn_and_tilt_it(opened: Any) -> None:
    page = opened("rabbit")
    before = page.evaluate(PICTURE)
    handle = page.locator(".gp-turntable")
    handle.press("ArrowLeft")
    handle.press("Shift+ArrowLeft")
    handle.press("ArrowDown")
    assert page.evaluate(STATE) == [35, 23]
    assert page.evaluate(PICTURE) != before
    assert handle.get_attribute("aria-valuenow") == "35"
    assert page.input_value("[data-name=turn]") == "35"


def test_a_drag_turns_it_and_its_link_leads_back_to_it(opened: Any) -> None:
    page = opened("rabbit")
    before = page.evaluate(PICTURE)
    drag(page.locator(".gp-turntable"), 60, 20)
    assert page.evaluate(STATE) == [-30, 28]  # what is dragged to the right comes from the left
    after = page.evaluate(PICTURE)
    assert after != before
    again = opened("rabbit", at=page.get_attribute(".gp-address a", "href"))
    assert again.evaluate(STATE) == [-30, 28]
    assert again.evaluate(PICTURE) == after


def test_a_finger_turns_it_sideways_and_scrolls_the_page_up(opened: Any) -> None:
    phone = {"viewport": {"width": 390, "height": 700}, "has_touch": True}
    page = opened("rabbit", 390, tail="<div style='height: 3000px'></div>", **phone)
    box = page.locator(".gp-turntable").bounding_box()
    touch = page.context.new_cdp_session(page)

    def sweep(right: int, down: int) -> None:
        for step in range(11):
            x = box["x"] + box["width"] / 2 + right * step / 10
            y = box["y"] + box["height"] / 2 + down * step / 10
            kind = "touchMove" if step else "touchStart"
            points = [{"x": x, "y": y}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    sweep(80, 0)
    assert page.evaluate(STATE)[0] < -20
    assert page.evaluate("scrollY") == 0
    sweep(0, -150)
    page.wait_for_function("scrollY > 50")


def test_it_turns_slowly_by_itself_until_it_is_told_to_stop(opened: Any) -> None:
    page = opened("rabbit")
    page.click("[data-action=turn]")
    page.wait_for_function(f"{FIGURE}.state.turn > 2")
    assert page.get_attribute("[data-action=turn]", "aria-pressed") == "true"
    page.click("[data-action=turn]")
    there = page.evaluate(STATE)
    page.wait_for_timeout(200)
    assert page.evaluate(STATE) == there
    page.click("[data-action=turn]")
    page.click("[data-action=reset]")
    assert page.evaluate(STATE) == [0, 18]
    assert page.get_attribute("[data-action=turn]", "aria-pressed") == "false"


def test_who_wants_no_motion_gets_none(opened: Any) -> None:
    page = opened("rabbit", reduced_motion="reduce")
    page.click("[data-action=turn]")
    assert page.evaluate(STATE) == [30, 18]
    page.wait_for_timeout(200)
    assert page.evaluate(STATE) == [30, 18]


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened: Any, width: int) -> None:
    page = opened("rabbit", width)
    assert_fits(page, width)
    assert_prints_its_picture(page)
