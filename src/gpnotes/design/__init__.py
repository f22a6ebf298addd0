"""Where to measure next: information, greedy designs, and queries for labels."""

from .greedy import Design, greedy
from .information import gain, information
from .labels import bald, bald_by_bumps, entropy, margin
from .others import at_random, brute, spread

__all__ = [
    "Design",
    "at_random",
    "bald",
    "bald_by_bumps",
    "brute",
    "entropy",
    "gain",
    "greedy",
    "information",
    "margin",
    "spread",
]
