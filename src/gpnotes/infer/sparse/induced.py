"""Models that see f through inducing variables: those given, or inputs chosen from the data."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from numbers import Number
from typing import Any, Self, TypeVar, cast

import numpy as np

from ...ground import check as _check
from ...ground.chunks import Data, Rows
from ...ground.conversion import columns_of, floats
from ...ground.named_columns import at_columns
from ...ground.random import stream
from ...ground.xp import Matrix, Vector, array_namespace, as_array, as_index, to_numpy
from ...model.bounds import lengths_of
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, validate_data
from ...model.kernels import Kernel, Matern12
from ..interdomain import InducingPoints, WaveSums
from ..interdomain.point_functionals import variables_of
from .inducing_points import _greedy_points, pivots

__all__ = ["Induced", "told_apart", "validate_rows_of", "with_inducing"]

T = TypeVar("T", bound="Induced")

_CANDIDATES = 20_000  # rows that inputs are chosen among


class Induced:
    """The base of models that see f through inducing variables.

    They are dataclasses with these fields, and settle the second when they are made.

    Parameters
    ----------
    gp : GP
        The process.
    inducing : Matrix (M, d), InducingVariables or int
        The inducing inputs, other inducing variables, or how many inputs to choose.
    inducing_columns : tuple of str
        The names of the columns of the inducing inputs, where a frame had some.
    """

    gp: GP
    inducing: Matrix | InducingVariables | int
    inducing_columns: tuple[str, ...]

    def _settle_inducing(self) -> None:
        """Check the field and keep a copy of it; variables are looked over once."""
        columns = columns_of(self.inducing) or tuple(self.inducing_columns)
        if isinstance(self.inducing, Number):
            settled: Any = _check.whole(cast(Any, self.inducing), "inducing", 1)
            columns = ()
        else:
            variables = variables_of(floats(cast(Any, self.inducing), "inducing"), "inducing")
            if not self.gp.kernel.seeks_columns:
                self.gp.kernel._validate_inputs(variables.inputs, "inducing")
            settled = variables.Z if type(variables) is InducingPoints else variables
            columns = columns if settled is not variables else ()
            object.__setattr__(self, "variables", variables)
        if columns and len(columns) != settled.shape[1]:
            wanted = f"the names of the {settled.shape[1]} columns of inducing"
            raise ValueError(f"inducing_columns must be {wanted}; got {columns}")
        object.__setattr__(self, "inducing", settled)
        object.__setattr__(self, "inducing_columns", columns)

    def at_columns(self, columns: tuple[str, ...], name: str = "X") -> Self:
        """The same model, its kernel at its columns; inducing inputs of others are refused.

        Parameters
        ----------
        columns : tuple of str
            The names of the columns of the inputs.
        name : str, default "X"
            The name of the inputs in an error.
        """
        known = self.inducing_columns
        if known and known != columns:  # the lengths of a kernel may be in either order
            wanted = f"inducing must have the columns of {name} in their order, {list(columns)}"
            remedy = "choose one frame's by the other's, or give an array whose order is right"
            raise ValueError(f"{wanted}; got {list(known)}: {remedy}")
        gp = at_columns(self.gp, columns, name)
        return self if gp is self.gp else replace(cast(Any, self), gp=gp)

    @cached_property
    def variables(self) -> InducingVariables:
        """The variables that f is conditioned on, `inducing` itself or the values at its rows."""
        if isinstance(self.inducing, int):
            why = "`condition` and `fit` choose them from X, and what they give has them"
            raise ValueError(f"inducing must be inputs or variables: {why}; got {self.inducing}")
        return variables_of(self.inducing, "inducing")


def with_inducing(model: T, data: Data | WaveSums) -> T:
    """Return a model that has inducing inputs, chosen from data where it says how many.

    Parameters
    ----------
    model : SparseGP or SVGP
        The model, which comes back as it is if it has inducing variables.
    data : Rows, Chunks or WaveSums
        The data; chunks and sums leave no choice.
    """
    if not isinstance(model.inducing, int):
        return model
    if not isinstance(data, Rows):
        wanted = f"inputs, as of sparse.greedy_points(kernel, rows, {model.inducing}),"
        raise TypeError(f"inducing must be {wanted} where X is chunks; got {model.inducing}")
    chosen: T = replace(cast(Any, model), inducing=_far_apart(data.X, model.inducing))
    return chosen


def told_apart(model: T, kernel: Kernel, Z: Matrix) -> T:
    """Return a model without those inducing inputs that add nothing to the others.

    They are chosen by `sparse.greedy_points`, now with the kernel of the process: under a smooth
    one few inputs tell all that there is to know of many, and the rest make K_uu singular.

    Parameters
    ----------
    model : SparseGP or SVGP
        The model, whose inducing inputs were chosen from the data.
    kernel : Kernel
        Its kernel, in the precision in which K_uu is factored.
    Z : Matrix, shape (M, d)
        Its inducing inputs, in that precision.
    """
    inputs = model.variables.inputs
    kept = as_index(pivots(kernel, Z, Z.shape[0]), inputs)
    fewer: T = replace(
        cast(Any, model), inducing=array_namespace(inputs).take(inputs, kept, axis=0)
    )
    return fewer


def validate_rows_of(model: Induced, X: Matrix, y: Vector, name: str = "X") -> None:
    """Raise, naming the argument, for rows of data that do not go with a model.

    Parameters
    ----------
    name : str, default "X"
        The name of X in an error.
    """
    if isinstance(model.inducing, int):
        validate_data(model.gp, X, y, name)
    else:
        inputs = model.variables.inputs
        validate_data(model.gp, X, y, name, columns=inputs.shape[1])
        _check.alike(X, name, inputs, "inducing")


def _far_apart(X: Matrix, n: int) -> Matrix:
    """Rows of X, each far from those before, at most one of each.

    The kernel is rough, so that as many come back as there are rows, and none of the parameters.
    """
    host = np.asarray(to_numpy(X), dtype=np.float64)
    if host.shape[0] > (most := max(n, _CANDIDATES)):
        # at random, since every k-th row may be of one of k sensors
        host = host[np.sort(np.asarray(stream(0).permutation(host.shape[0]))[:most])]
    rough = Matern12(1.0, lengths_of(host))
    return as_array(_greedy_points(rough, host, min(n, host.shape[0])), X)
