"""The figure of the lake: its numbers are the package's, and a reader can draw the map."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes.mdp import GridWorld, solve

pytestmark = pytest.mark.browser

MAPS = [
    ("........G", ".##...#..", "......#..", ".........", ".#....##.", "S..XXXX.."),
    ("G.#X", "....", "X.#S", "...G"),
]


@pytest.mark.parametrize("rows", MAPS)
@pytest.mark.parametrize(("slip", "discount"), [(0.3, 0.97), (0.0, 0.6)])
def test_its_values_are_the_packages(opened, rows, slip, discount):
    page = opened("grid")
    wind = [(0, -1, 1, 0, -2)[j % 5] for j in range(len(rows[0]))]
    given = {"rows": rows, "wind": wind, "slip": slip, "discount": discount}
    theirs = page.evaluate("given => window.gpGrid.solve(given)", given)
    ours = solve(GridWorld(rows, slip=slip, wind=tuple(wind)).mdp(discount), tolerance=1e-10)
    np.testing.assert_allclose(theirs["values"], ours.values, atol=2e-9)
    clear = np.diff(np.sort(ours.action_values, axis=1)[:, -2:])[:, 0] > 1e-6
    assert clear.any()
    assert (np.asarray(theirs["policy"])[clear] == ours.policy[clear]).all()


def test_a_cell_and_a_wind_are_changed_by_a_click(opened):
    page = opened("grid")
    tile = page.locator(".gp-tile").nth(9 + 1 * 9 + 3)
    assert "open water" in tile.get_attribute("aria-label")
    tile.click()
    assert tile.get_attribute("aria-label") == "Row 2, column 4: rock"
    tile.click()
    assert "open water" in tile.get_attribute("aria-label")
    wind = page.locator(".gp-tile").first
    wind.click()
    assert wind.get_attribute("aria-label") == "Wind of column 1 blows north"
    wind.click()
    assert wind.get_attribute("aria-label") == "Wind of column 1 blows south"


def test_keys_go_from_cell_to_cell_and_paint(opened):
    page = opened("grid")
    page.locator(".gp-tile[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert "Row 2, column 2: open water" in page.evaluate(focused)
    page.select_option("select[data-name=brush]", "X")
    page.locator(".gp-tile[tabindex='0']").focus()
    page.keyboard.press(" ")
    assert page.evaluate(focused) == "Row 2, column 2: weir"
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    assert "Wind of column 2" in page.evaluate(focused)


def test_the_start_cannot_be_lost(opened):
    page = opened("grid")
    start = page.locator(".gp-tile[aria-label*='the start']")
    start.click()
    assert start.count() == 1


def test_trials_change_what_it_says(opened):
    page = opened("grid")
    said = {page.inner_text(".gp-status")}
    for trial in range(1, 6):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 6
    page.click("[data-action=reset]")
    assert page.inner_text(".gp-status") in said


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("grid", width=width), width)
