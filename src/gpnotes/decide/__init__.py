"""Decisions: designs of experiments, Bayesian optimisation, control and moment matching."""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        bayesopt as bayesopt, design as design, fantasy as fantasy, moments as moments,
        optuna_sampler as optuna_sampler, pilco as pilco,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
