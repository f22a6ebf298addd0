"""Rules to act by and schedules: values by hand, frequencies, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp.learning import (
    TD,
    UCB,
    ConstantSchedule,
    EpsilonGreedy,
    ExpectedSARSA,
    ExponentialDecay,
    FixedPolicy,
    LearnerState,
    PowerLawDecay,
    QLearning,
    TabulatedSchedule,
    Transition,
)
from gpnotes.mdp.learning.exploration import _one_of
from gpnotes.mdp.learning.schedules import value_at

COUNTS = np.arange(5.0)
SCHEDULES = {
    "constant": (ConstantSchedule(0.3), [0.3] * 5),
    "one over n": (PowerLawDecay(), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
    "a root": (PowerLawDecay(0.8, 0.5), [0.8 / math.sqrt(k + 1) for k in range(5)]),
    "later": (PowerLawDecay(0.5, 2.0, delay=3.0), [0.5 * (4 / (k + 4)) ** 2 for k in range(5)]),
    "geometric": (ExponentialDecay(0.5, 0.1), [0.5, 0.05, 0.005, 5e-4, 5e-5]),
    "listed": (TabulatedSchedule(np.asarray([1.0, 0.5])), [1.0, 0.5, 0.5, 0.5, 0.5]),
}


@pytest.mark.parametrize(("schedule", "wanted"), SCHEDULES.values(), ids=SCHEDULES.keys())
def test_schedules_by_hand(schedule, wanted):
    assert schedule(COUNTS) == pytest.approx(np.asarray(wanted))
    assert schedule(COUNTS.astype(int)) == pytest.approx(np.asarray(wanted))


class Own:
    """A schedule of one's own."""

    clock = "visits"

    def __init__(self, top):
        self.max_value = top

    def __call__(self, count):
        return self.max_value * np.exp(-np.asarray(count, float))


def learned(values, visits, time=0):
    return LearnerState(np.asarray([values], float), np.asarray([visits]), time)


@pytest.mark.parametrize(
    ("step_size", "after"),
    [
        (PowerLawDecay(), 1 / 4),
        (PowerLawDecay(clock="time"), 1 / 8),
        (Own(0.5), 0.5 * math.exp(-3)),
        (0.2, 0.2),
    ],
)
def test_which_count_a_step_size_takes(step_size, after):
    """The fourth visit of the pair, the eighth step of the run."""
    learner = QLearning(0.0, step_size)
    at = learned([[0.0, 0.0]], [[3, 4]], 7)
    none, no = np.zeros(1, int), np.zeros(1, bool)
    moved = learner.step(at, Transition(none, none, np.ones(1), none, no, no), stream(1))
    assert moved.values[0, 0, 0] == pytest.approx(after)


@pytest.mark.parametrize("schedule", [PowerLawDecay(0.9, 0.55, 3.0), ExponentialDecay(0.5, 0.99)])
@pytest.mark.parametrize("time", [1023, 1024, 5])
def test_a_step_size_that_is_looked_up_is_the_one_worked_out_to_the_last_bit(schedule, time):
    """At the last count of a table, behind it, and with more visits than steps."""
    visits = np.arange(1025) if time == 1024 else np.arange(1024)
    assert np.array_equal(value_at(schedule, lambda: visits, time), schedule(visits))


@pytest.mark.parametrize(
    ("epsilon", "share"),
    [(0.3, 0.3), (PowerLawDecay(), 1 / 8), (PowerLawDecay(0.9, clock="time"), 0.9 / 10)],
)
def test_epsilon_greedy_takes_actions_with_its_probabilities(epsilon, share):
    """Frequencies within five standard errors; the share falls with the visits of the state.

    Two of the four are the best, and share what is not explored.
    """
    n = 40000
    values = np.broadcast_to(np.asarray([1.0, 3.0, 2.0, 3.0]), (n, 1, 4)).copy()
    visits = np.broadcast_to(np.asarray([1, 2, 3, 1]), (n, 1, 4)).copy()
    at, states, rule = LearnerState(values, visits, 9), np.zeros(n, int), EpsilonGreedy(epsilon)
    wanted = np.full(4, share / 4) + (1 - share) * np.asarray([0, 0.5, 0, 0.5])
    assert rule.probabilities(at, states)[5] == pytest.approx(wanted)
    shares = np.bincount(rule.choose(at, states, stream(1)), minlength=4) / n
    assert np.all(np.abs(shares - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / n))


def test_rows_that_are_looked_up_give_what_wider_ones_give_that_are_counted():
    """Eight actions, and a ninth that is never a candidate; a row may have none at all."""
    rng = np.random.default_rng(3)
    candidates = rng.random((400, 8)) < 0.4
    share = np.append(rng.random(380), np.ones(20))
    wide = np.column_stack([candidates, np.zeros(400, bool)])
    assert np.array_equal(_one_of(candidates, share), _one_of(wide, share))
    assert _one_of(candidates & False, share).tolist() == [0] * 400


def test_upper_bounds_by_hand():
    at = learned([[1.0, 0.5], [0.0, 2.0]], [[9, 1], [0, 3]])
    rule = UCB(0.7)
    total = math.log(10)
    bounds = [1.0 + 0.7 * math.sqrt(total / 9), 0.5 + 0.7 * math.sqrt(total)]
    assert rule.bounds(at, np.asarray([0]))[0] == pytest.approx(bounds)
    assert rule.choose(at, np.asarray([0]), stream(1))[0] == 1
    assert rule.bounds(at, np.asarray([1]))[0, 0] == math.inf
    assert rule.probabilities(at, np.asarray([1])).tolist() == [[1.0, 0.0]]
    fresh = learned([[5.0, 6.0]], [[0, 0]])
    assert rule.choose(fresh, np.asarray([0]), stream(1))[0] == 0


def test_a_fixed_policy_takes_no_action_of_probability_zero():
    policy = np.asarray([[0.0, 0.4, 0.0, 0.6, 0.0]])
    n, at = 40000, learned([[0.0] * 5], [[0] * 5])
    taken = FixedPolicy(policy).choose(at, np.zeros(n, int), stream(1))
    shares = np.bincount(taken, minlength=5) / n
    assert shares[[0, 2, 4]].tolist() == [0.0, 0.0, 0.0]
    assert abs(shares[1] - 0.4) < 5 * math.sqrt(0.24 / n)
    assert FixedPolicy(np.asarray([2])).choose(at, np.zeros(3, int), stream(1)).tolist() == [
        2,
        2,
        2,
    ]


BOTH, ONE = np.asarray([1, 1]), np.asarray([[0.5, 0.5], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: QLearning(1.5), r"discount must be a number in \[0, 1\]; got 1.5"),
        (lambda: QLearning(0.9, step_size=1.5), r"step_size must be a number in \[0, 1\]"),
        (lambda: QLearning(0.9, step_size=Own(1.5)), "step_size must be a schedule with values"),
        (lambda: QLearning(0.9, step_size="fast"), "step_size must be a number"),
        (lambda: EpsilonGreedy(-0.1), r"epsilon must be a number in \[0, 1\]"),
        (lambda: PowerLawDecay(clock="hours"), "clock must be one of"),
        (lambda: TabulatedSchedule(np.asarray([0.5, 1.5])), r"values must be numbers in \[0, 1\]"),
        (lambda: UCB(-1.0), "scale must be non-negative"),
        (lambda: FixedPolicy(np.asarray([[0.5, 0.6]])), "policy must have rows of probabilities"),
        (lambda: FixedPolicy(np.asarray([-1])), "policy must be actions from 0"),
        (lambda: FixedPolicy(np.asarray([0.5])), "policy must be whole numbers"),
        (
            lambda: QLearning(0.9, exploration=EpsilonGreedy),
            "exploration must be an exploration policy",
        ),
        (
            lambda: QLearning(0.9, initial_values=np.ones((2, 3))).init(3, 2, 1),
            r"initial_values must be a number or have shape \(3, 2\); got \(2, 3\)",
        ),
        (
            lambda: QLearning(0.9, exploration=FixedPolicy(np.asarray([0]))).init(2, 2, 1),
            "policy must have",
        ),
        (
            lambda: ExpectedSARSA(0.9, policy=FixedPolicy(np.asarray([3, 0]))).init(2, 2, 1),
            "actions 0",
        ),
        (lambda: QLearning(0.9).init(2, 0, 1), "num_actions must be a whole number from 1"),
        (
            lambda: TD(0.9, BOTH, behaviour=ONE).init(2, 2, 1),
            "behaviour must take every action that policy takes; in state 1 it never takes action",
        ),
    ],
)
def test_what_fits_nothing_is_refused(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def test_a_settled_policy_has_probabilities_of_one_or_those_that_were_given():
    learned, states = (
        LearnerState(np.zeros((3, 2, 3)), np.zeros((3, 2, 3), int)),
        np.asarray([1, 0, 1]),
    )
    taken, table = np.asarray([2, 0]), np.asarray([[0.2, 0.0, 0.8], [0.5, 0.5, 0.0]])
    np.testing.assert_array_equal(
        FixedPolicy(taken).probabilities(learned, states), np.eye(3)[[0, 2, 0]]
    )
    np.testing.assert_array_equal(FixedPolicy(table).probabilities(learned, states), table[states])


def test_the_best_action_is_taken_wherever_it_stands():
    values = np.asarray([[[1.0, 3.0, 2.0]], [[4.0, 3.0, 2.0]], [[1.0, 2.0, 5.0]]])
    learned = LearnerState(values, np.zeros((3, 1, 3), int))
    found = EpsilonGreedy(0.0).choose(learned, np.zeros(3, int), stream(1))
    assert found.tolist() == [1, 0, 2]


@pytest.mark.parametrize("wrong", [-0.1, 1.1])
def test_a_geometric_schedule_stays_in_the_unit_interval(wrong):
    for given in ((wrong, 0.5), (0.5, wrong)):
        with pytest.raises(ValueError, match=r"^(initial|decay_rate) must"):
            ExponentialDecay(*given)
    assert ExponentialDecay(0, 1)(COUNTS).tolist() == [0.0] * 5
    assert type(ExponentialDecay(0, 1).initial) is float


class Unkept:
    """A schedule of somebody's own, which no table can be kept of."""

    clock = "visits"
    __hash__ = None

    def __call__(self, counts):
        return 1.0 / (2.0 + counts)


def test_a_schedule_of_ones_own_is_asked_at_each_count():
    np.testing.assert_array_equal(value_at(Unkept(), lambda: np.asarray([0, 3]), 5), [0.5, 0.2])


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([[0.0, 1.0], [0.5, 0.4], [0.5, 0.3]], 2),  # the one that is off by most
        ([[0.0, 1.0], [0.5, 3.0], [-0.5, 1.5]], 2),  # one below zero before all others
        ([[0.0, 1.0], [0.5, 0.5 + 2e-8], [1.0, 0.0]], 1),
        ([[0.0, 1.0], [0.5, 0.5 - 2e-8], [1.0, 0.0]], 1),
    ],
)
def test_a_row_that_is_no_distribution_is_named(rows, state):
    with pytest.raises(ValueError, match=rf"rows of probabilities that sum to 1; row {state} is"):
        FixedPolicy(np.asarray(rows))
    near = np.asarray([[0.0, 1.0], [0.5, 0.5 + 0.9e-8]])
    np.testing.assert_array_equal(FixedPolicy(near).policy, near)
