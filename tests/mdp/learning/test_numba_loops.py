"""The compiled loop: bit for bit the runs that are walked all at once, as Python and by Numba."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from loop_learners import LEARNERS

from gpnotes import stream
from gpnotes.mdp import MDP
from gpnotes.mdp.learning import (
    SARSA,
    TD,
    UCB,
    ConstantSchedule,
    EpsilonGreedy,
    ExpectedSARSA,
    GymnasiumEnvironment,
    MDPEnvironment,
    PowerLawDecay,
    QLearning,
    numba_loops,
    run,
)


def process(S=6, A=3, seed=2):
    """Sparse rows, an end, and actions that are as good as others."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(S, 0.3), size=(S, A))
    P[P < 0.05] = 0.0
    P /= P.sum(2, keepdims=True)
    P[-1] = np.eye(S)[-1]
    r = rng.integers(-1, 2, (S, A)).astype(float)
    r[-1] = 0.0
    return MDP.from_arrays(P, r, 0.9)


START = np.asarray([0.2, 0.3, 0.5, 0.0, 0.0, 0.0])
WORLDS = {
    "one start": MDPEnvironment(process()),
    "starts and binary_rewards": MDPEnvironment(process(), START, binary_rewards=(-1.5, 1.0)),
}
NUMBA = pytest.param(
    None,
    marks=pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="no Numba"),
    id="by Numba",
)


@pytest.fixture(params=[pytest.param(numba_loops.walk, id="as Python"), NUMBA])
def loop(request, monkeypatch):
    """The loop as it is, and as Numba compiles it: once for all settings, in five seconds.

    So all settings are one test, which one worker has.
    """
    if request.param is not None:
        monkeypatch.setattr(numba_loops, "compiled", lambda: request.param)
    yield
    if request.param is None:
        assert len(numba_loops.compiled().signatures) == 1


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("horizon", [None, 7])
@pytest.mark.parametrize("environment", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_it_walks_the_same_to_the_last_bit(learner, environment, horizon, monkeypatch):
    monkeypatch.setattr(numba_loops, "_MAX_EPISODES", 60)  # several calls a block
    settings = {"num_runs": 5, "rng": stream(4), "every": 40, "horizon": horizon,
                "watch": lambda learned: learned.values.mean(0)}  # fmt: skip
    wanted = run(learner, environment, num_steps=130, **settings)
    found = run(learner, environment, num_steps=130, compiled=True, **settings)
    mixed = run(learner, environment, num_steps=55, compiled=True, **settings).resume(75)
    for other in (found, mixed):
        assert other._parts.keys() == wanted._parts.keys()
        for name, part in wanted._parts.items():
            assert np.array_equal(part, other._parts[name]), name
    assert wanted.episodes.run.size > 5


def test_a_file_goes_on_in_either_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(numba_loops, "compiled", lambda: numba_loops.walk)
    settings, environment = (
        {"num_runs": 3, "rng": stream(1), "every": 20},
        WORLDS["starts and binary_rewards"],
    )
    learner, file = LEARNERS["SARSA"], tmp_path / "runs.npz"
    wanted = run(learner, environment, num_steps=90, **settings)
    for steps, quick in ((30, True), (50, False), (90, True)):
        found = run(learner, environment, num_steps=steps, compiled=quick, file=file, **settings)
    assert np.array_equal(found.learner_state.values, wanted.learner_state.values)


WIDE = MDPEnvironment(MDP(np.ones((8, 1)), np.zeros((1, 8)), 0.9))


@pytest.mark.parametrize(
    ("learner", "environment", "record", "needed"),
    [
        (TD(0.9, np.zeros(6, int)), WORLDS["one start"], False, "QLearning, SARSA or"),
        (QLearning(0.9, exploration=UCB()), WORLDS["one start"], False, "with EpsilonGreedy"),
        (ExpectedSARSA(0.9, policy=UCB()), WORLDS["one start"], False, "EpsilonGreedy as policy"),
        (SARSA(0.9), WIDE, False, "fewer than 8 actions"),
        (QLearning(0.9), WORLDS["one start"], True, "record=False"),
    ],
)
def test_what_is_not_compiled_is_refused(learner, environment, record, needed):
    with pytest.raises(ValueError, match=f"compiled must be False here: .*{needed}"):
        run(learner, environment, num_steps=3, rng=stream(1), record=record, compiled=True)


def test_gymnasium_is_not_compiled():
    import gymnasium

    environment = GymnasiumEnvironment(gymnasium.make("FrozenLake-v1"))
    with pytest.raises(ValueError, match="needs an MDPEnvironment"):
        run(QLearning(0.9), environment, num_steps=3, rng=stream(1), compiled=True)


def test_without_numba_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    numba_loops.compiled.cache_clear()
    with pytest.raises(ImportError, match=r"compiled needs Numba: from a clone"):
        run(QLearning(0.9), WORLDS["one start"], num_steps=3, rng=stream(1), compiled=True)


def test_schedules_are_tabulated_as_far_as_they_are_asked_for():
    tables, decay = numba_loops.ScheduleTables(), PowerLawDecay(0.5, 0.6, clock="time")
    values, by_visits = tables.of(decay, 10)
    assert values.size >= 10
    assert not by_visits
    assert tables.of(decay, 10)[0] is values
    longer = tables.of(decay, values.size + 1)[0]
    assert longer.size > values.size
    np.testing.assert_array_equal(longer, decay(np.arange(longer.size)))
    assert tables.listed(decay, longer.size) == (longer.tolist(), False)
    more = tables.listed(decay, longer.size + 1)[0]
    assert len(more) > longer.size
    assert more[: longer.size] == longer.tolist()
    assert tables.of(PowerLawDecay(0.5, 0.6), 10)[1]
    assert tables.listed(PowerLawDecay(0.5, 0.6), 10)[1]
    constant = ConstantSchedule(0.25)
    assert tables.listed(constant, 10) == ([0.25], False)
    assert (tables.of(constant, 10)[0].tolist(), tables.of(constant, 10)[1]) == ([0.25], False)


def test_a_loop_that_goes_on_past_a_table_takes_the_values_beyond(monkeypatch):
    """A table has 1024 values at first; visits of earlier steps count as well."""
    monkeypatch.setattr(numba_loops, "compiled", lambda: numba_loops.walk)
    learner = QLearning(0.9, PowerLawDecay(0.5, 0.6, clock="time"), EpsilonGreedy(0.2))
    settings = {"rng": stream(4), "num_runs": 1}
    wanted = run(learner, WORLDS["one start"], num_steps=1100, **settings)
    found = run(learner, WORLDS["one start"], num_steps=600, compiled=True, **settings).resume(500)
    assert np.array_equal(found.learner_state.values, wanted.learner_state.values)
