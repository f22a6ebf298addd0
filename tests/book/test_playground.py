"""The figure that the reader operates: its numbers are gpnotes' numbers, and its keys work.

The script is loaded into an otherwise empty page from the file system, as the book loads it,
so that these tests need a browser and not the built book.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "book" / "_static"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>playground</title>
<link rel="stylesheet" href="{static}/gp-playground.css"></head>
<body><main><figure id="still"><p>the static picture</p><figcaption>a caption</figcaption></figure>
<div data-gp-playground="still"></div>
<script src="{static}/gp-playground.js"></script></main></body></html>"""


@pytest.fixture
def playground_page(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(static=STATIC.as_uri()), encoding="utf-8")
    page = browser.new_page(viewport={"width": 800, "height": 900})
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    yield page
    page.close()
    assert errors == []
    assert all(url.startswith("file://") for url in requests)


def problem(seed: int) -> dict:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 12))
    return {
        "x": draw.uniform(0, 10, n).tolist(),
        "y": draw.normal(size=n).tolist(),
        "xs": draw.uniform(-1, 11, 9).tolist(),
        "lengthscale": float(draw.uniform(0.3, 4.0)),
        "signal": float(draw.uniform(0.3, 3.0)),
        "noise": float(draw.uniform(0.05, 1.0)),
    }


@pytest.mark.parametrize("seed", range(6))
def test_the_page_computes_what_the_package_computes(playground_page, seed):
    import gpnotes as gp

    given = problem(seed)
    theirs = playground_page.evaluate("given => window.gpPlayground.posterior(given)", given)
    kernel = gp.RBF(variance=given["signal"] ** 2, lengthscale=given["lengthscale"])
    model = gp.GP(kernel, given["noise"] ** 2)
    x, xs = (np.array(given[name])[:, None] for name in ("x", "xs"))
    posterior = gp.condition(model, x, np.array(given["y"]))
    np.testing.assert_allclose(theirs["mean"], posterior.mean(xs), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["varianceF"], posterior.variance(xs), rtol=1e-8, atol=1e-9)
    noisy = posterior.variance(xs, noise=True)
    np.testing.assert_allclose(theirs["varianceY"], noisy, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["covariance"], posterior.covariance(xs), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["logEvidence"], posterior.log_evidence, rtol=1e-9)


def test_the_fixed_normals_are_standard_and_fixed(playground_page):
    script = (
        "() => [window.gpPlayground.fixedNormals(20000, 3), window.gpPlayground.fixedNormals(5, 3)]"
    )
    many, few = playground_page.evaluate(script)
    assert few == many[:5]
    assert abs(np.mean(many)) < 4 / np.sqrt(len(many))
    assert abs(np.var(many) - 1) < 4 * np.sqrt(2 / len(many))


def test_samples_have_the_mean_and_covariance_asked_for(playground_page):
    script = """([mean, covariance]) => window.gpPlayground.samples(mean, covariance, 1,
        Array.from({ length: 4000 }, (_, i) => window.gpPlayground.fixedNormals(3, i + 1)))"""
    covariance = np.array([[1.0, 0.6, 0.1], [0.6, 1.5, -0.3], [0.1, -0.3, 0.8]])
    drawn = np.array(playground_page.evaluate(script, [[0.5, -1.0, 2.0], covariance.tolist()]))
    assert np.abs(drawn.mean(axis=0) - [0.5, -1.0, 2.0]).max() < 4 * np.sqrt(1.5 / 4000)
    assert np.abs(np.cov(drawn.T) - covariance).max() < 4 * 1.5 * np.sqrt(2 / 4000)


def test_the_script_takes_the_place_of_the_static_picture(playground_page):
    assert not playground_page.is_visible("#still > p")
    assert playground_page.is_visible("#still figcaption")
    assert playground_page.is_visible("#still .gp-plot")
    assert playground_page.locator(".gp-point").count() == 5


def test_points_are_added_moved_and_removed_with_the_keyboard(playground_page):
    page = playground_page
    page.focus("[data-action=add]")
    page.keyboard.press("Enter")
    assert page.locator(".gp-point").count() == 6
    before = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowUp")
    after = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert before.startswith("Observation 6 of 6")
    assert before != after
    page.keyboard.press("Delete")
    assert page.locator(".gp-point").count() == 5
    assert page.evaluate("document.activeElement.getAttribute('class')").startswith("gp-point")


def test_points_are_added_with_the_pointer_and_all_can_go(playground_page):
    page = playground_page
    page.locator(".gp-plot svg").click(position={"x": 300, "y": 60})
    assert page.locator(".gp-point").count() == 6
    for _ in range(6):
        page.click("[data-action=remove]")
    assert page.locator(".gp-point").count() == 0
    assert "prior" in page.inner_text(".gp-status")
    page.click("[data-action=reset]")
    assert page.locator(".gp-point").count() == 5


def test_a_slider_changes_the_picture_and_says_its_value(playground_page):
    page = playground_page
    before = page.get_attribute(".gp-mean", "d")
    page.focus("[data-name=lengthscale]")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".gp-mean", "d") != before
    assert page.inner_text(".gp-slider output >> nth=0") == "1.05"


@pytest.mark.parametrize("width", [390, 1200])
def test_no_page_grows_wider_than_its_window(playground_page, width):
    playground_page.set_viewport_size({"width": width, "height": 800})
    playground_page.wait_for_timeout(100)
    assert playground_page.evaluate("document.documentElement.scrollWidth") <= width


def test_assistive_technology_finds_no_serious_fault(playground_page):
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    results = axe_module.Axe().run(playground_page)
    serious = [
        violation["id"]
        for violation in results.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []


@pytest.mark.book
def test_it_stands_in_the_chapter_above_its_caption(visit):
    page = visit("book/gaussian-processes/function-view.html").page
    figure = page.locator("figure#fig-fv-playground")
    assert figure.locator(".gp-plot svg .gp-point").count() == 5
    assert figure.locator("figcaption").is_visible()
    assert not figure.locator("img").is_visible()
