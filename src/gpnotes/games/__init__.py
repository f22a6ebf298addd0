"""Role-symmetric games learned from payoff samples: deviation payoffs, regret, equilibria."""

from .equilibrium import equilibria
from .expansion import Expansion
from .game import RoleSymmetricGame
from .learn import learn
from .outcome import Equilibria, Equilibrium, Search
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
    "Search",
    "equilibria",
    "learn",
    "regret",
    "replicator",
]
