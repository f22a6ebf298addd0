"""Symmetric equilibria: regret, dynamics, and a search that says how every attempt ended."""

from .dynamics import regret, replicator
from .outcome import Equilibria, Equilibrium, Search
from .search import find_equilibria

__all__ = [
    "Equilibria",
    "Equilibrium",
    "Search",
    "find_equilibria",
    "regret",
    "replicator",
]
