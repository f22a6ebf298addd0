"""Bayesian optimisation: the choice of the next evaluation by its worth under a model."""

from .acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from .batch_improvement import BatchExpectedImprovement
from .gradients import acquisition_and_gradient, predict_and_pullback
from .history import Evaluation
from .knowledge import knowledge_gradient
from .loop import Outcome, maximise, minimise
from .maximiser import LocalMaximum, Maximum, maximise_acquisition
from .noisy_improvement import NoisyExpectedImprovement
from .optimiser import Optimiser, Recommendation
from .pareto import ExpectedHypervolumeImprovement, hypervolume, pareto_front
from .pareto_outcome import ParetoOutcome, VectorEvaluation
from .pending_points import fantasise
from .polytopes import LinearConstraint
from .search_space import Categorical, Fixed, Integer, Real, Space
from .sensitivity import Slice, SobolIndex, plot_sobol_indices, slices, sobol_indices
from .several_objectives import ParetoOptimiser, minimise_several
from .surrogates import dim_scaled_model, fitted_model, fitted_with_gradients
from .thompson_sampling import ThompsonSampling, thompson_sample, thompson_sample_among

__all__ = [
    "BatchExpectedImprovement",
    "Categorical",
    "Evaluation",
    "ExpectedHypervolumeImprovement",
    "ExpectedImprovement",
    "Fixed",
    "Integer",
    "LinearConstraint",
    "LocalMaximum",
    "LogExpectedImprovement",
    "LogProbabilityOfImprovement",
    "Maximum",
    "NoisyExpectedImprovement",
    "Optimiser",
    "Outcome",
    "ParetoOptimiser",
    "ParetoOutcome",
    "ProbabilityOfImprovement",
    "Real",
    "Recommendation",
    "Slice",
    "SobolIndex",
    "Space",
    "ThompsonSampling",
    "UpperConfidenceBound",
    "VectorEvaluation",
    "acquisition_and_gradient",
    "dim_scaled_model",
    "fantasise",
    "fitted_model",
    "fitted_with_gradients",
    "hypervolume",
    "knowledge_gradient",
    "maximise",
    "maximise_acquisition",
    "minimise",
    "minimise_several",
    "pareto_front",
    "plot_sobol_indices",
    "predict_and_pullback",
    "slices",
    "sobol_indices",
    "thompson_sample",
    "thompson_sample_among",
]
