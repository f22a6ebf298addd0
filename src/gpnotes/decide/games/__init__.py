"""Role-symmetric games learned from payoff samples: deviation payoffs, regret, equilibria."""

from .correction import gaussian_correction
from .equilibria import Equilibria, Equilibrium, Search, find_equilibria, regret, replicator
from .expansion import Expansion
from .fitting import fit_payoffs
from .game import RoleSymmetricGame
from .payoffs import Estimate, PayoffModel

__all__ = [
    "Equilibria",
    "Equilibrium",
    "Estimate",
    "Expansion",
    "PayoffModel",
    "RoleSymmetricGame",
    "Search",
    "find_equilibria",
    "fit_payoffs",
    "gaussian_correction",
    "regret",
    "replicator",
]
