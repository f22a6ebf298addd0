"""Reinforcement learning in tables: environments, learners (`init`, `act`, `step`), and runs."""

from .exploration import UCB, EpsilonGreedy, ExplorationPolicy, FixedPolicy
from .gymnasium_environment import GymnasiumEnvironment
from .importance_sampling import OffPolicyEstimate, importance_weights, off_policy_value
from .mdp_environment import Environment, MDPEnvironment, TimeStep
from .model_based import (
    CertaintyEquivalence,
    DynaQ,
    DynaState,
    ModelState,
    PosteriorSampling,
    RMax,
)
from .n_step import NStepSARSA, NStepState, NStepTD
from .optimistic_values import optimistic_value
from .running import Episodes, Run, run
from .schedules import (
    ConstantSchedule,
    ExponentialDecay,
    PowerLawDecay,
    Schedule,
    TabulatedSchedule,
)
from .tabular import Learner, LearnerState, Transition
from .td_control import SARSA, ExpectedSARSA, QLearning, SARSAState
from .td_prediction import TD, TDState
from .traces import QLambda, QLambdaState, SARSALambda, SARSALambdaState

__all__ = [
    "SARSA",
    "TD",
    "UCB",
    "CertaintyEquivalence",
    "ConstantSchedule",
    "DynaQ",
    "DynaState",
    "Environment",
    "Episodes",
    "EpsilonGreedy",
    "ExpectedSARSA",
    "ExplorationPolicy",
    "ExponentialDecay",
    "FixedPolicy",
    "GymnasiumEnvironment",
    "Learner",
    "LearnerState",
    "MDPEnvironment",
    "ModelState",
    "NStepSARSA",
    "NStepState",
    "NStepTD",
    "OffPolicyEstimate",
    "PosteriorSampling",
    "PowerLawDecay",
    "QLambda",
    "QLambdaState",
    "QLearning",
    "RMax",
    "Run",
    "SARSALambda",
    "SARSALambdaState",
    "SARSAState",
    "Schedule",
    "TDState",
    "TabulatedSchedule",
    "TimeStep",
    "Transition",
    "importance_weights",
    "off_policy_value",
    "optimistic_value",
    "run",
]  # fmt: skip
