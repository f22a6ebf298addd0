"""Fitting the dynamics, improving a policy in them, and the loop of trials."""

import dataclasses
import importlib.util
import math
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import GP, RBF, stream
from gpnotes.decide.moments import predict
from gpnotes.decide.pilco import (
    Improvement,
    LinearPolicy,
    RBFPolicy,
    SaturatingCost,
    SquashedPolicy,
    Task,
    Transitions,
    fit_dynamics,
    improve_policy,
    initial_policy,
    learn,
    rollout,
    rollout_and_pullback,
)
from gpnotes.decide.pilco.pendulum import TORQUE, simulate, swing_up, upright
from gpnotes.ground.ascent import Ascent
from gpnotes.ground.linalg import FactorisationError
from gpnotes.ground.params import flatten
from gpnotes.ground.xp import to_numpy

pytest.importorskip("gymnasium")


def cart(states, actions):
    """A mass on a line, pushed: (position, velocity) after a fifth of a second."""
    position, velocity = states[:, 0], states[:, 1] + 0.2 * actions[:, 0]
    return np.stack([position + 0.2 * velocity, velocity], axis=1)


def pushed(rng, n=25):
    states, actions = rng.normal(size=(n, 2)), rng.uniform(-2.0, 2.0, (n, 1))
    return Transitions(states, actions, cart(states, actions))


@pytest.fixture
def task():
    cost = SaturatingCost(np.zeros(2), np.diag([4.0, 0.5]))
    return Task(cost, np.asarray([1.0, 0.0]), 0.01 * np.eye(2), 12)


def test_the_fitted_dynamics_predict(rng):
    data = pushed(rng)
    dynamics = fit_dynamics(data)
    x, u = np.asarray([0.4, -0.3]), np.asarray([0.8])
    prediction = predict(dynamics.predictor, np.concatenate([x, u]), np.zeros((3, 3)))
    wanted = cart(x[None, :], u[None, :])[0] - x
    np.testing.assert_allclose(prediction.mean, wanted, atol=0.01)


def test_fitted_dynamics_live_where_the_data_do(space, rng):
    data = Transitions(*(space.asarray(a) for a in pushed(rng, 8)))
    dynamics = fit_dynamics(data, (0,), max_steps=3)
    model = dynamics.predictor
    assert all(space.holds(a) for a in (model.X, model.alpha, model.half))
    assert model.X.shape == (8, 5)
    assert model.outputs == 2


def test_the_model_does_not_see_an_angle_itself(rng):
    """A whole turn changes nothing."""
    data = pushed(rng)
    dynamics = fit_dynamics(data, (0,), max_steps=5)
    z = [np.asarray([a, 0.1, np.sin(0.3), np.cos(0.3), 0.5]) for a in (0.3, 0.3 + 2.0 * np.pi)]
    here, turned = (predict(dynamics.predictor, one, np.zeros((5, 5))).mean for one in z)
    np.testing.assert_allclose(here, turned, rtol=1e-8)


def test_improving_lowers_the_expected_cost(rng, task):
    dynamics = fit_dynamics(pushed(rng))
    policy = SquashedPolicy(LinearPolicy(0.1 * np.ones((1, 2)), np.zeros(1)), TORQUE)
    improvement = improve_policy(policy, dynamics, task, max_steps=15)

    def expected(one):
        costs = rollout(dynamics, one, task.cost, task.mean, task.covariance, task.horizon).costs
        return costs.mean()

    np.testing.assert_allclose(improvement.cost, expected(improvement.policy), rtol=1e-12)
    assert improvement.cost < 0.75 * expected(policy)
    assert improvement.policy.max_action == TORQUE
    assert improvement.evaluations >= 15


def test_an_improved_policy_lives_where_the_old_one_did(space, rng):
    seen = pushed(rng, 15)
    noisy = seen.next_states + 0.1 * rng.normal(size=(15, 2))  # enough for float32
    data = Transitions(*(space.asarray(a) for a in (*seen[:2], noisy)))
    task = swing_up(space.asarray([0.0]), horizon=3)
    policy = initial_policy(task, TORQUE, scale=4.0, num_basis_functions=3, rng=stream(0))
    improvement = improve_policy(policy, fit_dynamics(data, (0,), max_steps=10), task, max_steps=2)
    assert all(
        space.holds(getattr(improvement.policy.inner, name)) for name in ("centres", "weights")
    )
    assert 0.0 < improvement.cost < 1.0
    assert improvement.evaluations >= 1


def test_the_search_is_told_the_slope_of_what_it_lowers(rng, task, monkeypatch):
    """By all parameters, the lengthscales' logarithms among them."""
    asked, dynamics = [], fit_dynamics(pushed(rng))

    def ascended(rise, start, limits, steps):
        asked.append((lambda v: tuple(-part for part in rise(v)), start))
        return Ascent(start, rise(start)[0], 1, True, "")

    monkeypatch.setattr(sys.modules["gpnotes.decide.pilco.learning"], "ascend", ascended)
    bumps = RBFPolicy(
        rng.normal(size=(3, 2)), rng.normal(size=(3, 1)), np.asarray([0.7, 2.0]), (0, 1), 2
    )
    improve_policy(SquashedPolicy(bumps, TORQUE), dynamics, task)
    loss, start = asked[0]
    step = 1e-5 * np.eye(start.size)
    slopes = [(loss(start + h)[0] - loss(start - h)[0]) / 2e-5 for h in step]
    np.testing.assert_allclose(loss(start)[1], slopes, rtol=1e-4, atol=1e-5)
    assert loss(start)[0] == 0.0
    assert abs(loss(start)[1]).max() == 1.0


def test_parameters_there_and_back(space):
    task = swing_up(space.asarray([0.0]))
    policy = initial_policy(task, TORQUE, scale=4.0, num_basis_functions=4, rng=stream(0))
    vector, rebuild = flatten(policy)
    assert vector.shape == (4 * 3 + 4 + 3,)
    again = rebuild(vector)
    assert space.holds(again.inner.centres)
    tolerance = 1e-14 if space.double else 1e-6
    for name in ("centres", "weights", "lengthscale"):
        pair = (to_numpy(getattr(one.inner, name)) for one in (again, policy))
        np.testing.assert_allclose(*pair, rtol=tolerance)


def test_a_wall_where_a_rollout_fails(rng, task):
    """An infinite cost, not an exception, ends the search there."""
    dynamics = fit_dynamics(pushed(rng))
    policy = LinearPolicy(np.full((1, 2), 1e200), np.zeros(1))
    improvement = improve_policy(policy, dynamics, task, max_steps=2)
    assert (improvement.cost, improvement.evaluations) == (np.inf, 1)
    assert (improvement.converged, improvement.moved) == (False, False)
    assert improvement.message == "no rollout of the policy to begin with"
    assert improvement.policy is policy


@pytest.mark.parametrize("weight", [60.0, 30.0, 100.0])
def test_a_search_that_begins_on_a_plateau_goes_on(rng, task, weight):
    """All slopes are below 1e-6 where the cost has saturated: that is no minimum."""
    far = SaturatingCost(np.zeros(2), np.diag([weight, 0.0]))
    task = dataclasses.replace(task, cost=far, covariance=1e-4 * np.eye(2))
    policy = SquashedPolicy(LinearPolicy(0.01 * np.ones((1, 2)), np.zeros(1)), TORQUE)
    improvement = improve_policy(policy, fit_dynamics(pushed(rng)), task, max_steps=40)
    assert improvement.start_cost > 1.0 - 1e-6
    assert improvement.cost < 0.6
    assert improvement.moved
    assert improvement.evaluations > 10


def test_a_search_says_why_it_stopped(rng, task):
    dynamics = fit_dynamics(pushed(rng))
    policy = SquashedPolicy(LinearPolicy(0.1 * np.ones((1, 2)), np.zeros(1)), TORQUE)
    short = improve_policy(policy, dynamics, task, max_steps=1)
    assert not short.converged
    assert "LIMIT" in short.message
    flat = improve_policy(
        SquashedPolicy(LinearPolicy(np.zeros((1, 2)), np.zeros(1)), 1e-300), dynamics, task
    )
    assert not flat.moved
    assert flat.message
    assert flat.cost == pytest.approx(flat.start_cost, rel=1e-12)
    assert flat.evaluations == 2  # rounding is not searched


def test_a_wall_on_the_way_does_not_end_the_search(rng, task, monkeypatch):
    """A rollout that fails is worse than the start, and the search turns back from it."""
    dynamics, module = fit_dynamics(pushed(rng)), sys.modules["gpnotes.decide.pilco.learning"]
    policy = SquashedPolicy(LinearPolicy(0.1 * np.ones((1, 2)), np.zeros(1)), TORQUE)
    plain, calls = module._mean_cost, []

    def walled(policy, *world):
        calls.append(policy)
        if len(calls) == 3:
            raise FactorisationError("no rollout")
        return plain(policy, *world)

    monkeypatch.setattr(module, "_mean_cost", walled)
    improvement = improve_policy(policy, dynamics, task, max_steps=15)
    assert improvement.cost < 0.75 * improvement.start_cost
    assert improvement.evaluations == len(calls)


@pytest.fixture
def world(task):
    """A function that makes the cart anew, as `act` and `propose` with draws of their own."""

    def make(seed=3):
        draws = stream(seed)

        def act(policy):
            x, seen = task.mean[None, :], []
            for _ in range(task.horizon):
                u = np.clip(policy(x[0]), -2, 2) if policy else 4.0 * draws.uniform(1) - 2.0
                seen.append((x, u[None, :], cart(x, u[None, :])))
                x = seen[-1][2]
            return Transitions(*(np.concatenate(part) for part in zip(*seen, strict=True)))

        def propose():
            return SquashedPolicy(LinearPolicy(0.3 * draws.normal((1, 2)), np.zeros(1)), 2.0)

        return act, propose

    return make


def test_the_loop_learns_to_stop_a_cart(world, task):
    trials = list(learn(task, *world(), num_trials=3, max_steps=20))
    assert [len(one.data.states) for one in trials] == [12, 24, 36]
    assert [one.number for one in trials] == [1, 2, 3]
    last = trials[-1].observed.next_states[-1]
    assert task.cost(last) < 0.05


def same(one, other):
    """Whether two trials are the same to the last bit."""
    for a, b in ((one.data, other.data), (one.observed, other.observed)):
        for field in Transitions._fields:
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    assert (one.number, len(one.attempts)) == (other.number, len(other.attempts))
    for a, b in zip(one.attempts, other.attempts, strict=True):
        assert a[1:] == b[1:]
        np.testing.assert_array_equal(*(flatten(attempt.policy)[0] for attempt in (a, b)))


def test_a_run_that_stopped_goes_on_as_if_it_had_not(world, task):
    """With its functions as they were left, and a trial that was written down and read again."""
    settings = {"max_steps": 3, "num_proposals": 2}
    whole = list(learn(task, *world(), num_trials=3, **settings))
    functions = world()
    first = list(learn(task, *functions, num_trials=1, **settings))
    after = pickle.loads(pickle.dumps(first[-1]))
    rest = list(learn(task, *functions, num_trials=2, after=after, **settings))
    assert [one.number for one in first + rest] == [1, 2, 3]
    for one, other in zip(whole, first + rest, strict=True):
        same(one, other)


def test_a_path_may_be_written_into_the_same_arrays_again(world, task):
    arrays, (act, propose) = [], world()

    def into_buffers(policy):
        path = act(policy)
        arrays[:] = arrays or [np.empty_like(a) for a in path]
        for array, a in zip(arrays, path, strict=True):
            array[:] = a
        return Transitions(*arrays)

    wanted = learn(task, *world(), num_trials=1, max_steps=1)
    found = learn(task, into_buffers, propose, num_trials=1, max_steps=1)
    for one, other in zip(next(found).all_data, next(wanted).all_data, strict=True):
        np.testing.assert_array_equal(one, other)


def test_data_and_a_policy_to_begin_with_are_taken(world, task):
    """No trial at random, and the policy is improved before what is proposed."""
    act, propose = world()
    data, tried = act(None), []
    policy = propose()

    def watched(policy):
        tried.append(policy)
        return act(policy)

    (only,) = learn(task, watched, propose, num_trials=1, data=data, policy=policy, max_steps=3)
    np.testing.assert_array_equal(only.data.states, data.states)
    assert tried == [only.improvement.policy]
    assert len(only.attempts) == 2
    dynamics = fit_dynamics(data)
    assert only.attempts[0].cost == improve_policy(policy, dynamics, task, max_steps=3).cost


def test_without_data_the_policy_to_begin_with_is_tried(world, task):
    act, propose = world()
    policy, tried = propose(), []

    def watched(policy):
        tried.append(policy)
        return act(policy)

    run = learn(task, watched, propose, num_trials=1, policy=policy, num_proposals=0, max_steps=2)
    (only,) = run
    assert tried == [policy, only.improvement.policy]
    assert len(only.attempts) == 1


def test_the_fitting_function_is_the_callers(world, task):
    """Of the model as a whole, or of one process in it."""
    act, propose = world()
    asked = []

    def fit(X, y):
        asked.append(X.shape)
        return GP(RBF(float(np.var(y)), 2.0 * np.std(X, axis=0)), 1e-3 * float(np.var(y)))

    mine = partial(fit_dynamics, fit=fit)
    (only,) = learn(task, act, propose, num_trials=1, fit=mine, max_steps=2)
    assert asked == [(12, 3), (12, 3)]
    for e, posterior in enumerate(only.dynamics.posteriors):
        change = only.data.next_states[:, e] - only.data.states[:, e]
        assert posterior.gp.noise_var == 1e-3 * np.var(change)


def test_a_callback_is_told_of_every_trial_and_may_end_the_run(world, task):
    told = []
    settings = {"num_trials": 3, "max_steps": 2}
    trials = list(learn(task, *world(), callback=told.append, **settings))
    assert [one.number for one in told] == [1, 2, 3]
    assert all(one is other for one, other in zip(told, trials, strict=True))
    enough = list(learn(task, *world(), callback=lambda one: one.number == 2, **settings))
    assert [one.number for one in enough] == [1, 2]
    same(enough[-1], trials[1])


def test_what_the_callers_functions_return_is_looked_at(world, task, rng):
    act, propose = world()
    data = act(None)

    def run(**wrong):
        given = {"act": act, "propose": propose, "num_trials": 1, "max_steps": 1, "data": data}
        given |= wrong
        return next(learn(task, given.pop("act"), given.pop("propose"), **given))

    with pytest.raises(TypeError, match=r"fit\(data, angles\) must be a gpnotes Dynamics; got"):
        run(fit=lambda data, angles: None)
    turned = fit_dynamics(data, (0,), max_steps=1)
    with pytest.raises(ValueError, match=r"fit\(data, angles\) must be dynamics of 2 entries"):
        run(fit=lambda data, angles: turned)
    with pytest.raises(TypeError, match=r"act\(None\) must be a gpnotes Transitions; got NoneType"):
        run(act=lambda policy: None, data=None)
    more = Transitions(*(np.concatenate([part, part], axis=1) for part in data))
    with pytest.raises(ValueError, match=r"act\(None\)\.states must have shape \(n, 2\); got"):
        run(act=lambda policy: more, data=None)
    wider = data._replace(actions=more.actions)
    with pytest.raises(ValueError, match=r"act\(policy\)\.actions must have shape \(n, 1\); got"):
        run(act=lambda policy: wider)
    with pytest.raises(TypeError, match=r"propose\(\) must be a function of the state .*; int"):
        run(propose=lambda: 3)
    with pytest.raises(TypeError, match=r"callback\(trial\) must be True or False; got 'stop'"):
        run(callback=lambda one: "stop")


def test_data_and_policies_that_do_not_fit_are_refused_before_the_run(world, task):
    act, propose = world()
    data = act(None)
    begin = partial(learn, task, act, propose, num_trials=1)
    wide = Transitions(*(np.concatenate([part, part], axis=1) for part in data))
    with pytest.raises(ValueError, match=r"data\.states must have shape \(n, 2\); got \(12, 4\)"):
        begin(data=wide)
    with pytest.raises(TypeError, match=r"data\.states must have the dtype of the mean of the"):
        begin(data=Transitions(*(part.astype(np.float32) for part in data)))
    with pytest.raises(TypeError, match="policy must be a function of the state"):
        begin(policy=abs)
    with pytest.raises(TypeError, match="after must be a gpnotes Trial; got Transitions"):
        begin(after=data)
    (done,) = begin(max_steps=1)
    with pytest.raises(ValueError, match="after must be given alone"):
        begin(after=done, data=data)
    with pytest.raises(ValueError, match="num_proposals must be a whole number from 1; got 0"):
        begin(num_proposals=0)


@pytest.mark.parametrize("returned", [None, 3.0])
def test_a_fit_of_one_process_returns_one(rng, returned):
    with pytest.raises(TypeError, match="what fit returns must be a gpnotes GP; got"):
        fit_dynamics(pushed(rng), fit=lambda X, y: returned)


def test_a_fit_sees_no_angle_and_neither_does_its_kernel(rng):
    shapes = []

    def fit(X, y):
        shapes.append(X.shape)
        return GP(RBF(1.0, 2.0) + RBF(0.5, np.full(X.shape[1], 3.0)), 0.01)

    data = pushed(rng)
    dynamics = fit_dynamics(data, (0,), fit=fit)
    assert shapes == [(25, 4), (25, 4)]
    assert dynamics.posteriors[0].gp.kernel.dims == (1, 2, 3, 4)
    X = dynamics.inputs(data.states, data.actions)
    elsewhere = X + np.eye(5)[0] * rng.normal(size=(25, 1))
    posterior = dynamics.posteriors[1]
    np.testing.assert_array_equal(posterior.mean(elsewhere), posterior.mean(X))
    known = predict(dynamics.predictor, X[3], np.zeros((5, 5)))
    np.testing.assert_allclose(known.mean[1], posterior.mean(X[3:4])[0], rtol=1e-8)


def numbered(n):
    """Policies that can be told apart."""
    return [LinearPolicy(float(k) * np.ones((1, 2)), np.zeros(1)) for k in range(n)]


def test_the_loop_tries_what_the_model_expects_to_cost_least(rng, task, monkeypatch):
    """And goes on from there, with a fresh policy beside it."""
    module = sys.modules["gpnotes.decide.pilco.learning"]
    costs = iter([0.9, 0.4, 0.7, 0.6, 0.5, 0.8])
    a, b, c, d, *_ = policies = numbered(6)
    asked, tried, proposals, data = [], [], iter(policies), pushed(rng)
    model = fit_dynamics(data, max_steps=1)

    def improved(policy, dynamics, task, *, max_steps):
        asked.append(policy)
        assert dynamics is model
        return Improvement(policy, next(costs), max_steps, 1.0, 0, "")

    monkeypatch.setattr(module, "improve_policy", improved)
    trials = learn(
        task,
        lambda policy: tried.append(policy) or data,
        lambda: next(proposals),
        num_trials=2,
        num_proposals=2,
        fit=lambda data, angles: model,
    )
    trials = list(trials)
    assert asked == [a, b, b, c, d]
    assert tried == [None, b, d]
    assert [one.improvement.cost for one in trials] == [0.4, 0.5]
    assert [len(one.attempts) for one in trials] == [2, 3]


@pytest.mark.parametrize(("max_retries", "proposed"), [(0, 2), (1, 4), (2, 6), (5, 6)])
def test_where_nothing_moved_the_loop_proposes_again(rng, task, monkeypatch, max_retries, proposed):
    """Up to `max_retries` times, and no further than to the first trial in which one moved."""
    module, policies = sys.modules["gpnotes.decide.pilco.learning"], numbered(12)

    def improved(policy, dynamics, task, *, max_steps):
        return Improvement(policy, 0.5 if policy is policies[4] else 0.9995, 1, 1.0, 0, "")

    monkeypatch.setattr(module, "improve_policy", improved)
    data, proposals = pushed(rng), iter(policies)
    act, propose = (lambda policy: data), (lambda: next(proposals))
    fit = partial(fit_dynamics, max_steps=1)
    (only,) = learn(
        task, act, propose, num_trials=1, num_proposals=2, max_retries=max_retries, fit=fit
    )
    assert [attempt.policy for attempt in only.attempts] == policies[:proposed]
    assert only.improvement.policy is policies[4 if proposed == 6 else 0]


@pytest.mark.parametrize("start", [1.0, 30.0, 1e-4])
@pytest.mark.parametrize(("share", "moved"), [(0.998, True), (0.9995, False), (1.0, False)])
def test_a_thousandth_of_the_cost_is_a_move(start, share, moved):
    assert Improvement(None, share * start, 1, start, 0, "").moved is moved


def test_the_pendulum_is_gymnasium_s():
    seen = simulate(lambda z: np.asarray([9.0]), (np.pi, 0.0), 4)
    assert seen.states.shape == (4, 2)
    assert (seen.actions == TORQUE).all()
    # θ̈ = 15 sin θ + 3 u for the mass, length and gravity of the simulator
    theta, velocity = np.pi, 0.0
    for _ in range(3):
        velocity += 0.05 * (15.0 * np.sin(theta) + 3.0 * TORQUE)
        theta += 0.05 * velocity
    np.testing.assert_allclose(seen.next_states[0], [theta, velocity], rtol=1e-5)
    np.testing.assert_array_equal(seen.next_states[:-1], seen.states[1:])


def test_a_policy_may_look_ahead_in_a_pendulum_of_its_own():
    """What it does there changes nothing here."""

    def ahead(z):
        simulate(lambda _: np.asarray([-2.0]), z[:2], 3)
        return np.asarray([1.5])

    alone, nested = (
        simulate(act, (np.pi, 0.5), 15) for act in (lambda z: np.asarray([1.5]), ahead)
    )
    np.testing.assert_array_equal(nested.next_states, alone.next_states)


def test_pendulums_in_threads_do_not_meet():
    """Each waits for the others before it acts, so that all steps are taken in turns."""
    starts, barrier = [(0.5 * k, 0.1 * k) for k in range(4)], threading.Barrier(4, timeout=60.0)

    def in_step(z):
        barrier.wait()
        return np.asarray([1.0])

    alone = [simulate(lambda z: np.asarray([1.0]), start, 10).next_states for start in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda start: simulate(in_step, start, 10).next_states, starts))
    np.testing.assert_array_equal(together, alone)


def test_angles_count_on_beyond_a_turn():
    seen = simulate(lambda z: np.asarray([2.0]), (0.1, 7.0), 20)
    assert abs(np.diff(seen.next_states[:, 0])).max() < 8.0 * 0.15 + 1e-6
    assert seen.next_states[-1, 0] > 2.0 * np.pi


def test_a_initial_policy_is_one_for_any_task(space):
    """As many actions as limits, a network of all that a state shows, whatever is an angle."""
    cost = SaturatingCost(space.asarray(np.zeros(7)), space.asarray(np.eye(7)))
    mean = space.asarray([0.5, 1.0, -2.0])
    task = Task(cost, mean, space.asarray(0.1 * np.eye(3)), 5, angles=(0, 2))
    limit, scale = space.asarray([2.0, 3.0]), space.asarray([0.5])
    policy = initial_policy(task, limit, scale=scale, num_basis_functions=200, rng=stream(1))
    inner = policy.inner
    assert (inner.inputs, inner.size) == ((1, 3, 4, 5, 6), 7)
    assert (inner.centres.shape, inner.weights.shape) == ((200, 5), (200, 2))
    assert space.holds(inner.centres)
    centres = to_numpy(inner.centres)
    np.testing.assert_allclose(centres[:, 1:3] ** 2 + centres[:, 3:] ** 2, 1.0, rtol=1e-5)
    assert abs(centres[:, 0].mean() - 1.0) < 0.15
    assert 0.4 < centres[:, 0].std() < 0.6
    np.testing.assert_array_equal(to_numpy(inner.lengthscale), [0.5, 1.0, 1.0, 1.0, 1.0])
    assert policy(space.asarray(np.ones(7))).shape == (2,)


def test_a_initial_policy_of_a_task_without_angles_or_with_nothing_else(task):
    plain = initial_policy(
        task, 1.0, scale=np.asarray([1.0, 3.0]), num_basis_functions=4, rng=stream(0)
    )
    np.testing.assert_array_equal(plain.inner.lengthscale, [1.0, 3.0])
    assert plain.inner.inputs == (0, 1)
    cost = SaturatingCost(np.zeros(3), np.eye(3))
    turning = Task(cost, np.zeros(1), np.eye(1), 3, angles=(0,))
    assert initial_policy(turning, 1.0, num_basis_functions=4, rng=stream(0)).inner.inputs == (1, 2)
    with pytest.raises(ValueError, match=r"scale must have shape \(2,\); got \(3,\)"):
        initial_policy(task, 1.0, scale=np.ones(3), rng=stream(0))
    with pytest.raises(ValueError, match="scale must be positive and finite; got -1"):
        initial_policy(task, 1.0, scale=-1.0, rng=stream(0))


def test_what_counts_as_upright():
    still = np.stack([np.full(12, 2.0 * np.pi - 0.2), np.zeros(12)], axis=1)
    assert upright(still)
    still[-3, 0] += 0.6
    assert not upright(still)


def test_the_limits_of_upright_are_exact():
    still = np.zeros((10, 2))
    assert upright(still, last=10, within=0.3)
    with pytest.raises(ValueError, match="states must have at least 11 rows; got 10"):
        upright(still, last=11)
    still[0, 0] = 0.3
    assert not upright(still, last=10, within=0.3)
    assert upright(still, last=9, within=0.3)


def test_the_task_and_the_initial_policy_are_what_they_say():
    task = swing_up(np.zeros(1))
    np.testing.assert_array_equal(task.mean, [np.pi, 0.0])
    np.testing.assert_array_equal(task.covariance, 0.01 * np.eye(2))
    assert (task.horizon, task.angles) == (35, (0,))
    policy = initial_policy(task, TORQUE, scale=4.0, num_basis_functions=5, rng=stream(4))
    draws = stream(4)
    turns, speeds = 2.0 * np.pi * draws.uniform(5), 4.0 * draws.normal(5)
    wanted = np.stack([speeds, np.sin(turns), np.cos(turns)], axis=1)
    np.testing.assert_allclose(policy.inner.centres, wanted, rtol=1e-15)
    np.testing.assert_array_equal(policy.inner.lengthscale, [4.0, 1.0, 1.0])
    assert policy.max_action == TORQUE


def test_the_search_for_hyperparameters_stays_within_its_bounds(rng, monkeypatch):
    """Noise from 1e-6 to once the variance of the differences, lengths by the inputs' spread."""
    asked, module, data = [], sys.modules["gpnotes.decide.pilco.dynamics"], pushed(rng)

    def fitted(start, X, y, *, bounds, max_steps):
        asked.append((start, X, y, bounds, max_steps))
        return SimpleNamespace(model=start)

    monkeypatch.setattr(module.fitting, "fit", fitted)
    fit_dynamics(data, max_steps=7)
    assert len(asked) == 2
    for start, X, y, bounds, steps in asked:
        spread, variance = X.std(axis=0), y.var()
        assert bounds["noise_var"] == (1e-6 * variance, variance)
        assert bounds["kernel.variance"] == (1e-2 * variance, 1e4 * variance)
        assert bounds["kernel.lengthscale"] == (0.1 * spread.min(), 100.0 * spread.max())
        assert (start.noise_var, start.kernel.variance) == (0.01 * variance, variance)
        np.testing.assert_array_equal(start.kernel.lengthscale, spread)
        assert steps == 7


def test_two_transitions_are_enough_and_one_is_not(rng):
    two = Transitions(*(part[:2] for part in pushed(rng)))
    assert len(fit_dynamics(two, max_steps=1).posteriors) == 2
    with pytest.raises(ValueError, match=r"states must have at least two rows; got \(1, 2\)"):
        fit_dynamics(Transitions(*(part[:1] for part in two)), max_steps=1)


def test_the_swing_up_costs_least_upright(space):
    task = swing_up(space.asarray([0.0]))
    z = space.asarray([6.0, 0.0, 0.0, 1.0])
    assert task.cost(z) == 0.0
    assert space.holds(task.mean)


def test_the_swing_up_costs_by_the_distance_of_the_tip_in_units_of_the_width():
    task, angle = swing_up(np.zeros(1), width=0.5), 0.7
    squared = math.sin(angle) ** 2 + (1.0 - math.cos(angle)) ** 2
    z = np.array([angle, 3.0, math.sin(angle), math.cos(angle)])
    assert task.cost(z) == pytest.approx(1.0 - math.exp(-0.5 * squared / 0.5**2), rel=1e-12)


def test_the_gradient_of_a_rollout_in_fitted_dynamics(rng):
    """In one direction, in the world that the chapter works in."""
    like, draws = np.zeros(1), stream(5)
    task = swing_up(like, horizon=6)
    data = simulate(lambda z: 4.0 * draws.uniform(1) - 2.0, (3.0, 0.2), 30)
    dynamics = fit_dynamics(data, task.angles, max_steps=20)
    vector, rebuild = flatten(
        initial_policy(task, TORQUE, scale=4.0, num_basis_functions=5, rng=draws)
    )
    start = task.cost, task.mean, task.covariance, task.horizon

    def total(x):
        return rollout(dynamics, rebuild(x), *start).costs.sum()

    policy_bar = rollout_and_pullback(dynamics, rebuild(vector), *start)[1](np.ones(6))[0]
    direction = rng.normal(size=vector.size)
    plain = rebuild(vector).inner
    along = np.concatenate(
        [
            policy_bar.inner.centres.ravel(),
            policy_bar.inner.weights.ravel(),
            policy_bar.inner.lengthscale * plain.lengthscale,
        ]
    )
    h = 1e-4
    slope = (total(vector + h * direction) - total(vector - h * direction)) / (2.0 * h)
    np.testing.assert_allclose(along @ direction, slope, rtol=1e-4)


def test_the_benchmark_writes_its_tables(root, tmp_path, monkeypatch, capsys):
    path = root / "benchmarks" / "races" / "pilco_control.py"
    spec = importlib.util.spec_from_file_location("it", path)
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench, "TESTS", 2)
    monkeypatch.setattr(sys, "argv", ["it", "--seeds", "1", "--trials", "1", "--iterations", "1"])
    bench.main()
    rows, seen, policies = (
        np.loadtxt(tmp_path / f"pilco-control{name}.csv", delimiter=",", skiprows=1, ndmin=2)
        for name in ("", "-transitions", "-policies")
    )
    assert rows.shape == (1, 8)
    assert rows[0, 2] == 2 * 35 * 0.15
    assert seen.shape == (70, 6)
    assert policies.shape == (1, 123)
    assert capsys.readouterr().out.startswith("0 1 10.5")


def test_what_does_not_fit_is_refused(rng, task):
    data = pushed(rng)
    with pytest.raises(ValueError, match=r"actions must have shape \(25, d\)"):
        fit_dynamics(Transitions(data.states, data.actions[:5], data.next_states))
    still = Transitions(data.states, 0.0 * data.actions, data.next_states)
    with pytest.raises(ValueError, match="data must vary in every state and action"):
        fit_dynamics(still)
    with pytest.raises(ValueError, match=r"act\(z\) must be finite"):
        simulate(lambda z: np.asarray([np.nan]), (np.pi, 0.0), 2)
    with pytest.raises(ValueError, match="num_trials must be a whole number from 1; got 0"):
        learn(task, lambda _: data, lambda: None, num_trials=0)
    with pytest.raises(ValueError, match="states must have at least two rows"):
        fit_dynamics(Transitions(*(part[:0] for part in data)))
    with pytest.raises(ValueError, match="angles must be entries 0 to 1 of a state"):
        fit_dynamics(data, (-1,))


def test_swings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"start must have shape \(2,\); got \(3,\)"):
        simulate(lambda z: np.zeros(1), np.zeros(3), 2)
    with pytest.raises(ValueError, match=r"act\(z\) must have shape \(1,\); got \(2,\)"):
        simulate(lambda z: np.zeros(2), (np.pi, 0.0), 2)
    with pytest.raises(ValueError, match="states must have at least 10 rows; got 3"):
        upright(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="width must be positive"):
        swing_up(np.zeros(1), width=-1.0)


def test_a_policy_a_model_and_a_task_that_do_not_fit_are_no_wall(rng, task):
    """They would only look infinitely bad."""
    dynamics, policy = (
        fit_dynamics(pushed(rng), max_steps=2),
        LinearPolicy(np.ones((1, 2)), np.ones(1)),
    )
    with pytest.raises(ValueError, match=r"z must have shape \(3,\); got \(2,\)"):
        improve_policy(LinearPolicy(np.ones((1, 3)), np.ones(1)), dynamics, task)
    wide = SaturatingCost(np.zeros(4), np.eye(4))
    with pytest.raises(ValueError, match=r"task\.angles must be those of dynamics"):
        improve_policy(policy, dynamics, dataclasses.replace(task, cost=wide, angles=(0,)))
    with pytest.raises(ValueError, match=r"cost must be one of a state .* \(2,\): m must have"):
        dataclasses.replace(task, cost=wide)
    with pytest.raises(ValueError, match="max_steps must be a whole number from 1; got 0"):
        improve_policy(policy, dynamics, task, max_steps=0)
    with pytest.raises(ValueError, match="horizon must be a whole number from 1; got 0"):
        dataclasses.replace(task, horizon=0)
    with pytest.raises(ValueError, match=r"vector must have shape \(3,\); got \(2,\)"):
        flatten(policy)[1](np.ones(2))
