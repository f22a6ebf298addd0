"""A name for the code that an experiment runs, which separates fresh results from stale ones.

Counted is the source of the experiment and, from there on, of every function and class of the
same page or module that it names, with the plain values that these name. A function of a
library counts by its name; the draw that every build repeats is for changes there.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType

_PLAIN = (str, bytes, bool, int, float, complex, type(None))


def key_of(*things: object, version: str = "") -> str:
    """Sixteen hex digits for the code of `things`; raises `ValueError` where it cannot be read."""
    seen: dict[int, object] = {}
    words = [word for thing in things for word in _told(thing, seen)]
    return hashlib.sha256("\0".join([version, *words]).encode()).hexdigest()[:16]


def _told(thing: object, seen: dict[int, object]) -> Iterator[str]:
    """Yield the parts of a thing that count; each function and each class once."""
    if isinstance(thing, float):
        yield f"{thing:.6g}"  # what was computed may differ in its last digits elsewhere
    elif isinstance(thing, _PLAIN):
        yield repr(thing)
    elif isinstance(thing, Mapping):
        for name, entry in thing.items():
            told = [str(name)] if isinstance(name, _PLAIN) else _told(name, seen)
            yield from (*told, *_told(entry, seen))
    elif isinstance(thing, set | frozenset):  # their order is a matter of chance
        yield from sorted(word for entry in thing for word in _told(entry, seen))
    elif isinstance(thing, list | tuple):
        yield from (word for entry in thing for word in _told(entry, seen))
    else:
        yield from _told_of_code(thing, seen)


def _told_of_code(thing: object, seen: dict[int, object]) -> Iterator[str]:
    """Yield the parts of a callable, or of a thing known by its name or its shape alone."""
    if isinstance(thing, MethodType):
        yield from (*_told(thing.__func__, seen), type(thing.__self__).__qualname__)
    elif isinstance(thing, partial):
        yield from _told([thing.func, thing.args, thing.keywords], seen)
    elif isinstance(thing, FunctionType):
        if id(thing) not in seen:
            seen[id(thing)] = thing
            yield from _of_function(thing, seen)
    elif isinstance(thing, ModuleType):
        yield thing.__name__
    elif hasattr(thing, "shape"):
        yield f"{type(thing).__name__}{tuple(thing.shape)}"
    else:
        kind = thing if isinstance(thing, type) else type(thing)
        yield f"{kind.__module__}.{kind.__qualname__}"


def _of_function(function: FunctionType, seen: dict[int, object]) -> Iterator[str]:
    yield _source(function)
    names = sorted(set(_names(function.__code__)))
    bound = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
        bound[name] = cell.cell_contents
    for name, value in bound.items():
        own = getattr(value, "__module__", None) == function.__module__
        if isinstance(value, FunctionType) and not own:
            yield f"{value.__module__}.{value.__qualname__}"
        elif isinstance(value, type) and own:
            methods = [m for m in vars(value).values() if isinstance(m, FunctionType)]
            yield name
            yield from (word for method in methods for word in _told(method, seen))
        else:
            yield from (name, *_told(value, seen))
    yield from _told([function.__defaults__ or (), function.__kwdefaults__ or {}], seen)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function uses, and those within."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(function: FunctionType) -> str:
    """The source of a function, without its blanks; of lambdas all that begin on its line."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))  # of a module, or of a notebook's cell
    if not text:
        raise ValueError(f"the source of {function.__qualname__} cannot be read")
    nodes = _functions(text).get(code.co_firstlineno, ())
    found = [ast.get_source_segment(text, node) or "" for node in nodes]
    if not found:
        where = f"{code.co_filename}, line {code.co_firstlineno}"
        raise ValueError(f"the source of {function.__qualname__} is not at {where}")
    return "".join("".join(found).split())


@lru_cache(maxsize=64)
def _functions(text: str) -> dict[int, list[ast.AST]]:
    """Return the functions of a module or a cell, by the line on which each begins."""
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            parts = (node, *getattr(node, "decorator_list", ()))
            found.setdefault(min(part.lineno for part in parts), []).append(node)
    return found
