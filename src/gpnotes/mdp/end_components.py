"""End components without reward: at discount 1, states between which one may walk for nothing.

Among them Bellman's equation has many solutions. Collapsed to one state each, with the actions that
lead out of them and with staying for ever as one more, they leave an equation with one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ground.sparse_matrices import SparseMatrix, from_entries, strong_components
from ..ground.xp import HostMatrix, HostVector, to_numpy
from .decision_process import MDP
from .proper_policies import actions_towards, as_host_rows

__all__ = ["CollapsedMDP", "collapse_end_components", "lift_policy"]

_MOST_PADDING = 50  # times the rows of the process


class CollapsedMDP(NamedTuple):
    """A process whose end components without reward are one state each.

    `label` (S,) has the state of `mdp` that each state became, `rows` (K, A') the row of the
    transitions that each of its actions was, −1 for staying, and `free` (S, A) says which actions
    stay within a component.
    """

    mdp: MDP
    label: HostVector
    rows: HostMatrix
    free: HostMatrix


def collapse_end_components(mdp: MDP) -> CollapsedMDP | None:
    """Collapse the maximal end components of the actions that earn nothing.

    The smaller process is on the host; None if terminal states are the only components. Strong
    components are found, actions that may lead out of their own are left out, and so on until
    nothing changes (de Alfaro 1997); each round costs as much as a pass over the transitions. The
    rows of actions that stay within a component count as summing to one.
    """
    P = as_host_rows(mdp.transitions)
    r = to_numpy(mdp.rewards)
    label, free = _end_components(P, r)
    if np.array_equal(np.any(free, axis=1), to_numpy(mdp.terminal)):
        return None
    return _quotient(mdp, P, r, label, free)


def _end_components(P: SparseMatrix, r: HostMatrix) -> tuple[HostVector, HostMatrix]:
    """The component of each state, and the free actions that stay within it."""
    S, A = r.shape
    row = np.repeat(np.arange(S * A), np.diff(P.indptr))
    state, successor = row // A, P.indices
    free = (r == 0.0).ravel()
    while True:
        inside = free[row] & (P.data > 0.0)
        label = strong_components(state[inside], successor[inside], S)
        leaves = inside & (label[state] != label[successor])
        if not np.any(leaves):
            return label, free.reshape(S, A)
        free[row[leaves]] = False


def _quotient(
    mdp: MDP, P: SparseMatrix, r: HostMatrix, label: HostVector, free: HostMatrix
) -> CollapsedMDP:
    S, A = r.shape
    in_component = np.any(free, axis=1)
    exits = np.flatnonzero(~free & np.isfinite(r))  # of what is available
    has_exit = np.zeros(S, dtype=bool)
    has_exit[label[exits // A]] = True  # a component that nothing leads out of is the end
    kept, label = np.unique(np.where(has_exit[label], label, S), return_inverse=True)
    K = int(np.sum(kept < S))
    component = label[exits // A]
    by_component = np.argsort(component, kind="stable")
    exits, component = exits[by_component], component[by_component]
    counts = np.bincount(component, minlength=K)
    has_inside = np.zeros(K + 1, dtype=bool)
    has_inside[label[in_component]] = True
    has_inside = has_inside[:K]
    num_rows = int(np.max(counts + has_inside, initial=1))  # to stay at the end
    if K * num_rows > _MOST_PADDING * S * A:
        raise ValueError(
            f"mdp has an end component without reward with {int(np.max(counts))} ways out, too "
            "many for discount 1: let each step cost a little, or choose a discount below 1"
        )
    rows = np.full((K + 1, num_rows), -1)  # the last state is the end
    position = np.arange(exits.size) - np.repeat(np.cumsum(counts) - counts, counts)
    rows[component, position] = exits
    # behind its exits a component has −1, to stay inside; the columns it lacks repeat an exit
    unused = np.arange(num_rows)[None, :] >= np.append(counts + has_inside, num_rows)[:, None]
    rows = np.where(unused, rows[:, :1], rows)
    has_row = rows.ravel() >= 0
    parts = P[rows.ravel()[has_row]].tocoo()
    padding = np.flatnonzero(~has_row)
    transitions = from_entries(
        np.append(parts.data, np.ones(padding.size)),
        np.append(np.flatnonzero(has_row)[parts.row], padding),
        np.append(label[parts.col], np.full(padding.size, K)),
        (rows.size, K + 1),
    )
    rewards = np.where(rows >= 0, r.ravel()[np.maximum(rows, 0)], 0.0)
    collapsed = MDP(transitions, rewards, mdp.discount)
    # Entries were added up, and rounded: as many as before count.
    vars(collapsed)["max_successors"] = max(mdp.max_successors, collapsed.max_successors)
    return CollapsedMDP(collapsed, label, rows, free)


def lift_policy(mdp: MDP, collapsed: CollapsedMDP, policy: HostVector) -> HostVector:
    """Return the policy of a process that acts as a policy of its collapsed process.

    Parameters
    ----------
    collapsed : CollapsedMDP
        The collapsed process.
    policy : HostVector, shape (K,)
        The actions of the smaller process.

    Returns
    -------
    HostVector, shape (S,)
        The actions: within a component, a shortest way to where the chosen action leaves it.
    """
    P = as_host_rows(mdp.transitions)
    S, A = mdp.rewards.shape
    row = collapsed.rows[np.arange(len(policy)), policy]
    exits = row[row >= 0]
    target = np.zeros(S, dtype=bool)
    target[exits // A] = True
    action = actions_towards(P, target, A, collapsed.free)
    action[exits // A] = exits % A
    return np.where(row[collapsed.label] < 0, np.argmax(collapsed.free, axis=1), action)
