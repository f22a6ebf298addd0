"""Where to read next, and which label to ask for: the numbers of both figures are the package's."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes import GP, RBF, condition
from gpnotes.decide import design
from gpnotes.infer import laplace
from gpnotes.model.likelihoods import Bernoulli

pytestmark = pytest.mark.browser

ROAD = np.linspace(0.0, 10.0, 101)[:, None]
CRITERIA = {
    "information": "information",
    "integrated": "integrated variance",
    "mutual": "mutual information",
}


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("chosen", [[3, 60, 97], [], [50]])
def test_what_a_reading_is_worth_is_what_the_package_says(opened, name, chosen):
    page = opened("readings")
    run = "([name, state]) => window.gpReadings.worth(name, state)"
    found = page.evaluate(run, [name, {"lengthscale": 0.8, "noise": 0.4, "chosen": chosen}])
    gp = GP(RBF(1.0, 0.8), 0.16)
    one = design.greedy_design(gp, ROAD, 1, CRITERIA[name], initial_subset=chosen)
    assert max(found["values"]) == pytest.approx(one.value, rel=1e-6)
    assert found["values"][int(one.indices[0])] == pytest.approx(one.value, rel=1e-6)
    variance = np.expm1(2 * design.marginal_gains(gp, ROAD, chosen)) * 0.16
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_second_reading_at_a_place_is_worth_what_its_new_noise_leaves(opened, name):
    page, j, noise_var = opened("readings"), 50, 0.16
    run = "([name, state]) => window.gpReadings.worth(name, state)"
    found = page.evaluate(run, [name, {"lengthscale": 0.8, "noise": 0.4, "chosen": [j]}])["values"]
    gp = GP(RBF(1.0, 0.8), noise_var)
    left = condition(gp, ROAD[[j]], np.zeros(1)).covariance(ROAD)
    others = np.delete(ROAD, j, axis=0)
    last = condition(gp, others, np.zeros(100)).variance(ROAD[[j]])[0]
    wanted = {
        "information": 0.5 * np.log1p(left[j, j] / noise_var),
        "integrated": (left[j] ** 2).mean() / (left[j, j] + noise_var),
        "mutual": 0.5 * np.log((left[j, j] + noise_var) / (last + noise_var)),
    }
    assert found[j] == pytest.approx(wanted[name], rel=1e-6)
    assert found[j] > 0.5 * found[j + 1]


@pytest.mark.parametrize("trial", [2, 3, 4])
def test_what_is_tried_is_what_the_rule_chooses(opened, trial):
    page = opened("readings")
    page.click(f"[data-action=try-{trial}]")
    state = page.evaluate("document.querySelector('.gp-playground').playground.state")
    first, *rest = state["chosen"]
    gp = GP(RBF(1.0, state["lengthscale"]), state["noise"] ** 2)
    wanted = design.greedy_design(gp, ROAD, 4, CRITERIA[state["name"]], initial_subset=[first])
    assert rest == list(wanted.indices)
    assert "5 observations" in page.inner_text(".gp-status")


def test_readings_come_by_button_key_and_click_and_go_again(opened):
    page = opened("readings")
    before = page.get_attribute(".gp-band", "d")
    page.click("[data-action=next]")
    assert page.locator(".gp-reading").count() == 2
    page.focus(".gp-point")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".gp-reading").count() == 3
    for _ in range(2):
        page.click("[data-action=back]")
    assert page.get_attribute(".gp-band", "d") == before


LABELLED = {"x": [1.0, 2.5, 2.6, 8.0], "y": [1, -1, 1, 1], "signal": 3.0, "lengthscale": 0.9}


def test_chances_and_bald_are_the_packages(opened):
    page = opened("labels")
    given = {**LABELLED, "xs": ROAD[:, 0].tolist()}
    found = page.evaluate("given => window.gpLabels.laplace(given)", given)
    X, y = np.asarray(LABELLED["x"])[:, None], np.asarray(LABELLED["y"], dtype=float)
    now = condition(laplace.LaplaceGP(GP(RBF(9.0, 0.9), 0.0)), X, y)
    mean, variance = now.predict(ROAD)
    np.testing.assert_allclose(found["mean"], mean, atol=1e-7)
    np.testing.assert_allclose(found["variance"], variance, atol=1e-7)
    np.testing.assert_allclose(found["chance"], now.probability(ROAD), atol=1e-7)
    told = page.evaluate("([m, v]) => window.gpLabels.bald(m, v)", [list(mean), list(variance)])
    np.testing.assert_allclose(told, Bernoulli().information(mean, variance), atol=1e-6)


def test_a_tossed_coin_is_known_to_bald_alone(opened):
    page = opened("labels")
    page.click("[data-action=try-1]")
    entropy, bald = page.evaluate(
        """(() => {
            const { rules } = document.querySelector('.gp-playground').playground;
            return [rules.entropy, rules.bald];
        })()"""
    )
    assert entropy[20] > 0.68
    assert bald[20] < 0.25 * max(bald)


def test_labels_are_asked_turned_and_removed(opened):
    page = opened("labels")
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=five]")
    assert page.locator(".gp-point").count() == 6
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before
    page.locator(".gp-point").nth(0).focus()
    page.keyboard.press("ArrowDown")
    assert page.get_attribute(".gp-mean", "d") != before
    page.keyboard.press("ArrowUp")
    assert page.get_attribute(".gp-mean", "d") == before
    page.keyboard.press("Delete")
    assert page.locator(".gp-point").count() == 0
    assert "0 labels" in page.inner_text(".gp-status")


def test_labels_start_again_with_the_signal_of_the_start(opened):
    page = opened("labels")
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=try-3]")
    assert page.get_attribute(".gp-mean", "d") != before
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before


@pytest.mark.parametrize("kind", ["readings", "labels"])
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_it_fits_its_window_and_its_readers(opened, kind, width):
    assert_fits(opened(kind, width), width)
