"""Definitions in the text as functions of numbers: ``f(x, t) = \\int \\dots``, ``a_k = 2/(k + 1)``.

They are read as displays are, with the functions that the field knows, and with those that were
defined before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex import tree as t
from checked_equations.latex.tokenizer import outside

from ..numerics import unbound
from .differentiated_integrals import with_dots
from .letter_conventions import Known, known
from .notation import Notation
from .token_patterns import function_head, row_of
from .unbound_statement import NotRead, read, runs_in

_UNSET: Callable[..., Any] = len


def functions_in(texts: Iterable[str], own: Known, notation: Notation) -> dict[str, Any]:
    """Return the functions that `texts` define, by their keys; known symbols keep their meaning.

    >>> from .nist import COMMON
    >>> found = functions_in(["U(x, t) = x^2 + t"], known({}), COMMON)
    >>> float(found["U"](3.0, 1.0))
    10.0
    """
    found: dict[str, Any] = {}
    for text in texts:
        row = row_of(text)
        head = function_head(row)
        if head is None:
            continue
        key, names, end = head
        signs = (one for one, free in outside(row[end:]) if free and one.text in ("=", ":="))
        stop = next((one.start for one in signs), len(text))
        first = text[:stop].replace("\\displaystyle", "").strip(" .,;")
        called = text[: row[end - 1].start]
        try:
            if notation.written(called).latex != called:  # it is known
                continue
            whole = notation.written(first).latex
            body = _body(whole, key, {**own.bindings, **found}, notation)
        except ValueError:  # it is not read, or a part of something
            continue
        if key not in found and set(_free(body, own)) <= {*names, *found}:
            found[key] = _function(body, names, {**own.constants, **own.bindings, **found})
    return found


def defines(text: str, keys: Iterable[str]) -> bool:
    """Return whether `text` is the definition of one of the functions `keys`."""
    head = function_head(row_of(text))
    return head is not None and head[0] in keys


def _body(latex: str, key: str, bindings: Mapping[str, Any], notation: Notation) -> t.Node:
    """The right side of the first equality, in which the function itself does not stand."""
    steps = with_dots(read(latex, known({**bindings, key: _UNSET}, notation)).statement).steps
    if not steps or steps[0].relation not in ("=", ":="):
        raise NotRead("no equality defines it")
    right = steps[0].right
    if any(isinstance(part, t.Apply) and part.key == key for part in t.parts(right)):
        raise NotRead("it is defined by itself")
    return right


def _free(body: t.Node, own: Known) -> Iterator[str]:
    known_keys = {*own.constants, *own.bindings, *runs_in(body)}
    for part in t.parts(body):
        if isinstance(part, t.Name | t.Apply) and part.key not in known_keys:
            yield part.key


def _function(
    body: t.Node, names: Sequence[str], bindings: Mapping[str, Any]
) -> Callable[..., complex | float]:
    def of(*arguments: Any) -> complex | float:
        if len(arguments) != len(names):
            raise ValueError(f"{len(names)} arguments are defined")
        own = {**bindings, **dict(zip(names, arguments, strict=True))}
        value = complex(Evaluator(own, beyond=unbound).value(body))
        return value if value.imag else value.real

    return of
