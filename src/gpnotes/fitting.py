"""Fitting hyperparameters: the evidence maximised from several starts, with a report.

The optimiser works on the flat vector of `params.flatten`, logarithms of what is positive, and
lives on the host; the data stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from . import _check
from ._xp import Array, HostMatrix, HostVector
from .ascent import Ascent, ascend
from .bounds import ends, limits, touched
from .contracts import Prior, require
from .exact import quiet_evidence
from .params import cotangent, flatten, flatten_gradient, free_leaves, leaves, replaced
from .process import GP, admit_data, differentiable_mean
from .random import Stream

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


@dataclass(frozen=True)
class Fit:
    """The best process found, its evidence, and all runs, best first."""

    gp: GP
    log_evidence: float
    runs: tuple[Run, ...]

    @property
    def agreeing(self) -> int:
        """How many runs ended within 0.1 of the best objective; one of many is a warning."""
        return sum(self.runs[0].objective - run.objective < 0.1 for run in self.runs)


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

    A run that meets parameters without an evidence turns back; one that starts there has failed,
    and the others go on. Raises `ValueError` or `TypeError` for arguments that do not fit, each by
    its name, and `ValueError` where no start has an evidence, as for a y whose fourth power
    overflows.
    Source: Rasmussen & Williams (2006), section 5.4.1.

    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]))
    >>> found.log_evidence > fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]), steps=1).log_evidence
    True
    """
    admit_data(gp, X, y)
    differentiable_mean(gp)
    steps = _check.whole(steps, "steps", 1)
    start, rebuild = flatten(gp, fixed=fixed)
    given = limits(gp, bounds, fixed=fixed)
    believed = _read(priors, gp, fixed)
    reach = ends(gp, X, y, fixed=fixed)

    def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient; jitter on the way is not worth a warning."""
        here = rebuild(vector)
        value, bar, _ = quiet_evidence(here, X, y)
        bar = _with_priors(bar, here, believed)
        return value + _log_prior(here, believed), flatten_gradient(here, bar, fixed=fixed)

    ascents = [
        ascend(objective, begin, given, steps, reach)
        for begin in _starts(start, restarts, stream, restart_sd)
    ]
    ascents.sort(key=lambda ascent: -ascent.value)
    if ascents[0].value == -math.inf:
        raise ValueError(f"y must have an evidence under gp; it has {ascents[0].message}")
    box = np.where(np.isfinite(given), given, reach)
    runs = tuple(_run(gp, ascent, rebuild, box, fixed, believed) for ascent in ascents)
    return Fit(runs[0].gp, runs[0].log_evidence, runs)


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


def _run(
    gp: GP,
    ascent: Ascent,
    rebuild: Callable[[HostVector], GP],
    box: HostMatrix,
    fixed: Collection[str],
    priors: Mapping[str, Prior],
) -> Run:
    """The report of an ascent; what could not be built at all is reported with `gp`."""
    failed = ascent.value == -math.inf
    at_bounds = () if failed else touched(gp, ascent.vector, box, fixed=fixed)
    end = gp if failed else rebuild(ascent.vector)
    log_prior = 0.0 if failed else _log_prior(end, priors)
    return Run(end, ascent.value - log_prior, *ascent[2:], at_bounds, log_prior)


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
