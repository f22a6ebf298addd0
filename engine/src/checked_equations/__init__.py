"""Equations that check themselves: the LaTeX of a chapter, parsed, evaluated and mutated.

>>> from checked_equations import Chapter, Distribution, Estimate, Nodes
"""

from .book.chapter import Chapter
from .book.checks import check_equation
from .book.gluing import glue
from .book.mended import Mended, mend_equation
from .book.records import Record
from .claims.claim import ClaimError
from .claims.outcome import Outcome, Pick
from .errors import EquationError
from .evaluate.values import Distribution, Estimate, Nodes

__all__ = [
    "Chapter",
    "ClaimError",
    "Distribution",
    "EquationError",
    "Estimate",
    "Mended",
    "Nodes",
    "Outcome",
    "Pick",
    "Record",
    "check_equation",
    "glue",
    "mend_equation",
]
