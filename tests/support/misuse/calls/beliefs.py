"""Right calls of filters, of beliefs and of their values."""

from __future__ import annotations

import numpy as np

from gpnotes import GP, RBF, Matern32
from gpnotes import mdp as room

from ..answers import call
from ..kinds import (
    Argument,
    covariance,
    entries,
    flag,
    matrix,
    nonnegative,
    positive,
    thing,
    vector,
    whole,
)

_STAYS = np.asarray([[0.9, 0.1], [0.2, 0.8]])
_CHAIN = room.HiddenMarkovModel(np.asarray([0.5, 0.5]), _STAYS, _STAYS)
_MDP = room.MDP.from_arrays([_STAYS, _STAYS], np.eye(2), 0.5)
_POMDP = room.POMDP(_MDP, np.stack([_STAYS, _STAYS]))
_ALPHAS = room.AlphaVectors(np.eye(2), (0, 1))
_PROCESS, _VALUE = thing(_POMDP, _MDP), thing(_ALPHAS, _POMDP)


def _chances(right):
    """Probabilities, and what is near to them."""
    right = np.asarray(right)
    return Argument(right, {
        "a string": "x", "a list": right.tolist(), "integers": np.ones(right.shape, dtype=int),
        "a NaN": np.full(right.shape, np.nan), "too many": 2.0 * right,
        "negative ones": right - 1.0, "one axis more": right[..., None],
    })  # fmt: skip


_READINGS = Argument(np.asarray([0, 1, 1]), {
    "None": None, "a list": [0, 1], "floats": np.ones(3), "nothing": np.zeros(0, dtype=int),
    "a table": np.zeros((2, 2), dtype=int), "one that is not": np.asarray([0, 2, 1]),
})  # fmt: skip
_OBSERVED = Argument(np.asarray([True, True, False]), {
    "a list": [True, True, False], "numbers": np.ones(3), "two": np.asarray([True, False]),
})  # fmt: skip
_STACK = Argument(np.ones((2, 2, 2)), {
    "None": None, "a list": [1.0], "integers": np.ones((2, 2, 2), dtype=int),
    "a NaN": np.full((2, 2, 2), np.nan), "no squares": np.ones((2, 2, 3)), "a matrix": np.eye(2),
})  # fmt: skip
_FILTERS = {"model": thing(_CHAIN, _MDP), "readings": _READINGS, "observed": _OBSERVED}
_BOUND = {"pomdp": _PROCESS, "tolerance": positive(1e-3).but("None"), "max_steps": whole(1000)}
_BELIEFS = _chances(np.asarray([[0.5, 0.5], [0.2, 0.8]]))

CALLS = (
    call("HiddenMarkovModel", room.HiddenMarkovModel, start=_chances([0.5, 0.5]),
         transitions=_chances(_STAYS), observations=_chances(_STAYS)),
    call("filter", room.filter, **_FILTERS),
    call("smooth", room.smooth, **_FILTERS),
    call("LinearGaussianSSM", room.LinearGaussianSSM, mean=vector(np.zeros(2), mates=False),
         cov=covariance(np.eye(2), mates=False), transitions=_STACK, process_noise=_STACK,
         observation_matrix=matrix(np.eye(2), columns=True, mates=False),
         observation_noise=covariance(np.eye(2), mates=False)),
    call("state_space_model", room.state_space_model, gp=thing(GP(Matern32(), 0.1), GP(RBF(), 0.1)),
         times=vector(np.asarray([0.0, 1.0]), mates=False)),
    call("POMDP", room.POMDP, mdp=thing(_MDP, _POMDP), observations=_chances(_POMDP.observations)),
    call("POMDP.observation_probabilities", _POMDP.observation_probabilities,
         belief=_chances([0.5, 0.5]), action=whole(1, 0)),
    call("POMDP.update", _POMDP.update, belief=_chances([0.5, 0.5]), action=whole(1, 0),
         observation=whole(1, 0)),
    call("POMDP.controlled_chain", _POMDP.controlled_chain, start=_chances([0.5, 0.5]),
         actions=entries((0, 1), 2, repeat=True)),
    call("POMDP.reachable_beliefs", _POMDP.reachable_beliefs, start=_chances([0.5, 0.5]),
         max_beliefs=whole(3), tolerance=positive(0.1)),
    call("AlphaVectors", room.AlphaVectors, vectors=matrix(np.eye(2), rows=True, mates=False),
         actions=Argument((0, 1), {"None": None, "one": (0,), "halves": (0.5, 1),
                                   "a flag": (True, 0), "a negative one": (-1, 0)}),
         converged=flag()),
    call("backup", room.backup, pomdp=_PROCESS, value=_VALUE, beliefs=_BELIEFS,
         tolerance=nonnegative(1e-9).but("None")),
    call("prune", room.prune, value=_VALUE, tolerance=nonnegative(1e-9).but("None")),
    call("max_difference", room.max_difference, value=_VALUE, other=_VALUE),
    call("blind_policy_bound", room.blind_policy_bound, pomdp=_PROCESS),
    call("qmdp", room.qmdp, **_BOUND),
    call("fast_informed_bound", room.fast_informed_bound, **_BOUND),
    call("point_based_value_iteration", room.point_based_value_iteration, pomdp=_PROCESS,
         beliefs=_BELIEFS, start=thing(_ALPHAS, _POMDP, optional=True),
         tolerance=positive(1e-3).but("None"), max_steps=whole(3)),
)  # fmt: skip
