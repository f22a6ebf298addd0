"""Environments of gymnasium: tables, seeds, files, and spaces of several numbers."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, solve
from gpnotes.mdp.learning import (
    SARSA,
    EpsilonGreedy,
    GymnasiumEnvironment,
    MDPEnvironment,
    PowerLawDecay,
    QLearning,
    run,
)
from gpnotes.mdp.learning.gymnasium_environment import EnvironmentCopy, _Numbering

NAMES = ("FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1")


@pytest.mark.parametrize("name", NAMES)
def test_runs_are_repeatable_and_resume_from_a_file(name, tmp_path):
    environment, again = (GymnasiumEnvironment(gymnasium.make(name)) for _ in range(2))
    learner = SARSA(0.99, step_size=0.2, exploration=EpsilonGreedy(0.3))
    settings = {"num_runs": 3, "rng": stream(1), "record": True, "every": 10}
    whole = run(learner, environment, num_steps=150, **settings)
    for steps in (37, 60, 150):
        found = run(learner, again, num_steps=steps, file=tmp_path / "runs.npz", **settings)
    paused = run(learner, again, num_steps=70, **settings)
    for other in (found, paused.resume(80)):
        assert np.array_equal(other.learner_state.values, whole.learner_state.values)
        for ours, theirs in zip(whole.transitions, other.transitions, strict=True):
            assert np.array_equal(ours, theirs)


def test_it_does_what_the_environment_does():
    """Another copy, reset with the same seeds and given the same actions, step by step."""
    env = gymnasium.make("Taxi-v4", max_episode_steps=7)
    environment, by_hand = GymnasiumEnvironment(env), gymnasium.make("Taxi-v4", max_episode_steps=7)
    source = stream(5)
    states = environment.reset(source, 1)
    reached, _ = by_hand.reset(seed=int(environment.saved()["seeds"][0]))
    assert states[0] == reached
    for action in np.random.default_rng(1).integers(6, size=40):
        outcome = environment.step(states, np.asarray([action]), source)
        reached, reward, ended, cut, _ = by_hand.step(int(action))
        ours = [part[0] for part in outcome]
        assert ours == [reached, reward, ended, cut]
        states = outcome.next_states
        if ended or cut:
            states = environment.restart(states, np.asarray([True]), source)
            reached, _ = by_hand.reset(seed=int(environment.saved()["seeds"][0]))
            assert states[0] == reached


def test_the_environment_itself_is_never_touched():
    env = gymnasium.make("FrozenLake-v1")
    env.reset(seed=3)
    before = env.unwrapped.s
    run(QLearning(0.9), GymnasiumEnvironment(env), num_steps=50, num_runs=2, rng=stream(1))
    assert env.unwrapped.s == before


def test_the_world_of_its_table_moves_as_the_environment():
    """Frequencies of successors on the ice, within five standard errors."""
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=1)
    n = 3000
    shares = {}
    for name, environment in (
        ("environment", GymnasiumEnvironment(env)),
        ("table", MDPEnvironment(MDP.from_gymnasium(env, 0.9))),
    ):
        found = run(QLearning(0.9, exploration=EpsilonGreedy(1.0)), environment, num_steps=1,
                    num_runs=n, rng=stream(1), record=True)  # fmt: skip
        pairs = found.transitions.actions[0] * 16 + found.transitions.next_states[0] % 16
        shares[name] = np.bincount(pairs, minlength=64) / n
    gap = np.abs(shares["environment"] - shares["table"])
    assert np.all(gap <= 5 * np.sqrt(2 * shares["table"] * (1 - shares["table"]) / n))
    assert np.array_equal(shares["table"] > 0, shares["environment"] > 0)


def test_cliff_walking_is_learnt_to_the_best_walk():
    """Nothing is random there: with full steps the values become exact; 13 steps are best."""
    env = gymnasium.make("CliffWalking-v1")
    learner = QLearning(1.0, step_size=1.0, exploration=EpsilonGreedy(0.2))
    found = run(learner, GymnasiumEnvironment(env), num_steps=15000, rng=stream(2))
    exact = solve(MDP.from_gymnasium(env, 1.0))
    assert found.learner_state.values[0, 36].max() == pytest.approx(exact.values[36]) == -13.0
    assert np.all(found.learner_state.values[0] >= exact.action_values[:48] - 1e-9)


def test_spaces_of_several_numbers_are_counted_through():
    environment = GymnasiumEnvironment(gymnasium.make("Blackjack-v1"))
    assert (environment.num_states, environment.num_actions) == (32 * 11 * 2, 2)
    learner = QLearning(1.0, step_size=PowerLawDecay(exponent=0.7), exploration=EpsilonGreedy(1.0))
    found = run(learner, environment, num_steps=400, num_runs=2, rng=stream(1))
    assert set(np.unique(found.episodes.returns)) <= {-1.0, 0.0, 1.0, 1.5}
    assert found.learner_state.visits.sum() == 800


class Shifted(gymnasium.Env):
    """States 10 to 12 and actions of two numbers; the sum of an action moves on."""

    observation_space = gymnasium.spaces.Discrete(3, start=10)
    action_space = gymnasium.spaces.MultiDiscrete([2, 3], start=[1, 5])

    def reset(self, *, seed=None, options=None):
        self.at, self.told = 10, []
        return 10, {}

    def step(self, action):
        self.told.append(action.tolist())
        self.at = 10 + (self.at - 10 + int(action.sum())) % 3
        return self.at, float(action[1]), False, False, {}


def test_spaces_that_do_not_begin_at_nought():
    environment = GymnasiumEnvironment(Shifted())
    assert (environment.num_states, environment.num_actions) == (3, 6)
    assert environment.reset(stream(1), 2).tolist() == [0, 0]
    outcome = environment.step(np.asarray([0, 0]), np.asarray([0, 5]), stream(1))
    assert outcome.next_states.tolist() == [(1 + 5) % 3, (2 + 7) % 3]
    assert outcome.rewards.tolist() == [5.0, 7.0]


class Unseeded(Shifted):
    """An environment that draws by itself, whatever the seed."""

    draws = np.random.default_rng(0)

    def step(self, action):
        self.at = 10 + int(self.draws.integers(3))
        return self.at, 0.0, False, False, {}

    def __deepcopy__(self, memo):
        return type(self)()


def test_an_environment_that_cannot_be_repeated_is_refused():
    found = run(
        QLearning(0.9), GymnasiumEnvironment(Unseeded()), num_steps=50, num_runs=9, rng=stream(1)
    )
    with pytest.raises(ValueError, match="env must do the same after the same seed"):
        found.resume(10)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("CartPole-v1", "Box"), (None, "got NoneType"), (Shifted, "got the class Shifted")],
)
def test_what_has_no_whole_numbers_is_refused(wrong, said):
    env = gymnasium.make(wrong) if isinstance(wrong, str) else wrong
    with pytest.raises(TypeError, match=f"env must .*{said}"):
        GymnasiumEnvironment(env)


class Broken(gymnasium.Env):
    """An environment that returns a given state, possibly outside its space, and a given reward."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, state, reward=0.0, first=0):
        self.state, self.reward, self.first = state, reward, first

    def reset(self, *, seed=None, options=None):
        return self.first, {}

    def step(self, action):
        return self.state, self.reward, False, False, {}


@pytest.mark.parametrize("runs", [1, 3, 40])
@pytest.mark.parametrize(
    "broken", [(-1,), (2,), (1, np.nan), (1, -np.inf), (1, 0.0, -1), (1, 0.0, 2)]
)
def test_what_an_environment_may_not_return_is_refused(broken, runs):
    """A state outside the space would index the table of another run."""
    environment = GymnasiumEnvironment(Broken(*broken))
    with pytest.raises(ValueError, match="env must return states of its observation_space"):
        run(QLearning(0.9), environment, num_steps=3, num_runs=runs, rng=1)


class _Both(gymnasium.Env):
    """An environment whose second step ends it, just as its time is up."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        return 1, 1.0, self.steps == 2, self.steps == 2, {}


def test_an_end_as_time_is_up_is_an_end_and_no_cut():
    """Of a cut the next state keeps its value; after an end there is none."""
    numbers = _Numbering((2,), (0,), "Discrete")
    copy = EnvironmentCopy(_Both(), numbers, numbers)
    copy.begin(0)
    assert copy.step(0) == (1, 1.0, False, False)
    assert copy.step(0) == (1, 1.0, True, False)


@pytest.mark.parametrize("is_made", [True, False])
def test_a_file_is_not_continued_with_other_dynamics_or_rewards(tmp_path, is_made):
    """Of one class and size, and even of one name where a wrapper changes the rewards."""
    file = tmp_path / "run.npz"

    def lake(success=0.5, worth=1.0):
        if is_made:
            env = gymnasium.make("FrozenLake-v1", success_rate=success)
        else:
            env = gymnasium.envs.toy_text.FrozenLakeEnv(success_rate=success)
        return GymnasiumEnvironment(gymnasium.wrappers.TransformReward(env, lambda r: worth * r))

    settings = {"file": file, "rng": stream(1)}
    for steps in (20, 30):
        run(QLearning(0.9), lake(), num_steps=steps, **settings)
    for other in (lake(success=0.6), lake(worth=0.9)):
        with pytest.raises(ValueError, match="file must be of this run"):
            run(QLearning(0.9), other, num_steps=40, **settings)
