"""The figure of learners: their tables are those of the package, and they move."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from browsing import assert_fits

from gpnotes.mdp import GridWorld
from gpnotes.mdp.learning import (
    SARSA,
    EpsilonGreedy,
    ExpectedSARSA,
    MDPEnvironment,
    QLearning,
    Transition,
)

pytestmark = pytest.mark.browser

ROWS, START, GOAL = ("......", "......", "......", "SCCCCG"), 18, 23
PROCESS = GridWorld(ROWS, rewards={"G": 1.0, "C": -1.0}, step_reward=-0.05, slip=0.1).mdp(0.95)
RULES = {"sarsa": SARSA, "expected": ExpectedSARSA, "q": QLearning}


def pairs():
    """The package's process, written as the page writes its own."""
    table = PROCESS.transitions
    rows = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
    return [
        [
            {
                "ways": [[int(to), float(row[to])] for to in np.flatnonzero(row)],
                "earned": float(PROCESS.rewards[s, a]),
            }
            for a, row in enumerate(rows[4 * s : 4 * s + 4])
        ]
        for s in range(24)
    ]


def test_its_process_is_the_packages(opened):
    theirs = opened("learners").evaluate("window.gpLearners.PAIRS")
    walked = [s for s in range(24) if ROWS[s // 6][s % 6] in ".S"]
    for s in walked:
        for one, other in zip(theirs[s], pairs()[s], strict=True):
            assert [to for to, _ in one["ways"]] == [to for to, _ in other["ways"]]
            np.testing.assert_allclose(one["ways"], other["ways"], rtol=1e-12)
            np.testing.assert_allclose(one["earned"], other["earned"], atol=1e-12)


def of_the_page(seed):
    """The generator of the page, one number for each run that asks."""
    state, low = seed, 0xFFFFFFFF

    def random(count):
        nonlocal state
        assert count == 1
        state = (state + 0x6D2B79F5) & low
        t = (state ^ (state >> 15)) * (1 | state) & low
        t = (t + ((t ^ (t >> 7)) * (61 | t) & low)) & low ^ t
        return np.array([((t ^ (t >> 14)) + 0.5) / 2**32])

    return SimpleNamespace(generator=SimpleNamespace(random=random))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("epsilon", "step_size"), [(0.3, 0.5), (0.1, 1.0)])
def test_its_tables_are_the_packages(opened, rule, epsilon, step_size):
    given = {
        "rule": rule,
        "epsilon": epsilon,
        "rate": step_size,
        "seed": 7,
        "steps": 400,
        "pairs": pairs(),
    }
    theirs = opened("learners").evaluate("given => window.gpLearners.learn(given)", given)
    learner = RULES[rule](0.95, step_size, EpsilonGreedy(epsilon))
    environment = MDPEnvironment(PROCESS, START)
    memory, stream, states = learner.init(24, 4, 1), of_the_page(7), np.array([START])
    for step in range(401):
        actions = learner.act(memory, states, stream)
        if step == 400 and rule != "sarsa":  # its last step waits for this action
            break
        onward, rewards, ended, cut = environment.step(states, actions, stream)
        made = Transition(states, actions, rewards, onward, ended & (step < 400), cut)
        memory = learner.step(memory, made, stream)
        states = np.where(ended, START, onward)
    np.testing.assert_allclose(theirs["table"], memory.values[0], atol=1e-12)


def test_exploration_and_step_change_what_it_says(opened):
    page = opened("learners")
    said = {page.inner_text(".gp-status")}
    for trial in (1, 2, 3, 4):
        page.click(f"[data-action=try-{trial}]")
        said.add(page.inner_text(".gp-status"))
    assert len(said) == 5
    page.click("[data-action=again]")
    page.click("[data-action=reset]")
    assert page.input_value("input[data-name=epsilon]") == "0.2"
    assert page.locator(".gp-mean").count() == 2  # its curve and its way


@pytest.mark.parametrize("width", [320, 800])
def test_it_fits(opened, width):
    assert_fits(opened("learners", width=width), width)
