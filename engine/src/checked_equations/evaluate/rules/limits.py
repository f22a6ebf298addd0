"""Limits: values on the way to the point, and where they go by Wynn's epsilon algorithm.

The steps to the point are halved, so that the remainder of a term with any power of them falls by
one ratio; the algorithm takes away sums of such terms [Wynn 1956, MTAC 10, 91-96]. Of the powers of
-1, or of the sine of pi/x, these places know nothing: so values beside them must agree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import EquationError, OperationError
from ...latex import tree as t
from ..epsilon_table import even_columns
from ..evaluator import Evaluator, Item, Scope, rule
from ..values import Array, scalar
from .loops import infinity

_FEW, _MANY = 5, 11  # values on the way
_APART = 1e-6  # relative: what two ends of the table may differ by
_NEARER = 0.6  # the last values come, of the distance: those of sin(log x) are near no number


@rule.register(t.Limit)
def _limit(node: t.Limit, ev: Evaluator, scope: Scope) -> Array:
    ends = [_checked_end(node, places, ev, scope) for places in _ways(node, ev, scope)]
    if len(ends) == 2 and abs(ends[0] - ends[1]) > _APART * max(*map(abs, ends), 1e-3):
        raise OperationError(f"from one side it is {ends[0]:.6g}, from the other {ends[1]:.6g}")
    return scalar(ends[-1])


def _ways(node: t.Limit, ev: Evaluator, scope: Scope) -> Iterator[list[float]]:
    """The places on each way to the point."""
    infinite = infinity(node.point)
    if infinite is not None:
        yield [math.copysign(2.0**k, infinite) for k in range(2, 2 + _MANY)]
        return
    point = ev.of(node.point, scope)
    if point.ndim or np.iscomplexobj(point):
        raise OperationError("a limit is taken at a real number, or at infinity")
    size = abs(float(point)) or 1.0
    for sign in {"+": (1,), "-": (-1,)}.get(node.side, (-1, 1)):
        yield [float(point) + sign * size * 2.0**-k for k in range(2, 2 + _MANY)]


def _checked_end(
    node: t.Limit, places: Sequence[float], ev: Evaluator, scope: Scope
) -> complex | float:
    """Return the limit, or refuse it where values next to those places are further from it."""
    values = _values(node, places, ev, scope)
    end = _end(values)
    near = 8.0 * max(abs(value - end) for value in values[-2:]) + 1e-9 * max(map(abs, values))
    for place in _beside(places[: len(values)], infinite=infinity(node.point) is not None):
        try:
            value = complex(ev.of(node.body, {**scope, node.key: Item(("limit", place), place)}))
        except EquationError:  # a factorial, which whole numbers alone have
            continue
        if abs(value - end) > near:
            raise OperationError("the values on the way to the limit do not settle")
    return end


def _beside(places: Sequence[float], *, infinite: bool) -> Iterator[float]:
    """As far on the way as the last two of `places`: odd whole numbers, and others."""
    second, last = places[-2:]
    if infinite:
        far = abs(last)
        steps = (far / 2 + 1, 2 * math.floor(0.37 * far) + 1, 0.6180339887 * far)
        yield from (math.copysign(step, last) for step in steps)
    else:
        point = 2 * last - second
        yield from (point + (second - point) * share for share in (0.73, 0.6180339887, 0.953))


def _values(node: t.Limit, places: Sequence[float], ev: Evaluator, scope: Scope) -> list[complex]:
    """The values there, up to the first that there is none of."""
    values: list[complex] = []
    for place in places:
        try:
            value = ev.of(node.body, {**scope, node.key: Item(("limit", place), place)})
        except EquationError:
            if len(values) < _FEW:
                raise
            break
        if value.ndim:
            raise OperationError(f"a limit is taken of a number, not of one of {value.shape}")
        values.append(complex(value))
    return values


def _end(values: Sequence[complex]) -> complex:
    """Where the values go; raises `OperationError` where they do not settle."""
    steps = [abs(b - a) for a, b in itertools.pairwise(values)]
    if steps[-1] > max(steps[0], _APART * max(map(abs, values))):
        raise OperationError("the values on the way to the limit grow apart")
    columns = even_columns(values, settled=1e-15)  # to the last digit
    # where a single power is left, a column is the limit itself, and the table ends there
    ends = [values[-2], *(column[-1] for column in columns), *columns[-1][-2:-1]]
    best = min(range(1, len(ends)), key=lambda i: abs(ends[i] - ends[i - 1]))
    end, before = ends[best], ends[best - 1]
    off = [abs(value - end) for value in values]
    nearer = max(off[-3:]) <= _NEARER * max(off) + 1e-12 * abs(end)
    if abs(end - before) > _APART * max(abs(end), 1e-3) or not nearer:
        raise OperationError("the values on the way to the limit do not settle")
    if abs(end) <= 4.0 * abs(end - before):  # nothing, as far as it is known
        end = 0j
    return end if any(value.imag for value in values) else end.real
