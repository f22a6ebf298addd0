"""The figure of chains: its numbers are those of the formulas, and it moves."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes import samplers

pytestmark = pytest.mark.browser


def hills(x):
    logs = [-0.5 * ((float(x[0]) - at) / 0.7) ** 2 for at in (3, 7)]
    value = np.logaddexp(*logs)
    slope = sum(
        -math.exp(log - value) * (x - at) / 0.7**2 for log, at in zip(logs, (3, 7), strict=True)
    )
    return float(value), slope


def stream_of(numbers):
    """The numbers of the page, in the order in which a sampler asks for them."""
    left = iter(np.reshape(numbers, (-1, 3)))
    now: list[np.ndarray] = []

    def normal(shape, like):
        now[:] = [next(left)]
        return now[0][:1]

    return SimpleNamespace(
        normal=normal, uniform=lambda: math.exp(-0.5 * float(now[0][1] ** 2 + now[0][2] ** 2))
    )


def uniforms_of(page, seed):
    """The numbers between 0 and 1 of the page, one by one."""
    begin = "seed => { const next = window.gpNumbers.fixedUniforms(seed); "
    yield from page.evaluate(begin + "return Array.from({ length: 20000 }, next); }", seed)


def normal_of(numbers):
    return math.sqrt(-2 * math.log(next(numbers))) * math.cos(2 * math.pi * next(numbers))


@pytest.mark.parametrize("rule", ["walk", "mala", "ula", "hmc"])
@pytest.mark.parametrize("step", [0.9, 0.3])
def test_its_steps_are_the_packages(opened, rule, step):
    page = opened("chain")
    given = {"rule": rule, "step": step, "seed": 5, "count": 60}
    theirs = page.evaluate("given => window.gpChain.walk(given)", given)
    numbers = page.evaluate("window.gpNumbers.fixedNormals(180, 5)")
    sampler = {
        "walk": samplers.RandomWalkMetropolis(step), "mala": samplers.MALA(step**2 / 2),
        "ula": samplers.ULA(step**2 / 2), "hmc": samplers.HMC(step, 10, jitter=0.0),
    }[rule]  # fmt: skip
    state, draw, ours, taken = sampler.init(hills, np.asarray([3.0])), stream_of(numbers), [3.0], 0
    for _ in range(60):
        done = sampler.step(hills, state, draw)
        state, taken = done.state, taken + done.moved
        ours.append(float(state.position[0]))
    np.testing.assert_allclose(theirs["places"], ours, rtol=1e-9, atol=1e-9)
    assert theirs["accepted"] == taken


def likelihood(x):
    """What is left of the log density without the normal prior of the ellipses."""
    return hills(x)[0] + 0.5 * ((float(x[0]) - 5) / 2) ** 2


def test_its_ellipses_are_the_packages(opened):
    page = opened("chain")
    given = {"rule": "slice", "step": 0.3, "seed": 5, "count": 200}
    theirs = page.evaluate("given => window.gpChain.walk(given).places", given)
    sampler = samplers.EllipticalSlice(np.asarray([[2.0]]), np.asarray([5.0]))
    numbers, state = uniforms_of(page, 5), sampler.init(likelihood, np.asarray([3.0]))
    draw, ours = SimpleNamespace(generator=SimpleNamespace(random=lambda: next(numbers))), [3.0]
    for _ in range(200):
        state = replace(state, prior_draws=(np.asarray([2 * normal_of(numbers)]),))
        state = sampler.step(likelihood, state, draw).state
        ours.append(float(state.position[0]))
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("step", [0.1, 0.4, 1.2, 5.0])
def test_its_doubled_paths_are_the_packages(opened, step):
    page = opened("chain")
    given = {"rule": "nuts", "step": step, "seed": 5, "count": 100}
    theirs = page.evaluate("given => window.gpChain.walk(given)", given)
    sampler, numbers = samplers.NUTS(step, max_tree_depth=6), uniforms_of(page, 5)
    draw = SimpleNamespace(
        normal=lambda shape, like: np.asarray([normal_of(numbers)]), uniform=lambda: next(numbers)
    )
    state, ours, taken = sampler.init(hills, np.asarray([3.0])), [3.0], 0
    for one in theirs["paths"]:
        done = sampler.step(hills, state, draw)
        state, taken = done.state, taken + done.moved
        ours.append(float(state.position[0]))
        assert len(one["path"]) - 1 + len(one["out"]) == done.evaluations
        assert one["to"] in one["path"]
        assert {one["first"]["x"], one["last"]["x"]} == {one["path"][0], one["path"][-1]}
    np.testing.assert_allclose(theirs["places"], ours, rtol=1e-9, atol=1e-9)
    assert theirs["accepted"] == taken


@pytest.mark.parametrize("rule", ["hmc", "slice", "nuts"])
def test_it_draws_from_its_density(opened, rule):
    given = {"rule": rule, "step": 0.5, "seed": 7, "count": 40_000}
    draws = np.array(opened("chain").evaluate("given => window.gpChain.walk(given).places", given))
    from_middle = np.abs(draws - 5)  # of both hills at once
    assert abs(np.mean(draws > 5) - 0.5) < 0.05
    assert abs(np.mean(from_middle) - 2) < 0.03
    assert abs(np.var(draws) - 4.49) < 0.1


def test_a_slice_and_its_brackets_are_shown_as_it_runs(opened):
    page = opened("chain", reduced_motion="reduce")
    assert page.is_enabled("[data-name=step]")
    page.get_by_role("button", name="Elliptical slices").click()
    assert page.is_disabled("[data-name=step]")
    assert "The last step" not in page.inner_text(".gp-status")
    for _ in range(20):
        page.click("[data-action=play]")
        said = page.inner_text(".gp-status")
        tries = int(re.search(r"The last step took (\d+) tr", said)[1])
        assert page.locator(".gp-own").count() == tries  # where it was, and those below the level
        assert page.locator(".gp-exact").count() == min(tries, 3)
        assert page.locator(".gp-newest").count() == 2
    assert said.startswith("After 40 steps: 100 % of the steps move;")
    page.click("[data-action=reset]")
    assert page.is_enabled("[data-name=step]")


def test_a_path_and_its_ends_are_shown_until_it_turns(opened):
    page = opened("chain", reduced_motion="reduce")
    page.get_by_role("button", name="No U-turn").click()
    assert "The last path" not in page.inner_text(".gp-status")
    seen = set()
    for _ in range(20):
        page.click("[data-action=play]")
        said = page.inner_text(".gp-status")
        found = re.search(r"path has (\d+) places?(?:, with (\d+) more left out)?\.$", said)
        places, left_out = int(found[1]), int(found[2] or 0)
        assert page.locator(".gp-newest").count() == places + 1  # and the chain's last
        assert page.locator(".gp-own").count() == 2 + left_out
        seen |= {math.log2(places)}
    assert all(doublings.is_integer() for doublings in seen)
    assert len(seen) > 2


def test_step_and_rule_change_what_it_says(opened):
    page = opened("chain")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 5, 6, 7, 4):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 8
    assert "100 % of the proposals taken" in page.inner_text(".gp-status")
    page.click("[data-action=again]")
    page.click("[data-action=reset]")
    assert page.input_value("select[data-name=rule]") == "walk"


def test_a_leapfrog_path_is_shown_as_it_runs(opened):
    page = opened("chain", reduced_motion="reduce")
    page.get_by_role("button", name="Leapfrog paths").click()
    before = page.locator(".gp-newest").count()
    page.click("[data-action=play]")
    assert before == 0
    assert page.locator(".gp-newest").count() == 12  # eleven places, and the chain's last
    said = page.inner_text(".gp-status")
    assert said.startswith("After 2 steps: 100 % of the proposals taken; from hill to hill 0 times")


def test_no_step_is_so_long_that_it_says_nothing(opened):
    page = opened("chain", at="#still?rule=hmc&step=10")
    said = page.inner_text(".gp-status")
    assert "NaN" not in said
    assert said.startswith("0 %")


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("chain", width=width), width)
