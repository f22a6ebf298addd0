"""Numbers as the language sees them: columns (n, 1), rows (1, n), scalars without a shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from ..errors import OperationError

Array: TypeAlias = np.ndarray


def host(value: object) -> Array:
    """`value` as a NumPy array of its own shape, float64 or complex128, wherever it lives."""
    if type(value) is np.ndarray and value.dtype in (np.float64, np.complex128):
        return value  # as most are
    if type(value) in (float, np.float64, complex):
        return np.asarray(value)
    try:
        array = on_host(value)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise _no_array(value) from problem
    if array.dtype.kind not in "biufc":
        raise _no_array(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def on_host(value: Any) -> Array:
    """Return `value` as a NumPy array of its own dtype, or raise the error of its library.

    CuPy's arrays come down by ``get``, PyTorch's by ``numpy``, whether or not they require a
    gradient, and those of array-api-strict on another device by DLPack.
    """
    if hasattr(value, "detach"):
        return np.asarray(value.numpy(force=True))
    if hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):
        return np.asarray(value.get())
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        if not hasattr(value, "__array_namespace__"):
            raise
    info = value.__array_namespace__().__array_namespace_info__()
    return np.from_dlpack(value.to_device(info.default_device()))


def _no_array(value: object) -> OperationError:
    name = type(value).__name__
    if isinstance(value, np.ndarray):
        return OperationError(f"an array of dtype {value.dtype} has no numbers")
    return OperationError(f"a{'n' * (name[0] in 'aeiou')} {name} is no number or array")


def conform(value: object) -> Array:
    """`value` in the shape that the language computes with.

    A vector (n,) becomes a column (n, 1); one number in any shape becomes a scalar; a
    matrix, or an array with more axes, stays as it is.

    >>> conform([1.0, 2.0]).shape, conform([[3.0]]).shape
    ((2, 1), ())
    """
    return shaped(host(value))


def scalar(value: complex | np.number[Any] | Array) -> Array:
    """One number as a NumPy scalar, which has all that an array without axes has."""
    own = type(value)
    if own is np.float64 or own is np.complex128:
        return cast("Array", value)  # as most are
    if own is complex or (own is not float and np.iscomplexobj(value)):
        return cast("Array", np.complex128(value))
    return cast("Array", np.float64(cast("float", value)))


def size_of(value: Array) -> float:
    """The largest of the entries of `value` in absolute value.

    >>> size_of(np.array([1.0, -2.0])), size_of(scalar(-3.0))
    (2.0, 3.0)
    """
    # most are one number, whose maximum would take ten times as long
    return float(np.max(np.abs(value)) if value.ndim else abs(value))


def shaped(array: Array) -> Array:
    """`array` with a vector as a column, and one number without a shape."""
    if array.ndim == 1 and array.size != 1:
        return array[:, None]
    return array.reshape(()) if array.size == 1 and array.ndim else array


def kind(value: object) -> str:
    """Classify a bound value as the grammar must know it.

    "value", "entries", "callable", "word", "set", or, under an average, "nodes",
    "distribution" and, where the nodes depend on something, "conditional".
    """
    if type(value) in (float, int, np.ndarray):
        return "value"  # as most are
    if isinstance(value, Entries):
        return "entries"
    if isinstance(value, Nodes):
        return "nodes"
    if isinstance(value, Word):
        return "word"
    if isinstance(value, Distribution):
        return "distribution" if isinstance(value.nodes, Nodes) else "conditional"
    if callable(value) and not hasattr(value, "shape"):
        return "callable"
    if isinstance(value, set | frozenset | range | dict) or is_family(value):
        return "set"
    return "value"


def is_family(value: Any) -> bool:
    """Return whether it is a list of sets, ``B_1`` to ``B_M``, or a mapping of indices to sets."""
    held = value.values() if isinstance(value, dict) else value
    listed = isinstance(value, list | tuple | dict) and len(value) > 0
    return listed and all(isinstance(one, set | frozenset | range) for one in held)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The points and weights of a quadrature rule, or of an enumerated distribution.

    Parameters
    ----------
    points : array, shape (n,) or (n, d)
        The points of a scalar variable, or of a vector. In a joint distribution of several
        variables each has one column, or as many as `sizes` says.
    weights : array, shape (n,)
        The weights; for an expectation they sum to one.
    sizes : tuple of int, default ()
        The number of columns of each variable.

    Raises
    ------
    ValueError
        If the shapes or the sizes do not match, or a value is no real array.

    Examples
    --------
    >>> Nodes([0.0, 1.0], [0.25, 0.75]).weights.shape
    (2,)
    """

    points: Any
    weights: Any
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        points, weights = host(self.points), host(self.weights)
        if weights.ndim != 1 or points.ndim == 0 or len(points) != len(weights):
            said = f"(n, ...) and (n,); got {points.shape} and {weights.shape}"
            raise ValueError(f"points and weights must have shapes {said}")
        columns = points.shape[1] if points.ndim == 2 else 1
        if self.sizes and sum(self.sizes) != columns:
            said = f"the {columns} columns of the points; got {self.sizes}"
            raise ValueError(f"sizes must add up to {said}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "weights", weights)

    def values(self, place: int, variables: int, key: str) -> list[object]:
        """Return jointly drawn variables at one point of the nodes `key`, each by itself.

        Raises `OperationError` if the points have columns for another number of `variables`.
        """
        parts = [self.points[place]]
        if variables > 1:
            sizes = self.sizes or (1,) * np.size(parts[0])
            if len(sizes) != variables:
                columns = f"{len(sizes)} column{'s' * (len(sizes) > 1)}"
                said = f"have {columns}, and {variables} variables are drawn from it"
                raise OperationError(f"the points of `{key}` {said}")
            split = np.split(np.ravel(parts[0]), np.cumsum(sizes)[:-1])
            parts = [part[0] if len(part) == 1 else part for part in split]
        # a whole number is one that a table may be asked for
        return [int(part) if self.listed and np.ndim(part) == 0 else part for part in parts]

    @cached_property
    def listed(self) -> bool:
        """Return whether all points are whole numbers."""
        return bool(np.all(self.points == np.round(self.points)))


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution that an average runs under: ``\\mathbb E_{q(x)}``, ``\\mathbb E_{x \\sim q}``.

    It is bound to a letter, ``"q"``, or to a written form: ``"p(x)"`` and ``"p(y \\mid x)"`` may
    both be bound.

    Parameters
    ----------
    nodes : Nodes or Callable
        Its points and weights, or a function that returns them for the things they depend on: the
        indices of the variables, as in ``q(f_i)``, and then the symbols behind the bar, as in
        ``p(y \\mid x)``.
    density : Callable, optional
        The meaning of ``q(x)`` in the formula itself, a function of its arguments in brackets.
    value : object, optional
        The argument of a bound function that takes the distribution, as in
        ``\\operatorname{KL}(q \\,\\|\\, p)``; without it, the distribution itself.

    Raises
    ------
    TypeError
        If `nodes` are neither `Nodes` nor a function, or `density` is no function.

    Examples
    --------
    >>> coin = Distribution(Nodes([0.0, 1.0], [0.25, 0.75]), density=lambda x: 0.25 + 0.5 * x)
    >>> coin.density(1.0)
    0.75
    """

    nodes: Nodes | Callable[..., Nodes]
    density: Callable[..., object] | None = None
    value: object = None

    def __post_init__(self) -> None:
        if not (isinstance(self.nodes, Nodes) or callable(self.nodes)):
            said = type(self.nodes).__name__
            raise TypeError(f"nodes must be Nodes, or a function that returns them; got a {said}")
        if self.density is not None and not callable(self.density):
            raise TypeError(f"density must be a function; got a {type(self.density).__name__}")


@dataclass(frozen=True, eq=False)
class Word:
    """A function that needs no brackets, as ``\\operatorname{erf} z``: bound to a function word.

    >>> kind(Word(abs))
    'word'
    """

    function: Callable[..., object]


@dataclass(frozen=True, eq=False)
class Entries:
    """Numbers or arrays with `axes` indices each, as many as are asked for: ``x_i``, ``w_{ij}``.

    >>> x = Entries(1, iter([0.5, 0.7]).__next__)
    >>> x.at((0,)), x.at((-3,)), x.at((0,))
    (0.5, 0.7, 0.5)
    """

    axes: int
    draw: Callable[[], Any]
    known: dict[tuple[int, ...], Any] = field(default_factory=dict, repr=False)

    def at(self, indices: tuple[int, ...]) -> Any:
        """The one with these indices, drawn when it is first asked for."""
        if len(indices) != self.axes:
            raise OperationError(f"{len(indices)} indices where {self.axes} stand elsewhere")
        if indices not in self.known:
            self.known[indices] = self.draw()
        return self.known[indices]

    def over(self, number: Any) -> Entries:
        """All of them divided by a number."""
        known = {indices: value / number for indices, value in self.known.items()}
        return Entries(self.axes, lambda: self.draw() / number, known)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A Monte Carlo mean with its standard error.

    Parameters
    ----------
    value : number or array
        The mean.
    standard_error : number or array
        Its standard error.
    n : int, default 0
        The number of draws.
    seed : int, default 0
        The seed of their stream.
    """

    value: Any
    standard_error: Any
    n: int = 0
    seed: int = 0
