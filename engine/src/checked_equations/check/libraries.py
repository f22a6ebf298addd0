"""Which libraries a function calls: by the module that it comes from, or by the names in it."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import getclosurevars
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["Libraries"]

_ENGINE = __name__.rsplit(".", 2)[0]
# What computes with arrays but knows no mathematics of its own, and what only draws pictures.
_PLAIN = {"numpy", "array_api_compat", "array_api_strict", "cupy", "matplotlib", "IPython"}
_KNOWING = ("numpy.linalg", "numpy.polynomial")


@dataclass(frozen=True)
class Libraries:
    """What a book says of libraries: its own `package`, and the words for others in an oracle.

    `words` maps a word that `oracle=` may hold to the library that must then be called.
    """

    package: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def of(self, module: str) -> str:
        """What a module counts as: "package", the name of a library, or nothing.

        >>> known = Libraries(package="mine")
        >>> known.of("numpy.linalg._linalg"), known.of("math"), known.of("mine.solvers")
        ('numpy.linalg', '', 'package')
        """
        top = module.partition(".")[0]
        if module == _ENGINE or module.startswith(f"{_ENGINE}."):
            return ""
        if self.package and top == self.package:
            return "package"
        for name in _KNOWING:
            if module == name or module.startswith(f"{name}."):
                return name
        if top in _PLAIN:
            return ""
        return top if top == "statistics" or _is_installed(top) else ""

    def named_in(self, function: Any) -> set[str]:
        """The libraries that a function comes from, or whose names stand in its code.

        Functions of the same namespace that it calls are read as well.

        >>> import numpy as np
        >>> sorted(Libraries().named_in(lambda a: np.linalg.solve(a, a)))
        ['numpy.linalg']
        """
        visited: set[Any] = set()
        return {name for name in map(self.of, _modules_named(function, visited)) if name}

    def claimed(self, oracle: str) -> Iterator[tuple[str, str]]:
        """The words of `oracle` that name a library, or the book's package, and what they name."""
        for word, name in {"package": "package", **self.words}.items():
            if word in oracle.lower():
                yield word, name


def _is_installed(top: str) -> bool:
    """Whether a module was found among the installed libraries: other files are the author's."""
    folders = {"site-packages", "dist-packages"}
    return bool(folders & set(Path(getattr(sys.modules.get(top), "__file__", "") or "").parts))


def _modules_named(function: Any, visited: set[Any]) -> Iterator[str]:
    """The modules of what stands in the code of `function`, and in the code that it calls."""
    if isinstance(function, partial):
        function = function.func
    if not isinstance(function, FunctionType):
        owner = getattr(function, "__self__", None)
        yield _module(function) if owner is None else type(owner).__module__
        return
    if function.__code__ in visited:
        return
    visited.add(function.__code__)
    yield function.__module__ or ""
    space = {**function.__globals__, **getclosurevars(function).nonlocals}
    for value in _objects(function.__code__, space):
        own = isinstance(value, FunctionType) and value.__globals__ is function.__globals__
        if own or isinstance(value, partial):
            yield from _modules_named(value, visited)
        else:
            yield _module(value)


def _module(value: Any) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):  # it does not say where it comes from
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, value.__name__, None) is value else "numpy"
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else type(value).__module__


def _objects(code: CodeType, space: dict[str, Any]) -> Iterator[Any]:
    """What the global and enclosing names of `code` stand for, attributes of modules resolved."""
    value: Any = None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = getattr(value, step.argval, value)
            continue
        if value is not None:
            yield value
        loads = step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
        value = space.get(step.argval) if loads else None
    if value is not None:
        yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _objects(constant, space)
