"""Equations that check themselves: the LaTeX of a chapter, parsed, evaluated and mutated.

>>> from gpnotes.equations import Chapter, Distribution, Estimate, Nodes
"""

from .chapter import Chapter
from .errors import EquationError
from .record import Record
from .values import Distribution, Estimate, Nodes

__all__ = ["Chapter", "Distribution", "EquationError", "Estimate", "Nodes", "Record"]
