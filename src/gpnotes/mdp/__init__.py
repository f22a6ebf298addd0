"""Decisions in a row: Markov decision processes, solved with a proof, and beliefs about states."""

from .alpha_vectors import Planes, backup, blind, distance, improve, prune
from .decision_process import MDP
from .evaluation import evaluate, occupancies
from .filtering import Filtered, HiddenMarkov, StateModel, filter, smooth
from .grid_worlds import Grid
from .kalman import LinearNormal, Moments, in_time
from .pomdp import POMDP, Controlled
from .solving import Solution, solve
from .upper_bounds import informed, qmdp

__all__ = [
    "MDP",
    "POMDP",
    "Controlled",
    "Filtered",
    "Grid",
    "HiddenMarkov",
    "LinearNormal",
    "Moments",
    "Planes",
    "Solution",
    "StateModel",
    "backup",
    "blind",
    "distance",
    "evaluate",
    "filter",
    "improve",
    "in_time",
    "informed",
    "occupancies",
    "prune",
    "qmdp",
    "smooth",
    "solve",
]
