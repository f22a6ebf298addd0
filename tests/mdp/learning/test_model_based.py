"""Learners that count: estimates, plans, what is known to R_max, and first values."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, solve, solving
from gpnotes.mdp.learning import (
    CertaintyEquivalence,
    DynaQ,
    EpsilonGreedy,
    FixedPolicy,
    MDPEnvironment,
    PosteriorSampling,
    PowerLawDecay,
    QLearning,
    RMax,
    Transition,
    optimistic_value,
    run,
)


def ring(S=5, discount=0.9):
    """States in a ring: one action goes round, the other goes back to the first state."""
    P, r = np.zeros((S, 2, S)), np.zeros((S, 2))
    for s in range(S):
        P[s, 0, 0], P[s, 1, (s + 1) % S] = 1.0, 1.0
    r[:, 0], r[S - 1, 1] = 0.1, 1.0
    return MDP.from_arrays(P, r, discount)


def uncertain(S=4, A=2, seed=1):
    """An end that is reached by chance."""
    rng = np.random.default_rng(seed)
    P, r = rng.dirichlet(np.ones(S), size=(S, A)), rng.random((S, A))
    P[-1], r[-1] = np.eye(S)[-1], 0.0
    return MDP.from_arrays(P, r, 0.9)


def optimistic_values(found, run_number, highest, discount):
    """Action values of the optimistic model, by sweeps over what was recorded."""
    seen, S, A = found.transitions, *found.learner_state.values.shape[1:]
    top, Q = highest / (1 - discount), np.zeros((S, A))
    for _ in range(400):
        V = Q.max(1)
        for s in range(S):
            for a in range(A):
                here = (seen.states[:, run_number] == s) & (seen.actions[:, run_number] == a)
                if here.sum() < found.learner.known_threshold:
                    Q[s, a] = top
                    continue
                onward = np.where(
                    seen.terminated[here, run_number], 0.0, V[seen.next_states[here, run_number]]
                )
                Q[s, a] = np.mean(seen.rewards[here, run_number] + discount * onward)
    return Q


@pytest.mark.parametrize(
    "learner",
    [RMax(1.0, 3, 0.9), CertaintyEquivalence(0.9, plan_every=10), PosteriorSampling(0.9)],
    ids=["RMax", "CertaintyEquivalence", "PosteriorSampling"],
)
def test_a_plan_that_has_not_converged_is_no_plan(learner, monkeypatch):
    monkeypatch.setattr(solving, "_solve", partial(solving._solve, max_steps=1))
    with pytest.raises(RuntimeError, match="after 1 sweeps the plan may still lose"):
        run(learner, MDPEnvironment(ring()), num_steps=200, rng=stream(1))


def test_the_plan_of_rmax_is_that_of_what_it_has_seen():
    """When the last pair became known; sweeps over the record are the other way to it."""
    learner = RMax(1.0, known_threshold=3, discount=0.9, tolerance=1e-9)
    whole = run(learner, MDPEnvironment(uncertain()), num_steps=60, num_runs=3, rng=stream(1),
                every=1, watch=lambda learned: learned.values)  # fmt: skip
    changed = np.any(np.diff(whole.watched, axis=0) != 0.0, axis=(2, 3))
    for one in range(3):
        for last in np.flatnonzero(changed[:, one])[[0, len(changed[0]), -1]]:
            found = run(learner, MDPEnvironment(uncertain()), num_steps=int(last) + 2, num_runs=3,
                        rng=stream(1), record=True)  # fmt: skip
            wanted = optimistic_values(found, one, 1.0, 0.9)
            assert found.learner_state.values[one] == pytest.approx(wanted, abs=1e-7)


def test_the_model_of_rmax_has_a_fictitious_state_and_an_end():
    learner = RMax(2.0, known_threshold=2, discount=0.5)
    found = run(learner, MDPEnvironment(uncertain()), num_steps=8, rng=stream(1), record=True)
    mdp, learned = learner.model(found.learner_state, 0), found.learner_state
    P = mdp.transitions.reshape(6, 2, 6)
    assert np.all(P[4, :, 4] == 1.0)
    assert np.all(P[5, :, 5] == 1.0)
    assert mdp.rewards[4:].tolist() == [[2.0, 2.0], [0.0, 0.0]]
    known = learned.visits[0] >= 2
    assert 0 < known.sum() < 8
    for s, a in np.ndindex(4, 2):
        if known[s, a]:
            here = (found.transitions.states[:, 0] == s) & (found.transitions.actions[:, 0] == a)
            reached = np.where(
                found.transitions.terminated[here, 0], 5, found.transitions.next_states[here, 0]
            )
            assert P[s, a] == pytest.approx(np.bincount(reached, minlength=6) / here.sum())
            assert mdp.rewards[s, a] == pytest.approx(found.transitions.rewards[here, 0].mean())
        else:
            assert P[s, a].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
            assert mdp.rewards[s, a] == 2.0
    assert solve(mdp).values[4] == pytest.approx(4.0)


def test_rmax_is_optimistic_and_then_right_where_nothing_is_random():
    """One visit tells all of a pair: no value is too low at any time, and the last plan is best."""
    mdp = ring()
    learner, exact = RMax(1.0, known_threshold=1, discount=0.9), solve(mdp).action_values
    found = run(learner, MDPEnvironment(mdp), num_steps=200, rng=stream(1), every=1,
                watch=lambda learned: learned.values[0])  # fmt: skip
    assert np.all(found.watched >= exact - 2e-6)
    assert found.learner_state.greedy[0].tolist() == exact.argmax(1).tolist()
    assert found.rewards[-5:, 0].sum() == pytest.approx(1.0)
    assert found.learner_state.num_plans[0] == (found.learner_state.visits[0] > 0).sum() <= 10


def test_rmax_needs_no_more_unknown_steps_than_pairs_times_visits():
    learner = RMax(1.0, known_threshold=4, discount=0.9)
    found = run(learner, MDPEnvironment(uncertain()), num_steps=300, num_runs=5, rng=stream(2))
    assert np.all(found.learner_state.num_plans == (found.learner_state.visits >= 4).sum((1, 2)))
    assert np.all(found.learner_state.num_plans <= 8)


def test_rmax_refuses_a_reward_above_the_highest():
    with pytest.raises(ValueError, match="max_reward must be no less than any reward"):
        run(
            RMax(0.5, known_threshold=1, discount=0.9),
            MDPEnvironment(ring()),
            num_steps=50,
            rng=stream(1),
        )


@pytest.mark.parametrize("unseen", [0.0, 7.0])
def test_a_plan_from_counts(unseen):
    """Against values by sweeps over the record."""
    learner = CertaintyEquivalence(
        0.9, EpsilonGreedy(0.5), plan_every=25, unseen_value=unseen, tolerance=1e-9
    )
    found = run(
        learner, MDPEnvironment(uncertain()), num_steps=50, num_runs=2, rng=stream(3), record=True
    )
    assert found.learner_state.num_plans.tolist() == [2, 2]
    unvisited = 0
    for one in range(2):
        Q, seen = np.zeros((4, 2)), [part[:, one] for part in found.transitions]
        states, actions, rewards, onward, ended, _ = seen
        for _ in range(500):
            for s, a in np.ndindex(4, 2):
                here = (states == s) & (actions == a)
                ahead = np.where(ended[here], 0.0, Q.max(1)[onward[here]])
                Q[s, a] = np.mean(rewards[here] + 0.9 * ahead) if here.any() else unseen
                unvisited += not here.any()
        assert found.learner_state.values[one] == pytest.approx(Q, abs=1e-7)
    assert unvisited > 0


def taught(learner, steps, runs=1):
    """What a learner knows after steps (state, action, reward, next state, whether it ended)."""
    learned = learner.init(3, 2, runs)
    for state, action, reward, onward, ended in steps:
        parts = (np.full(runs, part) for part in (state, action, reward, onward, ended, False))
        learned = learner.step(learned, Transition(*parts), stream(7))
    return learned


SEEN = [(0, 1, 1.0, 1, False), (0, 1, 0.0, 1, False), (0, 1, 2.0, 2, False), (0, 1, 1.0, 0, True)]


def test_processes_are_drawn_from_their_posterior():
    """Mean and variance of Dirichlet shares and of normal rewards, of a pair seen and one not."""
    learner = PosteriorSampling(0.9, prior_visits=2.0, reward_var=3.0, noise_var=0.5)
    learned = taught(learner, SEEN)
    drawn = [learner.draw(learned, 0, seed) for seed in range(3000)]
    P = np.array([mdp.transitions.reshape(5, 2, 5)[0, :, [0, 1, 2, 4]].T for mdp in drawn])
    r = np.array([mdp.rewards[0] for mdp in drawn])
    for action, counts in ((0, np.zeros(4)), (1, np.array([0.0, 2.0, 1.0, 1.0]))):
        alpha = 0.5 + counts
        mean = alpha / alpha.sum()
        assert P[:, action].mean(0) == pytest.approx(mean, abs=0.03)
        assert P[:, action].var(0) == pytest.approx(mean * (1 - mean) / (alpha.sum() + 1), abs=0.01)
    precision = 1 / 3.0 + np.array([0, 4]) / 0.5
    assert r.mean(0) == pytest.approx(np.array([0.0, 4.0]) / 0.5 / precision, abs=0.1)
    assert r.var(0) == pytest.approx(1 / precision, rel=0.1)
    ends = drawn[0].transitions.reshape(5, 2, 5)[4]
    assert ends.tolist() == [[0.0, 0.0, 0.0, 0.0, 1.0]] * 2
    assert drawn[0].rewards[4].tolist() == [0.0, 0.0]


def test_a_prior_that_counts_for_next_to_nothing_draws_certain_successors():
    learner = PosteriorSampling(0.9, prior_visits=1e-9)
    P = learner.draw(learner.init(3, 2, 1), 0, 1).transitions
    assert P.sum(1) == pytest.approx(np.ones(10))
    assert P.max(1) == pytest.approx(np.ones(10))


def test_the_best_policy_of_the_process_drawn_is_followed():
    """One is drawn at visits 1, 2, 4 and 8, at every seventh step, and where an episode is over."""
    learner, plans = PosteriorSampling(0.9, draw_every=7), []
    learned = learner.init(4, 2, 1)
    for time in range(9):
        seed = int(stream(time).generator.integers(2**63 - 1, size=1)[0])
        parts = (2, 1, 1.0, 2, time == 4, time == 5)
        moved = Transition(*(np.asarray([part]) for part in parts))
        learned = learner.step(learned, moved, stream(time))
        plans.append(int(learned.num_plans[0]))
        if len(plans) == 1 or plans[-1] > plans[-2]:
            values = solve(learner.draw(learned, 0, seed), tolerance=1e-6).action_values[:4]
            assert learned.values[0] == pytest.approx(np.asarray(values))
    assert plans == [1, 2, 2, 3, 4, 5, 6, 7, 7]
    chosen = [learner.act(learned, np.asarray([s]), stream(1))[0] for s in range(4)]
    assert chosen == learned.values[0].argmax(1).tolist()


@pytest.mark.parametrize(
    "learner", [PosteriorSampling(0.9), DynaQ(0.9, 0.1, planning_steps=3)], ids=["PSRL", "Dyna-Q"]
)
def test_runs_that_have_seen_the_same_draw_apart(learner):
    """One transition of all pairs for three runs, as if each had taken it."""
    learned, draws = learner.init(3, 2, 3), stream(1)
    for state, action in np.ndindex(3, 2):
        same = [np.full(3, one) for one in (state, action, 1.0 + state, 2 - state, False, False)]
        learned = learner.step(learned, Transition(*same), draws)
    one, *others = learned.values
    assert np.array_equal(learned.visits[0], learned.visits[1])
    assert all(np.abs(other - one).max() > 1e-6 for other in others)


def test_the_first_step_of_posterior_sampling_is_any_action():
    learner = PosteriorSampling(0.9)
    chosen = learner.act(learner.init(2, 4, 4000), np.zeros(4000, int), stream(1))
    assert np.bincount(chosen) == pytest.approx(np.full(4, 1000), abs=120)


def test_posterior_sampling_finds_the_best_policy():
    learner = PosteriorSampling(0.9, noise_var=0.01, draw_every=20)
    found = run(learner, MDPEnvironment(ring()), num_steps=1000, num_runs=4, rng=stream(1))
    assert found.rewards[-1] == pytest.approx(np.full(4, 0.2), abs=0.02)


def test_dyna_without_planning_is_q_learning():
    settings = {"num_steps": 200, "num_runs": 3, "rng": stream(1)}
    parts = (0.9, PowerLawDecay(0.5), EpsilonGreedy(0.3), 0.7)
    dyna = run(DynaQ(*parts, planning_steps=0), MDPEnvironment(uncertain()), **settings)
    plain = run(QLearning(*parts), MDPEnvironment(uncertain()), **settings)
    assert np.array_equal(dyna.learner_state.values, plain.learner_state.values)


def test_dyna_moves_what_it_has_seen_once_more_for_each_planning_step():
    """One pair was taken, with which an episode ended: nothing else can be drawn."""
    learned = taught(DynaQ(0.9, step_size=0.25, planning_steps=6), [(1, 0, 2.0, 2, True)])
    assert learned.values[0, 1, 0] == pytest.approx(2.0 * (1 - 0.75**7))
    assert np.count_nonzero(learned.values) == 1
    assert learned.visits.sum() == 1


def test_dyna_draws_pairs_evenly_and_successors_by_their_shares():
    """Steps of size one: the value is the last target that was drawn, in each of many runs."""
    learner = DynaQ(0.5, step_size=1.0, planning_steps=30)
    steps = [(1, 0, 4.0, 0, True), (2, 0, 8.0, 0, True), *SEEN]
    values = taught(learner, steps, runs=4000).values[:, 0, 1]
    targets, counts = np.unique(values, return_counts=True)
    assert targets == pytest.approx([1.0, 3.0, 5.0])  # the mean reward, and half of what follows
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)
    once = DynaQ(0.5, step_size=0.5, planning_steps=1)
    before, after = (taught(once, steps[:n], runs=4000).values for n in (2, 3))
    moved = np.mean(after[:, 1:, 0] != before[:, 1:, 0], axis=0)
    assert moved == pytest.approx([1 / 3, 1 / 3], abs=0.04)


def test_dyna_plans_to_the_end_where_nothing_is_random():
    learner = DynaQ(0.9, step_size=1.0, exploration=EpsilonGreedy(1.0), planning_steps=100)
    found = run(learner, MDPEnvironment(ring()), num_steps=200, rng=stream(2))
    assert found.learner_state.num_pairs.tolist() == [10]
    assert sorted(found.learner_state.pairs[0].tolist()) == list(range(10))
    exact = np.asarray(solve(ring(), tolerance=1e-10).action_values)
    assert found.learner_state.values[0] == pytest.approx(exact, abs=1e-6)


def test_runs_that_count_resume():
    for learner in (
        RMax(1.0, known_threshold=2, discount=0.9),
        CertaintyEquivalence(0.9, plan_every=10),
        PosteriorSampling(0.9),
        DynaQ(0.9),
    ):
        settings = {"num_runs": 2, "rng": stream(1)}
        whole = run(learner, MDPEnvironment(uncertain()), num_steps=70, **settings)
        parts = run(learner, MDPEnvironment(uncertain()), num_steps=33, **settings).resume(37)
        assert np.array_equal(whole.learner_state.values, parts.learner_state.values)
        assert np.array_equal(
            whole.learner_state.transition_counts, parts.learner_state.transition_counts
        )


@pytest.mark.parametrize(
    "step_size", [0.2, PowerLawDecay(0.5, 0.6), PowerLawDecay(0.9, 1.0, clock="time")]
)
def test_an_optimistic_value_lasts_for_its_visits_and_no_longer(step_size):
    """Where nothing is ever earned, so many visits leave the highest value exactly."""
    start = optimistic_value(1.0, 0.9, step_size, num_visits=6)
    learner = QLearning(0.9, step_size, FixedPolicy(np.asarray([0])), start)
    learned = learner.init(1, 1, 1)
    none, no = np.zeros(1, int), np.zeros(1, bool)
    for _ in range(6):
        assert learned.values[0, 0, 0] > 10.0
        end = Transition(none, none, np.zeros(1), none, ~no, no)
        learned = learner.step(learned, end, stream(1))
    assert learned.values[0, 0, 0] == pytest.approx(10.0)


def test_greedy_optimism_tries_every_pair_as_often_as_it_was_made_for():
    """No pair with fewer visits may fall below the highest value, so none is left behind."""
    step_size = PowerLawDecay(0.5, 0.6)
    start = optimistic_value(1.0, 0.9, step_size, num_visits=5)
    learner = QLearning(0.9, step_size, EpsilonGreedy(0.0), start)
    found = run(learner, MDPEnvironment(ring()), num_steps=3000, rng=stream(1))
    assert found.learner_state.visits.min() >= 5
    assert found.learner_state.greedy[0].tolist() == solve(ring()).policy.tolist()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"step_size": PowerLawDecay()}, "step_size must be below 1 at the first 3 counts"),
        ({"discount": 1.0}, "discount must be below 1"),
        ({"max_reward": -1.0}, "max_reward must be non-negative"),
        ({"step_size": 0.999, "num_visits": 200}, "num_visits must be smaller in size"),
    ],
)
def test_no_optimistic_value(wrong, said):
    right = {"max_reward": 1.0, "discount": 0.9, "step_size": 0.1, "num_visits": 3}
    with pytest.raises(ValueError, match=said):
        optimistic_value(**{**right, **wrong})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: RMax(1.0, 2, 1.0), "discount must be below 1"),
        (lambda: CertaintyEquivalence(1.0), "discount must be below 1"),
        (lambda: PosteriorSampling(1.0), "discount must be below 1"),
        (lambda: PosteriorSampling(0.9, prior_visits=0.0), "prior_visits must be"),
        (lambda: DynaQ(0.9, planning_steps=-1), "planning_steps must be a whole number from 0"),
        (lambda: RMax(1.0, 0, 0.9), "known_threshold must be a whole number from 1"),
        (
            lambda: CertaintyEquivalence(0.9, exploration=0.1),
            "exploration must be an exploration policy",
        ),
    ],
)
def test_no_learner_that_counts(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def test_a_process_is_drawn_after_a_step_at_the_earliest():
    assert PosteriorSampling(0.9, draw_every=1).draw_every == 1
    with pytest.raises(ValueError, match="draw_every must be a whole number from 1; got 0"):
        PosteriorSampling(0.9, draw_every=0)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
@pytest.mark.parametrize(
    "learner",
    [
        lambda unit: RMax(unit, 5, 0.9),
        lambda unit: PosteriorSampling(0.9, reward_var=unit**2, noise_var=unit**2),
    ],
)
def test_rewards_of_another_unit_are_learnt_alike(learner, unit, rng):
    moves, rewards = rng.dirichlet(np.full(5, 0.3), (5, 3)), rng.uniform(size=(5, 3))

    def visits(size):
        mdp = MDP.from_arrays(moves, size * rewards, 0.9, layout="state first")
        found = run(learner(size), MDPEnvironment(mdp), num_steps=200, rng=stream(1))
        return found.learner_state.visits

    np.testing.assert_array_equal(visits(unit), visits(1.0))
