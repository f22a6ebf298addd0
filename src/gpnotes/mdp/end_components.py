"""End components without reward: at discount 1, states between which one may walk for nothing.

Among them Bellman's equation has many solutions. Collapsed to one state each, with what leads out
of them as its actions and with staying for ever as one more, they leave an equation with one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..ground.sparse_matrices import from_entries, strong_components
from ..ground.xp import HostMatrix, HostVector, to_numpy
from .absorption import actions_towards, as_host_rows
from .decision_process import MDP

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

    Parameters
    ----------
    mdp : MDP
        A process in double precision.

    Returns
    -------
    CollapsedMDP or None
        The smaller process, on the host; None if terminal states are the only components.

    Notes
    -----
    Strong components are found, actions that may lead out of their own are left out, and so on
    until nothing changes (de Alfaro 1997); each round costs what the transitions hold. The rows of
    actions that stay within a component count as summing to one.
    """
    P = as_host_rows(mdp.transitions)
    r = to_numpy(mdp.rewards)
    label, free = _end_components(P, r)
    if np.array_equal(np.any(free, axis=1), to_numpy(mdp.terminal)):
        return None
    return _quotient(mdp, P, r, label, free)


def _end_components(P: Any, r: HostMatrix) -> tuple[HostVector, HostMatrix]:
    """The component of each state, and the free actions that stay within it."""
    S, A = r.shape
    row = np.repeat(np.arange(S * A), np.diff(P.indptr))
    state, to = row // A, P.indices
    free = (r == 0.0).ravel()
    while True:
        kept = free[row] & (P.data > 0.0)
        label = strong_components(state[kept], to[kept], S)
        leaves = kept & (label[state] != label[to])
        if not np.any(leaves):
            return label, free.reshape(S, A)
        free[row[leaves]] = False


def _quotient(mdp: MDP, P: Any, r: HostMatrix, label: HostVector, free: HostMatrix) -> CollapsedMDP:
    S, A = r.shape
    within = np.any(free, axis=1)
    out = np.flatnonzero(~free)
    left = np.zeros(S, dtype=bool)
    left[label[out // A]] = True  # a component that nothing leads out of is the end
    kept, label = np.unique(np.where(left[label], label, S), return_inverse=True)
    K = int(np.sum(kept < S))
    home = label[out // A]
    order = np.argsort(home, kind="stable")
    out, home = out[order], home[order]
    counts = np.bincount(home, minlength=K)
    stays = np.zeros(K + 1, dtype=bool)
    stays[label[within]] = True
    stays = stays[:K]
    width = int(np.max(counts + stays))
    if K * width > _MOST_PADDING * S * A:
        raise ValueError(
            f"mdp has an end component without reward with {int(np.max(counts))} ways out, too "
            "many for discount 1: let each step cost a little, or choose a discount below 1"
        )
    rows = np.full((K + 1, width), -1)  # the last state is the end
    place = np.arange(out.size) - np.repeat(np.cumsum(counts) - counts, counts)
    rows[home, place] = out
    unused = np.arange(width)[None, :] >= np.append(counts + stays, width)[:, None]
    rows = np.where(unused, rows[:, :1], rows)
    chosen = rows.ravel() >= 0
    parts = P[rows.ravel()[chosen]].tocoo()
    ends = np.flatnonzero(~chosen)
    transitions = from_entries(
        np.append(parts.data, np.ones(ends.size)),
        np.append(np.flatnonzero(chosen)[parts.row], ends),
        np.append(label[parts.col], np.full(ends.size, K)),
        (rows.size, K + 1),
    )
    rewards = np.where(rows >= 0, r.ravel()[np.maximum(rows, 0)], 0.0)
    small = MDP(transitions, rewards, mdp.discount)
    # Entries were added up, and rounded: as many as before count.
    vars(small)["max_successors"] = max(mdp.max_successors, small.max_successors)
    return CollapsedMDP(small, label, rows, free)


def lift_policy(mdp: MDP, small: CollapsedMDP, policy: HostVector) -> HostVector:
    """Return the policy of a process that does what one of its collapsed process does.

    Parameters
    ----------
    small : CollapsedMDP
        What was made of it.
    policy : HostVector, shape (K,)
        The actions of the smaller process.

    Returns
    -------
    HostVector, shape (S,)
        The actions: within a component, a shortest way to where the chosen action leaves it.
    """
    P = as_host_rows(mdp.transitions)
    S, A = mdp.rewards.shape
    row = small.rows[np.arange(len(policy)), policy]
    leaving = row[row >= 0]
    target = np.zeros(S, dtype=bool)
    target[leaving // A] = True
    action = actions_towards(P, target, A, small.free)
    action[leaving // A] = leaving % A
    return np.where(row[small.label] < 0, np.argmax(small.free, axis=1), action)
