"""The tables of gymnasium's toy-text environments, read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..ground import check as _check
from ..ground.xp import HostMatrix, HostVector

__all__ = ["TransitionTable", "read_table"]


class TransitionTable(NamedTuple):
    """The entries of transitions, (m,) each, and the rewards (S, A)."""

    probabilities: HostVector
    rows: HostVector
    next_states: HostVector
    shape: tuple[int, int]
    rewards: HostMatrix


def read_table(env: object) -> TransitionTable:
    """Read the table of an environment; `MDP.from_gymnasium` describes steps that end.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.
    """
    inner = getattr(env, "unwrapped", None)
    P = getattr(inner, "P", None)
    sizes = [
        getattr(getattr(env, f"{of}_space", None), "n", None) for of in ("observation", "action")
    ]
    if P is None or None in sizes:
        raise TypeError(
            "env must be an environment of gymnasium with discrete spaces and a table of its "
            f"transitions, env.unwrapped.P, as toy-text ones have; got {_check.kind_of(env)}"
        )
    S, A = (int(size) for size in sizes if size is not None)
    lines = np.asarray([line for s in range(S) for a in range(A) for line in _lines(P, s, a, A)])
    row, p, after, reward, ends = lines.T
    at, to, done = row.astype(np.int64), after.astype(np.int64), ends.astype(bool)
    ended, entered = np.zeros(S, dtype=bool), np.zeros(S, dtype=bool)
    ended[to[done]] = True
    entered[to[~done & (at // A != to)]] = True  # a step that stays where it is brings nobody in
    entered[np.flatnonzero(getattr(inner, "initial_state_distrib", 0))] = True
    terminal = ended & ~entered
    is_kept = ~terminal[at // A]
    outside = done & is_kept & ~terminal[to]
    size = S + int(np.any(outside))
    to = np.where(outside, S, to)
    rewards = np.zeros((size, A))
    np.add.at(rewards, (at[is_kept] // A, at[is_kept] % A), p[is_kept] * reward[is_kept])
    absorbing = np.append(np.flatnonzero(terminal), np.arange(S, size))
    self_loops = (absorbing[:, None] * A + np.arange(A)).ravel()
    return TransitionTable(
        np.append(p[is_kept], np.ones(self_loops.size)),
        np.append(at[is_kept], self_loops),
        np.append(to[is_kept], self_loops // A),
        (size * A, size),
        rewards,
    )


def _lines(P: Any, s: int, a: int, actions: int) -> list[tuple[float, ...]]:
    try:
        lines = P[s][a]
    except (KeyError, IndexError):
        raise ValueError(
            f"env.unwrapped.P must have lines for each state and action; it has none for action "
            f"{a} in state {s}"
        ) from None
    at = s * actions + a
    return [(at, float(p), int(to), float(r), float(end)) for p, to, r, end in lines]
