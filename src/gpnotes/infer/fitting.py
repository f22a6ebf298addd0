"""Fitting hyperparameters: the evidence maximised from several starts, with a report.

The optimiser works on the flat vector of `params.flatten`, logarithms of what is positive, and
lives on the host; the data stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..ground import check as _check
from ..ground.ascent import Ascent, Function, ascend
from ..ground.params import cotangent, flatten, flatten_gradient, free_leaves, leaves, replaced
from ..ground.random import Stream
from ..ground.xp import Array, HostMatrix, HostVector, Matrix, Vector, to_numpy
from ..model.bounds import ends, limits, touched
from ..model.contracts import Prior, require
from ..model.process import GP, admit_data, fitted_mean
from .exact import quiet_evidence
from .report import FLAT, Ended, Hyperparameter, Report
from .report.hyperparameters import surveyed

__all__ = ["Fit", "Run", "fit"]


@dataclass(frozen=True)
class Run:
    """One ascent: where it ended, how many evaluations it took, and what the optimiser said.

    `at_bounds` names the parameters that ended on one of their bounds, by `params.names`: there
    the evidence may go on rising. `log_prior` is the log density of the priors there, 0 where none
    are given. A run whose start had no evidence has failed: its `gp` is the given one, its
    `log_evidence` minus infinity, and its `message` says why.
    """

    gp: GP
    log_evidence: float
    evaluations: int
    converged: bool
    message: str
    at_bounds: tuple[str, ...] = ()
    log_prior: float = 0.0

    @property
    def objective(self) -> float:
        """The log evidence plus the log density of the priors, which is what a fit maximises."""
        return self.log_evidence + self.log_prior


@dataclass(frozen=True, eq=False)
class _Problem:
    """What a fit maximises, by what is free in a process like `gp`."""

    gp: GP
    X: Matrix
    y: Vector
    fixed: tuple[str, ...]
    priors: Mapping[str, Prior]
    box: HostMatrix

    def objective(self) -> Function:
        """Value and gradient at a vector of `params.flatten`."""
        _, rebuild = flatten(self.gp, fixed=self.fixed)

        def evaluated(vector: HostVector) -> tuple[float, HostVector]:
            """Jitter on the way is not worth a warning."""
            here = rebuild(vector)
            value, bar, _ = quiet_evidence(here, self.X, self.y)
            bar = _with_priors(bar, here, self.priors)
            value += _log_prior(here, self.priors)
            return value, flatten_gradient(here, bar, fixed=self.fixed)

        return evaluated

    def surveyed(self, run: Run) -> tuple[tuple[Hyperparameter, ...], float]:
        """The hyperparameters where a run ended, and how much higher a top may be."""
        objective = self.objective()
        return surveyed(objective, run.gp, self.y, self.fixed, run.at_bounds, self.box)


@dataclass(frozen=True, repr=False)
class Fit:
    """The best process found, its evidence, and all runs, best first.

    Printed, it is its `report`, a page; X and y are kept for that, not copied.
    """

    gp: GP
    log_evidence: float
    runs: tuple[Run, ...]
    _problem: _Problem | None = field(default=None, compare=False)

    @property
    def agreeing(self) -> int:
        """How many runs ended within 0.1 of the best objective; one of many is a warning."""
        return sum(self.runs[0].objective - run.objective < FLAT for run in self.runs)

    def report(self, run: int = 0) -> Report:
        """How well the readings determine the hyperparameters where a run ended, 0 being the best.

        With standard errors from the curvature there, `report.curvature.survey`: twice as many
        evaluations of the evidence as there are parameters, and some more for each that is not
        determined. Made anew at each call. Raises `ValueError` or `TypeError` for the number of a
        run that is not there or has failed.

        >>> from gpnotes import RBF
        >>> X = np.linspace(0.0, 9.0, 30)[:, None]
        >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]) + 0.1 * np.cos(40.0 * X[:, 0]))
        >>> found.report().undetermined()
        ()
        """
        run = _check.whole(run, "run", 0, len(self.runs) - 1)
        chosen = self.runs[run]
        if chosen.log_evidence == -math.inf:
            raise ValueError(f"run must be one that did not fail; got {run}: {chosen.message}")
        if self._problem is None:
            raise ValueError("found must be a fit that `fit` made, which keeps its readings")
        rows, gain = self._problem.surveyed(chosen)
        runs = tuple(_ended(one) for one in self.runs)
        y = to_numpy(self._problem.y)
        numbers = chosen.log_evidence, chosen.log_prior, gain
        return Report(y.size, rows, *numbers, runs, run, bool(y.size > 1 and np.ptp(y) == 0.0))

    def __repr__(self) -> str:
        """One line; ``print`` gives the page."""
        many = len(self.runs)
        agree = f", {self.agreeing} of {many} runs agree" if many > 1 else ""
        return f"<Fit: log evidence {self.log_evidence:.1f}{agree}>"

    def __str__(self) -> str:
        """The report of the best run, or one line where the readings were not kept."""
        return str(self.report()) if self._problem is not None else repr(self)


def fit(
    gp: GP,
    X: Array,
    y: Array,
    *,
    restarts: int = 0,
    stream: Stream | None = None,
    restart_sd: float = 1.0,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    priors: Mapping[str, Prior] | None = None,
    fixed: Collection[str] = (),
    steps: int = 200,
    callback: Callable[[Run], bool | None] | None = None,
    progress: bool = False,
) -> Fit:
    """Maximise the evidence of y (n,) at X (n, d) over the parameters of `gp`.

    The first run starts at `gp`, each of the `restarts` at its parameters moved by `restart_sd`
    times standard normals of `stream`, in logarithms where they are positive. `bounds` limit
    parameters by name, in their own units; the others are brought back where they leave what the
    range of X and y can tell apart, `bounds.ends`. `Run.at_bounds` names what ended on a bound.
    `fixed` names the parameters that stay, as in `params.flatten`.

    With `priors` on parameters, by name, it is the posterior density of the parameters that is
    maximised, :eq:`eq-hp-map`: by the parameters in their own units, not by their logarithms,
    whose density has its top elsewhere. What has no prior is as likely everywhere.

    ``callback(run)`` is called after each run; if it returns True, that run is the last. With
    `progress`, a bar shows how many of the runs are done, by ``tqdm`` of the extra `progress`.

    A run that meets parameters without an evidence turns back; one that starts there has failed,
    and the others go on. Raises `ValueError` or `TypeError` for arguments that do not fit, each by
    its name, `ValueError` where no start has an evidence, as for a y whose fourth power
    overflows, and `ImportError` for a bar without ``tqdm``.
    Source: Rasmussen & Williams (2006), section 5.4.1.

    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]))
    >>> found.log_evidence > fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]), steps=1).log_evidence
    True
    """
    admit_data(gp, X, y, learns=True)
    fitted_mean(gp)
    steps = _check.whole(steps, "steps", 1)
    if callback is not None:
        _check.function(callback, "callback")
    start, rebuild = flatten(gp, fixed=fixed)
    given = limits(gp, bounds, fixed=fixed)
    reach = ends(gp, X, y, fixed=fixed)
    box = np.where(np.isfinite(given), given, reach)
    problem = _Problem(gp, X, y, tuple(fixed), _read(priors, gp, fixed), box)
    objective = problem.objective()

    def run_from(begin: HostVector) -> Run:
        """An ascent, with its report."""
        ascent = ascend(objective, begin, given, steps, reach)
        return _run(problem, ascent, rebuild)

    starts = _starts(start, restarts, stream, restart_sd)
    bar = _bar(len(starts)) if _check.flag(progress, "progress") else None
    runs = sorted(_until(map(run_from, starts), callback, bar), key=lambda run: -run.objective)
    if runs[0].log_evidence == -math.inf:
        raise ValueError(f"y must have an evidence under gp; it has {runs[0].message}")
    return Fit(runs[0].gp, runs[0].log_evidence, tuple(runs), problem)


def _starts(start: np.ndarray, restarts: int, stream: Stream | None, sd: float) -> list[np.ndarray]:
    """The given start, and others drawn around it."""
    restarts = _check.whole(restarts, "restarts", 0)
    sd = _check.positive(_check.number(sd, "restart_sd"), "restart_sd", zero=True)
    if stream is None:
        if restarts:
            raise ValueError("restarts need a stream to draw their starts from")
        return [start]
    _check.instance(stream, "stream", Stream)
    draws = (np.asarray(stream.normal(start.size)) for _ in range(restarts))
    return [start, *(start + sd * draw for draw in draws)]


def _until(
    runs: Iterator[Run], callback: Callable[[Run], bool | None] | None, bar: _Bar | None
) -> Iterator[Run]:
    """The runs up to the one after which the caller wants no more."""
    try:
        for run in runs:
            if bar is not None:
                bar.update(1)
            yield run
            answer = None if callback is None else callback(run)
            if answer is not None and _check.flag(answer, "callback(run)"):
                return
    finally:
        if bar is not None:
            bar.close()


class _Bar(Protocol):
    """What is asked of a bar of tqdm's."""

    def update(self, n: int, /) -> object:
        """So many more are done."""

    def close(self) -> None:
        """No more will be."""


def _bar(total: int) -> _Bar:
    try:
        from tqdm.auto import tqdm
    except ImportError as problem:
        message = (
            "progress=True needs the package tqdm, extra `progress`; without, there is callback="
        )
        raise ImportError(message) from problem
    bar: _Bar = tqdm(total=total, desc="fit", unit="run")
    return bar


def _run(problem: _Problem, ascent: Ascent, rebuild: Callable[[HostVector], GP]) -> Run:
    """The report of an ascent; what could not be built is reported with the process given."""
    if ascent.value == -math.inf:
        return Run(problem.gp, *ascent[1:])
    end = rebuild(ascent.vector)
    log_prior = _log_prior(end, problem.priors)
    at_bounds = touched(problem.gp, ascent.vector, problem.box, fixed=problem.fixed)
    return Run(end, ascent.value - log_prior, *ascent[2:], at_bounds, log_prior)


def _ended(run: Run) -> Ended:
    return Ended(run.objective, run.evaluations, run.converged, run.at_bounds)


def _read(
    priors: Mapping[str, Prior] | None, gp: GP, fixed: Collection[str]
) -> Mapping[str, Prior]:
    """The priors, if each is one and is of a parameter that is fitted."""
    if not isinstance(priors, Mapping | None):
        wanted = "a mapping from names to priors"
        raise TypeError(f"priors must be {wanted}; got {type(priors).__name__}")
    free = [leaf.path for leaf in free_leaves(gp, fixed)]
    if unknown := sorted(set(priors or {}) - set(free), key=str):
        raise ValueError(f"priors name {unknown}; the parameters are {sorted(free)}")
    for name, prior in (priors or {}).items():
        require(prior, f"priors[{name!r}]", Prior)
    return priors or {}


def _log_prior(gp: GP, priors: Mapping[str, Prior]) -> float:
    held = {leaf.path: leaf.value for leaf in leaves(gp)}
    return sum((prior.log_density(held[name]) for name, prior in priors.items()), 0.0)


def _with_priors(gp_bar: GP, gp: GP, priors: Mapping[str, Prior]) -> GP:
    """The derivatives of the evidence, and those of the log densities of the priors."""
    if not priors:
        return gp_bar
    held = {leaf.path: leaf.value for leaf in leaves(gp)}
    slopes = {leaf.path: leaf.value for leaf in leaves(gp_bar)}
    more = {name: slopes[name] + prior.gradient(held[name]) for name, prior in priors.items()}
    return replaced(gp_bar, more, make=cotangent)
