"""Checks that parts of your own can be put through: kernels, means, likelihoods, policies and more.

They raise `AssertionError` with the numbers; the tests of this package use them too. Each goes with
a contract of `gpnotes.model.contracts`, or with `Kernel`. On NumPy in float64 they check the most.
"""

from .array_namespaces import ArraySpace, array_spaces
from .decisions import check_acquisition, check_cost, check_criterion, check_policy
from .differences import gradcheck
from .inducing import check_inducing_variables
from .kernels import check_kernel
from .learners import check_environment, check_learner
from .mixtures import check_classes, check_mixture, check_network
from .models import check_likelihood, check_mean, check_posterior, check_prior
from .samplers import check_sampler

__all__ = [
    "ArraySpace",
    "array_spaces",
    "check_acquisition",
    "check_classes",
    "check_cost",
    "check_criterion",
    "check_environment",
    "check_inducing_variables",
    "check_kernel",
    "check_learner",
    "check_likelihood",
    "check_mean",
    "check_mixture",
    "check_network",
    "check_policy",
    "check_posterior",
    "check_prior",
    "check_sampler",
    "gradcheck",
]
