"""Symmetric equilibria: regret, dynamics, and a search that says how every attempt ended."""

from .certified_mixture import CertifiedMixture, certify
from .game_dynamics import regret, replicator_dynamics
from .search import find_equilibria
from .search_results import Equilibria, Equilibrium, Search

__all__ = [
    "CertifiedMixture",
    "Equilibria",
    "Equilibrium",
    "Search",
    "certify",
    "find_equilibria",
    "regret",
    "replicator_dynamics",
]
