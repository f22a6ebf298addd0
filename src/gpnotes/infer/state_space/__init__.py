"""Processes on a line that a few numbers carry, in time and memory that grow as the readings."""

from .posterior import StateSpaceForecast, StateSpacePosterior
from .regression import StateSpaceGP

__all__ = ["StateSpaceForecast", "StateSpaceGP", "StateSpacePosterior"]
