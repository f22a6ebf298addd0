"""Arrays of other libraries than NumPy: brought to the host where bindings enter, and back up.

Below that door all is NumPy's: the evaluator, and the bound functions, among them SciPy's. A
function that does not work there, since it holds arrays of another library itself, is called
again with its arguments in that library. It stays where it has first worked.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import LibraryError
from .values import Distribution, Estimate, kind, on_host

_MARKS = ("__array_namespace__", "__dlpack__", "__cuda_array_interface__")


class Drawn(dict[str, Any]):
    """The values of symbols on the host, and the `library` whose arrays were among them."""

    library = "numpy"


def brought(bindings: Mapping[str, object]) -> Drawn:
    """Return the values of `bindings` on the host; NumPy's own stay as they are.

    Functions are then called with arrays on the host, or with arrays of the first library that is
    bound, on its device and in its precision, if they work there alone. Raises `LibraryError` for
    an array that its library does not hand out.

    >>> brought({"a": 2.0})
    {'a': 2.0}
    """
    drawn = Drawn(bindings)
    foreign = list(_foreign(list(bindings.values())))
    if foreign:
        real = (array for array in foreign if "float" in str(array.dtype))
        above = _Above(next(real, foreign[0]))
        for key, value in bindings.items():
            try:
                drawn[key] = above.brought(value)
            except (TypeError, ValueError, RuntimeError) as wrong:
                said = f"`{key}` does not come to the host from {above.name}: {wrong}"
                raise LibraryError(said) from wrong
        drawn.library = above.name
    return drawn


def _foreign(value: Any) -> Iterator[Any]:
    """Yield the arrays of other libraries than NumPy that a bound value, or a list, holds."""
    if isinstance(value, Estimate):
        yield from _foreign([value.value, value.standard_error])
    elif type(value) in (list, tuple):
        for one in value:
            yield from _foreign(one)
    elif _is_foreign(value):
        yield value


def _is_foreign(value: object) -> bool:
    numpy = isinstance(value, np.ndarray | np.generic)
    return not numpy and any(hasattr(type(value), mark) for mark in _MARKS)


def takes_part(wrong: BaseException) -> bool:
    """Return whether a function that raised had an array of another library at hand."""
    for frame, _ in traceback.walk_tb(wrong.__traceback__):
        named = (frame.f_globals.get(name) for name in frame.f_code.co_names)
        if any(map(_is_foreign, [*frame.f_locals.values(), *named])):
            return True
    return False


class _Above:
    """The library of the array `like`, its device and its precision."""

    def __init__(self, like: Any) -> None:
        root = type(like).__module__.partition(".")[0]
        own = getattr(like, "__array_namespace__", None)
        self.xp: Any = own() if own else sys.modules[root]
        self.name = str(self.xp.__name__.partition(".")[0])
        self.like = like
        self.dtype = str(like.dtype).rpartition(".")[2]  # `torch.float32` is NumPy's `float32`
        self.originals: dict[Distribution, Distribution] = {}  # by those on the host

    def brought(self, value: Any) -> object:
        """`value` on the host; a function, so that it can be called from there."""
        if _is_foreign(value):
            array = np.array(on_host(value))  # a copy
            if array.dtype.kind not in "biufc":
                raise TypeError(f"NumPy has no numbers of the dtype {array.dtype}")
            return array[()]  # one number as a number
        if type(value) in (list, tuple):
            return type(value)(map(self.brought, value))
        if isinstance(value, Estimate):
            mean, error = map(self.brought, (value.value, value.standard_error))
            return replace(value, value=mean, standard_error=error)
        if isinstance(value, Distribution):
            nodes, density = (self._called(part) for part in (value.nodes, value.density))
            here = replace(value, nodes=nodes, density=density)
            self.originals[here] = value
            return here
        return self._called(value)

    def _called(self, value: Any) -> Any:
        return _Function(value, self) if kind(value) == "callable" else value

    def original(self, value: object) -> object:
        """A bound function or distribution as it was bound, for a function that is given it."""
        if isinstance(value, _Function):
            return value.function
        return self.originals.get(value, value) if isinstance(value, Distribution) else value

    def lifted(self, value: Any) -> object:
        """An array as one of the library; numbers of Python and whole numbers stay."""
        if type(value) in (list, tuple):
            return type(value)(map(self.lifted, value))
        if not isinstance(value, np.ndarray | np.inexact):
            return value
        real = value.dtype.kind == "f" and self.dtype.startswith("float")
        array = np.array(value, dtype=self.dtype if real else None)
        if self.name == "cupy":  # whose arrays are made on the current device
            with self.like.device:
                return self.xp.asarray(array)
        return self.xp.asarray(array, device=self.like.device)


class _Function:
    """A bound function, called on the host, or in a library where it works there alone.

    Once it has worked in one of the two it is not tried in the other: a later failure is its own.
    """

    def __init__(self, function: Callable[..., object], above: _Above) -> None:
        self.function, self.above = function, above
        self.works = ""  # where

    def __call__(self, *arguments: object) -> object:
        here = [self.above.original(one) for one in arguments]
        if self.works != "above":
            try:
                value = self.function(*here)
            except TimeoutError:  # it is no fault of the place
                raise
            except Exception as wrong:
                if self.works:
                    raise
                return self._above(here, wrong)
            self.works = "here"
            return value
        return self.function(*map(self.above.lifted, here))

    def _above(self, here: list[object], wrong: Exception) -> object:
        """The value in the library, where there was none on the host, as `wrong` says."""
        try:
            value = self.function(*map(self.above.lifted, here))
        except TimeoutError:
            raise
        except Exception as there:
            said = f"with arrays of NumPy, {wrong}; with arrays of {self.above.name}, {there}"
            raise LibraryError(said) from there
        self.works = "above"
        return value
