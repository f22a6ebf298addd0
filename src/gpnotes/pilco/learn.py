"""Learning a policy: fit the dynamics, improve the policy inside the model, try it, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _xp
from .._xp import Array, array_namespace, as_array, to_numpy
from ..exact import GP, condition
from ..fit import fit
from ..kernels import RBF
from ..linalg import FactorisationError
from ..params import flatten, flatten_gradient
from . import _admit
from .cost import SaturatingCost
from .policies import BLIND
from .rollout import Dynamics, rollout_and_pullback

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
        _admit.state(self.mean, self.covariance)
        _admit.entries(self.angles, "angles", self.mean.shape[0], "mean")
        _admit.count(self.steps, "steps")


def fit_dynamics(data: Transitions, angles: tuple[int, ...] = (), *, steps: int = 150) -> Dynamics:
    """GPs for each entry of ``x' − x``, their hyperparameters at a maximum of the evidence.

    Inputs are the state with its angles replaced by their sines and cosines, and the action; one
    lengthscale each. Noise variances lie between 1e-6 and once the variance of the differences, and
    lengthscales between a tenth and a hundred times the spread of the inputs. O(n³) an evaluation.
    Raises `ValueError` for arrays that do not fit each other, and for a state or an action that
    never changes. Source: Deisenroth & Rasmussen (2011), section 2.1.
    """
    _admit.seen(data)
    steps, D = _admit.count(steps, "steps"), data.states.shape[1]
    angles = _admit.entries(angles, "angles", D, "a state")
    X = Dynamics((), angles).inputs(data.states, data.actions)
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
        "kernel.signal_var": (1e-2 * variance, 1e4 * variance),
    }
    start = GP(RBF(variance, spread), 0.01 * variance)
    return fit(start, X, y, bounds=bounds, steps=steps).gp


def _widened(gp: GP, seen: list[int], X: Array) -> GP:
    """The same process on all columns of X, blind to those that it was not fitted on."""
    lengths = [BLIND] * X.shape[1]
    for d, length in zip(seen, to_numpy(gp.kernel.lengthscale), strict=True):
        lengths[d] = float(length)
    return GP(RBF(gp.kernel.signal_var, as_array(lengths, X)), gp.noise_var)


class Improved(NamedTuple):
    """A policy, the mean expected cost of a step under it, and how many rollouts it took."""

    policy: Any
    cost: float
    evaluations: int


def improve(policy: Any, dynamics: Dynamics, task: Task, *, iterations: int = 50) -> Improved:
    """Lower the expected cost of a rollout by L-BFGS from the parameters of `policy`.

    The mean over the steps of :eq:`eq-pc-total`, with the gradient :eq:`eq-pc-chain`. It finds a
    local minimum of what the model expects, nothing more: start from several policies. Parameters
    for which a rollout fails count as infinitely bad. Raises `ValueError` for a policy, dynamics
    and a task that do not fit each other.
    Source: Deisenroth & Rasmussen (2011), section 2.3.
    """
    _admit.task(dynamics, policy, task)
    iterations = _admit.count(iterations, "iterations")
    start, rebuild = parameters(policy)

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean expected cost and its gradient; a wall where there is no rollout."""
        with np.errstate(all="ignore"):  # what overflows on the way is looked at below
            value, slope = _expected(rebuild, vector, dynamics, task)
        if not (math.isfinite(value) and np.isfinite(slope).all()):
            return math.inf, np.zeros_like(vector)
        return value, slope

    found = _xp.minimise(loss, start, None, iterations)
    return Improved(rebuild(found.x), float(found.fun), int(found.nfev))


def _expected(
    rebuild: Callable, vector: np.ndarray, dynamics: Dynamics, task: Task
) -> tuple[float, np.ndarray]:
    """The mean expected cost of a step, and its gradient; infinite where a rollout fails."""
    try:
        policy = rebuild(vector)
        start = task.mean, task.covariance, task.steps
        found, pull = rollout_and_pullback(dynamics, policy, task.cost, *start)
        shares = array_namespace(found.costs).ones_like(found.costs) / task.steps
        value = float(array_namespace(found.costs).sum(found.costs * shares))
        return value, flatten_gradient(policy, pull(shares)[0])
    except (FactorisationError, ValueError, np.linalg.LinAlgError):
        return math.inf, np.zeros_like(vector)


def parameters(policy: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """The parameters as one vector, positive ones by their logarithms, and the way back."""
    return flatten(policy)


class Trial(NamedTuple):
    """One round: the data it learned from, the model, the policy, and what the policy then did."""

    data: Transitions
    dynamics: Dynamics
    improved: Improved
    seen: Transitions


def learn(
    task: Task,
    act: Callable[[Any], Transitions],
    propose: Callable[[], Any],
    *,
    trials: int,
    fresh: int = 1,
    iterations: int = 50,
) -> Iterator[Trial]:
    """Rounds of fitting, improving and trying, after one trial without a policy.

    ``act(policy)`` tries a policy in the world, ``act(None)`` acts at random. In each round the
    policy of the last one and `fresh` new ones from ``propose()`` are improved, and the one that
    the model expects to cost least is tried.
    Source: Deisenroth & Rasmussen (2011), algorithm 1.
    """
    trials, fresh = _admit.count(trials, "trials"), _admit.count(fresh, "fresh")
    data, policies = act(None), []
    for _ in range(trials):
        dynamics = fit_dynamics(data, task.angles)
        policies += [propose() for _ in range(fresh)]
        found = [improve(one, dynamics, task, iterations=iterations) for one in policies]
        best = min(found, key=lambda one: one.cost)
        seen = act(best.policy)
        yield Trial(data, dynamics, best, seen)
        data, policies = _joined(data, seen), [best.policy]


def _joined(data: Transitions, more: Transitions) -> Transitions:
    xp = array_namespace(data.states)
    return Transitions(*(xp.concat(pair) for pair in zip(data, more, strict=True)))
