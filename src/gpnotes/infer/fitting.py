"""Fitting a model: its evidence maximised from several starts, with a report.

What is maximised, how a model becomes a vector, and the L-BFGS-B of SciPy that a run is, are in
`objective`; here are the starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
    runtime_checkable,
)

import numpy as np

from ..ground import check as _check
from ..ground.ascent import Ascent
from ..ground.caller_warnings import warn_caller
from ..ground.chunks import Chunks, Data, Rows
from ..ground.interrupts import INTERRUPTED, deferred_interrupts, kept_interrupts, warn_of
from ..ground.jobs import Jobs, checked_jobs, mapper_of
from ..ground.params import Parameters
from ..ground.random import RNG, stream_of
from ..ground.threads import in_one_pool
from ..ground.xp import HostVector, OfEach, Table, array_namespace, is_numpy_namespace
from ..model.contracts import Prior
from ..model.gaussian_process import GP
from ..model.starts import out_of_scale, started
from . import exact as exact  # registers GP, which comes from a lower floor
from .evidence import Model, evidence_of, given, measured
from .fit_checks import (
    ALL_NOISE,
    COPIES,
    SURPRISE,
    TOO_HIGH,
    TWO_TOPS,
    FitWarning,
    is_all_noise,
    left_out_size,
    without_copies,
)
from .further_starts import shorter_start
from .interdomain import WaveSums
from .noise_floor import (
    around,
    climb,
    climb_from_below,
    doubtful,
    goes_below,
    stopped_by_rounding,
    too_high,
)
from .objective import Fit, Objective, objective_of
from .open_start import held_open, like_of, started_objective
from .posterior import Posterior
from .progress import ENOUGH, Bar, OnStep, bar_of, show_steps
from .report import FLAT_THRESHOLD
from .report.hyperparameters import by_entry
from .run import Run
from .stacked_evidences import is_stacked
from .stacks import in_step

if TYPE_CHECKING:  # what an editor completes after `fit(...).posterior.`
    from .deep import DeepGP, DeepPosterior
    from .exact import ExactPosterior
    from .svgp import SVGP, Minibatches
    from .svgp.posterior import Variational

__all__ = ["Fit", "FitWarning", "Run", "fit"]

_ROUNDS = 1e-10  # the epsilon of a precision that is less than float64

M = TypeVar("M", bound=Parameters)
Q = TypeVar("Q", bound=Posterior)
Callback = Callable[[Any], bool | None]


class Options(TypedDict, total=False):
    """What `fit` takes by keyword."""

    noise_var: OfEach | None
    weights: OfEach | None
    offset: OfEach | None
    restarts: int
    restart_sd: float
    bounds: Mapping[str, tuple[float | None, float | None]] | None
    priors: Mapping[str, Prior] | None
    fixed: Collection[str]
    tied: Iterable[Iterable[str]]
    max_steps: int
    callback: Callback | None
    on_step: OnStep | None
    progress: bool
    jobs: Jobs
    rng: RNG | None


class BatchOptions(Options, total=False):
    """What `fit` takes by keyword of a model that is fitted from batches."""

    minibatches: Minibatches | None


@overload
def fit(model: GP, X: Table, y: Table, **options: Unpack[Options]) -> Fit[GP, ExactPosterior]: ...
@overload
def fit(
    model: SVGP, X: Table, y: Table, **options: Unpack[BatchOptions]
) -> Fit[SVGP, Variational]: ...
@overload
def fit(
    model: DeepGP, X: Table | Chunks, y: Table | None = None, **options: Unpack[Options]
) -> Fit[DeepGP, DeepPosterior]: ...
@overload
def fit(
    model: Model[M, Q],
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    **options: Unpack[Options],
) -> Fit[M, Q]: ...
@overload
def fit(
    model: M,
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    **options: Unpack[Options],
) -> Fit[M, Posterior]: ...
@in_one_pool
def fit(
    model: Parameters,
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
    restarts: int = 0,
    restart_sd: float = 1.0,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    priors: Mapping[str, Prior] | None = None,
    fixed: Collection[str] = (),
    tied: Iterable[Iterable[str]] = (),
    max_steps: int = 200,
    callback: Callback | None = None,
    on_step: OnStep | None = None,
    progress: bool = False,
    jobs: Jobs = 1,
    minibatches: Minibatches | None = None,
    rng: RNG | None = None,
) -> Fit[Any, Any]:
    """Maximise the evidence of y (n,) at X (n, d) over what is free in a model.

    Parameters
    ----------
    model : GP, or another model
        As in `condition`, or a `gpnotes.DeepGP`. The first run starts at its numbers, and for those
        that it leaves open at numbers from the data, `starts.started`. Inducing inputs move, too.
    X, y, noise_var, weights, offset
        The data, as in `condition`; of a `gpnotes.DeepGP` chunks will do.
    restarts, restart_sd : int, default 0; float, default 1.0
        How many further runs start at the parameters of the first moved at random, by normals of
        this size: in logarithms of what is positive, a mean in deviations of y.
    bounds, priors : mapping from str, or None
        Limits ``(low, high)``, with None for an open end, and priors, by name, in the parameter's
        own units. With priors their posterior density is maximised, [eq-hp-map].
    fixed, tied : collection of str, default (); iterable of groups of str, default ()
        The names of what stays, ``"inducing"``, too, and groups of names that are one number each,
        which starts at the first. A bound or a prior of one holds for its group.
    max_steps : int, default 200
        The most steps of a run, and again below each floor of the noise.
    callback, on_step : callable or None, default None
        ``callback(run)`` after each run, or ``callback(progress)``, an `svgp.Progress`, after each
        step by minibatches; ``on_step(step)``, a `progress.FitStep`, after each evaluation in this
        process. One that returns True ends the fit.
    progress, jobs : bool, default False; int or callable, default 1
        A bar, by ``tqdm``; on how many processes, by ``joblib``, or by which `map` runs are made.
        On other libraries than NumPy runs of a small `GP` go on in step, `stacks.in_step`.
    minibatches : svgp.Minibatches or None, default None
        How to take some rows a step, for an `SVGP`; else all are asked for the best q.
    rng : Stream, Generator, int or None, default None
        The source of random numbers for restarts, or for the order of rows in minibatches.

    Returns
    -------
    Fit
        The best ``.model``, its ``.posterior``, ``.log_evidence`` and ``.report()``; ``.runs``.

    Warns
    -----
    FitWarning
        If the noise or the labels where it ended contradict the readings.
    InterruptWarning
        If Ctrl-C ended it: the best so far comes back. A second Ctrl-C is raised.

    Notes
    -----
    Names are those of reports, ``kernel.lengthscale[1]`` or ``kernel.lengthscale[age]``. What a run
    does where noise or units mislead it stands on the page *Models*, under *Fitting*. Source:
    Rasmussen & Williams (2006), section 5.4.1.

    Examples
    --------
    >>> from gpnotes import GP, RBF
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> found = fit(GP(RBF()), X, np.sin(X[:, 0]))
    >>> found.log_evidence > fit(GP(RBF()), X, np.sin(X[:, 0]), max_steps=1).log_evidence
    True
    >>> found.posterior.mean(np.asarray([[1.5]])).round(2)
    array([1.])
    """
    start = getattr(minibatches, "start", None)
    order = getattr(start, "columns", ())
    model, data, columns, known = given(model, X, y, noise_var, weights, offset, columns=order)
    begins = partial(_started, model, data)
    chosen = by_entry(begins, columns, fixed=fixed, bounds=bounds, priors=priors, tied=tied)
    # a given start is of this very model: none of its numbers may be started anew
    makes = objective_of if start is not None else started_objective
    objective = replace(makes(model, data, **chosen), columns=columns, known_columns=known)
    max_steps = _check.whole(max_steps, "max_steps", 1)
    if callback is not None:
        _check.function(callback, "callback")
    if on_step is not None:
        _check.function(on_step, "on_step")
    restarts = _check.whole(restarts, "restarts", 0)
    progress = _check.flag(progress, "progress")
    jobs = checked_jobs(jobs)
    if jobs != 1:
        _refuse(_given(on_step=on_step), "with jobs")
    if minibatches is not None:
        one_run = _given(restarts=restarts or None, bounds=bounds, priors=priors)
        _refuse(one_run | _given(on_step=on_step), "with minibatches")
        told = {"callback": callback, "progress": progress, "max_steps": max_steps, "rng": rng}
        found = _batched(objective, minibatches).fit_by_batches(objective, minibatches, **told)
        return replace(found, columns=columns, known_columns=known)
    apart = out_of_scale(objective.model, objective.spread, like_of(objective.model, data))
    begun = _from_data(objective, data) if apart else None
    starts = _starts(objective, restarts, rng, restart_sd, begun)
    runs: list[Run[Any]] = []
    with _shown(len(starts), jobs, progress) as bar:
        hear = on_step if bar is None or jobs != 1 else show_steps(bar, len(starts), on_step)
        together = jobs == 1 and hear is None and _pays_in_step(objective, data, starts)
        climbs = _in_step if together else _ascents
        # `_further` is a generator: it looks at `runs` only when all ascents before it have ended
        ascents = chain(
            climbs(objective, data, starts, max_steps, jobs, hear),
            _further(objective, data, runs, max_steps, hear),
        )
        ended = map(partial(_ended, objective), ascents)
        many = len(starts) if together else 1
        for run in _until(ended, callback, bar if jobs != 1 else None, many):
            runs.append(run)
    like = like_of(model, data)
    held = held_open(model, objective.spread, like, chosen["fixed"]) if fixed else ""
    remarks = (*filter(None, [held]), *_look_over(objective, data, runs, max_steps, apart))
    runs = sorted(runs, key=lambda run: -run.objective)
    if runs[0].log_evidence == -math.inf:
        raise ValueError(f"y must have an evidence under model; it has {runs[0].message}")
    # some runs may have lowered a floor, and what is reported must lie within the lowest
    objective = around(objective, *(objective.vector(run.model) for run in runs))
    remarks += _doubted(objective, runs[0])
    return Fit(tuple(runs), objective, columns=columns, known_columns=known, remarks=remarks)


@runtime_checkable
class _Batched(Protocol):
    """An evidence that a fit can ask for some rows at a time."""

    def fit_by_batches(
        self, objective: Objective[M], minibatches: Minibatches, /, **options: Any
    ) -> Fit[Any, Any]:
        """Return the fit from random batches of rows."""
        ...


def _batched(objective: Objective[M], minibatches: Minibatches) -> _Batched:
    """The evidence, if its model can be fitted by batches."""
    evidence = objective.evidence
    if not isinstance(evidence, _Batched):
        what = f"a fit of a {type(objective.model).__name__} asks for all rows at each step"
        raise ValueError(f"minibatches must be None: {what}; got {minibatches!r}")
    return evidence


def _given(**options: object) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _started(model: Any, data: Any) -> Any:
    """The model with numbers from the data where it leaves them open."""
    return started(model, measured(data, evidence_of(model, data)), like_of(model, data))


def _refuse(options: Mapping[str, object], where: str) -> None:
    for name, value in options.items():
        raise ValueError(f"{name} must not be given {where}; got {_check.kind_of(value)}")


def _starts(
    objective: Objective[M], restarts: int, rng: RNG | None, sd: float, begun: HostVector | None
) -> list[HostVector]:
    """The given start, and others whose parameters are drawn around its.

    Where it is far from the scale of the data, a start in theirs is `begun`, and they are drawn
    around that.
    """
    sd = _check.positive(_check.number(sd, "restart_sd"), "restart_sd", zero=True)
    start = objective.vector(objective.model)
    tried = []
    if begun is not None:
        tried, start = [start], begun
    if rng is None:
        if restarts:
            raise ValueError("restarts need an rng to draw their starts from")
        return [*tried, start]
    stream = stream_of(rng)
    many = len(objective.limits)
    units = sd * objective.units[:many]
    # parameters alone are drawn: inducing inputs begin where the model has them
    draws = (np.asarray(stream.normal(many)) for _ in range(restarts))
    drawn = (np.append(start[:many] + units * draw, start[many:]) for draw in draws)
    return [*tried, start, *drawn]


def _from_data(objective: Objective[M], data: Data | WaveSums) -> HostVector:
    """Where a run starts in the units of the data, whatever was given."""
    model = objective.model
    return objective.vector(started(model, objective.spread, like_of(model, data), every=True))


def _look_over(
    objective: Objective[M],
    data: Data | WaveSums,
    runs: list[Run[M]],
    max_steps: int,
    apart: bool,
) -> tuple[str, ...]:
    """Return remarks on the noise where the runs ended; one more run, if it took all of y."""
    given, of = runs[0], objective.spread
    best = max(runs, key=lambda run: run.objective)
    if best.log_evidence == -math.inf:
        return ()
    noise = is_all_noise(given.model, data, of)
    if noise and is_all_noise(best.model, data, of):
        begin = _from_data(objective, data)
        # else the start given was that of the data already
        if not np.array_equal(begin, objective.vector(objective.model)):
            runs.append(_ended(objective, climb(objective, data, (0, begin), max_steps)))
            apart = True
            best = max(runs, key=lambda run: run.objective)
    if is_all_noise(best.model, data, of):
        if not (_has_own_noise(objective) or objective.spread.constant):
            remedy = "if you know better, leave numbers out of the model, or give them bounds"
            warn_caller(f"{ALL_NOISE}; {remedy}", FitWarning)
        return _remark(ALL_NOISE)
    gain = best.objective - given.objective
    if noise and apart and gain > FLAT_THRESHOLD:
        why = "the start given ended with all of y taken for noise"
        said = f"{why}, {gain:.3g} below a start in the units of the data, which was taken"
        warn_caller(f"{said}: leave numbers out of the model", FitWarning)
        return _remark(said)
    return (
        _surprised(objective, best.model, data)
        or _too_high(objective, best, data)
        or _copied(objective, best, data)
        or _rounded(objective, best, data)
        or _doubtful(objective, data, runs)
    )


def _remark(said: str) -> tuple[str, ...]:
    """Return the text of a warning as a sentence of the report."""
    return (f"{said[0].upper()}{said[1:]}.",)


def _has_own_noise(objective: Objective[M]) -> bool:
    """Return whether the caller holds the noise."""
    return not {"noise_var", "gp.noise_var"}.isdisjoint(objective.held)


def _surprised(objective: Objective[M], model: M, data: Data | WaveSums) -> tuple[str, ...]:
    """Return a warning where readings, each left out in turn, surprise a fit without noise."""
    if _has_own_noise(objective):
        return ()
    size = left_out_size(objective.evidence, model, data, objective.spread)
    if size < SURPRISE:
        return ()
    said = f"readings, each left out, lie {size:.2g} of its predicted sd away in root mean square"
    remedy = "bounds={'noise_var': (low, high)}"
    warn_caller(f"the noise fell to nothing, yet {said}: give {remedy}", FitWarning)
    return (f"Predictions are surer than readings repeat: {said}.",)


def _too_high(objective: Objective[M], best: Run[M], data: Data | WaveSums) -> tuple[str, ...]:
    """Return a warning where the noise stands on its floor and readings are more precise."""
    if _was_cut(best) or not (floor := too_high(objective, data, best.model)):
        return ()
    rises = f"{floor:g} of the variance of y, beyond which the evidence rises"
    wider = "X and y in float64, or " if objective.spread.rounding > _ROUNDS else ""
    remedy = f"give {wider}bounds={{'{objective.floor}': (low, high)}}"
    return _warned(f"{TOO_HIGH}, {rises}: {remedy} if your readings are more precise")


def _copied(objective: Objective[Any], best: Run[Any], data: Data | WaveSums) -> tuple[str, ...]:
    """Return a warning where copies of rows, which differ by no noise, leave none to the fit."""
    on_floor = objective.floor and objective.floor in best.at_bounds
    if not (on_floor and isinstance(data, Rows)) or goes_below(objective, best.model):
        return ()
    n = data.X.shape[0]
    copies = n - without_copies(data).X.shape[0]
    if not copies:
        return ()
    remedy = f"leave them out, or hold the noise by fixed=['{objective.floor}']"
    return _warned(f"{COPIES}, in X and y, {copies} of {n}: {remedy}")


def _doubtful(
    objective: Objective[M], data: Data | WaveSums, runs: list[Run[M]]
) -> tuple[str, ...]:
    """Return a warning where readings are likelier at a lower top that has little noise."""
    found = doubtful(objective, data, runs)
    if found is None:
        return ()
    lower, noise, gain = found
    less = f"a run that ended {lower:.3g} nats lower, among .runs, has a noise of {noise:.2g}"
    said = f"{less}, and readings, each left out, are {gain:.3g} nats likelier there"
    remedy = f"give bounds={{'{objective.floor}': (low, high)}} if you know how precise they are"
    return _warned(f"{TWO_TOPS}: {said}: {remedy}")


def _rounded(objective: Objective[M], best: Run[M], data: Data | WaveSums) -> tuple[str, ...]:
    """Return a remark where rounding ended a run before its top."""
    if _was_cut(best) or not (share := stopped_by_rounding(objective, data, best.model)):
        return ()
    moved = f"Rounding moves variances by {100.0 * share:.2g} percent of the noise"
    remedy = f"hold what you know of it by fixed=['{objective.floor}']"
    return (f"{moved} and ended the fit before its top: {remedy}.",)


def _was_cut(run: Run[M]) -> bool:
    """Return True if the caller ended a run, so that where it stands says nothing."""
    return run.message in (ENOUGH, INTERRUPTED)


def _warned(said: str) -> tuple[str, ...]:
    """Warn of what a fit found, from within `_look_over`, and return it as a remark."""
    warn_caller(said, FitWarning)
    return _remark(said)


def _doubted(objective: Objective[M], best: Run[M]) -> tuple[str, ...]:
    """Return a remark on an approximation that the data contradict where the fit ended."""
    doubt = objective.evidence.doubt(best.model)
    if not doubt:
        return ()
    warn_caller(doubt, FitWarning)
    return _remark(doubt)


@contextmanager
def _shown(runs: int, jobs: Jobs, progress: bool) -> Iterator[Bar | None]:
    """A bar, if one is wanted: of evaluations, or of the runs that other processes make."""
    if not progress:
        yield None
        return
    bar = bar_of(None, "fit", "evaluation") if jobs == 1 else bar_of(runs, "fit", "run")
    try:
        yield bar
    finally:
        bar.close()


def _ended(objective: Objective[M], ascent: Ascent) -> Run[M]:
    """The run that an ascent was, within the floor that it had in the end."""
    return around(objective, ascent.vector).ended(ascent)


def _ascents(
    objective: Objective[M],
    data: Data | WaveSums,
    starts: list[HostVector],
    max_steps: int,
    jobs: Jobs,
    hear: OnStep | None,
) -> Iterator[Ascent]:
    """The ascents from all starts, in their order."""
    made = partial(climb, objective, data, max_steps=max_steps)
    if jobs == 1:
        made = partial(made, hear=hear)
    return iter(mapper_of(jobs)(made, list(enumerate(starts))))


def _pays_in_step(objective: Objective[M], data: Data | WaveSums, starts: list[HostVector]) -> bool:
    """Whether the evidences of several runs are cheaper as one: never on NumPy, to the last bit."""
    model = objective.model
    if len(starts) == 1 or not (isinstance(model, GP) and isinstance(data, Rows)):
        return False
    return not is_numpy_namespace(array_namespace(data.X)) and is_stacked(model, data)


def _in_step(
    objective: Objective[M],
    data: Data | WaveSums,
    starts: list[HostVector],
    max_steps: int,
    jobs: Jobs,
    hear: OnStep | None,
) -> Iterator[Ascent]:
    """The same ascents, whose evidences are computed as one; Ctrl-C ends all of them."""
    with deferred_interrupts() as pressed:
        mapped = partial(in_step, stopped=lambda: bool(pressed))
        ascents = list(_ascents(objective, data, starts, max_steps, mapped, hear))
    yield from ascents
    if pressed:
        raise KeyboardInterrupt


def _further(
    objective: Objective[M],
    data: Data | WaveSums,
    runs: list[Run[M]],
    max_steps: int,
    hear: OnStep | None,
) -> Iterator[Ascent]:
    """One more ascent where, when all runs have ended, a start lies or leads above them."""
    best = max(runs, key=lambda run: run.objective)
    begin = shorter_start(objective, best)
    if begin is not None:
        yield climb(objective, data, (len(runs), begin), max_steps, hear)
    first = (len(runs), objective.vector(objective.model))
    precise = climb_from_below(objective, data, best, first, max_steps, hear)
    if precise is not None:
        yield precise


def _until(
    runs: Iterable[Run[M]], callback: Callback | None, bar: Bar | None, together: int = 1
) -> Iterator[Run[M]]:
    """The runs up to the one after which the caller wants no more, or interrupts.

    Of those that went on together all are there when one is.
    """
    many = 0
    try:
        for run in runs:
            many += 1
            if bar is not None:
                bar.update(1)
            yield run
            # the ascent has kept its best place and the interrupt with it, which is to end all runs
            if run.message == INTERRUPTED and together == 1:
                raise KeyboardInterrupt
            answer = None if callback is None else callback(run)
            enough = answer is not None and _check.flag(answer, "callback(run)")
            if enough or run.message == ENOUGH:
                return
    except kept_interrupts():
        if not many:
            raise
        runs_made = "1 run" if many == 1 else f"{many} runs"
        warn_of(f"fit keeps the best of {runs_made}")
