"""Learning from what happens: worlds to act in, learners with `init`, `act` and `step`, runs."""

from .exploring import UCB, EpsilonGreedy, Explorer, Fixed
from .onestep import SARSA, ExpectedSARSA, QLearning, Waiting
from .running import Episodes, Run, run
from .schedules import Constant, Exponential, Listed, Power, Schedule
from .tables import Learner, Memory, Transition
from .worlds import Outcome, Tabular, World

__all__ = [
    "SARSA", "UCB", "Constant", "Episodes", "EpsilonGreedy", "ExpectedSARSA", "Explorer",
    "Exponential", "Fixed", "Learner", "Listed", "Memory", "Outcome", "Power", "QLearning", "Run",
    "Schedule", "Tabular", "Transition", "Waiting", "World", "run",
]  # fmt: skip
