"""Decisions in a row: Markov decision processes, solved with a proof of what a policy can lose."""

from .evaluation import evaluate, occupancies
from .maps import Grid
from .process import MDP
from .solving import Solution, solve

__all__ = [
    "MDP",
    "Grid",
    "Solution",
    "evaluate",
    "occupancies",
    "solve",
]
