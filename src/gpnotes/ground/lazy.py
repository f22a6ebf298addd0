"""Modules of a package that are loaded when they are first asked for: SPEC 1 of Scientific Python.

A type checker does not call `__getattr__`: for it an ``__init__`` imports them under
``TYPE_CHECKING`` once more.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType

__all__ = ["lazy_modules"]


def lazy_modules(package: str) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package, by its ``__name__``."""

    def load(name: str) -> ModuleType:
        full = f"{package}.{name}"
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as missing:
            if missing.name != full:  # one that the module needs
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    def listed() -> list[str]:
        inside = sys.modules[package]
        here = {*getattr(inside, "__all__", ()), *(n for n in vars(inside) if n.startswith("__"))}
        return sorted(here.union(module.name for module in pkgutil.iter_modules(inside.__path__)))

    return load, listed
