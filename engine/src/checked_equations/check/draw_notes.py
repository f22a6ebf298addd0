"""What all draws share and the statement does not say: a lint of numbers, told as notes.

A statement may hold for positive x alone, for symmetric A, for odd n. Where every draw is so, and
the symbol stands where it matters, below a root or a modulus, beside a transpose, above a sign,
the numbers cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluate.values import Estimate, host, kind
from ..latex import tree as t

_SIGNED = frozenset({"log", "max", "min", "sign"})
_TOLERANCE = 1e-12


def notes_on(statement: t.Statement, drawn: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What every draw of a symbol is without the statement's saying so, where it matters.

    Examples
    --------
    >>> from checked_equations.latex.parser import parse
    >>> notes_on(parse(r"\\sqrt{x^2} = x", {"x": "value"}), [{"x": 1.3}, {"x": 0.4}])
    ('every draw of x is positive',)
    """
    if len(drawn) < 2:  # one set of numbers is shown, and nobody takes it for all
        return ()
    said = {_key(part) for condition in statement.conditions for _, part in t.walk(condition)}
    found: dict[str, None] = {}
    for place, key, word, is_so in _places(statement):
        values = [_numbers(bound.get(key)) for bound in drawn]
        if place and key not in said and all(v is not None and is_so(v) for v in values):
            found[f"every draw of {key} is {word}"] = None
    return tuple(found)


Test = Callable[[np.ndarray], bool]


def _places(statement: t.Statement) -> Iterator[tuple[bool, str, str, Test]]:
    """Where something of a symbol matters: the symbol, the word for it, what tells it."""
    for step in statement.steps:
        for _, part in t.walk(step):
            for key in _below(part, _is_signed(part)):
                yield True, key, "positive", _positive
            for key in _below(part, _transposes(part)):
                yield True, key, "symmetric", _symmetric
            if isinstance(part, t.Power) and part.base == t.Sum((t.Number(1.0),), (-1,)):
                yield True, _key(part.exponent), "even", lambda v: _parity(v) == 0
                yield True, _key(part.exponent), "odd", lambda v: _parity(v) == 1


def _is_signed(part: t.Node) -> bool:
    if isinstance(part, t.Power):
        exponent = part.exponent
        return isinstance(exponent, t.Quotient) or (
            isinstance(exponent, t.Number) and exponent.value != int(exponent.value)
        )
    return isinstance(part, t.Bars | t.Root) or (
        isinstance(part, t.Function) and part.name in _SIGNED
    )


def _transposes(part: t.Node) -> bool:
    """Whether it is where a matrix and its transpose differ: a product, a derivative."""
    return isinstance(part, t.Transpose | t.Product | t.Slope)


def _below(part: t.Node, matters: bool) -> list[str]:
    """The symbols right below a place that matters: themselves, or their power or product."""
    if not matters:
        return []
    inner = [child for _, child in t.children(part)]
    deeper = [
        grandchild
        for child in inner
        if isinstance(child, t.Power | t.Product | t.Transpose)
        for _, grandchild in t.children(child)
    ]
    return [child.key for child in (*inner, *deeper) if isinstance(child, t.Name)]


def _key(node: t.Node) -> str:
    key: str = getattr(node, "key", "")
    return key


def _numbers(value: Any) -> np.ndarray | None:
    if value is None or isinstance(value, Estimate) or kind(value) != "value":
        return None
    return host(value)


def _positive(value: np.ndarray) -> bool:
    return value.ndim == 0 and not np.iscomplexobj(value) and bool(value > 0)


def _symmetric(value: np.ndarray) -> bool:
    square = value.ndim == 2 and value.shape[0] == value.shape[1] > 1
    return square and bool(np.allclose(value, value.T, rtol=_TOLERANCE, atol=_TOLERANCE))


def _parity(value: np.ndarray) -> float:
    return float(np.real(value)) % 2 if value.ndim == 0 else -1.0
