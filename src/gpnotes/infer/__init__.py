"""Posteriors: exact, of weights, of labels, through features and inducing points; and fits.

The four verbs that serve every model are imported from here, or from `gpnotes`.
"""

from .fitting import fit
from .verbs import condition, log_evidence, log_evidence_and_gradient

__all__ = ["condition", "fit", "log_evidence", "log_evidence_and_gradient"]
