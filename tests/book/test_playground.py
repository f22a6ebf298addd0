"""The figure that the reader operates: its numbers are gpnotes' numbers, and its keys work.

The script is loaded into an otherwise empty page from the file system, as the book loads it,
so that these tests need a browser and not the built book.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browsing import drag

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "book" / "_static"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>playground</title>
<link rel="stylesheet" href="{static}/../../src/gpnotes/colours.css">
<link rel="stylesheet" href="{static}/gp-playground.css"></head>
<body><main><figure id="still"><p>the static picture</p><figcaption>a caption</figcaption></figure>
<div data-gp-playground="still"></div>
<script src="{static}/gp-numbers.js"></script><script src="{static}/operated-figure.js"></script>
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


def kernels(signal: float, lengthscale: float) -> dict:
    """The package's kernel for each choice of the figure, on x less 5."""
    import gpnotes as gp

    variance, slope = signal**2, (signal / (5 * lengthscale)) ** 2
    return {
        "rbf": gp.RBF(variance, lengthscale),
        "matern12": gp.Matern12(variance, lengthscale),
        "periodic": gp.Periodic(variance, lengthscale, period=4.0),
        "line": gp.Constant(variance) + gp.Linear(slope),
    }


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


@pytest.mark.parametrize("name", ["rbf", "matern12", "periodic", "line"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_page_computes_what_the_package_computes(playground_page, seed, name):
    import gpnotes as gp

    given = problem(seed) | {"kernel": name}
    theirs = playground_page.evaluate("given => window.gpNumbers.posterior(given)", given)
    model = gp.GP(kernels(given["signal"], given["lengthscale"])[name], given["noise"] ** 2)
    x, xs = (np.array(given[name])[:, None] - 5.0 for name in ("x", "xs"))
    posterior = gp.condition(model, x, np.array(given["y"]))
    np.testing.assert_allclose(theirs["mean"], posterior.mean(xs), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["varianceF"], posterior.variance(xs), rtol=1e-8, atol=1e-9)
    noisy = posterior.variance(xs, noise=True)
    np.testing.assert_allclose(theirs["varianceY"], noisy, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["covariance"], posterior.covariance(xs), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(theirs["logEvidence"], posterior.log_evidence, rtol=1e-9)


def test_the_fixed_normals_are_standard_and_fixed(playground_page):
    script = "() => [window.gpNumbers.fixedNormals(20000, 3), window.gpNumbers.fixedNormals(5, 3)]"
    many, few = playground_page.evaluate(script)
    assert few == many[:5]
    assert abs(np.mean(many)) < 4 / np.sqrt(len(many))
    assert abs(np.var(many) - 1) < 4 * np.sqrt(2 / len(many))


def test_samples_have_the_mean_and_covariance_asked_for(playground_page):
    script = """([mean, covariance]) => window.gpNumbers.samples(mean, covariance, 1,
        Array.from({ length: 4000 }, (_, i) => window.gpNumbers.fixedNormals(3, i + 1)))"""
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


def test_a_slider_says_its_value_in_words(playground_page):
    page = playground_page
    page.focus("[data-name=noise]")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("[data-name=noise]", "aria-valuetext") == "noise 0.32"


def test_buttons_set_the_state_that_the_text_speaks_of(playground_page):
    page = playground_page
    page.click("[data-action=try-1]")
    assert page.locator(".gp-point").count() == 0
    page.click("[data-action=try-2]")
    assert page.locator(".gp-point").count() == 5
    assert page.input_value("[data-name=lengthscale]") == "0.3"
    page.click("[data-action=try-5]")
    assert page.input_value("[data-name=lengthscale]") == "1"
    assert page.input_value("select[data-name=kernel]") == "periodic"
    page.click("[data-action=reset]")
    assert page.input_value("select[data-name=kernel]") == "rbf"


def test_a_surprise_moves_the_mean_and_no_band(playground_page):
    page = playground_page
    result = "() => document.querySelector('.gp-playground').playground.result"
    before = page.evaluate(result)
    page.click("[data-action=try-4]")
    after = page.evaluate(result)
    assert np.abs(np.subtract(after["mean"], before["mean"])).max() > 1
    assert after["varianceF"] == before["varianceF"]


def test_another_kernel_changes_the_picture_and_the_evidence(playground_page):
    page = playground_page
    seen = set()
    for name in ("rbf", "matern12", "periodic", "line"):
        page.select_option("select[data-name=kernel]", name)
        seen.add((page.get_attribute(".gp-plot .gp-mean", "d"), page.inner_text(".gp-status")))
    assert len(seen) == 4


def test_the_evidence_curve_has_its_maximum_where_it_says(playground_page):
    page = playground_page
    said = page.get_attribute(".gp-curve", "aria-label")
    best = float(said.split(" at ")[1].rstrip("."))
    script = """best => {
      const { points, ...prior } = document.querySelector('.gp-playground').playground.state;
      const [x, y] = [points.map((p) => p[0]), points.map((p) => p[1])];
      const at = (lengthscale) =>
        window.gpNumbers.evidence({ x, y, ...prior, lengthscale }).logEvidence;
      return [at(best), at(best / 1.3), at(best * 1.3)];
    }"""
    here, shorter, longer = page.evaluate(script, best)
    assert here > shorter
    assert here > longer


def test_axes_are_labelled(playground_page):
    labels = playground_page.locator(".gp-axes .gp-label")
    assert labels.all_text_contents() == ["x", "f(x)"]


def test_a_swipe_scrolls_and_adds_no_reading(browser, tmp_path):
    file = tmp_path / "page.html"
    tall = PAGE.replace("</main>", "<div style='height: 3000px'></div></main>")
    file.write_text(tall.format(static=STATIC.as_uri()), encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True)
    page = context.new_page()
    page.goto(file.as_uri())
    box = page.locator(".gp-plot svg").bounding_box()
    x, y = box["x"] + 300, box["y"] + 40  # beside the readings
    page.touchscreen.tap(x, y)
    assert page.locator(".gp-point").count() == 6
    touch = context.new_cdp_session(page)
    for kind, up in (("Start", 0), *(("Move", 20 * step) for step in range(1, 10)), ("End", None)):
        points = [] if up is None else [{"x": x, "y": y + 150 - up}]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    page.wait_for_function("scrollY > 50")
    assert page.locator(".gp-point").count() == 6
    context.close()


def test_a_reading_is_dragged_and_the_drag_adds_none(playground_page):
    page = playground_page
    before = page.locator(".gp-point").nth(2).get_attribute("transform")
    drag(page.locator(".gp-point").nth(2), 20, 40)
    assert page.locator(".gp-point").nth(2).get_attribute("transform") != before
    assert page.locator(".gp-point").count() == 5


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
