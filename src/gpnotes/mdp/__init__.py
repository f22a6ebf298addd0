"""Markov decision processes, solved with a proof, and beliefs about their states."""

from .alpha_vectors import (
    AlphaVectors,
    backup,
    blind_policy_bound,
    max_difference,
    point_based_value_iteration,
    prune,
)
from .decision_process import MDP
from .evaluation import evaluate, occupancy_measure
from .filtering import FilterResult, HiddenMarkovModel, StateModel, filter, smooth
from .grid_worlds import GridWorld
from .linear_gaussian_ssm import GaussianBelief, LinearGaussianSSM, state_space_model
from .pomdp import POMDP, ControlledChain
from .solving import Solution, solve
from .upper_bounds import fast_informed_bound, qmdp

__all__ = [
    "MDP",
    "POMDP",
    "AlphaVectors",
    "ControlledChain",
    "FilterResult",
    "GaussianBelief",
    "GridWorld",
    "HiddenMarkovModel",
    "LinearGaussianSSM",
    "Solution",
    "StateModel",
    "backup",
    "blind_policy_bound",
    "evaluate",
    "fast_informed_bound",
    "filter",
    "max_difference",
    "occupancy_measure",
    "point_based_value_iteration",
    "prune",
    "qmdp",
    "smooth",
    "solve",
    "state_space_model",
]
