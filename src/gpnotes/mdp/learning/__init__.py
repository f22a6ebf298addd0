"""Learning from what happens: worlds to act in, learners with `init`, `act` and `step`, runs."""

from .exploring import UCB, EpsilonGreedy, Explorer, Fixed
from .gymnasium_environment import Gymnasium
from .importance_sampling import OffPolicy, importance_weights, off_policy_value
from .mdp_environment import Outcome, Tabular, World
from .model_based import Counting, Model, RMax
from .n_step import NStepSARSA, NStepTD, Slots
from .optimistic_values import optimistic_value
from .running import Episodes, Run, run
from .schedules import Constant, Exponential, Listed, Power, Schedule
from .tabular import Learner, Memory, Transition
from .td_control import SARSA, ExpectedSARSA, QLearning, Waiting
from .td_prediction import TD, StateMemory
from .traces import QLambda, SARSALambda, Traced, TracedWaiting

__all__ = [
    "SARSA", "TD", "UCB", "Constant", "Counting", "Episodes", "EpsilonGreedy", "ExpectedSARSA",
    "Explorer", "Exponential", "Fixed", "Gymnasium", "Learner", "Listed", "Memory", "Model",
    "NStepSARSA", "NStepTD", "OffPolicy", "Outcome", "Power", "QLambda", "QLearning", "RMax", "Run",
    "SARSALambda", "Schedule", "Slots", "StateMemory", "Tabular", "Traced", "TracedWaiting",
    "Transition", "Waiting", "World", "importance_weights", "off_policy_value", "optimistic_value",
    "run",
]  # fmt: skip
