"""Markov decision processes: transitions, rewards and a discount."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..ground import check as _check
from ..ground.naming import and_more
from ..ground.showing import summary
from ..ground.sparse_matrices import as_rows, from_entries, is_sparse, rows_kept
from ..ground.xp import (
    Array,
    Matrix,
    Namespace,
    Stack,
    Vector,
    array_namespace,
    as_host,
    as_index,
    device,
    epsilon,
    has_double,
    how_many,
    in_double,
    is_numpy_namespace,
)
from .array_layouts import laid_out
from .distribution_checks import without_rounding
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
        Nothing is copied: who changes the array afterwards changes the process. Only where
        something is cleared away is it a copy: the row of an action that is not available, which
        is not read and becomes zeros, and negative entries that are rounding, down to −16 eps
        (−3.6e-15 of float64), which become zeros too. The sum of a row stays as it is.
    rewards : Matrix, shape (S, A)
        The expected reward of the step; −inf says that the action is not available in the state.
        Each state needs one that is.
    discount : float
        The discount factor γ, the weight of a reward one step later, from 0 to 1.

    See Also
    --------
    MDP.from_arrays : Takes arrays (S, A, S) and (A, S, S), matrices of one action each, and a mask.

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
        _check_rewards(self.rewards)
        if min(self.rewards.shape) == 0:
            raise ValueError(
                f"rewards must have a row for each state and a column for each action; "
                f"got {tuple(self.rewards.shape)}"
            )
        states, actions = self.rewards.shape
        P = self.transitions
        if is_sparse(P):
            P = as_rows(P, "transitions")
            _check.alike(self.rewards, "rewards", P.data, "transitions")
        else:
            if isinstance(P, list | tuple):
                raise TypeError(
                    "transitions must be one matrix (S·A, S); got a sequence, of which "
                    "MDP.from_arrays takes one matrix an action"
                )
            _check.floating(P, "transitions")
            _check.alike(self.rewards, "rewards", P, "transitions")
        if P.shape != (states * actions, states):
            call = ": MDP.from_arrays takes arrays (S, A, S) and (A, S, S)" if P.ndim == 3 else ""
            raise ValueError(
                f"transitions must have shape ({states * actions}, {states}), a row for each state "
                f"and action as rewards have; got {tuple(P.shape)}{call}"
            )
        P = self._of_available_actions(P)
        object.__setattr__(self, "transitions", P)
        object.__setattr__(self, "row_sums", _sums_of_rows(P, self.available))

    def _of_available_actions(self, P: Matrix) -> Matrix:
        """The transitions without the rows of actions that are not available, and without rounding.

        A state that has no action is refused.
        """
        xp = self.xp
        if not bool(xp.all(self.available)):
            alive = xp.any(self.available, axis=1)
            if not bool(xp.all(alive)):
                count, state = how_many(~alive)
                raise ValueError(
                    "rewards must leave each state an action that is available; those of state "
                    f"{state}{and_more(count)} are all -inf: where it ends, "
                    "let one action stay there and earn nothing"
                )
            rows = xp.reshape(self.available, (-1,))
            P = (
                rows_kept(P, as_host(rows))
                if is_sparse(P)
                else xp.where(rows[:, None], P, xp.zeros_like(P))
            )
        return _without_rounding(P)

    row_sums = (1.0, 1.0)  # the least and the largest; of each process its own

    @property
    def num_states(self) -> int:
        """The number S of states."""
        return self.rewards.shape[0]

    @property
    def num_actions(self) -> int:
        """The number A of actions."""
        return self.rewards.shape[1]

    @cached_property
    def sparse(self) -> bool:
        """True if the transitions are a sparse matrix."""
        return is_sparse(self.transitions)

    @cached_property
    def available(self) -> Matrix:
        """The actions that each state has, whose reward is not −inf, as booleans (S, A)."""
        return self.rewards > -math.inf

    @cached_property
    def terminal(self) -> Vector:
        """The states that nothing leads out of and that earn nothing, as booleans (S,)."""
        xp = self.xp
        rewardless = xp.all((self.rewards == 0.0) | ~self.available, axis=1)
        if not bool(xp.any(rewardless)):
            return rewardless
        stays = _stays(self.transitions, self.num_states, self.num_actions, xp)
        sums = xp.reshape(_sums(self.transitions, self.available), stays.shape)  # one, but rounded
        return rewardless & xp.all((stays == sums) | ~self.available, axis=1)

    @cached_property
    def max_successors(self) -> int:
        """The most states that may follow upon a state and an action; S if they are dense."""
        P = self.transitions
        return int(np.max(np.diff(P.indptr))) if is_sparse(P) else self.num_states

    @cached_property
    def largest_reward(self) -> float:
        """The largest absolute value of the rewards of actions that are available."""
        return float(self.xp.max(self.xp.abs(self._finite_rewards)))

    @cached_property
    def largest_best_reward(self) -> float:
        """The largest absolute value of the highest rewards of the states."""
        highest = self.xp.max(self.rewards, axis=1)
        return float(self.xp.max(self.xp.abs(highest)))

    @cached_property
    def _finite_rewards(self) -> Matrix:
        """The rewards, zero for actions that are not available."""
        xp = self.xp
        if bool(xp.all(self.available)):
            return self.rewards
        return xp.where(self.available, self.rewards, xp.zeros_like(self.rewards))

    @cached_property
    def epsilon(self) -> float:
        """The distance from 1 to the next number in the dtype of the process."""
        return epsilon(self.rewards)

    @cached_property
    def rounding(self) -> float:
        """The most that rounding moves ``r + γ P v − v``, as a share of ``|r| + 2 |v|``."""
        return (self.max_successors + 6) * self.epsilon

    @cached_property
    def xp(self) -> Namespace:
        """The namespace of the process."""
        return array_namespace(self.rewards)

    def __getstate__(self) -> dict[str, object]:
        """All but the namespace, a module, which cannot be pickled."""
        return {name: part for name, part in vars(self).items() if name != "xp"}

    @classmethod
    def from_arrays(
        cls,
        transitions: Stack | Sequence[object],
        rewards: Array | Sequence[object],
        discount: float,
        *,
        layout: str | None = None,
        available: Array | None = None,
    ) -> MDP:
        """Make a process from arrays as others lay them out.

        Parameters
        ----------
        transitions : Stack, shape (S, A, S) or (A, S, S), or sequence of A matrices, shape (S, S)
            The probabilities of the next state by state and action, by action and state, or in a
            matrix for each action, all dense or all sparse.
        rewards : Array, shape (S, A), (S, A, S), (A, S, S) or (S,), or sequence of A matrices
            The reward by state and action, also by the next state, or by the state alone. Where it
            is −inf, the action is not available; by the next state, where that can be reached.
        layout : str, optional
            ``"state first"`` or ``"action first"``: how arrays of three axes are laid out,
            (S, A, S) as QuantEcon has them or (A, S, S) as pymdptoolbox has them. Needed where
            S = A, as then their shapes do not tell; checked elsewhere. Of sequences it says
            nothing.
        available : Array, shape (S, A), optional
            True for the actions that each state has; with −inf in `rewards`, those that both allow.
            Other entries of actions that are not available are not read.

        Raises
        ------
        ValueError
            If S = A, an array has three axes, and there is no `layout`; if arrays do not fit; if a
            state has no action that is available.

        Examples
        --------
        >>> import numpy as np
        >>> P = np.stack([np.eye(3), np.roll(np.eye(3), 1, axis=1)])  # (A, S, S)
        >>> ring = MDP.from_arrays(P, np.asarray([[0.0, 1.0], [2.0, 1.0], [-np.inf, 1.0]]), 0.5)
        >>> ring.available[2]
        array([False,  True])
        """
        P, expected = laid_out(transitions, rewards, layout, available)
        return cls(P, expected, discount)

    @classmethod
    def from_gymnasium(cls, env: object, discount: float) -> MDP:
        """Make a process from the table of an environment of gymnasium, as toy-text ones have it.

        Parameters
        ----------
        env : gymnasium.Env
            An environment with ``env.unwrapped.P[s][a]``, a list of tuples (probability, next
            state, reward, terminated).

        Returns
        -------
        MDP
            The process, sparse. A state in which every step into it ends the episode and none
            begins stays there and earns nothing, whatever its own lines say. Steps that end in any
            other state lead to one more state, the last.
        """
        table = read_table(env)
        P = from_entries(table.probabilities, table.rows, table.next_states, table.shape)
        return cls(P, table.rewards, discount)

    def action_values(self, values: Vector) -> Matrix:
        """Return the value of each action if the states after it have `values`.

        Parameters
        ----------
        values : Vector, shape (S,)
            The value of each next state.

        Returns
        -------
        Matrix, shape (S, A)
            ``r(s, a) + γ Σ P(s' | s, a) v(s')``; −inf for actions that are not available.
        """
        _check.alike(_check.vector(values, "values", size=self.num_states), "values", *self._like)
        return self._action_values(values)

    @property
    def _like(self) -> tuple[Array, str]:
        return self.rewards, "rewards"

    def _action_values(self, values: Vector) -> Matrix:
        """`action_values` without its checks."""
        q = self.xp.reshape(self.transitions @ values, self.rewards.shape)
        q *= self.discount
        q += self.rewards
        return q

    def induced_chain(self, policy: Array) -> tuple[Matrix, Vector]:
        """Return the Markov chain that a policy makes of the process, and its rewards.

        Parameters
        ----------
        policy : Array, shape (S,) or (S, A)
            The action of each state, whole numbers, also of NumPy where the process is elsewhere;
            or the probabilities of the actions. All that it takes must be available.

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
            at = self.xp
            if at is not xp and is_numpy_namespace(xp):  # whole numbers go where the process is
                xp, policy = at, as_index(policy, self.rewards)
            if at is not xp:
                raise TypeError("policy must have the namespace of the process")
            wrong = (policy < 0) | (policy >= A)
            if bool(xp.any(wrong)):
                s = int(xp.argmax(xp.astype(wrong, xp.int32)))
                raise ValueError(
                    f"policy must be of actions 0 to {A - 1}; in state {s} it is {int(policy[s])}"
                )
            actions = xp.astype(xp.arange(A, device=device(policy)), policy.dtype)
            self._refuse_unavailable(policy[:, None] == actions[None, :])
            return as_index(policy, policy)
        if policy.shape != (S, A):
            raise ValueError(
                f"policy must be whole numbers ({S},) or probabilities ({S}, {A}) for this process;"
                f" got {policy.dtype} of shape {tuple(policy.shape)}"
            )
        _check.alike(_check.matrix(policy, "policy"), "policy", *self._like)
        policy = without_rounding(policy)
        _refuse_rows(policy, xp.sum(policy, axis=1), "policy", lambda row: f"in state {row}")
        self._refuse_unavailable(policy > 0.0)
        return policy

    def _refuse_unavailable(self, taken: Matrix) -> None:
        """Refuse a policy that takes actions (S, A) which are not available."""
        xp = self.xp
        wrong = taken & ~self.available
        if bool(xp.any(wrong)):
            _, state = how_many(wrong)
            action = int(xp.argmax(xp.astype(wrong[state, :], xp.int32)))
            raise ValueError(
                f"policy must take actions that are available; action {action} is not in state "
                f"{state}"
            )

    def in_double(self) -> MDP:
        """The process with its numbers in float64, where the device has such; rows as they are."""
        if self.rewards.dtype == getattr(self.xp, "float64", None) or not has_double(self.rewards):
            return self
        rewards = in_double(self.rewards)
        P = self.transitions
        double = copy(self)  # its rows may be off by the precision that they came in
        for name in ("epsilon", "rounding", "_finite_rewards"):  # of that precision
            vars(double).pop(name, None)
        P = P.astype(np.float64) if is_sparse(P) else in_double(P)
        sums = _sums(P, self.available)
        lowest, highest = self.xp.min(sums), self.xp.max(sums)
        for name, value in (
            ("transitions", P),
            ("rewards", rewards),
            ("row_sums", (float(lowest), float(highest))),
        ):
            object.__setattr__(double, name, value)
        return double

    def _induced_chain(self, policy: Array) -> tuple[Matrix, Vector]:
        """`induced_chain` without its checks."""
        xp = self.xp
        S, A = self.rewards.shape
        P = self.transitions
        if policy.ndim == 1:
            rows = xp.arange(S, device=device(policy)) * A + policy
            chosen_rewards = xp.take(xp.reshape(self.rewards, (S * A,)), rows)
            return (P[rows] if self.sparse else xp.take(P, rows, axis=0)), chosen_rewards
        r = xp.sum(policy * self._finite_rewards, axis=1)
        if self.sparse:
            pairs = np.arange(S * A)
            return from_entries(as_host(policy).ravel(), pairs // A, pairs, (S, S * A)) @ P, r
        chain = xp.reshape(policy, (S, 1, A)) @ xp.reshape(P, (S, A, S))
        return xp.reshape(chain, (S, S)), r


def _check_rewards(rewards: Matrix) -> None:
    """Refuse rewards that are no matrix of numbers, or of −inf."""
    xp = array_namespace(_check.floating(rewards, "rewards"))
    lost = rewards == -math.inf
    _check.matrix(xp.where(lost, xp.zeros_like(rewards), rewards), "rewards")


def _without_rounding(P: Matrix) -> Matrix:
    """`without_rounding` of transitions of any kind."""
    if not is_sparse(P):
        return without_rounding(P)
    data = without_rounding(P.data)
    return P if data is P.data else type(P)((data, P.indices, P.indptr), shape=P.shape)


def _sums(P: Matrix, available: Matrix) -> Vector:
    """The sums of the rows of transitions; one for actions that are not available."""
    xp = array_namespace(available)
    sums = P @ np.ones(P.shape[1], dtype=P.dtype) if is_sparse(P) else xp.sum(P, axis=1)
    return xp.where(xp.reshape(available, (-1,)), sums, xp.ones_like(sums))


def _sums_of_rows(P: Matrix, available: Matrix) -> tuple[float, float]:
    """The least and the largest sum of the rows of transitions, if they are probabilities."""
    actions = available.shape[1]

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
        sums = _sums(P, available)
        return _refuse_sums(sums, epsilon(sums) * 16.0 * P.shape[1], "transitions", where)
    _check.finite(P, "transitions")
    return _refuse_rows(P, _sums(P, available), "transitions", where)


def _refuse_rows(
    P: Matrix, sums: Vector, name: str, where: Callable[[int], str]
) -> tuple[float, float]:
    xp = array_namespace(P)
    lowest = xp.min(P, axis=1)
    row = int(xp.argmin(lowest))
    if float(lowest[row]) < 0.0:
        raise ValueError(
            f"{name} must not be negative; those {where(row)} hold {float(lowest[row]):.6g}"
        )
    return _refuse_sums(sums, epsilon(sums) * 16.0 * P.shape[1], name, where)


def _refuse_sums(
    sums: Vector, rounding: float, name: str, where: Callable[[int], str]
) -> tuple[float, float]:
    xp = array_namespace(sums)
    error = xp.abs(sums - 1.0)
    row = int(xp.argmax(error))
    if not float(error[row]) <= max(_SUM_TOLERANCE, rounding):
        raise ValueError(
            f"{name} must sum to one in each row; those {where(row)} sum to "
            f"{float(sums[row]):.10g}: divide each row by its sum"
        )
    return float(xp.min(sums)), float(xp.max(sums))


def _stays(P: Matrix, S: int, A: int, xp: Namespace) -> Matrix:
    """The probability that the process stays where it is, (S, A)."""
    if is_sparse(P):
        return np.stack([P[a::A].diagonal() for a in range(A)], axis=1)
    pairs = xp.arange(S * A, device=device(P))  # of row s A + a the entry s, in the flat matrix
    return xp.reshape(xp.take(xp.reshape(P, (S * A * S,)), pairs * S + pairs // A), (S, A))
