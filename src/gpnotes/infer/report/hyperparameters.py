"""Hyperparameters as a fit found them, each with its uncertainty by the objective around."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ...ground.ascent import Function
from ...ground.naming import path_of, unknown
from ...ground.params import Parameters, flatten, free_leaves, names
from ...ground.xp import HostMatrix
from ...model.bounds import Spread, strides
from ...model.kernels.algebra import ActiveDims
from ...model.kernels.coregion import OutputNoise
from ...model.kernels.periodic import Periodic
from .curvature import survey

__all__ = [
    "Hyperparameter", "by_entry", "entries_by_label", "surveyed", "with_columns", "with_followers",
]  # fmt: skip

_PER_UNIT = ("lengthscale", "period", "frequency")  # in the unit of an input
_PER_COLUMN = (*_PER_UNIT, "variance", "weight_variance")  # a vector has one for each column


@dataclass(frozen=True)
class Hyperparameter:
    """One number that was fitted, in its own units, and how well it is known.

    Parameters
    ----------
    name : str
        Its name, by `params.names`.
    value : float
        Where the fit ended.
    positive : bool
        It is positive, and was fitted by its logarithm.
    error : float
        The standard error of the optimised number: of the logarithm, and so relative, where the
        parameter is positive; NaN where it has none.
    state : str
        How well it is known, as in `ObjectiveSurvey`.
    low, high : float
        The ends of the range that is as good, where the state is ``"flat"``.
    column : str, default ""
        The name of the column that it belongs to, where the inputs were a frame.
    tied_to : str, default ""
        The name of the one that it follows, whose number, error and state it has.
    """

    name: str
    value: float
    positive: bool
    error: float
    state: str
    low: float
    high: float
    column: str = ""
    tied_to: str = ""

    @property
    def label(self) -> str:
        """Its name, and that of its column."""
        return _label(self.name, self.column)

    @property
    def interval(self) -> tuple[float, float]:
        """Two standard errors to either side, of the logarithm where the parameter is positive."""
        if self.positive:
            factor = _exp(2.0 * self.error)
            return self.value / factor, self.value * factor
        return self.value - 2.0 * self.error, self.value + 2.0 * self.error


def surveyed(
    objective: Function,
    end: Parameters,
    of: Spread,
    fixed: Collection[str],
    at_bounds: Collection[str],
    box: HostMatrix,
) -> tuple[tuple[Hyperparameter, ...], float]:
    """Return the free parameters of an object, and the gain, by a `survey` of the objective.

    Parameters
    ----------
    objective : callable
        The value and gradient, by the vector of `params.flatten`.
    end : Parameters
        The object where the ascent ended.
    of : Spread
        How far the data reach.
    fixed : collection of str
        The parameters that stayed.
    at_bounds : collection of str
        The entries that lie on a side of the box.
    box : HostMatrix, shape (p, 2)
        The sides.

    Returns
    -------
    hyperparameters : tuple of Hyperparameter
        The free parameters, entry by entry.
    gain : float
        The rise from the end to the top of a parabola through it.

    Notes
    -----
    Differences are taken over ``eps**0.2`` of the dtype of the data, 7e-4 or 0.04, where rounding
    and curvature of higher order spoil them about as much.
    """
    vector, _ = flatten(end, fixed=fixed)
    entries = names(end, fixed=fixed)
    # a name at a bound does not say at which: it is the nearer of the two
    nearer_top = box[:, 1] - vector < vector - box[:, 0]
    sides = np.isin(entries, list(at_bounds)) * np.where(nearer_top, 1.0, -1.0)
    units = strides(end, of, fixed=fixed)
    seen = survey(objective, vector, sides, units, of.rounding**0.2)
    positive = {leaf.path: leaf.constraint != "real" for leaf in free_leaves(end, fixed)}
    columns = zip(entries, vector, seen.errors, seen.states, seen.low, seen.high, strict=True)
    found = []
    for name, value, error, state, *ends in columns:
        is_log = positive[name.partition("[")[0]]
        own, low, high = (_exp(v) if is_log else float(v) for v in (value, *ends))
        found.append(Hyperparameter(name, own, is_log, float(error), state, low, high))
    return tuple(found), seen.gain


def with_followers(
    found: tuple[Hyperparameter, ...], entries: Sequence[str], tied: Mapping[str, str]
) -> tuple[Hyperparameter, ...]:
    """Return hyperparameters with those that follow one of them, in the order of a model.

    Parameters
    ----------
    found : tuple of Hyperparameter
        The hyperparameters in the vector of a fit.
    entries : sequence of str
        The names of these and of tied followers, in the order of the model.
    tied : mapping from str to str
        For each entry that follows another, that one.
    """
    of = {one.name: one for one in found}
    return tuple(
        replace(of[tied[name]], name=name, tied_to=tied[name]) if name in tied else of[name]
        for name in entries
    )


def with_columns(
    found: tuple[Hyperparameter, ...], model: Parameters, columns: Sequence[str]
) -> tuple[Hyperparameter, ...]:
    """Return hyperparameters with the names of the columns that they belong to.

    Parameters
    ----------
    found : tuple of Hyperparameter
        The hyperparameters of a model.
    columns : sequence of str
        The names of the columns of its inputs; empty where they have none.

    Returns
    -------
    tuple of Hyperparameter
        The same; one of a whole kernel belongs to no column.
    """
    if not columns:
        return found
    return tuple(replace(one, column=_column(one.name, model, columns)) for one in found)


def entries_by_label(model: Parameters, columns: Sequence[str]) -> dict[str, str]:
    """Return the entry of each label that a report of a model would print with a column's name.

    ``path[column]`` and ``path (column)`` are names of it, too.
    """
    found = {name: _column(name, model, columns) for name in names(model)}
    entries = {name: column for name, column in found.items() if column}
    by_column = {
        form.format(name.partition("[")[0], column): name
        for name, column in entries.items()
        for form in ("{}[{}]", "{} ({})")
    }
    return by_column | {_label(name, column): name for name, column in entries.items()}


def by_entry(
    model: Callable[[], Parameters], columns: Sequence[str], **given: Any
) -> dict[str, Any]:
    """Return arguments that name parameters, where they do it as a report prints them, by entries.

    The `model` of the report is made only where there is such a label, and without `columns` there
    is none. A label of a column that is not there is a ValueError, which says which is near.
    """

    @cache
    def labels() -> dict[str, str]:
        return entries_by_label(model(), columns)

    def entry_of(argument: str, name: str) -> str:
        if not (columns and name.endswith((")", "]"))):
            return name
        if name not in labels() and _names_a_column(name):
            there = _by_path(labels(), name[-1])
            raise unknown(argument + " names {!r}; by the columns of X there are {}", [name], there)
        return labels().get(name, name)

    return {name: _with_entries(value, partial(entry_of, name)) for name, value in given.items()}


def _names_a_column(name: str) -> bool:
    """Return True if a name that ends in a bracket has more than numbers in it."""
    at = name.rstrip(")]").rpartition("[")[2]
    return name.endswith(")") or not all(part.strip().isdecimal() for part in at.split(","))


def _by_path(labels: Iterable[str], end: str) -> dict[str, list[str]]:
    """The labels with an end, by the parameter of each."""
    there: dict[str, list[str]] = {}
    for label in labels:
        if label.endswith(end):
            there.setdefault(path_of(label).partition(" ")[0], []).append(label)
    return there


def _with_entries(given: object, entry_of: Callable[[str], str]) -> object:
    """Names, alone, as keys or in groups, each as the entry that is meant by it."""
    if isinstance(given, str):
        return entry_of(given)
    if isinstance(given, Mapping):
        return {_with_entries(name, entry_of): value for name, value in given.items()}
    if isinstance(given, tuple | list | set | frozenset):
        return type(given)(_with_entries(one, entry_of) for one in given)
    return given


def _label(name: str, column: str) -> str:
    return f"{name} ({column})" if column else name


def _column(name: str, model: object, columns: Sequence[str]) -> str:
    """The column of an entry such as ``kernel.parts.0.kernel.lengthscale[1]``, or none."""
    path, _, at = name.partition("[")
    *way, last = path.split(".")
    for step in way:
        model = model[int(step)] if isinstance(model, tuple) else getattr(model, step)
        if isinstance(model, ActiveDims):
            columns = [columns[k] for k in model.places]
    if isinstance(model, OutputNoise):  # whose variances are of outputs
        return ""
    if at and last in _PER_COLUMN and "," not in at:
        return columns[int(at.rstrip("]"))]
    return columns[0] if len(columns) == 1 and _has_unit(model, last) else ""


def _has_unit(owner: object, parameter: str) -> bool:
    """Return True if a parameter has the unit of an input; a periodic lengthscale is in turns."""
    return parameter in _PER_UNIT and not (
        isinstance(owner, Periodic) and parameter == "lengthscale"
    )


def _exp(value: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.exp(value))
