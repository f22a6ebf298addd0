"""What a fit has found and how well it is known: standard errors, flat directions, a page."""

from .curvature import FLAT, Survey
from .hyperparameters import Hyperparameter
from .page import Ended, Report

__all__ = ["FLAT", "Ended", "Hyperparameter", "Report", "Survey"]
