"""Matérn processes on a line: exact regression in time and memory that grow as the readings."""

from .posterior import LinePosterior
from .regression import LineGP, condition, log_evidence, log_evidence_and_gradient

__all__ = ["LineGP", "LinePosterior", "condition", "log_evidence", "log_evidence_and_gradient"]
