"""The figure of values and harmonics on a circle: what they explain is what the package says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browsing import assert_fits, drag

from gpnotes.infer.interdomain import Harmonics, InducingPoints
from gpnotes.model.kernels import CircularArcCosine

pytestmark = pytest.mark.browser

KERNEL = CircularArcCosine(np.pi)
DENSE = np.linspace(-np.pi, np.pi, 360, endpoint=False)


def explained(places: np.ndarray, waves: int, at: np.ndarray) -> np.ndarray:
    """The share of the variance that values and harmonics explain together, by dense algebra."""
    kinds: list = [InducingPoints(places[:, None])] if len(places) else []
    if waves:
        kinds.insert(0, Harmonics(np.array([0.0, *np.arange(1.0, 2 * waves - 2, 2)])))
    cross = np.vstack([kind.cross(KERNEL, at[:, None]) for kind in kinds])
    gram = kinds[0].gram(KERNEL)
    if len(kinds) == 2:
        between = kinds[0].cross(KERNEL, places[:, None])
        gram = np.block([[gram, between], [between.T, kinds[1].gram(KERNEL)]])
    return np.sum(cross * np.linalg.solve(gram, cross), axis=0) / np.pi


@pytest.mark.parametrize(("many", "waves"), [(3, 0), (0, 4), (2, 2), (1, 0), (0, 1), (4, 3)])
def test_what_is_explained_is_the_packages(opened, many, waves):
    page = opened("circle")
    places = np.sort(np.random.default_rng(many + 9 * waves).uniform(-3, 3, many))
    run = "([places, waves, at]) => window.gpCircle.explained(places, waves, at)"
    found = page.evaluate(run, [places.tolist(), waves, DENSE.tolist()])
    np.testing.assert_allclose(found, explained(places, waves, DENSE), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("waves", [1, 2, 5])
def test_harmonics_explain_the_most_that_can_be(opened, waves):
    page = opened("circle")
    most = page.evaluate("count => window.gpCircle.most(count)", 2 * waves - 1)
    assert most == pytest.approx(explained(np.zeros(0), waves, DENSE).mean(), rel=1e-9)


def shares(page) -> list[float]:
    """The average that is explained, and the best one, as the state line has them."""
    return [float(word) for word in re.findall(r"\d\.\d\d", page.inner_text(".gp-status"))]


def test_a_value_explains_a_third_and_the_mean_a_half(opened):
    page = opened("circle")
    assert shares(page) == [0.33, 0.5]
    page.click("[data-action=try-1]")
    assert shares(page) == [0.5, 0.5]


def test_opposite_values_say_no_more_than_the_mean(opened):
    page = opened("circle")
    page.click("[data-action=try-2]")
    alone = shares(page)[0]
    page.evaluate("document.querySelector('.gp-playground').playground.state.waves = 1")
    page.evaluate("document.querySelector('.gp-playground').playground.draw()")
    assert shares(page)[0] == alone


def test_harmonics_are_ahead_of_as_many_values(opened):
    page = opened("circle")
    page.click("[data-action=try-3]")
    values, best = shares(page)
    page.click("[data-action=try-4]")
    assert values < shares(page)[0] == best


def test_a_value_is_dragged_along_the_circle_and_no_further(opened):
    page = opened("circle")
    point = page.locator(".gp-point").nth(0)
    box = point.bounding_box()
    before = page.get_attribute(".gp-mean", "d")
    drag(point, 60, -40)
    after = point.bounding_box()
    assert after["x"] > box["x"] + 40
    assert after["y"] == pytest.approx(box["y"], abs=0.5)
    assert page.get_attribute(".gp-mean", "d") != before


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("circle", width)
    assert_fits(page, width)
