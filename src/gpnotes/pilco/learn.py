"""Learning a policy: fit the dynamics, improve the policy inside the model, try it, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import _check, _xp
from .._xp import Array, array_namespace, as_array, to_numpy
from ..exact import GP, condition
from ..fitting import fit
from ..kernels import RBF
from ..linalg import FactorisationError
from ..params import flatten, flatten_gradient
from . import _admit
from .cost import SaturatingCost
from .dynamics import Dynamics, augmented
from .policies import BLIND
from .rollout import rollout_and_pullback

__all__ = [
    "Improved",
    "Task",
    "Transitions",
    "Trial",
    "fit_dynamics",
    "improve",
    "learn",
    "parameters",
]

_MOVED = 1e-3  # the share of its cost by which a search must lower it to have moved
_WALL = 1.0  # what a rollout that fails costs, in units in which the start is 0


class Transitions(NamedTuple):
    """What was seen: states (n, D), the actions taken in them (n, U), and what came next (n, D)."""

    states: Array
    actions: Array
    nexts: Array


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned: ``x ~ N(mean, covariance)`` at the start, `steps` steps, their cost.

    `cost` is one of the augmented state ``(x, sin x_a, cos x_a)``; `angles` are the entries of x
    that are angles. Raises `ValueError` for what does not fit.
    """

    cost: SaturatingCost
    mean: Array
    covariance: Array
    steps: int
    angles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _admit.state(self.mean, self.covariance, names=("mean", "covariance"))
        angles = _check.entries(self.angles, "angles", self.mean.shape[0], "mean")
        _admit.goal(self.cost, self.mean.shape[0] + 2 * len(angles), self.mean)
        _check.whole(self.steps, "steps", 1)
        _xp.keep_copies(self, "mean", "covariance")


def fit_dynamics(data: Transitions, angles: tuple[int, ...] = (), *, steps: int = 150) -> Dynamics:
    """GPs for each entry of ``x' − x``, their hyperparameters at a maximum of the evidence.

    Inputs are the state with its angles replaced by their sines and cosines, and the action; one
    lengthscale each. Noise variances lie between 1e-6 and once the variance of the differences, and
    lengthscales between a tenth and a hundred times the spread of the inputs. O(n³) an evaluation.
    Raises `ValueError` for arrays that do not fit each other, and for a state or an action that
    never changes. Source: Deisenroth & Rasmussen (2011), section 2.1.
    """
    _admit.seen(_check.instance(data, "data", Transitions))
    steps, D = _check.whole(steps, "steps", 1), data.states.shape[1]
    angles = _check.entries(angles, "angles", D, "a state")
    X = augmented(data.states, data.actions, angles)
    seen = [d for d in range(X.shape[1]) if d not in angles]
    visible = array_namespace(X).stack([X[:, d] for d in seen], axis=1)
    change = data.nexts - data.states
    fitted = [_fitted(visible, change[:, e], steps) for e in range(D)]
    wide = [_widened(gp, seen, X) for gp in fitted]
    posteriors = (condition(gp, X, change[:, e]) for e, gp in enumerate(wide))
    return Dynamics(tuple(posteriors), angles)


def _fitted(X: Array, y: Array, steps: int) -> GP:
    xp = array_namespace(X)
    spread, variance = xp.std(X, axis=0), float(xp.var(y))
    if not (float(xp.min(spread)) > 0.0 and variance > 0.0):
        what = f"inputs have spreads {to_numpy(spread)}, a difference {variance**0.5:.3g}"
        raise ValueError(f"data must vary in every state and action; {what}")
    low, high = 0.1 * float(xp.min(spread)), 100.0 * float(xp.max(spread))
    bounds = {
        "kernel.lengthscale": (low, high),
        "noise_var": (1e-6 * variance, variance),
        "kernel.variance": (1e-2 * variance, 1e4 * variance),
    }
    start = GP(RBF(variance, spread), 0.01 * variance)
    return fit(start, X, y, bounds=bounds, steps=steps).gp


def _widened(gp: GP, seen: list[int], X: Array) -> GP:
    """The same process on all columns of X, blind to those that it was not fitted on."""
    lengths = [BLIND] * X.shape[1]
    for d, length in zip(seen, to_numpy(gp.kernel.lengthscale), strict=True):
        lengths[d] = float(length)
    return GP(RBF(gp.kernel.variance, as_array(lengths, X)), gp.noise_var)


class Improved(NamedTuple):
    """A policy, the mean expected cost of a step under it, and what the search for it was like.

    `evaluations` counts rollouts, `start` is the cost that the search began with. `status` is 0
    where the cost lies still, 1 where the iterations were used up, 2 where the search was stuck,
    3 where there was no rollout to begin with; `message` says the same in words.
    """

    policy: Any
    cost: float
    evaluations: int
    start: float
    status: int
    message: str

    @property
    def moved(self) -> bool:
        """Whether the cost fell by more than a thousandth of what it was."""
        return self.start - self.cost > _MOVED * abs(self.start)


def improve(policy: Any, dynamics: Dynamics, task: Task, *, iterations: int = 50) -> Improved:
    """Lower the expected cost of a rollout by L-BFGS from the parameters of `policy`.

    The mean over the steps of :eq:`eq-pc-total`, with the gradient :eq:`eq-pc-chain`. It finds a
    local minimum of what the model expects, nothing more: start from several policies. The search
    works in units of the first slope, so that it does not take a plateau, where the cost has
    saturated and all slopes are small, for a minimum. A rollout that fails, for parameters on the
    way, counts as worse than the start. Raises `ValueError` or `TypeError` for a policy, dynamics
    and a task that do not fit each other.
    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    _admit.task(dynamics, policy, _check.instance(task, "task", Task))
    iterations = _check.whole(iterations, "iterations", 1)
    vector, rebuild = parameters(policy)
    start, slope = _expected(rebuild, vector, dynamics, task)
    if not math.isfinite(start):
        return Improved(policy, math.inf, 1, math.inf, 3, "no rollout of the policy to begin with")
    scale = max(float(np.max(np.abs(slope))), np.finfo(np.float64).tiny)

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The fall of the cost and its gradient, in units of the first slope."""
        value, slope = _expected(rebuild, vector, dynamics, task)
        return ((value - start) / scale, slope / scale) if math.isfinite(value) else (_WALL, slope)

    found = _xp.minimise(loss, vector, None, iterations)
    cost = start + scale * float(found.fun)
    stopped = int(found.status), str(found.message)
    return Improved(rebuild(found.x), cost, 1 + int(found.nfev), start, *stopped)


def _expected(
    rebuild: Callable, vector: np.ndarray, dynamics: Dynamics, task: Task
) -> tuple[float, np.ndarray]:
    """The mean expected cost of a step, and its gradient; infinite where a rollout fails."""
    with np.errstate(all="ignore"):  # what overflows on the way is looked at below
        try:
            value, slope = _mean_cost(rebuild(vector), dynamics, task)
        except (FactorisationError, ValueError, np.linalg.LinAlgError):
            value, slope = math.inf, vector
    if not (math.isfinite(value) and np.isfinite(slope).all()):
        return math.inf, np.zeros_like(vector)
    return value, slope


def _mean_cost(policy: Any, dynamics: Dynamics, task: Task) -> tuple[float, np.ndarray]:
    start = task.mean, task.covariance, task.steps
    found, pull = rollout_and_pullback(dynamics, policy, task.cost, *start)
    shares = array_namespace(found.costs).ones_like(found.costs) / task.steps
    value = float(array_namespace(found.costs).sum(found.costs * shares))
    return value, flatten_gradient(policy, pull(shares)[0])


def parameters(policy: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """The parameters as one vector, positive ones by their logarithms, and the way back."""
    vector, rebuild = flatten(_admit.moving(policy))
    return vector, lambda other: rebuild(_check.vector(other, "vector", size=vector.shape[0]))


class Trial(NamedTuple):
    """One round: the data it learned from, the model, the policy, and what the policy then did.

    `attempts` are all policies of the round; `improved` is the one of them that was tried.
    """

    data: Transitions
    dynamics: Dynamics
    improved: Improved
    seen: Transitions
    attempts: tuple[Improved, ...]


def learn(
    task: Task,
    act: Callable[[Any], Transitions],
    propose: Callable[[], Any],
    *,
    trials: int,
    fresh: int = 1,
    iterations: int = 50,
    again: int = 4,
) -> Iterator[Trial]:
    """Rounds of fitting, improving and trying, after one trial without a policy.

    ``act(policy)`` tries a policy in the world, ``act(None)`` acts at random. In each round the
    policy of the last one and `fresh` new ones from ``propose()`` are improved, and the one that
    the model expects to cost least is tried. Where none of them has `moved`, a trial would be
    wasted: then `fresh` more are improved, up to `again` times. Raises `ValueError` or `TypeError`
    for a task, functions and whole numbers that are none.
    Source: Deisenroth & Rasmussen (2011), algorithm 1.
    """
    _check.instance(task, "task", Task)
    for name, value in (("act", act), ("propose", propose)):
        _admit.function(value, name)
    counts = {"trials": trials, "fresh": fresh, "iterations": iterations}
    counts = {name: _check.whole(value, name, 1) for name, value in counts.items()}
    return _rounds(task, act, propose, **counts, again=_check.whole(again, "again"))


def _rounds(
    task: Task,
    act: Callable[[Any], Transitions],
    propose: Callable[[], Any],
    *,
    trials: int,
    fresh: int,
    iterations: int,
    again: int,
) -> Iterator[Trial]:
    data, policies = act(None), []
    for _ in range(trials):
        dynamics = fit_dynamics(data, task.angles)
        search = partial(improve, dynamics=dynamics, task=task, iterations=iterations)
        attempts = [search(policy) for policy in policies]
        for _ in range(1 + again):
            attempts += [search(propose()) for _ in range(fresh)]
            if any(attempt.moved for attempt in attempts):
                break
        best = min(attempts, key=lambda attempt: attempt.cost)
        seen = act(best.policy)
        yield Trial(data, dynamics, best, seen, tuple(attempts))
        data, policies = _joined(data, seen), [best.policy]


def _joined(data: Transitions, more: Transitions) -> Transitions:
    xp = array_namespace(data.states)
    return Transitions(*(xp.concat(pair) for pair in zip(data, more, strict=True)))
