"""The second stage, from a tree to numbers.

`values` says what may be bound, `operations` what is done to scalars, columns and matrices,
`evaluator` remembers values and asks `rules`, which has one small function for each kind of node.
"""

from .rules import algebra, derivatives, limits, loops

__all__ = ["algebra", "derivatives", "limits", "loops"]
