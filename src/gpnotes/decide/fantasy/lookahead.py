"""A fantasy that is carried through a rollout: one rollout for each value it may take.

Over several steps the observation changes the later inputs too, so there is no closed form. A rule
gives a few values that the observation may have; the model learns each of them, and rolls out anew.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from ...ground import check as _check
from ...ground.quadrature import gauss_hermite
from ...ground.showing import summary
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace, as_array
from ...infer.exact import ExactPosterior
from ...model.contracts import Cost, Policy
from ..pilco import Dynamics, Rollout, StepCost, rollout

__all__ = ["LookAhead", "look_ahead"]

_MAX_ANSWERS = 100_000  # answers: at some hundredths of a second each, half an hour


class LookAhead(NamedTuple):
    """Rollouts of a model that has seen one more transition, one for each of q answers.

    Parameters
    ----------
    answers : Matrix, shape (q, D)
        The differences of the state that may be seen.
    weights : Vector, shape (q,)
        How probable they are; together one.
    means : Array, shape (q, T + 1, D)
        The means of the states, from the start.
    covariances : Array, shape (q, T + 1, D, D)
        Their covariances.
    costs : Matrix, shape (q, T)
        The expected cost after each step.
    """

    answers: Matrix
    weights: Vector
    means: Array
    covariances: Array
    costs: Matrix

    def __repr__(self) -> str:
        return summary(self)

    @property
    def mean(self) -> Matrix:
        """The means of the states, averaged over the answers, (T + 1, D)."""
        xp = array_namespace(self.means)
        return xp.sum(self.weights[:, None, None] * self.means, axis=0)

    @property
    def left(self) -> Stack:
        """The covariances of the states that the answer leaves on average, (T + 1, D, D)."""
        xp = array_namespace(self.means)
        return xp.sum(self.weights[:, None, None, None] * self.covariances, axis=0)

    @property
    def moved(self) -> Stack:
        """The covariances, over the answers, of the means of the states, (T + 1, D, D)."""
        xp = array_namespace(self.means)
        deviations = self.means - self.mean[None, ...]
        weights = self.weights[:, None, None, None]
        return xp.sum(weights * deviations[..., :, None] * deviations[..., None, :], axis=0)


def look_ahead(
    dynamics: Dynamics,
    policy: Policy,
    cost: Cost | StepCost,
    m: Vector,
    S: Matrix,
    horizon: int,
    x_hat: Vector,
    *,
    nodes: int = 3,
) -> LookAhead:
    """Return the rollouts that would follow one more transition, for all that it may show.

    Parameters
    ----------
    dynamics : Dynamics
        The model of a step.
    policy : Policy
        The policy that chooses the actions.
    cost : Cost or StepCost
        A cost, as `rollout` takes it.
    m : Vector, shape (D,)
        Mean of the state at the start.
    S : Matrix, shape (D, D)
        Its covariance.
    horizon : int
        The number T of steps.
    x_hat : Vector, shape (K + U,)
        The input of the fantasy, a row of ``dynamics.inputs(states, actions)``.
    nodes : int, default 3
        How many values each entry of the answer has; there are ``nodes**D`` answers, at most
        100 000.

    Returns
    -------
    LookAhead
        Answers, their weights, and a rollout for each.

    Notes
    -----
    An answer has the distribution that the model predicts for a reading at `x_hat`, noise
    included; outputs are independent. If rollouts were exact, `left` and `moved` would add up to
    the covariances without the fantasy, [eq-pi-total-by-fantasy]. They do so for one step. For
    several, a rollout draws the function anew in each, and together they are mostly more.
    It takes ``nodes**D`` rollouts, and D times as many inverses of K_y; each posterior is extended
    `nodes` times.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.pilco import LinearPolicy, QuadraticCost
    >>> inputs = np.asarray([[0.0, -1.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    >>> gp = GP(RBF(0.1, 2.0), 1e-2)
    >>> dynamics = Dynamics((condition(gp, inputs, 0.5 * inputs[:, 1]),))
    >>> world = dynamics, LinearPolicy(-np.ones((1, 1)), np.zeros(1))
    >>> task = QuadraticCost(np.zeros(1), np.eye(1)), np.ones(1), np.zeros((1, 1)), 3
    >>> ahead = look_ahead(*world, *task, np.asarray([1.0, -1.0]))
    >>> ahead.answers.shape, ahead.left[:, 0, 0].round(3)
    ((3, 1), array([0.   , 0.016, 0.022, 0.023]))
    """
    _check.instance(dynamics, "dynamics", Dynamics)
    model = dynamics.predictor
    _check.alike(_check.vector(x_hat, "x_hat", size=model.X.shape[1]), "x_hat", model.X, "X")
    _check.squarable(x_hat, "x_hat")
    nodes = _validate_nodes(nodes, len(dynamics.posteriors))
    outputs = [_answers(posterior, x_hat, nodes) for posterior in dynamics.posteriors]
    answers, weights, rollouts = [], [], []
    for chosen in itertools.product(*outputs):
        answers.append([output.answer for output in chosen])
        weights.append(math.prod(output.weight for output in chosen))
        extended = Dynamics(tuple(output.posterior for output in chosen), dynamics.angles)
        rollouts.append(rollout(extended, policy, cost, m, S, horizon))
    return LookAhead(as_array(answers, x_hat), as_array(weights, x_hat), *_stack(rollouts))


def _validate_nodes(nodes: int, D: int) -> int:
    """`nodes`, if it is a whole number that does not make too many answers of D entries."""
    nodes = _check.whole(nodes, "nodes", 1, 350)
    if nodes**D > _MAX_ANSWERS:
        wanted = f"nodes must give at most {_MAX_ANSWERS} answers, nodes**D"
        raise ValueError(f"{wanted}; got {nodes} for D = {D}, which gives {nodes**D}")
    return nodes


class _Answer(NamedTuple):
    """One value that a difference may have, how probable it is, and the process that saw it."""

    answer: float
    weight: float
    posterior: ExactPosterior


def _answers(posterior: ExactPosterior, x_hat: Vector, nodes: int) -> list[_Answer]:
    """The values that one difference may have at an input, by a rule of so many nodes."""
    row = x_hat[None, :]
    mean, variance = (float(part[0]) for part in posterior.predict(row, noise=True))
    answers = []
    for t, weight in zip(*gauss_hermite(nodes), strict=True):
        value = mean + math.sqrt(variance) * float(t)
        extended = posterior.extend(row, as_array([value], x_hat))
        answers.append(_Answer(value, float(weight), extended))
    return answers


def _stack(rollouts: list[Rollout]) -> tuple[Array, Array, Matrix]:
    xp = array_namespace(rollouts[0].mean)
    means, covariances, costs = (list(part) for part in zip(*rollouts, strict=True))
    return xp.stack(means), xp.stack(covariances), xp.stack(costs)
