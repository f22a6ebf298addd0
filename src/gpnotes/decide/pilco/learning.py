"""Learning a policy: fit the dynamics, improve the policy inside the model, try it, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.ascent import ascend, finite_or_none
from ...ground.params import flatten, flatten_gradient
from ...ground.xp import HostVector, array_namespace, epsilon
from ...model.contracts import Policy, require
from . import rollout_checks
from .dynamics import Dynamics, Transitions, fit_dynamics, validate_transitions
from .rollouts import rollout_and_pullback
from .tasks import Task
from .trigonometric_moments import _augment_and_pullback

__all__ = ["Improvement", "Trial", "improve_policy", "learn"]

_MOVED = 1e-3  # the share of its cost by which a search must lower it to have moved


class Improvement(NamedTuple):
    """A policy found by a search, with its cost and the course of the search.

    Parameters
    ----------
    policy : Policy
        The policy.
    cost : float
        The mean expected cost of a step under it.
    evaluations : int
        The number of rollouts.
    start_cost : float
        The cost that the search began with.
    converged : bool
        True if the search converged.
    message : str
        Why it has not: the iterations were used up, it was stuck, or there was no rollout to begin
        with.
    """

    policy: Policy
    cost: float
    evaluations: int
    start_cost: float
    converged: bool
    message: str

    @property
    def moved(self) -> bool:
        """True if the cost fell by more than a thousandth of itself."""
        return self.start_cost - self.cost > _MOVED * abs(self.start_cost)


def improve_policy(
    policy: Policy, dynamics: Dynamics, task: Task, *, max_steps: int = 50
) -> Improvement:
    """Lower the expected cost of a rollout by L-BFGS from the parameters of a policy.

    Parameters
    ----------
    policy : Policy
        Where to begin. The search finds a local minimum of the expected cost, nothing more: start
        from several policies.
    dynamics : Dynamics
        The model of a step.
    task : Task
        The start, the horizon and the cost.
    max_steps : int, default 50
        The most iterations.

    Returns
    -------
    Improvement
        The policy, its cost, and the course of the search.

    Notes
    -----
    The mean over the steps of [eq-pc-total], with the gradient [eq-pc-chain]. The search
    works in units of the first slope, so that it does not take a plateau, where the cost has
    saturated and all slopes are small, for a minimum. A rollout that fails, for parameters on the
    way, counts as worse than the start.

    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    _require_fit(_check.instance(task, "task", Task), dynamics, policy)
    max_steps = _check.whole(max_steps, "max_steps", 1)
    start_vector, rebuild = flatten(policy)

    def cost_at(vector: HostVector) -> tuple[float, HostVector]:
        return _mean_cost(rebuild(vector), dynamics, task)

    start_cost, gradient = finite_or_none(cost_at, start_vector) or (math.inf, start_vector)
    if start_cost == math.inf:
        message = "no rollout of the policy to begin with"
        return Improvement(policy, math.inf, 1, math.inf, False, message)
    # along a slope too small to change a digit of the cost the search would follow rounding
    min_slope = max(epsilon(task.mean) * abs(start_cost), np.finfo(np.float64).tiny)
    scale = max(float(np.max(np.abs(gradient))), min_slope)

    def decrease(vector: HostVector) -> tuple[float, HostVector]:
        """The decrease of the cost and its gradient, in units of the first slope."""
        value, gradient = cost_at(vector)
        return (start_cost - value) / scale, -gradient / scale

    no_bounds = np.tile([-math.inf, math.inf], (start_vector.size, 1))
    end = ascend(decrease, start_vector, no_bounds, max_steps)
    cost = start_cost - scale * end.value
    return Improvement(rebuild(end.vector), cost, 1 + end.evaluations, start_cost, *end[3:])


def _require_fit(task: Task, dynamics: Dynamics, policy: Policy) -> None:
    """Refuse a task that does not fit the policy and the dynamics."""
    rollout_checks.world(dynamics, policy, task.mean, task.covariance)
    if tuple(task.angles) != tuple(dynamics.angles):
        raise ValueError(f"task.angles must be those of dynamics; got {task.angles}")
    z, _ = _augment_and_pullback(task.mean, task.covariance, task.angles)
    rollout_checks.cost(task.cost, z, policy)


def _mean_cost(policy: Policy, dynamics: Dynamics, task: Task) -> tuple[float, HostVector]:
    rollout, pull = rollout_and_pullback(
        dynamics, policy, task.cost, task.mean, task.covariance, task.horizon
    )
    xp = array_namespace(rollout.costs)
    weights = xp.ones_like(rollout.costs) / task.horizon
    value = float(xp.sum(rollout.costs * weights))
    return value, flatten_gradient(policy, pull(weights)[0])


class Trial(NamedTuple):
    """One trial: the data that were learned from, the model, the policy, and its transitions.

    Parameters
    ----------
    number : int
        Its number, from 1.
    data : Transitions
        The data it learned from.
    dynamics : Dynamics
        The model of these data.
    improvement : Improvement
        The search whose policy was tried.
    observed : Transitions
        The transitions of the policy in this trial.
    attempts : tuple of Improvement
        The searches from all policies; the best result was tried.
    """

    number: int
    data: Transitions
    dynamics: Dynamics
    improvement: Improvement
    observed: Transitions
    attempts: tuple[Improvement, ...]

    @property
    def all_data(self) -> Transitions:
        """The data that were learned from, and then those that the trial observed."""
        xp = array_namespace(self.data.states)
        pairs = zip(self.data, self.observed, strict=True)
        return Transitions(*(xp.concat(pair) for pair in pairs))


def learn(
    task: Task,
    act: Callable[[Policy | None], Transitions],
    propose: Callable[[], Policy],
    *,
    num_trials: int,
    num_proposals: int = 1,
    max_steps: int = 50,
    max_retries: int = 4,
    fit: Callable[[Transitions, tuple[int, ...]], Dynamics] = fit_dynamics,
    data: Transitions | None = None,
    policy: Policy | None = None,
    after: Trial | None = None,
    callback: Callable[[Trial], bool | None] | None = None,
) -> Iterator[Trial]:
    """Learn a policy in trials: fit a model, improve the policy in it, and try it.

    In each trial the policy of the last one and some new ones are improved, and the one that the
    model expects to cost least is tried.

    Parameters
    ----------
    task : Task
        The task to learn.
    act : Callable
        ``act(policy)`` tries a policy in the world and returns `Transitions`; ``act(None)`` acts
        at random.
    propose : Callable
        ``propose()`` returns a new policy.
    num_trials : int
        The number of trials.
    num_proposals : int, default 1
        How many new policies are improved in each trial. On a cart with a pole, one helped no more
        than none, and three made it stand more often (``benchmarks/races/cartpole_races.py``).
    max_steps : int, default 50
        The most iterations of each search.
    max_retries : int, default 4
        Where no search has `moved`, the trial would be wasted: then as many more policies are
        proposed and improved, up to so many times.
    fit : Callable, default `fit_dynamics`
        ``fit(data, angles)`` makes the model, `Dynamics`.
    data : Transitions, optional
        The data that the first trial learns from; without them, `policy` is tried first, or an act
        at random if there is none.
    policy : Policy, optional
        A policy that the first trial improves too.
    after : Trial, optional
        The trial with which a run ended, given instead of `data` and `policy`: it goes on as if it
        had not ended. With the same functions, in the state that they were left in, the same
        trials come, bit for bit.
    callback : Callable, optional
        ``callback(trial)`` is called after each trial; if it returns True, that trial is the last.

    Returns
    -------
    iterator of Trial
        The trials, each when it is finished.

    Notes
    -----
    The result of each function is checked when it is called, and raises the same errors if it does
    not fit.

    Source: Deisenroth & Rasmussen (2011), algorithm 1.

    Examples
    --------
    A mass on a line, to be pushed to the origin, with a price on the force:

    >>> import numpy as np
    >>> from gpnotes import stream
    >>> from gpnotes.decide.pilco import LinearPolicy, QuadraticCost, SaturatingCost, StepCost, Task
    >>> def act(policy):
    ...     x, rows = np.asarray([1.0, 0.0]), []
    ...     for _ in range(10):
    ...         u = draws.normal(1) if policy is None else policy(x)
    ...         x_next = np.asarray([x[0] + 0.3 * x[1], x[1] + 0.3 * u[0]])
    ...         rows.append((x, u, x_next))
    ...         x = x_next
    ...     return Transitions(*(np.stack(part) for part in zip(*rows)))
    >>> draws = stream(0)
    >>> near = SaturatingCost(np.zeros(2), np.diag([4.0, 1.0]))
    >>> cost = near + 0.02 * StepCost(action=QuadraticCost(np.zeros(1), np.eye(1)))
    >>> task = Task(cost, np.asarray([1.0, 0.0]), 1e-4 * np.eye(2), horizon=10)
    >>> idle = LinearPolicy(np.zeros((1, 2)), np.zeros(1))
    >>> paid = [task.observed_costs(act(idle)).mean()]
    >>> for trial in learn(task, act, lambda: idle, num_trials=2, max_steps=20):
    ...     paid.append(task.observed_costs(trial.observed).mean())
    >>> bool(paid[0] > 0.8), bool(paid[-1] < 0.3)
    (True, True)
    """
    _check.instance(task, "task", Task)
    for name, function in (("act", act), ("propose", propose), ("fit", fit)):
        _check.function(function, name)
    if callback is not None:
        _check.function(callback, "callback")
    begin = _begin(task, data, policy, after)
    min_proposals = 1 if begin.policy is None else 0  # a trial needs one policy to improve
    loop = _Loop(
        task, act, propose, fit, callback,
        _check.whole(num_proposals, "num_proposals", min_proposals),
        _check.whole(max_steps, "max_steps", 1),
        _check.whole(max_retries, "max_retries"),
    )  # fmt: skip
    return _trials(loop, begin, _check.whole(num_trials, "num_trials", 1))


class _Begin(NamedTuple):
    """The beginning of a run: the number of its first trial, and the data and policy so far."""

    number: int
    data: Transitions | None
    policy: Policy | None


def _begin(
    task: Task, data: Transitions | None, policy: Policy | None, after: Trial | None
) -> _Begin:
    if after is not None:
        _check.instance(after, "after", Trial)
        if data is not None or policy is not None:
            raise ValueError("after must be given alone: it holds the data and the policy")
        data = _validate_data(task, after.all_data, "after.all_data")
        policy = require(after.improvement.policy, "after.improvement.policy", Policy)
        return _Begin(after.number + 1, data, policy)
    if data is not None:
        _validate_data(task, data, "data")
    return _Begin(1, data, None if policy is None else require(policy, "policy", Policy))


def _validate_data(task: Task, data: Transitions, name: str) -> Transitions:
    return validate_transitions(data, name, like=task.mean)


def _trials(loop: _Loop, begin: _Begin, num_trials: int) -> Iterator[Trial]:
    first, data, policy = begin
    data = loop.try_policy(policy) if data is None else data
    for number in range(first, first + num_trials):
        dynamics = loop.fit_model(data)
        attempts = loop.search(policy, dynamics)
        best = min(attempts, key=lambda attempt: attempt.cost)
        observed = loop.try_policy(best.policy, data)
        trial = Trial(number, data, dynamics, best, observed, attempts)
        stop = loop.wants_stop(trial)
        yield trial
        if stop:
            return
        data = trial.all_data
        policy = best.policy


class _Loop(NamedTuple):
    """The common part of all trials; results of the caller's functions are checked here."""

    task: Task
    act: Callable[[Policy | None], Transitions]
    propose: Callable[[], Policy]
    fit: Callable[[Transitions, tuple[int, ...]], Dynamics]
    callback: Callable[[Trial], bool | None] | None
    num_proposals: int
    max_steps: int
    max_retries: int

    def try_policy(self, policy: Policy | None, data: Transitions | None = None) -> Transitions:
        """Try a policy, and return its transitions, of the kind of `data`."""
        name = "act(None)" if policy is None else "act(policy)"
        observed = _validate_data(self.task, self.act(policy), name)
        # copies: the next path may be written into the same arrays
        observed = Transitions(*(array_namespace(a).asarray(a, copy=True) for a in observed))
        if data is not None:
            columns = data.actions.shape[1]
            _check.matrix(observed.actions, f"{name}.actions", columns=columns)
        return observed

    def fit_model(self, data: Transitions) -> Dynamics:
        """The model, if it is one of the states of the task."""
        angles = tuple(self.task.angles)
        dynamics = _check.instance(self.fit(data, angles), "fit(data, angles)", Dynamics)
        entries = len(dynamics.posteriors)
        D = self.task.mean.shape[0]
        if entries != D or tuple(dynamics.angles) != angles:
            wanted = f"dynamics of {D} entries with angles {angles}"
            got = f"{entries} with angles {tuple(dynamics.angles)}"
            raise ValueError(f"fit(data, angles) must be {wanted}; got {got}")
        return dynamics

    def search(self, policy: Policy | None, dynamics: Dynamics) -> tuple[Improvement, ...]:
        """The searches from the last policy, if there is one, and from new ones."""
        improve = partial(
            improve_policy, dynamics=dynamics, task=self.task, max_steps=self.max_steps
        )
        attempts = [] if policy is None else [improve(policy)]
        for _ in range(1 + self.max_retries):
            proposed = [self.propose() for _ in range(self.num_proposals)]
            attempts += [improve(require(policy, "propose()", Policy)) for policy in proposed]
            if any(attempt.moved for attempt in attempts):
                break
        return tuple(attempts)

    def wants_stop(self, trial: Trial) -> bool:
        """True if the caller, after hearing of a trial, wants no more of them."""
        answer = None if self.callback is None else self.callback(trial)
        return answer is not None and _check.flag(answer, "callback(trial)")
