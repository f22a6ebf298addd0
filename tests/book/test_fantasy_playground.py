"""The figure of fantasies: its numbers are those of the package, and it moves."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import FIGURE, assert_fits

import gpnotes as gp
from gpnotes.decide import fantasy, moments

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("sd", [0.05, 1.2, 3.0])
def test_what_a_reading_takes_is_the_packages(opened, sd):
    page = opened("fantasy")
    X, y, xs = [0.8, 2.2, 8.6], [-0.9, 0.6, -0.4], [0.8, 3.0, 4.5, 7.0]
    given = {
        "xs": xs, "x": X, "y": y, "mean": 4.5, "sd": sd,
        "lengthscale": 1.2, "signal": 0.8, "noise": 0.3,
    }  # fmt: skip
    theirs = page.evaluate("given => window.gpFantasy.worth(given)", given)
    posterior = gp.condition(gp.GP(gp.RBF(0.64, 1.2), 0.09), np.asarray(X)[:, None], np.asarray(y))
    at, places = (np.asarray([4.5]), np.asarray([[sd**2]])), np.asarray(xs)[:, None]
    now = moments.predict(moments.predictor([posterior]), *at).covariance[0, 0]
    left = fantasy.expected_variance_parts(posterior, *at, places)
    nothing = fantasy.expected_variance_parts(posterior, *at, np.asarray([[1e4]]))
    close = {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(theirs["now"], now, **close)
    total = fantasy.variance_reduction(posterior, *at, places)
    np.testing.assert_allclose(theirs["total"], total, **close)
    np.testing.assert_allclose(theirs["falls"], nothing.of_function - left.of_function, **close)
    np.testing.assert_allclose(theirs["grows"], left.of_input - nothing.of_input, **close)


def places_apart(found):
    """How far apart the places are at which a reading takes most, in all and from the function."""
    best = [int(np.argmax(found[name])) for name in ("total", "falls")]
    return abs(best[0] - best[1]) * 10 / (len(found["total"]) - 1)


def test_a_known_input_makes_both_alike_and_an_unknown_one_does_not(opened):
    page = opened("fantasy")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 4):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
        found = page.evaluate(f"{FIGURE}.result")
        apart = np.max(found["grows"]) / np.max(found["falls"])
        assert apart < 0.01 if trial == 1 else apart > 0.04
        assert (places_apart(found) > 0.6) == (trial in (2, 3))
    assert len(said) == 5
    page.click("[data-action=reset]")
    assert page.inner_text(".gp-status") in said
    assert places_apart(page.evaluate(f"{FIGURE}.result")) > 1


def test_one_side_is_blind(opened):
    page = opened("fantasy")
    page.click("[data-action=try-3]")
    found = page.evaluate(f"{FIGURE}.result")
    assert found["total"][np.argmax(found["falls"])] < 0.2 * max(found["total"])


@pytest.mark.parametrize("width", [320, 390, 800])
def test_it_fits(opened, width):
    assert_fits(opened("fantasy", width=width), width)
