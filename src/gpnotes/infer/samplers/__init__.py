"""Samplers: chains of draws from a density that is known up to a constant."""

from .chains import Chains, ChainWarning
from .diagnostics import ess_bulk, ess_mean, ess_tail, mcse, rhat
from .hamiltonian import HMC, NUTS, Phase, leapfrog
from .hyperparameters import HyperDensity, averaged
from .sampling import sample
from .slices import EllipticalSlice
from .states import Sampler, State, Step
from .targets import RowSum
from .walks import MALA, SGLD, ULA, RandomWalk

__all__ = [
    "HMC", "MALA", "NUTS", "SGLD", "ULA", "ChainWarning", "Chains", "EllipticalSlice",
    "HyperDensity", "Phase", "RandomWalk", "RowSum", "Sampler", "State", "Step", "averaged",
    "ess_bulk", "ess_mean", "ess_tail", "leapfrog", "mcse", "rhat", "sample",
]  # fmt: skip
