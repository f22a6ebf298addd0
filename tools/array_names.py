"""Each function of an array library that the package calls, looked up in the library as installed.

``python tools/array_names.py cupy`` reads the sources for ``xp.name``, for what is imported from
``cupy`` and ``cupyx``, and for the keywords of the calls, and compares with the names and the
signatures there. No device is needed: a function that cannot be imported without one is read from
its source. What is missing is named with its place in ours, and is an error.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, reduce
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "gpnotes"
LIBRARIES = {
    "numpy": "array_api_compat.numpy",
    "cupy": "array_api_compat.cupy",
    "torch": "array_api_compat.torch",
    "jax": "jax.numpy",
    "strict": "array_api_strict",
}
_ARRAYS = {"numpy": "numpy:ndarray", "cupy": "cupy:ndarray", "torch": "torch:Tensor"}
_NEEDED = {"strict": "array_api_strict"}
_OF_PYTHON = {"__dict__", "__weakref__", "_host", "_device"}
_OWN = ("cupy", "cupyx")  # the library's modules that ours may import


@dataclass(frozen=True)
class Use:
    """A name of a library in our sources: where it is, and how it is called if it is."""

    module: str  # "" is the namespace, xp
    name: str
    place: str
    call: ast.Call | None = field(default=None, compare=False)

    @property
    def said(self) -> str:
        return f"{self.place}: {self.module or 'xp'}.{self.name}"


def uses() -> list[Use]:
    """Return every use in the package, in the order of the files."""
    return [
        use for path in sorted(PACKAGE.rglob("*.py")) for use in uses_in(path.read_text(), path)
    ]


def uses_in(text: str, path: Path) -> list[Use]:
    """Return the uses in one file: chains that begin with ``xp``, and imports of the library."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))  # once: it is most of the time
    calls = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
    imported = dict(_imported(nodes))
    found = [Use(*imported[n], _at(path, tree)) for n in sorted(imported) if imported[n][1]]
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    rebound = set(_rebound(nodes))
    for node in nodes:
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            found += _chain(node, path, calls, imported)
        elif (
            isinstance(node, ast.Name)
            and imported.get(node.id, ("", ""))[1]
            and id(node) in calls
            and id(node) not in rebound
        ):
            found.append(Use(*imported[node.id], _at(path, node), calls[id(node)]))
    return found


def _at(path: Path, node: Any) -> str:
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{shown}:{getattr(node, 'lineno', 1)}"


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names imported from the library: each with a module and a name in it."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _OWN:
            yield from ((a.asname or a.name, (node.module, a.name)) for a in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, (a.name, "")) for a in node.names if a.name in _OWN)


def _rebound(nodes: list[ast.AST]) -> Iterator[int]:
    """Yield the ids of names within functions that bind them anew."""
    for function in nodes:
        if isinstance(function, ast.FunctionDef):
            names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
            bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
            yield from (id(name) for name in names if name.id in bound)


def _chain(
    node: ast.Attribute,
    path: Path,
    calls: dict[int, ast.Call],
    imported: dict[str, tuple[str, str]],
) -> list[Use]:
    names: list[str] = []
    start: ast.expr = node
    while isinstance(start, ast.Attribute):
        names.insert(0, start.attr)
        start = start.value
    module = _root(start, imported)
    name = ".".join(names)
    return [] if module is None else [Use(module, name, _at(path, node), calls.get(id(node)))]


def _root(start: ast.expr, imported: dict[str, tuple[str, str]]) -> str | None:
    """Return the module that a chain starts from: "" for the namespace, None for neither."""
    if isinstance(start, ast.Call) and isinstance(start.func, ast.Name):
        return "" if start.func.id == "array_namespace" else None
    if not isinstance(start, ast.Name):
        return None
    if start.id == "xp":
        return ""
    module, name = imported.get(start.id, (None, ""))
    return module if not name else None


def missing(use: Use, library: str) -> str | None:
    """Return the fault of a use in a library, or None."""
    try:
        found = looked_up(use.module or LIBRARIES[library], use.name)
    except (AttributeError, KeyError):
        return f"{use.said} does not exist in {library}"
    signature = _signature(found)
    if use.call is None or signature is None:
        return None
    problem = _unbound(use.call, signature)
    return None if problem is None else f"{use.said}{signature} in {library}: {problem}"


@cache
def looked_up(module: str, name: str) -> Any:
    """Return an object of a library, or its definition where it cannot be imported."""
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    except ImportError:
        return _defined(module, name)


def _defined(module: str, name: str) -> ast.AST:
    """Return the node that binds a name, through the modules from which it is imported."""
    for node in ast.parse(_source(module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom):
            for a in node.names:
                if name == (a.asname or a.name):
                    inside = f"{module}." if node.level else ""  # of a package
                    return _defined(f"{inside}{node.module}", a.name)
    raise AttributeError(name)


def _source(module: str) -> Path:
    top, *inner = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise AttributeError(module)
    place = Path(spec.origin).parent.joinpath(*inner)
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def _signature(found: Any) -> inspect.Signature | None:
    if isinstance(found, ast.FunctionDef):
        return _written(found.args)
    try:
        return inspect.signature(found) if callable(found) else None
    except (TypeError, ValueError):  # a ufunc, or written in C
        return None


def _written(args: ast.arguments) -> inspect.Signature:
    """Return a signature as its source has it, without the values of defaults."""
    kinds = inspect.Parameter
    both = [(a.arg, kinds.POSITIONAL_OR_KEYWORD) for a in (*args.posonlyargs, *args.args)]
    required = len(both) - len(args.defaults)
    made = [
        inspect.Parameter(name, kind, default=kinds.empty if at < required else None)
        for at, (name, kind) in enumerate(both)
    ]
    made += [inspect.Parameter(a.arg, kinds.KEYWORD_ONLY, default=None) for a in args.kwonlyargs]
    return inspect.Signature(made)


def _unbound(call: ast.Call, signature: inspect.Signature) -> str | None:
    """Return the objection of a signature to the arguments of a call; none where one has a star."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return None
    try:
        signature.bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    except TypeError as problem:
        return str(problem)
    return None


def members() -> list[str]:
    """Return the members of arrays that the package uses, as `ground.array_protocol` has them."""
    tree = ast.parse((PACKAGE / "ground" / "array_protocol.py").read_text(encoding="utf-8"))
    array = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Array")
    return [node.name for node in array.body if isinstance(node, ast.FunctionDef)]


def compare(library: str) -> list[str]:
    """Return the uses that a library lacks; print how many were compared."""
    found = [use for use in uses() if not use.module or library == "cupy"]
    wrong = [problem for use in found if (problem := missing(use, library)) is not None]
    names = {(use.module, use.name) for use in found}
    bound = [use for use in found if use.call is not None and _known(use, library)]
    print(
        f"{library}: {len(names)} names in {len(found)} places, {len(bound)} calls with a signature"
    )
    if library == "cupy":
        wrong += stand_in_has_more()
    if library in _ARRAYS:
        module, _, kind = _ARRAYS[library].partition(":")
        array = getattr(importlib.import_module(module), kind)
        lacking = [name for name in members() if not hasattr(array, name)]
        print(f"{library}: {len(members())} members of arrays")
        wrong += [f"an array of {library} has no {name}" for name in lacking]
    return wrong


def stand_in_has_more() -> list[str]:
    """Return the names of the tests' stand-in that CuPy lacks, or takes under other names."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import cupy_stand_in

    theirs, mine = importlib.import_module("cupy"), cupy_stand_in.modules()
    named = [(module, name) for module in mine for name in mine[module].__all__]
    wrong = [problem for pair in named if (problem := _unlike(*pair, mine)) is not None]
    print(f"cupy: {len(named)} names of the stand-in")
    arrays = set(vars(mine["cupy"].ndarray)) - set(dir(theirs.ndarray)) - set(dir(object))
    wrong += [f"the stand-in's array has {n}" for n in sorted(arrays) if n not in _OF_PYTHON]
    ours, whose = (_public(g.Generator) for g in (mine["cupy.random"], theirs.random))
    return wrong + [f"its generator and CuPy's differ by {name}" for name in sorted(ours ^ whose)]


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def _unlike(module: str, name: str, mine: Any) -> str | None:
    try:
        theirs = looked_up(module, name)
    except AttributeError:
        return f"the stand-in has {module}.{name}"
    ours = getattr(mine[module], name)
    if not callable(ours):
        return None  # a constant, or a namespace
    own, signature = _signature(ours), _signature(theirs)
    if (
        isinstance(theirs, type)
        or own is None
        or signature is None
        or {"args", "xi"} & set(own.parameters)
    ):
        return None  # what passes its arguments on, to NumPy
    taken, given = [*own.parameters], [*signature.parameters]
    return None if taken == given[: len(taken)] else f"{module}.{name}{signature}"


def _known(use: Use, library: str) -> bool:
    try:
        return _signature(looked_up(use.module or LIBRARIES[library], use.name)) is not None
    except AttributeError:
        return False


def main() -> int:
    """Compare with each library that is named and installed; print the missing names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", choices=[*LIBRARIES, []])
    wrong = []
    for library in parser.parse_args().libraries or LIBRARIES:
        if importlib.util.find_spec(_NEEDED.get(library, library)) is None:
            print(f"{library}: skipped, it is not installed")
        else:
            wrong += compare(library)
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
