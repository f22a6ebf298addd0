"""Assessments of predictions: scores and cross-validation."""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        calibration as calibration, crossval as crossval, scores as scores,
        variograms as variograms,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
