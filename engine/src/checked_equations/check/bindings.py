"""From the bindings of an author to values: draws, normal names, groups of equals.

Some symbols need no binding: the notation gives them a field, and the drawn problem has it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..errors import EquationError
from ..evaluate import values
from ..evaluate.libraries import Drawn, brought
from ..latex import names
from ..latex.parser import parse
from ..latex.tree import Apply, Integral, Name, Node, Under, parts

DRAWS = 3

# A mapping, a problem (any other object), a pair of both; or a function that returns one of these.
Bindings = Mapping[str, object] | Callable[[np.random.Generator], object] | object
# From what was given or drawn to the same by the normal form of symbols.
Naming = Callable[[object], dict[str, object]]


def normalised(bindings: Bindings) -> dict[str, object]:
    """The bindings keyed by the normal form of their names."""
    if not isinstance(bindings, Mapping):
        said = type(bindings).__name__
        raise TypeError(f"bindings must return a mapping from symbols to values; got a {said}")
    written: dict[str, str] = {}
    for name in bindings:
        if not isinstance(name, str):
            raise TypeError(f"bindings must be named by the LaTeX of a symbol; got {name!r}")
        key = names.normal(name)
        if key in written:
            raise ValueError(f"{written[key]!r} and {name!r} are the same symbol")
        written[key] = name
    return {key: bindings[name] for key, name in written.items()}


def draw_bindings(
    bindings: Bindings, seed: str, naming: Naming = normalised, draws: int = DRAWS
) -> tuple[Drawn, ...]:
    """The bindings by normal name: once as they are, or of a function one for each of three draws.

    Arrays of any library come to the host here. `naming` picks the drawn numbers that are
    which symbols. With more `draws`, the first are as they were.
    """
    if not callable(bindings):
        return (brought(naming(bindings)),)
    digest = hashlib.sha256(seed.encode()).digest()
    stream = np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
    drawn = tuple(brought(naming(bindings(stream))) for _ in range(draws))
    if any(set(other) != set(drawn[0]) for other in drawn):
        raise ValueError("the draws bind different symbols")
    return drawn


def split_given(given: object) -> tuple[object, Mapping[str, object]]:
    """Return the problem of `given`, which is no mapping, and the names bound next to it."""
    if type(given) is tuple and len(given) == 2 and isinstance(given[1], Mapping):
        return (given, {}) if isinstance(given[0], Mapping) or callable(given[0]) else given
    return given, {}


Tight = Bindings | Sequence[Bindings] | str | None


def draw_tight_bindings(tight: Tight, seed: str, naming: Naming = normalised) -> tuple[Drawn, ...]:
    """Numbers on which an inequality is an equality, one draw for each set of bindings."""
    if tight is None or isinstance(tight, str):
        return ()
    pair = split_given(tight)[0] is not tight
    several = tight if isinstance(tight, Sequence) and not pair else (tight,)
    return tuple(draw_bindings(bindings, f"{seed}:tight", naming)[0] for bindings in several)


def names_in(node: Node) -> set[str]:
    """The keys of all bound names that occur below `node`."""
    every = parts(node)
    found = {part.key for part in every if isinstance(part, Name | Apply)}
    found |= {part.distribution for part in every if isinstance(part, Under)}
    return found.union(*(part.variables for part in every if isinstance(part, Integral)))


@dataclass(frozen=True)
class Fields:
    """The symbol of each field of a problem, in a dictionary for each row of the notation.

    Symbols of one row may share a field, as a vector and its entries do.
    """

    rows: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, str]]) -> Fields:
        """The same from LaTeX as it is written in the notation."""
        pairs = ([(names.normal(latex), name) for latex, name in row.items()] for row in rows)
        return cls(tuple(map(dict, pairs)))

    def naming(self, *latex: str) -> Naming:
        """Return the `naming` of `draw_bindings`: the fields for the formulas `latex`."""
        return partial(self.named, latex=latex) if self.rows else normalised

    def named(self, given: Bindings, latex: Sequence[str]) -> dict[str, object]:
        """The numbers of `given` by the normal form of their symbols.

        Those that are bound by name, all of them; and of the fields of a problem those whose
        symbols occur in `latex` and are not bound by name. Raises `EquationError` where symbols
        of two rows that occur share a field, and TypeError for a problem without any field.
        """
        if isinstance(given, Mapping):
            return normalised(given)
        problem, special = split_given(given)
        bound = normalised(special)
        offered = {
            key: (place, name)
            for place, row in enumerate(self.rows)
            for key, name in row.items()
            if hasattr(problem, name)
        }
        if not offered:
            said = "bindings must return a mapping from symbols to values, or an object with a "
            said += f"field that the notation names; got a {type(problem).__name__}"
            raise TypeError(said)
        fields = {k: getattr(problem, name) for k, (_, name) in offered.items() if k not in bound}
        kinds = tuple(name_kinds(fields | bound).items())
        occurring = {key for text in latex for key in _symbols(text, kinds)}
        taken = {key: value for key, value in fields.items() if key in occurring}
        _refuse_shared({key: offered[key] for key in sorted(taken)})
        return taken | bound


def _refuse_shared(taken: dict[str, tuple[int, str]]) -> None:
    """Raise `EquationError` where symbols of two rows of the notation have one field."""
    for _, name in taken.values():
        # of the symbols of a row the first
        rivals = {place: key for key, (place, of) in reversed(taken.items()) if of == name}
        if len(rivals) > 1:
            said = " and ".join(f"`{key}`" for key in sorted(rivals.values()))
            said = f"the notation gives {said} one field, {name}: bind one of them"
            raise EquationError(said)


@lru_cache(maxsize=4096)
def _symbols(latex: str, kinds: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """Return the names of `kinds` in `latex`; an unreadable name is refused where it is bound.

    A chapter asks the same of every sentence for each draw of each of its tables.
    """
    try:
        return frozenset(names_in(parse(latex, dict(kinds), free=True)))
    except EquationError:
        return frozenset()


def swap_groups(bindings: Mapping[str, object]) -> dict[str, Hashable]:
    """Return for each name the group in which it may be swapped, such as arrays of one shape.

    Distributions of variables of one shape come with whether they have a density, last.
    """
    return {key: _group(key, value) for key, value in bindings.items()}


def _group(key: str, value: Any) -> Hashable:
    kind = values.kind(value)
    form = names.signature(key)
    if kind in names.DISTRIBUTIONS and (kind != "nodes" or form):
        nodes = value if isinstance(value, values.Nodes) else value.nodes
        shape = nodes.points.shape[1:] if isinstance(nodes, values.Nodes) else "given"
        drawn = form.variables if form and shape == "given" else ()
        return ("distribution", shape, drawn, getattr(value, "density", None) is not None)
    if kind == "value":
        return values.conform(value.value if isinstance(value, values.Estimate) else value).shape
    if isinstance(value, values.Entries):
        return ("entries", value.axes)
    return "callable" if kind == "callable" else (kind, key)


def name_kinds(bindings: Mapping[str, object]) -> dict[str, str]:
    """Return the kind of each name, for the grammar."""
    return {key: values.kind(value) for key, value in bindings.items()}
