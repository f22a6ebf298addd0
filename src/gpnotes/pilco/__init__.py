"""Learning to act from a model of the dynamics: fantasies, policies, rollouts."""

from . import fantasy
from .cost import SaturatingCost
from .dynamics import Dynamics
from .learn import Improved, Task, Transitions, Trial, fit_dynamics, improve, learn, parameters
from .policies import LinearPolicy, RBFPolicy, Squashed
from .rollout import (
    Rollout,
    rollout,
    rollout_and_pullback,
    sample_paths,
    step,
    step_and_pullback,
)
from .sines import Augmented, Sines, augment, augment_and_pullback, sines, sines_and_pullback

__all__ = [
    "Augmented",
    "Dynamics",
    "Improved",
    "LinearPolicy",
    "RBFPolicy",
    "Rollout",
    "SaturatingCost",
    "Sines",
    "Squashed",
    "Task",
    "Transitions",
    "Trial",
    "augment",
    "augment_and_pullback",
    "fantasy",
    "fit_dynamics",
    "improve",
    "learn",
    "parameters",
    "rollout",
    "rollout_and_pullback",
    "sample_paths",
    "sines",
    "sines_and_pullback",
    "step",
    "step_and_pullback",
]
