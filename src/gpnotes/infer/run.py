"""One ascent of a fit, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ..ground.params import Parameters

__all__ = ["Run"]

M = TypeVar("M", bound=Parameters)


@dataclass(frozen=True)
class Run(Generic[M]):
    """One ascent: its end, the number of evaluations, and the optimiser's message.

    A run whose start had no evidence has failed: its `model` is the given one, its `log_evidence`
    minus infinity, and its `message` says why.

    Parameters
    ----------
    model : Parameters
        The model where the ascent ended.
    log_evidence : float
        Its log evidence, or its substitute.
    evaluations : int
        How many evaluations of the objective it took.
    converged : bool
        The optimiser's word for it that it ended at a maximum.
    message : str
        The optimiser's message.
    at_bounds : tuple of str, default ()
        The parameters that ended on one of their bounds, by `params.names`: there the evidence may
        go on rising.
    log_prior : float, default 0.0
        The log density of the priors there, 0 where none are given.
    trace : tuple of float, default ()
        The estimate of a fit in steps before each of them.
    """

    model: M
    log_evidence: float
    evaluations: int
    converged: bool
    message: str
    at_bounds: tuple[str, ...] = ()
    log_prior: float = 0.0
    trace: tuple[float, ...] = ()

    @property
    def objective(self) -> float:
        """The log evidence plus the log density of the priors, the objective of a fit."""
        return self.log_evidence + self.log_prior
