"""One small function a node: importing this package fills the register."""

from . import algebra, derivatives, loops
from .registry import Item, Scope, rule

__all__ = ["Item", "Scope", "algebra", "derivatives", "loops", "rule"]
