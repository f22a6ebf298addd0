"""LaTeX to a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from lark import Token, UnexpectedToken

from ..errors import EquationError
from .builder.dots import DOTS, fractions_marked, in_fractions
from .builder.ranges import TreeBuilder, distribution_arguments
from .lexer.stream import DOUBLE
from .lexer.terminals import lex
from .macros import Macros, expand, relocated
from .names import Names, nearest, normal
from .parser_tables import grammar
from .tokenizer import DEEPEST, UnclosedError
from .tree import Name, Node, Reduction, Statement, entries_along, parts
from .vocabulary import UNREAD


def parse(
    latex: str, names: Mapping[str, str], *, free: bool = False, macros: Macros | None = None
) -> Statement:
    """The statement that `latex` makes, its symbols being `names`: normal form to kind.

    A kind is "value", "callable", "nodes" or "set" (see `values.kind`). With `free`, a
    unbound letter is a name as well. `macros` are the commands of the book, as
    `macros.expand` takes them, for the names as well. Raises `EquationError`.

    >>> parse("a = b c", {"a": "value", "b": "value", "c": "value"}).steps[0].relation
    '='
    """
    return _parse(latex, names, "equation", free, macros)


def parse_expression(
    latex: str, names: Mapping[str, str], *, free: bool = False, macros: Macros | None = None
) -> Node:
    """One side of an equation: as `parse`, without a relation."""
    return _parse(latex, names, "expression", free, macros)


def parse_free(latex: str) -> Statement:
    """The statement with every letter a name: for a definition, which binds nothing."""
    return parse(latex, {}, free=True)


def symbols(latex: str) -> tuple[str, ...]:
    """The distinct symbols of an equation, in normal form, in the order of their coming.

    >>> symbols(r"\\bar{f} = K_{*f} K_y^{-1} \\mathbf{y}")
    ('\\\\bar f', 'K_{*f}', 'K_y', '\\\\mathbf y')
    """
    words = lex(latex, Names({}), free=True)
    return tuple(dict.fromkeys(str(w) for w in words if w.type in ("NAME", "CALL", "INDEX")))


def _parse(
    latex: str, names: Mapping[str, str], start: str, free: bool, macros: Macros | None
) -> Any:
    if macros:  # places, in the tree and in a fault, are those of `latex`
        full = expand(latex, macros)
        known = {expand(key, macros).latex: kind for key, kind in names.items()}
        try:
            return relocated(_parse(full.latex, known, start, free, None), full.place)
        except EquationError as wrong:
            raise EquationError(wrong.problem, latex, full.place(wrong.span)) from None
    kinds = {normal(key): kind for key, kind in names.items()}
    bound = Names(kinds)
    node = _built(latex, kinds, bound, start, free)
    if start == "equation" and any(sign in latex for sign in DOUBLE):
        below = _built(latex, kinds, Names(kinds), start, free, lower=True)
        node = _both(latex, node, below, free)
    if not free:
        node = fractions_marked(distribution_arguments(node, kinds))
        implied = {id(name) for part in parts(node) for name in _implied(part)}
        implied |= in_fractions(node)
        for part in parts(node):  # a running variable outside its sum is bound to nothing
            if isinstance(part, Name) and part.key not in kinds and id(part) not in implied:
                if part == DOTS:
                    problem = f"`{part.key}` that what stands around it does not determine"
                    raise EquationError(f"{problem}: {UNREAD[part.key]}", latex, part.span)
                problem = f"unbound symbol `{part.key}`{nearest(part.key, list(kinds))}"
                raise EquationError(problem, latex, part.span)
    return node


def _implied(node: Node) -> Iterator[Node]:
    """Return a stand-in for a range that is not bound: entries give its end."""
    if isinstance(node, Reduction) and any(entries_along(node)):
        assert node.over.members is not None
        yield node.over.members


def _built(
    latex: str, kinds: Mapping[str, str], names: Names, start: str, free: bool, lower: bool = False
) -> Any:
    try:
        words = lex(latex, names, free=free, lower=lower)
        _require_shallow(words, latex)
        parsed = grammar().parse(words, start=start)
    except UnexpectedToken as wrong:
        raise _misplaced(latex, wrong) from None
    except UnclosedError:
        problem = "a bracket opens in one group and closes in another"
        raise EquationError(problem, latex, (0, len(latex))) from None
    return TreeBuilder(latex, kinds, names).build(parsed)


def _require_shallow(words: Sequence[Token], latex: str) -> None:
    nested = (len([*row]) for kind, row in groupby(words, attrgetter("type")) if kind == "FUNC")
    if max(nested, default=0) > DEEPEST:
        problem = f"more than {DEEPEST} functions stand in each other"
        raise EquationError(problem, latex, (0, len(latex)))


def _both(latex: str, upper: Statement, lower: Statement, free: bool) -> Statement:
    """Return the statements of the upper and the lower signs; one without such a sign is one."""
    for one, other in zip(upper.steps, lower.steps, strict=True):
        for side, below in ((one.left, other.left), (one.right, other.right)):
            if one != other and side == below and isinstance(side, Name) and not free:
                problem = f"`{side.key}` would have two values, one for each sign"
                raise EquationError(f"{problem}: write `{side.key}_\\pm`", latex, side.span)
    steps = [step for step in lower.steps if step not in upper.steps]
    conditions = [stated for stated in lower.conditions if stated not in upper.conditions]
    both = (*upper.steps, *steps), (*upper.conditions, *conditions)
    return replace(upper, steps=both[0], conditions=both[1])


def _misplaced(latex: str, wrong: UnexpectedToken) -> EquationError:
    token = wrong.token
    if token.type == "$END":
        end = max(len(latex.rstrip()), 1 if latex else 0)
        hint = "no relation stands in it" if "REL" in wrong.accepts else "something is missing"
        hint += "; `\\quad` separates statements" if "quad" in latex else ""
        return EquationError(f"the equation ends too early: {hint}", latex, (max(end - 1, 0), end))
    span = (token.start_pos, token.end_pos)
    return EquationError(f"`{latex[slice(*span)]}` cannot stand here", latex, span)
