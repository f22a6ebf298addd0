"""Functions of a module, compiled by Numba, which is optional."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

__all__ = ["compiled_functions"]


def compiled_functions(module: dict[str, Any], *parts: Callable[..., object]) -> dict[str, Any]:
    """Return the names of a module with some of its functions compiled, each before its callers.

    The names of the module itself stay those of ordinary functions, as Numba is optional and tests
    run both: copies of them see the compiled ones by a namespace of their own.

    Raises
    ------
    ImportError
        If Numba is not installed.
    """
    try:
        import numba
    except ImportError:
        raise ImportError("compiled needs Numba: from a clone, pip install '.[compiled]'") from None
    names = dict(module)
    for part in parts:
        names[part.__name__] = numba.njit(FunctionType(part.__code__, names, part.__name__))
    return names
