"""Samplers: chains of draws from a density that is known up to a constant."""

from .chains import Chains, ChainWarning
from .diagnostics import ess_bulk, ess_mean, ess_tail, mcse, rhat
from .elliptical_slice import EllipticalSlice
from .hmc import HMC
from .hyperparameter_target import HyperparameterDensity, average_predictions
from .integrator import PhasePoint, leapfrog
from .langevin import MALA, SGLD, ULA
from .metropolis import RandomWalkMetropolis
from .nuts import NUTS
from .sampling import sample
from .states import Sampler, State, Step
from .targets import MinibatchDensity

__all__ = [
    "HMC", "MALA", "NUTS", "SGLD", "ULA", "ChainWarning", "Chains", "EllipticalSlice",
    "HyperparameterDensity", "MinibatchDensity", "PhasePoint", "RandomWalkMetropolis", "Sampler",
    "State", "Step", "average_predictions", "ess_bulk", "ess_mean", "ess_tail", "leapfrog", "mcse",
    "rhat", "sample",
]  # fmt: skip
