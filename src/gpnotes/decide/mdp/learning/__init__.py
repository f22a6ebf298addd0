"""Learning from what happens: worlds to act in, learners with `init`, `act` and `step`, runs."""

from .environments import Gymnasium
from .exploring import UCB, EpsilonGreedy, Explorer, Fixed
from .models import Counting, Model, RMax
from .nstep import NStepSARSA, NStepTD, Slots
from .onestep import SARSA, ExpectedSARSA, QLearning, Waiting
from .optimism import optimistic_value
from .predicting import TD, StateMemory
from .running import Episodes, Run, run
from .schedules import Constant, Exponential, Listed, Power, Schedule
from .tables import Learner, Memory, Transition
from .traces import QLambda, SARSALambda, Traced, TracedWaiting
from .weights import OffPolicy, importance_weights, off_policy_value
from .worlds import Outcome, Tabular, World

__all__ = [
    "SARSA", "TD", "UCB", "Constant", "Counting", "Episodes", "EpsilonGreedy", "ExpectedSARSA",
    "Explorer", "Exponential", "Fixed", "Gymnasium", "Learner", "Listed", "Memory", "Model",
    "NStepSARSA", "NStepTD", "OffPolicy", "Outcome", "Power", "QLambda", "QLearning", "RMax", "Run",
    "SARSALambda", "Schedule", "Slots", "StateMemory", "Tabular", "Traced", "TracedWaiting",
    "Transition", "Waiting", "World", "importance_weights", "off_policy_value", "optimistic_value",
    "run",
]  # fmt: skip
