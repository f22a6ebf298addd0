"""The figure of Laplace's bell: its numbers are those of quadrature, and they move."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits, drag
from scipy import integrate

pytestmark = pytest.mark.browser


def mixture(seed: int) -> tuple[np.ndarray, float]:
    draw = np.random.default_rng(seed)
    places = np.cumsum(draw.uniform(1.2, 3.0, 3))
    return np.stack([places, draw.uniform(0.3, 1.0, 3)], axis=1), float(draw.uniform(0.4, 0.7))


def density(humps: np.ndarray, width: float):
    return lambda f: float(np.sum(humps[:, 1] * np.exp(-0.5 * ((f - humps[:, 0]) / width) ** 2)))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_bell_has_the_height_and_the_curvature_of_the_top(opened, seed):
    page = opened("laplace")
    humps, width = mixture(seed)
    run = "([humps, width]) => window.gpLaplace.laplace(humps, width)"
    found = page.evaluate(run, [humps.tolist(), width])
    of = density(humps, width)
    line = np.linspace(-2.0, 12.0, 14001)
    top = line[np.argmax([of(f) for f in line])]
    bell = found["bells"][0]
    assert bell["mode"] == pytest.approx(top, abs=2e-3)
    assert bell["height"] == pytest.approx(of(bell["mode"]), rel=1e-12)
    h = 1e-4
    logs = [np.log(of(bell["mode"] + k * h)) for k in (-1, 0, 1)]
    assert 1.0 / bell["variance"] == pytest.approx(
        (2 * logs[1] - logs[0] - logs[2]) / h**2, rel=1e-4
    )
    wanted = np.sqrt(2 * np.pi * bell["variance"]) * bell["height"]
    assert bell["area"] == pytest.approx(wanted, rel=1e-12)


def test_area_and_spread_of_the_density_are_those_of_quadrature(opened):
    page = opened("laplace")
    humps, width = mixture(9)
    run = "([humps, width]) => window.gpLaplace.laplace(humps, width)"
    found = page.evaluate(run, [humps.tolist(), width])
    of = density(humps, width)
    area, first, second = (
        integrate.quad(lambda f, k=k: f**k * of(f), -10, 25, limit=200)[0] for k in range(3)
    )
    assert found["area"] == pytest.approx(area, rel=1e-8)
    assert found["mean"] == pytest.approx(first / area, rel=1e-8)
    assert found["variance"] == pytest.approx(second / area - (first / area) ** 2, rel=1e-6)


def told(page) -> tuple[float, float]:
    """The area of the density and that of what is drawn below it."""
    words = page.inner_text(".gp-status").replace(":", "").replace(",", "").split()
    return tuple(float(word) for word in words if word.replace(".", "", 1).isdigit())[1:3]


def test_one_hump_is_its_own_bell_and_far_ones_need_one_each(opened):
    page = opened("laplace")
    page.click("[data-action=try-1]")
    area, bell = told(page)
    assert area == bell
    page.click("[data-action=try-4]")
    area, bell = told(page)
    assert bell == pytest.approx(area / 1.25, abs=0.011)
    page.select_option("select[data-name=bells]", "all")
    assert told(page) == (area, area)


def test_a_flat_top_has_no_bell(opened):
    page = opened("laplace")
    page.click("[data-action=try-3]")
    assert "there is no bell" in page.inner_text(".gp-status")


def test_a_hump_is_dragged_and_the_bell_follows(opened):
    page = opened("laplace")
    point = page.locator(".gp-point").nth(0)
    box = point.bounding_box()
    before = page.get_attribute(".gp-mean", "d")
    drag(point, 50, 20)
    after = point.bounding_box()
    assert after["x"] > box["x"] + 40
    assert page.get_attribute(".gp-mean", "d") != before
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before


def test_the_last_hump_stays(opened):
    page = opened("laplace")
    page.click("[data-action=try-1]")
    page.locator(".gp-point").nth(0).focus()
    page.keyboard.press("Delete")
    assert page.locator(".gp-point").count() == 1


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("laplace", width)
    assert_fits(page, width)
