"""Right calls of Markov decision processes: arrays, policies, maps."""

from __future__ import annotations

import gymnasium
import numpy as np
import scipy.sparse as sp

from gpnotes import mdp

from ..answers import call
from ..kinds import Argument, matrix, name, number, one_of, positive, thing, vector, whole

_P = np.asarray([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.3, 0.7]])
_R = np.asarray([[1.0, 0.5], [0.0, 2.0]])
_MDP = mdp.MDP(_P, _R, 0.9)
_REWARDS = matrix(_R, rows=True, columns=True).but(
    "minus infinity", **{"a state of minus infinities": np.asarray([[1.0, 0.5], [-np.inf] * 2])}
)
_GRID = mdp.GridWorld(("S..", "..G"))
_SUMS = {"rows that sum to two": 2.0 * _P, "negative probabilities": 2.0 * _P - 0.5}
_DISCOUNT = number(0.9).but(negative=-0.1, beyond=1.1)
_PROBABILITIES = matrix(np.full((2, 2), 0.5), rows=True, columns=True).but(
    **{"no sum of one": np.ones((2, 2)), "negative entries": np.asarray([[1.5, -0.5], [1, 0]])}
)
_ACTIONS = Argument(
    np.asarray([0, 1]),
    {
        **{what: wrong for what, wrong in vector(np.asarray([0.0, 1.0])).wrong.items()
           if what != "integers"},
        "floats": np.asarray([0.0, 1.0]), "beyond": np.asarray([0, 2]),
        "negative": np.asarray([0, -1]), "an action too many": np.asarray([0, 1, 0]),
    },
)  # fmt: skip
_SPARSE = {
    "None": None, "a string": "x", "a number": 1.5, "integers": sp.csr_array(np.eye(4, dtype=int)),
    "another shape": sp.csr_array(_P[:3]), "complex numbers": sp.csr_array(_P + 0j),
    "rows that sum to two": sp.csr_array(2.0 * _P), "single precision": sp.csr_array(
        _P.astype(np.float32)),
}  # fmt: skip
_ROWS = {"None": None, "a string": "S.G", "a number": 3, "ragged": ("..", "."), "walls": ("#",),
         "empty": (), "numbers": (1, 2)}  # fmt: skip

CALLS = (
    call("MDP", mdp.MDP, transitions=matrix(_P, rows=True, columns=True).but(
             **_SUMS, **{"three axes": _P.reshape(2, 2, 2), "a list": [_P[:2], _P[2:]]}),
         rewards=_REWARDS, discount=_DISCOUNT),
    call("MDP, sparse", mdp.MDP, transitions=Argument(sp.csr_array(_P), _SPARSE),
         rewards=_REWARDS, discount=_DISCOUNT),
    call("MDP.from_arrays", mdp.MDP.from_arrays,
         transitions=Argument(_P.reshape(2, 2, 2), {
             "None": None, "a string": "x", "a matrix": _P, "a number": 1.0,
             "rows that sum to two": 2.0 * _P.reshape(2, 2, 2), "an empty list": [],
             "matrices of other sizes": [_P[:2], np.eye(3)],
             "rows of whole numbers that sum to two": np.ones((2, 2, 2), dtype=int)}),
         rewards=matrix(_R, rows=True, columns=True).but(
             "a vector", "integers", "minus infinity", "a list", "objects",
             **{"minus infinity in a whole row": np.asarray([[1.0, 0.5], [-np.inf, -np.inf]])}),
         discount=_DISCOUNT,
         layout=Argument("state first", {"None": None, "a number": 1, "another word": "SAS"}),
         available=Argument(np.asarray([[True, False], [True, True]]), {
             "numbers": np.eye(2), "a vector": np.asarray([True, True]), "a string": "x",
             "a state without any": np.asarray([[True, True], [False, False]])})),
    call("MDP.from_gymnasium", mdp.MDP.from_gymnasium,
         env=thing(gymnasium.make("FrozenLake-v1"), _MDP), discount=_DISCOUNT),
    call("MDP.action_values", _MDP.action_values, values=vector(np.asarray([1.0, 2.0]), size=True)),
    *(call(f"{what}, of {kind}", function, **given, policy=policy)
      for what, function, given in (
          ("MDP.induced_chain", _MDP.induced_chain, {}),
          ("evaluate", mdp.evaluate, {"mdp": thing(_MDP, _GRID)}),
          ("occupancy_measure", mdp.occupancy_measure, {
              "mdp": thing(_MDP, _GRID), "start": vector(np.asarray([0.5, 0.5]), size=True).but(
                  **{"no sum of one": np.ones(2), "negative entries": np.asarray([1.5, -0.5])})}))
      for kind, policy in (("actions", _ACTIONS), ("probabilities", _PROBABILITIES))),
    call("solve", mdp.solve, mdp=thing(_MDP, _GRID), method=one_of("value iteration"),
         tolerance=positive(1e-6).but("None"), max_steps=whole(1000)),
    call("GridWorld", mdp.GridWorld, rows=Argument(("S.G", "..X"), _ROWS),
         rewards=Argument({"G": 1.0}, {
             "None": None, "a number": 1.0, "a list": [1.0], "a word": {"GX": 1.0},
             "no number": {"G": "1"}, "NaN": {"G": np.nan}, "a state": {3: 1.0}}),
         step_reward=number(-0.1), slip=number(0.1).but(negative=-0.1, beyond=1.1),
         wind=Argument((0, 1, 0), {"None": None, "a number": 1, "a string": "010", "too few": (0,),
                                   "fractions": (0.5, 0, 0), "booleans": (True, False, True)}),
         terminal=name("GX")),
    call("GridWorld.state_at", _GRID.state_at, row=whole(1, 0).but(beyond=2),
         column=whole(1, 0).but(beyond=3)),
    call("GridWorld.to_map", _GRID.to_map, values=vector(np.arange(6.0), size=True).but(
        "integers", "booleans", "half precision", "a NaN", "an infinity", "minus infinity",
        "another namespace", "another precision")),
    call("GridWorld.mdp", _GRID.mdp, discount=_DISCOUNT),
)  # fmt: skip
