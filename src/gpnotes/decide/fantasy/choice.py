"""Which fantasy to make true: the best of many, several at once, or a climb from one.

Several fantasies take ``cᵀ C⁻¹ c`` from the variance together, with ``c = E_x c(x, X̂)`` and
``C = c(X̂, X̂) + σ_n² I``. Taken one after the other, each reduces the variance
left by its predecessors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.ascent import ascend
from ...ground.boxes import intervals
from ...ground.showing import summary
from ...ground.xp import (
    Array,
    HostVector,
    Matrix,
    Numbers,
    Stack,
    Vector,
    array_namespace,
    as_array,
    to_numpy,
)
from ...infer.exact import ExactPosterior
from ...model.kernels import Kernel
from .input_averages import (
    Candidates,
    UncertainInput,
    at_candidates,
    average_over,
    validate_inputs,
    validate_posteriors,
    validate_uncertain,
)
from .reductions import Posteriors, reductions_and_pullbacks, reductions_of_output

__all__ = ["Choice", "batch_variance_reduction", "best", "greedy", "refine"]


class Choice(NamedTuple):
    """A fantasy input that was chosen.

    Parameters
    ----------
    row : int
        The row of the candidates that it came from, or −1.
    input : Vector, shape (D,)
        The input.
    reduction : float
        The fall of the variance that it promises.
    """

    row: int
    input: Vector
    reduction: float

    def __repr__(self) -> str:
        return summary(self)


def batch_variance_reduction(
    posteriors: Posteriors, m: Vector | Matrix, S: Matrix | Stack, batch: Matrix
) -> Numbers:
    """Return how much several fantasies at once take from the variance of an uncertain prediction.

    Parameters
    ----------
    posteriors : ExactPosterior or sequence of E ExactPosterior
        The model of the output, or one for each of E outputs.
    m : Vector, shape (D,), or Matrix, shape (T, D)
        Mean of the uncertain input, or means of T of them.
    S : Matrix, shape (D, D), or Stack, shape (T, D, D)
        Its covariance, which may be singular or zero.
    batch : Matrix, shape (q, D)
        The fantasies. A row that repeats an observation without noise adds nothing.

    Returns
    -------
    float, or Vector of shape (E,)
        The reduction, a float for one posterior; one for each output for several.

    Raises
    ------
    TypeError
        If `posteriors` is something else, an array is not of the kind of the data, or a kernel is
        neither RBF nor a sum of RBF.

    Notes
    -----
    ``cᵀ C⁻¹ c`` with ``c = E_x c(x, X̂)`` and ``C = c(X̂, X̂) + σ_n² I``, [eq-pi-batch],
    worked off one row after the other: each reduces the variance left by those before. O(n² q + n
    q²) an output.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> state = np.ones(1), np.eye(1)
    >>> round(batch_variance_reduction(posterior, *state, np.asarray([[0.5], [2.0]])), 4)
    0.2609
    """
    models = validate_posteriors(posteriors)
    inputs = validate_inputs(models, m, S, batch, "batch")
    totals = [_batch_reduction(_batch_state(model, inputs, batch)) for model in models]
    return totals[0] if isinstance(posteriors, ExactPosterior) else as_array(totals, batch)


class _BatchState(NamedTuple):
    """One output's candidates, given the data and the fantasies made so far."""

    kernel: Kernel
    noise_var: float
    inputs: Matrix
    candidates: Candidates

    def observe(self, j: int) -> _BatchState:
        """The state after a fantasy at candidate j: one row more in the factor's half; O(n k).

        With ``r = c(x̂_j, X̂)/√s_j``: ``g − g_j r/√s_j`` and ``s − r²``.
        """
        xp = array_namespace(self.inputs)
        half, covariance, variance, rounding = self.candidates
        if float(variance[j]) <= float(rounding[j]):  # known already: nothing changes
            return self
        K_row = self.kernel._gram(self.inputs[j : j + 1, :], self.inputs)[0, :]
        row = (K_row - xp.matrix_transpose(half) @ half[:, j]) / xp.sqrt(variance[j])
        covariance = covariance - covariance[:, j : j + 1] * (row / xp.sqrt(variance[j]))[None, :]
        variance = xp.clip(variance - row * row, self.noise_var, None)
        half = xp.concat([half, row[None, :]], axis=0)
        return self._replace(candidates=Candidates(half, covariance, variance, rounding))


def _batch_state(model: ExactPosterior, inputs: list[UncertainInput], batch: Matrix) -> _BatchState:
    size = model.X.shape[0], batch.shape[0]
    remedy = "Use fewer candidates."
    memory.require(*size, copies=3, like=batch, what="K_X,candidates", remedy=remedy)
    averages = average_over(model, inputs)
    return _BatchState(model.gp.kernel, averages.noise_var, batch, at_candidates(averages, batch))


def _batch_reduction(state: _BatchState) -> float:
    reductions = []
    for j in range(state.inputs.shape[0]):
        reductions.append(float(state.candidates.reduction[j]))
        state = state.observe(j)
    return sum(reductions)


def greedy(
    posteriors: Posteriors,
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    size: int,
    weights: Vector | None = None,
) -> list[Choice]:
    """Choose several fantasies out of candidates, each the best given those before it.

    Parameters
    ----------
    posteriors, m, S
        As in `batch_variance_reduction`.
    candidates : Matrix, shape (k, D)
        The fantasies to choose from. None is taken twice; list it twice if it may be.
    size : int
        The number of fantasies, from 1 to k.
    weights : Vector, shape (E,), default ones
        The weight of each output.

    Returns
    -------
    list of Choice
        The fantasies in order. `reduction` of each is its gain in the weighted sum over
        outputs; the reductions add up to `batch_variance_reduction` of the choice. Of equal
        candidates the first is taken.

    Raises
    ------
    TypeError
        If `posteriors` is something else, an array is not of the kind of the data, a kernel is
        neither RBF nor a sum of RBF, or `size` is not whole.

    Notes
    -----
    No refit: a choice costs O(n k) an output after O(n² k) once. The joint optimum can be better:
    the gain of an observation may grow by another one.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> ground = np.asarray([[0.5], [1.0], [2.0]])
    >>> [choice.row for choice in greedy(posterior, np.ones(1), np.eye(1), ground, 2)]
    [2, 1]
    """
    models = validate_posteriors(posteriors)
    inputs = validate_inputs(models, m, S, candidates)
    host_weights = _weights(weights, models, candidates)
    size = _check.whole(size, "size", 1, candidates.shape[0])
    outputs = [_batch_state(model, inputs, candidates) for model in models]
    available, chosen = list(range(candidates.shape[0])), []
    for _ in range(size):
        reductions = [output.candidates.reduction for output in outputs]
        totals = to_numpy(_weighted_sum(reductions, host_weights))
        j = max(available, key=lambda i: totals[i])
        available.remove(j)
        chosen.append(Choice(j, candidates[j, :], float(totals[j])))
        outputs = [output.observe(j) for output in outputs]
    return chosen


def _weights(weights: Vector | None, models: list[ExactPosterior], like: Array) -> list[float]:
    if weights is None:
        return [1.0] * len(models)
    _check.positive(_check.vector(weights, "weights", size=len(models)), "weights", zero=True)
    return to_numpy(_check.alike(weights, "weights", like, "X")).tolist()


def _weighted_sum(columns: list[Vector], weights: list[float]) -> Vector:
    terms = [weight * column for weight, column in zip(weights, columns, strict=True)]
    return sum(terms[1:], start=terms[0])


def best(
    posteriors: Posteriors,
    m: Vector | Matrix,
    S: Matrix | Stack,
    candidates: Matrix,
    weights: Vector | None = None,
) -> Choice:
    """Choose the candidate with the largest weighted sum of reductions over outputs and inputs.

    Parameters
    ----------
    posteriors, m, S
        As in `batch_variance_reduction`.
    candidates : Matrix, shape (k, D)
        The fantasies to choose from.
    weights : Vector, shape (E,), default ones
        The weight of each output.

    Returns
    -------
    Choice
        The first of equal candidates.

    Raises
    ------
    TypeError
        If `posteriors` is something else, an array is not of the kind of the data, or a kernel is
        neither RBF nor a sum of RBF.

    Notes
    -----
    [eq-pi-reduction].

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> best(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).row
    1
    """
    models = validate_posteriors(posteriors)
    inputs = validate_inputs(models, m, S, candidates)
    host_weights = _weights(weights, models, candidates)
    reductions = [reductions_of_output(average_over(model, inputs), candidates) for model in models]
    totals = to_numpy(_weighted_sum(reductions, host_weights))
    j = int(np.argmax(totals))
    return Choice(j, candidates[j, :], float(totals[j]))


def refine(
    posteriors: Posteriors,
    m: Vector | Matrix,
    S: Matrix | Stack,
    start: Choice | Vector,
    bounds: Sequence[tuple[float, float]],
    weights: Vector | None = None,
    max_steps: int = 50,
) -> Choice:
    """Climb from a fantasy input to a better one nearby, within bounds.

    Parameters
    ----------
    posteriors, m, S
        As in `batch_variance_reduction`.
    start : Choice, or Vector of shape (D,)
        Where to begin; a start outside the bounds is moved inside.
    bounds : D pairs of floats
        The ends (lower, upper) of each input.
    weights : Vector, shape (E,), default ones
        The weight of each output.
    max_steps : int, default 50
        The most iterations.

    Returns
    -------
    Choice
        A local maximum, with the row of the start, -1 for an input. It promises no less than the
        start inside the bounds.

    Raises
    ------
    TypeError
        If `posteriors` is something else, an array is not of the kind of the data, a kernel is
        neither RBF nor a sum of RBF, or `max_steps` is not whole.

    Notes
    -----
    L-BFGS-B with the gradient of `variance_reduction_and_pullback`, on the host, in units of
    the interval of each input.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> climbed = refine(posterior, np.ones(1), np.eye(1), np.asarray([2.0]), [(0.0, 3.0)])
    >>> climbed.input.round(3)
    array([1.519])
    """
    models = validate_posteriors(posteriors)
    row, x = (start.row, start.input) if isinstance(start, Choice) else (-1, start)
    max_steps = _check.whole(max_steps, "max_steps", 1)
    lower, width = _box(bounds, _check.vector(x, "start", size=models[0].X.shape[1]))
    _check.alike(_check.squarable(x, "start"), "start", models[0].X, "X")
    inputs = validate_uncertain(m, S, models[0].X)
    host_weights = _weights(weights, models, x)
    ones = array_namespace(x).ones_like(x[:1])

    def input_at(unit: HostVector) -> Vector:
        """The input at a point of the unit cube."""
        return as_array(lower + width * unit, x)

    def total(unit: HostVector) -> tuple[float, HostVector]:
        """The weighted reduction at a point of the unit cube, and its gradient."""
        pairs = reductions_and_pullbacks(models, inputs, input_at(unit)[None, :])
        value = sum(w * float(r[0]) for w, (r, _) in zip(host_weights, pairs, strict=True))
        bars = [pull(w * ones)[0] for w, (_, pull) in zip(host_weights, pairs, strict=True)]
        x_bar = to_numpy(sum(bars[1:], start=bars[0]))[0, :]
        return value, x_bar.astype(np.float64) * width

    first = np.clip((to_numpy(x).astype(np.float64) - lower) / width, 0.0, 1.0)
    scale = max(total(first)[0], np.finfo(np.float64).tiny)  # so that its tolerances mean something

    def scaled_total(unit: HostVector) -> tuple[float, HostVector]:
        """The reduction, which is climbed, in units of that at the start."""
        value, gradient = total(unit)
        return value / scale, gradient / scale

    last = ascend(scaled_total, first, np.tile([0.0, 1.0], (first.size, 1)), max_steps).vector
    unit = max(first, last, key=lambda point: total(point)[0])
    return Choice(row, input_at(unit), total(unit)[0])


def _box(bounds: Sequence[tuple[float, float]], x: Vector) -> tuple[HostVector, HostVector]:
    """The lower ends and the widths of the intervals, (D,) each, on the host."""
    box = intervals(bounds, "bounds", x.shape[0])
    return box[:, 0], box[:, 1] - box[:, 0]
