"""Where to measure next: information, greedy designs, and queries for labels."""

from .baselines import exhaustive_design, farthest_points
from .greedy import Design, greedy_design, greedy_design_by
from .information import information_gain, marginal_gains
from .label_queries import approximate_bald, bald, entropy, margin

__all__ = [
    "Design",
    "approximate_bald",
    "bald",
    "entropy",
    "exhaustive_design",
    "farthest_points",
    "greedy_design",
    "greedy_design_by",
    "information_gain",
    "margin",
    "marginal_gains",
]
