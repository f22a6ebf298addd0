"""Right calls of learners, of environments, and of runs of the one in the other."""

from __future__ import annotations

import gymnasium
import numpy as np

import gpnotes
from gpnotes import mdp, testing
from gpnotes.mdp import learning

from ..answers import call
from ..kinds import (
    Argument,
    flag,
    function,
    matrix,
    nonnegative,
    number,
    one_of,
    thing,
    vector,
    whole,
)
from ..kinds import stream as stream_kind

_MDP = mdp.MDP(
    np.asarray([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0], [0.3, 0.7]]), np.eye(2), 0.9
)  # fmt: skip
_WORLD = learning.MDPEnvironment(_MDP)
_SHARE = number(0.4).but(negative=-0.1, beyond=1.1)
_BELOW = _SHARE.but(one=1.0)
_EVEN = np.full((2, 2), 0.5)
_POLICY = matrix(_EVEN, mates=False).but(
    "a vector", **{"no probabilities": _EVEN + 0.1, "a negative one": np.asarray([[2.0, -1.0]] * 2)}
)
_POLICY = _POLICY.but("half precision", "integers", **{"a table of integers": np.eye(2, dtype=int)})
_START = number(0.5).but("a vector")
_CLOCK = {"clock": one_of("time")}
_RULE = thing(learning.EpsilonGreedy(0.2), learning.PowerLawDecay())
_VALUES = {"discount": _SHARE, "step_size": _SHARE, "exploration": _RULE, "initial_values": _START}
_TRACE = {"trace_decay": _SHARE, "replacing": flag()}
_PREDICTS = {"discount": _SHARE, "policy": _POLICY, "step_size": _SHARE, "initial_values": _START,
             "behaviour": _POLICY.but("None")}  # fmt: skip
_TOLERANCE = number(1e-6).but("None", zero=0.0, negative=-1.0)
_SEEN = learning.run(
    learning.ExpectedSARSA(0.9), _WORLD, num_steps=20, rng=gpnotes.stream(1), record=True
).transitions
_SEEN = _SEEN._replace(terminated=_SEEN.states == 1)
_RECORD = Argument(_SEEN, {"None": None, "a run": 3, "an array": np.ones((3, 2)), "a tuple": (1, 2),
                           "one step": learning.Transition(*(p[0] for p in _SEEN))})  # fmt: skip
_ENV = gymnasium.make("FrozenLake-v1")


def _largest(learned):
    return learned.values.max()


CALLS = (
    call("ConstantSchedule", learning.ConstantSchedule, value=_SHARE),
    call("PowerLawDecay", learning.PowerLawDecay, initial=_SHARE, exponent=nonnegative(0.5),
         delay=nonnegative(2.0), **_CLOCK),
    call("ExponentialDecay", learning.ExponentialDecay, initial=_SHARE, decay_rate=_SHARE,
         **_CLOCK),
    call("TabulatedSchedule", learning.TabulatedSchedule, values=vector(_EVEN[0], mates=False).but(
        **{"above one": np.ones(2) * 1.5, "none": np.ones(0)}), **_CLOCK),
    call("EpsilonGreedy", learning.EpsilonGreedy, epsilon=_SHARE),
    call("UCB", learning.UCB, scale=nonnegative(0.5)),
    call("FixedPolicy", learning.FixedPolicy, policy=_POLICY),
    call("QLearning", learning.QLearning, **_VALUES),
    call("SARSA", learning.SARSA, **_VALUES),
    call("ExpectedSARSA", learning.ExpectedSARSA, **_VALUES,
         policy=thing(learning.EpsilonGreedy(0.0), learning.PowerLawDecay(), optional=True)),
    call("NStepSARSA", learning.NStepSARSA, **_VALUES, n=whole(2)),
    call("SARSALambda", learning.SARSALambda, **_VALUES, **_TRACE),
    call("QLambda", learning.QLambda, **_VALUES, **_TRACE),
    call("TD", learning.TD, **_PREDICTS, **_TRACE),
    call("NStepTD", learning.NStepTD, **_PREDICTS, n=whole(2)),
    call("RMax", learning.RMax, max_reward=number(1.0), known_threshold=whole(2), discount=_BELOW,
         tolerance=_TOLERANCE),
    call("CertaintyEquivalence", learning.CertaintyEquivalence, discount=_BELOW,
         exploration=_RULE, plan_every=whole(5), unseen_value=number(0.0), tolerance=_TOLERANCE),
    call("PosteriorSampling", learning.PosteriorSampling, discount=_BELOW,
         prior_visits=number(1.0).but(zero=0.0, negative=-1.0),
         reward_var=number(1.0).but(zero=0.0, negative=-1.0),
         noise_var=number(1.0).but(zero=0.0, negative=-1.0), draw_every=whole(5),
         tolerance=_TOLERANCE),
    call("DynaQ", learning.DynaQ, **_VALUES, planning_steps=whole(2, 0)),
    call("optimistic_value", learning.optimistic_value, max_reward=nonnegative(1.0),
         discount=_BELOW, step_size=_BELOW, num_visits=whole(3, 0)),
    call("MDPEnvironment", learning.MDPEnvironment, mdp=thing(_MDP, learning.PowerLawDecay()),
         start=whole(1, 0).but(**{"a state too far": 2}),
         binary_rewards=Argument((-1.0, 2.0), {"a number": 1.0, "a list": [0.0, 1.0], "one": (0.0,),
                                      "too narrow": (0.0, 0.5), "turned": (2.0, -1.0),
                                      "words": ("a", "b"), "a NaN": (0.0, float("nan"))})),
    call("GymnasiumEnvironment", learning.GymnasiumEnvironment, env=thing(_ENV, _MDP)),
    call("run", learning.run, learner=thing(learning.SARSA(0.9), _WORLD),
         environment=thing(_WORLD, learning.SARSA(0.9), _MDP), num_steps=whole(7),
         num_runs=whole(2), rng=stream_kind(), horizon=whole(3, optional=True), every=whole(2),
         watch=function(_largest).but(
             "None", **{"one that gives words": lambda learned: "x"}), record=flag()),
    call("importance_weights", learning.importance_weights, transitions=_RECORD, policy=_POLICY,
         behaviour=_POLICY),
    call("off_policy_value", learning.off_policy_value, transitions=_RECORD, policy=_POLICY,
         behaviour=_POLICY, discount=_SHARE),
    call("check_learner", testing.check_learner, learner=thing(learning.QLearning(0.9), _WORLD),
         num_states=whole(2), num_actions=whole(2)),
    call("check_environment", testing.check_environment,
         environment=thing(_WORLD, learning.QLearning(0.9), _MDP)),
)  # fmt: skip
