"""Role-symmetric games learned from payoff samples: deviation payoffs, regret, equilibria."""

from .equilibrium import Equilibria, Equilibrium, equilibria
from .expansion import Expansion
from .game import RoleSymmetricGame
from .learn import learn
from .payoffs import PayoffModel
from .sampled import SampledPayoffs
from .solve import regret, replicator

__all__ = [
    "Equilibria",
    "Equilibrium",
    "Expansion",
    "PayoffModel",
    "RoleSymmetricGame",
    "SampledPayoffs",
    "equilibria",
    "learn",
    "regret",
    "replicator",
]
