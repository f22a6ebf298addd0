"""Bayesian neural networks: small ones, with their pullbacks written out, and what stands in for
the posterior of their weights.

Each of the methods gives weights (m, p) of m networks, and `predict` makes a mixture of them.
"""

from .bayes_by_backprop import FittedField, MeanField, bound_and_gradient, fit_mean_field
from .bayesian_last_layer import LastLayer, last_layer
from .dropout import drop_masks, fit_dropped
from .layers import Network
from .model import BayesianNetwork, Mixture, log_joint, log_joint_and_gradient, predict
from .posterior_mode import Ascended, bootstrap_counts, map_estimate
from .swag import Moments, Snapshots, collect_snapshots

__all__ = [
    "Ascended",
    "BayesianNetwork",
    "FittedField",
    "LastLayer",
    "MeanField",
    "Mixture",
    "Moments",
    "Network",
    "Snapshots",
    "bootstrap_counts",
    "bound_and_gradient",
    "collect_snapshots",
    "drop_masks",
    "fit_dropped",
    "fit_mean_field",
    "last_layer",
    "log_joint",
    "log_joint_and_gradient",
    "map_estimate",
    "predict",
]
