"""One small function a node: importing this package fills the register."""

from . import algebra, derivatives, loops
from .registry import RULES, Item, Scope

__all__ = ["RULES", "Item", "Scope", "algebra", "derivatives", "loops"]
