"""Role-symmetric games learned from payoff samples: deviation payoffs, regret, equilibria."""

from .expansion import Expansion
from .game import RoleSymmetricGame
from .payoffs import PayoffModel
from .sampled import SampledPayoffs
from .solve import regret, replicator

__all__ = [
    "Expansion",
    "PayoffModel",
    "RoleSymmetricGame",
    "SampledPayoffs",
    "regret",
    "replicator",
]
