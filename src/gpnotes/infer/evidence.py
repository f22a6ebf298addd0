"""The evidence of models given data, registered by each room so that four verbs serve them all.

`verbs` and `fitting` know no model by name: they ask `evidence_of`, where each room registers its
own. Whoever writes a new model registers an `Evidence` of two methods, and has all four.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from functools import singledispatch
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

from ..ground import check as _check
from ..ground.chunks import OF_EACH_ROW, Chunks, Data, Rows
from ..ground.conversion import (
    are_floats,
    columns_of,
    known_columns,
    ordered,
    taken_out,
    together,
)
from ..ground.late_reads import number
from ..ground.named_columns import at_columns
from ..ground.params import Parameters, left_open
from ..ground.xp import OfEach, Table
from ..model.bounds import Spread, _spread, spread
from ..model.gaussian_process import GP, require_noise
from .interdomain import WaveSums
from .known_noise import validate_noise
from .posterior import Posterior

__all__ = [
    "Evidence", "Given", "Model", "evidence_given", "evidence_of", "given", "matched", "measured",
    "whole_rows",
]  # fmt: skip

M = TypeVar("M", bound=Parameters)
T = TypeVar("T")
Q_co = TypeVar("Q_co", bound=Posterior, covariant=True)


class Model(Generic[M, Q_co]):
    """A model, by whose bases a type checker knows its posterior: ``class A(Model["A", OfA])``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True, eq=False)
class Evidence(ABC, Generic[M, Q_co]):
    """The log evidence of models of one kind, or its substitute, given data.

    Made by `evidence_of`, which has checked that the model and the data go together.

    Parameters
    ----------
    held : tuple of str, default ()
        The names of parameters that no fit moves.
    latent : bool, default False
        True if f is latent, so that its mean has not the unit of y.
    """

    by_reading: ClassVar[bool] = False  # whether it takes a noise of its own for each reading
    by_offset: ClassVar[bool] = False  # whether it takes what is added to f for each reading

    held: tuple[str, ...] = field(default=(), kw_only=True)
    latent: bool = field(default=False, kw_only=True)

    @abstractmethod
    def posterior(self, model: M, /) -> Q_co:
        """Return the model given the data."""

    @abstractmethod
    def value_and_gradient(self, model: M, /, *, quiet: bool = False) -> tuple[float, M]:
        """Return its value, and a model that holds its derivatives; a fit wants no warnings."""

    def settled(self, model: M, /) -> M:
        """Return the model with its choices by the data made, such as inducing inputs."""
        return model

    def value(self, model: M, /) -> float:
        """Return its value alone: that of the posterior, where nothing else is cheaper."""
        posterior: Any = self.posterior(model)
        return number(posterior.log_evidence)

    def require_gradient(self, model: M, /) -> None:
        """Raise a `TypeError` for a model that has a value but no gradient."""

    def least(self, model: M, /) -> Mapping[str, float]:
        """Return the parameters, by path, below which it has no value: a fit stays above."""
        return {}

    def for_fit(self, model: M, /) -> Self:
        """Return it as a fit asks it many times, or raise for a model that no fit should move."""
        self.require_gradient(model)
        return self

    def doubt(self, model: M, /) -> str:
        """Return why the posterior of a model that a fit has found is not to be relied on.

        An empty string where there is nothing to say.
        """
        return ""

    def fitted(self, model: M, /) -> Q_co:
        """Return the posterior of a model that a fit has found."""
        return self.posterior(model)


@singledispatch
def evidence_of(model: Parameters, data: Data | WaveSums) -> Evidence[Any, Posterior]:
    """Return the evidence of a model given data.

    A room registers its own kind of model: ``evidence_of.register(Model)``.

    Parameters
    ----------
    data : Rows, Chunks or WaveSums
        The data.

    Raises
    ------
    TypeError
        If nothing is registered for the kind of the model, or it needs all rows and gets chunks.
    """
    wanted = "a GP, or a model with an evidence such as sparse.SparseGP, svgp.SVGP"
    raise TypeError(f"model must be {wanted}; got {_check.kind_of(model)}")


def evidence_given(
    model: M, data: Data | WaveSums, evidence: Evidence[M, Posterior] | None = None
) -> Evidence[M, Posterior]:
    """Return `evidence_of`, unless the data have known noise that the model cannot use.

    Parameters
    ----------
    data : Rows, Chunks or WaveSums
        The data.
    evidence : Evidence or None, default None
        That of the model, where it is known.

    Raises
    ------
    ValueError
        If the variance of the noise was left open.
    TypeError
        If readings have a noise of their own, or an offset, and the model takes none.
    """
    evidence = evidence_of(model, data) if evidence is None else evidence
    gp = getattr(model, "gp", model)
    if isinstance(gp, GP):
        _require_known(gp, data, evidence)
    if not isinstance(data, WaveSums):
        _require_heard(model, data, evidence)
    return evidence


def _require_known(gp: GP, data: Data | WaveSums, evidence: Evidence[M, Posterior]) -> None:
    """Refuse noise that is left open, and columns by name where there are no rows of a frame."""
    rows = data if isinstance(data, Rows) else None
    # A likelihood may say how y scatters, or the data of each reading.
    said = (rows and rows.noise_var is not None) or "gp.noise_var" in evidence.held
    if not said and "noise_var" in left_open(gp):
        require_noise(gp)
    if not rows and gp.kernel.seeks_columns:
        wanted = "number its columns, as in `.on(0)`, where X is no frame but chunks or sums"
        raise ValueError(f"model must {wanted}; got {gp.kernel!r}")


def _require_heard(model: M, data: Data, evidence: Evidence[M, Posterior]) -> None:
    """Refuse a noise of their own, or offsets, of readings, where the model takes none.

    That noise is checked here, for all models.
    """
    if not evidence.by_reading and data.knows_noise:
        what = f"a {type(model).__name__} takes no noise of its own for each reading"
        if isinstance(data, Chunks):
            raise TypeError(f"noise_var and weights must be None in chunks: {what}")
        name = "weights" if data.noise_var is None else "noise_var"
        raise TypeError(f"{name} must be None: {what}; got {_check.kind_of(getattr(data, name))}")
    if not evidence.by_offset and isinstance(data, Rows) and data.offset is not None:
        what = f"a {type(model).__name__} takes none; a LaplaceGP, an EPGP and an SVGP do"
        raise TypeError(f"offset must be None: {what}; got {_check.kind_of(data.offset)}")
    if isinstance(data, Rows) and data.knows_noise:
        validate_noise(data.X, data.X.shape[0], data.noise_var, data.weights)


class Given(NamedTuple, Generic[M]):
    """What a verb was given: a model, and data with the names that a frame has for their columns.

    Parameters
    ----------
    model : object
        The model, at the columns that it names.
    data : Rows, Chunks or WaveSums
        The data, arrays of floats.
    columns : tuple of str, default ()
        The names of the columns of X.
    known_columns : tuple of pairs of str, default ()
        The arguments that were columns of X, with their names.
    """

    model: M
    data: Data | WaveSums
    columns: tuple[str, ...] = ()
    known_columns: tuple[tuple[str, str], ...] = ()


def given(
    model: M,
    X: Table | Chunks | WaveSums,
    y: Table | None,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
    *,
    columns: tuple[str, ...] = (),
) -> Given[M]:
    """Return what a verb was given as one value; whatever is below it takes that.

    Parameters
    ----------
    model : object
        The model; where no table is an array of floats, they become like what it holds.
    X : Matrix, Chunks or WaveSums
        The inputs, or what stands in the place of X and y.
    y : Vector or None
        The observations.
    noise_var, weights : Vector, str or None
        What is known of the noise of each, or the name of the column of X that holds it.
    offset : Vector, str or None
        What is added to the latent f of each, likewise.
    columns : tuple of str, default ()
        The order in which columns of a frame are taken; without it, that which the model knows.
    """
    if isinstance(X, Chunks | WaveSums):
        _require_alone(X, y=y, noise_var=noise_var, weights=weights, offset=offset)
        return Given(model, X)
    tables: tuple[Any, ...] = (X, y, noise_var, weights, offset)
    if are_floats(*tables):
        return Given(model, Rows(*tables))
    of_each = {"noise_var": noise_var, "weights": weights, "offset": offset}
    return _read(model, X, y, of_each, columns)


def _read(
    model: M,
    X: Table,
    y: Table | None,
    of_each: dict[str, OfEach | None],
    columns: tuple[str, ...],
) -> Given[M]:
    """The same of tables: columns found by their names, numbers made arrays of floats."""
    pairs: Any = X
    if y is None and isinstance(pairs, list | tuple) and pairs and isinstance(pairs[0], tuple):
        what = f"{_check.kind_of(X)} of {_check.kind_of(pairs[0])}"
        raise TypeError(f"X must be a matrix, or Chunks(pairs) for pairs (X, y); got {what}")
    X, each = taken_out(X, y=y, **of_each)
    model, X = matched(model, ordered(X, "X", columns))
    rows = Rows(**together(model, X=X, **each))
    return Given(model, rows, columns_of(X), known_columns(**of_each))


def _require_alone(sums: Chunks | WaveSums, **beside: OfEach | None) -> None:
    """Refuse what chunks, or sums, hold themselves."""
    what = "chunks" if isinstance(sums, Chunks) else "sums"
    for name, table in beside.items():
        if table is None:
            continue
        got = _check.kind_of(table)
        if name == "y":
            raise TypeError(f"y must be None where X is {what}, which hold it; got {got}")
        where = f"{name} must be None where X is {what}"
        remedy = "give all rows to an SVGP, in batches" if name == "offset" else OF_EACH_ROW
        raise TypeError(f"{where}{f': {remedy}' if what == 'chunks' else ''}; got {got}")


def matched(model: M, X: T) -> tuple[M, T]:
    """Return a model at the columns of a frame, and the frame in the order that the model knows.

    Parameters
    ----------
    model : object
        The model. Where its process was given a frame of the same columns before, they are taken in
        that order, in which lengths of single columns stand; its kernel finds those that it names.
    X : Matrix, Chunks or WaveSums
        The inputs; what has no columns with names comes back as it is, and so does the model.

    Returns
    -------
    model : object
        The model, whose process knows the columns.
    X : Matrix, Chunks or WaveSums
        The inputs.
    """
    columns = columns_of(X)
    if not columns:
        return model, X
    known = getattr(_owner(model), "input_columns", ())
    if columns != known and sorted(columns) == sorted(known):
        X, columns = ordered(X, "X", known), known
    model = at_columns(model, columns)
    owner = _owner(model)
    if getattr(owner, "input_columns", columns) == columns:
        return model, X
    owner = replace(owner, input_columns=columns)
    return (replace(cast(Any, model), gp=owner) if hasattr(model, "gp") else cast(M, owner)), X


def _owner(model: object) -> Any:
    """Return the part of a model that knows the columns: its process or itself."""
    return getattr(model, "gp", model)


def whole_rows(data: Data | WaveSums, model: Parameters) -> Rows:
    """Return the data, for a model whose evidence is no sum over chunks.

    Parameters
    ----------
    data : Rows or Chunks
        The data.
    model : object
        The model, whose class the error names.

    Raises
    ------
    TypeError
        If the data are chunks.
    """
    if not isinstance(data, Rows):
        raise TypeError(
            f"X must be a matrix: the evidence of a {type(model).__name__} is no sum over chunks"
        )
    return data


def measured(data: Data | WaveSums, evidence: Evidence[M, Posterior]) -> Spread:
    """Return the spread of data, of whose y an evidence says whether f has its unit."""
    measure = _spread if isinstance(data, Rows) else spread  # rows are checked, chunks to be seen
    return replace(data.over(measure), latent=evidence.latent)
