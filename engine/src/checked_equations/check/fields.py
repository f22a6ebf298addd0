"""Symbols that need no binding: the notation gives them a field, and the drawn problem has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from ..errors import EquationError
from ..latex.names import normal
from ..latex.parser import parse
from .bindings import Naming, name_kinds, names_in, normalised, split_given


@dataclass(frozen=True)
class Fields:
    """Which symbol is which field of a problem, in a dictionary for each row of the notation.

    Symbols of one row may share a field, as a vector and its entries do.
    """

    rows: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, str]]) -> Fields:
        """The same from LaTeX as it is written in the notation."""
        return cls(tuple({normal(latex): name for latex, name in row.items()} for row in rows))

    def naming(self, *latex: str) -> Naming:
        """What `draw_bindings` must know of the fields, for the formulas `latex`."""
        return partial(self.named, latex=latex) if self.rows else normalised

    def named(self, given: Any, latex: Sequence[str]) -> dict[str, Any]:
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
            raise TypeError(
                "bindings must return a mapping from symbols to values, or an object with a field "
                f"that the notation names; got a {type(problem).__name__}"
            )
        values = {k: getattr(problem, name) for k, (_, name) in offered.items() if k not in bound}
        kinds = tuple(name_kinds(values | bound).items())
        occurring = {key for text in latex for key in _symbols(text, kinds)}
        taken = {key: value for key, value in values.items() if key in occurring}
        places: dict[str, dict[int, str]] = defaultdict(dict)
        for key in sorted(taken):
            place, name = offered[key]
            places[name].setdefault(place, key)
        for name, keys in places.items():
            if len(keys) > 1:
                said = " and ".join(f"`{key}`" for key in keys.values())
                said = f"the notation gives {said} one field, {name}: bind one of them"
                raise EquationError(said)
        return taken | bound


@lru_cache(maxsize=4096)
def _symbols(latex: str, kinds: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The names of `kinds` in `latex`; what cannot be read is refused where it is bound.

    A chapter asks the same of every sentence for each draw of each of its tables.
    """
    try:
        return frozenset(names_in(parse(latex, dict(kinds), free=True)))
    except EquationError:
        return frozenset()
