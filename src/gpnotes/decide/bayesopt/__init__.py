"""Bayesian optimisation: where to evaluate next, by what the model says an evaluation is worth."""

from .acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from .batch_improvement import JointImprovement, joint_improvement
from .gradients import acquisition_and_gradient, predict_and_pullback
from .history import Evaluation
from .loop import Outcome, maximise, minimise
from .maximiser import Climb, Maximum, maximise_acquisition
from .optimiser import Optimiser, Recommendation
from .pending_points import fantasise
from .polytopes import Linear
from .search_space import Category, Fixed, Integer, Real, Space
from .sensitivity import Section, Share, draw_shares, sections, shares
from .surrogates import fitted_model, fitted_with_gradients, scaled_model
from .thompson_sampling import ThompsonSampling, thompson, thompson_among

__all__ = [
    "Category",
    "Climb",
    "Evaluation",
    "ExpectedImprovement",
    "Fixed",
    "Integer",
    "JointImprovement",
    "Linear",
    "LogExpectedImprovement",
    "LogProbabilityOfImprovement",
    "Maximum",
    "Optimiser",
    "Outcome",
    "ProbabilityOfImprovement",
    "Real",
    "Recommendation",
    "Section",
    "Share",
    "Space",
    "ThompsonSampling",
    "UpperConfidenceBound",
    "acquisition_and_gradient",
    "draw_shares",
    "fantasise",
    "fitted_model",
    "fitted_with_gradients",
    "joint_improvement",
    "maximise",
    "maximise_acquisition",
    "minimise",
    "predict_and_pullback",
    "scaled_model",
    "sections",
    "shares",
    "thompson",
    "thompson_among",
]
