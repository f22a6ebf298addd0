"""The figure of networks: its numbers are the package's numbers, and they move."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes import networks

pytestmark = pytest.mark.browser

NETWORK = networks.Network((1, 6, 1))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_density_of_a_member_is_the_packages(opened, seed):
    page = opened("members")
    draw = np.random.default_rng(seed)
    w, x, y = draw.normal(size=NETWORK.num_weights), draw.normal(size=5), draw.normal(size=5)
    counts = draw.integers(0, 3, 5).astype(float)
    given = {"w": w.tolist(), "x": x.tolist(), "y": y.tolist(), "noise": 0.3, "prior": 2.5,
             "counts": counts.tolist()}  # fmt: skip
    theirs = page.evaluate("given => window.gpMembers.joint(given)", given)
    variances = NETWORK.scaled_variances(2.5, 1.0, like=w)
    model = networks.BayesianNetwork(NETWORK, variances, 0.3**2)
    value, slope = networks.log_joint_and_gradient(model, w, x[:, None], y, counts=counts)
    np.testing.assert_allclose(theirs["value"], value, rtol=1e-12)
    np.testing.assert_allclose(theirs["slope"], slope, rtol=1e-10, atol=1e-12)


def spread(page):
    """The mean variance of f around 5, in the gap, and from 1 to 3, at readings."""
    found = "document.querySelector('.gp-playground').playground.result.variance"
    variance = np.asarray(page.evaluate(found))
    return np.mean(variance[54:66]), np.mean(variance[10:36])


def test_members_that_arrived_agree_and_those_that_were_stopped_part(opened):
    page = opened("members")
    assert "0 of them converged" in page.inner_text(".gp-status")
    stopped, at_readings = spread(page)
    assert stopped > 4 * at_readings
    page.click("[data-action=try-1]")
    assert "8 of them converged" in page.inner_text(".gp-status")
    arrived, _ = spread(page)
    assert arrived < 0.02**2
    assert stopped > 100 * arrived
    page.click("[data-action=try-4]")
    sampled, at_readings = spread(page)
    assert sampled > 4 * at_readings


def test_a_member_ends_where_the_packages_density_is_level(opened):
    page = opened("members")
    page.click("[data-action=try-1]")
    members = page.evaluate("document.querySelector('.gp-playground').playground.members")
    x = np.asarray([0.5, 1.0, 1.6, 2.1, 2.7, 3.2, 6.6, 7.1, 7.7, 8.3, 8.9, 9.4])
    y = np.sin(0.9 * x) + 0.15 * np.sin(29 * x)
    w = np.asarray([member["w"] for member in members])
    prior = NETWORK.scaled_variances(4.0, 1.0, like=w)
    model = networks.BayesianNetwork(NETWORK, prior, 0.15**2)
    value, slope = networks.log_joint_and_gradient(model, w, (x[:, None] - 5) / 2.5, y)
    np.testing.assert_allclose(slope, 0.0, atol=2e-3)
    np.testing.assert_allclose(value, [member["value"] for member in members], rtol=1e-9)


def test_other_starts_are_a_button_away_and_readings_can_go(opened):
    page = opened("members")
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=again]")
    assert page.get_attribute(".gp-mean", "d") != before
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before
    page.click("[data-action=try-6]")
    assert "There are no observations; everywhere it is" in page.inner_text(".gp-status")
    page.select_option("select[data-name=sample]", "boot")


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("members", width)
    assert_fits(page, width)
