"""Two figures to operate: the weights of a posterior mean, and a mean function that is learnt.

Their numbers are gpnotes' numbers, and what the chapters say of them can be seen in them.
"""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, drag

import gpnotes as gp
from gpnotes.infer import linear_smoother
from gpnotes.model.means import BasisMean, Powers

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
KERNELS = {"rbf": gp.RBF, "matern52": gp.Matern52, "matern12": gp.Matern12}
MEANS = ("zero", "constant", "line", "parabola")


@pytest.fixture
def weights(opened):
    return opened("smoothing")


@pytest.fixture
def mean(opened):
    return opened("mean")


def said(page: Any) -> str:
    return page.inner_text(".gp-status")


# ------------------------------------------------------------ the weights


def smoother(page: Any, **given: Any) -> dict[str, Any]:
    return page.evaluate("given => window.gpSmoothing.smoother(given)", given)


def test_weights_and_criteria_are_the_packages(weights):
    for seed, kernel in product(range(3), KERNELS):
        draw = np.random.default_rng(seed)
        x, y, place = draw.uniform(0, 10, 25), draw.normal(size=25), draw.uniform(-1, 11)
        length, signal, noise = draw.uniform(0.5, 1.5, 3)
        theirs = smoother(
            weights, x=x.tolist(), y=y.tolist(), place=place,
            kernel=kernel, lengthscale=length, signal=signal, noise=noise,
        )  # fmt: skip
        model = gp.GP(KERNELS[kernel](signal**2, length), noise**2)
        ours, at = gp.condition(model, x[:, None], y), np.array([[place]])
        row = linear_smoother.hat_matrix(ours, at)[0]
        np.testing.assert_allclose(theirs["weights"], row, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(theirs["variance"], ours.variance(at)[0], rtol=1e-7)
        freedom = linear_smoother.degrees_of_freedom(ours)
        np.testing.assert_allclose(theirs["freedom"], freedom, rtol=1e-8)
        score = linear_smoother.generalised_cross_validation(ours)
        np.testing.assert_allclose(theirs["gcv"], score, rtol=1e-8)


def test_what_is_drawn_are_weights_of_the_mean(weights):
    row, y, mean, grid = weights.evaluate(
        f"[{FIGURE}.row.weights, {FIGURE}.given.y, {FIGURE}.result.mean, gpFigure.GRID]"
    )
    assert np.dot(row, y) == pytest.approx(mean[grid.index(4)], abs=1e-10)
    assert weights.locator("path.gp-stem").count() == len(row) == 33
    assert weights.locator("path.gp-stem-against").count() == sum(w < 0 for w in row) > 0
    assert "33 observations" in said(weights)


def at_place(page: Any, x: float) -> np.ndarray:
    page.evaluate(f"x => {FIGURE}.move(0, x, 0)", x)
    return np.array(page.evaluate(f"{FIGURE}.row.weights"))


def test_well_inside_the_window_is_the_same_wherever_it_stands(weights):
    middle, moved = at_place(weights, 4), at_place(weights, 4.5)
    assert np.abs(moved[2:] - middle[:-2]).max() < 0.02 * middle.max()
    end = at_place(weights, 8)
    assert end.max() > 1.5 * middle.max()  # fewer readings do the work
    assert np.sum(end > 0.1 * end.max()) <= 0.6 * np.sum(middle > 0.1 * middle.max()) + 1


def test_at_the_end_and_beyond_it(weights):
    weights.click("[data-action=try-1]")
    first = weights.evaluate(f"{FIGURE}.row.variance")
    assert weights.evaluate(f"{FIGURE}.place") == 8
    weights.click("[data-action=try-2]")
    assert "beyond the observations" in said(weights)
    assert weights.evaluate(f"{FIGURE}.row.variance") > 5 * first
    near, off, far = (at_place(weights, x) for x in (8, 9, 10))
    assert near.sum() > 0.9 > 0.4 > off.sum() > far.sum() > 0
    assert np.sum(np.diff(np.sign(off)) != 0) >= 3  # they take turns in sign
    assert np.abs(far).max() < 0.2 * np.abs(near).max()
    assert weights.evaluate(f"Math.abs({FIGURE}.value)") < 0.1


def width(page: Any) -> float:
    """What is as sure as the mean: a plain average over so long a stretch."""
    row, noise, count = page.evaluate(f"[{FIGURE}.row, {FIGURE}.state.noise, {FIGURE}.state.count]")
    return noise**2 / row["variance"] * 8 / (count - 1)


def freedom(page: Any) -> float:
    return page.evaluate(f"{FIGURE}.result.freedom")


def test_more_readings_narrow_the_window_of_one_kernel_and_hardly_the_others(weights):
    smooth = width(weights), freedom(weights)
    weights.click("[data-action=try-3]")
    assert 0.85 < width(weights) / smooth[0] < 1
    assert 1 < freedom(weights) / smooth[1] < 1.15
    weights.click("[data-action=try-4]")
    rough = width(weights), freedom(weights)
    assert "none is negative." in said(weights)
    weights.click("[data-action=try-5]")
    assert 0.45 < width(weights) / rough[0] < 0.6
    assert 1.8 < freedom(weights) / rough[1] < 2
    assert "none is negative." in said(weights)
    assert weights.locator(".gp-stem-against").count() == 0


def test_noise_and_lengthscale_widen_and_noise_shrinks(weights):
    start = width(weights)
    total = weights.evaluate(f"{FIGURE}.row.weights").copy()
    weights.click("[data-action=try-6]")
    assert width(weights) > 1.5 * start
    assert sum(weights.evaluate(f"{FIGURE}.row.weights")) < 0.8 < 0.97 < sum(total)
    weights.click("[data-action=reset]")
    weights.fill("[data-name=lengthscale]", "2")
    assert width(weights) > 1.5 * start
    assert sum(weights.evaluate(f"{FIGURE}.row.weights")) > 0.97


def test_the_place_is_moved_by_pointer_and_keys_and_stays_on_the_mean(weights):
    page = weights
    dot = page.locator(".gp-point .gp-dot")
    drag(dot, 40, -60)
    carried = page.evaluate(f"{FIGURE}.place")
    assert carried > 5
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(f"{FIGURE}.place") == pytest.approx(carried - 0.1)
    drawn = page.evaluate(f"[{FIGURE}.state.points[0][1], {FIGURE}.value]")
    assert drawn[0] == drawn[1]
    page.keyboard.press("Delete")
    box = page.locator(".gp-plot svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 60, box["y"] + 60)  # among the weights
    assert page.evaluate(f"{FIGURE}.place") == pytest.approx(carried - 0.1)
    page.mouse.click(box["x"] + 60, box["y"] + 60)
    assert page.evaluate(f"{FIGURE}.place") < 1
    assert page.locator(".gp-point").count() == 1


# ------------------------------------------------------------ a mean that is learnt


def learnt(many: int, spread: float | None) -> Any:
    """The package's mean with powers of x, normal or vague."""
    prior = () if spread is None else (gp.Normal(np.zeros(many), spread * np.eye(many)),)
    return BasisMean(Powers(many - 1), *prior)


def test_a_mean_with_weights_is_the_packages(mean):
    for many, spread in product(range(4), (None, 0.01, 1.0, 300.0)):
        agree(mean, many, spread)


def agree(mean: Any, many: int, spread: float | None) -> None:
    draw = np.random.default_rng(many)
    x, y, xs = draw.uniform(-3, 3, 9), draw.normal(size=9), np.linspace(-5, 5, 11)
    length, signal, noise = draw.uniform(0.5, 1.5, 3)
    given = {
        "x": x.tolist(), "y": y.tolist(), "xs": xs.tolist(), "many": many, "spread": spread,
        "lengthscale": length, "signal": signal, "noise": noise,
    }  # fmt: skip
    theirs = mean.evaluate("given => window.gpTrend.trend(given)", given)
    kernel = gp.RBF(signal**2, length)
    model = gp.GP(kernel, noise**2, learnt(many, spread)) if many else gp.GP(kernel, noise**2)
    ours = gp.condition(model, x[:, None], y)
    plain = gp.condition(gp.GP(kernel, noise**2), x[:, None], y)
    np.testing.assert_allclose(theirs["mean"], ours.mean(xs[:, None]), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(theirs["variance"], ours.variance(xs[:, None]), rtol=1e-7)
    np.testing.assert_allclose(theirs["known"], plain.variance(xs[:, None]), rtol=1e-7)
    np.testing.assert_allclose(theirs["logEvidence"], ours.log_evidence, rtol=1e-9)
    if many:
        np.testing.assert_allclose(theirs["weights"], ours.basis.mean, rtol=1e-7, atol=1e-9)
        sds = ours.basis.variance**0.5
        np.testing.assert_allclose(theirs["sds"], sds, rtol=1e-7)
        drift = Powers(many - 1)(xs[:, None]) @ ours.basis.mean
        np.testing.assert_allclose(theirs["drift"], drift, rtol=1e-7, atol=1e-8)


def seen(page: Any) -> dict[str, np.ndarray]:
    result = page.evaluate(f"{FIGURE}.result")
    return {name: np.array(values) for name, values in result.items()}


def test_outside_the_process_goes_over_to_what_the_mean_says(mean):
    inside = slice(36, 86)  # from −2 to 2
    among = []
    for name in MEANS:
        mean.select_option("select[data-name=name]", name)
        result = seen(mean)
        away = np.abs(result["mean"] - result["drift"])
        assert away[[0, -1]].max() < 0.02
        assert away[inside].max() > 0.3
        among.append(result["mean"][inside])
    assert np.ptp(among, axis=0).max() < 0.1  # next to nothing changes


def test_each_column_adds_to_the_band_outside_and_a_far_reading_takes_it_away(mean):
    ends, added = [], []
    for trial in (1, 2, 4, 5, 6):
        mean.click(f"[data-action=try-{trial}]")
        result = seen(mean)
        ends.append(result["variance"][-1] ** 0.5)
        added.append(np.sqrt(result["variance"] - result["known"])[36:86].max())
        assert f"{ends[-1]:.2f}" in said(mean)
    zero, constant, line, parabola, far = ends
    assert zero < constant < line < parabola
    assert far < 0.2 * parabola
    assert max(added[:-1]) < 0.15


def test_the_prior_of_the_weights_from_forbidden_to_vague(mean):
    mean.click("[data-action=try-3]")
    forbidden = seen(mean)
    mean.click("[data-action=try-1]")
    none = seen(mean)
    np.testing.assert_allclose(forbidden["mean"], none["mean"], atol=0.02)
    assert mean.is_disabled("[data-name=tau]")
    mean.click("[data-action=reset]")
    settled = seen(mean)
    mean.fill("[data-name=tau]", "2")
    wide = seen(mean)
    mean.fill("[data-name=tau]", "2.9")
    wider = seen(mean)
    np.testing.assert_allclose(wide["mean"], settled["mean"], atol=0.4)
    np.testing.assert_allclose(wide["variance"] ** 0.5, settled["variance"] ** 0.5, rtol=0.15)
    fall = wide["logEvidence"] - wider["logEvidence"]
    assert fall == pytest.approx(2 * 0.9 * math.log(10), abs=1e-3)
    mean.click("[data-action=vague]")
    limit = seen(mean)
    np.testing.assert_allclose(limit["variance"], wider["variance"], rtol=1e-4)
    assert mean.get_attribute("[data-name=tau]", "aria-valuetext") == "prior vague"
    assert "compares kernels and not means" in said(mean)
    factor = 2 * (2.9 * math.log(10) + 0.5 * math.log(2 * math.pi))
    assert limit["logEvidence"] - wider["logEvidence"] == pytest.approx(factor, abs=1e-3)


def test_too_few_readings_for_vague_weights_are_said_and_nothing_is_drawn(mean):
    mean.click("[data-action=try-5]")
    point = mean.locator(".gp-point").first
    for _ in range(6):
        point.focus()
        mean.keyboard.press("Delete")
    assert mean.locator(".gp-mean, .gp-band").count() == 0
    assert "3 of them need observations at 3 places" in said(mean)
    mean.select_option("select[data-name=name]", "line")
    assert mean.locator(".gp-mean").count() == 1
    assert "2 observations" in said(mean)
    one, other = mean.evaluate(f"{FIGURE}.state.points")
    mean.evaluate(f"([i, x, y]) => {FIGURE}.move(i, x, y)", [0, other[0], one[1]])
    assert "2 of them need observations at 2 places" in said(mean)
    mean.click("[data-action=reset]")
    assert mean.locator(".gp-point").count() == 8


def test_a_reading_is_dragged(mean):
    point = mean.locator(".gp-point").nth(7)
    before = seen(mean)
    drag(point, 90, 20)
    at, _ = mean.evaluate(f"{FIGURE}.state.points[7]")
    assert at > 3.5
    assert seen(mean)["sds"][1] < before["sds"][1]  # further out it tells more of the rise
    mean.locator(".gp-point").first.focus()
    mean.keyboard.press("Shift+ArrowLeft")
    assert mean.evaluate(f"{FIGURE}.state.points[0]") == pytest.approx([-2.9, -1.2])


# ------------------------------------------------------------ both


def cell(chapter: str, first: str, after: str) -> dict[str, Any]:
    """What a stretch of the cell of the static picture defines."""
    text = (BOOK / "gaussian-processes" / f"{chapter}.md").read_text("utf-8")
    names: dict[str, Any] = {"np": np}
    exec(text[text.index(first) : text.index(after)], names)
    return names


def test_the_static_pictures_show_the_same_readings(opened):
    x, y = opened("smoothing").evaluate("[gpSmoothing.readings(33).x, gpSmoothing.readings(33).y]")
    names = cell("smoothing", "steps = np", "line = np.linspace(0, 10")
    np.testing.assert_allclose(x, names["x_line"])
    np.testing.assert_allclose(y, names["y_line"], rtol=1e-9)
    points = opened("mean").evaluate(f"{FIGURE}.state.points")
    assert (
        points == cell("mean-functions", "eight = np", "across = np.linspace(-5")["eight"].tolist()
    )


@pytest.mark.parametrize("kind", ["smoothing", "mean"])
@pytest.mark.parametrize("size", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, kind, size):
    page = opened(kind, size)
    assert_fits(page, size)
    drawn = page.locator(".gp-plot [d], .gp-plot [transform]")
    marks = drawn.evaluate_all("all => all.map(e => e.outerHTML).join()")
    assert "NaN" not in marks
