"""The figure of a line's weights: its beliefs, curves, draws and densities are the package's."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browsing import FIGURE, assert_fits, drag
from scipy import stats

from gpnotes import condition
from gpnotes.infer.linear import BayesianLinear

pytestmark = pytest.mark.browser

READINGS = [[0.0, 1.0], [1.0, 3.0], [-1.2, 0.4], [2.9, 5.1]]
LEARN = "given => window.gpWeights.learn(given)"


def known(readings: list[list[float]], prior: float = 1.0, noise: float = 1.0):
    """The package's posterior of intercept and slope."""
    x, y = np.array(readings).reshape(-1, 2).T
    model = BayesianLinear(prior**2 * np.eye(2), noise**2)
    return condition(model, np.stack([np.ones_like(x), x], axis=1), y)


def numbers(page) -> list[float]:
    """What the state line says, after the two counts: four of the weights, six of the line."""
    words = page.inner_text(".gp-status").replace("\N{MINUS SIGN}", "-")
    return [float(word) for word in re.findall(r"-?\d+\.\d+", words)]


@pytest.mark.parametrize(("prior", "noise"), [(1.0, 1.0), (3.0, 0.1), (0.1, 2.5)])
def test_each_belief_is_the_packages(opened, prior, noise):
    page = opened("weight")
    given = {"readings": READINGS, "prior": prior, "noise": noise}
    found = page.evaluate(LEARN, given)
    assert len(found) == len(READINGS) + 1
    for used, belief in enumerate(found):
        right = known(READINGS[:used], prior, noise)
        (aa, ab), (_, bb) = right.weight_covariance
        assert belief["mean"] == pytest.approx(right.weight_mean, rel=1e-8)
        assert belief["cov"] == pytest.approx([aa, ab, bb], rel=1e-8)
        assert belief["logEvidence"] == pytest.approx(right.log_evidence, abs=1e-8)


def test_predictions_curves_and_draws_are_the_packages(opened):
    page = opened("weight")
    right = known(READINGS[:2])
    covariance = np.asarray(right.weight_covariance)
    (belief,) = page.evaluate(LEARN, {"readings": READINGS[:2], "prior": 1, "noise": 1})[-1:]
    mean, variance = right.predict(np.array([[1.0, 2.0]]))
    found = page.evaluate("b => window.gpWeights.predict(b, 2)", belief)
    assert list(found.values()) == pytest.approx([mean[0], variance[0]], rel=1e-9)
    curve = np.array(page.evaluate("b => window.gpWeights.contour(b, 0.95)", belief))
    off = curve - np.asarray(right.weight_mean)
    reach = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
    assert reach == pytest.approx(stats.chi2(2).ppf(0.95), rel=1e-9)
    draw = "b => [[1, 0], [0, 1]].map((z) => window.gpWeights.drawn(b, z))"
    axes = np.array(page.evaluate(draw, belief))
    root = (axes - np.asarray(right.weight_mean)).T
    assert root @ root.T == pytest.approx(covariance, rel=1e-9)


@pytest.mark.parametrize("line", [[1.0, 2.0], [-0.4, 0.7]])
def test_prior_times_likelihood_over_evidence_is_the_posterior(opened, line):
    page = opened("weight")
    run = """([line, readings]) => [window.gpWeights.logPrior(line, 0.8),
        window.gpWeights.logLikelihood(line, readings, 0.5)]"""
    prior, likelihood = page.evaluate(run, [line, READINGS])
    right = known(READINGS, 0.8, 0.5)
    density = stats.multivariate_normal(right.weight_mean, right.weight_covariance).logpdf(line)
    assert prior + likelihood - right.log_evidence == pytest.approx(density, abs=1e-8)


def test_it_starts_with_the_two_readings_of_the_text(opened):
    page = opened("weight")
    right = known(READINGS[:2])
    a, a_sd, b, b_sd, intercept, slope, prior, likelihood, evidence, posterior = numbers(page)
    assert [a, b] == pytest.approx(right.weight_mean, abs=1e-9)
    sds = np.sqrt(np.diag(right.weight_covariance))
    assert [a_sd, b_sd] == pytest.approx(sds, abs=0.005)
    assert [intercept, slope] == [1, 2]  # least squares, as the caption says
    assert evidence == pytest.approx(right.log_evidence, abs=0.005)
    assert round(prior + likelihood - evidence, 2) == posterior


def test_readings_are_taken_one_at_a_time(opened):
    page = opened("weight")
    used, sds = page.locator("[data-name=used]"), []
    used.press("Home")
    assert numbers(page)[:4] == [0, 1, 0, 1]
    assert page.locator(".gp-hill").count() == 0
    for strips in (0, 1, 2):
        assert page.locator(".gp-strip").count() == strips
        assert page.locator(".gp-unread").count() == 2 - strips
        sds.append(numbers(page)[3])
        used.press("ArrowRight")
    assert sds == sorted(sds, reverse=True)


def test_a_reading_that_is_dragged_takes_its_strip_and_the_posterior_along(opened):
    page = opened("weight")
    strip, before = page.locator(".gp-strip").nth(1).get_attribute("d"), numbers(page)
    drag(page.locator(".gp-point").nth(2), 0, 60)
    assert page.locator(".gp-strip-chosen").count() == 1
    assert page.locator(".gp-strip").nth(1).get_attribute("d") != strip
    assert numbers(page)[2] < before[2] - 0.3
    x, y = page.evaluate(f"{FIGURE}.state.readings[1]")
    assert numbers(page)[:3:2] == pytest.approx(known([READINGS[0], [x, y]]).weight_mean, abs=0.005)


def test_a_line_of_ones_own_is_dragged_in_the_plane_and_moves_nothing_else(opened):
    page = opened("weight")
    line, before = page.locator(".gp-rival").get_attribute("d"), numbers(page)
    drag(page.locator(".gp-mine"), -40, 0)  # to the mean
    after = numbers(page)
    assert page.locator(".gp-rival").get_attribute("d") != line
    assert after[:4] == before[:4]
    assert after[4:6] == pytest.approx([1, 1], abs=0.1)
    best = -np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(known(READINGS[:2]).weight_covariance)[1]
    assert before[-1] < after[-1] <= best + 0.02
    page.locator(".gp-mine").press("ArrowUp")
    assert numbers(page)[4] == pytest.approx(after[4] + 0.1, abs=1e-9)


def test_a_click_in_either_plane_moves_the_line_or_adds_a_reading(opened):
    page = opened("weight")
    box = page.locator(".gp-plot svg").bounding_box()
    page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 0.7 * box["height"])
    assert page.locator(".gp-point").count() == 3
    assert numbers(page)[5] < 0
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.6 * box["height"])
    assert page.locator(".gp-point").count() == 4
    assert page.inner_text(".gp-status").startswith("3 of 3 observations used")
    page.keyboard.press("Delete")
    assert page.inner_text(".gp-status").startswith("2 of 2 observations used")
    for _ in range(12):
        if page.locator("[data-action=add]").is_enabled():
            page.click("[data-action=add]")
    assert page.inner_text(".gp-status").startswith("12 of 12 observations used")


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("weight", width)
    assert_fits(page, width)
