"""The dynamics of a world as Gaussian processes: the change of a state in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from ...ground import check as _check
from ...ground.interrupts import raised_interrupts
from ...ground.showing import summary
from ...ground.xp import Array, Matrix, Vector, array_namespace, to_numpy
from ...infer import fitting
from ...infer.exact import GP, ExactPosterior
from ...infer.fit_checks import may_be_noise
from ...infer.verbs import condition
from ...model.kernels import RBF
from ..moments import Predictor, predictor
from .trigonometric_moments import augment_states

__all__ = ["Dynamics", "Transitions", "fit_dynamics"]


class Transitions(NamedTuple):
    """Observed steps of a world: states, actions taken in them, and next states.

    Parameters
    ----------
    states : Matrix, shape (n, D)
        The states before each step.
    actions : Matrix, shape (n, U)
        The actions taken in them.
    next_states : Matrix, shape (n, D)
        The states after each step.
    """

    states: Matrix
    actions: Matrix
    next_states: Matrix

    def __repr__(self) -> str:
        return summary(self)


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Model of one step of a state x (D,): independent GPs for each entry of the difference.

    Parameters
    ----------
    posteriors : tuple of D ExactPosterior
        Processes that predict ``x' − x`` from ``(x, sin x_a, cos x_a, u)``; ``K = D + 2A`` entries
        without the action u.
    angles : tuple of int, default ()
        The A entries of x that are angles.

    Raises
    ------
    TypeError
        If `posteriors` is no sequence of `ExactPosterior`, or `angles` are no whole numbers. When
        it is used, if a mean is not constant or a kernel is neither RBF nor a sum of RBF.

    Notes
    -----
    [eq-pc-dynamics].
    """

    posteriors: tuple[ExactPosterior, ...]
    angles: tuple[int, ...] = ()

    __repr__ = summary

    def __post_init__(self) -> None:
        if isinstance(self.posteriors, ExactPosterior) or not isinstance(self.posteriors, Sequence):
            got = type(self.posteriors).__name__
            raise TypeError(f"posteriors must be a sequence of ExactPosterior; got {got}")
        if not self.posteriors:
            raise ValueError("posteriors must hold one for each entry of a state; got none")
        for k, posterior in enumerate(self.posteriors):
            _check.instance(posterior, f"posteriors[{k}]", ExactPosterior)
        _check.entries(self.angles, "angles", len(self.posteriors), "a state")

    @cached_property
    def predictor(self) -> Predictor:
        """The GPs made ready for uncertain inputs; O(n³) once."""
        return predictor(self.posteriors)

    def __reduce__(self) -> tuple[type[Dynamics], tuple[object, ...]]:
        """Store the posteriors; the predictor is made anew."""
        return Dynamics, (self.posteriors, self.angles)

    def inputs(self, states: Matrix, actions: Matrix) -> Matrix:
        """Return the inputs ``(x, sin x_a, cos x_a, u)`` of the posteriors.

        Parameters
        ----------
        states : Matrix, shape (n, D)
            The states x.
        actions : Matrix, shape (n, U)
            The actions u.

        Returns
        -------
        Matrix, shape (n, K + U)
            A row for each state and its action.
        """
        _check.matrix(states, "states", columns=len(self.posteriors))
        _check.matrix(actions, "actions", rows=states.shape[0])
        _check.alike(actions, "actions", states, "states")
        z = augment_states(states, self.angles)
        return array_namespace(z).concat([z, actions], axis=1)


def fit_dynamics(
    data: Transitions,
    angles: tuple[int, ...] = (),
    *,
    max_steps: int = 150,
    fit: Callable[[Matrix, Vector], GP] | None = None,
) -> Dynamics:
    """Fit GPs to each entry of ``x' − x``, their hyperparameters at a maximum of the evidence.

    Parameters
    ----------
    data : Transitions
        At least two observed steps.
    angles : tuple of int, default ()
        The entries of a state that are angles.
    max_steps : int, default 150
        The most steps of each fit.
    fit : Callable, optional
        ``fit(X, y)`` takes the place of the fit: it returns the `GP` for inputs X (n, d) and one
        difference y (n,), with an RBF kernel or a sum of such; here restarts, priors and other
        bounds have their place. Its kernel sees the columns of X and no angle, which `kernel.on`
        says.

    Notes
    -----
    Inputs are the state with its angles replaced by their sines and cosines, and the action; one
    lengthscale each. Noise variances lie between 1e-6 and once the variance of the differences,
    and lengthscales between a tenth of the smallest and a hundred times the largest standard
    deviation of an input. O(n³) an evaluation; there are about `max_steps` of them.

    Source: Deisenroth & Rasmussen (2011), section 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import stream
    >>> states, actions = stream(0).normal((9, 1)), stream(1).normal((9, 1))
    >>> data = Transitions(states, actions, states + 0.5 * actions)
    >>> dynamics = fit_dynamics(data, fit=lambda X, y: GP(RBF(1.0, 2.0), 1e-4))
    >>> dynamics.posteriors[0].mean(np.asarray([[0.0, 1.0]])).round(1)
    array([0.5])
    """
    validate_transitions(data, least=2)
    max_steps = _check.whole(max_steps, "max_steps", 1)
    fit_gp = partial(_fit_gp, max_steps=max_steps) if fit is None else _check.function(fit, "fit")
    angles = _check.entries(angles, "angles", data.states.shape[1], "a state")
    xp = array_namespace(data.states)
    X = xp.concat([augment_states(data.states, angles), data.actions], axis=1)
    columns = [d for d in range(X.shape[1]) if d not in angles]
    kernel_inputs = xp.stack([X[:, d] for d in columns], axis=1)
    change = data.next_states - data.states
    _validate_variation(kernel_inputs, change)
    differences = [change[:, e] for e in range(change.shape[1])]
    gps = [_check.instance(fit_gp(kernel_inputs, y), "what fit returns", GP) for y in differences]
    if angles:  # the posterior has a column for an angle, as the state has; no kernel looks at it
        gps = [replace(gp, kernel=gp.kernel.on(*columns)) for gp in gps]
    pairs = zip(gps, differences, strict=True)
    return Dynamics(tuple(condition(gp, X, y) for gp, y in pairs), angles)


def validate_transitions(
    data: Transitions, name: str = "data", *, like: Array | None = None, least: int = 1
) -> Transitions:
    """`data` if states (n, D), actions (n, U) and next states (n, D) fit each other, n ≥ `least`.

    States are then like the vector `like` (D,), if it is given. `name` is their name in errors.
    """
    D = None if like is None else like.shape[0]
    states = f"{name}.states"
    n, D = _check.matrix(_check.instance(data, name, Transitions).states, states, columns=D).shape
    if n < least:
        rows = "one row" if least == 1 else "two rows"
        raise ValueError(f"{states} must have at least {rows}; got {tuple(data.states.shape)}")
    _check.matrix(data.actions, f"{name}.actions", rows=n)
    _check.matrix(data.next_states, f"{name}.next_states", rows=n, columns=D)
    if like is not None:
        _check.alike(data.states, states, like, "the mean of the task")
    for field in ("actions", "next_states"):
        _check.alike(getattr(data, field), f"{name}.{field}", data.states, states)
    return data


def _validate_variation(X: Matrix, change: Matrix) -> None:
    """Refuse inputs and differences that are the same in all transitions."""
    xp = array_namespace(X)
    X_sd, change_sd = xp.std(X, axis=0), xp.std(change, axis=0)
    if not (float(xp.min(X_sd)) > 0.0 and float(xp.min(change_sd)) > 0.0):
        got = f"inputs have deviations {to_numpy(X_sd)}, differences {to_numpy(change_sd)}"
        raise ValueError(f"data must vary in every state and action; {got}")


def _fit_gp(X: Matrix, y: Vector, max_steps: int) -> GP:
    xp = array_namespace(X)
    deviation, variance = xp.std(X, axis=0), float(xp.var(y))
    low, high = 0.1 * float(xp.min(deviation)), 100.0 * float(xp.max(deviation))
    bounds = {
        "kernel.lengthscale": (low, high),
        "noise_var": (1e-6 * variance, variance),
        "kernel.variance": (1e-2 * variance, 1e4 * variance),
    }
    start = GP(RBF(variance, deviation), 0.01 * variance)
    with raised_interrupts(), may_be_noise():
        return fitting.fit(start, X, y, bounds=bounds, max_steps=max_steps).model
