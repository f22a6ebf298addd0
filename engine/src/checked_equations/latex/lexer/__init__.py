"""From LaTeX to the words of the grammar, given the names that are bound."""

from .terminals import lex

__all__ = ["lex"]
