"""One small function a node: importing this package fills the register."""

from . import algebra, derivatives, loops

__all__ = ["algebra", "derivatives", "loops"]
