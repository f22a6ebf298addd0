"""Reports of fits, with the uncertainty of hyperparameters: errors, flat directions, a page."""

from .curvature import FLAT_THRESHOLD, ObjectiveSurvey
from .hyperparameters import Hyperparameter
from .page import FinishedRun, Report

__all__ = ["FLAT_THRESHOLD", "FinishedRun", "Hyperparameter", "ObjectiveSurvey", "Report"]
