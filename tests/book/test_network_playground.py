"""The figure of networks: its numbers are the package's numbers, and they move."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes import networks

pytestmark = pytest.mark.browser

NETWORK = networks.Network((1, 6, 1))


@pytest.mark.parametrize("seed", range(3))
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


def test_members_agree_at_readings_and_part_in_a_gap(opened):
    page = opened("members")
    spread = "document.querySelector('.gp-playground').playground.result.variance"
    variance = np.asarray(page.evaluate(spread))
    assert np.mean(variance[54:66]) > 4 * np.mean(variance[10:36])  # around 5; from 1 to 3
    page.click("[data-action=try-1]")
    filled = np.asarray(page.evaluate(spread))
    assert np.mean(filled[54:66]) < 0.5 * np.mean(variance[54:66])


def test_other_starts_are_a_button_away_and_readings_can_go(opened):
    page = opened("members")
    before = page.get_attribute(".gp-mean", "d")
    page.click("[data-action=again]")
    assert page.get_attribute(".gp-mean", "d") != before
    page.click("[data-action=reset]")
    assert page.get_attribute(".gp-mean", "d") == before
    page.click("[data-action=try-5]")
    assert "There are no readings; everywhere it is" in page.inner_text(".gp-status")
    page.select_option("select[data-name=sample]", "boot")


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("members", width)
    assert_fits(page, width)
