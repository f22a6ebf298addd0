"""Runs: repeatable, many at once, resumed bit by bit, in memory and from a file."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.ground.interrupts import InterruptWarning, raised_interrupts
from gpnotes.mdp import MDP
from gpnotes.mdp.learning import (
    SARSA,
    TD,
    EpsilonGreedy,
    GymnasiumEnvironment,
    MDPEnvironment,
    NStepSARSA,
    NStepTD,
    PowerLawDecay,
    QLambda,
    QLearning,
    SARSALambda,
    run,
    running,
)


def walk(length=5):
    """A walk between two ends; the right one pays."""
    S = length
    P, r = np.zeros((S, 2, S)), np.zeros((S, 2))
    for s in range(1, S - 1):
        P[s, 0, [s - 1, s + 1]] = 0.8, 0.2
        P[s, 1, [s - 1, s + 1]] = 0.2, 0.8
    P[[0, S - 1], :, [0, S - 1]] = 1.0
    r[S - 2] = 0.2, 0.8
    return MDP.from_arrays(P, r, 0.9)


class InPlace(MDPEnvironment):
    """It writes all that it returns into the same arrays again."""

    def reset(self, stream, runs, /):
        object.__setattr__(self, "kept", [super().reset(stream, runs), np.zeros(runs)])
        return self.kept[0]

    def step(self, states, actions, stream, /):
        outcome = super().step(states, actions, stream)
        for array, told in zip(self.kept, outcome, strict=False):
            array[:] = told
        return outcome._replace(next_states=self.kept[0], rewards=self.kept[1])

    def restart(self, states, over, stream, /):
        self.kept[0][:] = np.where(over, super().reset(stream, states.shape[0]), states)
        return self.kept[0]


class Overwriting(MDPEnvironment):
    """It writes its next states over those that it is given, and the actions too."""

    def step(self, states, actions, stream, /):
        outcome = super().step(states, actions, stream)
        states[:], actions[:] = outcome.next_states, 0
        return outcome._replace(next_states=states)


LEARNERS = {
    "Q-learning": QLearning(0.9, exploration=EpsilonGreedy(PowerLawDecay(exponent=0.5))),
    "SARSA": SARSA(0.9, step_size=PowerLawDecay(0.5, 0.7, clock="time")),
    "TD(0)": TD(0.9, np.full((5, 2), 0.5)),
    "TD(λ)": TD(0.9, np.full((5, 2), 0.5), step_size=0.1, trace_decay=0.8),
    "n-step TD": NStepTD(0.9, np.full((5, 2), 0.5), n=3),
    "n-step SARSA": NStepSARSA(0.9, n=3),
    "SARSA(λ)": SARSALambda(0.9, step_size=0.1),
    "Q(λ)": QLambda(0.9, step_size=0.1, replacing=True),
}
STARTS = np.asarray([0.0, 0.2, 0.3, 0.5, 0.0])


def settings(**more):
    """What the runs here have in common."""
    common = {"num_runs": 7, "rng": stream(3), "every": 50, "record": True}
    return (
        common
        | {"watch": lambda learned: learned.values.reshape(7, -1).max(1), "horizon": 6}
        | more
    )


def hold_same(one, other):
    """Raise where two runs differ in a bit."""
    ours, theirs = one._parts, other._parts
    assert ours.keys() == theirs.keys()
    for name, part in ours.items():
        assert part.dtype == theirs[name].dtype, name
        assert np.array_equal(part, theirs[name]), name


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_the_same_stream_gives_the_same_runs(learner):
    environment = MDPEnvironment(walk(), STARTS)
    once = run(learner, environment, num_steps=120, **settings())
    hold_same(once, run(learner, environment, num_steps=120, **settings()))
    other = run(learner, environment, num_steps=120, **settings(rng=stream(4)))
    assert not np.array_equal(once.learner_state.values, other.learner_state.values)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_runs_that_are_resumed_are_the_uninterrupted_ones(learner, tmp_path):
    environment = MDPEnvironment(walk(), STARTS)
    whole = run(learner, environment, num_steps=235, **settings())
    first = run(learner, environment, num_steps=73, **settings())
    kept = first.learner_state.values.copy()
    hold_same(whole, first.resume(100).resume(62))
    hold_same(whole, first.resume(162))
    assert np.array_equal(first.learner_state.values, kept)
    for steps in (73, 150, 235):  # as if the process had died twice
        from_file = run(
            learner, environment, num_steps=steps, file=tmp_path / "runs.npz", **settings()
        )
    hold_same(whole, from_file)


class Pressing(MDPEnvironment):
    """The environment of the walk, in one of whose steps Ctrl-C is pressed."""

    def __init__(self, at, times=1):
        super().__init__(walk(), STARTS)
        object.__setattr__(self, "presses", iter([0] * (at - 1) + [times]))

    def step(self, states, actions, stream):
        for _ in range(next(self.presses, 0)):
            signal.raise_signal(signal.SIGINT)
        return super().step(states, actions, stream)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_interrupted_runs_keep_what_they_learnt_and_go_on(learner, tmp_path):
    whole = run(learner, MDPEnvironment(walk(), STARTS), num_steps=235, **settings())
    file = tmp_path / f"{id(learner)}.npz"
    with pytest.warns(InterruptWarning, match="keeps what 73 of 235 steps have learnt") as told:
        found = run(learner, Pressing(73), num_steps=235, file=file, **settings())
    assert told[0].filename == __file__
    assert (found.num_steps, found.interrupted, whole.interrupted) == (73, True, False)
    assert repr(found).endswith("interrupted>")
    hold_same(found, run(learner, MDPEnvironment(walk(), STARTS), num_steps=73, **settings()))
    hold_same(whole, found.resume(162))
    again = run(learner, MDPEnvironment(walk(), STARTS), num_steps=235, file=file, **settings())
    hold_same(whole, again)


@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_is_raised_and_so_is_one_that_others_keep():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(QLearning(0.9), Pressing(73, times=2), num_steps=235, rng=1)
    with pytest.raises(KeyboardInterrupt), raised_interrupts():
        run(QLearning(0.9), Pressing(73), num_steps=235, rng=1)
    assert signal.getsignal(signal.SIGINT) is before


def test_what_a_run_reports_agrees_with_what_it_saw():
    found = run(LEARNERS["SARSA"], MDPEnvironment(walk(), STARTS), num_steps=200, **settings())
    seen = found.transitions
    assert seen.states.shape == (200, 7)
    assert found.rewards == pytest.approx(seen.rewards.reshape(4, 50, 7).mean(1))
    assert found.watched.shape == (4, 7)
    for one in range(7):
        ours = found.episodes.of(one)
        over = np.flatnonzero(seen.terminated[:, one] | seen.truncated[:, one]) + 1
        assert ours.step.tolist() == over.tolist()
        assert ours.lengths.tolist() == np.diff(over, prepend=0).tolist()
        parts = np.split(seen.rewards[:, one], over)[:-1]
        assert ours.returns == pytest.approx(np.asarray([part.sum() for part in parts]))
        assert ours.lengths.max() <= 6
    assert np.all(seen.truncated[seen.truncated] & ~seen.terminated[seen.truncated])
    inner = ~(seen.terminated | seen.truncated)[:-1]
    assert np.array_equal(seen.next_states[:-1][inner], seen.states[1:][inner])


@pytest.mark.parametrize("runs", [1, 1000])
def test_the_reward_of_a_block_is_its_mean(runs):
    """Of one run it is summed up in Python's numbers, of many in an array."""
    gymnasium = pytest.importorskip("gymnasium")

    class Paying(gymnasium.Env):
        """A quarter and three quarters in turn, in episodes of two steps."""

        observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self.at = 0
            return self.at, {}

        def step(self, action):
            self.at += 1
            return self.at % 2, 0.5 * self.at - 0.25, self.at == 2, False, {}

    environment = GymnasiumEnvironment(Paying())
    found = run(QLearning(0.9), environment, num_steps=24, num_runs=runs, every=8, rng=1)
    assert running.plain_loop.serves(QLearning(0.9), environment, runs, False) == (runs == 1)
    assert np.array_equal(found.rewards, np.full((3, runs), 0.5))
    assert np.all(found.episodes.returns == 1.0)


def test_a_file_of_other_runs_is_refused(tmp_path):
    file, environment = tmp_path / "runs.npz", MDPEnvironment(walk())
    run(LEARNERS["SARSA"], environment, num_steps=60, file=file, **settings())
    for learner, other, more in (
        (LEARNERS["Q-learning"], environment, {}),
        (LEARNERS["SARSA"], MDPEnvironment(walk(), STARTS), {}),
        (LEARNERS["SARSA"], environment, {"rng": stream(4)}),
        (LEARNERS["SARSA"], environment, {"horizon": 7}),
    ):
        with pytest.raises(ValueError, match="file must be of this run"):
            run(learner, other, num_steps=60, file=file, **settings(**more))
    with pytest.raises(ValueError, match="steps must be at least those taken, 60; got 50"):
        run(LEARNERS["SARSA"], environment, num_steps=50, file=file, **settings())


@pytest.mark.parametrize(
    "watch", [lambda learned: np.ones(learned.time), lambda learned: ["x"], lambda learned: None]
)
def test_what_is_watched_are_numbers_of_one_shape(watch):
    with pytest.raises(TypeError, match="watch must return an array of numbers, of one shape"):
        run(
            LEARNERS["SARSA"],
            MDPEnvironment(walk()),
            num_steps=4,
            every=2,
            watch=watch,
            rng=stream(1),
        )


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (5, "start must be a whole number from 0 to 4; got 5"),
        (STARTS * 2, "start must be probabilities that sum to 1"),
        (STARTS[:4], r"start must have shape \(5,\)"),
    ],
)
def test_no_such_start(start, said):
    with pytest.raises(ValueError, match=said):
        MDPEnvironment(walk(), start)


def test_episodes_start_with_their_probabilities():
    states = MDPEnvironment(walk(), STARTS).reset(stream(1), 40000)
    shares = np.bincount(states, minlength=5) / 40000
    assert np.all(np.abs(shares - STARTS) <= 5 * np.sqrt(STARTS * (1 - STARTS) / 40000))


def test_the_world_steps_with_the_probabilities_of_the_process():
    """Frequencies of successors and of binary_rewards within five standard errors."""
    P = np.asarray([[0.0, 0.25, 0.75], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    mdp = MDP(P, np.asarray([[0.2], [-1.0], [1.0]]), 0.9)
    environment, n = MDPEnvironment(mdp, binary_rewards=(-1.0, 2.0)), 40000
    for state in range(3):
        here = np.full(n, state)
        onward, rewards, ended, cut = environment.step(here, np.zeros(n, int), stream(state))
        shares = np.bincount(onward, minlength=3) / n
        sd = np.sqrt(P[state] * (1 - P[state]) / n)
        assert np.all(np.abs(shares - P[state]) <= 5 * sd)
        assert set(rewards) <= {-1.0, 2.0}
        mean = mdp.rewards[state, 0]
        sd = np.sqrt((mean + 1.0) * (2.0 - mean) / n)
        assert abs(rewards.mean() - mean) <= 5 * sd
        assert not (ended | cut).any()


def test_a_run_has_a_step():
    environment = MDPEnvironment(walk(), STARTS)
    with pytest.raises(ValueError, match="num_steps must be a whole number from 1; got 0"):
        run(LEARNERS["SARSA"], environment, num_steps=0, **settings())
    assert run(LEARNERS["SARSA"], environment, num_steps=1, **settings()).num_steps == 1


@pytest.mark.parametrize("wrong", [[-1.0, 2.0], (-1.0, 0.0, 2.0), 3.0])
def test_rewards_of_two_kinds_are_two_numbers(wrong):
    with pytest.raises(TypeError, match="binary_rewards must be None or two numbers; got"):
        MDPEnvironment(walk(), binary_rewards=wrong)


@pytest.mark.parametrize("writing", [InPlace, Overwriting])
@pytest.mark.parametrize("name", ["Q-learning", "n-step SARSA"])
def test_an_environment_may_write_into_its_arrays_again(name, writing):
    found, wanted = (
        run(LEARNERS[name], kind(walk(), STARTS), num_steps=60, **settings())
        for kind in (writing, MDPEnvironment)
    )
    np.testing.assert_array_equal(found.learner_state.values, wanted.learner_state.values)
    for ours, theirs in zip(found.transitions, wanted.transitions, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_compiled_run_counts_its_steps_over_all_blocks(monkeypatch):
    """Two blocks and a half, then as many again."""
    monkeypatch.setattr(running.numba_loops, "compiled", lambda: running.numba_loops.walk)
    environment = MDPEnvironment(walk())
    found = run(QLearning(0.9), environment, num_steps=5, every=2, rng=stream(1), compiled=True)
    assert found.num_steps == 5
    assert found.resume(5).num_steps == 10


def test_a_certain_successor_is_the_one_that_a_search_finds():
    mdp = MDP(np.eye(3)[[1, 2, 2]], np.ones((3, 1)), 0.9)
    certain, searched = MDPEnvironment(mdp, 1), MDPEnvironment(mdp, 1)
    assert certain._is_certain
    assert not MDPEnvironment(walk(), 1)._is_certain
    vars(searched)["_is_certain"] = False
    one, other = (
        run(SARSA(0.9), environment, num_steps=120, **settings())
        for environment in (certain, searched)
    )
    hold_same(one, other)
