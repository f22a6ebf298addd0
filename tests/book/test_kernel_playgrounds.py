"""The laboratory of kernels, and two normal numbers: their numbers are gpnotes', and they move."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, drag
from scipy import stats

import gpnotes as gp
from gpnotes.model import kernels
from gpnotes.model.kernels import ArcCosine

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
PLACES = (np.arange(120) - 59) / 20


@pytest.fixture
def laboratory(opened):
    return opened("kernel")


@pytest.fixture
def pair(opened):
    return opened("pair")


# ------------------------------------------------------------ the laboratory of kernels


def part(name: str, lengthscale: float, state: dict) -> kernels.Kernel:
    """The package's kernel for each choice of the figure."""
    return {
        "rbf": lambda: gp.RBF(1.0, lengthscale),
        "matern12": lambda: gp.Matern12(1.0, lengthscale),
        "matern52": lambda: gp.Matern52(1.0, lengthscale),
        "periodic": lambda: gp.Periodic(1.0, lengthscale, state["period"]),
        "linear": lambda: gp.Constant(state["intercept"] ** 2) + gp.Linear(0.25),
        "arccos": lambda: ArcCosine(),
    }[name]()


def package(state: dict, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    first = part(state["first"], state["one"], state)
    second = part(state["second"], state["two"], state)
    if state["way"] == "warp":
        both = [(np.log(at + 3)[:, None], (at + 3) / 3) for at in (x, z)]
        return both[0][1][:, None] * first(both[0][0], both[1][0]) * both[1][1]
    kernel = {"alone": first, "sum": first + second, "product": first * second}[state["way"]]
    return kernel(x[:, None], z[:, None])


def names() -> list[str]:
    return ["rbf", "matern12", "matern52", "periodic", "linear", "arccos"]


def test_kernels_are_the_packages(laboratory):
    draw = np.random.default_rng(3)
    script = """([state, x, z]) => {
      const k = window.gpKernel.together(state);
      return x.map((a) => z.map((b) => k(a, b)));
    }"""
    chosen = [
        {"way": way, "first": first, "second": second}
        for way in ("sum", "product")
        for first, second in itertools.combinations_with_replacement(names(), 2)
    ] + [
        {"way": way, "first": first, "second": "rbf"}
        for way in ("alone", "warp")
        for first in names()
    ]
    for choice in chosen:
        one, two, period, intercept = draw.uniform(0.3, 2.0, 4)
        state = {**choice, "one": one, "two": two, "period": period, "intercept": intercept}
        x, z = draw.uniform(-2.9, 3, 7), draw.uniform(-2.9, 3, 5)
        z[0] = x[0]
        theirs = laboratory.evaluate(script, [state, x.tolist(), z.tolist()])
        np.testing.assert_allclose(theirs, package(state, x, z), rtol=1e-10, atol=1e-12)


def test_features_multiply_to_the_packages_kernels(laboratory):
    draw = np.random.default_rng(5)
    x = np.arange(40) / 8 - 2.9
    for name in names():
        length, period, intercept = draw.uniform([0.2, 0.5, 0.0], [2.0, 4.0, 2.0])
        given = {"lengthscale": length, "period": period, "intercept": intercept}
        script = "([name, x, given]) => window.gpKernel.features(name, x, given)"
        phi = np.array(laboratory.evaluate(script, [name, x.tolist(), given]))
        ours = part(name, length, given)(x[:, None])
        np.testing.assert_allclose(phi @ phi.T, ours, atol=2e-8 * ours.max())


def test_samples_are_features_times_fixed_normals(laboratory):
    state = {"first": "rbf", "one": 0.7, "second": "periodic", "two": 0.6, "period": 1.3}
    state["intercept"] = 1.0
    script = """([state, x, way]) => {
      const { features, drawn } = window.gpKernel, { fixedNormals } = window.gpNumbers;
      const z = { one: fixedNormals(120, 1), two: fixedNormals(120, 2),
                  both: x.map((_, i) => fixedNormals(120, 3 + i)) };
      const at = way === "warp" ? x.map((v) => Math.log(v + 3)) : x;
      const of = (name, places, lengthscale) => features(name, places, { ...state, lengthscale });
      return [of(state.first, at, state.one), of(state.second, x, state.two), z,
              drawn({ ...state, way }, x, [z])[0]];
    }"""
    x = np.arange(20) / 4 - 2.5
    for way in ("alone", "sum", "product", "warp"):
        left, right, z, drawn = laboratory.evaluate(script, [state, x.tolist(), way])
        left, right, both = np.array(left), np.array(right), np.array(z["both"])
        one, two = (
            np.array(z[name][: phi.shape[1]]) for name, phi in (("one", left), ("two", right))
        )
        ours = {
            "alone": left @ one,
            "sum": left @ one + right @ two,
            "product": np.einsum("ni,nj,ij->n", left, right, both[:, : right.shape[1]]),
            "warp": (x + 3) / 3 * (left @ one),
        }[way]
        np.testing.assert_allclose(drawn, ours, atol=1e-9)


def test_what_is_drawn_is_the_kernel_of_the_state(laboratory):
    page = laboratory
    page.select_option("[data-name=second]", "matern12")
    state, values = page.evaluate(f"[{FIGURE}.state, {FIGURE}.values]")
    ours = package(state, PLACES, np.array([float(state["points"][0][0])]))
    np.testing.assert_allclose(values, ours[:, 0], rtol=1e-10)
    lines = page.locator(".gp-sample").evaluate_all("all => all.map((one) => one.outerHTML)")
    assert len(set(lines)) == 3


def test_a_stationary_kernel_does_not_care_where_the_place_is(laboratory):
    page = laboratory
    page.select_option("[data-name=way]", "alone")
    for name in names():
        page.select_option("[data-name=first]", name)
        page.locator(".gp-point").focus()
        before = page.evaluate(f"{FIGURE}.values")
        page.keyboard.press("ArrowRight")
        after = page.evaluate(f"{FIGURE}.values")
        same = np.allclose(after[2:], before[:-2], rtol=0, atol=1e-9)
        assert same == (name not in {"linear", "arccos"})
        said = page.inner_text(".gp-status")
        assert ("A stationary kernel" in said) == same
        assert ("Not stationary" in said) == (not same)
    assert page.evaluate(f"{FIGURE}.place") == pytest.approx(1.6)  # six steps


def test_the_curve_of_lines_leans_the_other_way_beyond_zero(laboratory):
    page = laboratory
    page.click("[data-action=try-5]")
    for place in (-2.0, 0.0, 2.0):
        page.evaluate(f"{FIGURE}.move(0, {place}, 0)")
        values = np.array(page.evaluate(f"{FIGURE}.values"))
        np.testing.assert_allclose(np.diff(values), 0.25 * place / 20, atol=1e-12)


def test_each_thing_to_try_shows_what_it_says(laboratory):
    page = laboratory
    shown = {}
    for trial in range(1, 7):
        page.click(f"[data-action=try-{trial}]")
        name = page.inner_text(f"[data-action=try-{trial}]")
        drawn = np.array(page.evaluate(f"{FIGURE}.drawn"))
        shown[name] = drawn, np.array(page.evaluate(f"{FIGURE}.variances"))
        assert np.all(np.isfinite(drawn))
    zero = 59

    def later(f):
        return f[:, 20:] - f[:, :-20]  # what a period brings

    def spread(values):
        return np.ptp(values, axis=1).max()

    drawn, variances = shown["A season that drifts"]
    assert spread(later(drawn)) > 0.5
    assert np.allclose(variances, 1)
    drawn, variances = shown["Lines and a season"]
    assert spread(later(drawn)) < 0.01  # the same season each time, on a line
    assert spread(drawn[:, :20]) > 0.5
    drawn, variances = shown["Lines times a season"]
    assert np.abs(drawn[:, zero]).max() < 0.01 < 0.5 < np.abs(drawn[:, -20:]).max()
    assert variances[zero] == 0
    drawn, variances = shown["Lines times lines"]
    fitted = np.polynomial.Polynomial.fit
    assert max(spread(f[None] - fitted(PLACES, f, 2)(PLACES)) for f in drawn) < 0.01
    assert min(spread(f[None] - fitted(PLACES, f, 1)(PLACES)) for f in drawn) > 0.1
    drawn, variances = shown["Lines without an intercept"]
    assert max(spread(f[None] - fitted(PLACES, f, 1)(PLACES)) for f in drawn) < 0.01
    assert np.abs(drawn[:, zero]).max() < 0.01
    drawn, variances = shown["A warp"]
    np.testing.assert_allclose(variances, ((PLACES + 3) / 3) ** 2)


def test_samples_follow_the_sliders(laboratory):
    page = laboratory
    first = np.array(page.evaluate(f"{FIGURE}.drawn"))
    page.focus("[data-name=one]")
    page.keyboard.press("ArrowRight")
    assert 1e-3 < np.abs(np.array(page.evaluate(f"{FIGURE}.drawn")) - first).max() < 0.3
    page.select_option("[data-name=first]", "periodic")
    page.select_option("[data-name=way]", "alone")
    once = np.array(page.evaluate(f"{FIGURE}.drawn"))
    page.locator("[data-name=period]").fill("2")
    twice = np.array(page.evaluate(f"{FIGURE}.drawn"))
    near = np.arange(-28, 30)  # twenty steps a unit
    np.testing.assert_allclose(twice[:, 59 + 2 * near], once[:, 59 + near], atol=1e-9)
    page.select_option("[data-name=first]", "linear")
    before = np.array(page.evaluate(f"{FIGURE}.drawn"))
    page.focus("[data-name=intercept]")
    page.keyboard.press("ArrowLeft")
    by = before - np.array(page.evaluate(f"{FIGURE}.drawn"))
    np.testing.assert_allclose(by, 0.05 * before[:, 59:60] @ np.ones((1, 120)), atol=1e-9)


def test_only_what_the_kernel_depends_on_can_be_moved(laboratory):
    page = laboratory

    def movable():
        names = ("one", "two", "second", "period", "intercept")
        return {name for name in names if page.locator(f"[data-name={name}]").is_enabled()}

    assert movable() == {"one", "two", "second", "period"}
    page.click("[data-action=try-5]")
    assert movable() == {"intercept"}
    page.click("[data-action=reset]")
    assert page.input_value("[data-name=way]") == "sum"


def test_the_place_is_carried_by_pointer_and_keys_along_the_line(laboratory):
    page = laboratory
    place = f"{FIGURE}.place"
    box = page.locator(".gp-point .gp-dot").bounding_box()
    drag(page.locator(".gp-point .gp-dot"), 60, 70)
    carried = page.evaluate(place)
    assert carried > 1.2
    assert page.locator(".gp-point .gp-dot").bounding_box()["y"] == pytest.approx(box["y"], abs=0.5)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    assert page.evaluate(place) == pytest.approx(carried - 0.1)
    svg = page.locator(".gp-plot svg").bounding_box()
    page.mouse.click(svg["x"] + page.evaluate(f"{FIGURE}.px(-2)"), svg["y"] + svg["height"] - 90)
    assert page.evaluate(place) == pytest.approx(-2, abs=0.051)
    assert page.locator(".gp-point").count() == 1
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(place) == PLACES[0]  # and no further
    assert np.all(np.isfinite(page.evaluate(f"{FIGURE}.values")))


# ------------------------------------------------------------ two normal numbers


def test_what_is_told_is_the_packages(pair):
    draw = np.random.default_rng(1)
    for _ in range(5):
        rho, (sa, sb, a) = draw.uniform(-0.98, 0.98), draw.uniform(0.4, 2.0, 3)
        theirs = pair.evaluate(
            "given => window.gpPair.told(given)", {"rho": rho, "sa": sa, "sb": sb, "a": a}
        )
        covariance = np.array([[sa**2, rho * sa * sb], [rho * sa * sb, sb**2]])
        both = gp.Normal.from_covariance(np.zeros(2), covariance)
        ours = both.condition([0], np.array([a]))
        apart = gp.Normal.from_covariance(np.zeros(2), np.diag(covariance.diagonal()))
        np.testing.assert_allclose(theirs["mean"], ours.mean[0], rtol=1e-9)
        np.testing.assert_allclose(theirs["sd"] ** 2, ours.variance[0], rtol=1e-9)
        np.testing.assert_allclose(theirs["nats"], both.kl(apart), rtol=1e-7, atol=1e-9)
        ends = pair.evaluate(
            "given => [1, 2].map((reach) => window.gpPair.contour(given, reach))",
            {"rho": rho, "sa": sa, "sb": sb},
        )
        for reach, points in zip((1, 2), np.array(ends), strict=True):
            far = np.einsum("ni,ij,nj->n", points, np.linalg.inv(covariance), points)
            np.testing.assert_allclose(far, reach**2, rtol=1e-7)


def test_the_densities_are_those_of_b_before_and_after(pair):
    pair.click("[data-action=try-5]")
    script = "([name, at]) => [...document.querySelectorAll(name)].at(at).getAttribute('d')"
    left, right, most = pair.evaluate(
        f"[{FIGURE}.beside.left, {FIGURE}.beside.right, 1.08 * gpPair.density(0, 0, 0.6)]"
    )
    for name, at, mean, sd in ((".gp-before", 0, 0.0, 1.0), (".gp-plot .gp-mean", -1, 0.6, 0.6)):
        pairs = pair.evaluate(script, [name, at]).replace("M", "").split("L")
        drawn = np.array([[float(v) for v in one.split(",")] for one in pairs])
        heights = (drawn[:, 0] - left) / (right - left) * most
        b = np.array(pair.evaluate(f"at => at.map({FIGURE}.invertY)", drawn[:, 1].tolist()))
        inside = np.abs(b) < 4
        np.testing.assert_allclose(heights[inside], stats.norm.pdf(b[inside], mean, sd), atol=0.01)


def test_whatever_is_told_what_is_left_is_the_same(pair):
    first = pair.evaluate(f"{FIGURE}.result")
    pair.focus(".gp-point")
    for _ in range(7):
        pair.keyboard.press("ArrowRight")
    now = pair.evaluate(f"{FIGURE}.result")
    assert now["mean"] == pytest.approx(0.8 * 2.2)
    assert (now["sd"], now["nats"]) == (first["sd"], first["nats"])
    assert "a = 2.20" in pair.get_attribute(".gp-point", "aria-label")
    assert pair.input_value("[data-name=a]") == "2.2"


def test_each_thing_to_try_tells_what_it_says(pair):
    said = {}
    for trial in range(1, 7):
        pair.click(f"[data-action=try-{trial}]")
        name = pair.inner_text(f"[data-action=try-{trial}]")
        said[name] = pair.evaluate(f"{FIGURE}.result"), pair.inner_text(".gp-status")
    nothing, words = said["No correlation"]
    assert (nothing["mean"], nothing["sd"], nothing["nats"]) == (0, 1, 0)
    assert "0.00 nats" in words
    assert said["A surprise"][0] == {**said["A surprise"][0], "mean": pytest.approx(2.4)}
    assert "3.00 sd from its mean" in said["A surprise"][1]
    assert said["Half the sd left"][0]["sd"] == pytest.approx(0.5)
    assert said["Opposite ways"][0]["mean"] == pytest.approx(-1.2)
    assert "\u22121.20" in said["Opposite ways"][1]
    assert "0.75 sd from its mean: b is expected at 0.60" in said["A wide a"][1]
    near, words = said["Nearly the same number"]
    assert near["sd"] < 0.15
    assert "1.96 nats" in words
    assert said["A surprise"][0]["sd"] == pytest.approx(0.6)
    label = pair.get_attribute(".gp-curve", "aria-label")
    assert "0.14 of the standard deviation is left at 0.99" in label


def test_what_is_told_is_dragged_along_a_alone(pair):
    drag(pair.locator(".gp-point .gp-dot"), -80, -60)
    a, point = pair.evaluate(f"[{FIGURE}.state.a, {FIGURE}.state.points[0]]")
    assert a < 1
    assert point == [a, pytest.approx(0.8 * a)]
    svg = pair.locator(".gp-plot svg").bounding_box()
    beside = pair.evaluate(f"({FIGURE}.beside.left + {FIGURE}.beside.right) / 2")
    pair.mouse.click(svg["x"] + beside, svg["y"] + 60)
    assert pair.evaluate(f"{FIGURE}.state.a") == a
    pair.mouse.click(svg["x"] + pair.evaluate(f"{FIGURE}.px(-2)"), svg["y"] + 30)
    pair.keyboard.press("Delete")
    assert pair.evaluate(f"{FIGURE}.state.a") == pytest.approx(-2, abs=0.051)
    assert pair.locator(".gp-point").count() == 1


# ------------------------------------------------------------ both


@pytest.mark.parametrize(
    ("kind", "chapter", "figure"),
    [
        ("kernel", "gaussian-processes/kernels", "fig-ke-operations"),
        ("pair", "foundations/probability", "fig-pr-smallest"),
    ],
)
def test_the_chapter_has_it_in_the_place_of_its_picture(kind, chapter, figure):
    text = (BOOK / f"{chapter}.md").read_text("utf-8")
    assert f'data-gp-playground="{figure}" data-gp-kind="{kind}"' in text
    assert f"name: {figure}\n" in text
    assert f"{kind}-playground.js" in text


@pytest.mark.parametrize("kind", ["kernel", "pair"])
def test_it_fits_its_window_and_its_readers(opened, kind):
    page = opened(kind, 1200)
    for width in (1200, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"{FIGURE}.width <= {width}")
        assert_fits(page, width)
