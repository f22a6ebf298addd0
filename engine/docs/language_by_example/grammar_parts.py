"""The rules and the words of the grammar: all that there are, and those that an equation shows."""

from __future__ import annotations

from collections.abc import Mapping

from lark.grammar import Rule

from checked_equations.latex.lexer.terminals import lex
from checked_equations.latex.names import Names, normal
from checked_equations.latex.parser_tables import grammar

__all__ = ["all_parts", "parts_of"]


def all_parts() -> frozenset[str]:
    """Every rule of the grammar that a tree shows, and every word."""
    rules = grammar().rules
    terminals = {sign.name for rule in rules for sign in rule.expansion if sign.is_term}
    shown = {str(rule.alias or rule.origin.name) for rule in rules if _leaves_a_trace(rule)}
    return frozenset(shown | terminals)


def _leaves_a_trace(rule: Rule) -> bool:
    """Whether a tree has a node for it, and not what is inside in its place."""
    if rule.alias:
        return True
    kept = [sign for sign in rule.expansion if not (sign.is_term and sign.name.startswith("_"))]
    alone = rule.options.expand1 and len(kept) == 1 and not kept[0].name.startswith("_")
    return not (alone or rule.origin.name.startswith("_"))


def parts_of(latex: str, names: Mapping[str, str], *, free: bool = False) -> frozenset[str]:
    """The rules and the words of the grammar by which an equation is read.

    With `free`, letters that nobody bound are names, as in a definition.
    """
    words = lex(latex, Names({normal(key): kind for key, kind in names.items()}), free=free)
    tree = grammar().parse(iter(words), start="equation")
    read = {str(part.data) for part in tree.iter_subtrees()}
    return frozenset(read | {word.type for word in words})
