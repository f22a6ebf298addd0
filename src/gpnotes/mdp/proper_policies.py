"""Proper policies: which states can reach a terminal one, and by which actions."""

from __future__ import annotations

import numpy as np

from ..ground.check import NoValueError
from ..ground.naming import and_more
from ..ground.sparse_matrices import SparseMatrix, from_entries, is_sparse
from ..ground.xp import (
    Array,
    HostMatrix,
    HostVector,
    Matrix,
    array_namespace,
    device,
    to_numpy,
)
from .decision_process import MDP

__all__ = [
    "actions_towards",
    "as_host_rows",
    "proper_policy",
    "require_proper",
    "rewardless_states",
]


def as_host_rows(P: Matrix) -> SparseMatrix:
    """Return transitions as they are if sparse, and as a sparse matrix on the host if not."""
    if is_sparse(P):
        return P
    dense = to_numpy(P)
    rows, columns = np.nonzero(dense)
    return from_entries(dense[rows, columns], rows, columns, dense.shape)


def actions_towards(
    P: SparseMatrix, target: HostVector, num_actions: int, allowed: HostMatrix | None = None
) -> HostVector:
    """Return an action of each state that leads on a shortest way to some target states.

    It is the first of those `allowed`, (S, A), or of all, that may lead to a state that is nearer
    to a target; 0 for the targets, −1 where no action leads to any.
    """
    predecessors = P.T.tocsr()  # the rows that lead into each state
    action = np.where(target, 0, -1)
    frontier = np.flatnonzero(target)
    while frontier.size:
        entering = predecessors[frontier]
        rows = np.unique(entering.indices[entering.data > 0.0])
        if allowed is not None:
            rows = rows[allowed.reshape(-1)[rows]]
        states, first_rows = np.unique(rows // num_actions, return_index=True)
        unseen = action[states] < 0
        action[states[unseen]] = rows[first_rows[unseen]] % num_actions
        frontier = states[unseen]
    return action


def proper_policy(mdp: MDP, allowed: Array | None = None) -> HostVector:
    """Return a policy (S,) that reaches a terminal state from all that can, and −1 from others."""
    host_allowed = None if allowed is None else to_numpy(allowed)
    P, terminal = as_host_rows(mdp.transitions), to_numpy(mdp.terminal)
    action = actions_towards(P, terminal, mdp.num_actions, host_allowed)
    return np.where(terminal, np.argmax(to_numpy(mdp.available), axis=1), action)


def rewardless_states(P: Matrix, r: Array) -> Array:
    """Return the states of a chain (S, S) from which no reward (S,) is ever met, as booleans."""
    meets_reward = actions_towards(as_host_rows(P), to_numpy(r) != 0.0, 1) >= 0
    return array_namespace(r).asarray(~meets_reward, device=device(r))


def require_proper(P: Matrix, terminal: Array, name: str) -> None:
    """Refuse a chain (S, S) in which some state never ends, as at discount 1 it has no value.

    Parameters
    ----------
    P : Matrix, shape (S, S)
        The chain.
    terminal : Array, shape (S,)
        Where it ends, as booleans.
    name : str
        The beginning of the message: the subject that must lead to an end.

    Raises
    ------
    ValueError
        If some state never ends; it is named.
    """
    never_ending = np.flatnonzero(actions_towards(as_host_rows(P), to_numpy(terminal), 1) < 0)
    if never_ending.size:
        raise NoValueError(
            f"{name} must lead to a terminal state from every state when discount is 1; from state "
            f"{int(never_ending[0])}{and_more(never_ending.size)} it never does"
        )
