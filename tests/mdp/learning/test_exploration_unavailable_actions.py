"""No learner takes an action that is not available, and each learns what is true of the others."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, evaluate, solve
from gpnotes.mdp.learning import (
    SARSA,
    TD,
    UCB,
    CertaintyEquivalence,
    DynaQ,
    EpsilonGreedy,
    ExpectedSARSA,
    FixedPolicy,
    LearnerState,
    MDPEnvironment,
    NStepSARSA,
    NStepTD,
    PosteriorSampling,
    QLambda,
    QLearning,
    RMax,
    SARSALambda,
    numba_loops,
    run,
)
from gpnotes.testing import check_environment

S, A = 4, 3
AVAILABLE = np.asarray(
    [[False, True, True], [True, False, False], [False, False, True], [True, True, False]]
)
RANDOM = np.where(AVAILABLE, 1.0, 0.0) / AVAILABLE.sum(1, keepdims=True)


def process(end=True):
    """Rewards in [0, 1]; the last state ends it, if asked. What is not available pays the best."""
    rng = np.random.default_rng(5)
    P, r = rng.dirichlet(np.ones(S), (S, A)), rng.random((S, A))
    if end:
        P[-1], r[-1] = np.eye(S)[-1], 0.0
    return MDP.from_arrays(P, r, 0.8, available=AVAILABLE)


LEARNERS = {
    "QLearning": QLearning(0.8),
    "QLearning at random": QLearning(0.8, exploration=EpsilonGreedy(1.0)),
    "QLearning, greedy": QLearning(0.8, exploration=EpsilonGreedy(0.0), initial_values=5.0),
    "QLearning by bounds": QLearning(0.8, exploration=UCB()),
    "QLearning by a policy": QLearning(0.8, exploration=FixedPolicy(RANDOM)),
    "SARSA": SARSA(0.8),
    "ExpectedSARSA": ExpectedSARSA(0.8),
    "ExpectedSARSA of another": ExpectedSARSA(0.8, policy=FixedPolicy(RANDOM)),
    "ExpectedSARSA, greedy": ExpectedSARSA(0.8, policy=EpsilonGreedy(0.0)),
    "NStepSARSA": NStepSARSA(0.8, n=3),
    "SARSALambda": SARSALambda(0.8),
    "QLambda": QLambda(0.8, replacing=True),
    "DynaQ": DynaQ(0.8),
    "RMax": RMax(1.0, 3, 0.8),
    "CertaintyEquivalence": CertaintyEquivalence(0.8, plan_every=20),
    "PosteriorSampling": PosteriorSampling(0.8, draw_every=20),
    "TD": TD(0.8, RANDOM),
    "NStepTD": NStepTD(0.8, RANDOM, n=2),
}


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("name", LEARNERS)
def test_no_learner_takes_what_is_not_there(name, end):
    """Some start in state 0, whose first action is not available; episodes are cut, too."""
    environment = MDPEnvironment(process(end), start=np.asarray([0.5, 0.25, 0.25, 0.0]))
    settings = {"num_runs": 5, "horizon": 7, "rng": stream(1), "record": True}
    whole = run(LEARNERS[name], environment, num_steps=80, **settings)
    assert AVAILABLE[whole.transitions.states, whole.transitions.actions].all()
    learned = whole.learner_state
    if learned.values.ndim == 3:
        assert np.array_equal(np.isneginf(learned.values), np.broadcast_to(~AVAILABLE, (5, S, A)))
        assert np.isfinite(learned.values[:, AVAILABLE]).all()
        assert not learned.visits[:, ~AVAILABLE].any()
    later = run(LEARNERS[name], environment, num_steps=41, **settings).resume(39)
    assert np.array_equal(later.learner_state.values, learned.values)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_first_action_of_many_runs_is_one_of_those_there(name):
    """States that have all actions do not speak for those that lack one."""
    some = np.where(np.arange(S)[:, None] == 1, True, AVAILABLE)
    mdp = process()
    mdp = MDP.from_arrays(mdp.transitions.reshape(S, A, S), mdp.rewards, 0.8, available=some)
    environment = MDPEnvironment(mdp, start=np.full(S, 0.25))
    learner = LEARNERS[name]
    found = run(learner, environment, num_steps=1, num_runs=200, rng=stream(1), record=True)
    states, actions = found.transitions.states, found.transitions.actions
    assert some[states, actions].all()
    assert {0, 1, 2} <= set(states.ravel().tolist())


@pytest.mark.parametrize("name", ["QLearning at random", "DynaQ", "RMax"])
def test_they_learn_the_best_of_what_there_is(name):
    environment = MDPEnvironment(process(end=False))
    found = run(LEARNERS[name], environment, num_steps=4000, num_runs=3, rng=stream(1))
    best = solve(process(end=False)).policy
    assert (found.learner_state.greedy == best).all()


def test_expected_values_are_those_of_the_policy():
    mdp = process(end=False)
    learner = ExpectedSARSA(
        0.8, exploration=EpsilonGreedy(1.0), policy=FixedPolicy(RANDOM)
    )  # fmt: skip
    found = run(learner, MDPEnvironment(mdp), num_steps=6000, num_runs=20, rng=stream(1))
    truth = mdp.action_values(evaluate(mdp, RANDOM))
    mean = found.learner_state.values.mean(0)
    np.testing.assert_allclose(mean[AVAILABLE], truth[AVAILABLE], rtol=0, atol=0.05)


def test_random_actions_are_as_frequent_as_each_other():
    """An epsilon of 1: each of the actions that a state has, as often as another."""
    values = np.where(AVAILABLE, 0.0, -np.inf)[None].repeat(6000, 0)
    learned = LearnerState(values, np.zeros(values.shape, np.int64))
    for rule in (EpsilonGreedy(1.0), EpsilonGreedy(0.3), EpsilonGreedy(0.0)):  # all are ties
        for state in range(S):
            states = np.full(6000, state)
            chosen = rule.choose(learned, states, stream(state))
            shares = np.bincount(chosen, minlength=A) / 6000
            np.testing.assert_allclose(shares, RANDOM[state], rtol=0, atol=0.03)
            np.testing.assert_allclose(
                rule.probabilities(learned, states), RANDOM[states], rtol=1e-14, atol=0
            )


@pytest.mark.parametrize("name", ["QLearning", "SARSA", "ExpectedSARSA"])
@pytest.mark.parametrize("end", [True, False])
def test_the_loop_for_numba_comes_to_the_same(name, end, monkeypatch):
    monkeypatch.setattr(numba_loops, "compiled", lambda: numba_loops.walk)
    environment = MDPEnvironment(process(end))
    settings = {"num_steps": 200, "num_runs": 3, "horizon": 9, "rng": stream(2)}
    one, other = (run(LEARNERS[name], environment, compiled=c, **settings) for c in (True, False))
    assert np.array_equal(one.learner_state.values, other.learner_state.values)
    assert np.array_equal(one.rewards, other.rewards)


def test_environments_name_what_is_not_available():
    environment = MDPEnvironment(process(), binary_rewards=(0.0, 1.0))
    assert np.array_equal(environment.available, AVAILABLE)
    with pytest.raises(ValueError, match=r"actions must be available; action 1 is not in state 2"):
        environment.step(np.asarray([0, 2]), np.asarray([1, 1]), stream(1))
    check_environment(environment)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (QLearning(0.8, exploration=FixedPolicy(np.full((S, A), 1.0 / A))), "exploration"),
        (ExpectedSARSA(0.8, policy=FixedPolicy(np.zeros(S, int))), "policy"),
        (TD(0.8, np.zeros(S, int)), "policy"),
        (TD(0.8, RANDOM, behaviour=np.full((S, A), 1.0 / A)), "behaviour"),
    ],
)
def test_policies_that_take_them_are_refused_before_the_first_step(learner, name):
    with pytest.raises(ValueError, match=rf"{name} must take .* action 0 is not in state 0"):
        run(learner, MDPEnvironment(process()), num_steps=1, rng=stream(1))


@pytest.mark.parametrize("learner", [RMax(1e6, 2, 0.99), CertaintyEquivalence(0.99, plan_every=10)])
def test_plans_of_large_rewards_are_as_good_as_rounding_allows(learner):
    rng = np.random.default_rng(0)
    mdp = MDP(rng.dirichlet(np.ones(S), S * A), 1e6 * rng.random((S, A)), 0.99)
    found = run(learner, MDPEnvironment(mdp), num_steps=60, rng=stream(1))
    assert found.learner_state.num_plans[0] > 0
