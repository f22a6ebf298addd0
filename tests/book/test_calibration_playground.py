"""The reliability diagram to operate: its numbers are the package's numbers, and it moves."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes.assess import calibration as ca

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("kind", "strategy"), [("width", "uniform"), ("size", "quantile")])
@pytest.mark.parametrize("bins", [3, 1, 10])
def test_diagrams_are_the_packages(opened, kind, strategy, bins):
    page = opened("reliability")
    draw = np.random.default_rng(bins)
    p, t = draw.uniform(size=57), draw.integers(0, 2, 57)
    given = {"p": p.tolist(), "t": t.tolist(), "bins": bins, "kind": kind}
    theirs = page.evaluate("given => window.gpReliability.reliability(given)", given)
    ours = ca.reliability(2.0 * t - 1.0, p, bins, strategy=strategy)
    for name in ("count", "confidence", "frequency", "sd"):
        found = [row[name] for row in theirs["rows"]]
        np.testing.assert_allclose(found, getattr(ours, name), rtol=1e-12)
    assert theirs["error"] == pytest.approx(ours.expected_calibration_error, rel=1e-12)
    assert theirs["chance"] == pytest.approx(ours.bound_if_calibrated, rel=1e-12)


def test_the_temperature_two_has_the_least_loss_of_these(opened):
    page = opened("reliability")
    losses = page.evaluate(
        "[1, 2, 4].map((T) => window.gpReliability.logLoss(window.gpReliability.forecasts(T)))"
    )
    assert losses[1] == min(losses)


def test_bins_by_lot_do_not_see_what_bins_by_prediction_see(opened):
    page = opened("reliability")
    figure = "document.querySelector('.gp-playground').playground"
    result = f"[{figure}.result.error, {figure}.result.chance]"
    error, chance = page.evaluate(result)
    assert error > 1.3 * chance
    page.click("[data-action=try-3]")
    assert page.input_value("select[data-name=kind]") == "lot"
    error, chance = page.evaluate(result)
    assert error < chance
    page.click("[data-action=reset]")
    assert page.evaluate(result)[0] > 1.3 * chance


def test_more_bins_raise_what_chance_does(opened):
    page = opened("reliability")
    said = []
    for trial in (2, 1):
        page.click(f"[data-action=try-{trial}]")
        said.append(page.evaluate("document.querySelector('.gp-playground').playground.result"))
    assert said[0]["chance"] < said[1]["chance"]
    assert len(said[0]["rows"]) < len(said[1]["rows"])


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    assert_fits(opened("reliability", width), width)
