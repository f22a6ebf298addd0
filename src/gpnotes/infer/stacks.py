"""Many small exact processes at once: their evidences and gradients as one computation.

A device, and a library that has no fast path of ours, takes about as long for a small matrix as for
fifty. So models that differ in their hyperparameters, in their data or in both are stacked where
their kernels are of one form; the restarts of a fit are, by themselves. Whatever is not stacked, or
has no factor, comes from the same functions as always, one model after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from ..ground import check as _check
from ..ground.chunks import Rows
from ..ground.conversion import floats
from ..ground.in_step import run_in_step
from ..ground.late_reads import trials
from ..ground.xp import Array, HostVector, array_namespace
from ..model.gaussian_process import GP, fitted_mean, require_noise
from .evidence import evidence_of
from .stacked_evidences import KIND, Asked, answers_to

__all__ = ["evidences_and_gradients", "in_step"]

T = TypeVar("T")
S = TypeVar("S")


def in_step(
    function: Callable[[T], S], items: Iterable[T], stopped: Callable[[], bool] | None = None
) -> list[S]:
    """Return ``[function(item) for item in items]``, with evidences of exact processes as stacks.

    It takes the place of a `map`: of restarts, ``fit(..., jobs=stacks.in_step)``, of folds,
    ``cross_validate(..., jobs=stacks.in_step)``, or of any loop of fits, such as one over outputs.

    Parameters
    ----------
    function : callable
        A function of one item, which may fit a `gpnotes.GP`, or ask for evidences with gradients.
    items : iterable
        The items.
    stopped : callable or None, default None
        It is asked before each stack; once it says True, all calls get a `KeyboardInterrupt` where
        they wait, and a fit returns what it has.

    Returns
    -------
    list
        The results, in the order of the items; the same as of a loop but for what rounding moves.

    Notes
    -----
    The calls take turns, in one thread: each runs until it needs the evidence of an exact process
    with its gradient, and goes on when all others need one too, or have returned. What they share,
    such as a stream of random numbers, they use in another order than a loop does. Stacked are up
    to 512 rows, on NumPy 64; there, one after the other, more are faster. Tables may have different
    numbers of rows.

    Examples
    --------
    >>> from gpnotes import GP, RBF, fit
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> outputs = np.sin(X[:, 0]), np.cos(X[:, 0])
    >>> found = in_step(lambda y: fit(GP(RBF()), X, y), outputs)
    >>> [one.posterior.mean([[1.0]]).round(2).tolist() for one in found]
    [[0.84], [0.54]]
    """
    _check.function(function, "function")
    if not isinstance(items, Iterable):
        raise TypeError(f"items must be iterable; got {_check.kind_of(items)}")

    def answers(asked: list[Asked]) -> Sequence[object]:
        if stopped is not None and stopped():
            # an answer that is an exception is raised where it was asked for, in each run
            return [KeyboardInterrupt()] * len(asked)
        return answers_to(asked)

    return run_in_step([partial(function, item) for item in items], answers, KIND)


def evidences_and_gradients(
    models: GP | Sequence[GP], X: Array, y: Array
) -> tuple[HostVector, tuple[GP, ...]]:
    """Return the log evidences of B processes, and their derivatives by all parameters, as one.

    Parameters
    ----------
    models : GP or sequence of GP
        One for each, or one for all.
    X : Array, shape (n, d) or (B, n, d)
        The inputs, of all or of each.
    y : Array, shape (n,) or (B, n)
        The observations.

    Returns
    -------
    values : HostVector, shape (B,)
        The log evidences, [eq-fv-evidence].
    bars : tuple of GP
        Processes that hold the derivatives, as of `gpnotes.log_evidence_and_gradient`, to which all
        is equal but for rounding.

    Raises
    ------
    ValueError
        If there are different numbers of models, inputs and observations.

    Examples
    --------
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> lengths = [0.5, 1.0, 2.0]
    >>> gps = [GP(RBF(1.0, length), 0.01) for length in lengths]
    >>> values, bars = evidences_and_gradients(gps, X, np.sin(X[:, 0]))
    >>> lengths[int(values.argmax())], bool(bars[0].kernel.lengthscale > 0.0)
    (2.0, True)
    """
    gps = tuple(models) if isinstance(models, list | tuple) else (models,)
    for gp in gps:
        fitted_mean(_check.instance(gp, "models", GP))
    X, y = _check.floating(floats(X, "X"), "X"), _check.floating(floats(y, "y"), "y")
    many = _many(gps, X, y)
    for trial in trials(X):
        with trial:
            _validate(gps, X, y)
    each_X = [X[b, :, :] for b in range(many)] if X.ndim == 3 else [X] * many
    each_y = [y[b, :] for b in range(many)] if y.ndim == 2 else [y] * many
    every = zip(gps * (many // len(gps)), each_X, each_y, strict=True)
    asked = [Asked(gp, Rows(X_b, y_b), False) for gp, X_b, y_b in every]
    found = [
        answer or evidence_of(gp, rows).value_and_gradient(gp)
        for answer, (gp, rows, _) in zip(answers_to(asked), asked, strict=True)
    ]
    return np.asarray([value for value, _ in found]), tuple(bar for _, bar in found)


def _many(gps: Sequence[GP], X: Array, y: Array) -> int:
    """The number of models, of data, or of both."""
    _check.alike(y, "y", X, "X")
    for a, name, axes, shapes in (
        (X, "X", 2, "(n, d) or (B, n, d)"),
        (y, "y", 1, "(n,) or (B, n)"),
    ):
        if a.ndim not in (axes, axes + 1):
            raise ValueError(f"{name} must have shape {shapes}; got {tuple(a.shape)}")
    counts = len(gps), _leading(X, 2), _leading(y, 1)
    many = max(counts)
    if not all(count in (1, many) and count for count in counts):
        got = ", ".join(map(str, counts))
        raise ValueError(f"models, X and y must be as many as each other, or one; got {got}")
    return many


def _leading(a: Array, axes: int) -> int:
    return a.shape[0] if a.ndim > axes else 1


def _validate(gps: Sequence[GP], X: Array, y: Array) -> None:
    """Look over all data at once, and at what each model asks of them."""
    xp, (n, d) = array_namespace(X), X.shape[-2:]
    every = xp.reshape(X, (-1, d))
    _check.matrix(every, "X")
    if not n:
        raise ValueError(f"X must have at least one row; got {tuple(X.shape)}")
    if y.shape[-1] != n:
        raise ValueError(f"y must have {n} entries, one for each row of X; got {tuple(y.shape)}")
    _check.squarable(_check.vector(xp.reshape(y, (-1,)), "y"), "y")
    for gp in gps:
        gp.kernel._validate_inputs(every, "X")
        require_noise(gp)
