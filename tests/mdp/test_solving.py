"""The best policy and its certificate, by four methods."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from trips import trip

from gpnotes.ground.check import NoValueError
from gpnotes.ground.sparse_matrices import least_cost
from gpnotes.ground.xp import has_double, to_numpy
from gpnotes.mdp import MDP, GridWorld, evaluate, occupancy_measure, solve
from gpnotes.mdp.certificates import Certificate, rounding_error
from gpnotes.mdp.solving import METHODS, _Solver

every_method = pytest.mark.parametrize("method", METHODS)


def iterated(P, r, discount, sweeps=3000):
    v = np.zeros(len(r))
    for _ in range(sweeps):
        v = np.max(r + discount * P @ v, axis=1)
    return v


@every_method
def test_every_method_finds_what_iterating_long_finds(make_arrays, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, 0.9)
    v = iterated(P, r, 0.9)
    found = solve(mdp, method)
    np.testing.assert_allclose(found.values, v, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.action_values, r + 0.9 * P @ v, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found.policy, np.argmax(r + 0.9 * P @ v, axis=1))
    assert 0.0 < found.bound <= 1e-8
    assert np.max(np.abs(evaluate(mdp, found.policy) - v)) <= found.bound
    assert found.method == method
    assert found.iterations > 0


@every_method
def test_sparse_is_as_dense(make_arrays, method):
    P, r = make_arrays()
    dense = solve(MDP.from_arrays(P, r, 0.9), method)
    sparse = solve(MDP.from_arrays([sp.csr_array(P[:, a]) for a in range(3)], r, 0.9), method)
    np.testing.assert_allclose(sparse.values, dense.values, rtol=0, atol=2e-8)
    np.testing.assert_array_equal(sparse.policy, dense.policy)


@every_method
def test_every_namespace_gets_the_same_policy(make_arrays, space, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(space.asarray(P), space.asarray(r), 0.9)
    tolerance = 1e-8 if has_double(mdp.rewards) else 1e-2  # a device without float64 has rounding
    found = solve(mdp, method, tolerance=tolerance)
    exact = solve(MDP.from_arrays(P, r, 0.9))
    assert found.bound <= max(tolerance, 1e-5)
    assert found.values.dtype == found.action_values.dtype == space.asarray(r).dtype
    np.testing.assert_array_equal(to_numpy(found.policy), exact.policy)
    assert np.max(np.abs(to_numpy(found.values) - exact.values)) <= max(found.bound, 1e-5)


@every_method
def test_single_precision_says_what_rounding_its_values_costs(make_arrays, method):
    P, r = (a.astype(np.float32) for a in make_arrays())
    mdp = MDP.from_arrays(P, r, 0.9)
    found = solve(mdp, method)
    assert solve(mdp, method).bound == found.bound
    truth = iterated(P.astype(float), r.astype(float), 0.9)
    assert found.values.dtype == np.float32
    assert np.max(np.abs(found.values - truth)) <= found.bound
    assert 1e-8 < found.bound < 1e-5


@every_method
def test_the_bound_of_single_precision_is_that_of_the_largest_value(method):
    """Each state stays where it is, for a reward from nothing to a million."""
    r = np.asarray([0.0, 1e-3, 0.7, 33.3, 4321.0, 1e6 / 3.0], dtype=np.float32)
    P = np.eye(6, dtype=np.float32)[:, None, :]
    found = solve(MDP.from_arrays(P, r[:, None], 0.9), method)
    truth = r.astype(float) / (1.0 - 0.9)
    assert np.max(np.abs(found.values.astype(float) - truth)) <= found.bound < 2.0**-21 * truth[-1]
    assert found.bound >= 2.0**-23 * truth[-1]


@every_method
def test_discount_zero_looks_at_the_next_reward_alone(make_arrays, method):
    P, r = make_arrays()
    found = solve(MDP.from_arrays(P, r, 0.0), method)
    np.testing.assert_allclose(found.values, np.max(r, axis=1), rtol=0, atol=1e-12)


@every_method
def test_ties_go_to_the_first_action(make_arrays, method):
    """Actions 1 and 3 are one action, spelt in another order; and so on for all methods."""
    P, r = make_arrays(A=2)
    P = np.concatenate([P[:, :1] * 0 + P[:, 1:], P[:, 1:], P[:, :1], P[:, :1]], axis=1)
    r = np.concatenate([r[:, 1:], r[:, 1:] + 3e-14, r[:, :1] + 3e-14, r[:, :1]], axis=1)
    policy = solve(MDP.from_arrays(P, r, 0.9), method).policy
    assert set(policy) == {0, 2}


def test_the_bounds_meet_long_before_the_values_do(make_arrays):
    """The span of a step shrinks as the chain forgets, whatever the discount."""
    P, r = make_arrays(S=50, successors=10)
    near = solve(MDP.from_arrays(P, r, 0.9), "value iteration")
    far = solve(MDP.from_arrays(P, r, 0.999), "value iteration", tolerance=1e-6)
    assert near.iterations < 40  # without the span, log(1e-8 / 10) / log(0.9) = 197
    assert far.iterations < 60  # and 22000


# -- episodes ----------------------------------------------------------------------------------


@every_method
def test_a_walk_without_discount_counts_the_steps(method):
    mdp = GridWorld(("S...", ".##.", "...G"), step_reward=-1.0, rewards={}).mdp(1.0)
    found = solve(mdp, method)
    np.testing.assert_allclose(found.values, [-5, -4, -3, -2, -4, -1, -3, -2, -1, 0], atol=1e-8)
    assert found.values[-1] == 0.0
    assert found.bound <= 1e-8


@every_method
@pytest.mark.parametrize("discount", [0.5, 1.0])
def test_terminal_states_are_worth_nothing_at_all(method, discount):
    mdp = GridWorld(("S..G", ".X..", "...."), step_reward=-0.1, slip=0.3).mdp(discount)
    found = solve(mdp, method)
    assert found.values[3] == found.values[5] == 0.0
    np.testing.assert_allclose(found.values, evaluate(mdp, found.policy), rtol=0, atol=1e-8)


@every_method
def test_the_chance_to_reach_the_goal_is_a_value_without_discount(method):
    """Every step but the last is free, and one may walk in cycles: FrozenLake's 14 of 17."""
    gymnasium = pytest.importorskip("gymnasium")
    mdp = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 1.0)
    found = solve(mdp, method)
    assert abs(found.values[0] - 14 / 17) <= found.bound <= 1e-8
    assert np.max(np.abs(evaluate(mdp, found.policy) - found.values)) <= found.bound


@every_method
def test_free_ways_are_followed_to_where_it_pays(method):
    """All steps are free but those into the goal and the pit; the policy does get there."""
    grid = GridWorld(("....G", ".##.X", "S...."))
    mdp = grid.mdp(1.0)
    found = solve(mdp, method)
    going = ~mdp.terminal
    np.testing.assert_allclose(found.values[going], 1.0, rtol=0, atol=1e-8)
    np.testing.assert_allclose(evaluate(mdp, found.policy), found.values, rtol=0, atol=1e-8)


@every_method
def test_of_actions_that_are_as_good_one_that_ends_is_taken(method):
    """Waiting, the first action, costs less than rounding; only the second one leads on."""
    P, r = np.zeros((3, 2, 3)), np.zeros((3, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, 0, 2] = P[1, 1, 0] = P[2, :, 2] = 1.0
    r[0, 0] = -1e-30
    found = solve(MDP.from_arrays(P, r, 1.0), method)
    np.testing.assert_array_equal(found.policy, [1, 0, 0])
    np.testing.assert_allclose(found.values, 0.0, atol=1e-8)
    assert found.iterations < 9


@every_method
def test_who_can_only_lose_stays_where_it_is_free(method):
    """A loop for nothing, a way to the end that costs: staying is worth 0, and is chosen."""
    P = np.asarray([[[0, 1, 0], [1, 0, 0]], [[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]])
    r = np.asarray([[0.0, -1.0], [0.0, -2.0], [0.0, 0.0]])
    mdp = MDP.from_arrays(P.astype(float), r, 1.0)
    found = solve(mdp, method)
    np.testing.assert_allclose(found.values, 0.0, rtol=0, atol=1e-8)
    np.testing.assert_allclose(evaluate(mdp, found.policy), 0.0, rtol=0, atol=1e-12)


@every_method
def test_values_without_a_bound_are_refused(method):
    P = np.asarray([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], dtype=float)
    mdp = MDP.from_arrays(P, np.asarray([[1.0, 0.0], [0.0, 0.0]]), 1.0, layout="state first")
    with pytest.raises(ValueError, match="mdp must have values with a bound"):
        solve(mdp, method)


@every_method
def test_a_state_that_cannot_end_is_named(method):
    P = np.asarray([[[1, 0, 0]], [[0, 1, 0]], [[0, 1, 0]]], dtype=float)
    mdp = MDP.from_arrays(P, np.asarray([[0.0], [-1.0], [-1.0]]), 1.0)
    with pytest.raises(ValueError, match=r"mdp must be able .* state 1 and 1 more no policy does"):
        solve(mdp, method)


@every_method
def test_cycles_whose_rewards_cancel_are_refused(method):
    P = np.asarray([[[0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]])
    r = np.asarray([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    mdp = MDP.from_arrays(P.astype(float), r, 1.0)
    with pytest.raises(ValueError, match="cycles whose rewards cancel"):
        solve(mdp, method, max_steps=2000)


@every_method
def test_a_long_way_needs_a_small_slack(method):
    """What each of 400 steps may lose is a four-hundredth; the first choice of slack is larger."""
    mdp = GridWorld(("S" + "." * 400 + "G",), step_reward=-1.0, rewards={}, slip=0.5).mdp(1.0)
    found = solve(mdp, method, tolerance=1e-5)
    assert found.bound <= 1e-5
    np.testing.assert_allclose(found.values, evaluate(mdp, found.policy), rtol=0, atol=1e-5)


def test_single_precision_of_sparse_rows_is_worked_out_in_double(make_arrays):
    P, r = (a.astype(np.float32) for a in make_arrays())
    sparse = MDP.from_arrays([sp.csr_array(P[:, a]) for a in range(3)], r, 0.99)
    wide = sparse.in_double()
    policy = np.zeros(12, dtype=int)
    np.testing.assert_allclose(evaluate(sparse, policy), evaluate(wide, policy), rtol=1e-7)
    found = solve(sparse)
    assert found.values.dtype == np.float32
    assert np.max(np.abs(found.values - solve(wide).values)) <= found.bound


# -- duality, and what rounding allows -----------------------------------------------------------


def test_occupancies_are_the_prices_of_the_linear_program(make_arrays):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, 0.9)
    S, A = r.shape
    start = np.full(S, 1.0 / S)
    rows = np.repeat(np.eye(S), A, axis=0) - 0.9 * mdp.transitions
    program = least_cost(start, rows, r.ravel())
    found = solve(mdp)
    visits = occupancy_measure(mdp, found.policy, start)
    np.testing.assert_allclose(program.prices.reshape(S, A), visits, rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.sum(visits * r), start @ found.values, rtol=0, atol=1e-8)


@every_method
def test_what_rounding_hides_is_not_promised(make_arrays, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, 1e6 * r, 0.999)
    with pytest.raises(ValueError, match="tolerance must be at least"):
        solve(mdp, method, tolerance=1e-9)
    assert solve(mdp, method, tolerance=0.1).bound <= 0.1


@every_method
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_tolerance_that_is_told_can_be_had(method, sign):
    """Where values are far from what they will be, their rounding tells a thousandth of it."""
    ring = MDP(np.roll(np.eye(4), 1, axis=1), sign * np.arange(4.0)[:, None], 1.0 - 2.0**-10)
    with pytest.raises(ValueError, match="tolerance must be at least") as told:
        solve(ring, method, tolerance=1e-10)
    enough = float(re.search(r"at least (\S+) for", str(told.value))[1])
    assert solve(ring, method, tolerance=enough).bound <= enough


@every_method
@pytest.mark.parametrize("discount", [0.99, 1.0])
def test_what_stopped_early_says_so_and_its_bound_holds(make_arrays, method, discount):
    P, r = make_arrays(S=40)
    P = np.where(
        np.arange(40)[:, None, None] == 39, np.eye(40)[39], 0.99 * P
    )  # the last is the end
    P[:39, :, 39] += 1.0 - P[:39].sum(2)
    mdp = MDP.from_arrays(P, np.where(np.arange(40) < 39, -1.0 - r.T**2, 0.0).T, discount)
    best = solve(mdp, method)
    assert best.converged
    early = solve(mdp, method, max_steps=1)
    if method in ("policy iteration", "linear program"):
        assert early.converged == (best.iterations == early.iterations)
    else:
        assert not early.converged
        assert early.iterations == 1
        assert early.bound > 1.0
    assert np.max(np.abs(early.values - best.values)) <= early.bound
    assert np.max(best.values - evaluate(mdp, early.policy)) <= early.bound
    exact = solve(mdp, method, max_steps=best.iterations)
    np.testing.assert_array_equal(exact.values, best.values)
    assert exact.converged


@every_method
def test_rewards_beyond_all_floats(make_arrays, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, np.where(r > 0, 1e308, -1e308), 0.99)
    with pytest.raises(ValueError, match=r"mdp\.rewards must be smaller than"):
        solve(mdp, method)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("period", [1, 3])
def test_a_chain_that_forgets_nothing_is_no_longer_swept(sparse, period):
    draw = np.random.default_rng(period)
    S, A, discount = 30, 2, 1.0 - 2.0**-16
    P = np.zeros((S, A, S))
    for a in range(A):  # states go round in classes, or on a ring
        P[np.arange(S), a, (np.arange(S) + (1 if period == 1 else period * (1 + a))) % S] = 1.0
    r = draw.uniform(size=(S, A))
    mdp = MDP.from_arrays(P, r, discount)
    mdp = MDP(sp.csr_array(P.reshape(S * A, S)), r, discount) if sparse else mdp
    found, exact = solve(mdp, tolerance=0.01), solve(mdp, "policy iteration", tolerance=0.01)
    assert found.converged
    assert found.bound <= 0.01
    assert found.iterations <= 40
    np.testing.assert_allclose(found.values, exact.values, rtol=0, atol=0.02)


# -- the default tolerance -----------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("penalty", [-1e6, -1e9, -1e15])
def test_penalties_spoil_no_digits_of_what_avoids_them(make_arrays, method, penalty):
    P, r = make_arrays(S=6)
    spoilt = r.copy()
    spoilt[:, 1] = penalty
    spoilt[::2, 2] = penalty
    found = solve(MDP.from_arrays(P, spoilt, 0.95), method)
    without = solve(MDP.from_arrays(P, np.where(spoilt == penalty, -np.inf, r), 0.95), method)
    assert found.bound <= 1e-8
    np.testing.assert_array_equal(found.policy, without.policy)
    np.testing.assert_allclose(found.values, without.values, rtol=0, atol=2e-8)


@every_method
def test_penalties_at_the_end_of_a_walk(method):
    """At discount 1, where sweeps begin with a policy that may run into the pit."""
    grid = GridWorld(("S..G", ".#.X", "...."), {"G": 1.0, "X": -1e9}, step_reward=-0.1, slip=0.4)
    found = solve(grid.mdp(1.0), method)
    assert found.converged
    assert found.bound <= 1e-8
    np.testing.assert_allclose(
        found.values, evaluate(grid.mdp(1.0), found.policy), rtol=0, atol=1e-8
    )


@every_method
@pytest.mark.parametrize(
    ("scale", "discount"), [(1e6, 0.999), (1.0, 0.999999), (1.0, 1.0 - 2.0**-40), (1e15, 0.5)]
)
def test_the_default_is_what_rounding_allows(make_arrays, method, scale, discount):
    """In fractions of what there is: values in doubles have sixteen digits, of which some go."""
    P, r = make_arrays(S=6, successors=6)
    mdp = MDP.from_arrays(P, scale * r, discount)
    found = solve(mdp, method)
    assert found.converged
    worth = evaluate(mdp, found.policy)
    size = np.max(np.abs(found.values))
    assert 1e-8 < found.bound <= 1e3 * np.finfo(float).eps * size / (1.0 - discount)
    # `evaluate` has its own rounding, which its system of equations raises by 1/(1 − γ)
    loose = 1e2 * np.finfo(float).eps * size / (1.0 - discount)
    assert np.max(np.abs(worth - found.values)) <= found.bound + loose
    with pytest.raises(ValueError, match="tolerance must be at least"):
        solve(mdp, method, tolerance=1e-8 * min(1.0, found.bound))


@every_method
def test_what_can_be_had_is_had_by_default(make_arrays, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, 0.9)
    by_default, asked = solve(mdp, method), solve(mdp, method, tolerance=1e-8)
    np.testing.assert_array_equal(by_default.values, asked.values)
    assert (by_default.bound, by_default.iterations) == (asked.bound, asked.iterations)


@every_method
def test_a_discount_that_is_one_but_for_rounding_is_named(make_arrays, method):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, float(np.nextafter(1.0, 0.0)))
    with pytest.raises(ValueError, match="mdp must have a discount times sums of rows"):
        solve(mdp, method)


@every_method
def test_large_rewards_do_not_hide_cycles_that_cancel(method):
    P = np.asarray([[[0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]])
    r = 1e7 * np.asarray([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="cycles whose rewards cancel"):
        solve(MDP.from_arrays(P.astype(float), r, 1.0), method, max_steps=2000)


def test_the_steps_of_a_linear_program_count(make_arrays, monkeypatch):
    mdp = MDP.from_arrays(*make_arrays(), 0.9)
    swept = solve(mdp, "policy iteration").iterations

    def slow(*given):
        return least_cost(*given)._replace(steps=1000)

    monkeypatch.setattr("gpnotes.mdp.solving.least_cost", slow)
    assert 1000 < solve(mdp, "linear program").iterations <= 1000 + swept


def test_a_small_process_takes_few_calls():
    rng = np.random.default_rng(0)
    process = MDP(rng.dirichlet(np.ones(5), size=15), rng.normal(size=(5, 3)), 0.9)
    assert len(trip(lambda: solve(process))) <= 60


def test_a_process_that_was_solved_can_be_pickled(make_arrays):
    mdp = MDP.from_arrays(*make_arrays(), 0.9)
    found = solve(mdp)
    np.testing.assert_array_equal(solve(pickle.loads(pickle.dumps(mdp))).values, found.values)


def a_solver(mdp, tolerance=1e-3, *, strict=True):
    return _Solver(mdp, tolerance, 1000, strict=strict)


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_a_step_is_asked_to_be_a_quarter_of_the_tolerance_less_what_is_to_come(
    make_arrays, discount
):
    mdp = MDP.from_arrays(*make_arrays(), discount)
    solver = a_solver(mdp, 0.04)
    assert solver.asked == solver.threshold == pytest.approx(0.01 * (1.0 - discount), rel=1e-9)
    ends = GridWorld(("S.G",), step_reward=-1.0).mdp(1.0)
    assert a_solver(ends, 0.04).asked == a_solver(ends, 0.04).threshold == 0.01
    solver.look_closer(0.25)
    assert solver.asked == solver.threshold == pytest.approx(0.0025 * (1.0 - discount), rel=1e-9)
    solver.at_rounding = True
    with pytest.raises(NoValueError, match="as near as rounding allows, values have no bound"):
        solver.look_closer(0.5)


@pytest.mark.parametrize(
    ("first", "last", "more", "slow"),
    [
        (1.0, 0.5, 64.01 / 7.0, True), (1.0, 0.5, 63.99 / 7.0, False),
        (8.0, 0.5, 64.01 / 7.0 * 4.0, True), (8.0, 0.5, 63.99 / 7.0 * 4.0, False),
        (0.5, 0.5, 0.1, True), (0.25, 0.5, 0.1, True), (0.25, 0.5, 0.0, False),
        (1.0, 0.5, 0.0, False), (1.0, 0.5, -1.0, False),
    ],
)  # fmt: skip
def test_sweeps_are_slow_where_more_than_64_are_left(make_arrays, first, last, more, slow):
    """At the rate of the last eight, which halve a span so many times; `more` halvings are left."""
    solver = a_solver(MDP.from_arrays(*make_arrays(), 0.9))
    for span in [99.0, first, *np.linspace(first, last, 6), last]:
        solver._spans.append(span)
    solver.threshold = last * 2.0**-more
    assert solver._is_slow() is slow


def test_a_policy_is_followed_once_it_has_stayed_and_sweeps_are_slow(make_arrays):
    mdp = MDP.from_arrays(*make_arrays(), 0.9)
    solver, q = a_solver(mdp), np.asarray([[1.0, 0.0, 2.0]] * 12)
    solver._spans.extend([1.0] * 8)
    assert solver.settled_policy(q) is None  # not seen before
    np.testing.assert_array_equal(solver.settled_policy(q), 2)
    assert solver.settled_policy(-q) is None
    solver.may_solve = False
    assert solver.settled_policy(-q) is None
    solver.may_solve = True
    np.testing.assert_array_equal(solver.settled_policy(-q), 1)
    solver.threshold = 1.0
    assert solver.settled_policy(-q) is None


@pytest.mark.parametrize("strict", [True, False])
def test_what_rounding_hides_is_refused_or_looked_at_no_closer(make_arrays, strict):
    P, r = make_arrays()
    mdp = MDP.from_arrays(P, r, 0.9)
    solver, values = a_solver(mdp, strict=strict), np.full(12, 1e9)
    rounding = rounding_error(mdp, values)
    assert rounding < solver.asked
    solver.meet_rounding(values)
    assert solver.threshold == solver.asked
    assert not solver.at_rounding
    solver.asked, solver.may_solve = rounding / 2.0, False
    if strict:
        least = 1.05 * 1e-3 * rounding_error(mdp, values + 9.0 * 5.0) / solver.asked
        with pytest.raises(NoValueError, match=f"tolerance must be at least {least:.2g} for this"):
            solver.meet_rounding(values, 5.0)
        return
    solver.meet_rounding(values)
    assert solver.threshold == rounding
    assert solver.at_rounding
    assert solver.may_solve  # once more, where rounding is met for the first time
    solver.may_solve = False
    solver.meet_rounding(values)
    assert not solver.may_solve


def test_values_that_grow_everywhere_where_a_policy_stays_are_refused():
    """State 0 earns for ever beside an end; from the eighth sweep on, at each power of two."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, :, 1] = 1.0
    mdp = MDP.from_arrays(P, np.asarray([[1e-3, 0.0], [0.0, 0.0]]), 1.0, layout="state first")
    for method in ("value iteration", "modified policy iteration", "policy iteration"):
        with pytest.raises(NoValueError, match="at discount 1 a policy earns without an end"):
            solve(mdp, method)
    for steps, refused in ((7, False), (8, True)):
        solver = _Solver(mdp, 1e-9, 1000, strict=True)
        values = np.zeros(2)
        try:
            for _ in range(steps):
                q = mdp.action_values(values)
                solver.end(values, q, q.max(axis=1))
                values = q.max(axis=1)
        except NoValueError:
            assert refused
        else:
            assert not refused


@pytest.mark.parametrize("discount", [0.9, 1.0])
@pytest.mark.parametrize(("ratio", "factor"), [(1.5, 1.0 / 3.0), (8.0, 1.0 / 16.0), (1e3, 0.01)])
def test_a_bound_that_is_too_large_is_looked_at_more_closely(
    make_arrays, monkeypatch, discount, ratio, factor
):
    """By half; at discount 1 by half of what it is too large, a hundredth at least."""
    P, r = make_arrays()
    P[-1], r[-1] = np.eye(12)[-1], 0.0
    P[:-1] = 0.9 * P[:-1] + 0.1 * np.eye(12)[-1]
    solver = a_solver(MDP.from_arrays(P, r - (np.arange(12) < 11)[:, None] * 9.0, discount), 0.04)
    values, q = np.zeros(12), solver.mdp.rewards
    certificate = Certificate(values, q, 0.04 * ratio)
    monkeypatch.setattr(solver, "certificate", lambda *given: certificate)
    before = solver.asked
    assert solver.certified(values, q) is None
    wanted = before * (0.5 if discount < 1.0 else min(0.5, factor))
    assert solver.asked == solver.threshold == pytest.approx(wanted, rel=1e-12)
    monkeypatch.setattr(solver, "certificate", lambda *given: certificate._replace(bound=0.04))
    assert solver.certified(values, q).certificate.bound == 0.04


@pytest.mark.parametrize("unit", [1e-20, 1e-12, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_rewards_of_another_unit_have_the_same_policy(method, unit, make_arrays):
    P, r = make_arrays()
    found, scaled = (solve(MDP.from_arrays(P, size * r, 0.9), method) for size in (1.0, unit))
    np.testing.assert_array_equal(scaled.policy, found.policy)
    np.testing.assert_allclose(scaled.values, unit * found.values, rtol=1e-6)
    assert scaled.bound <= 1e-7 * unit
