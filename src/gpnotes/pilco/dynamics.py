"""The dynamics of a world as Gaussian processes: what one step does to a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .. import _check
from .._xp import Array, array_namespace, as_array, to_numpy
from ..exact import GP, Posterior, condition
from ..fitting import fit
from ..kernels import RBF
from ..moments import Predictor, predictor
from .policies import BLIND

__all__ = ["Dynamics", "Transitions", "fit_dynamics"]


class Transitions(NamedTuple):
    """What was observed: states (n, D), actions taken in them (n, U), and what followed (n, D)."""

    states: Array
    actions: Array
    next_states: Array


@dataclass(frozen=True, eq=False)
class Dynamics:
    """What one step does to a state x (D,): independent GPs for each entry of the difference.

    `posteriors` are D processes that predict ``x' − x`` from ``(x, sin x_a, cos x_a, u)``, where
    the entries `angles` of x are angles; ``K = D + 2A`` entries without the action u.
    :eq:`eq-pc-dynamics`. Raises `TypeError` or `ValueError` for what are not posteriors and
    angles, and what `moments.predictor` raises, when it is used.
    """

    posteriors: tuple[Posterior, ...]
    angles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.posteriors, Posterior) or not isinstance(self.posteriors, Sequence):
            got = type(self.posteriors).__name__
            raise TypeError(f"posteriors must be a sequence of Posterior; got {got}")
        if not self.posteriors:
            raise ValueError("posteriors must hold one for each entry of a state; got none")
        for k, posterior in enumerate(self.posteriors):
            _check.instance(posterior, f"posteriors[{k}]", Posterior)
        _check.entries(self.angles, "angles", len(self.posteriors), "a state")

    @cached_property
    def predictor(self) -> Predictor:
        """The same, ready for uncertain inputs; O(n³) once."""
        return predictor(self.posteriors)

    def inputs(self, states: Array, actions: Array) -> Array:
        """``(x, sin x_a, cos x_a, u)``, (n, K + U), for states (n, D) and actions (n, U).

        Raises `ValueError` or `TypeError` for arrays that do not fit each other.
        """
        _check.matrix(states, "states", columns=len(self.posteriors))
        _check.matrix(actions, "actions", rows=states.shape[0])
        _check.alike(actions, "actions", states, "states")
        return model_inputs(states, actions, self.angles)


def model_inputs(states: Array, actions: Array, angles: Sequence[int]) -> Array:
    """``(x, sin x_a, cos x_a, u)``, (n, K + U), of states and actions that have been checked."""
    xp = array_namespace(states)
    turns = [f(states[:, a])[:, None] for f in (xp.sin, xp.cos) for a in angles]
    return xp.concat([states, *turns, actions], axis=1)


def fit_dynamics(data: Transitions, angles: tuple[int, ...] = (), *, steps: int = 150) -> Dynamics:
    """GPs for each entry of ``x' − x``, their hyperparameters at a maximum of the evidence.

    Inputs are the state with its angles replaced by their sines and cosines, and the action; one
    lengthscale each. Noise variances lie between 1e-6 and once the variance of the differences, and
    lengthscales between a tenth of the smallest and a hundred times the largest standard deviation
    of an input. O(n³) an evaluation. Raises `ValueError` for arrays that do not fit each other, and
    for a state or an action that never changes. Source: Deisenroth & Rasmussen (2011), section 2.1.
    """
    admit_transitions(data)
    steps = _check.whole(steps, "steps", 1)
    D = data.states.shape[1]
    angles = _check.entries(angles, "angles", D, "a state")
    X = model_inputs(data.states, data.actions, angles)
    columns = [d for d in range(X.shape[1]) if d not in angles]
    visible = array_namespace(X).stack([X[:, d] for d in columns], axis=1)
    change = data.next_states - data.states
    fitted = [_fitted(visible, change[:, e], steps) for e in range(D)]
    wide = [_widened(gp, columns, X) for gp in fitted]
    posteriors = (condition(gp, X, change[:, e]) for e, gp in enumerate(wide))
    return Dynamics(tuple(posteriors), angles)


def admit_transitions(data: Transitions, *, least: int = 2) -> Transitions:
    """`data` if states (n, D), actions (n, U) and next states (n, D) fit, with `least` rows."""
    n, D = _check.matrix(_check.instance(data, "data", Transitions).states, "states").shape
    if n < least:
        wanted = "two rows" if least == 2 else "one row"
        raise ValueError(f"states must have at least {wanted}; got {data.states.shape}")
    _check.matrix(data.actions, "actions", rows=n)
    _check.matrix(data.next_states, "next_states", rows=n, columns=D)
    for name in ("actions", "next_states"):
        _check.alike(getattr(data, name), name, data.states, "states")
    return data


def _fitted(X: Array, y: Array, steps: int) -> GP:
    xp = array_namespace(X)
    deviation, variance = xp.std(X, axis=0), float(xp.var(y))
    if not (float(xp.min(deviation)) > 0.0 and variance > 0.0):
        what = f"inputs have deviations {to_numpy(deviation)}, a difference {variance**0.5:.3g}"
        raise ValueError(f"data must vary in every state and action; {what}")
    low, high = 0.1 * float(xp.min(deviation)), 100.0 * float(xp.max(deviation))
    bounds = {
        "kernel.lengthscale": (low, high),
        "noise_var": (1e-6 * variance, variance),
        "kernel.variance": (1e-2 * variance, 1e4 * variance),
    }
    start = GP(RBF(variance, deviation), 0.01 * variance)
    return fit(start, X, y, bounds=bounds, steps=steps).gp


def _widened(gp: GP, columns: list[int], X: Array) -> GP:
    """The same process on all columns of X, blind to those that it was not fitted on."""
    lengths = [BLIND] * X.shape[1]
    for d, length in zip(columns, to_numpy(gp.kernel.lengthscale), strict=True):
        lengths[d] = float(length)
    return GP(RBF(gp.kernel.variance, as_array(lengths, X)), gp.noise_var)
