"""`fuse`: the operations of a function as one launch, if they are such as CuPy fuses.

These are ufuncs and `where`, after which there may be one reduction, and then ufuncs of what it
gives. All arguments are broadcast first. Of a traced argument neither shape nor numbers are known:
no branch hangs on them, and nothing is picked out of it. CuPy would take some more, by ways that
its documentation does not describe; what is in one launch there is in one launch here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from .arrays import by_logarithms, down, ndarray, up
from .counts import launch

__all__ = ["Traced", "fuse", "is_traced"]

_TAKEN = (ndarray, np.ndarray, np.generic, int, float, complex, bool, type(None))
_REDUCTIONS = (np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.all, np.any)


class Traced:
    """An argument of a function that is fused, or what was made of some."""

    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, value: Any, ndim: int, reduced: bool = False) -> None:
        self._value, self.ndim, self._reduced = value, ndim, reduced

    dtype = property(lambda self: np.asarray(self._value).dtype)

    @property
    def shape(self) -> None:
        raise NotImplementedError("`shape` is not supported, currently.")

    def __bool__(self) -> bool:
        raise TypeError("Can't cast to bool")

    __int__ = __float__ = __complex__ = __index__ = __bool__

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        return Traced(np.asarray(self._value).astype(dtype), self.ndim, self._reduced)


def is_traced(*args: Any) -> bool:
    return any(isinstance(a, Traced) for a in args)


def of_ufunc(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Traced:
    """A ufunc of traced arguments and numbers."""
    if kwargs:
        raise TypeError(f"Wrong arguments {kwargs}")
    traced = [a for a in args if isinstance(a, Traced)]
    for a in args:
        if not isinstance(a, Traced | int | float | bool | np.generic):
            raise TypeError(f"Unsupported type {type(a)}")
    if len({a._reduced for a in traced}) > 1:
        raise TypeError("Shape mismatch: before and after a reduction")
    values = [a._value if isinstance(a, Traced) else a for a in args]
    with np.errstate(all="ignore"):
        return Traced(plain(*values), max(a.ndim for a in traced), traced[0]._reduced)


def of_reduction(plain: Callable[..., Any], a: Traced, *args: Any, axis: Any = None) -> Traced:
    """The one reduction that there may be."""
    if plain not in _REDUCTIONS or args:
        raise TypeError(f"{plain.__name__} cannot be fused")
    if a._reduced:
        raise NotImplementedError("Multiple reduction is not implemented yet")
    with np.errstate(all="ignore"):
        made = np.asarray(plain(a._value, axis=axis))
    return Traced(made, made.ndim, reduced=True)


def fuse(*args: Any, **kwargs: Any) -> Any:
    """A decorator, with or without a name for the kernel."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return update_wrapper(_Fusion(args[0]), args[0])
    return lambda function: update_wrapper(_Fusion(function, *args, **kwargs), function)


class _Fusion:
    def __init__(self, func: Callable[..., Any], kernel_name: str | None = None) -> None:
        self.func, self.name = func, kernel_name or func.__name__
        if not self.name.isidentifier():
            raise ValueError(f"{self.name!r} cannot be the name of a kernel")

    def __call__(self, *args: Any) -> Any:
        if is_traced(*args) or not any(isinstance(a, ndarray) for a in args):
            return self.func(*args)
        if wrong := [type(a) for a in args if not isinstance(a, _TAKEN)]:
            raise TypeError(f"Invalid argument type for {self.name!r}: ({wrong})")
        shape = np.broadcast_shapes(*(a.shape for a in args if isinstance(a, ndarray)))
        made = self.func(*(_traced(a, shape) for a in args))
        launch()
        if isinstance(made, tuple):
            if any(part._reduced for part in made) and len(made) > 1:
                raise NotImplementedError("a reduction is all that is returned")
            return tuple(_settled(part, shape) for part in made)
        return _settled(made, shape)


def _traced(a: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(a, ndarray):
        return Traced(np.broadcast_to(down(a), shape), a.ndim)
    if isinstance(a, np.ndarray):
        raise TypeError(f"Unsupported type {type(a)}")
    return a if a is None else Traced(a, -1)


def _settled(made: Any, shape: tuple[int, ...]) -> ndarray:
    if not isinstance(made, Traced):
        raise TypeError(f"Fusion function can't return {type(made)}")
    value = np.asarray(made._value)
    return up(np.array(value if made._reduced else np.broadcast_to(value, shape)))


def _operator(act: Callable[..., Any], turned: bool = False) -> Callable[[Traced, Any], Traced]:
    def applied(self: Traced, other: Any) -> Traced:
        return of_ufunc(act, *((other, self) if turned else (self, other)))

    return applied


for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor"]:
    _act = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Traced, f"__{_name}__", _operator(_act))
    setattr(Traced, f"__r{_name}__", _operator(_act, turned=True))
for _name in ["lt", "le", "eq", "ne", "gt", "ge"]:
    setattr(Traced, f"__{_name}__", _operator(getattr(operator, _name)))
Traced.__pow__ = _operator(by_logarithms)
Traced.__neg__ = lambda self: of_ufunc(operator.neg, self)
Traced.__invert__ = lambda self: of_ufunc(operator.invert, self)
