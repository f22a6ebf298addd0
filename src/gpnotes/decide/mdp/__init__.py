"""Decisions in a row: Markov decision processes, beliefs about their states."""

from .filtering import Filtered, HiddenMarkov, StateModel, filter, smooth
from .kalman import LinearNormal, Moments, in_time

__all__ = [
    "Filtered", "HiddenMarkov", "LinearNormal", "Moments", "StateModel", "filter", "in_time",
    "smooth",
]  # fmt: skip
