"""Two figures to climb in: the map of the evidence, and the acquisition as points are added.

Their numbers are gpnotes' numbers, and pointer, keys and buttons do what they say.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, assert_prints_its_picture, drag
from scipy import stats

import gpnotes as gp
from gpnotes import log_evidence_and_gradient
from gpnotes.decide import bayesopt

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"

CHAPTERS = {
    kind: (BOOK / f"{chapter}.md").read_text("utf-8")
    for kind, chapter in (
        ("evidence", "gaussian-processes/hyperparameters"),
        ("acquisition", "decisions/bayesian-optimisation"),
    )
}
GIVEN = {kind: re.search(r"data-gp-given='(.*?)'", text)[1] for kind, text in CHAPTERS.items()}
READINGS, FIRST = GIVEN["evidence"], GIVEN["acquisition"]
STILL = {"reduced_motion": "reduce"}


@pytest.fixture
def evidence(opened):
    return opened("evidence", given=READINGS, **STILL)


@pytest.fixture
def acquisition(opened):
    return opened("acquisition", given=FIRST)


def data(count: int) -> tuple[np.ndarray, np.ndarray]:
    given = json.loads(READINGS)
    return np.array(given["x"][:count])[:, None], np.array(given["y"][:count])


def climbed(place: list[float], X: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The package's log evidence at a place on the map, and its slope by the two logarithms."""
    length, noise = np.exp(place)
    value, bar = log_evidence_and_gradient(gp.GP(gp.RBF(1.0, length), noise**2), X, y)
    return value, np.array([length * bar.kernel.lengthscale, 2 * noise**2 * bar.noise_var])


# ------------------------------------------------------------ the map of the evidence


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_heights_and_slopes_are_the_packages(evidence, seed):
    draw = np.random.default_rng(seed)
    x, y = draw.uniform(0, 10, 9), draw.normal(size=9)
    place = [float(draw.uniform(-1, 2)), float(draw.uniform(-2, 0))]
    given = [{"x": x.tolist(), "y": y.tolist(), "signal": 1}, place]
    script = "given => ['height', 'slope'].map((name) => window.gpEvidence[name](...given))"
    value, slope = evidence.evaluate(script, given)
    ours = climbed(place, x[:, None], y)
    np.testing.assert_allclose(value, ours[0], rtol=1e-10)
    np.testing.assert_allclose(slope, ours[1], rtol=1e-8, atol=1e-10)


def test_the_map_shows_the_readings_of_the_cell():
    numbers = [
        re.search(rf"^{name} = .*?(\[[\d., ]+\])", CHAPTERS["evidence"], re.MULTILINE)
        for name in ("X12", "y12")
    ]
    x, y = data(12)
    assert [json.loads(found[1]) for found in numbers] == [x[:, 0].tolist(), y.tolist()]
    assert json.loads(READINGS)["few"] == 7


@pytest.mark.parametrize(("which", "count"), [("few", 7), ("all", 12)])
def test_there_are_two_tops_and_a_pass(evidence, which, count):
    evidence.click(f"[data-action={which}]")
    assert evidence.evaluate(f"{FIGURE}.given.x.length") == count
    heights = []
    X, y = data(count)
    around = 0.2 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    for trial, word in ((1, "a top"), (2, "a top"), (3, "a pass")):
        evidence.click(f"[data-action=try-{trial}]")
        assert word in evidence.inner_text(".gp-status")
        place = evidence.evaluate(f"{FIGURE}.place")
        value, slope = climbed(place, X, y)
        ring = [climbed(place + step, X, y)[0] for step in around]
        assert np.abs(slope).max() < 1e-3
        assert (value > max(ring)) == (word == "a top")
        heights.append(value)
    wave, noise, between = heights
    assert between < min(wave, noise) - 0.2
    assert (wave > noise) == (which == "all")  # with all readings the answer is the other one
    top = evidence.evaluate(f"{FIGURE}.top")
    np.testing.assert_allclose(top, max(wave, noise), atol=1e-5)


def test_a_climb_never_goes_down_and_ends_on_a_top(evidence):
    script = """() => {
      const { given } = FIGURE, { climb, height, MAP } = window.gpEvidence;
      const ends = [];
      for (const a of [0.1, 0.5, 0.9]) for (const b of [0.1, 0.5, 0.9]) {
        const share = ([low, high], part) => low + part * (high - low);
        const path = climb(given, [share(MAP.x, a), share(MAP.y, b)]);
        const heights = path.map((place) => height(given, place));
        ends.push([path.at(-1), heights.every((v, i) => i === 0 || v > heights[i - 1])]);
      }
      return [ends, ["wave", "noise"].map((name) => FIGURE.found(name))];
    }""".replace("FIGURE", FIGURE)
    evidence.click("[data-action=all]")
    ends, tops = evidence.evaluate(script)
    assert all(rising for _, rising in ends)
    reached = [
        int(np.argmin([np.hypot(*np.subtract(end, top)) for top in tops])) for end, _ in ends
    ]
    assert set(reached) == {0, 1}
    assert all(
        np.hypot(*np.subtract(end, tops[k])) < 0.01
        for (end, _), k in zip(ends, reached, strict=True)
    )


def test_the_drawn_hill_is_where_the_evidence_is_high(evidence):
    script = """() => {
      const figure = FIGURE, { survey, top, map } = figure;
      const area = (by) => figure.above(top - by)[0].split("M").slice(1).map((outline) => {
        const at = outline.replace("Z", "").split("L").map((pair) => pair.split(",").map(Number));
        return Math.abs(at.reduce((sum, [x, y], i) => {
          const [u, v] = at[(i + 1) % at.length];
          return sum + x * v - u * y;
        }, 0)) / 2;
      }).reduce((sum, one) => sum + one, 0) / ((map.right - map.left) * (map.bottom - map.top));
      const { MAP, height } = window.gpEvidence;
      const places = [];
      for (let i = 0; i < 60; i += 1) for (let j = 0; j < 60; j += 1) {
        const share = (low, high, k) => low + ((high - low) * (k + 0.5)) / 60;
        places.push(height(figure.given, [share(...MAP.x, i), share(...MAP.y, j)]));
      }
      return [1, 3, 10].map((by) => [area(by), places.filter((v) => v >= top - by).length / 3600]);
    }""".replace("FIGURE", FIGURE)
    for drawn, counted in evidence.evaluate(script):
        assert drawn == pytest.approx(counted, abs=0.01)
        assert 0.02 < drawn < 0.98


def test_a_line_of_the_map_runs_where_the_evidence_is_as_high_as_it_says(evidence):
    script = """by => {
      const figure = FIGURE;
      const pairs = figure.above(figure.top - by)[1].split(/[ML]/).filter(Boolean);
      return pairs.map((pair) => pair.split(",").map(Number)).map(([x, y]) =>
        figure.top - gpEvidence.height(figure.given, [figure.invertX(x), figure.invertY(y)]));
    }""".replace("FIGURE", FIGURE)
    for by in (1, 2, 4):
        below = np.array(evidence.evaluate(script, by))
        assert len(below) > 40
        assert np.median(np.abs(below - by)) < 0.02
        assert np.abs(below - by).max() < 0.5  # a line through a cell is straight, its hill is not


def test_the_marker_is_carried_by_pointer_keys_and_sliders(evidence):
    page = evidence
    place = f"{FIGURE}.place"
    first = page.evaluate(place)
    drag(page.locator(".gp-point .gp-dot"), 30, -20)
    carried = page.evaluate(place)
    assert carried[0] > first[0]
    assert carried[1] > first[1]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(place) == pytest.approx([carried[0] - 0.1, carried[1]])
    page.focus("[data-name=noise]")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(place) == pytest.approx([carried[0] - 0.1, carried[1] - 0.1])
    said = page.get_attribute("[data-name=noise]", "aria-valuetext")
    assert said == f"noise {float(np.exp(carried[1] - 0.1)):.2g}"
    assert page.locator(".gp-point").count() == 1


def test_a_click_on_the_map_goes_there_and_one_beside_it_does_not(evidence):
    page = evidence
    box = page.locator(".gp-plot svg").bounding_box()
    page.mouse.click(box["x"] + 120, box["y"] + 60)
    there = page.evaluate(f"{FIGURE}.place")
    at = page.evaluate(f"[{FIGURE}.px({FIGURE}.place[0]), {FIGURE}.py({FIGURE}.place[1])]")
    assert at == pytest.approx([120, 60], abs=1)
    page.mouse.click(box["x"] + box["width"] - 100, box["y"] + 60)
    page.keyboard.press("Delete")
    assert page.evaluate(f"{FIGURE}.place") == there
    assert page.locator(".gp-point").count() == 1


def test_the_fit_beside_the_map_is_that_of_the_marker(evidence):
    mean, variance, place = evidence.evaluate(
        f"[{FIGURE}.result.mean, {FIGURE}.result.varianceF, {FIGURE}.place]"
    )
    length, noise = np.exp(place)
    ours = gp.condition(gp.GP(gp.RBF(1.0, length), noise**2), *data(7))
    grid = np.arange(121)[:, None] / 12
    np.testing.assert_allclose(mean, ours.mean(grid), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(variance, ours.variance(grid), rtol=1e-6, atol=1e-8)


def test_a_climb_is_shown_to_those_who_do_not_mind_motion(opened):
    at_once = opened("evidence", given=READINGS, **STILL)
    at_once.click("[data-action=climb]")
    assert "a top" in at_once.inner_text(".gp-status")
    page = opened("evidence", given=READINGS, reduced_motion="no-preference")
    page.click("[data-action=climb]")
    page.wait_for_function("document.querySelector('.gp-status').textContent.includes('a top')")
    assert page.evaluate(f"{FIGURE}.place") == at_once.evaluate(f"{FIGURE}.place")
    assert page.locator(".gp-trail").count() == 1


def test_few_or_all_readings(evidence):
    page = evidence
    few = page.locator(".gp-hill").first.get_attribute("d")
    page.click("[data-action=all]")
    assert page.locator(".gp-reading").count() == 12
    assert page.locator(".gp-hill").first.get_attribute("d") != few
    assert page.get_attribute("[data-action=all]", "aria-pressed") == "true"
    assert page.get_attribute("[data-action=few]", "aria-pressed") == "false"
    page.click("[data-action=reset]")
    assert page.locator(".gp-reading").count() == 7


# ------------------------------------------------------------ the acquisition


@pytest.mark.parametrize("name", ["rbf", "matern52"])
def test_the_belief_is_the_packages(opened, name):
    page = opened("acquisition", given=FIRST.replace("matern52", name))
    page.click("[data-action=five]")
    x, mean, variance, y = page.evaluate(
        f"[{FIGURE}.state.evaluated, {FIGURE}.result.mean, {FIGURE}.result.varianceF,"
        f" {FIGURE}.state.evaluated.map(window.gpAcquisition.truth)]"
    )
    kernel = {"rbf": gp.RBF, "matern52": gp.Matern52}[name](1.0, 1.2)
    ours = gp.condition(gp.GP(kernel, 1e-4), np.array(x)[:, None], np.array(y))
    grid = np.arange(201)[:, None] / 20
    assert len(x) == 8
    np.testing.assert_allclose(mean, ours.mean(grid), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(variance, ours.variance(grid), rtol=1e-6, atol=1e-9)


def test_the_normal_tail_is_scipys(acquisition):
    z = np.concatenate([np.linspace(-37, -2, 200), np.linspace(-3.01, 3.01, 201), [5, 9, 40]])
    script = "z => ['cdf', 'excess'].map((name) => z.map(window.gpAcquisition[name]))"
    cdf, excess = acquisition.evaluate(script, z.tolist())
    np.testing.assert_allclose(cdf, stats.norm.cdf(z), rtol=1e-11)
    one = bayesopt.ExpectedImprovement(0.0)(z, np.ones_like(z))
    np.testing.assert_allclose(excess, one, rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("ei", bayesopt.ExpectedImprovement(0.4)),
        ("pi", bayesopt.ProbabilityOfImprovement(0.4)),
        ("ucb", bayesopt.UpperConfidenceBound(2.5)),
    ],
)
def test_acquisitions_are_the_packages(acquisition, name, ours):
    draw = np.random.default_rng(0)
    mean, variance = draw.normal(size=60), np.exp(draw.uniform(-12, 1, 60))
    mean[:3], variance[:3] = [0.2, 0.4, 0.9], 0.0  # f is known there
    given = {"mean": mean.tolist(), "variance": variance.tolist(), "best": 0.4, "beta": 2.5}
    script = "([name, given]) => window.gpAcquisition.acquisition(name, given)"
    theirs = acquisition.evaluate(script, [name, given])
    np.testing.assert_allclose(theirs, ours(mean, variance), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", ["ei", "thompson", "pi", "ucb"])
def test_it_evaluates_where_the_acquisition_is_largest(acquisition, name):
    page = acquisition
    page.select_option("select[data-name=name]", name)
    for _ in range(4):
        values, known = page.evaluate(f"[{FIGURE}.values, {FIGURE}.state.evaluated]")
        free = [i for i in range(201) if i / 20 not in known]
        best = max(free, key=lambda i: values[i]) / 20
        assert f"largest at x = {best:.2f}" in page.inner_text(".gp-status")
        page.click("[data-action=next]")
        assert page.evaluate(f"{FIGURE}.state.evaluated.at(-1)") == best
    assert page.locator(".gp-reading, .gp-newest").count() == 7


def test_the_regret_is_told_and_falls(acquisition):
    page = acquisition
    grid = [i / 20 for i in range(201)]
    truth = page.evaluate("x => x.map(window.gpAcquisition.truth)", grid)
    told = []
    for _ in range(12):
        best = max(truth[round(20 * x)] for x in page.evaluate(f"{FIGURE}.state.evaluated"))
        said = page.inner_text(".gp-status")
        regret = max(truth) - best
        assert (f"regret of {regret:.2f}" if regret >= 0.005 else "nothing more") in said
        told.append(regret)
        page.click("[data-action=next]")
    assert told == sorted(told, reverse=True)
    assert told[-1] < 0.005 < told[0]


def test_a_new_sample_for_each_step_and_the_same_again(acquisition):
    page = acquisition
    runs = []
    for _ in range(2):
        page.click("[data-action=try-4]")
        samples = []
        for _ in range(4):
            values, mean, variance = page.evaluate(
                f"[{FIGURE}.values, {FIGURE}.result.mean, {FIGURE}.result.varianceF]"
            )
            samples.append((values[0] - mean[0]) / variance[0] ** 0.5)  # its first normal number
            page.click("[data-action=next]")
        runs.append(samples)
    assert runs[0] == runs[1]
    assert np.diff(np.sort(runs[0])).min() > 0.01
    x, values = page.evaluate(f"[{FIGURE}.state.evaluated, {FIGURE}.values]")
    y = page.evaluate("x => x.map(window.gpAcquisition.truth)", x)
    drawn = [values[round(20 * place)] for place in x]
    np.testing.assert_allclose(drawn, y, atol=0.05)  # a sample passes through what is known


def test_five_more_and_an_end(acquisition):
    page = acquisition
    for _ in range(8):
        if page.locator("[data-action=five]").is_enabled():
            page.click("[data-action=five]")
    assert page.evaluate(f"{FIGURE}.state.evaluated.length") == 40
    assert page.locator("[data-action=next]").is_disabled()
    page.click("[data-action=reset]")
    assert page.evaluate(f"{FIGURE}.state.evaluated") == [1, 4, 6]
    assert page.locator("[data-action=next]").is_enabled()


TO_THE_END = f"""trial => {{
    const button = action => document.querySelector(`[data-action=${{action}}]`);
    button(`try-${{trial}}`).click();
    for (let i = 0; i < 8 && !button('five').disabled; i++) button('five').click();
    return [{FIGURE}.state.evaluated.length, {FIGURE}.values];
}}"""


@pytest.mark.parametrize("name", ["rbf", "matern52"])
def test_no_choice_breaks_down_when_there_are_many_evaluations(opened, name):
    page = opened("acquisition", given=FIRST.replace("matern52", name))
    for trial in range(1, 5):
        count, values = page.evaluate(TO_THE_END, trial)
        assert count == 40
        assert len(values) > 40
        assert np.all(np.isfinite(values))


def test_the_reader_chooses_by_pointer_or_keys(acquisition):
    page = acquisition
    box = page.locator(".gp-plot svg").bounding_box()
    page.mouse.click(box["x"] + page.evaluate(f"{FIGURE}.px(8.02)"), box["y"] + 60)
    assert page.evaluate(f"{FIGURE}.state.evaluated") == [1, 4, 6, 8]
    page.keyboard.press("ArrowLeft")  # the place came along
    assert page.evaluate(f"{FIGURE}.state.points[0][0]") == pytest.approx(7.92, abs=0.02)
    page.keyboard.press("Enter")
    assert page.evaluate(f"{FIGURE}.state.evaluated.at(-1)") == pytest.approx(7.9, abs=0.051)
    page.keyboard.press("Enter")  # known there
    page.keyboard.press("Delete")
    assert page.evaluate(f"{FIGURE}.state.evaluated.length") == 5
    assert "Enter evaluates" in page.locator(".gp-point").get_attribute("aria-label")


def test_the_weight_of_the_band_is_for_the_bound_alone(acquisition):
    page = acquisition
    beta = page.locator("[data-name=beta]")
    assert beta.is_disabled()
    page.click("[data-action=try-2]")
    assert beta.is_enabled()
    values, mean = page.evaluate(f"[{FIGURE}.values, {FIGURE}.result.mean]")
    assert values == mean
    beta.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{FIGURE}.values") != mean


def test_the_function_is_hidden_until_somebody_asks(acquisition):
    page = acquisition
    assert page.locator(".gp-truth").count() == 0
    page.check(".gp-check input")
    assert page.locator(".gp-truth").count() == 1


# ------------------------------------------------------------ both


@pytest.mark.parametrize("kind", ["evidence", "acquisition"])
def test_a_swipe_scrolls_and_does_nothing_else(opened, kind):
    tall = {"viewport": {"width": 390, "height": 700}, "has_touch": True}
    page = opened(kind, given=GIVEN[kind], tail="<div style='height: 3000px'></div>", **tall)
    box = page.locator(".gp-plot svg").bounding_box()
    x, y = box["x"] + 90, box["y"] + 60
    page.touchscreen.tap(x, y)
    tapped = page.evaluate(f"{FIGURE}.state")
    touch = page.context.new_cdp_session(page)
    for what, up in (("Start", 0), *(("Move", 20 * step) for step in range(1, 10)), ("End", None)):
        points = [] if up is None else [{"x": x + 60, "y": y + 150 - up}]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{what}", "touchPoints": points})
    page.wait_for_function("scrollY > 50")
    assert page.evaluate(f"{FIGURE}.state") == tapped
    page.click("[data-action=reset]")
    assert page.evaluate(f"{FIGURE}.state") != tapped


@pytest.mark.parametrize("kind", ["evidence", "acquisition"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, kind, width):
    page = opened(kind, width, given=GIVEN[kind])
    assert not page.is_visible("#still > p")
    assert page.is_visible("#still figcaption")
    assert_fits(page, width)


@pytest.mark.parametrize("kind", ["evidence", "acquisition"])
def test_in_print_there_is_the_static_picture(opened, kind):
    page = opened(kind, given=GIVEN[kind])
    assert_prints_its_picture(page)
