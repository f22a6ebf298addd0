"""Learning from what happens: environments, learners with `init`, `act` and `step`, and runs."""

from .exploration import UCB, EpsilonGreedy, ExplorationPolicy, FixedPolicy
from .gymnasium_environment import GymnasiumEnvironment
from .importance_sampling import OffPolicyEstimate, importance_weights, off_policy_value
from .mdp_environment import Environment, MDPEnvironment, Outcome
from .model_based import CertaintyEquivalence, ModelMemory, RMax
from .n_step import NStepMemory, NStepSARSA, NStepTD
from .optimistic_values import optimistic_value
from .running import Episodes, Run, run
from .schedules import Constant, ExponentialDecay, PowerLawDecay, Schedule, Tabulated
from .tabular import Learner, Memory, Transition
from .td_control import SARSA, ExpectedSARSA, QLearning, SARSAMemory
from .td_prediction import TD, StateMemory
from .traces import QLambda, QLambdaMemory, SARSALambda, SARSALambdaMemory

__all__ = [
    "SARSA",
    "TD",
    "UCB",
    "CertaintyEquivalence",
    "Constant",
    "Environment",
    "Episodes",
    "EpsilonGreedy",
    "ExpectedSARSA",
    "ExplorationPolicy",
    "ExponentialDecay",
    "FixedPolicy",
    "GymnasiumEnvironment",
    "Learner",
    "MDPEnvironment",
    "Memory",
    "ModelMemory",
    "NStepMemory",
    "NStepSARSA",
    "NStepTD",
    "OffPolicyEstimate",
    "Outcome",
    "PowerLawDecay",
    "QLambda",
    "QLambdaMemory",
    "QLearning",
    "RMax",
    "Run",
    "SARSALambda",
    "SARSALambdaMemory",
    "SARSAMemory",
    "Schedule",
    "StateMemory",
    "Tabulated",
    "Transition",
    "importance_weights",
    "off_policy_value",
    "optimistic_value",
    "run",
]  # fmt: skip
