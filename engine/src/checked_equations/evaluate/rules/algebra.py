"""Leaves, arithmetic, functions, blocks and cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...errors import EquationError, LibraryError, OperationError, ShapeError
from ...latex import tree as t
from .. import operations as op
from ..evaluator import Evaluator, Scope, rule
from ..libraries import takes_part
from ..values import (
    Array,
    Distribution,
    Entries,
    Nodes,
    Word,
    conform,
    host,
    is_family,
    kind,
    scalar,
    shaped,
)

_CONSTANTS = {"\\pi": np.pi, "e": np.e, "\\infty": np.inf}
_TRANSPOSE_LETTERS = frozenset({"T", "\\mathrm T", "\\mathsf T"})
_PLAIN: dict[type[t.Node], Callable[[Any, Evaluator, Scope], Array]] = {
    t.Number: lambda node, ev, scope: scalar(node.value),
    t.Constant: lambda node, ev, scope: scalar(_CONSTANTS[node.name]),
    t.Product: lambda node, ev, scope: reduce(op.multiply, _factors(node, ev, scope)),
    t.Elementwise: lambda node, ev, scope: reduce(op.elementwise, _factors(node, ev, scope)),
    t.Inner: lambda node, ev, scope: op.inner(ev.of(node.left, scope), ev.of(node.right, scope)),
    t.Inverse: lambda node, ev, scope: op.inverse(ev.of(node.base, scope)),
    t.Norm: lambda node, ev, scope: op.norm(ev.of(node.base, scope), node.order),
    t.Root: lambda node, ev, scope: op.root(
        ev.of(node.base, scope), scalar(2.0) if node.degree is None else ev.of(node.degree, scope)
    ),
}
for _type, _value in _PLAIN.items():
    rule.register(_type, _value)


@rule.register(t.Quotient)
def _quotient(node: t.Quotient, ev: Evaluator, scope: Scope) -> Array:
    above = ev.of(node.numerator, scope)
    try:
        below = ev.of(node.denominator, scope)
    except EquationError as wrong:
        if ev.beyond is None or not _at_a_pole(node.denominator, ev, scope, wrong):
            raise
        return scalar(0.0)
    return op.divide(above, below)


def _at_a_pole(
    node: t.Node, ev: Evaluator, scope: Scope, wrong: EquationError | None = None
) -> bool:
    """Return whether a function in a denominator has a pole: ``\\Gamma(-2)``.

    What is `wrong` with it is not asked again where it is known, or fractions in fractions would be
    asked twice at each level.
    """
    if isinstance(node, t.Power) and isinstance(node.exponent, t.Number):
        return node.exponent.value > 0 and _at_a_pole(node.base, ev, scope, wrong)
    if isinstance(node, t.Product):
        poles = [part for part in node.factors if _at_a_pole(part, ev, scope)]
        rest = [part for part in node.factors if part not in poles]
        return bool(poles) and all(_is_not_zero(part, ev, scope) for part in rest)
    if not isinstance(node, t.Apply | t.Function):
        return False
    try:
        if wrong is None:
            ev.of(node, scope)
    except EquationError as found:
        wrong = found
    return wrong is not None and "pole" in wrong.problem


def _is_not_zero(node: t.Node, ev: Evaluator, scope: Scope) -> bool:
    try:
        return bool(np.all(ev.of(node, scope) != 0))
    except EquationError:
        return False


def _factors(node: t.Product | t.Infix, ev: Evaluator, scope: Scope) -> Iterator[Array]:
    return (ev.of(factor, scope) for factor in node.factors)


@rule.register(t.Name | t.Index)
def _symbol(node: t.Name | t.Index, ev: Evaluator, scope: Scope) -> Array:
    if node.key in scope:
        return conform(scope[node.key].value)
    if isinstance(node, t.Index):
        raise OperationError(f"`{node.key}` runs over nothing here")
    return ev.bound(node.key)


@rule.register(t.Subscript)
def _subscript(node: t.Subscript, ev: Evaluator, scope: Scope) -> Array:
    own = ev.bindings.get(node.base.key) if isinstance(node.base, t.Name) else None
    if isinstance(own, Entries):
        return conform(own.at(tuple(whole_number(ev.of(index, scope)) for index in node.indices)))
    base = ev.of(node.base, scope)
    first = node.indices[0]
    matrix = base.ndim and 1 not in base.shape
    if matrix and len(node.indices) == 1 and isinstance(first, t.Number) and first.value >= 10:
        digits = f"{first.value:g}"
        said = f"row {digits}, or the entry {digits[0]}, {digits[1:]}?"
        raise OperationError(f"ambiguous: {said} write A_{{{digits[0]},{digits[1:]}}}")
    indices = [whole_number(ev.of(index, scope)) for index in node.indices]
    if base.ndim == 0 and indices == [1]:
        _refuse_number(node.base, ev, scope, "an entry")
        return base
    if base.ndim == 0 and not isinstance(node.base, t.Apply):
        said = "a number has no entries; for Pochhammer's symbol write \\prod_{i=0}^{n-1} (a + i)"
        raise OperationError(said)
    if base.ndim == 2 and 1 in base.shape and len(indices) == 1:
        base = base.ravel()
    return shaped(base[inside(indices, base.shape)])


def _is_array(name: t.Name | t.Index, ev: Evaluator, scope: Scope) -> bool:
    bound = scope[name.key].value if name.key in scope else ev.bindings[name.key]
    return bool(host(bound).ndim)


def _refuse_number(node: t.Node, ev: Evaluator, scope: Scope, what: str) -> None:
    """A mark at a number says nothing: ``s_1``, ``s^T``. A vector of length one is none."""
    if isinstance(node, t.Apply) and what == "an entry":
        said = "is a number here and has no entries; bind its name whole"
        raise OperationError(f"`{node.key}` {said}")
    if isinstance(node, t.Name | t.Index) and not _is_array(node, ev, scope):
        hint = "bind the name with its mark, or what the mark stands for"
        said = f"is a number, which has no such mark: {what}; {hint}"
        raise ShapeError(f"`{node.key}` {said}")


def whole_number(value: Array) -> int:
    """An index as an int. Raises `OperationError` for a fraction and for an array."""
    if np.ndim(value) or value.imag or value.real != int(value.real):
        raise OperationError(f"an index must be a whole number, not {value}")
    return int(value.real)


def inside(indices: list[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """One-based indices as zero-based ones; out of range is an error, not the other end."""
    if len(indices) > len(shape):
        raise OperationError(f"{len(indices)} indices for the shape {shape}")
    for index, size in zip(indices, shape, strict=False):
        if not 1 <= index <= size:
            comma = "; write a comma between two indices" if index > 9 and len(shape) > 1 else ""
            zero = "; entries are counted from one: the first is x_1" if index == 0 else ""
            said = f"the index {index} is outside 1 to {size}, shape {shape}"
            raise OperationError(f"{said}{zero or comma}")
    return tuple(index - 1 for index in indices)


@rule.register(t.Sum)
def _sum(node: t.Sum, ev: Evaluator, scope: Scope) -> Array:
    total = ev.of(node.terms[0], scope)
    total = total if node.signs[0] > 0 else -total
    for term, sign in zip(node.terms[1:], node.signs[1:], strict=True):
        value = ev.of(term, scope)
        total = op.add(total, value if sign > 0 else -value)
    return total


@rule.register(t.Kronecker)
def _kronecker(node: t.Kronecker, ev: Evaluator, scope: Scope) -> Array:
    for product in (factor for factor in node.factors if isinstance(factor, t.Product)):
        # the order of two factors that are no scalars matters
        if node.loose and sum(value.ndim > 0 for value in _factors(product, ev, scope)) > 1:
            raise OperationError("ambiguous beside `\\otimes`: write brackets around the product")
    return reduce(op.kronecker, _factors(node, ev, scope))


@rule.register(t.Power)
def _power(node: t.Power, ev: Evaluator, scope: Scope) -> Array:
    base = ev.of(node.base, scope)
    lone = node.exponent.terms if isinstance(node.exponent, t.Sum) else (node.exponent,)
    letter = lone[0].key if len(lone) == 1 and isinstance(lone[0], t.Name) else ""
    if base.ndim and letter in _TRANSPOSE_LETTERS:
        bound = f"`{letter}` is bound as well"
        raise OperationError(f"ambiguous: is this the transpose? write ^\\top; {bound}")
    return op.power(base, ev.of(node.exponent, scope))


@rule.register(t.Transpose)
def _transpose(node: t.Transpose, ev: Evaluator, scope: Scope) -> Array:
    base = ev.of(node.base, scope)
    if base.ndim == 0:
        _refuse_number(node.base, ev, scope, "a transpose")
        _refuse_of_numbers(node.base, ev, scope)
    return op.transpose(base)


def _refuse_of_numbers(node: t.Node, ev: Evaluator, scope: Scope) -> None:
    """A transpose of numbers alone says nothing: ``(a + b)^\\top``; of ``x^\\top y`` it does."""
    parts = t.parts(node)
    names = [part for part in parts if isinstance(part, t.Name | t.Index)]
    plain = all(isinstance(part, _OF_NUMBERS) for part in parts)
    if plain and not any(_is_array(name, ev, scope) for name in names):
        raise ShapeError("no array is transposed here, but numbers, which have no such mark")


_OF_NUMBERS = (t.Name, t.Index, t.Number, t.Constant, t.Sum, t.Product, t.Quotient, t.Power)


@rule.register(t.Bars)
def _bars(node: t.Bars, ev: Evaluator, scope: Scope) -> Array:
    members = members_of(node.base, ev, scope)
    return op.bars(ev.of(node.base, scope)) if members is None else scalar(len(members))


def members_of(node: t.Node, ev: Evaluator, scope: Scope) -> Any:
    """The bound set that `node` names, or that it takes from a family: ``B_m``; else nothing."""
    name = node.base if isinstance(node, t.Subscript) else node
    key = name.key if isinstance(name, t.Name) else ""
    bound = ev.bindings.get(key)
    if bound is None or kind(bound) != "set":
        return None
    if not isinstance(node, t.Subscript):
        return bound
    if not is_family(bound):
        raise OperationError(f"`{key}` is one set, and no family of sets")
    index = whole_number(ev.of(node.indices[0], scope))
    known = bound if isinstance(bound, dict) else dict(enumerate(bound, start=1))
    if len(node.indices) > 1 or index not in known:
        raise OperationError(f"`{key}` has the indices {sorted(known)}, not {index}")
    return known[index]


@rule.register(t.Function)
def _function(node: t.Function, ev: Evaluator, scope: Scope) -> Array:
    if node.name == "indicator":
        (condition,) = node.arguments
        assert isinstance(condition, t.Step), "the grammar allows no other"
        return scalar(_holds(ev, condition, scope))
    if node.name in ("min", "max") and len(node.arguments) == 1:
        members = members_of(node.arguments[0], ev, scope)
        if members is not None:
            return op.FUNCTIONS[node.name](*map(conform, members))
    arguments = [ev.of(a, scope) for a in node.arguments]
    own = ev.bindings.get(node.name)
    return (
        call(node.name, own.function, arguments)
        if isinstance(own, Word)
        else op.FUNCTIONS[node.name](*arguments)
    )


def _holds(ev: Evaluator, step: t.Step, scope: Scope) -> bool:
    if step.relation not in op.RELATIONS:
        raise OperationError(f"`{step.relation}` is no condition")
    return op.RELATIONS[step.relation](ev.of(step.left, scope), ev.of(step.right, scope))


@rule.register(t.Apply)
def _apply(node: t.Apply, ev: Evaluator, scope: Scope) -> Array:
    function, said = ev.bindings.get(node.key), "is not bound to a function"
    if isinstance(function, Nodes | Distribution):
        function = getattr(function, "density", None)
        said = "has no density: bind it to Distribution(nodes, density)"
    if not callable(function):
        raise OperationError(f"`{node.key}` {said}")
    return call(node.key, function, [argument(ev, a, scope) for a in node.arguments])


def call(key: str, function: Callable[..., object], arguments: Sequence[object]) -> Array:
    """Return the value of a bound function; an error inside it is reported as its failure."""
    try:
        return conform(function(*arguments))
    except TimeoutError:  # it is no fault of the function
        raise
    except Exception as wrong:
        raise failure(f"`{key}`", wrong) from wrong


def failure(what: str, wrong: Exception) -> OperationError:
    """Return the error of a bound function, as one of the operation, or of a library of arrays."""
    of_library = isinstance(wrong, LibraryError) or takes_part(wrong)
    return (LibraryError if of_library else OperationError)(f"{what} failed: {wrong}")


def argument(ev: Evaluator, node: t.Node, scope: Scope) -> object:
    """A bound symbol goes in as it was bound; a computed vector goes in with one axis."""
    if isinstance(node, t.Name | t.Index) and node.key in scope:
        return scope[node.key].value
    if isinstance(node, t.Name) and node.key in ev.bindings:
        bound = ev.bindings[node.key]
        itself = not isinstance(bound, Distribution) or bound.value is None
        return bound if itself else bound.value
    value = ev.of(node, scope)
    return value[:, 0] if value.ndim == 2 and value.shape[1] == 1 else value


@rule.register(t.Block)
def _block(node: t.Block, ev: Evaluator, scope: Scope) -> Array:
    rows = [[ev.of(entry, scope) for entry in row] for row in node.rows]
    heights = [max(np.atleast_2d(v).shape[0] for v in row) for row in rows]
    widths = [max(np.atleast_2d(v).shape[1] for v in column) for column in zip(*rows, strict=True)]
    for row, height in zip(rows, heights, strict=True):
        for j, (value, width) in enumerate(zip(row, widths, strict=True)):
            shape = (height, width)
            zero = value.ndim == 0 and value == 0  # stands for a block of zeros
            row[j] = np.zeros(shape) if zero else np.atleast_2d(value)
            if row[j].shape != shape:
                raise ShapeError(f"a block of shape {value.shape} stands where {shape} is needed")
    return shaped(np.block(rows))


@rule.register(t.Cases)
def _cases(node: t.Cases, ev: Evaluator, scope: Scope) -> Array:
    for value, condition in zip(node.values, node.conditions, strict=True):
        if condition is None or _holds(ev, condition, scope):
            return ev.of(value, scope)
    raise OperationError("no case applies")
