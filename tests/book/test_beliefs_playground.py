"""The figure of beliefs: its planes are the package's, and a belief goes where the filter says."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes.mdp import MDP, POMDP, AlphaVectors, backup

pytestmark = pytest.mark.browser

GIVEN = {"look": 0.3, "price": 4.0, "breaks": 0.15}


def machine(*, look, price, breaks):
    wears = np.asarray([[0.94, 0.05, 0.01], [0.0, 1 - breaks, breaks], [0.0, 0.0, 1.0]])
    new = np.asarray([[1.0, 0.0, 0.0]] * 3)
    moves = np.stack([wears, np.eye(3), new], axis=1)
    rewards = np.asarray([[earned, -look, -price] for earned in (1.0, 0.5, -2.0)])
    sound = np.asarray([0.9, 0.8, 0.6])
    parts = np.stack([sound, 1 - sound, 0 * sound], axis=1)
    return POMDP(
        MDP.from_arrays(moves, rewards, 0.95, layout="state first"),
        np.stack([parts, np.eye(3), new]),
    )


@pytest.mark.parametrize("steps", [4, 1, 9])
def test_its_planes_are_the_packages(opened, steps):
    page = opened("beliefs")
    found = page.evaluate("given => window.gpBeliefs.plan(given).planes", {**GIVEN, "steps": steps})
    points = np.asarray(page.evaluate("window.gpBeliefs.grid(12)"))
    pomdp, alphas = machine(**GIVEN), AlphaVectors(np.zeros((1, 3)), (0,))
    for _ in range(steps):
        alphas = backup(pomdp, alphas, beliefs=points)
    theirs = AlphaVectors(
        np.asarray([one["heights"] for one in found], dtype=float), [one["action"] for one in found]
    )
    np.testing.assert_allclose(theirs.values(points), alphas.values(points), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(theirs.decide(points), alphas.decide(points))


def area(corners):
    """The share of the triangle that a polygon of beliefs covers."""
    x, y = np.asarray(corners)[:, 0], np.asarray(corners)[:, 1]
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


@pytest.mark.parametrize("steps", [1, 3, 30])
def test_its_regions_are_where_each_plane_is_the_highest(opened, steps):
    page = opened("beliefs")
    script = """given => {
        const { planes } = window.gpBeliefs.plan(given);
        const heights = planes.map(one => one.heights);
        return [heights, window.gpBeliefs.regions(heights)];
    }"""
    heights, regions = page.evaluate(script, {**GIVEN, "steps": steps})
    planes = np.asarray(heights, dtype=float)
    seen = [(k, np.asarray(corners, dtype=float)) for k, corners in enumerate(regions) if corners]
    assert sum(area(corners) for _, corners in seen) == pytest.approx(1.0, abs=1e-6)
    for k, corners in seen:
        assert corners.sum(axis=1) == pytest.approx(1.0)
        inside = np.random.default_rng(k).dirichlet(np.ones(len(corners)), 20) @ corners
        values = inside @ planes.T
        np.testing.assert_allclose(values[:, k], values.max(axis=1), atol=1e-7)


def test_its_filter_is_the_packages(opened):
    page, pomdp, belief = opened("beliefs"), machine(**GIVEN), np.asarray([0.5, 0.3, 0.2])
    ask = "([given, b, a, o]) => window.gpBeliefs.update(window.gpBeliefs.machine(given), b, a, o)"
    for action, kind in ((0, 0), (0, 1), (1, 2)):
        found = page.evaluate(ask, [GIVEN, belief.tolist(), action, kind])
        np.testing.assert_allclose(found["belief"], pomdp.update(belief, action, kind), atol=1e-12)
        np.testing.assert_allclose(
            found["chance"], pomdp.observation_probabilities(belief, action)[kind]
        )


def test_what_is_set_and_seen_changes_what_it_says(opened):
    page = opened("beliefs")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 4):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 5
    page.click("[data-action=reset]")
    assert page.inner_text(".gp-status") in said
    before = page.get_attribute(".gp-point", "transform")
    page.click("[data-action=see-1]")
    assert page.get_attribute(".gp-point", "transform") != before
    assert page.locator(".gp-trail").count() == 1
    page.focus(".gp-point")
    page.keyboard.press("ArrowUp")
    assert page.locator(".gp-trail").count() == 0


def test_a_belief_stays_on_the_triangle(opened):
    page = opened("beliefs")
    page.focus(".gp-point")
    for _ in range(15):
        page.keyboard.press("ArrowUp")
    assert "broken 100 %" in page.inner_text(".gp-status")


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("beliefs", width=width), width)
