"""Notes on properties that all draws share and the statement does not ask for.

A statement may hold for positive x alone, for symmetric A, for odd n. Where every draw is so, and
the symbol stands where it matters, below a root or a modulus, next to a transpose, above a sign,
the numbers cannot tell. To find out, the sign of x is turned or A is made lopsided, and nothing
else is changed. This says nothing about a symbol on one side alone, since the other side was
computed from it, nor about one from which another symbol was computed, which keeps its value: for
such a symbol another number of the same kind, a larger x or a symmetric A, makes a difference as
well. A side without a value, as of a root, already shows its condition in print; but a logarithm is
often split into others that need more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from checked_equations.check.bindings import names_in
from checked_equations.check.relations import Tolerance
from checked_equations.check.statements import BoundStatement, Draw
from checked_equations.errors import EquationError
from checked_equations.evaluate.values import Estimate, host, kind
from checked_equations.latex import tree as t

_SIGNED = frozenset({"log", "max", "min", "sign"})
_TOLERANCE = 1e-12
EXACT = Tolerance()


def notes_on(
    statement: t.Statement, drawn: Sequence[Mapping[str, object]], allowed: Tolerance = EXACT
) -> tuple[str, ...]:
    """Return the properties that every draw of a symbol has unasked, where they matter.

    Examples
    --------
    >>> from checked_equations.latex.parser import parse
    >>> notes_on(parse(r"\\sqrt{x^2} = x", {"x": "value"}), [{"x": 1.3}, {"x": 0.4}])
    ('every draw of x is positive',)
    """
    if len(drawn) < 2:  # one set of numbers is shown, and nobody takes it for all
        return ()
    said = {_key(part) for condition in statement.conditions for part in t.parts(condition)}
    found: dict[str, None] = {}
    for key, shared in dict.fromkeys(_places(statement)):
        values = [_numbers(bound.get(key)) for bound in drawn]
        if key in said or not all(v is not None and shared.is_so(v) for v in values):
            continue
        if any(_hides(step, key, drawn[0], shared, allowed) for step in statement.steps):
            found[f"every draw of {key} is {shared.word}"] = None
    return tuple(found)


class Shared(NamedTuple):
    """A property that draws may share: its word, its test, and the numbers to try, if any.

    These are another number with the property and one without; if a side has no value at the
    latter, that may be a sign too.
    """

    word: str
    is_so: Callable[[np.ndarray], bool]
    others: tuple[Callable[[Any], np.ndarray], ...] = ()
    on_a_side: bool = False


def _places(statement: t.Statement) -> Iterator[tuple[str, Shared]]:
    """Yield each symbol with a property that matters at its place."""
    for step in statement.steps:
        for part in t.parts(step):
            for key in _below(part, _is_signed(part)):
                is_log = isinstance(part, t.Function) and part.name == "log"
                yield key, _POSITIVE._replace(on_a_side=is_log)
            # a matrix and its transpose differ in a product, in a derivative
            for key in _below(part, isinstance(part, t.Transpose | t.Product | t.Slope)):
                yield key, _SYMMETRIC
            if isinstance(part, t.Power) and part.base == t.Sum((t.Number(1.0),), (-1,)):
                yield _key(part.exponent), _EVEN
                yield _key(part.exponent), _ODD


def _hides(
    step: t.Step, key: str, drawn: Mapping[str, object], shared: Shared, allowed: Tolerance
) -> bool:
    """Return True if a step fails for another kind of number, and holds for another of the same."""
    if not shared.others:
        return True
    if not all(key in names_in(side) for side in (step.left, step.right)):
        return False
    alike, other = (
        BoundStatement(
            t.Statement((step,)), (Draw({**drawn, key: new(host(drawn[key]))}),), allowed
        )
        for new in shared.others
    )
    sides = [_value(other.draws[0], side) for side in (step.left, step.right)]
    missing = sum(not has_value for has_value in sides)
    if missing:
        return missing == 1 and shared.on_a_side and _holds(alike, step)
    return not _holds(other, step) and _holds(alike, step)


def _holds(bound: BoundStatement, step: t.Step) -> bool:
    try:
        return bound.compare(0, step).holds
    except (EquationError, ValueError):  # of other shapes, or without a value
        return False


def _value(draw: Draw, side: t.Node) -> bool:
    """Return True if a side has a value: a real one, where all bindings are real."""
    with np.errstate(all="ignore"):
        try:
            value = host(draw.evaluator.value(side))
        except Exception:  # noqa: BLE001  whatever a bound callable says to it
            return False
    real = not any(np.iscomplexobj(bound) for bound in draw.bindings.values())
    return bool(np.all(np.isfinite(value))) and not (real and np.iscomplexobj(value))


def _is_signed(part: t.Node) -> bool:
    if isinstance(part, t.Power):
        exponent = part.exponent
        return isinstance(exponent, t.Quotient) or (
            isinstance(exponent, t.Number) and exponent.value != int(exponent.value)
        )
    return isinstance(part, t.Bars | t.Root) or (
        isinstance(part, t.Function) and part.name in _SIGNED
    )


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


def _numbers(value: object) -> np.ndarray | None:
    if value is None or isinstance(value, Estimate) or kind(value) != "value":
        return None
    return host(value)


def _positive(value: np.ndarray) -> bool:
    return value.ndim == 0 and not np.iscomplexobj(value) and bool(value > 0)


def _symmetric(value: np.ndarray) -> bool:
    """Symmetric, and no multiple of the identity, which its letter says to be one."""
    square = value.ndim == 2 and value.shape[0] == value.shape[1] > 1
    if not square or np.array_equal(value, value[0, 0] * np.eye(len(value))):
        return False
    return bool(np.allclose(value, value.T, rtol=_TOLERANCE, atol=_TOLERANCE))


def _lopsided(value: np.ndarray) -> np.ndarray:
    above: np.ndarray = value + 0.1 * np.abs(value).max() * np.triu(np.ones_like(value), 1)
    return above


def _wider(value: np.ndarray) -> np.ndarray:
    """Another symmetric matrix, positive definite if it was."""
    more: np.ndarray = value + 0.1 * np.abs(value).max() * np.eye(len(value))
    return more


def _parity(value: np.ndarray) -> float:
    return float(np.real(value)) % 2 if value.ndim == 0 else -1.0


_POSITIVE = Shared("positive", _positive, (lambda value: 1.1 * value, lambda value: -value))
_SYMMETRIC = Shared("symmetric", _symmetric, (_wider, _lopsided))
_EVEN = Shared("even", lambda value: _parity(value) == 0)
_ODD = Shared("odd", lambda value: _parity(value) == 1)
