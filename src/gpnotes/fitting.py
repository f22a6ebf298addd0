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
from .exact import quiet_evidence
from .params import flatten, flatten_gradient
from .process import GP, admit_data, differentiable_mean
from .random import Stream

__all__ = ["Fit", "Run", "fit"]


@dataclass(frozen=True)
class Run:
    """One ascent: where it ended, how many evaluations it took, and what the optimiser said.

    `at_bounds` names the parameters that ended on one of their bounds, by `params.names`: there
    the evidence may go on rising. A run whose start had no evidence has failed: its `gp` is the
    given one, its `log_evidence` minus infinity, and its `message` says why.
    """

    gp: GP
    log_evidence: float
    evaluations: int
    converged: bool
    message: str
    at_bounds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fit:
    """The best process found, its evidence, and all runs, best first."""

    gp: GP
    log_evidence: float
    runs: tuple[Run, ...]

    @property
    def agreeing(self) -> int:
        """How many runs ended within 0.1 of the best log evidence; one of many is a warning."""
        return sum(self.log_evidence - run.log_evidence < 0.1 for run in self.runs)


def fit(
    gp: GP,
    X: Array,
    y: Array,
    *,
    restarts: int = 0,
    stream: Stream | None = None,
    restart_sd: float = 1.0,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    fixed: Collection[str] = (),
    steps: int = 200,
) -> Fit:
    """Maximise the evidence of y (n,) at X (n, d) over the parameters of `gp`.

    The first run starts at `gp`, each of the `restarts` at its parameters moved by `restart_sd`
    times standard normals of `stream`, in logarithms where they are positive. `bounds` limit
    parameters by name, in their own units; the others are brought back where they leave what the
    range of X and y can tell apart, `bounds.ends`. `Run.at_bounds` names what ended on a bound.
    `fixed` names the parameters that stay, as in `params.flatten`.

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
    reach = ends(gp, X, y, fixed=fixed)

    def evidence(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The log evidence and its gradient; jitter on the way is not worth a warning."""
        here = rebuild(vector)
        value, bar, _ = quiet_evidence(here, X, y)
        return value, flatten_gradient(here, bar, fixed=fixed)

    ascents = [
        ascend(evidence, begin, given, steps, reach)
        for begin in _starts(start, restarts, stream, restart_sd)
    ]
    ascents.sort(key=lambda ascent: -ascent.value)
    if ascents[0].value == -math.inf:
        raise ValueError(f"y must have an evidence under gp; it has {ascents[0].message}")
    box = np.where(np.isfinite(given), given, reach)
    runs = tuple(_run(gp, ascent, rebuild, box, fixed) for ascent in ascents)
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
) -> Run:
    """The report of an ascent; what could not be built at all is reported with `gp`."""
    failed = ascent.value == -math.inf
    at_bounds = () if failed else touched(gp, ascent.vector, box, fixed=fixed)
    end = gp if failed else rebuild(ascent.vector)
    return Run(end, *ascent[1:], at_bounds)
