"""The stage for unbound displays: they are tried on numbers drawn by kind and condition.

`display` has the call, `reading` the statement with its free symbols, `drawing` the numbers,
`judging` the regions where it holds,
`verdicts` the conclusion. A verdict here is never that of a check, whose numbers come by a route of
their own.
"""

from . import kinds
from .display import try_display
from .kinds import Kind
from .verdicts import Tried

__all__ = ["Kind", "Tried", "kinds", "try_display"]
