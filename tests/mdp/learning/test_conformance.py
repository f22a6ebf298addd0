"""The checks that are shipped for learners and environments: they refuse wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest

from gpnotes import stream, testing
from gpnotes.mdp import MDP
from gpnotes.mdp.learning import (
    GymnasiumEnvironment,
    MDPEnvironment,
    QLearning,
)


@dataclass(frozen=True, eq=False)
class Wrong(QLearning):
    """A learner with a mistake."""

    def act(self, learned, states, stream, /):
        return super().act(learned, states, stream) + 2


class Shared(QLearning):
    def step(self, learned, transition, stream, /):
        learned = super().step(learned, transition, stream)
        learned.values[:] = learned.values.mean(0)
        return learned


class Forgetful(QLearning):
    count = 0

    def step(self, learned, transition, stream, /):
        Forgetful.count += 1
        learned = super().step(learned, transition, stream)
        learned.values[:] += Forgetful.count
        return learned


class Plain(QLearning):
    def init(self, states, actions, runs, /):
        return {"values": np.zeros((runs, states, actions))}


class Keeper(QLearning):
    """What it has in itself is lost where a run pauses."""

    def init(self, states, actions, runs, /):
        self.kept[:] = [0.0]
        return super().init(states, actions, runs)

    def step(self, learned, transition, stream, /):
        self.kept[0] += 1.0
        learned.values[:] += self.kept[0]
        return super().step(learned, transition, stream)

    kept = [0.0]  # noqa: RUF012


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (Wrong(0.9), "act must return an action for each run"),
        (Shared(0.9), "the first run has learnt from what happened in others: see values"),
        (Forgetful(0.9), "the same random numbers gave other runs: see values"),
        (Keeper(0.9), "runs that paused are not what they would have been: see values"),
        (Plain(0.9), "the learner's state must be a dataclass"),
    ],
)
def test_no_learner(learner, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_learner(learner)


class Restless(MDPEnvironment):
    def restart(self, states, over, stream, /):
        return self.reset(stream, states.shape[0])


class Short(MDPEnvironment):
    def step(self, states, actions, stream, /):
        outcome = super().step(states, actions, stream)
        return outcome._replace(rewards=outcome.rewards[:1])


class Far(MDPEnvironment):
    def reset(self, stream, runs, /):
        return super().reset(stream, runs) + self.num_states


class Own(MDPEnvironment):
    """It draws by itself."""

    draws = stream(7)

    def step(self, states, actions, stream, /):
        return super().step(states, actions, self.draws)


class Lost(GymnasiumEnvironment):
    def restore(self, parts, /):
        pass


TOSS = MDP(np.full((3, 3), 1 / 3), np.ones((3, 1)), 0.9)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (Restless(TOSS), "a restart moved other runs"),
        (Short(TOSS), "a step must have four parts"),
        (Far(TOSS), "states must be whole numbers"),
        (Own(TOSS), "the same random numbers gave other steps"),
        (Lost(gymnasium.make("FrozenLake-v1")), "what was saved went on otherwise"),
    ],
)
def test_no_environment(environment, said):
    with pytest.raises(AssertionError, match=said):
        testing.check_environment(environment)
