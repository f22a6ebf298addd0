"""By which route the numbers of a check come: seen while they are made, not said.

While the bindings are drawn, what the package and other libraries return to the author's code is
kept. A symbol that stands alone on a side, the result that is claimed, came from the package if
all its entries are among those of something that the package returned; else it was computed in the
cell. Averages over nodes, differences and samples are the engine's own routes. What a check that
is given bare numbers was computed from, nobody saw.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from ..errors import OperationError
from ..evaluate.values import Distribution, Estimate, Nodes, conform, kind
from ..latex import tree as t
from ..latex.register import Register
from .libraries import Libraries

__all__ = ["ALGEBRA", "GIVEN", "CallWatch", "observed_route", "refuse_false_claims", "watch_calls"]

ALGEBRA = "algebra in the cell"
GIVEN = "numbers given"
_ORDER = ("package", "quadrature", "enumeration", "differences", "simulation")
_LARGEST = 100_000  # entries of one result that are kept
_DEEPEST = 3
_NONE = Libraries()


@dataclass(frozen=True, eq=False)
class CallWatch:
    """What was called while numbers were drawn: by library, the entries that it returned.

    `code` and `module` are those of the function of the author that draws them.
    """

    code: CodeType | None = None
    module: Mapping[str, Any] | None = None
    libraries: Libraries = _NONE
    returned: dict[str, list[np.ndarray]] = field(default_factory=dict)

    @property
    def traced(self) -> bool:
        """Whether a function draws the numbers, so that its calls can be seen."""
        return self.code is not None

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        """The profiler: a function of a library comes back to the code of the author.

        It rests after the first draw, which says it for all of them.
        """
        if event != "return" or frame.f_back is None or not self.traced:
            return
        if frame.f_code is self.code:
            sys.setprofile(None)
        if frame.f_back.f_globals is not self.module:
            return
        name = self.libraries.of(frame.f_globals.get("__name__", ""))
        if name:
            self.returned.setdefault(name, []).extend(_arrays(value, _DEEPEST))

    def origin(self, value: Any) -> str:
        """The library that returned all entries of `value`, or a simple function of them."""
        entries = np.unique(conform(value))
        if np.isin(entries, (-1.0, 0.0, 1.0)).all():
            return ""
        for name, arrays in self.returned.items():
            if any(_among(entries, array) for array in arrays):
                return name
        return ""


@contextmanager
def watch_calls(bindings: Any, libraries: Libraries = _NONE) -> Iterator[CallWatch]:
    """Watch what `bindings`, where they are a function, call."""
    function = getattr(bindings, "func", bindings)
    known = isinstance(function, FunctionType)
    code, module = (function.__code__, function.__globals__) if known else (None, None)
    watch = CallWatch(code, module, libraries)
    before = sys.getprofile()
    if watch.traced:
        sys.setprofile(watch)
    try:
        yield watch
    finally:
        sys.setprofile(before)


def _arrays(value: Any, depth: int) -> Iterator[np.ndarray]:
    """The numbers in what a function returned: arrays, and those inside tuples and records."""
    if isinstance(value, float | np.ndarray | np.number):
        array = np.ravel(np.asarray(value))
        if array.dtype.kind == "f" and 0 < array.size <= _LARGEST:
            yield array
    elif depth:
        for part in _parts(value):
            yield from _arrays(part, depth - 1)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, item.name, None) for item in fields(value)]
    return []


def _among(entries: np.ndarray, array: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        forms = (array, -array, np.exp(array), np.log(np.abs(array)), np.sqrt(np.abs(array)))
        return any(np.isin(entries, form).all() for form in (*forms, array**2))


def observed_route(
    statement: t.Statement, bound: Mapping[str, Any], watch: CallWatch
) -> tuple[str, ...]:
    """By what kinds of route the claimed numbers come.

    If by none but the cell's own algebra, the libraries that it calls on its way stand behind it.
    """
    alone = _alone(statement) & set(bound)
    keys = alone or {n.key for _, n in t.walk(statement) if isinstance(n, t.Name | t.Apply)}
    kinds = {_origin(bound[key], watch) for key in keys & set(bound)} | _computed(statement, bound)
    others = sorted(kinds - {"", *_ORDER})
    observed = (*(name for name in _ORDER if name in kinds), *others)
    helpers = sorted(set(watch.returned) - {"package"})
    return observed or ((ALGEBRA, *helpers) if watch.traced else (GIVEN,))


def _alone(statement: t.Statement) -> set[str]:
    """The symbols and functions that are all of a side: the results that are claimed."""
    sides = [side for step in statement.steps for side in (step.left, step.right)]
    return {side.key for side in sides if isinstance(side, t.Name | t.Apply)}


def _origin(value: Any, watch: CallWatch) -> str:
    if isinstance(value, Estimate):
        return "simulation"
    if kind(value) == "callable":
        named = watch.libraries.named_in(value)
        names = sorted(named, key=lambda name: name != "package")
        return names[0] if names else ""
    if kind(value) != "value":
        return ""
    try:
        return watch.origin(value)
    except (OperationError, ValueError, TypeError):
        return ""


def _computed(statement: t.Statement, bound: Mapping[str, Any]) -> set[str]:
    """What the engine itself computes: averages over nodes, and differences."""
    return {route for _, node in t.walk(statement) for route in routes.of(node)(node, bound)}


Routes = Callable[[Any, Mapping[str, Any]], Iterable[str]]
routes: Register[Routes] = Register("routes", lambda node, bound: ())


@routes(t.Derivative, t.Gradient)
def _differences(node: t.Slope, bound: Mapping[str, Any]) -> Iterable[str]:
    return ("differences",)


@routes(t.Under)
def _average(node: t.Under, bound: Mapping[str, Any]) -> Iterable[str]:
    return (_of_nodes(bound.get(node.distribution)),)


@routes(t.Integral)
def _integral(node: t.Integral, bound: Mapping[str, Any]) -> Iterable[str]:
    return (_of_nodes(bound.get(key)) for key in node.variables)


def _of_nodes(value: Any) -> str:
    """Whole numbers are listed; all other nodes are those of a rule."""
    nodes = value.nodes if isinstance(value, Distribution) else value
    listed = isinstance(nodes, Nodes) and bool(np.all(nodes.points == np.round(nodes.points)))
    return "enumeration" if listed else "quadrature"


def refuse_false_claims(
    oracle: str, bindings: Any, bound: Mapping[str, Any], watch: CallWatch
) -> None:
    """Raise `ValueError` for an oracle that names the package or a library which was not called."""
    if not watch.traced:
        return
    functions: list[Callable[..., Any]] = [v for v in bound.values() if kind(v) == "callable"]
    named = (watch.libraries.named_in(function) for function in (*functions, bindings))
    called = set(watch.returned).union(*named)
    tops = called | {name.partition(".")[0] for name in called}
    for word, name in watch.libraries.claimed(oracle):
        if name not in tops:
            said = ", ".join(sorted(called)) or "no library"
            raise ValueError(
                f"oracle={oracle!r} names {word}, which the bindings do not call; they call {said}"
            )
