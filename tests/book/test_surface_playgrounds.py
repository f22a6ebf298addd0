"""A curve from touches, and values drawn one after another: their numbers are gpnotes' numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, assert_prints_its_picture, drag

import gpnotes as gp
from gpnotes.model.kernels import WithGradients, gradients_at, values_at
from gpnotes.model.means import ConstantOfValues

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book" / "gaussian-processes"
KERNELS = {"rbf": gp.RBF, "matern12": gp.Matern12, "matern52": gp.Matern52}
SURE, UNSURE = r"(\d+) % is surely inside", r"on (\d+) % zero"


def said(page, pattern: str) -> int:
    return int(re.search(pattern, page.inner_text(".gp-status"))[1])


def centre(page, index: int) -> tuple[float, float]:
    box = page.locator(".gp-point .gp-dot").nth(index).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def clicked(page, x: float, y: float) -> None:
    box = page.locator(".gp-plot svg").bounding_box()
    at = page.evaluate(f"[{FIGURE}.px({x}), {FIGURE}.py({y})]")
    page.mouse.click(box["x"] + at[0], box["y"] + at[1])


def touched(given: dict) -> tuple[np.ndarray, np.ndarray]:
    """The package's mean and sd of f at the places, from the same touches."""
    at, angles = np.array(given["touches"])[:, :2], np.radians([t[2] for t in given["touches"]])
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    model = gp.GP(
        WithGradients(gp.RBF(given["signal"] ** 2, given["lengthscale"])),
        given["noise"] ** 2,
        ConstantOfValues(given["level"]),
    )
    rows = np.concatenate([values_at(at), gradients_at(at)])
    posterior = gp.condition(model, rows, np.concatenate([np.zeros(len(at)), normals.ravel()]))
    mean, variance = posterior.predict(values_at(np.array(given["places"])))
    return mean, np.sqrt(variance)


# ------------------------------------------------------------ a curve from touches


def test_mean_and_band_of_a_curve_are_the_packages(opened):
    page = opened("surface")
    for seed in range(4):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(1, 9))
        given = {
            "touches": np.column_stack(
                [draw.uniform(-2, 2, (count, 2)), draw.uniform(-180, 180, count)]
            ).tolist(),
            "places": draw.uniform(-3, 3, (20, 2)).tolist(),
            "lengthscale": float(draw.uniform(0.5, 1.5)),
            "signal": float(draw.uniform(0.5, 2.0)),
            "noise": float(draw.uniform(0.05, 0.5)),
            "level": float(draw.uniform(0.0, 1.0)),
        }
        theirs = page.evaluate("given => window.gpSurface.surface(given)", given)
        mean, sd = touched(given)
        np.testing.assert_allclose(theirs["mean"], mean, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(theirs["sd"], sd, rtol=1e-7, atol=1e-9)


def test_what_is_drawn_is_what_the_package_finds_zero(opened):
    page = opened("surface")
    page.click("[data-action=try-1]")
    state, zeros = page.evaluate(f"[{FIGURE}.state, {FIGURE}.zeros]")
    assert [one["closed"] for one in zeros] == [True]
    chain = np.array(zeros[0]["chain"])
    assert len(chain) > 50
    assert np.hypot(*np.diff(chain, axis=0).T).max() < 0.2  # a line, not a cloud
    known = {name: state[name] for name in ("touches", "lengthscale", "noise", "level")}
    mean, _ = touched({**known, "signal": state["lengthscale"], "places": chain.tolist()})
    assert np.abs(mean).max() < 0.01  # straight between the lines of a grid of tenths


def test_chains_and_borders_of_known_shapes(opened):
    page = opened("surface")
    xs, ys = np.linspace(-2, 2, 41), np.linspace(-1.5, 1.5, 31)
    X, Y = np.meshgrid(xs, ys)
    grid = {"xs": xs.tolist(), "ys": ys.tolist()}

    def traced(name: str, values: np.ndarray) -> list:
        script = f"([grid, values]) => window.gpSurface.{name}(grid, values)"
        return page.evaluate(script, [grid, values.ravel().tolist()])

    def area(found: list) -> float:
        at = [np.array(one.get("chain", one)) for one in found]
        return sum(
            abs(np.sum(a[:, 0] * np.roll(a[:, 1], -1) - a[:, 1] * np.roll(a[:, 0], -1)) / 2)
            for a in at
        )

    disc = 1.03**2 - X**2 - Y**2
    ring = traced("trace", disc)
    assert [one["closed"] for one in ring] == [True]
    assert area(ring) == pytest.approx(np.pi * 1.03**2, rel=0.01)
    two = np.maximum(0.09 - (X - 1) ** 2 - Y**2, 0.09 - (X + 1) ** 2 - Y**2)
    assert [one["closed"] for one in traced("trace", two)] == [True, True]
    assert [one["closed"] for one in traced("trace", X - 0.03)] == [False]
    for side in (1, -1):  # two branches that meet in one cell, and do not cross
        saddle = traced("trace", (X - 0.05) * (Y - 0.05) + side * 0.0005)
        assert [one["closed"] for one in saddle] == [False, False]
        assert all(
            np.ptp(np.sign(np.array(one["chain"]) - 0.05), axis=0).max() == 0 for one in saddle
        )
    assert area(traced("borders", disc)) == pytest.approx(np.pi * 1.03**2, rel=0.01)
    half = traced("borders", X - 0.53)  # closed along the edge of the grid
    assert [one["closed"] for one in half] == [True]
    assert area(half) == pytest.approx((2 - 0.53) * 3, rel=1e-6)
    assert area(traced("borders", np.ones_like(X))) == pytest.approx(12, rel=1e-6)


def test_the_band_is_where_zero_is_within_two_deviations(opened):
    page = opened("surface")
    inside = """name => {
      const path = document.querySelector(name);
      const point = document.querySelector("svg").createSVGPoint();
      const xs = [-2.9, -1.45, -0.6, 0.02, 0.55, 1.2, 2.3], ys = [-2.1, -1, -0.45, 0.1, 0.6, 1.5];
      return ys.flatMap((y) => xs.map((x) => {
        [point.x, point.y] = [FIGURE.px(x), FIGURE.py(y)];
        return [x, y, path.isPointInFill(point)];
      }));
    }""".replace("FIGURE", FIGURE)
    for trial in (1, 2, 4):
        page.click(f"[data-action=try-{trial}]")
        state = page.evaluate(f"{FIGURE}.state")
        for name, holds in (
            (".gp-band", lambda m, s: abs(m) - 2 * s <= 0),
            (".gp-inside", lambda m, s: m + 2 * s <= 0),
        ):
            found = page.evaluate(inside, name)
            places = [[x, y] for x, y, _ in found]
            mean, sd = touched({**state, "signal": state["lengthscale"], "places": places})
            clear = np.abs(np.abs(mean) - 2 * sd) > 0.05  # not on the very border
            wanted = [holds(m, s) for m, s in zip(mean, sd, strict=True)]
            drawn = [one for _, _, one in found]
            assert np.array_equal(np.array(drawn)[clear], np.array(wanted)[clear])
            assert 0 < sum(drawn) < len(drawn)


def test_what_the_text_says_of_one_touch_and_of_clicks(opened):
    page = opened("surface")
    assert "1 value and 2 slopes" in page.inner_text(".gp-status")
    assert said(page, r"(\d+) closed") == 0
    sure = said(page, SURE), said(page, UNSURE)
    before = centre(page, 0)
    handle = page.locator(".gp-point .gp-dot").nth(1)
    drag(handle, 30, 30)  # the handle: the normal turns and the touch stays
    assert centre(page, 0) == pytest.approx(before, abs=0.5)
    x, y, angle = page.evaluate(f"{FIGURE}.state.touches[0]")
    assert (x, y) == (0, 0)
    assert 0 < angle < 60
    assert (said(page, SURE), said(page, UNSURE)) == pytest.approx(sure, abs=1)
    page.click("[data-action=reset]")
    for x, y in ((0, -1.4), (-0.9, -0.7), (0.9, -0.7)):
        clicked(page, x, y)
    angles = [touch[2] for touch in page.evaluate(f"{FIGURE}.state.touches")]
    assert angles[:3] == [90, -90, 180]
    assert angles[3] == pytest.approx(0, abs=15)
    assert said(page, r"(\d+) closed") == 1
    assert "4 values and 8 slopes" in page.inner_text(".gp-status")


def test_what_the_buttons_of_the_curve_promise(opened):
    page = opened("surface")
    seen = {}
    for trial in range(1, 6):
        page.click(f"[data-action=try-{trial}]")
        zeros = page.evaluate(f"{FIGURE}.zeros.map((one) => one.closed)")
        seen[trial] = zeros.count(True), zeros.count(False), said(page, UNSURE)
    assert seen[1][:2] == (1, 0)
    assert seen[2][0] == 0  # torn open
    assert seen[3][:2] == (1, 0)
    assert seen[3][2] > 1.5 * seen[1][2]  # by a guess
    assert seen[4][:2] == (1, 2)  # nobody has touched these
    assert seen[5][:2] == (1, 0)
    assert seen[5][2] < seen[4][2]


def test_touches_and_normals_by_keys_and_buttons(opened):
    page = opened("surface")
    touch = f"{FIGURE}.state.touches[0]"
    turn = page.locator("[data-action=turn]")
    assert turn.is_disabled()
    assert turn.get_attribute("title") == "Select a point first"
    page.locator(".gp-point").nth(0).focus()
    assert not turn.get_attribute("title")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert page.evaluate(touch) == pytest.approx([0.1, 0.5, 90])
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(touch) == pytest.approx([0.1, 0.5, 125])
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert "Normal of touch 1 of 1: 125 degrees" in label
    turn.click()
    assert page.evaluate(touch)[2] == -55
    page.click("[data-action=remove]")
    assert page.locator(".gp-point").count() == 0
    assert "zero everywhere" in page.inner_text(".gp-status")
    assert turn.is_disabled()
    clicked(page, 1, 1)
    assert page.evaluate(touch)[2] == 90
    page.keyboard.press("Delete")
    page.locator("[data-name=level]").focus()
    page.keyboard.press("ArrowRight")
    assert "0 closed pieces." in page.inner_text(".gp-status")


def test_a_crowd_of_touches_breaks_nothing(opened):
    page = opened("surface")
    page.evaluate(f"for (let i = 0; i < 18; i += 1) {FIGURE}.add(-1 + 0.12 * i, 1 - 0.1 * i)")
    assert page.evaluate(f"{FIGURE}.state.touches.length") == 16
    assert "no more" in page.inner_text(".gp-status")
    page.evaluate(f"{FIGURE}.state.touches.forEach((touch) => touch.splice(0, 2, 0.5, 0.5))")
    page.evaluate(f"(({{ state }}) => (state.lengthscale = 3))({FIGURE}), {FIGURE}.draw()")
    mean, sd = page.evaluate(f"[{FIGURE}.result.mean, {FIGURE}.result.sd]")
    assert np.all(np.isfinite([mean, sd]))
    drawn = page.evaluate("[...document.querySelectorAll('path')].map((p) => p.getAttribute('d'))")
    assert "NaN" not in "".join(drawn)


# ------------------------------------------------------------ one value after another


@pytest.mark.parametrize("order", ["left", "halving"])
def test_each_value_is_drawn_as_the_package_would(opened, order):
    page = opened("forward")
    for kernel, lengthscale in (("rbf", 0.9), ("matern52", 2.0), ("matern12", 1.5)):
        script = """([order, kernel, lengthscale]) => {
          const { orderOf, forward, JITTER } = window.gpForward;
          const places = orderOf(order, 17).map((i) => (10 * i) / 16);
          const z = window.gpNumbers.fixedNormals(17, 8);
          return { places, z, jitter: JITTER, ...forward({ places, z, kernel, lengthscale }) };
        }"""
        theirs = page.evaluate(script, [order, kernel, lengthscale])
        assert sorted(theirs["places"]) == [10 * i / 16 for i in range(17)]
        at, f = np.array(theirs["places"])[:, None], np.array(theirs["values"])
        model = gp.GP(KERNELS[kernel](1.0, lengthscale), theirs["jitter"])
        grown = gp.condition(model, at[:1], f[:1])
        np.testing.assert_allclose(theirs["sd"][0], 1, atol=1e-7)
        for i in range(1, 17):
            mean, variance = grown.predict(at[i : i + 1], noise=True)
            np.testing.assert_allclose(theirs["mean"][i], mean[0], atol=1e-7)
            np.testing.assert_allclose(theirs["sd"][i], variance[0] ** 0.5, atol=1e-7)
            grown = grown.extend(at[i : i + 1], f[i : i + 1])
        factor = np.linalg.cholesky(model.kernel(at) + theirs["jitter"] * np.eye(17))
        np.testing.assert_allclose(np.diag(factor), theirs["sd"], atol=1e-9)
        np.testing.assert_allclose(factor @ theirs["z"], f, atol=1e-9)


def test_the_next_value_comes_from_the_hill_that_was_shown(opened):
    page = opened("forward")
    page.click("[data-action=reset]")
    assert page.locator(".gp-newest").count() == 0
    assert "Nothing is drawn yet" in page.inner_text(".gp-status")
    script = """() => {
      const count = (name) => document.querySelectorAll(name).length;
      return Array.from({ length: 17 }, (_, i) => {
        const seen = [FIGURE.result.mean[i], document.querySelector(".gp-status").textContent];
        seen.push(count(".gp-density"));
        document.querySelector("[data-action=next]").click();
        return [...seen, count(".gp-newest"), count(".gp-bar")];
      });
    }""".replace("FIGURE", FIGURE)
    for i, (mean, told, hills, values, bars) in enumerate(page.evaluate(script)):
        assert f"value {i + 1} of 17" in told
        assert f"mean is {mean:.2f}" in told.replace("\u2212", "-") or abs(mean) < 0.005
        assert (hills, values, bars) == (1, i + 1, i + 1)
    assert page.locator(".gp-density").count() == 0
    assert page.locator("[data-action=next]").is_disabled()
    page.click("[data-action=back]")
    assert page.locator(".gp-newest").count() == 16
    assert page.locator("[data-action=next]").is_enabled()


def test_the_order_changes_the_picture_and_not_the_law(opened):
    page = opened("forward")
    sums, bars = [], []
    for trial in (1, 2):
        page.click(f"[data-action=try-{trial}]")
        assert page.locator(".gp-newest").count() == 17
        told = page.inner_text(".gp-status").replace("\u2212", "-")
        sums.append(float(re.search(r"add up to (-[\d.]+):", told)[1]))
        bars.append(np.array(page.evaluate(f"{FIGURE}.result.sd")))
    places = np.linspace(0, 10, 17)[:, None]
    half = np.linalg.slogdet(gp.RBF(1.0, 1.0)(places) + 1e-8 * np.eye(17))[1] / 2
    assert sums == pytest.approx([half, half], abs=0.006)
    left, halves = bars
    assert np.ptp(left[5:]) < 0.05  # always a step into the unknown, a little
    assert left.min() > 0.2
    middles = [0, 16, 8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15]
    assert page.evaluate("window.gpForward.orderOf('halving', 17)") == middles
    assert halves[:5].min() > 0.9
    assert halves[-7:].max() < 0.2  # what is nearly known


def test_what_the_text_says_of_a_rough_kernel_and_a_long_lengthscale(opened):
    page = opened("forward")
    page.click("[data-action=try-3]")
    sd = page.evaluate(f"{FIGURE}.result.sd")
    assert np.ptp(sd[1:]) < 1e-6
    page.click("[data-action=try-4]")
    sd = page.evaluate(f"{FIGURE}.result.sd")
    assert sd[5] < 0.01 < sd[2]
    assert sd[9] < 0.0015
    assert np.all(np.array(sd) > 0)
    path = page.evaluate("[...document.querySelectorAll('path')].map((p) => p.getAttribute('d'))")
    assert "NaN" not in "".join(path)


def test_choices_stay_when_the_drawing_starts_again(opened):
    page = opened("forward")
    page.select_option("select[data-name=order]", "halving")
    page.select_option("select[data-name=kernel]", "matern12")
    page.click("[data-action=again]")
    first = page.evaluate(f"{FIGURE}.result.values")
    page.click("[data-action=reset]")
    page.click("[data-action=all]")
    assert page.evaluate(f"{FIGURE}.result.values") == first
    assert page.input_value("select[data-name=order]") == "halving"
    page.locator("[data-name=lengthscale]").focus()
    for key in ("Home", "End"):
        page.keyboard.press(key)
        assert np.all(np.isfinite(page.evaluate(f"{FIGURE}.result.values")))
    rows = page.locator(".gp-cell").count()
    assert rows == 17 * 18 / 2
    assert "up to row 17" in page.get_attribute(".gp-curve", "aria-label")


# ------------------------------------------------------------ both


@pytest.mark.parametrize(
    ("chapter", "kind"), [("implicit-surfaces", "surface"), ("sampling", "forward")]
)
def test_it_fits_its_windows_its_readers_and_its_chapter(opened, chapter, kind):
    page = opened(kind)
    assert not page.is_visible("#still > p")
    assert page.is_visible("#still figcaption")
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"{FIGURE}.width === {FIGURE}.plot.clientWidth")
        assert_fits(page, width)
    text = (BOOK / f"{chapter}.md").read_text("utf-8")
    before = text[: text.index(f'data-gp-kind="{kind}"')].splitlines()[-20:]
    listed = " ".join(line.split(":")[0] for line in before if line.startswith("- "))
    named = set(re.findall(r"\*([^*]+)\*", listed))
    assert len(named) == 4
    assert named <= set(page.locator(".gp-trials button").all_inner_texts())
    assert_prints_its_picture(page)
