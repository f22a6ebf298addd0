"""Decisions in a row: Markov decision processes, solved with a proof, and beliefs about states."""

from .evaluation import evaluate, occupancies
from .filtering import Filtered, HiddenMarkov, StateModel, filter, smooth
from .information import informed, qmdp
from .kalman import LinearNormal, Moments, in_time
from .maps import Grid
from .planes import Planes, backup, blind, distance, improve, prune
from .pomdp import POMDP, Controlled
from .process import MDP
from .solving import Solution, solve

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
