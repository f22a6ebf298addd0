"""From what an author binds to what is evaluated: draws, normal names, groups of equals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluate import values
from ..latex import names
from ..latex.register import Register
from ..latex.tree import Apply, Integral, Name, Node, Under, walk

__all__ = [
    "DRAWS",
    "Bindings",
    "Tight",
    "backend",
    "draw_bindings",
    "draw_tight_bindings",
    "name_kinds",
    "names_in",
    "normalised",
    "swap_groups",
]  # fmt: skip

DRAWS = 3

Bindings = Mapping[str, Any] | Callable[[np.random.Generator], Mapping[str, Any]]


def draw_bindings(bindings: Bindings, seed: str) -> tuple[dict[str, Any], ...]:
    """The bindings by normal name: once if they are a mapping, else one for each of three draws."""
    if not callable(bindings):
        return (normalised(bindings),)
    digest = hashlib.sha256(seed.encode()).digest()
    stream = np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
    drawn = tuple(normalised(_mapping(bindings(stream))) for _ in range(DRAWS))
    if any(set(other) != set(drawn[0]) for other in drawn):
        raise ValueError("the draws bind different symbols")
    return drawn


def _mapping(returned: Any) -> Mapping[str, Any]:
    if not isinstance(returned, Mapping):
        said = type(returned).__name__
        raise TypeError(f"bindings must return a mapping from symbols to values; got a {said}")
    return returned


Tight = Bindings | Sequence[Bindings] | str | None


def draw_tight_bindings(tight: Tight, seed: str) -> tuple[dict[str, Any], ...]:
    """Numbers on which an inequality is an equality, one draw for each set of bindings."""
    if tight is None or isinstance(tight, str):
        return ()
    several = (tight,) if isinstance(tight, Mapping) or callable(tight) else tight
    return tuple(draw_bindings(bindings, f"{seed}:tight")[0] for bindings in several)


def normalised(bindings: Mapping[str, Any]) -> dict[str, Any]:
    """The bindings keyed by the normal form of their names."""
    written: dict[str, str] = {}
    for name in bindings:
        if not isinstance(name, str):
            raise TypeError(f"bindings must be named by the LaTeX of a symbol; got {name!r}")
        key = names.normal(name)
        if key in written:
            raise ValueError(f"{written[key]!r} and {name!r} are the same symbol")
        written[key] = name
    return {key: bindings[name] for key, name in written.items()}


def names_in(node: Node) -> set[str]:
    """The keys of all bound names that occur below `node`."""
    return {key for _, part in walk(node) for key in bound_keys.of(part)(part)}


bound_keys: Register[Callable[[Any], tuple[str, ...]]] = Register("keys", lambda node: ())


@bound_keys(Name, Apply)
def _own_key(node: Name | Apply) -> tuple[str, ...]:
    return (node.key,)


@bound_keys(Under)
def _distribution_key(node: Under) -> tuple[str, ...]:
    return (node.distribution,)


@bound_keys(Integral)
def _variable_keys(node: Integral) -> tuple[str, ...]:
    return node.variables


def swap_groups(bindings: Mapping[str, Any]) -> dict[str, Hashable]:
    """For each name what it may be swapped within: arrays of one shape, callables, distributions.

    Distributions of variables of one shape come with whether they have a density, last.
    """
    return {key: _group(key, value) for key, value in bindings.items()}


def _group(key: str, value: Any) -> Hashable:
    kind = values.kind(value)
    if kind in names.DISTRIBUTIONS and (kind != "nodes" or names.signature(key)):
        return _distribution(key, value)
    if kind == "value":
        return values.conform(value.value if isinstance(value, values.Estimate) else value).shape
    return "callable" if kind == "callable" else (kind, key)


def _distribution(key: str, value: Any) -> Hashable:
    nodes = value if isinstance(value, values.Nodes) else value.nodes
    shape = nodes.points.shape[1:] if isinstance(nodes, values.Nodes) else "given"
    form = names.signature(key)
    drawn = form.variables if form and shape == "given" else ()
    return ("distribution", shape, drawn, getattr(value, "density", None) is not None)


def name_kinds(bindings: Mapping[str, Any]) -> dict[str, str]:
    """What the grammar must know of each name."""
    return {key: values.kind(value) for key, value in bindings.items()}


def backend(bindings: Mapping[str, Any]) -> str:
    """The library whose arrays are bound: numpy unless another one's are among them."""
    modules = {type(value).__module__.split(".")[0] for value in bindings.values()}
    return next(
        (name for name in ("cupy", "torch", "array_api_strict") if name in modules), "numpy"
    )
