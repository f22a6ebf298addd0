"""Bayesian neural networks: small ones, with their pullbacks written out, and approximations to
the posterior of their weights.

Each of the methods gives weights (m, p) of m networks, and `predict` makes a mixture of them.
"""

from .bayes_by_backprop import FittedMeanField, MeanField, elbo_and_gradient, fit_mean_field
from .bayesian_last_layer import LastLayer, fit_last_layer
from .layers import Network
from .linearised_laplace import LinearisedLaplace, fit_linearised_laplace
from .mc_dropout import dropout_masks, fit_mc_dropout
from .model import BayesianNetwork, Mixture, log_joint, log_joint_and_gradient, predict
from .posterior_mode import FittedWeights, bootstrap_counts, map_estimate
from .swag import SWAG, RunningMoments, fit_swag

__all__ = [
    "SWAG",
    "BayesianNetwork",
    "FittedMeanField",
    "FittedWeights",
    "LastLayer",
    "LinearisedLaplace",
    "MeanField",
    "Mixture",
    "Network",
    "RunningMoments",
    "bootstrap_counts",
    "dropout_masks",
    "elbo_and_gradient",
    "fit_last_layer",
    "fit_linearised_laplace",
    "fit_mc_dropout",
    "fit_mean_field",
    "fit_swag",
    "log_joint",
    "log_joint_and_gradient",
    "map_estimate",
    "predict",
]
