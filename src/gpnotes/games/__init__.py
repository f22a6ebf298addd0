"""Role-symmetric games learned from payoff samples: deviation payoffs, regret, equilibria."""

from .equilibria import (
    CertifiedMixture,
    Equilibria,
    Equilibrium,
    Search,
    certify,
    find_equilibria,
    regret,
    replicator_dynamics,
)
from .expansion import Expansion
from .game import RoleSymmetricGame
from .gameanalysis_json import read_game, write_game
from .payoff_fit import fit_payoffs
from .payoffs import Estimate, PayoffModel
from .posterior_variance import PosteriorVariance
from .profile_selection import propose_profiles
from .skewness_correction import gaussian_correction
from .tabulated import Simulations, all_profiles, tabulate

__all__ = [
    "CertifiedMixture",
    "Equilibria",
    "Equilibrium",
    "Estimate",
    "Expansion",
    "PayoffModel",
    "PosteriorVariance",
    "RoleSymmetricGame",
    "Search",
    "Simulations",
    "all_profiles",
    "certify",
    "find_equilibria",
    "fit_payoffs",
    "gaussian_correction",
    "propose_profiles",
    "read_game",
    "regret",
    "replicator_dynamics",
    "tabulate",
    "write_game",
]
