"""Symmetric equilibria: regret, dynamics, and a search that says how every attempt ended."""

from .certificate import CertifiedMixture, certify
from .game_dynamics import regret, replicator_dynamics
from .outcome import Equilibria, Equilibrium, Search
from .search import find_equilibria

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
