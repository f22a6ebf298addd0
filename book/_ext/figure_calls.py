"""Calls of the package that a figure shows, read backwards from the cell that draws it.

What the drawing uses was assigned somewhere above; the statements that assigned it, and those that
assigned what these use, are gone through from the nearest on, and calls of functions that were
imported from the package are kept as they are written.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
from dataclasses import dataclass

PACKAGE = "gpnotes"
# Nobody looks at a figure for what draws it, or for arrays and random numbers.
NEVER = ("gpnotes.plot.", "gpnotes.ground.", "gpnotes.testing.")
# Data, and a process with its kernel and mean: they say what is asked. If nothing is done with
# them, as in a figure of the data, they are what it shows.
ASIDE = ("gpnotes.datasets.", "gpnotes.model.")
BUILTINS = frozenset(dir(builtins))
LONG = 64  # characters: a call that is longer is shown by its name


@dataclass(frozen=True)
class Call:
    """A call as it is written, or its name where that is long, and what it calls; and all of it."""

    text: str
    target: str
    whole: str


def calls_before(cells: list[str], most: int = 2) -> list[Call]:
    """Return the calls behind the last of these cells, nearest first, each function once."""
    trees = [tree for tree in map(_parsed, cells) if tree]
    imported = _imported(trees)
    if not trees:
        return []
    found: dict[str, Call] = {}
    wanted = set(_used(trees[-1]))
    for statement in _backwards(trees):
        last = statement in trees[-1].body
        if not last and not (_bound(statement) & wanted):
            continue
        wanted |= _used(statement)
        for call in _calls(statement, imported):
            found.setdefault(call.target, call)
    done = [call for call in found.values() if not call.target.startswith(ASIDE)]
    return (done or list(found.values()))[:most]


def called(cells: list[str]) -> list[str]:
    """Return all that these cells call of the package, each once."""
    trees = [tree for tree in map(_parsed, cells) if tree]
    imported = _imported(trees)
    nodes = (node for tree in trees for node in _called_in(tree))
    paths = filter(None, (_path(node.func, imported) for node in nodes))
    return list(dict.fromkeys(filter(None, map(_home, paths))))


@functools.cache
def _parsed(cell: str) -> ast.Module | None:
    """Return the tree of a cell; none of one with magic, which Python does not read."""
    try:
        return ast.parse(cell)
    except SyntaxError:
        return None


def _backwards(trees: list[ast.Module]) -> list[ast.stmt]:
    return [statement for tree in reversed(trees) for statement in reversed(tree.body)]


@functools.cache
def _used(tree: ast.AST) -> frozenset[str]:
    """Return the names that it reads; those of Python itself lead nowhere."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return frozenset(read - BUILTINS)


@functools.cache
def _bound(statement: ast.stmt) -> frozenset[str]:
    """Return the names to which a statement gives a value."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset((statement.name,))
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return frozenset()
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))


def _imported(trees: list[ast.Module]) -> dict[str, str]:
    """Return names that stand for parts of the package, with the paths of their imports."""
    return {name: path for tree in trees for name, path in _imported_in(tree).items()}


@functools.cache
def _imported_in(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            pairs = [(one.name, one.asname) for one in node.names]
            found |= {given or name: name for name, given in pairs if given or "." not in name}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return {name: path for name, path in found.items() if path.split(".")[0] == PACKAGE}


def _calls(statement: ast.stmt, imported: dict[str, str]) -> list[Call]:
    """Return the calls of the package in a statement, outer ones first."""
    found = []
    for node in _called_in(statement):
        path = _path(node.func, imported)
        target = _home(path) if path else ""
        if target and not target.startswith(NEVER):
            found.append(_written(node, target))
    return found


@functools.cache
def _called_in(tree: ast.AST) -> list[ast.Call]:
    """Return all calls, outer ones first; cached, since every figure below asks again."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@functools.cache
def _written(node: ast.Call, target: str) -> Call:
    return Call(_said(node), target, ast.unparse(node))


def _path(function: ast.expr, imported: dict[str, str]) -> str:
    """Return the dotted path of what is called, if it begins with what was imported."""
    rest = []
    while isinstance(function, ast.Attribute):
        rest.insert(0, function.attr)
        function = function.value
    if not isinstance(function, ast.Name) or function.id not in imported:
        return ""
    return ".".join([imported[function.id], *rest])


@functools.cache
def _home(path: str) -> str:
    """Return the defining path of an import, as the pages of the package name it."""
    module, _, name = path.rpartition(".")
    owner = None
    while module and owner is None:
        try:
            owner = importlib.import_module(module)
        except ModuleNotFoundError:  # the last part of the path is a class
            module, _, last = module.rpartition(".")
            name = f"{last}.{name}"
    found = owner
    for part in name.split("."):
        found = getattr(found, part, None)
    where = getattr(found, "__module__", None)
    return f"{where}.{found.__qualname__}" if where and callable(found) else ""


def _said(node: ast.Call) -> str:
    text = ast.unparse(node)
    return text if len(text) <= LONG else f"{ast.unparse(node.func)}(…)"
