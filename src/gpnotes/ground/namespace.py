"""The namespace that arrays are of; for NumPy's, one that goes the shortest way to its ufuncs.

``numpy.sum`` and its like look their arguments over before they call the ufunc that does the work.
For the small matrices that a rollout makes by hundreds in every step, looking takes longer than
working. Here are the same ufuncs and methods, called at once: not a bit of any result differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial, wraps
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any, TypeVar, cast

import array_api_compat
import numpy as np
from array_api_compat import is_cupy_array

from .array_types import Array, HostArray, Namespace, Numbers

__all__ = ["array_namespace", "fused", "is_jax_array", "refusal"]

T = TypeVar("T")

_OURS = "carry gradients back by a pullback, as the page on arrays shows"
# Declared so loosely since NumPy declares each with a dozen signatures.
_sum: Callable[..., Array] = partial(np.add.reduce, axis=None)
_max: Callable[..., Array] = partial(np.maximum.reduce, axis=None)
_min: Callable[..., Array] = partial(np.minimum.reduce, axis=None)
_all: Callable[..., Array] = partial(np.logical_and.reduce, axis=None)
_any: Callable[..., Array] = partial(np.logical_or.reduce, axis=None)


def array_namespace(*arrays: object) -> Namespace:
    """Return the namespace of some arrays, ``xp``: the array API standard in their library."""
    for a in arrays:
        if type(a) is not np.ndarray:
            break
    else:
        if arrays:
            return _numpy()
    kind = type(arrays[0]) if arrays else None
    alike = all(type(a) is kind for a in arrays)
    if alike and kind in _OF_CUPY:
        return _OF_CUPY[kind]
    for a in arrays:
        if got := refusal(a):
            raise TypeError(f"an array must hold values; got {got}")
    if not alike:
        return _looked_up(*arrays)
    if kind not in _OF_CLASS:
        _OF_CLASS[kind] = _looked_up(*arrays)
    return _OF_CLASS[kind]


_OF_CLASS: dict[type[object] | None, Namespace] = {}  # by the class of its arrays
_OF_CUPY: dict[type[object] | None, Namespace] = {}  # the same, of classes none of which traces


def _looked_up(*arrays: object) -> Namespace:
    xp = array_api_compat.array_namespace(*arrays)
    if array_api_compat.is_cupy_namespace(xp):
        if array_api_compat.is_cupy_array(arrays[0]):  # and no number of Python's
            _OF_CUPY[type(arrays[0])] = _cupy(xp)
        return _cupy(xp)
    return _numpy() if array_api_compat.is_numpy_namespace(xp) else xp


def _traced_as(cupy: ModuleType, *arguments: object) -> None:
    """Give the arguments that CuPy traces when it fuses a function a namespace, that of CuPy."""
    for kind in map(type, arguments):
        if kind not in _OF_CUPY and kind is not type(None):
            _OF_CUPY[kind] = _of_traced(cupy)


@cache
def _of_traced(cupy: ModuleType) -> Namespace:
    def astype(x: HostArray, dtype: Any, /, *, copy: bool = True) -> HostArray:
        return x.astype(dtype)

    return cast("Namespace", _like(cupy, astype=astype))


def is_jax_array(a: object) -> bool:
    """Tell if an array is one of JAX; an array of NumPy is recognised by its type, at once."""
    return type(a) is not np.ndarray and array_api_compat.is_jax_array(a)


def refusal(a: object) -> str | None:
    """Return the message of an error for an unsupported array, or None for any other value.

    A collection of Dask, by what Dask itself asks: its library has a Cholesky factor, but the upper
    one, which would pass for the lower. And a tensor of PyTorch that requires grad, or an array
    that JAX traces: nothing here records a graph, and a loss without its gradient would look like
    one with it.
    """
    graph = getattr(type(a), "__dask_graph__", None)
    if graph is not None and graph(a) is not None:
        what = "has no values yet: compute it, or pass gpnotes.Chunks of its blocks"
    elif getattr(a, "requires_grad", False) is True:
        what = f"requires grad, and nothing here records a graph: detach it, and {_OURS}"
    elif _is_traced(a):
        what = f"has no values while jit, grad or vmap trace it: call outside of them, or {_OURS}"
    else:
        return None
    return f"a {type(a).__module__.partition('.')[0]} {type(a).__name__}, which {what}"


def _is_traced(a: object) -> bool:
    """Tell if JAX traces it, without importing JAX."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(a, jax.core.Tracer)


@cache
def _numpy() -> Namespace:
    """Return NumPy's namespace, made at first use: its parts take long to import."""
    import array_api_compat.numpy as standard

    shorter = _like(
        standard,
        sum=_sum,
        max=_max,
        min=_min,
        all=_all,
        any=_any,
        clip=partial(_clip, cast("Any", standard).clip),
        reshape=_reshape,
        take=np.ndarray.take,
        matrix_transpose=attrgetter("mT"),
        ones_like=np.ones_like,
        zeros_like=np.zeros_like,
        linalg=_like(
            standard.linalg,
            eigh=np.linalg.eigh,
            diagonal=partial(np.ndarray.diagonal, axis1=-2, axis2=-1),
        ),
    )
    return cast("Namespace", shorter)


@cache
def _cupy(standard: Namespace) -> Namespace:
    """Its own `clip`: that of the standard reads the bounds back from the device."""
    clip = import_module("cupy").clip

    def shorter(x: Array, /, min: Numbers | None = None, max: Numbers | None = None) -> Array:
        return clip(x, min, max)

    return cast("Namespace", _like(cast("ModuleType", standard), clip=shorter))


def _like(module: ModuleType, **shorter: object) -> ModuleType:
    """A module with the names of another, some of them bound to the functions in `shorter`."""
    copy = ModuleType(module.__name__)
    vars(copy).update({**vars(module), **shorter})
    return copy


def _reshape(x: HostArray, /, shape: tuple[int, ...], *, copy: bool | None = None) -> HostArray:
    return x.reshape(shape, copy=copy)


def _clip(
    standard: Callable[..., Array], x: HostArray, /, min: Any = None, max: Any = None
) -> Array:
    """NumPy's between numbers of Python; for other bounds the standard has their dtype to mind."""
    plain = x.dtype in _FLOATS and type(min) in _PLAIN and type(max) in _PLAIN
    if not plain or min is max is None:
        return standard(x, min, max)
    exact = x.dtype.type
    if min is None:
        return np.minimum(x, exact(max))
    return np.maximum(x, exact(min)) if max is None else np.clip(x, exact(min), exact(max))


_FLOATS = frozenset({np.dtype(np.float64), np.dtype(np.float32)})
_PLAIN = frozenset({int, float, type(None)})


def fused(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function of arrays, entry by entry, as one launch where the library can do so.

    That is CuPy, whose ``fuse`` compiles the function's operations into one kernel. It is
    made once for each function: one that is fused stands in a module, or is kept in a cache.

    Parameters
    ----------
    function : callable
        It takes arrays, the first in the precision of its result, and numbers. In it stand the
        library's operations entry by entry, ``where`` and at the end one sum or extreme; no shape,
        no index, no branch by a number. A sum to one number is for vectors: it runs in one block.

    Returns
    -------
    callable
        The same, which elsewhere does plain operations.
    """

    @wraps(function)
    def called(first: object, *others: object) -> T:
        if not is_cupy_array(first):
            return function(first, *others)
        return _fused_by_cupy(import_module("cupy"), function)(first, *others)

    return called


@cache
def _fused_by_cupy(cupy: ModuleType, function: Callable[..., T]) -> Callable[..., T]:
    def traced(first: Array, *others: object) -> object:
        _traced_as(cupy, first, *others)
        made: object = function(first, *others)
        # a number of Python's counts as one of float64 where versions of CuPy fuse
        parts = made if type(made) is tuple else (made,)
        parts = tuple(part.astype(first.dtype, copy=False) for part in parts)
        return parts if type(made) is tuple else parts[0]

    return cast("Callable[..., T]", cupy.fuse(kernel_name=_identifier(function))(traced))


def _identifier(function: Callable[..., object]) -> str:
    return "gpnotes_" + function.__name__.strip("_<>")
