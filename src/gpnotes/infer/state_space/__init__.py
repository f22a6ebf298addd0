"""Matérn processes on a line: exact regression in time and memory that grow as the readings."""

from .posterior import StateSpacePosterior
from .regression import StateSpaceGP, condition, log_evidence, log_evidence_and_gradient

__all__ = [
    "StateSpaceGP",
    "StateSpacePosterior",
    "condition",
    "log_evidence",
    "log_evidence_and_gradient",
]
