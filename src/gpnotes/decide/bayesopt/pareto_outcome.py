"""Evaluations of several objectives, and the outcome of a search for their front."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np

from ...ground.showing import aligned, preformatted
from ...ground.xp import HostVector
from .history import FAILURES, Form, keep_unchanged, last_problem
from .repeats import lines_on_repeats, repeats_of
from .search_region import Place, Region, named_settings, said
from .settings import Record

__all__ = [
    "ParetoOutcome", "VectorEvaluation", "form_of", "listed", "record_of_vector",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class VectorEvaluation(Generic[Place]):
    """One evaluation of several objectives.

    Parameters
    ----------
    x : HostVector, shape (d,), or dict
        The place.
    y : HostVector, shape (m,)
        The values there; NaN where there was a problem.
    problem : str
        The problem; empty where there was none.
    failure : str
        The handling of a problem, ``"record"`` or ``"stop"``; empty where there was none.
    constraints : HostVector, shape (k,), or None
        The values of the constraints, if they were given; each is met where it is at most zero.
    """

    x: Place
    y: HostVector
    problem: str = ""
    failure: str = ""
    constraints: HostVector | None = None

    def __post_init__(self) -> None:
        keep_unchanged(self, "x", "y", "constraints")

    @property
    def is_feasible(self) -> bool:
        """True if there are values, and all constraints are met."""
        met = self.constraints
        return not self.failure and (met is None or bool(np.all(met <= 0.0)))

    def __repr__(self) -> str:
        """One line."""
        came = f"failed, {self.problem}" if self.failure else listed(self.y)
        return f"<VectorEvaluation: {came} at {said(self.x)}>"


@dataclass(frozen=True, eq=False)
class ParetoOutcome(Generic[Place]):
    """The result of `minimise_several`; ``print`` shows the front.

    Parameters
    ----------
    front : tuple of VectorEvaluation
        The feasible evaluations that no other dominates, by their first value.
    evaluations : tuple of VectorEvaluation
        All, in their order.
    reference : HostVector, shape (m,), or None
        The point below which hypervolume is measured: the one that was given, or that of
        `ParetoOptimiser`'s rule at the end, for which there must be a feasible evaluation.
    hypervolume : float
        The volume below it that the front dominates.
    used_up : bool
        True if the search ended because all settings of a finite space are known.
    """

    front: tuple[VectorEvaluation[Place], ...]
    evaluations: tuple[VectorEvaluation[Place], ...]
    reference: HostVector | None
    hypervolume: float
    used_up: bool = False

    _repr_html_ = preformatted

    @property
    def repeated(self) -> int:
        """The number of evaluations of places that had been evaluated before."""
        return repeats_of(self.evaluations).places

    def _counts(self) -> str:
        failed = sum(bool(one.failure) for one in self.evaluations)
        parts = [f"{len(self.evaluations)} evaluations"]
        parts += [f"{failed} failed"] if failed else []
        if any(one.constraints is not None for one in self.evaluations):
            parts += [f"{sum(one.is_feasible for one in self.evaluations) or 'none'} feasible"]
        return ", ".join([*parts, f"{len(self.front)} on the front"])

    def __repr__(self) -> str:
        """One line."""
        return f"<ParetoOutcome: {self._counts()}, hypervolume {self.hypervolume:.6g}>"

    def __str__(self) -> str:
        """The page: the front, a row for each of its evaluations."""
        lines = [f"Search for a front: {self._counts()}"]
        lines += [*lines_on_repeats(self), *last_problem(self.evaluations)]
        if self.reference is None or not self.front:
            return "\n".join(lines)
        lines += [f"Hypervolume {self.hypervolume:.6g} below {listed(self.reference)}", ""]
        places = [named_settings(one.x) for one in self.front]
        names = list({name: None for place in places for name in place})
        heads = [*(f"y[{j}]" for j in range(len(self.reference))), *names]
        rows = [
            [*(f"{v:.6g}" for v in one.y), *(place.get(name, "–") for name in names)]
            for one, place in zip(self.front, places, strict=True)
        ]
        return "\n".join([*lines, *aligned([heads, *rows])])


def listed(values: HostVector) -> str:
    """Values in a line for people."""
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def record_of_vector(evaluation: VectorEvaluation[Place], region: Region[Place]) -> Record:
    """An evaluation in JSON."""
    x = region.record(evaluation.x)
    if evaluation.failure:
        return {"x": x, "y": None, "problem": evaluation.problem, "failure": evaluation.failure}
    met = evaluation.constraints
    more = {} if met is None else {"constraints": met.tolist()}
    return {"x": x, "y": evaluation.y.tolist(), **more}


def form_of(objectives: int, num_constraints: int) -> Form[VectorEvaluation[Any]]:
    """Return the file format of evaluations of so many objectives and constraints."""
    wanted = ((objectives,), (num_constraints,) if num_constraints else ())
    return Form(record_of_vector, partial(_vector_of_record, wanted))


def _vector_of_record(
    wanted: tuple[tuple[int, ...], ...], record: Record, region: Region[Place]
) -> VectorEvaluation[Place] | None:
    """The evaluation of a record; None if values and constraints are of other shapes."""
    x = region.read(record["x"])
    if record["y"] is None:
        blank, failure = np.full(wanted[0], np.nan), str(record["failure"])
        failed = VectorEvaluation(x, blank, str(record["problem"]), failure)
        return failed if failure in FAILURES else None
    y = np.asarray(record["y"], dtype=np.float64)
    given = record.get("constraints")
    met = None if given is None else np.asarray(given, dtype=np.float64)
    sizes = (y.shape, () if met is None else met.shape)
    finite = bool(np.all(np.isfinite(y)) and (met is None or np.all(np.isfinite(met))))
    return VectorEvaluation(x, y, constraints=met) if finite and sizes == wanted else None
