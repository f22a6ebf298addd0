"""Hyperparameters, likelihood and inducing inputs fitted from batches, while q follows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground.linalg import warn_of_jitter
from ...ground.params import flatten, flatten_gradient
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import HostVector, Matrix, Vector, array_namespace, as_array, to_numpy
from ...model.contracts import ParametricLikelihood, require
from ...model.likelihoods.expectations import has_parameters
from ...model.process import differentiable_mean
from .bound import inputs_bar, quiet_gradient
from .model import SVGP, admit_rows
from .natural import stepped
from .passes import Sums, require_finite, sweep
from .posterior import VariationalPosterior, inducing_factor

__all__ = ["Fit", "Progress", "batches", "fit"]

_DECAYS = 0.9, 0.999  # of Adam's averages of a gradient and of its square
_TINY = 1e-8  # that it adds to a root


class Progress(NamedTuple):
    """Where a fit is after `step` steps: q, and the `bound` that the last batch estimated."""

    step: int
    posterior: VariationalPosterior
    bound: float


@dataclass(frozen=True, eq=False)
class Fit:
    """The posterior that a fit ended with, and the bound that each step's batch estimated.

    `bounds` (steps,) is of before the step, a NumPy array on the host; from batches it is noisy.
    """

    posterior: VariationalPosterior
    bounds: HostVector


def batches(stream: Stream, n: int, size: int) -> Iterator[HostVector]:
    """The rows 0, …, n − 1 in random batches of `size`, without end: each row once an epoch.

    The last batch of an epoch holds what is left. Raises `TypeError` for what is no stream or no
    whole number, `ValueError` for a size that is not from 1 to n.

    >>> from gpnotes import stream
    >>> rows = batches(stream(0), 5, 3)
    >>> first, second = next(rows), next(rows)
    >>> len(first), len(second), sorted([*first.tolist(), *second.tolist()])
    (3, 2, [0, 1, 2, 3, 4])
    """
    _check.instance(stream, "stream", Stream)
    n = _check.whole(n, "n", 1)
    size = _check.whole(size, "size", 1, n)
    return _batches(stream, n, size)


def _batches(stream: Stream, n: int, size: int) -> Iterator[HostVector]:
    while True:
        order = to_numpy(stream.permutation(n))
        for start in range(0, n, size):
            yield order[start : start + size]


@in_one_pool
def fit(
    posterior: VariationalPosterior,
    X: Matrix,
    y: Vector,
    stream: Stream,
    *,
    steps: int = 1000,
    batch: int | None = None,
    length: float = 0.1,
    rate: float = 0.01,
    fixed: Collection[str] = (),
    callback: Callable[[Progress], bool | None] | None = None,
) -> Fit:
    """Raise the bound by q, by the hyperparameters of gp and likelihood, and by Z, all at once.

    Each of the `steps` takes `batch` rows (all of them, if None) in the order of `stream`: one pass
    gives a natural-gradient step of `length` for q, `update`, and the gradient for a step
    of Adam with the learning `rate` for all else: logarithms of what is positive, as in
    `params.flatten`, and Z. `fixed` names what stays, such as ``("Z", "gp.kernel.variance")``. A
    batch of b rows costs O(b M² + M³) time, and memory for M × M and the batch, whatever n is.

    It begins at `posterior`: `prior` of a model, or where an earlier fit ended, to go on with other
    rates. ``callback(progress)`` is called after each step; if it returns True, the fit ends. Rates
    are constant, so that in the end q and hyperparameters move with the noise of the batches: end
    with a fit of smaller ones, or with `condition` on the model that was found.

    Raises `ValueError` or `TypeError` for arguments that do not fit, `RuntimeError` where the bound
    is not finite any more, and what `condition` raises.
    Source: Salimbeni, Eleftheriadis & Hensman (2018) for natural steps beside Adam; Kingma & Ba
    (2015) for Adam.

    >>> from gpnotes import GP, RBF, Gaussian, stream
    >>> from gpnotes.infer import svgp
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> start = svgp.prior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(1.0), X[::10]))
    >>> found = fit(start, X, np.sin(X[:, 0]), stream(0), steps=50, batch=20, length=0.5, rate=0.1)
    >>> bool(found.bounds[-1] > found.bounds[0] + 20.0)
    True
    """
    _check.instance(posterior, "posterior", VariationalPosterior)
    admit_rows(posterior.model, X, y)
    n = X.shape[0]
    rows = batches(stream, n, n if batch is None else _check.whole(batch, "batch", 1, n))
    length = _unit(length, "length")
    rate = _check.positive(_check.number(rate, "rate"), "rate", zero=True)
    steps = _check.whole(steps, "steps", 1)
    if callback is not None:
        _check.function(callback, "callback")
    free = _Free(posterior.model, fixed)
    return _fitted(posterior, X, y, rows, steps, length, free, _Adam(rate, free.size), callback)


def _unit(value: float, name: str) -> float:
    value = _check.positive(_check.number(value, name), name)
    if value > 1.0:
        raise ValueError(f"{name} must be at most 1; got {value}")
    return value


def _fitted(
    posterior: VariationalPosterior,
    X: Matrix,
    y: Vector,
    rows: Iterator[HostVector],
    steps: int,
    length: float,
    free: _Free,
    adam: _Adam,
    callback: Callable[[Progress], bool | None] | None,
) -> Fit:
    bounds = []
    for step in range(1, steps + 1):
        some = _rows_of(X, y, next(rows))
        sums, gradient = free.pass_over(posterior, *some, X.shape[0] / some[0].shape[0])
        bounds.append(sums.value - posterior.kl)
        posterior = stepped(posterior, sums, length)
        if free.size:
            posterior = free.moved(posterior, adam.step(gradient))
        answer = callback and callback(Progress(step, posterior, bounds[-1]))
        if answer is not None and _check.flag(answer, "callback(progress)"):
            break
    warn_of_jitter(posterior.inducing.jitter, "the Gram matrix of Z")
    return Fit(posterior, np.asarray(bounds))


def _rows_of(X: Matrix, y: Vector, rows: HostVector) -> tuple[Matrix, Vector]:
    if rows.size == X.shape[0]:
        return X, y
    xp = array_namespace(X)
    places = xp.asarray(rows, device=X.device)
    return xp.take(X, places, axis=0), xp.take(y, places, axis=0)


class _Free:
    """What of a model is fitted, as one flat vector on the host: parameters, then Z."""

    def __init__(self, model: SVGP, fixed: Collection[str]) -> None:
        if isinstance(fixed, str) or not isinstance(fixed, Collection):
            raise TypeError(f"fixed must be a collection of names; got {fixed!r}")
        self._Z = "Z" not in fixed
        self._fixed = (*(name for name in fixed if name != "Z"), "gp.noise_var")
        self._parameters = flatten(model, fixed=self._fixed)[0].size
        self.size = self._parameters + (math.prod(model.variables.inputs.shape) if self._Z else 0)
        if self.size:
            differentiable_mean(model.gp)
            if has_parameters(model.likelihood):
                require(model.likelihood, "the likelihood", ParametricLikelihood)

    def pass_over(
        self, posterior: VariationalPosterior, X: Matrix, y: Vector, scale: float
    ) -> tuple[Sums, HostVector]:
        """The sums over rows, and the gradient of the bound by the vector."""
        if not self.size:
            return require_finite(sweep(posterior, X, y, scale)), np.zeros(0)
        sums, model_bar = quiet_gradient(posterior, X, y, scale)
        parameters = flatten_gradient(posterior.model, model_bar, fixed=self._fixed)
        Z_bar = to_numpy(inputs_bar(model_bar)) if self._Z else np.zeros(0)
        return sums, np.concatenate([parameters, np.ravel(Z_bar)])

    def moved(self, posterior: VariationalPosterior, by: HostVector) -> VariationalPosterior:
        """The posterior with the same q(v) of the model whose vector is longer by `by`."""
        model = posterior.model
        vector, rebuild = flatten(model, fixed=self._fixed)
        new = rebuild(vector + by[: self._parameters])
        if self._Z:
            inputs = model.variables.inputs
            inputs = inputs + as_array(by[self._parameters :].reshape(inputs.shape), inputs)
            new = replace(new, Z=new.variables.moved(inputs))
        return replace(posterior, model=new, inducing=inducing_factor(new))


class _Adam:
    """Kingma & Ba (2015), algorithm 1, uphill."""

    def __init__(self, rate: float, size: int) -> None:
        self._rate = rate
        self._mean = np.zeros(size)
        self._square = np.zeros(size)
        self._steps = 0

    def step(self, gradient: HostVector) -> HostVector:
        """By how much to move."""
        of_mean, of_square = _DECAYS
        self._steps += 1
        self._mean = of_mean * self._mean + (1.0 - of_mean) * gradient
        self._square = of_square * self._square + (1.0 - of_square) * gradient**2
        mean = self._mean / (1.0 - of_mean**self._steps)
        square = self._square / (1.0 - of_square**self._steps)
        return self._rate * mean / (np.sqrt(square) + _TINY)
