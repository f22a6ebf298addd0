"""What would mend an equality that does not hold."""

from .numbers import holds_on
from .search import Mend, Mends, mends_of, same_claim
from .words import in_words, mended, mends_of_equation

__all__ = [
    "Mend",
    "Mends",
    "holds_on",
    "in_words",
    "mended",
    "mends_of",
    "mends_of_equation",
    "same_claim",
]
