"""Which libraries a function calls: by the module that it comes from, or by the names in it."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import partial
from inspect import getclosurevars
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["library", "named_in"]

PACKAGE = __name__.partition(".")[0]
_ENGINE = __name__.rsplit(".", 2)[0]
# What computes with arrays but knows no mathematics of its own, and what only draws pictures.
_PLAIN = {"numpy", "array_api_compat", "array_api_strict", "cupy", "matplotlib", "IPython"}
_KNOWING = ("numpy.linalg", "numpy.polynomial")


def library(module: str) -> str:
    """What a module counts as: "package", the name of a library, or nothing.

    >>> library("numpy.linalg._linalg"), library("math"), library("__main__")
    ('numpy.linalg', '', '')
    """
    top = module.partition(".")[0]
    if module == _ENGINE or module.startswith(f"{_ENGINE}."):
        return ""
    if top == PACKAGE:
        return "package"
    for name in _KNOWING:
        if module == name or module.startswith(f"{name}."):
            return name
    if top in _PLAIN:
        return ""
    return top if top == "statistics" or _installed(top) else ""


def _installed(top: str) -> bool:
    """Whether a module was found among the installed libraries: other files are the author's."""
    folders = {"site-packages", "dist-packages"}
    return bool(folders & set(Path(getattr(sys.modules.get(top), "__file__", "") or "").parts))


def named_in(function: Any) -> set[str]:
    """The libraries that a function comes from, or whose names stand in its code.

    Functions of the same namespace that it calls are read as well.

    >>> import numpy as np
    >>> sorted(named_in(lambda a: np.linalg.solve(a, a)))
    ['numpy.linalg']
    """
    seen: set[Any] = set()
    return {name for name in _named(function, seen) if name}


def _named(function: Any, seen: set[Any]) -> Iterator[str]:
    if isinstance(function, partial):
        function = function.func
    if not isinstance(function, FunctionType):
        owner = getattr(function, "__self__", None)
        yield library(_module(function) if owner is None else type(owner).__module__)
        return
    if function.__code__ in seen:
        return
    seen.add(function.__code__)
    yield library(function.__module__ or "")
    space = {**function.__globals__, **getclosurevars(function).nonlocals}
    for found in _objects(function.__code__, space):
        own = isinstance(found, FunctionType) and found.__globals__ is function.__globals__
        if own or isinstance(found, partial):
            yield from _named(found, seen)
        else:
            yield library(_module(found))


def _module(found: Any) -> str:
    if isinstance(found, ModuleType):
        return found.__name__
    if isinstance(found, np.ufunc):  # it does not say where it comes from
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, found.__name__, None) is found else "numpy"
    module = getattr(found, "__module__", None)
    return module if isinstance(module, str) else type(found).__module__


def _objects(code: CodeType, space: dict[str, Any]) -> Iterator[Any]:
    """What the global and enclosing names of `code` stand for, attributes of modules resolved."""
    found: Any = None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(found, ModuleType):
            found = getattr(found, step.argval, found)
            continue
        if found is not None:
            yield found
        loads = step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
        found = space.get(step.argval) if loads else None
    if found is not None:
        yield found
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _objects(constant, space)
