"""The loop on Python's numbers: bit for bit the runs that are walked all at once."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from loop_learners import LEARNERS

from gpnotes import stream
from gpnotes.ground.interrupts import InterruptWarning
from gpnotes.mdp.learning import (
    UCB,
    GymnasiumEnvironment,
    MDPEnvironment,
    QLearning,
    plain_loop,
    run,
)

gymnasium = pytest.importorskip("gymnasium")


class Numbers(gymnasium.Env):
    """States of two numbers, actions from 1, ends and cuts by the seed."""

    observation_space = gymnasium.spaces.MultiDiscrete([3, 2])
    action_space = gymnasium.spaces.Discrete(3, start=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._at(), {}

    def _at(self):
        return self.np_random.integers([3, 2])

    def step(self, action):
        ends = self.np_random.random(2) < 0.1
        return self._at(), np.float32(action - 1.5), ends[0], ends[1], {}


def made(name):
    return GymnasiumEnvironment(Numbers() if name == "numbers" else gymnasium.make(name))


class Pressing(Numbers):
    """Ctrl-C is pressed in its fifth action of an episode."""

    def reset(self, **settings):
        self.taken = 0
        return super().reset(**settings)

    def step(self, action):
        self.taken += 1
        if self.taken == 5:
            signal.raise_signal(signal.SIGINT)
        return super().step(action)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_an_interrupt_ends_it_after_a_step(learner):
    settings = {"num_runs": 2, "rng": stream(4), "every": 40}
    with pytest.warns(InterruptWarning, match="of 130 steps have learnt"):
        found = run(learner, GymnasiumEnvironment(Pressing()), num_steps=130, **settings)
    assert found.interrupted
    assert 5 <= found.num_steps < 130
    wanted = run(learner, made("numbers"), num_steps=found.num_steps, **settings)
    for part in wanted._parts:
        assert np.array_equal(found._parts[part], wanted._parts[part]), part


@pytest.mark.parametrize("name", ["FrozenLake-v1", "numbers"])
@pytest.mark.parametrize("horizon", [None, 7])
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
@pytest.mark.parametrize("runs", [1, 3])
def test_it_walks_the_same_to_the_last_bit(runs, learner, horizon, name, monkeypatch):
    settings = {"num_runs": runs, "rng": stream(4), "every": 40, "horizon": horizon,
                "watch": lambda learned: learned.values.mean(0)}  # fmt: skip
    environment = made(name)
    plain = run(learner, environment, num_steps=130, **settings)
    monkeypatch.setattr(plain_loop, "_MOST", 5)  # so that arrays are written into on the way
    paused = run(learner, environment, num_steps=55, **settings).resume(75)
    monkeypatch.setattr(plain_loop, "serves", lambda *arguments: False)
    wanted = run(learner, environment, num_steps=130, **settings)
    for other in (plain, paused):
        assert other._parts.keys() == wanted._parts.keys()
        for part in wanted._parts:
            assert np.array_equal(other._parts[part], wanted._parts[part]), part
            assert other._parts[part].dtype == wanted._parts[part].dtype, part
    assert wanted.episodes.run.size > 3


def test_a_file_goes_on_in_either_loop(tmp_path, monkeypatch):
    settings = {"num_runs": 2, "rng": stream(1), "every": 20}
    learner, file, environment = LEARNERS["SARSA"], tmp_path / "runs.npz", made("FrozenLake-v1")
    wanted = run(learner, environment, num_steps=90, **settings)
    serves = plain_loop.serves
    for steps, is_plain in ((30, True), (50, False), (90, True)):
        chosen = serves if is_plain else lambda *arguments: False
        monkeypatch.setattr(plain_loop, "serves", chosen)
        found = run(learner, environment, num_steps=steps, file=file, **settings)
    assert np.array_equal(found.learner_state.values, wanted.learner_state.values)
    assert np.array_equal(found.episodes.returns, wanted.episodes.returns)


def test_it_serves_few_runs_of_learners_that_it_knows():
    lake = made("FrozenLake-v1")
    assert plain_loop.serves(QLearning(0.9), lake, 1, False)
    assert plain_loop.serves(QLearning(0.9), lake, 16, False)
    assert not plain_loop.serves(QLearning(0.9), lake, 17, False)
    assert not plain_loop.serves(QLearning(0.9), lake, 1, True)
    assert not plain_loop.serves(QLearning(0.9, exploration=UCB()), lake, 1, False)
    table = gymnasium.make("FrozenLake-v1").unwrapped
    from gpnotes.mdp import MDP

    other = MDPEnvironment(MDP.from_gymnasium(table, 0.9))
    assert not plain_loop.serves(QLearning(0.9), other, 1, False)
