"""The recommendation of a search at its end: a place, and the belief about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from .search_region import Place, said

__all__ = ["Recommendation"]


@dataclass(frozen=True, eq=False)
class Recommendation(Generic[Place]):
    """The place that a model of all readings holds for the best of those that were evaluated.

    Parameters
    ----------
    x : HostVector, shape (d,), or dict
        The place.
    mean : float
        The model's mean of the objective there, without the noise of a reading.
    sd : float
        The standard deviation of that belief.
    feasibility : float, default 1.0
        The probability, by the models of the constraints, that all are met there.
    """

    x: Place
    mean: float
    sd: float
    feasibility: float = 1.0

    def __repr__(self) -> str:
        """One line."""
        sure = "" if self.feasibility == 1.0 else f", feasible by {self.feasibility:.0%}"
        return f"<Recommendation: {self.mean:.4g} ± {self.sd:.2g}{sure} at {said(self.x)}>"
