"""What a room says of its models, so that four verbs serve them all: the evidence given data.

`verbs` and `fitting` know no model by name: they ask `evidence_of`, where each room registers its
own. Whoever writes a new model registers an `Evidence` of two methods, and has all four.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from ..ground import check as _check
from ..ground.chunks import OF_EACH_ROW, Chunks, Data, Rows
from ..ground.conversion import columns_of, ordered, together
from ..ground.named_columns import at_columns
from ..ground.params import Parameters
from ..ground.xp import Table
from ..model.bounds import Spread, _spread, spread
from ..model.gaussian_process import GP, require_noise
from .interdomain import WaveSums
from .posterior import Posterior

__all__ = [
    "Evidence", "data_of", "evidence_given", "evidence_of", "matched", "measured", "whole_rows",
]  # fmt: skip

M = TypeVar("M", bound=Parameters)
T = TypeVar("T")
Q_co = TypeVar("Q_co", bound=Posterior, covariant=True)


@dataclass(frozen=True, eq=False)
class Evidence(ABC, Generic[M, Q_co]):
    """The log evidence of models of one kind, or what stands for it, given data.

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
        """Return the model with what it leaves to the data chosen, such as inducing inputs."""
        return model

    def value(self, model: M, /) -> float:
        """Return its value alone: that of the posterior, where nothing else is cheaper."""
        posterior: Any = self.posterior(model)
        return float(posterior.log_evidence)

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

    Returns
    -------
    Evidence
        The log evidence, or what stands for it.

    Raises
    ------
    TypeError
        If nothing is registered for the kind of the model, or it needs all rows and gets chunks.
    """
    wanted = "a GP, or a model with an evidence such as sparse.SparseGP, svgp.SVGP"
    raise TypeError(f"model must be {wanted}; got {_check.kind_of(model)}")


def evidence_given(
    model: Parameters, data: Data | WaveSums, evidence: Evidence[Any, Posterior] | None = None
) -> Evidence[Any, Posterior]:
    """Return `evidence_of`, unless the data say of their noise what the model cannot hear.

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
    _require_noise(model, data, evidence)
    _require_found(model, data)
    _require_alike(model, data, evidence)
    _require_no_offset(model, data, evidence)
    return evidence


def _require_noise(
    model: Parameters, data: Data | WaveSums, evidence: Evidence[Any, Posterior]
) -> None:
    """Refuse a model whose noise is open, where neither a likelihood nor the data say it."""
    gp = getattr(model, "gp", model)
    said = isinstance(data, Rows) and data.noise_var is not None
    if isinstance(gp, GP) and not (said or "gp.noise_var" in evidence.held):
        require_noise(gp)


def _require_found(model: Parameters, data: Data | WaveSums) -> None:
    """Refuse a kernel of columns by name, where there are no rows that a frame may hold."""
    gp = getattr(model, "gp", model)
    if isinstance(gp, GP) and not isinstance(data, Rows) and gp.kernel.seeks_columns:
        wanted = "number its columns, as in `.on(0)`, where X is no frame but chunks or sums"
        raise ValueError(f"model must {wanted}; got {gp.kernel!r}")


def _require_alike(
    model: Parameters, data: Data | WaveSums, evidence: Evidence[Any, Posterior]
) -> None:
    """Refuse readings with a noise of their own, if the model takes none."""
    if isinstance(data, Chunks) and data.knows_noise and not evidence.by_reading:
        what = f"a {type(model).__name__} takes no noise of its own for each reading"
        raise TypeError(f"noise_var and weights must be None in chunks: {what}")
    if isinstance(data, Rows) and not evidence.by_reading:
        for name, given in (("noise_var", data.noise_var), ("weights", data.weights)):
            if given is not None:
                what = f"a {type(model).__name__} takes no noise of its own for each reading"
                raise TypeError(f"{name} must be None: {what}; got {_check.kind_of(given)}")


def _require_no_offset(
    model: Parameters, data: Data | WaveSums, evidence: Evidence[Any, Posterior]
) -> None:
    """Refuse an offset, if the model takes none."""
    if isinstance(data, Rows) and data.offset is not None and not evidence.by_offset:
        what = f"a {type(model).__name__} takes none; a LaplaceGP, an EPGP and an SVGP do"
        raise TypeError(f"offset must be None: {what}; got {_check.kind_of(data.offset)}")


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
    gp = getattr(model, "gp", model)
    known = gp.input_columns if isinstance(gp, GP) else ()
    if columns != known and sorted(columns) == sorted(known):
        X, columns = ordered(X, "X", known), known
    model = at_columns(model, columns)
    gp = getattr(model, "gp", model)
    if not isinstance(gp, GP) or gp.input_columns == columns:
        return model, X
    gp = replace(gp, input_columns=columns)
    return (replace(cast(Any, model), gp=gp) if hasattr(model, "gp") else cast(M, gp)), X


def data_of(
    model: Parameters,
    X: Table | Chunks | WaveSums,
    y: Table | None,
    noise_var: Table | None = None,
    weights: Table | None = None,
    offset: Table | None = None,
) -> Data | WaveSums:
    """Return what a verb was given, tables made arrays, as the data of an evidence.

    Parameters
    ----------
    model : object
        The model; where no table is an array of floats, they become like what it holds.
    X : Matrix, Chunks or WaveSums
        The inputs, or what stands in the place of X and y.
    y : Vector or None
        The observations.
    noise_var, weights : Vector or None
        What is known of the noise of each.
    offset : Vector or None
        What is added to the latent f of each.

    Returns
    -------
    Rows, Chunks or WaveSums
        The data.
    """
    if not isinstance(X, Chunks | WaveSums):
        each = {"noise_var": noise_var, "weights": weights, "offset": offset}
        return Rows(**together(model, X=X, y=y, **each))
    what = "chunks" if isinstance(X, Chunks) else "sums"
    if y is not None:
        raise TypeError(f"y must be None where X is {what}, which hold it; got {_check.kind_of(y)}")
    for name, given in (("noise_var", noise_var), ("weights", weights), ("offset", offset)):
        if given is not None:
            told = "give all rows to an SVGP, in batches" if name == "offset" else OF_EACH_ROW
            remedy = f": {told}" if what == "chunks" else ""
            got = _check.kind_of(given)
            raise TypeError(f"{name} must be None where X is {what}{remedy}; got {got}")
    return X


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


def measured(data: Data | WaveSums, evidence: Evidence[Any, Posterior]) -> Spread:
    """Return the spread of data, of whose y an evidence says whether f has its unit."""
    measure = _spread if isinstance(data, Rows) else spread  # rows are checked, chunks to be seen
    return replace(data.over(measure), latent=evidence.latent)
