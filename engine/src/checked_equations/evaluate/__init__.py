"""The second stage, from a tree to numbers.

`values` are the things that may be bound, `operations` those on scalars, columns and matrices,
`evaluator` remembers values and asks `rules`, which has one small function for each kind of node.
"""

from .rules import algebra, derivatives, limits, loops

__all__ = ["algebra", "derivatives", "limits", "loops"]
