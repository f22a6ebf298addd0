"""Reports of fits, and how well they know what they found: errors, flat directions, a page."""

from .curvature import FLAT, Survey
from .hyperparameters import Hyperparameter
from .page import Ended, Report

__all__ = ["FLAT", "Ended", "Hyperparameter", "Report", "Survey"]
