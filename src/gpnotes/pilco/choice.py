"""Which fantasy to make true: the best of many, several at once, or a climb from one.

Several fantasies take ``cᵀ C⁻¹ c`` from the variance together, with ``c = E_x c(x, X̂)`` and
``C = c(X̂, X̂) + σ_n² I``. Taken one after the other, each has what its predecessors left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check, _xp, memory
from .._xp import Array, array_namespace, as_array, to_numpy
from ..exact import Posterior
from .gain import Posteriors, reduction_and_pullback, reductions
from .outlook import Look, State, admitted, look, outlook, outputs

__all__ = ["Choice", "batch_reduction", "best", "greedy", "refine"]


class Choice(NamedTuple):
    """A fantasy input (D,) that was chosen, the row it came from, and what it promises."""

    index: int
    input: Array
    reduction: float


def batch_reduction(posteriors: Posteriors, m: Array, S: Array, batch: Array) -> Any:
    """What several fantasies at once, the rows of `batch` (q, D), take from the variance together.

    ``cᵀ C⁻¹ c`` with ``c = E_x c(x, X̂)`` and ``C = c(X̂, X̂) + σ_n² I``, :eq:`eq-pi-batch`, worked
    off one row after the other: each takes what its predecessors left. A float for one posterior,
    (E,) for several. A row that repeats what is known without noise adds nothing.
    O(n² q + n q²) an output. Raises what `reduction` raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> state = np.ones(1), np.eye(1)
    >>> round(batch_reduction(posterior, *state, np.asarray([[0.5], [2.0]])), 4)
    0.2609
    """
    models = outputs(posteriors)
    found = admitted(models, m, S, batch, "batch")
    taken = []
    for model in models:
        ground = _ground(model, found, batch)
        gains = []
        for j in range(batch.shape[0]):
            gains.append(float(ground.here.gain[j]))
            ground = ground.observed(j)
        taken.append(sum(gains))
    return taken[0] if isinstance(posteriors, Posterior) else as_array(taken, batch)


class _Ground(NamedTuple):
    """Candidates of one output, given the data and the fantasies taken so far."""

    kernel: Any
    noise_var: float
    candidates: Array
    here: Look

    def observed(self, j: int) -> _Ground:
        """After a fantasy at candidate j: one row more in the factor's half; O(n k)."""
        xp, (half, cross, spread, floor) = array_namespace(self.candidates), self.here
        if float(spread[j]) <= float(floor[j]):  # known already: nothing changes
            return self
        own = self.kernel(self.candidates[j : j + 1, :], self.candidates)[0, :]
        row = (own - xp.matrix_transpose(half) @ half[:, j]) / xp.sqrt(spread[j])
        cross = cross - cross[:, j : j + 1] * (row / xp.sqrt(spread[j]))[None, :]
        spread = xp.clip(spread - row * row, self.noise_var, None)
        half = xp.concat([half, row[None, :]], axis=0)
        return self._replace(here=Look(half, cross, spread, floor))


def _ground(model: Posterior, found: list[State], candidates: Array) -> _Ground:
    size = model.X.shape[0], candidates.shape[0]
    remedy = "Use fewer candidates."
    memory.require(*size, copies=3, like=candidates, what="K_X,candidates", remedy=remedy)
    view = outlook(model, found)
    return _Ground(model.gp.kernel, view.noise_var, candidates, look(view, candidates))


def greedy(
    posteriors: Posteriors,
    m: Array,
    S: Array,
    candidates: Array,
    size: int,
    weights: Array | None = None,
) -> list[Choice]:
    """Choose `size` fantasies out of the candidates (k, D), each the best given those before it.

    ``reduction`` of a `Choice` is what it adds to the weighted sum over outputs, `weights` (E,), by
    default ones; the promises add up to the `batch_reduction` of what was chosen. No refit: a
    choice costs O(n k) an output after O(n² k) once. No candidate is taken twice; list it twice if
    it may be. Of equal candidates the first is taken. The joint optimum can be better: what an
    observation adds may grow by another one.

    Raises `ValueError` or `TypeError` for a size that is no whole number from 1 to k, and what
    `reduction` raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> ground = np.asarray([[0.5], [1.0], [2.0]])
    >>> [one.index for one in greedy(posterior, np.ones(1), np.eye(1), ground, 2)]
    [2, 1]
    """
    models = outputs(posteriors)
    found = admitted(models, m, S, candidates)
    shares = _weights(weights, models, candidates)
    size = _check.whole(size, "size", 1, candidates.shape[0])
    grounds, chosen = [_ground(model, found, candidates) for model in models], []
    for _ in range(size):
        gains = _weighted([ground.here.gain for ground in grounds], shares)
        open_ = [j for j in range(candidates.shape[0]) if j not in {one.index for one in chosen}]
        host = to_numpy(gains)
        j = max(open_, key=lambda i: host[i])
        chosen.append(Choice(j, candidates[j, :], float(host[j])))
        grounds = [ground.observed(j) for ground in grounds]
    return chosen


def _weights(weights: Array | None, models: list[Posterior], like: Array) -> list[float]:
    if weights is None:
        return [1.0] * len(models)
    _check.positive(_check.vector(weights, "weights", size=len(models)), "weights", zero=True)
    return to_numpy(_check.alike(weights, "weights", like, "X")).tolist()


def _weighted(columns: list[Array], shares: list[float]) -> Array:
    parts = [share * column for share, column in zip(shares, columns, strict=True)]
    return sum(parts[1:], start=parts[0])


def best(
    posteriors: Posteriors,
    m: Array,
    S: Array,
    candidates: Array,
    weights: Array | None = None,
) -> Choice:
    """The candidate with the largest weighted sum of reductions over outputs and inputs.

    :eq:`eq-pi-reduction`. Raises what `reduction` raises; the first of equal candidates is taken.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> best(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).index
    1
    """
    models = outputs(posteriors)
    found = admitted(models, m, S, candidates)
    shares = _weights(weights, models, candidates)
    columns = [reductions(outlook(model, found), candidates) for model in models]
    host = to_numpy(_weighted(columns, shares))
    j = int(np.argmax(host))
    return Choice(j, candidates[j, :], float(host[j]))


def refine(
    posteriors: Posteriors,
    m: Array,
    S: Array,
    start: Choice | Array,
    bounds: Sequence[tuple[float, float]],
    weights: Array | None = None,
    steps: int = 50,
) -> Choice:
    """Climb from a fantasy input to a better one nearby, within `bounds`, pairs for the D inputs.

    L-BFGS-B with the gradient of `reduction_and_pullback`, on the host, in units of the interval of
    each input, for at most `steps` iterations; it finds a local maximum. `start` is a `Choice` or
    an input (D,); a start outside is moved inside. The result keeps the index of the start, -1 for
    an input, and promises no less than the start inside the bounds. Raises `ValueError` for bounds
    that are no intervals and for steps that are no whole number, and what `reduction` raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> found = refine(posterior, np.ones(1), np.eye(1), np.asarray([2.0]), [(0.0, 3.0)])
    >>> found.input.round(3)
    array([1.519])
    """
    models = outputs(posteriors)
    index, x = (start.index, start.input) if isinstance(start, Choice) else (-1, start)
    steps = _check.whole(steps, "steps", 1)
    lower, width = _box(bounds, _check.vector(x, "start", size=models[0].X.shape[1]))
    shares = as_array(_weights(weights, models, x), x)

    def place(unit: np.ndarray) -> Array:
        return as_array(lower + width * unit, x)

    def total(unit: np.ndarray) -> tuple[float, np.ndarray]:
        values, pull = reduction_and_pullback(models, m, S, place(unit)[None, :])
        x_bar = to_numpy(pull(shares[None, :])[0])[0, :]
        return float((values @ shares)[0]), x_bar.astype(np.float64) * width

    begin = np.clip((to_numpy(x).astype(np.float64) - lower) / width, 0.0, 1.0)
    scale = max(total(begin)[0], np.finfo(np.float64).tiny)  # so that its tolerances mean something

    def loss(unit: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = total(unit)
        return -value / scale, -slope / scale

    found = _xp.minimise(loss, begin, [(0.0, 1.0)] * begin.shape[0], steps)
    unit = max(begin, found.x, key=lambda one: total(one)[0])
    return Choice(index, place(unit), total(unit)[0])


def _box(bounds: Sequence[tuple[float, float]], x: Array) -> tuple[np.ndarray, np.ndarray]:
    """The lower ends and the widths of the intervals, (D,) each, on the host."""
    try:
        box = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # ragged, or no numbers
        box = np.empty(0)
    if (
        box.shape != (x.shape[0], 2)
        or not np.all(np.isfinite(box))
        or np.any(box[:, 0] >= box[:, 1])
    ):
        wanted = f"{x.shape[0]} pairs (lower, upper) with lower < upper, finite"
        raise ValueError(f"bounds must be {wanted}; got {bounds}")
    return box[:, 0], box[:, 1] - box[:, 0]
