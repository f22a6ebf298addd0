"""The figures of the part on fast processes: their numbers are gpnotes' numbers, and they move."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits, drag

import gpnotes as gp
from gpnotes import condition
from gpnotes.infer import sparse

pytestmark = pytest.mark.browser


def problem(seed: int, method: str) -> dict:
    draw = np.random.default_rng(seed)
    n, m = 25, int(draw.integers(1, 8))
    return {
        "x": draw.uniform(0, 10, n).tolist(),
        "y": draw.normal(size=n).tolist(),
        "z": (np.arange(m) * 1.2 + draw.uniform(0, 0.5, m)).tolist(),
        "xs": draw.uniform(-1, 11, 9).tolist(),
        "lengthscale": float(draw.uniform(0.5, 1.5)),
        "signal": float(draw.uniform(0.5, 2.0)),
        "noise": float(draw.uniform(0.2, 1.0)),
        "method": method,
    }


@pytest.mark.parametrize("method", ["vfe", "fitc", "dtc", "sor"])
def test_inducing_points_are_the_packages(opened, method):
    page = opened("inducing")
    for seed in range(3):
        given = problem(seed, method)
        theirs = page.evaluate("given => window.gpSparse.sparse(given)", given)
        x, z, xs = (np.array(given[name])[:, None] for name in ("x", "z", "xs"))
        model = gp.GP(gp.RBF(given["signal"] ** 2, given["lengthscale"]), given["noise"] ** 2)
        ours = condition(sparse.SparseGP(model, z, method=method), x, np.array(given["y"]))
        np.testing.assert_allclose(theirs["mean"], ours.mean(xs), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(theirs["varianceF"], ours.variance(xs), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(theirs["bound"], ours.log_evidence, rtol=1e-9)


def test_a_point_that_stands_twice_counts_once(opened):
    page = opened("inducing")
    given = problem(1, "vfe") | {"z": [1.0, 4.0, 7.0]}
    run = "given => window.gpSparse.sparse(given)"
    once, twice = page.evaluate(run, given), page.evaluate(run, given | {"z": [1.0, 4.0, 4.0, 7.0]})
    assert len(twice["kept"]) == 3
    assert twice["bound"] == once["bound"]


def test_no_bound_is_above_the_evidence_wherever_the_points_go(opened):
    page = opened("inducing")
    figure = "document.querySelector('.gp-playground').playground"
    for trial in (1, 2, 3):
        page.click(f"[data-action=try-{trial}]")
        bound, evidence = page.evaluate(f"[{figure}.result.bound, {figure}.exact.logEvidence]")
        assert bound < evidence
    page.click("[data-action=try-5]")
    assert page.input_value("select[data-name=method]") == "fitc"
    assert "FITC" in page.inner_text(".gp-status")


def test_an_inducing_point_is_dragged_along_the_line_and_no_further(opened):
    page = opened("inducing")
    point = page.locator(".gp-point").nth(2)
    box = point.bounding_box()
    said = page.inner_text(".gp-status")
    drag(point, 40, -90)
    after = point.bounding_box()
    assert after["x"] > box["x"] + 30
    assert after["y"] == pytest.approx(box["y"], abs=0.5)
    assert page.inner_text(".gp-status") != said


def test_the_best_place_is_where_the_curve_says(opened):
    page = opened("inducing")
    page.locator(".gp-point").nth(1).focus()
    said = page.get_attribute(".gp-curve", "aria-label")
    page.click("[data-action=best]")
    label = page.locator(".gp-point").nth(1).get_attribute("aria-label")
    assert f"x = {said.split(' at ')[1].rstrip('.')}." in label


@pytest.mark.parametrize("seed", range(3))
def test_features_are_the_packages(opened, seed):
    page = opened("features")
    frequencies = gp.stream(seed).normal((11,))
    script = "([w, a, b, ell]) => a.map((s, i) => window.gpFeatures.correlation(w)(s, b[i], ell))"
    a, b = np.linspace(0, 3, 5), np.linspace(2, -1, 5)
    theirs = page.evaluate(script, [frequencies.tolist(), a.tolist(), b.tolist(), 0.7])
    phases = (a - b)[:, None] * frequencies / 0.7
    np.testing.assert_allclose(theirs, np.cos(phases).mean(axis=1), rtol=1e-12)


def test_few_features_are_too_sure_far_from_the_readings(opened):
    page = opened("features")
    widths = []
    for trial in (1, 2, 3):
        page.click(f"[data-action=try-{trial}]")
        words = page.inner_text(".gp-status").split()
        widths.append([float(word.rstrip(".")) for word in words if word.startswith("0.")])
    assert widths[0][0] < widths[1][0] < widths[2][0] <= widths[2][1] + 0.02
    assert widths[0][1] == widths[2][1]


def test_other_frequencies_are_a_button_away(opened):
    page = opened("features")
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=again]")
    assert page.get_attribute(".gp-mean", "d") != before
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before


def test_each_point_has_its_features_once(opened):
    """Of 400 pairs at 121 places and ten readings; counted, not timed: any machine will do."""
    page = opened("features")
    page.click("[data-action=try-3]")
    asked = page.evaluate(
        """() => {
            const { cos, sin } = Math;
            let many = 0;
            Math.cos = (x) => ((many += 1), cos(x));
            Math.sin = (x) => ((many += 1), sin(x));
            document.querySelector('.gp-playground').playground.draw();
            [Math.cos, Math.sin] = [cos, sin];
            return many;
        }"""
    )
    assert asked <= 2 * 400 * (121 + 10) + 2 * 400  # and the normal numbers, by cosines


@pytest.mark.parametrize("linear", [False, True])
def test_layers_are_those_of_the_formula(opened, linear):
    """Each a root of the package's Gram matrix of the values before, times the same normals."""
    page = opened("layers")
    x, normals = np.linspace(-3, 3, 7), np.random.default_rng(0).standard_normal((3, 7))
    given = {
        "x": x.tolist(), "normals": normals.tolist(),
        "signal": 0.7, "lengthscale": 1.3, "linear": linear,
    }  # fmt: skip
    theirs = page.evaluate("given => window.gpLayers.compose(given)", given)
    h = x
    for z, layer in zip(normals, theirs, strict=True):
        K = gp.RBF(0.49, 1.3)(h[:, None]) + 1e-8 * 0.49 * np.eye(7)
        h = linear * h + np.linalg.cholesky(K) @ z
        np.testing.assert_allclose(layer, h, rtol=1e-5, atol=1e-6)


def test_ten_layers_forget_and_a_linear_mean_keeps(opened):
    page = opened("layers")
    level = []
    for trial in (1, 3):
        page.click(f"[data-action=try-{trial}]")
        level.append(int(page.inner_text(".gp-status").split("; ")[1].split(" %")[0]))
    assert level[0] > 90
    assert level[1] < 30
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=again]")
    assert page.get_attribute(".gp-mean", "d") != before


@pytest.mark.parametrize("kind", ["inducing", "features", "layers"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, kind, width):
    page = opened(kind, width)
    assert_fits(page, width)
