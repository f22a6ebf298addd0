"""Prediction at uncertain inputs: moments of GPs and RBF networks under a normal input."""

from .kernel_expectations import (
    kernel_covariance,
    kernel_covariance_and_pullback,
    kernel_mean,
    kernel_mean_and_pullback,
    kernel_outer,
)
from .prediction import Moments, predict, predict_and_pullback
from .predictors import Predictor, predictor
from .rbf_network import network_moments, network_moments_and_pullback

__all__ = [
    "Moments",
    "Predictor",
    "kernel_covariance",
    "kernel_covariance_and_pullback",
    "kernel_mean",
    "kernel_mean_and_pullback",
    "kernel_outer",
    "network_moments",
    "network_moments_and_pullback",
    "predict",
    "predict_and_pullback",
    "predictor",
]
