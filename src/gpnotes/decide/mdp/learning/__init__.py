"""Learning from what happens: worlds to act in, learners with `init`, `act` and `step`, runs."""

from .exploring import UCB, EpsilonGreedy, Explorer, Fixed
from .nstep import NStepSARSA, NStepTD, Slots
from .onestep import SARSA, ExpectedSARSA, QLearning, Waiting
from .predicting import TD, StateMemory
from .running import Episodes, Run, run
from .schedules import Constant, Exponential, Listed, Power, Schedule
from .tables import Learner, Memory, Transition
from .traces import QLambda, SARSALambda, Traced, TracedWaiting
from .worlds import Outcome, Tabular, World

__all__ = [
    "SARSA", "TD", "UCB", "Constant", "Episodes", "EpsilonGreedy", "ExpectedSARSA", "Explorer",
    "Exponential", "Fixed", "Learner", "Listed", "Memory", "NStepSARSA", "NStepTD", "Outcome",
    "Power", "QLambda", "QLearning", "Run", "SARSALambda", "Schedule", "Slots", "StateMemory",
    "Tabular", "Traced", "TracedWaiting", "Transition", "Waiting", "World", "run",
]  # fmt: skip
