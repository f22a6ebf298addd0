"""Learning to act from a model of the dynamics: policies, costs, rollouts, and the loop."""

from .composed import ComposableCost, PartialCost, StepCost, SumCost
from .costs import QuadraticCost, SaturatingCost
from .dynamics import Dynamics, Transitions, fit_dynamics
from .learning import Improvement, Trial, improve_policy, learn
from .policies import LinearPolicy, RBFPolicy, SquashedPolicy
from .rollouts import (
    Rollout,
    rollout,
    rollout_and_pullback,
    sample_trajectories,
    step,
    step_and_pullback,
)
from .tasks import Task, initial_policy
from .trigonometric_moments import (
    Augmented,
    SineMoments,
    augment,
    augment_and_pullback,
    sine_moments,
    sine_moments_and_pullback,
)

__all__ = [
    "Augmented",
    "ComposableCost",
    "Dynamics",
    "Improvement",
    "LinearPolicy",
    "PartialCost",
    "QuadraticCost",
    "RBFPolicy",
    "Rollout",
    "SaturatingCost",
    "SineMoments",
    "SquashedPolicy",
    "StepCost",
    "SumCost",
    "Task",
    "Transitions",
    "Trial",
    "augment",
    "augment_and_pullback",
    "fit_dynamics",
    "improve_policy",
    "initial_policy",
    "learn",
    "rollout",
    "rollout_and_pullback",
    "sample_trajectories",
    "sine_moments",
    "sine_moments_and_pullback",
    "step",
    "step_and_pullback",
]
