"""The figure of deviation payoffs: its numbers are the package's, and it moves."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import FIGURE, assert_fits

from gpnotes import GP, RBF, condition
from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame, gaussian_correction

pytestmark = pytest.mark.browser


def of_the_package(heights, others, length, shares):
    x = np.linspace(0, others, len(heights))
    known = condition(GP(RBF(1.0, length), 0.02**2), x[:, None], np.array(heights))
    wide = np.array([length, 1e6])  # the other road has no say
    bridge = Expansion(np.stack([x, others - x], 1), known.alpha, wide)
    model = PayoffModel(RoleSymmetricGame((others + 1,), (2,)), (bridge, bridge))
    p = np.stack([shares, 1 - np.array(shares)], 1)
    exact, closed = (model.deviation_payoffs(p, name)[:, 0] for name in ("exact", "gaussian"))
    return exact, closed, gaussian_correction(model, p)[:, 0]


@pytest.mark.parametrize(("others", "length"), [(3, 0.7), (24, 6.0), (100, 20.0)])
def test_payoffs_are_the_packages(opened, others, length):
    page = opened("payoff")
    heights = np.random.default_rng(others).uniform(-1, 1, 9).tolist()
    shares = [0.0, 0.04, 0.3, 0.5, 0.97, 1.0]
    given = {"heights": heights, "others": others, "length": length}
    asked = [given, shares]
    found = page.evaluate("([given, shares]) => window.gpPayoff.expected(given, shares)", asked)
    theirs = np.array([[one[name] for one in found] for name in ("exact", "value", "skew")])
    ours = of_the_package(heights, others, length, shares)
    np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-7)


def test_what_there_is_to_try_changes_what_it_says(opened):
    page = opened("payoff")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 4):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 5
    page.click("[data-action=try-3]")  # a payoff of every other count: half of a half
    found = page.evaluate(f"{FIGURE}.found")
    assert found["exact"] == pytest.approx(0.5, abs=0.01)
    assert found["value"] == pytest.approx(0.25, abs=0.01)
    page.click("[data-action=reset]")
    assert page.input_value("input[data-name=others]") == "8"


def test_a_circle_moves_up_and_down_and_stays_at_its_number(opened):
    page = opened("payoff")
    before = page.evaluate(f"{FIGURE}.found.exact")
    page.focus(".gp-point:nth-child(5)")
    for key in ("ArrowDown", "ArrowLeft", "Delete"):
        page.keyboard.press(key)
    points = page.evaluate(f"{FIGURE}.state.points")
    assert len(points) == 9
    assert points[4] == pytest.approx([0.5, -0.1])
    assert page.evaluate(f"{FIGURE}.found.exact") < before


def test_it_is_drawn_within_fifty_milliseconds(opened):
    page = opened("payoff", at="#still?others=100&length=2")
    script = f"""() => {{
        const begin = performance.now();
        for (let i = 0; i < 10; i += 1) {FIGURE}.draw();
        return (performance.now() - begin) / 10;
    }}"""
    assert min(page.evaluate(script) for _ in range(3)) < 50


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("payoff", width=width), width)
