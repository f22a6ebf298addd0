"""From LaTeX to the words of the grammar, given the names that are bound."""

from .terminals import words

__all__ = ["words"]
