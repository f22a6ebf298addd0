"""Where to measure next: information, greedy designs, and queries for labels."""

from .greedy import Design, greedy
from .information import gain, information

__all__ = ["Design", "gain", "greedy", "information"]
