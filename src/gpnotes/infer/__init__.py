"""Posteriors: exact, of weights, of labels, through features and inducing points; and fits.

The four verbs that serve every model are imported from here, or from `gpnotes`.
"""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules
from .fitting import fit
from .verbs import condition, log_evidence, log_evidence_and_gradient

__all__ = ["condition", "fit", "log_evidence", "log_evidence_and_gradient"]

if TYPE_CHECKING:  # isort: off
    from . import (
        deep as deep, evidence as evidence, exact as exact, features as features,
        fit_checks as fit_checks, fitting as fitting, further_starts as further_starts,
        heteroscedastic as heteroscedastic,
        input_gradients as input_gradients, interdomain as interdomain, known_noise as known_noise,
        laplace as laplace, leave_one_out as leave_one_out, linear as linear,
        linear_smoother as linear_smoother, noise_floor as noise_floor, objective as objective,
        open_start as open_start,
        posterior as posterior, prior_terms as prior_terms,
        progress as progress, repeats as repeats, report as report, run as run, saving as saving,
        sparse as sparse, stacked_evidences as stacked_evidences, stacks as stacks,
        state_space as state_space, sufficient_statistics as sufficient_statistics,
        summands as summands, svgp as svgp,
        ties as ties,
        verbs as verbs,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
