"""Values of states under a policy: exact means, traces against mixtures of n-step returns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, evaluate
from gpnotes.mdp.learning import (
    SARSA,
    TD,
    FixedPolicy,
    MDPEnvironment,
    NStepSARSA,
    NStepTD,
    PowerLawDecay,
    QLambda,
    QLearning,
    SARSALambda,
    Transition,
    run,
)
from gpnotes.mdp.learning.td_prediction import action_probabilities, check_coverage

DISCOUNT = 0.8


def forward(S=7, A=2, seed=0):
    """A process that only goes forward: no state is seen twice in an episode, the last one ends."""
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for s in range(S - 1):
        P[s, :, s + 1 :] = rng.dirichlet(np.ones(S - 1 - s), size=A)
    P[-1, :, -1] = 1.0
    r = rng.standard_normal((S, A))
    r[-1] = 0.0
    return MDP.from_arrays(P, r, DISCOUNT)


def recurrent(S=3, A=2, seed=5):
    rng = np.random.default_rng(seed)
    return MDP(rng.dirichlet(np.ones(S), size=S * A), rng.random((S, A)), DISCOUNT)


EVEN = np.full((7, 2), 0.5)
START = np.random.default_rng(9).standard_normal(7)
PAIRS = np.random.default_rng(9).standard_normal((7, 2))


def one_episode(learner, horizon=None):
    """What the first episode of each of some runs changed, and what was seen in it."""
    found = run(
        learner, MDPEnvironment(forward()), num_steps=8, num_runs=40, rng=stream(2), record=True,
        horizon=horizon, watch=lambda learned: learned.values, every=1,
    )  # fmt: skip
    for one in range(40):
        ends = int(found.episodes.of(one).step[0])
        parts = (part[:ends, one] for part in found.transitions)
        yield found.watched[ends - 1, one], found.transitions._make(parts)


def mixture(returns, trace):
    """The mixture of the n-step returns, the last one with all the weight that is left."""
    weights = [(1 - trace) * trace**n for n in range(len(returns) - 1)]
    return sum(w * g for w, g in zip(weights, returns, strict=False)) + (
        trace ** (len(returns) - 1) * returns[-1]
    )


def n_step_returns(rewards, after):
    """Of each step the returns of 1, 2, … steps; `after` are the values of what was reached."""
    T = len(rewards)
    return [
        [
            sum(DISCOUNT ** (k - t) * rewards[k] for k in range(t, n))
            + DISCOUNT ** (n - t) * after[n - 1]
            for n in range(t + 1, T + 1)
        ]
        for t in range(T)
    ]


@pytest.mark.parametrize("horizon", [None, 2])
@pytest.mark.parametrize("trace", [0.0, 0.6, 1.0])
def test_td_with_traces_is_the_mixture_of_n_step_returns(trace, horizon):
    """Where no state is seen twice, each value moves by its step_size times the mixture's error."""
    learner = TD(DISCOUNT, EVEN, step_size=0.3, initial_values=START, trace_decay=trace)
    lengths = set()
    for after, seen in one_episode(learner, horizon):
        onward = np.where(seen.terminated, 0.0, START[seen.next_states])
        wanted = START.copy()
        for s, returns in zip(seen.states, n_step_returns(seen.rewards, onward), strict=True):
            wanted[s] += 0.3 * (mixture(returns, trace) - START[s])
        assert after == pytest.approx(wanted, abs=1e-13)
        lengths.add(len(seen.states))
    assert len(lengths) > 1


@pytest.mark.parametrize("trace", [0.0, 0.6, 1.0])
def test_sarsa_with_traces_is_the_mixture_of_n_step_returns(trace):
    learner = SARSALambda(
        DISCOUNT,
        step_size=0.3,
        exploration=FixedPolicy(EVEN),
        initial_values=PAIRS,
        trace_decay=trace,
    )
    for after, seen in one_episode(learner):
        onward = np.append(PAIRS[seen.states[1:], seen.actions[1:]], 0.0)
        wanted = PAIRS.copy()
        pairs = zip(seen.states, seen.actions, strict=True)
        for pair, returns in zip(pairs, n_step_returns(seen.rewards, onward), strict=True):
            wanted[pair] += 0.3 * (mixture(returns, trace) - PAIRS[pair])
        assert after == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("horizon", [None, 3])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_n_step_td_learns_from_the_n_step_returns(count, horizon):
    learner = NStepTD(DISCOUNT, EVEN, step_size=0.3, initial_values=START, n=count)
    for after, seen in one_episode(learner, horizon):
        onward = np.where(seen.terminated, 0.0, START[seen.next_states])
        wanted = START.copy()
        for s, returns in zip(seen.states, n_step_returns(seen.rewards, onward), strict=True):
            wanted[s] += 0.3 * (returns[min(count, len(returns)) - 1] - START[s])
        assert after == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("count", [1, 2, 10])
def test_n_step_sarsa_learns_from_the_n_step_returns(count):
    learner = NStepSARSA(
        DISCOUNT, step_size=0.3, exploration=FixedPolicy(EVEN), initial_values=PAIRS, n=count
    )
    for after, seen in one_episode(learner):
        onward = np.append(PAIRS[seen.states[1:], seen.actions[1:]], 0.0)
        wanted = PAIRS.copy()
        pairs = zip(seen.states, seen.actions, strict=True)
        for pair, returns in zip(pairs, n_step_returns(seen.rewards, onward), strict=True):
            wanted[pair] += 0.3 * (returns[min(count, len(returns)) - 1] - PAIRS[pair])
        assert after == pytest.approx(wanted, abs=1e-13)


SAME = {
    "n-step TD of one step": (
        NStepTD(DISCOUNT, np.full((3, 2), 0.5)),
        TD(DISCOUNT, np.full((3, 2), 0.5)),
    ),
    "n-step SARSA of one step": (NStepSARSA(DISCOUNT), SARSA(DISCOUNT)),
    "SARSA with traces of no length": (SARSALambda(DISCOUNT, trace_decay=0.0), SARSA(DISCOUNT)),
    "Q with traces of no length": (QLambda(DISCOUNT, trace_decay=0.0), QLearning(DISCOUNT)),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_special_cases_are_the_simpler_learner(one, other):
    settings = {"num_steps": 300, "num_runs": 6, "rng": stream(1), "horizon": 9}
    ours, theirs = (
        run(who, MDPEnvironment(recurrent()), **settings).learner_state for who in (one, other)
    )
    assert ours.values == pytest.approx(theirs.values, abs=1e-12)
    assert np.array_equal(ours.visits, theirs.visits)


def test_traces_of_q_are_cut_by_a_step_that_is_not_greedy():

    def step(state, action, reward, onward):
        ints, no = (np.asarray([one]) for one in (state, action, onward)), np.zeros(1, bool)
        s, a, n = ints
        return Transition(s, a, np.asarray([reward]), n, no, no)

    start = np.asarray([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    learner = QLambda(0.5, step_size=0.1, initial_values=start, trace_decay=0.5)
    learned = learner.step(learner.init(3, 2, 1), step(0, 0, 1.0, 1), stream(1))
    first = 1.0 + 0.1 * (1.0 + 0.5 - 1.0)
    assert learned.values[0, 0, 0] == pytest.approx(first)
    greedy = learner.step(learned, step(1, 0, 2.0, 2), stream(1))
    error = 2.0 + 0.5 - 1.0
    assert greedy.values[0, 0, 0] == pytest.approx(first + 0.1 * 0.25 * error)
    other = learner.step(greedy, step(2, 1, 5.0, 2), stream(1))
    assert other.traces[0].tolist() == [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("trace", [0.0, 0.7])
@pytest.mark.parametrize("off_policy", [False, True])
def test_the_mean_of_td_over_runs_is_the_exact_one(trace, off_policy):
    """Under a fixed policy the means of values, traces and their products move linearly."""
    mdp, runs = recurrent(), 20000
    policy = np.asarray([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
    behaviour = np.asarray([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]]) if off_policy else None
    step_size = PowerLawDecay(0.5, 0.6, clock="time")
    learner = TD(DISCOUNT, policy, step_size, behaviour=behaviour, trace_decay=trace)
    values = run(
        learner, MDPEnvironment(mdp), num_steps=4, num_runs=runs, rng=stream(4)
    ).learner_state.values
    acts = policy if behaviour is None else behaviour
    exact = by_all_paths(mdp, policy, acts, step_size, trace, 4)
    error = values.std(0, ddof=1) / np.sqrt(runs)
    assert np.all(np.abs(values.mean(0) - exact) < 5 * error)
    assert np.all(np.abs(exact) > 10 * error)


def by_all_paths(mdp, policy, behaviour, step_size, trace, steps):
    """The mean of V over all paths of so many steps, one after another."""
    S, A = mdp.rewards.shape

    def mean(s, t, values, traces):
        if t == steps:
            return values
        alpha, total = float(step_size(np.asarray(float(t)))), np.zeros(S)
        for a in range(A):
            ratio = policy[s, a] / behaviour[s, a]
            eligible = DISCOUNT * trace * traces
            eligible[s] += 1.0
            eligible = ratio * eligible
            for onward in range(S):
                error = mdp.rewards[s, a] + DISCOUNT * values[onward] - values[s]
                chance = behaviour[s, a] * mdp.transitions[s * A + a, onward]
                after = values + alpha * error * eligible
                total += chance * mean(onward, t + 1, after, eligible)
        return total

    return mean(0, 0, np.zeros(S), np.zeros(S))


def layered(seed=3):
    """Three layers of two states and an end: all episodes from the first layer have three steps."""
    rng = np.random.default_rng(seed)
    P, r = np.zeros((7, 2, 7)), rng.random((7, 2))
    for s in range(4):
        P[s, :, s // 2 * 2 + 2 : s // 2 * 2 + 4] = rng.dirichlet(np.ones(2), size=2)
    P[4:, :, 6], r[6] = 1.0, 0.0
    return MDP.from_arrays(P, r, DISCOUNT)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_td_that_begins_at_the_values_of_the_policy_has_them_as_its_mean(count):
    """No state depends on what is learnt of it later in the layers: every bias is nought."""
    exact = evaluate(layered(), EVEN)
    learner = NStepTD(DISCOUNT, EVEN, initial_values=exact, n=count)
    environment = MDPEnvironment(layered(), np.asarray([0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    found = run(learner, environment, num_steps=90, num_runs=4000, rng=stream(1))
    values = found.learner_state.values
    error = values.std(0, ddof=1) / np.sqrt(4000)
    assert np.all(np.abs(values.mean(0) - exact) <= 5 * error)
    assert 0 < error.max() < 0.005


def test_monte_carlo_is_the_mean_of_returns_and_so_unbiased_from_any_start():
    """With a step of one over the visits, and no bootstrap, first values are forgotten."""
    exact, start = evaluate(layered(), EVEN), np.full(7, 100.0)
    learner = NStepTD(DISCOUNT, EVEN, initial_values=start, n=3)
    found = run(learner, MDPEnvironment(layered()), num_steps=90, num_runs=4000, rng=stream(2))
    for s in (0, 2, 3, 4, 5):
        values = found.learner_state.values[found.learner_state.visits[:, s] > 0, s]
        assert values.size > 3900
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert abs(values.mean() - exact[s]) < 5 * error


def test_weights_make_the_mean_of_n_steps_that_of_the_policy():
    """The first n-step return of each run, weighted, has the mean that the policy's would have."""
    mdp, policy = recurrent(), np.asarray([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
    behaviour = np.full((3, 2), 0.5)
    learner = NStepTD(DISCOUNT, policy, 1.0, behaviour=behaviour, n=3)
    found = run(learner, MDPEnvironment(mdp), num_steps=3, num_runs=20000, rng=stream(8))
    P, r = mdp.induced_chain(policy)
    exact = (r + DISCOUNT * P @ (r + DISCOUNT * P @ r))[0]
    first = found.learner_state.values[:, 0]
    assert abs(first.mean() - exact) < 5 * first.std() / np.sqrt(20000)


EVEN_3, OTHER_3 = np.full((3, 2), 0.5), np.asarray([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]])
CARRYING = {
    "SARSA": SARSA(DISCOUNT, 0.2),
    "TD(λ)": TD(DISCOUNT, EVEN_3, 0.2, trace_decay=0.7),
    "TD(λ), off policy": TD(DISCOUNT, EVEN_3, 0.2, behaviour=OTHER_3, trace_decay=0.7),
    "SARSA(λ)": SARSALambda(DISCOUNT, 0.2, trace_decay=0.7),
    "Q(λ)": QLambda(DISCOUNT, 0.2, trace_decay=0.7),
    "n-step TD": NStepTD(DISCOUNT, EVEN_3, 0.2, behaviour=OTHER_3, n=4),
    "n-step SARSA": NStepSARSA(DISCOUNT, 0.2, n=4),
}


@pytest.mark.parametrize("how", ["terminated", "truncated"])
@pytest.mark.parametrize("learner", CARRYING.values(), ids=CARRYING.keys())
def test_nothing_but_values_goes_on_into_the_next_episode(learner, how):
    """Of two runs one is over: with a state made anew it alone would learn the same."""
    rng, no = np.random.default_rng(3), np.zeros(2, bool)

    def steps(count):
        draws = [(rng.integers(3, size=2), rng.integers(2, size=2)) for _ in range(count)]
        return [Transition(s, a, rng.random(2), rng.integers(3, size=2), no, no) for s, a in draws]

    def taught(learned, transitions):
        for one in transitions:
            learned = learner.step(learned, one, stream(1))
        return learned

    first, second = steps(6), [*steps(2), steps(1)[0]._replace(terminated=~no)]
    first[-1] = first[-1]._replace(**{how: np.asarray([True, False])})
    learned = taught(learner.init(3, 2, 2), first)
    kept = replace(
        learner.init(3, 2, 2),
        values=learned.values.copy(),
        visits=learned.visits.copy(),
        time=learned.time,
    )
    through, anew = taught(learned, second).values, taught(kept, second).values
    assert np.array_equal(through[0], anew[0])
    assert not np.array_equal(through[1], anew[1])


def test_probabilities_of_actions_are_those_of_the_policy_and_are_covered():
    states, actions = np.asarray([0, 1, 1]), np.asarray([1, 0, 1])
    table = np.asarray([[0.3, 0.7], [1.0, 0.0]])
    assert action_probabilities(table, states, actions).tolist() == [0.7, 1.0, 0.0]
    assert action_probabilities(np.asarray([1, 1]), states, actions).tolist() == [1.0, 0.0, 1.0]
    check_coverage(table, np.asarray([[0.5, 0.5], [1.0, 0.0]]))
    with pytest.raises(ValueError, match=r"policy takes; in state 0 it never takes action 1$"):
        check_coverage(table, np.asarray([[1.0, 0.0], [1.0, 0.0]]))
