"""Samplers: chains of draws from a density that is known up to a constant."""

from .chains import Chains, ChainWarning
from .diagnostics import ess_bulk, ess_mean, ess_tail, mcse, rhat
from .elliptical_slice import EllipticalSlice
from .hamiltonian import HMC, NUTS, Phase, leapfrog
from .hyperparameter_target import HyperDensity, averaged
from .metropolis import MALA, SGLD, ULA, RandomWalk
from .sampling import sample
from .states import Sampler, State, Step
from .targets import RowSum

__all__ = [
    "HMC", "MALA", "NUTS", "SGLD", "ULA", "ChainWarning", "Chains", "EllipticalSlice",
    "HyperDensity", "Phase", "RandomWalk", "RowSum", "Sampler", "State", "Step", "averaged",
    "ess_bulk", "ess_mean", "ess_tail", "leapfrog", "mcse", "rhat", "sample",
]  # fmt: skip
