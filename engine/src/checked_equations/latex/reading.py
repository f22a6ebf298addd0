"""Words to the rules of the grammar that they follow, by Lark's tables.

A chapter reads every edit of its equations again. Lark keeps the lines and columns of all that it
reads, and looks each rule up by all of its parts; here only the stretch of text is wanted, and that
takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from lark import Token as Word

from .tables import grammar
from .tree import Span


class Part(NamedTuple):
    """What was read by one rule: its name, its parts, and the stretch of text they stand in."""

    rule: str
    parts: list[Any]
    span: Span


class _Rule(NamedTuple):
    """A rule: `alone` says that one part stands for itself, `passes` that it stays as it is.

    Of each part `takes` says that it stays (False), that its own parts do (True), or nothing.
    """

    origin: str
    name: str
    alone: bool
    takes: tuple[bool | None, ...]
    passes: bool


@cache
def _tables() -> tuple[Any, dict[int, _Rule]]:
    """Lark's tables, and their rules by identity."""
    table = grammar().parser.parser._parse_table
    found = (arg for row in table.states.values() for _, arg in row.values())
    return table, {id(rule): _rule(rule) for rule in found if not isinstance(rule, int)}


def _rule(rule: Any) -> _Rule:
    each = (None if s.is_term and s.filter_out else s.name[0] == "_" for s in rule.expansion)
    takes = tuple(each)
    origin, alone = str(rule.origin.name), rule.options.expand1 and not rule.alias
    passes = takes == (False,) if alone else takes == (True,) and origin[0] == "_"
    return _Rule(origin, str(rule.alias or origin), alone, takes, passes)


def read(words: Sequence[Word], start: str) -> Part:
    """What the rule `start` makes of `words`; raises Lark's `UnexpectedToken`."""
    table, rules = _tables()
    states, done = table.states, table.end_states[start]
    stack: list[int] = [table.start_states[start]]
    made: list[tuple[Any, int, int]] = []  # with the stretch of text, brackets and all
    for word in (*words, Word("$END", "")):
        while True:
            _, arg = states[stack[-1]].get(word.type, (None, None))
            if arg is None:
                grammar().parse(words, start=start)  # raises, and says what could stand there
            if arg.__class__ is int:
                stack.append(arg)
                made.append((word, word.start_pos or 0, word.end_pos or 0))
                break
            origin, name, alone, takes, passes = rules[id(arg)]
            if passes:
                stack[-1] = states[stack[-2]][origin][1]
                continue
            taken = made[-len(takes) :]
            del made[-len(takes) :], stack[-len(takes) :]
            parts: list[Any] = []
            for (part, _, _), takes_parts in zip(taken, takes, strict=True):
                if takes_parts:
                    parts += part.parts
                elif takes_parts is not None:
                    parts.append(part)
            begin, end = taken[0][1], taken[-1][2]
            whole = parts[0] if alone and len(parts) == 1 else Part(name, parts, (begin, end))
            made.append((whole, begin, end))
            stack.append(states[stack[-1]][origin][1])
            if stack[-1] == done:
                return made[-1][0]
    raise AssertionError("Lark reads what its own tables do not")
