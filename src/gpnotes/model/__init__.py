"""The parts of a model: kernels, means, likelihoods, priors, and the contract of each."""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        basis as basis, bounds as bounds, contracts as contracts,
        gaussian_process as gaussian_process, kernels as kernels, likelihoods as likelihoods,
        means as means, normal as normal, positive_priors as positive_priors,
        priors as priors, starts as starts,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
