"""Markov decision processes: transitions, rewards and a discount."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.showing import summary
from ..ground.sparse_matrices import as_rows, from_entries, interleaved, is_sparse
from ..ground.xp import (
    Array,
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    as_array,
    as_host,
    as_index,
    device,
    epsilon,
    in_double,
)
from .gymnasium_tables import read_table

__all__ = ["MDP"]

_SUM_TOLERANCE = 1e-9  # what the sum of a row may be off by; coarser precisions have more rounding


@dataclass(frozen=True, eq=False)
class MDP:
    """A Markov decision process with S states and A actions.

    Parameters
    ----------
    transitions : Matrix, shape (S·A, S)
        Row ``s·A + a`` has the probabilities of the next state after action a in state s. A dense
        array of any namespace, or a sparse matrix of SciPy, which is taken as a `csr_array`.
        Nothing is copied: who changes the array afterwards changes the process.
    rewards : Matrix, shape (S, A)
        The expected reward of the step.
    discount : float
        What a reward one step later counts, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> stay, move = [1.0, 0.0], [0.2, 0.8]
    >>> mdp = MDP(np.asarray([stay, move, [0.0, 1.0], [1.0, 0.0]]),
    ...           np.asarray([[0.0, -1.0], [1.0, 0.0]]), 0.9)
    >>> mdp.num_states, mdp.num_actions
    (2, 2)
    >>> mdp.action_values(np.asarray([0.0, 10.0]))
    array([[ 0. ,  6.2],
           [10. ,  0. ]])
    """

    transitions: Matrix
    rewards: Matrix
    discount: float

    __repr__ = summary

    def __post_init__(self) -> None:
        discount = _check.number(self.discount, "discount")
        if not 0.0 <= discount <= 1.0:
            raise ValueError(f"discount must be from 0 to 1; got {discount}")
        object.__setattr__(self, "discount", discount)
        _check.matrix(self.rewards, "rewards")
        if min(self.rewards.shape) == 0:
            raise ValueError(
                f"rewards must have a row for each state and a column for each action; "
                f"got {tuple(self.rewards.shape)}"
            )
        states, actions = self.rewards.shape
        P: Any = self.transitions
        if is_sparse(P):
            P = as_rows(P, "transitions")
            object.__setattr__(self, "transitions", P)
            _check.alike(self.rewards, "rewards", P.data, "transitions")
        else:
            _check.floating(P, "transitions")
            _check.alike(self.rewards, "rewards", P, "transitions")
        if P.shape != (states * actions, states):
            raise ValueError(
                f"transitions must have shape ({states * actions}, {states}), a row for each state "
                f"and action as rewards have; got {tuple(P.shape)}"
            )
        object.__setattr__(self, "row_sums", _sums_of_rows(P, actions))

    row_sums = (1.0, 1.0)  # the least and the largest; of each process its own

    @property
    def num_states(self) -> int:
        """The number S of states."""
        return self.rewards.shape[0]

    @property
    def num_actions(self) -> int:
        """The number A of actions."""
        return self.rewards.shape[1]

    @property
    def sparse(self) -> bool:
        """True if the transitions are a sparse matrix."""
        return is_sparse(self.transitions)

    @cached_property
    def terminal(self) -> Vector:
        """The states that nothing leads out of and that earn nothing, as booleans (S,)."""
        xp = array_namespace(self.rewards)
        rewardless = xp.all(self.rewards == 0.0, axis=1)
        if not bool(xp.any(rewardless)):
            return rewardless
        stays = _stays(self.transitions, self.num_states, self.num_actions, xp)
        return rewardless & xp.all(stays == 1.0, axis=1)

    @cached_property
    def max_successors(self) -> int:
        """The most states that may follow upon a state and an action; S if they are dense."""
        P: Any = self.transitions
        return int(np.max(np.diff(P.indptr))) if self.sparse else self.num_states

    @cached_property
    def largest_reward(self) -> float:
        """The largest absolute value of the rewards."""
        xp = array_namespace(self.rewards)
        return max(-float(xp.min(self.rewards)), float(xp.max(self.rewards)))

    @classmethod
    def from_arrays(
        cls, transitions: Stack | Sequence[Any], rewards: Array, discount: float
    ) -> MDP:
        """Make a process from arrays as others lay them out.

        Parameters
        ----------
        transitions : Stack, shape (S, A, S), or sequence of A sparse matrices, shape (S, S)
            The probabilities of the next state by state and action, or a matrix for each action.
        rewards : Array, shape (S, A), (S, A, S) or (S,)
            The reward by state and action, also by the next state, or by the state alone.
        """
        if isinstance(transitions, list | tuple):
            P, actions = _stacked(transitions), len(transitions)
            _check.floating(rewards, "rewards")
        else:
            stack: Any = transitions
            _check.floating(stack, "transitions")
            if stack.ndim != 3 or stack.shape[0] != stack.shape[2] or 0 in stack.shape:
                raise ValueError(f"transitions must have shape (S, A, S); got {tuple(stack.shape)}")
            actions = stack.shape[1]
            _check.alike(_check.floating(rewards, "rewards"), "rewards", stack, "transitions")
            P = array_namespace(stack).reshape(stack, (-1, stack.shape[0]))
        return cls(P, _expected(P, rewards, P.shape[1], actions), discount)

    @classmethod
    def from_gymnasium(cls, env: Any, discount: float) -> MDP:
        """Make a process from the table of an environment of gymnasium, as toy-text ones have it.

        Parameters
        ----------
        env : gymnasium.Env
            An environment with ``env.unwrapped.P[s][a]``, a list of tuples (probability, next
            state, reward, terminated).

        Returns
        -------
        MDP
            The process, sparse. A state in which every step into it ends the episode stays there
            and earns nothing, whatever its own lines say. Where a state is entered by steps that
            end and by others that do not, the former lead to one more state, the last.
        """
        table = read_table(env)
        P = from_entries(table.probabilities, table.rows, table.next_states, table.shape)
        return cls(P, table.rewards, discount)

    def action_values(self, values: Vector) -> Matrix:
        """Return what each action is worth if what comes after it is worth `values`.

        Parameters
        ----------
        values : Vector, shape (S,)
            The value of each next state.

        Returns
        -------
        Matrix, shape (S, A)
            ``r(s, a) + γ Σ P(s' | s, a) v(s')``.
        """
        _check.alike(_check.vector(values, "values", size=self.num_states), "values", *self._like)
        return self._action_values(values)

    @property
    def _like(self) -> tuple[Array, str]:
        return self.rewards, "rewards"

    def _action_values(self, values: Vector) -> Matrix:
        """`action_values` without its checks."""
        xp = array_namespace(self.rewards)
        q = xp.reshape(self.transitions @ values, self.rewards.shape)
        q *= self.discount
        q += self.rewards
        return q

    def induced_chain(self, policy: Array) -> tuple[Matrix, Vector]:
        """Return the Markov chain that a policy makes of the process, and its rewards.

        Parameters
        ----------
        policy : Array, shape (S,) or (S, A)
            The action of each state, whole numbers; or the probabilities of the actions.

        Returns
        -------
        Matrix, shape (S, S)
            ``P_π``, sparse if the transitions are.
        Vector, shape (S,)
            ``r_π``, the expected reward of the step.
        """
        return self._induced_chain(self.check_policy(policy))

    def check_policy(self, policy: Array) -> Array:
        """Return a policy if it is one for this process, as `induced_chain` says."""
        xp = array_namespace(_check.plain(_check.array(policy, "policy"), "policy"))
        S, A = self.rewards.shape
        if xp.isdtype(policy.dtype, "integral"):
            if policy.shape != (S,):
                raise ValueError(
                    f"policy must have an action for each of the {S} states; got shape "
                    f"{tuple(policy.shape)}"
                )
            if xp is not array_namespace(self.rewards):
                raise TypeError("policy must have the namespace of the process")
            wrong = (policy < 0) | (policy >= A)
            if bool(xp.any(wrong)):
                s = int(xp.argmax(xp.astype(wrong, xp.int32)))
                raise ValueError(
                    f"policy must be of actions 0 to {A - 1}; in state {s} it is {int(policy[s])}"
                )
            return policy
        if policy.shape != (S, A):
            raise ValueError(
                f"policy must be whole numbers ({S},) or probabilities ({S}, {A}) for this process;"
                f" got {policy.dtype} of shape {tuple(policy.shape)}"
            )
        _check.alike(_check.matrix(policy, "policy"), "policy", *self._like)
        _refuse_rows(policy, xp.sum(policy, axis=1), "policy", lambda row: f"in state {row}")
        return policy

    def in_double(self) -> MDP:
        """The process with its numbers in float64, where the device has such; rows as they are."""
        rewards = in_double(self.rewards)
        if rewards.dtype == self.rewards.dtype:
            return self
        P: Any = self.transitions
        double = copy(self)  # its rows may be off by the precision that they came in
        P = P.astype(np.float64) if self.sparse else in_double(P)
        sums = P @ array_namespace(rewards).ones_like(rewards[:, 0])
        lowest, highest = array_namespace(sums).min(sums), array_namespace(sums).max(sums)
        for name, value in (
            ("transitions", P),
            ("rewards", rewards),
            ("row_sums", (float(lowest), float(highest))),
        ):
            object.__setattr__(double, name, value)
        return double

    def _induced_chain(self, policy: Array) -> tuple[Matrix, Vector]:
        """`induced_chain` without its checks."""
        xp = array_namespace(self.rewards)
        S, A = self.rewards.shape
        P: Any = self.transitions
        if policy.ndim == 1:
            rows = xp.arange(S, device=device(policy)) * A + as_index(policy, policy)
            chosen_rewards = xp.take(xp.reshape(self.rewards, (S * A,)), rows)
            return (P[rows] if self.sparse else xp.take(P, rows, axis=0)), chosen_rewards
        r = xp.sum(policy * self.rewards, axis=1)
        if self.sparse:
            pairs = np.arange(S * A)
            return from_entries(as_host(policy).ravel(), pairs // A, pairs, (S, S * A)) @ P, r
        chain = xp.reshape(policy, (S, 1, A)) @ xp.reshape(P, (S, A, S))
        return xp.reshape(chain, (S, S)), r


def _sums_of_rows(P: Any, actions: int) -> tuple[float, float]:
    """The least and the largest sum of the rows of transitions, if they are probabilities."""

    def where(row: int) -> str:
        return f"of action {row % actions} in state {row // actions}"

    if is_sparse(P):
        data = P.data
        if P.nnz and not np.all(np.isfinite(data)):
            _check.finite(data, "transitions")
        if P.nnz and np.min(data) < 0.0:
            entry = int(np.argmin(data))
            row = int(np.searchsorted(P.indptr, entry, side="right")) - 1
            raise ValueError(
                f"transitions must not be negative; those {where(row)} hold {data[entry]:.6g}"
            )
        sums = P @ np.ones(P.shape[1], dtype=P.dtype)
        return _refuse_sums(sums, epsilon(sums) * 16.0 * P.shape[1], "transitions", where)
    _check.finite(P, "transitions")
    return _refuse_rows(P, array_namespace(P).sum(P, axis=1), "transitions", where)


def _refuse_rows(P: Matrix, sums: Vector, name: str, where: Any) -> tuple[float, float]:
    xp = array_namespace(P)
    lowest = xp.min(P, axis=1)
    row = int(xp.argmin(lowest))
    if float(lowest[row]) < 0.0:
        raise ValueError(
            f"{name} must not be negative; those {where(row)} hold {float(lowest[row]):.6g}"
        )
    return _refuse_sums(sums, epsilon(sums) * 16.0 * P.shape[1], name, where)


def _refuse_sums(sums: Vector, rounding: float, name: str, where: Any) -> tuple[float, float]:
    xp = array_namespace(sums)
    error = xp.abs(sums - 1.0)
    row = int(xp.argmax(error))
    if not float(error[row]) <= max(_SUM_TOLERANCE, rounding):
        raise ValueError(
            f"{name} must sum to one in each row; those {where(row)} sum to {float(sums[row]):.10g}"
        )
    return float(xp.min(sums)), float(xp.max(sums))


def _stays(P: Any, S: int, A: int, xp: Namespace) -> Matrix:
    """The probability that the process stays where it is, (S, A)."""
    if is_sparse(P):
        return np.stack([P[a::A].diagonal() for a in range(A)], axis=1)
    pairs = xp.arange(S * A, device=device(P))  # of row s A + a the entry s, in the flat matrix
    return xp.reshape(xp.take(xp.reshape(P, (S * A * S,)), pairs * S + pairs // A), (S, A))


def _stacked(matrices: Sequence[Any]) -> Any:
    if not matrices:
        raise ValueError("transitions must hold a matrix for each action; got none")
    rows = [as_rows(matrix, f"transitions[{a}]") for a, matrix in enumerate(matrices)]
    shapes = {matrix.shape for matrix in rows}
    if len(shapes) != 1 or len(set(next(iter(shapes)))) != 1:
        raise ValueError(
            f"transitions must be square matrices of one size, one for each action; got {shapes}"
        )
    return interleaved(rows)


def _expected(P: Any, rewards: Array, states: int, actions: int) -> Matrix:
    """The expected rewards (S, A) of rewards by state, by action too, or by next state too."""
    xp = array_namespace(rewards)
    if rewards.shape == (states, actions):
        return rewards
    if rewards.shape == (states,):
        return xp.asarray(xp.broadcast_to(rewards[:, None], (states, actions)), copy=True)
    if rewards.shape != (states, actions, states):
        raise ValueError(
            f"rewards must have shape ({states}, {actions}), ({states}, {actions}, {states}) or "
            f"({states},); got {tuple(rewards.shape)}"
        )
    flat = xp.reshape(rewards, (states * actions, states))
    if is_sparse(P):
        return as_array(np.reshape(P.multiply(flat).sum(axis=1), (states, actions)), rewards)
    return xp.reshape(xp.vecdot(P, flat), (states, actions))
