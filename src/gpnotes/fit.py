"""Fitting hyperparameters: the evidence maximised from several starts, with a report.

The optimiser works on the flat vector of `params.flatten`, logarithms of what is positive, and
lives on the host; the data stay where they are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from . import _xp
from ._xp import Array
from .exact import GP, log_evidence_and_pullback
from .linalg import FactorisationError, JitterWarning
from .params import flatten, flatten_gradient, log_bounds
from .random import Stream

__all__ = ["Fit", "Run", "fit"]


@dataclass(frozen=True)
class Run:
    """One ascent: where it ended, how many evaluations it took, and what the optimiser said."""

    gp: GP
    log_evidence: float
    evaluations: int
    converged: bool
    message: str


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
    spread: float = 1.0,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    fixed: Collection[str] = (),
    steps: int = 200,
) -> Fit:
    """Maximise the evidence of y (n,) at X (n, d) over the parameters of `gp`.

    The first run starts at `gp`, each of the `restarts` at its parameters moved by `spread` times
    standard normals of `stream`, in logarithms where they are positive. `bounds` limit parameters
    by name, in their own units; `fixed` names those that stay, as in `params.flatten`.

    Raises `ValueError` for restarts without a stream, for names that are not there, and what
    `condition` raises. Source: Rasmussen & Williams (2006), section 5.4.1.

    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]))
    >>> found.log_evidence > fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]), steps=1).log_evidence
    True
    """
    if restarts and stream is None:
        raise ValueError("restarts need a stream to draw their starts from")
    start, rebuild = flatten(gp, fixed=fixed)
    limits = log_bounds(gp, bounds or {}, fixed=fixed)

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The negative log evidence, and its gradient; a wall where K_y cannot be factored."""
        here = rebuild(vector)
        try:
            with warnings.catch_warnings():
                # who conditions on what was found is told; on the way there it is no news
                warnings.simplefilter("ignore", JitterWarning)
                value, bar = log_evidence_and_pullback(here, X, y)
        except FactorisationError:
            return math.inf, np.zeros_like(vector)
        return -value, -flatten_gradient(here, bar, fixed=fixed)

    starts = [start]
    for _ in range(restarts):
        starts.append(start + spread * stream.normal(start.size))
    runs = sorted(
        (_run(loss, rebuild, one, limits, steps) for one in starts), key=lambda r: -r.log_evidence
    )
    return Fit(runs[0].gp, runs[0].log_evidence, tuple(runs))


def _run(loss: object, rebuild: object, start: np.ndarray, limits: np.ndarray, steps: int) -> Run:
    start = np.clip(start, limits[:, 0], limits[:, 1])
    found = _xp.minimise(loss, start, limits, steps)
    return Run(rebuild(found.x), -float(found.fun), found.nfev, found.success, str(found.message))
