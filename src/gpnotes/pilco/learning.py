"""Learning a policy: fit the dynamics, improve the policy inside the model, try it, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import _check, _xp
from .._xp import Array, array_namespace
from ..linalg import FactorisationError
from ..params import flatten, flatten_gradient
from . import _admit, _match
from .composed import by_step
from .dynamics import Dynamics, Transitions, admit_transitions, fit_dynamics, model_inputs
from .rollouts import rollout_and_pullback
from .sines import _augment

__all__ = ["Improvement", "Round", "Task", "improve", "learn"]

_MOVED = 1e-3  # the share of its cost by which a search must lower it to have moved
_WALL = 1.0  # what a rollout that fails costs, in units in which the start is 0


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned: ``x ~ N(mean, covariance)`` at the start, `steps` steps, their cost.

    `cost` is one of the augmented state ``(x, sin x_a, cos x_a)`` that a step leads to, or a
    `StepCost`, to which the action counts too; `angles` are the entries of x that are angles.
    Raises `ValueError` or `TypeError` for what does not fit.
    """

    cost: Any
    mean: Array
    covariance: Array
    steps: int
    angles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _admit.state(self.mean, self.covariance, names=("mean", "covariance"))
        angles = _check.entries(self.angles, "angles", self.mean.shape[0], "mean")
        _match.cost(self.cost, _augment(self.mean, self.covariance, angles)[0])
        _check.whole(self.steps, "steps", 1)
        _xp.keep_copies(self, "mean", "covariance")

    def observed_costs(self, data: Transitions) -> Array:
        """What each of n observed steps did cost, (n,), to be compared with what was expected.

        Raises `ValueError` or `TypeError` for transitions that do not fit the task.
        """
        states, actions, next_states = admit_transitions(data, least=1)
        _check.matrix(states, "states", columns=self.mean.shape[0])
        _check.alike(states, "states", self.mean, "mean")
        z = model_inputs(next_states, actions[:, :0], self.angles)
        cost = by_step(self.cost)
        costs = [cost(z[i, :], actions[i, :]) for i in range(z.shape[0])]
        return _xp.as_array(costs, self.mean)


class Improvement(NamedTuple):
    """A policy, the mean expected cost of a step under it, and what the search for it was like.

    `evaluations` counts rollouts, `start_cost` is the cost that the search began with. `status` is
    0 where the search converged, 1 where the iterations were used up, 2 where the search was stuck,
    3 where there was no rollout to begin with; `message` says the same in words.
    """

    policy: Any
    cost: float
    evaluations: int
    start_cost: float
    status: int
    message: str

    @property
    def moved(self) -> bool:
        """Whether the cost fell by more than a thousandth of what it was."""
        return self.start_cost - self.cost > _MOVED * abs(self.start_cost)


def improve(policy: Any, dynamics: Dynamics, task: Task, *, iterations: int = 50) -> Improvement:
    """Lower the expected cost of a rollout by L-BFGS from the parameters of `policy`.

    The mean over the steps of :eq:`eq-pc-total`, with the gradient :eq:`eq-pc-chain`. It finds a
    local minimum of what the model expects, nothing more: start from several policies. The search
    works in units of the first slope, so that it does not take a plateau, where the cost has
    saturated and all slopes are small, for a minimum. A rollout that fails, for parameters on the
    way, counts as worse than the start. Raises `ValueError` or `TypeError` for a policy, dynamics
    and a task that do not fit each other.
    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    _match.task(dynamics, policy, _check.instance(task, "task", Task))
    iterations = _check.whole(iterations, "iterations", 1)
    vector, rebuild = flatten(policy)
    start, gradient = _expected(rebuild, vector, dynamics, task)
    if not math.isfinite(start):
        return Improvement(
            policy, math.inf, 1, math.inf, 3, "no rollout of the policy to begin with"
        )
    scale = max(float(np.max(np.abs(gradient))), np.finfo(np.float64).tiny)

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The fall of the cost and its gradient, in units of the first slope."""
        value, gradient = _expected(rebuild, vector, dynamics, task)
        if not math.isfinite(value):
            return _WALL, gradient
        return (value - start) / scale, gradient / scale

    search = _xp.minimise(loss, vector, None, iterations)
    cost = start + scale * float(search.fun)
    ended = int(search.status), str(search.message)
    return Improvement(rebuild(search.x), cost, 1 + int(search.nfev), start, *ended)


def _expected(
    rebuild: Callable, vector: np.ndarray, dynamics: Dynamics, task: Task
) -> tuple[float, np.ndarray]:
    """The mean expected cost of a step, and its gradient; infinite where a rollout fails."""
    with np.errstate(all="ignore"):  # what overflows on the way is caught below
        try:
            value, gradient = _mean_cost(rebuild(vector), dynamics, task)
        except (FactorisationError, ValueError, np.linalg.LinAlgError):
            return math.inf, np.zeros_like(vector)
    if not (math.isfinite(value) and np.isfinite(gradient).all()):
        return math.inf, np.zeros_like(vector)
    return value, gradient


def _mean_cost(policy: Any, dynamics: Dynamics, task: Task) -> tuple[float, np.ndarray]:
    start = task.mean, task.covariance, task.steps
    rollout, pull = rollout_and_pullback(dynamics, policy, task.cost, *start)
    xp = array_namespace(rollout.costs)
    shares = xp.ones_like(rollout.costs) / task.steps
    value = float(xp.sum(rollout.costs * shares))
    return value, flatten_gradient(policy, pull(shares)[0])


class Round(NamedTuple):
    """One round: the data it learned from, the model, the policy, and what the policy then did.

    `attempts` are the searches from all policies of the round; `improvement` is the one of them
    whose policy was tried, and `observed` what the trial brought.
    """

    data: Transitions
    dynamics: Dynamics
    improvement: Improvement
    observed: Transitions
    attempts: tuple[Improvement, ...]


def learn(
    task: Task,
    act: Callable[[Any], Transitions],
    propose: Callable[[], Any],
    *,
    rounds: int,
    proposals: int = 1,
    iterations: int = 50,
    retries: int = 4,
) -> Iterator[Round]:
    """Rounds of fitting, improving and trying, after one trial without a policy.

    ``act(policy)`` tries a policy in the world, ``act(None)`` acts at random. In each round the
    policy of the last one and as many new ones from ``propose()`` as `proposals` says are improved,
    and the one that the model expects to cost least is tried. Where none of them has `moved`, a
    trial would be wasted: then as many more are proposed and improved, up to `retries` times.
    Raises `ValueError` or `TypeError` for what is not a task, a function or a whole number.
    Source: Deisenroth & Rasmussen (2011), algorithm 1.
    """
    _check.instance(task, "task", Task)
    for name, value in (("act", act), ("propose", propose)):
        _admit.function(value, name)
    counts = {"rounds": rounds, "proposals": proposals, "iterations": iterations}
    counts = {name: _check.whole(value, name, 1) for name, value in counts.items()}
    return _rounds(task, act, propose, **counts, retries=_check.whole(retries, "retries"))


def _rounds(
    task: Task,
    act: Callable[[Any], Transitions],
    propose: Callable[[], Any],
    *,
    rounds: int,
    proposals: int,
    iterations: int,
    retries: int,
) -> Iterator[Round]:
    data, policies = act(None), []
    for _ in range(rounds):
        dynamics = fit_dynamics(data, task.angles)
        search = partial(improve, dynamics=dynamics, task=task, iterations=iterations)
        attempts = [search(policy) for policy in policies]
        for _ in range(1 + retries):
            attempts += [search(propose()) for _ in range(proposals)]
            if any(attempt.moved for attempt in attempts):
                break
        best = min(attempts, key=lambda attempt: attempt.cost)
        observed = act(best.policy)
        yield Round(data, dynamics, best, observed, tuple(attempts))
        data, policies = _joined(data, observed), [best.policy]


def _joined(data: Transitions, more: Transitions) -> Transitions:
    xp = array_namespace(data.states)
    return Transitions(*(xp.concat(pair) for pair in zip(data, more, strict=True)))
