"""The figure of the toll: its numbers are those of the package, and it moves."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes import stream
from gpnotes.games import RoleSymmetricGame, all_profiles, find_equilibria, tabulate

pytestmark = pytest.mark.browser

CASES = [
    {"toll": 0, "drivers": 40, "wide": 50, "power": 1},
    {"toll": 25, "drivers": 12, "wide": 60, "power": 2},
    {"toll": 10, "drivers": 2, "wide": 60, "power": 4},
]


def two_roads(given):
    """The game of the figure, from a table of its profiles: the short road, and the wide one."""
    game = RoleSymmetricGame((given["drivers"],), (2,))
    x = all_profiles(game)
    minutes = 60.0 * (x[:, 0] / given["drivers"]) ** given["power"] + given["toll"]
    return tabulate(game, x, -np.stack([minutes, np.full(len(x), float(given["wide"]))], axis=1))


@pytest.mark.parametrize("given", CASES)
def test_its_minutes_and_shares_are_the_packages(opened, given):
    page = opened("toll")
    model = two_roads(given)
    for p in (0.0, 0.3, 0.8, 1.0):
        theirs = page.evaluate("([p, s]) => window.gpToll.short(p, s)", [p, given])
        ours = -model.deviation_payoffs(np.asarray([p, 1.0 - p]))[0, 0] - given["toll"]
        np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    share = page.evaluate("s => window.gpToll.settles(s)", given)
    found = find_equilibria(model, rng=stream(1))
    np.testing.assert_allclose(share, found[0].mixture[0], atol=1e-6)


def test_half_an_hour_is_the_best_toll_of_pigou(opened):
    page = opened("toll")
    assert "60.0 minutes in the mean" in page.inner_text(".gp-status")
    page.click("[data-action=best]")
    said = page.inner_text(".gp-status")
    assert "toll of 30 minutes" in said or "toll of 29 minutes" in said
    assert "45." in said
    page.click("[data-action=reset]")
    assert "100 % take the short road" in page.inner_text(".gp-status")


def test_trials_change_what_it_says(opened):
    page = opened("toll")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 5):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 5


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("toll", width=width), width)
