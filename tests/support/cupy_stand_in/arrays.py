"""The array: numbers of NumPy that come out by `get` alone, and the device on which they are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .counts import allocated, counted, crossing, launch
from .devices import Device, current

__all__ = ["by_logarithms", "down", "ndarray", "operand", "up"]

_SCALARS = (bool, int, float, complex)


class ndarray:
    """An array on a device. ``ndarray(shape, dtype)`` is an empty one, as of CuPy."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, shape: Any, dtype: Any = float) -> None:
        self._host = np.empty(shape, supported(dtype))
        allocated(self._host)
        self._device = current()

    # what leaves the device

    def get(self, stream: Any = None, order: str = "C", out: Any = None) -> np.ndarray:
        crossing()
        return np.array(self._host, order=order)

    def item(self, *place: int) -> Any:
        crossing()
        return self._host.item(*place)

    def tolist(self) -> Any:
        crossing()
        return self._host.tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .functions import NAMES

        function = NAMES.get(ufunc.__name__)
        if function is None or method != "__call__":
            return NotImplemented
        return function(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from . import modules

        theirs = modules().get(func.__module__.replace("numpy", "cupy", 1))
        function = getattr(theirs, func.__name__, None)
        return NotImplemented if function is None else function(*args, **kwargs)

    def __bool__(self) -> bool:
        crossing()
        return bool(self._host)

    def __int__(self) -> int:
        crossing()
        return int(self._host)

    def __float__(self) -> float:
        crossing()
        return float(self._host)

    def __complex__(self) -> complex:
        crossing()
        return complex(self._host)

    def __repr__(self) -> str:
        return repr(self._host)

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host[()], spec)

    # what stays on it

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)
    device = property(lambda self: Device(self._device))
    T = property(lambda self: _beside(self._host.T, self))
    mT = property(lambda self: _beside(self._host.mT, self))
    real = property(lambda self: _beside(self._host.real, self))
    imag = property(lambda self: _beside(self._host.imag, self))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """By which others tell an array of a GPU; nobody can reach it."""
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (0, True), "version": 3}

    def view(self, dtype: Any = None) -> ndarray:
        return _beside(self._host.view() if dtype is None else self._host.view(dtype), self)

    def copy(self, order: str = "C") -> ndarray:
        launch()
        return up(self._host.copy(order))  # on the current device, as CuPy's

    def fill(self, value: Any) -> None:
        self[...] = value

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        here = down(self)
        if not copy and here.dtype == dtype:
            return self
        launch()
        return up(here.astype(supported(dtype), order=order))

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> ndarray:
        found = counted(operator.getitem)(self._host, _index(index, self.shape))
        return _beside(np.asarray(found), self)

    def __setitem__(self, index: Any, value: Any) -> None:
        plain = _index(index, self.shape)
        launch()
        if isinstance(value, ndarray):
            self._host[plain] = down(value)
        elif np.ndim(value) == 0 or any(isinstance(part, np.ndarray) for part in plain):
            down(self)
            self._host[plain] = np.asarray(value, dtype=self.dtype)
        else:  # what is on the host goes nowhere unless it is asked to
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        down(self).sort(axis)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        with self.device:
            return self.copy()

    def __reduce__(self) -> tuple[Callable[..., ndarray], tuple[np.ndarray]]:
        return up, (self._host,)


ndarray.__module__ = "cupy"


def up(value: Any, at: int | None = None) -> Any:
    """An array of NumPy, or one of its numbers, as an array on a device; others as they are."""
    if isinstance(value, np.ndarray | np.generic):
        made = ndarray.__new__(ndarray)
        made._host = np.asarray(value)
        allocated(made._host)
        made._device = current() if at is None else at
        supported(made.dtype)
        return made
    if isinstance(value, tuple | list):
        return tuple(up(part) for part in value)
    return value


def _beside(host: np.ndarray, like: ndarray) -> ndarray:
    return up(host, like._device)


def down(a: Any) -> np.ndarray:
    """The numbers of an array that a function of the current device may read."""
    if not isinstance(a, ndarray):
        raise TypeError(f"Unsupported type {type(a)}")
    if a._device != current():
        raise ValueError(
            f"The device where the array resides ({a._device}) is different from the current "
            f"device ({current()}). Peer access is unavailable between these devices."
        )
    return a._host


def operand(a: Any) -> Any:
    """An argument of a ufunc: an array of the current device, or a number of Python or NumPy."""
    if isinstance(a, np.generic) or type(a) in _SCALARS:
        return a
    return down(a)


def supported(dtype: Any) -> np.dtype:
    """A dtype, unless the device has no such numbers."""
    found = np.dtype(dtype)
    if found.kind not in "biufc" or found.itemsize > 16 or found.char in "gG":
        raise ValueError(f"Unsupported dtype {found}")
    return found


def _index(index: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index for NumPy; whole numbers out of bounds wrap around where they are in an array.

    With an ellipsis, so that a single number is a view as well, as on the device.
    """
    parts = index if isinstance(index, tuple) else (index,)
    parts = parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)
    axis, plain = 0, []
    for at, part in enumerate(parts):
        if part is Ellipsis:
            left = sum(_axes(other) for other in parts[at + 1 :])
            axis = len(shape) - left
        width = shape[axis] if axis < len(shape) else 1
        plain.append(_part(part, width))
        axis += 0 if part is Ellipsis else _axes(part)
    return tuple(plain)


def _axes(part: Any) -> int:
    if part is None:
        return 0
    dtype = getattr(part, "dtype", None)
    return part.ndim if dtype is not None and dtype.kind == "b" else 1


def _part(part: Any, width: int) -> Any:
    if part is None or part is Ellipsis or isinstance(part, slice | int | np.integer):
        return part
    plain = down(part) if isinstance(part, ndarray) else np.asarray(part)
    if plain.dtype.kind == "b":
        crossing()
    if isinstance(part, list | tuple) and not plain.size:
        plain = plain.astype(np.int32)
    if plain.dtype.kind not in "biu":
        raise IndexError(
            f"arrays used as indices must be of integer or boolean type; {plain.dtype}"
        )
    return plain if plain.dtype.kind == "b" or not width else plain % width


def by_logarithms(base: Any, exponent: Any) -> Any:
    """Powers as a device takes them: the last digit is wrong, but of squares, zeros and ones."""
    exact = np.power(base, exponent)
    if exact.dtype.kind != "f":
        return exact
    sure = (np.asarray(exponent) == 2) | (exact == 0.0) | (exact == 1.0)
    return np.where(sure, exact, np.nextafter(exact, exact.dtype.type(0.0)))


def _act(name: str) -> Callable[[Any, Any], Any]:
    return by_logarithms if name == "pow" else getattr(operator, name)


def _binary(name: str) -> Callable[[Any, Any], Any]:
    act = _act(name)

    def forward(self: ndarray, other: Any) -> Any:
        if getattr(other, "__array_ufunc__", other) is None:
            return NotImplemented
        with np.errstate(all="ignore"):  # a device warns of nothing
            launch()
            return up(act(down(self), operand(other)))

    return forward


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    act = _act(name)

    def backward(self: ndarray, other: Any) -> Any:
        with np.errstate(all="ignore"):
            launch()
            return up(act(operand(other), down(self)))

    return backward


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    act = getattr(operator, name)

    def changed(self: ndarray, other: Any) -> Any:
        with np.errstate(all="ignore"):
            launch()
            act(down(self), operand(other))
        return self

    return changed


def _unary(name: str) -> Callable[[Any], Any]:
    act = getattr(operator, name)
    return lambda self: up(counted(act)(down(self)))


def _method(name: str) -> Callable[..., Any]:
    def called(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        plain = [down(a) if isinstance(a, ndarray) else a for a in args]
        here = down(self)
        return up(counted(lambda _, *given: getattr(here, name)(*given, **kwargs))(here, *plain))

    return called


def _view(name: str) -> Callable[..., Any]:
    def called(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return _beside(getattr(self._host, name)(*args, **kwargs), self)

    return called


_BOTH = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
_ORDER = "lt le eq ne gt ge"
_ONE = "neg pos abs invert"
_MADE = (
    "all any argmax argmin argsort conj cumprod cumsum diagonal dot flatten max mean min nonzero "
    "prod repeat round std sum trace var"
)
_SEEN = "ravel reshape squeeze swapaxes transpose"
for _name in _BOTH.split():
    _plain = f"{_name}_" if _name in ("and", "or") else _name
    setattr(ndarray, f"__{_name}__", _binary(_plain))
    setattr(ndarray, f"__r{_name}__", _reflected(_plain))
    if _name != "matmul":
        setattr(ndarray, f"__i{_name}__", _in_place(f"i{_name}"))
for _name in _ORDER.split():
    setattr(ndarray, f"__{_name}__", _binary(_name))
for _name in _ONE.split():
    setattr(ndarray, f"__{_name}__", _unary(_name))
for _name in _MADE.split():
    setattr(ndarray, _name, _method(_name))
for _name in _SEEN.split():
    setattr(ndarray, _name, _view(_name))
