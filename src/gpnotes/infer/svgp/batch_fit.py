"""Hyperparameters, likelihood and inducing inputs fitted from batches, while q follows them.

`gpnotes.fit` of an `SVGP` finds the best q for all rows at each step; `Minibatches` are for rows
that are too many for that. Each step takes one batch: one pass gives a step of q,
`natural_gradient_step`, and the gradient for a step of Adam for all else: logarithms of what is
positive, as in `params.flatten`, Z in standard deviations of the columns of X, and a mean in those
of y if it has their unit. A batch of b rows costs O(b M² + M³) time, and memory for M × M and the
batch, whatever the number of rows is.

Rates are constant, so that in the end q and hyperparameters move with the noise of the batches: end
with a fit of smaller ones, or `gpnotes.condition` the model found. If the bound of all rows
ends below that of the start, what comes back is the best that was seen of all rows; from batches
all rows are asked only where the last batch has its doubts. The run of the fit has the bounds that
the batches estimated before each step as its ``trace``.

Source: Salimbeni, Eleftheriadis & Hensman (2018) for natural steps beside Adam; Kingma & Ba (2015)
for Adam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from ...ground import check as _check
from ...ground import memory
from ...ground.adam import Adam
from ...ground.caller_warnings import warn_caller
from ...ground.chunks import Chunks, Rows
from ...ground.class_tags import saved_as
from ...ground.interrupts import INTERRUPTED, kept_interrupts, warn_of
from ...ground.late_reads import number, trials
from ...ground.linalg import warn_of_jitter, warn_of_loss
from ...ground.params import numbers_read
from ...ground.random import RNG, Stream, stream_of
from ...ground.showing import summary
from ...ground.threads import in_one_pool
from ...ground.xp import HostVector, array_namespace, diagonal, epsilon, to_numpy
from ...model.gaussian_process import differentiable_mean
from ...model.likelihoods.adapter import is_latent
from ..evidence import Evidence, evidence_of, whole_rows
from ..fit_checks import FitWarning
from ..objective import Fit, Objective
from ..progress import Bar, bar_of
from ..run import Run
from ..sparse.induced import told_apart, with_inducing
from .evidence_lower_bound import sums_and_gradient
from .known_noise import known_in, require_normal, some_of, validate_offset
from .model import SVGP, validate_rows
from .natural_gradients import optimise_q, step_begun, unit_step
from .posterior import V, Variational, _initial_posterior, inducing_factor, initial_posterior
from .row_sums import require_finite, sweep

__all__ = ["Minibatches", "Progress", "batches"]


@dataclass(frozen=True, eq=False)
class Minibatches:
    """How `gpnotes.fit` goes through the rows of an `SVGP` a batch at a time, in one run.

    It is its ``minibatches=``, and the rows come in an order drawn from its `rng`.

    Parameters
    ----------
    size : int
        The number of rows b of a step.
    step_size : float, default 0.1
        The size of the natural-gradient steps of q, up to 1.
    learning_rate : float, default 0.01
        The learning rate of Adam, which moves all else; it may be zero.
    start : VariationalPosterior or ClassesPosterior or None, default None
        The q to begin with, a posterior of the model, such as that of an earlier fit; None is that
        of the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, SVGP, Gaussian, fit
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::10])
    >>> first = fit(model, X, np.sin(X[:, 0]), minibatches=Minibatches(10), max_steps=20, rng=0)
    >>> on = Minibatches(10, start=first.posterior)
    >>> found = fit(first.model, X, np.sin(X[:, 0]), minibatches=on, max_steps=5, rng=1)
    >>> found.posterior.steps
    25
    """

    size: int
    step_size: float = 0.1
    learning_rate: float = 0.01
    start: Variational | None = None

    def __post_init__(self) -> None:
        _check.whole(self.size, "size", 1)
        unit_step(self.step_size, "step_size")
        _check.positive(
            _check.number(self.learning_rate, "learning_rate"), "learning_rate", zero=True
        )
        if self.start is not None:
            _check.instance(self.start, "start", Variational)


class Progress(NamedTuple):
    """The state of a fit after some of its steps, which its callback is given.

    Parameters
    ----------
    step : int
        The number of steps taken.
    posterior : VariationalPosterior or ClassesPosterior
        The Gaussian q, with the model as it is now.
    bound : float
        The bound that the last batch estimated.
    """

    step: int
    posterior: Variational
    bound: float

    def __repr__(self) -> str:
        return summary(self)


def batches(n: int, size: int, *, rng: RNG) -> Iterator[HostVector]:
    """Split rows into random batches, without end; each row comes once an epoch.

    Parameters
    ----------
    n : int
        The number of rows, counted 0, …, n − 1.
    size : int
        The size of a batch, from 1 to n; the last batch of an epoch holds what is left.
    rng : Stream, Generator or int
        The stream that orders the rows.

    Returns
    -------
    Iterator of HostVector
        The numbers of the rows of each batch.

    Examples
    --------
    >>> from gpnotes import stream
    >>> rows = batches(5, 3, rng=stream(0))
    >>> first, second = next(rows), next(rows)
    >>> len(first), len(second), sorted([*first.tolist(), *second.tolist()])
    (3, 2, [0, 1, 2, 3, 4])
    """
    stream = stream_of(rng)
    n = memory.count(n, "n")
    size = _check.whole(size, "size", 1, n)
    return _batches(stream, n, size)


def _batches(stream: Stream, n: int, size: int) -> Iterator[HostVector]:
    while True:
        order = to_numpy(stream.permutation(n))
        for start in range(0, n, size):
            yield order[start : start + size]


@dataclass
class _Climb:
    """A fit on its way: what it has estimated so far, and the best that it has seen for sure."""

    objective: Objective[SVGP]
    rows: Rows
    step_size: float
    adam: Adam
    trace: list[float] = field(default_factory=list)
    interrupted: bool = False
    ahead: HostVector | None = None

    def step(self, posterior: Variational, rows: HostVector) -> Variational:
        """q after a step by some rows; its model moves on when q is `arrived`.

        So a device is read twice a step: with the factor of K_uu of this model, and with that of
        the next precision, when all else is launched.
        """
        self.last = self._rows(rows)
        for trial in trials(self.rows.X):
            with trial:
                here = self._arrived(posterior)
                sums, model_bar = self._pass_over(here)
                kl, finish = here.kl, step_begun(here, sums, self.step_size)
        self.ahead = None
        bound = number(sums.value) - number(kl)
        if self.objective.units.size:
            gradient = self.objective.gradient(here.model, numbers_read(model_bar))
            # Adam moves vector / units: its slope has the units once, and its step takes them again
            by = self.objective.units * self.adam.step(self.objective.units * gradient)
            self.ahead = self.objective.vector(here.model) + by
        whole = rows.size == self.count
        # of a batch a bound is an estimate: bounds of all rows alone say which q is the best
        if not self.trace or (whole and bound > max(self.trace)):
            self.best = here
        self.trace.append(bound)
        return finish()

    def arrived(self, posterior: Any) -> Any:
        """q with the model of the last step."""
        posterior, self.ahead = self._arrived(posterior), None
        return posterior

    def _arrived(self, posterior: Any) -> Any:
        if self.ahead is None:
            return posterior
        try:
            model = self.objective.at(self.ahead)
        except _check.NoValueError as problem:
            said = f"minibatches.learning_rate must be smaller: after a step {problem}"
            raise _check.NoValueError(said) from problem
        return replace(posterior, model=model, inducing=inducing_factor(model))

    @property
    def count(self) -> int:
        """The number of all rows."""
        return self.rows.X.shape[0]

    def _rows(self, rows: HostVector) -> Rows:
        if rows.size == self.count:
            return self.rows
        X = self.rows.X
        return some_of(self.rows, array_namespace(X).asarray(rows, device=X.device))

    def _pass_over(self, posterior: Variational) -> tuple[Any, SVGP]:
        """The sums over the last rows, and the derivatives of the bound where something moves."""
        rows = self.last
        given = rows.X, rows.y, self.count / rows.X.shape[0], known_in(rows)
        if not self.objective.units.size:
            return require_finite(sweep(posterior, *given)), posterior.model
        return sums_and_gradient(posterior, *given)

    def fit(self, posterior: V) -> Fit[SVGP, V]:
        """The fit that came of it; of a way that has led down, that of its highest point."""
        rows = self.last
        # not the other way round: a bound that is NaN counts as lower
        if not self._bound(posterior, rows) >= self._bound(self.best, rows):
            rows = self.rows
            if not self._bound(posterior, rows) >= self._bound(self.best, rows):
                posterior = self.best
        bound = self._bound(posterior, rows)
        warn_of_jitter(posterior.inducing.jitter, "the Gram matrix of Z")
        _warn_of_loss(posterior)
        message = f"{len(self.trace)} steps, of {rows.X.shape[0]} rows at the end"
        message = INTERRUPTED if self.interrupted else message
        trace = tuple(self.trace)
        run = Run(posterior.model, bound, len(trace), False, message, trace=trace)
        return Fit((run,), self.objective, posterior)

    def _bound(self, posterior: Variational, rows: Rows) -> float:
        scale = self.count / rows.X.shape[0]
        return float(sweep(posterior, rows.X, rows.y, scale, known_in(rows)).value - posterior.kl)


@saved_as("variational evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[SVGP, Variational]):
    """The highest bound: that of the best q for all rows.

    Where inputs were `chosen` from the data, q is of those that the kernel can tell apart.
    """

    by_reading: ClassVar[bool] = True
    by_offset: ClassVar[bool] = True

    rows: Rows
    chosen: bool = False

    def settled(self, model: SVGP) -> SVGP:
        return with_inducing(model, self.rows)

    @in_one_pool
    def posterior(self, model: SVGP) -> Variational:
        return _told(self._best(self._prior(model)))

    def _prior(self, model: SVGP) -> Variational:
        """q before any data, of inputs that need no jitter where they were chosen."""
        if self.chosen and inducing_factor(model).jitter:
            model = told_apart(model, model.gp.kernel, model.variables.inputs)
        return initial_posterior(model)

    def _best(self, start: Variational) -> Variational:
        return optimise_q(start, self.rows.X, self.rows.y, known=known_in(self.rows))

    @in_one_pool
    def value(self, model: SVGP) -> float:
        q = _told(self._best(self._prior(model)))
        sums = sweep(q, self.rows.X, self.rows.y, 1.0, known_in(self.rows))
        return float(sums.value - q.kl)

    def require_gradient(self, model: SVGP) -> None:
        differentiable_mean(model.gp)

    @in_one_pool
    def value_and_gradient(self, model: SVGP, *, quiet: bool = False) -> tuple[float, SVGP]:
        """The derivatives with q held: at its best it gains nothing by moving."""
        start = _initial_posterior(model) if quiet else self._prior(model)
        q, rows = self._best(start), self.rows
        if not quiet:
            _told(q)
        sums, model_bar = sums_and_gradient(q, rows.X, rows.y, 1.0, known_in(rows))
        return sums.value - q.kl, model_bar

    def fit_by_batches(
        self, objective: Objective[SVGP], minibatches: Minibatches, /, **options: Any
    ) -> Fit[SVGP, Variational]:
        return _fit(objective, self.rows, minibatches, **options)


def _told(q: Variational) -> Variational:
    """The same q, with a warning where it has not converged, or rounding has its digits."""
    if not q.converged:
        said = f"q had not converged after max_steps = {q.steps} natural-gradient steps"
        remedy = "go on from it by svgp.natural_gradient_step until .mean stays"
        warn_caller(f"{said}, and its bound may still rise: {remedy}", FitWarning)
    _warn_of_loss(q)
    return q


def _warn_of_loss(q: Any) -> None:
    """Warn of a prior too wide for P, as of a matrix of n rows; of jitter another has told."""
    for one in () if q.inducing.jitter else getattr(q, "functions", (q,)):
        P, w, xp = one.precision, one.weights, array_namespace(one.weights)
        parts = xp.sum(diagonal(P)), xp.sum(w * (P @ w))
        warn_of_loss(xp.max(xp.sum(xp.abs(P), axis=0)), epsilon(P), parts)


def _fit(
    objective: Objective[SVGP],
    data: Rows,
    minibatches: Minibatches,
    *,
    max_steps: int,
    callback: Callable[[Progress], bool | None] | None,
    progress: bool,
    rng: RNG | None,
) -> Fit[SVGP, Variational]:
    """The fit by batches that `gpnotes.fit` asks for, whose arguments these are."""
    how = _check.instance(minibatches, "minibatches", Minibatches)
    if rng is None:
        raise ValueError("minibatches need an rng to draw the order of the rows from")
    n = data.X.shape[0]
    rows = _batches(stream_of(rng), n, _check.whole(how.size, "minibatches.size", 1, n))
    climb = _Climb(objective, data, how.step_size, Adam(how.learning_rate, objective.units))
    q = _begun(how.start, objective.model)
    bar = bar_of(max_steps, "fit", "step") if progress else None
    try:
        q = _climbed(climb, q, rows, max_steps, callback, bar)
    finally:
        if bar is not None:
            bar.close()
    return climb.fit(q)


def _climbed(
    climb: _Climb,
    q: Variational,
    rows: Iterator[HostVector],
    max_steps: int,
    callback: Callable[[Progress], bool | None] | None,
    bar: Bar | None,
) -> Variational:
    """q after the steps, or after those until the caller has seen enough or interrupts."""
    try:
        for step in range(1, max_steps + 1):
            q = climb.step(q, next(rows))
            if bar is not None:
                bar.set_postfix_str(f"bound {climb.trace[-1]:.6g}")
                bar.update(1)
            if callback is None:
                continue
            q = climb.arrived(q)
            answer = callback(Progress(step, q, climb.trace[-1]))
            if answer is not None and _check.flag(answer, "callback(progress)"):
                break
    except kept_interrupts():
        if not climb.trace:
            raise
        climb.interrupted = True
        warn_of(f"fit keeps the best of {len(climb.trace)} steps")
    return climb.arrived(q)


def _begun(start: Variational | None, model: SVGP) -> Variational:
    """The q to begin with, if it is one of this model."""
    if start is None:
        return initial_posterior(model)
    if start.model is not model:
        said = "minibatches.start must be a posterior of model; got that of another"
        raise ValueError(f"{said}: fit start.model")
    return start


@evidence_of.register(SVGP)
def _evidence(model: SVGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    validate_rows(model, rows.X, rows.y)
    require_normal(model.likelihood, rows)
    validate_offset(model, rows)
    chosen = isinstance(model.inducing, int)
    return _Evidence(rows, chosen, held=("gp.noise_var",), latent=is_latent(model.likelihood))
