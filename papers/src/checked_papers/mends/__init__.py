"""The single edits that would mend an equality that does not hold.

`supply` has the parts that an edit inserts; `insertions`, `pieces` and `pairs` have the edits;
`search` tries them, and `words` reports them. `numbers` tells if a candidate holds on the draws,
`loose_reading` reads a form in which a letter neither runs nor is bound.
"""

from .numbers import holds_on
from .search import Mend, Mends, mends_of, same_claim
from .words import holds_as_read, in_words, mends_of_equation, suggestion, told

__all__ = [
    "Mend",
    "Mends",
    "holds_as_read",
    "holds_on",
    "in_words",
    "mends_of",
    "mends_of_equation",
    "same_claim",
    "suggestion",
    "told",
]
