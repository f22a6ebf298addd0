"""Prediction at uncertain inputs: moments of GPs and RBF networks under a normal input."""

from .expectations import (
    kernel_covariance,
    kernel_covariance_and_pullback,
    kernel_mean,
    kernel_mean_and_pullback,
    kernel_outer,
)
from .network import network, network_and_pullback
from .predictor import Moments, Predictor, predict, predict_and_pullback, predictor

__all__ = [
    "Moments",
    "Predictor",
    "kernel_covariance",
    "kernel_covariance_and_pullback",
    "kernel_mean",
    "kernel_mean_and_pullback",
    "kernel_outer",
    "network",
    "network_and_pullback",
    "predict",
    "predict_and_pullback",
    "predictor",
]
