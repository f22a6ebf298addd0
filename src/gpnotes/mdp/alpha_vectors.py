"""Values of beliefs by alpha vectors: exact backups, pruning, point-based value iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ground import check as _check
from ..ground.showing import summary
from ..ground.sparse_matrices import least_cost
from ..ground.xp import (
    Array,
    HostMatrix,
    HostVector,
    Matrix,
    array_namespace,
    as_array,
    epsilon,
    eye,
    to_numpy,
)
from .pomdp import POMDP

__all__ = [
    "AlphaVectors",
    "backup",
    "blind_policy_bound",
    "max_difference",
    "point_based_value_iteration",
    "prune",
]


@dataclass(frozen=True, eq=False)
class AlphaVectors:
    """A value function of beliefs, ``V(b) = max_k α_kᵀ b``, [eq-be-planes].

    Parameters
    ----------
    vectors : Matrix, shape (K, S)
        α_k, the value of a plan in each state: a plane over the beliefs, by its heights at the
        corners.
    actions : tuple of int
        The action that the plan of each vector begins with.
    converged : bool, default True
        False if they come of an iteration that stopped at ``max_steps`` before it met its
        tolerance. The bound that they are holds all the same; it is only less tight.

    Examples
    --------
    >>> import numpy as np
    >>> value = AlphaVectors(np.asarray([[1.0, 0.0], [0.0, 1.0]]), (0, 1))
    >>> value.values(np.asarray([[0.3, 0.7], [1.0, 0.0]]))
    array([0.7, 1. ])
    >>> value.decide(np.asarray([[0.3, 0.7], [1.0, 0.0]]))
    array([1, 0])
    """

    vectors: Matrix
    actions: tuple[int, ...]
    converged: bool = True

    __repr__ = summary

    def __post_init__(self) -> None:
        count = _check.matrix(self.vectors, "vectors").shape[0]
        if count == 0:
            raise ValueError("vectors must hold at least one alpha vector; got none")
        _check.flag(self.converged, "converged")
        try:
            actions = tuple(_check.whole(action, "actions") for action in self.actions)
        except TypeError:
            raise TypeError(f"actions must be whole numbers; got {self.actions!r}") from None
        if len(actions) != count:
            raise ValueError(
                f"actions must be one for each of {count} alpha vectors; got {len(actions)}"
            )
        object.__setattr__(self, "actions", actions)

    def values(self, beliefs: Array) -> Array:
        """Return the value of a belief (S,), or of each of some (n, S)."""
        return self._values(self._check_beliefs(beliefs))

    def best(self, beliefs: Array) -> Array:
        """Return the number of the best alpha vector at a belief (S,), or at each of some (n, S).

        Of those that are equally good, up to rounding, it is the first.
        """
        return best_vectors(self._check_beliefs(beliefs), self.vectors)

    def decide(self, beliefs: Array) -> Array:
        """Return the action of the best alpha vector at a belief (S,), or at each of (n, S)."""
        best = self.best(beliefs)
        xp = array_namespace(best)
        actions = xp.asarray(self.actions, dtype=best.dtype, device=best.device)
        return xp.reshape(xp.take(actions, xp.reshape(best, (-1,))), best.shape)

    def _values(self, beliefs: Array) -> Array:
        xp = array_namespace(beliefs)
        return xp.max(beliefs @ xp.matrix_transpose(self.vectors), axis=-1)

    def _check_beliefs(self, beliefs: Array) -> Array:
        _check.finite(_check.floating(beliefs, "beliefs"), "beliefs")
        num_states = self.vectors.shape[1]
        if beliefs.ndim not in (1, 2) or beliefs.shape[-1] != num_states:
            raise ValueError(f"beliefs must have shape ({num_states},) or (n, {num_states}); "
                             f"got {tuple(beliefs.shape)}")  # fmt: skip
        return _check.alike(beliefs, "beliefs", self.vectors, "the alpha vectors")


def best_vectors(beliefs: Array, vectors: Matrix) -> Array:
    """The number of the best vector at a belief, or at each of some; the first of equals."""
    xp = array_namespace(beliefs)
    sizes = beliefs @ xp.max(xp.abs(vectors), axis=0)
    return first_highest(beliefs @ xp.matrix_transpose(vectors), sizes)


def first_highest(values: Array, sizes: Array) -> Array:
    """The first entry along the last axis that is the highest up to the rounding of such sizes."""
    xp = array_namespace(values)
    slack = 1e3 * epsilon(values) * sizes
    least = xp.max(values, axis=-1) - slack
    return xp.argmax(xp.astype(values >= least[..., None], xp.int32), axis=-1)


def asked_or(tolerance: float | None, pomdp: POMDP) -> float:
    """A tolerance, or by default 1e-8 of the rewards and what rounding may hide of a fixed point.

    Values have at most 1/(1 − γ) times the size of rewards, and the distance to a fixed point as
    many times the last step.
    """
    if tolerance is not None:
        return _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
    rounding = 16.0 * epsilon(pomdp.observations) / (1.0 - pomdp.mdp.discount) ** 2
    return (1e-8 + rounding) * pomdp.mdp.largest_reward


def backup(
    pomdp: POMDP,
    value: AlphaVectors,
    *,
    beliefs: Matrix | None = None,
    tolerance: float | None = None,
) -> AlphaVectors:
    """Return the value with one more step to go, [eq-be-backup].

    Parameters
    ----------
    value : AlphaVectors
        The value after the step.
    beliefs : Matrix, shape (n, S), optional
        Where the value is asked for: the best alpha vector of each is found, and no other, which is
        the point-based backup. By default all are found that are best anywhere.
    tolerance : float, optional
        Without `beliefs`, a vector is pruned that is nowhere higher than the others by more. By
        default 1e-9 of the largest size of a reward and an entry of `value` together.

    Returns
    -------
    AlphaVectors
        The value. With `beliefs` it is exact there, and elsewhere too low at most.

    Notes
    -----
    With K vectors after the step, n beliefs cost A·O·K·S products each, and the vectors A·O·K·S²
    once; the exact backup meets up to A·K^O vectors, and asks a linear program of each that is
    left, after every observation: incremental pruning.
    Source: Sondik (1971); Cassandra, Littman & Zhang (1997); Pineau, Gordon & Thrun (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.mdp import MDP
    >>> mdp = MDP.from_arrays([np.eye(2), np.eye(2)], np.eye(2), 0.9)
    >>> pomdp = POMDP(mdp, np.full((2, 2, 1), 1.0))
    >>> backup(pomdp, AlphaVectors(np.zeros((1, 2)), (0,))).vectors
    array([[1., 0.],
           [0., 1.]])
    """
    _check_fits(pomdp, value)
    size = pomdp.mdp.largest_reward + float(np.max(np.abs(to_numpy(value.vectors))))
    tolerance = _pruning(tolerance, size)
    if beliefs is None:
        return _exact_backup(pomdp, value, tolerance)
    return _point_based_backup(pomdp, value, _check_beliefs(pomdp, beliefs))


def _check_fits(pomdp: POMDP, value: AlphaVectors, name: str = "value") -> None:
    _check.instance(pomdp, "pomdp", POMDP)
    _check.instance(value, name, AlphaVectors)
    S, A = pomdp.mdp.rewards.shape
    if value.vectors.shape[1] != S or max(value.actions) >= A:
        raise ValueError(
            f"{name} must be for {S} states and {A} actions; it has {value.vectors.shape[1]} "
            f"states and actions up to {max(value.actions)}"
        )
    _check.alike(value.vectors, name, pomdp.observations, "the observations of the process")


def _check_beliefs(pomdp: POMDP, beliefs: Matrix) -> Matrix:
    _check.matrix(beliefs, "beliefs", columns=pomdp.mdp.num_states)
    if beliefs.shape[0] == 0:
        raise ValueError("beliefs must hold at least one belief; got none")
    return pomdp.check_belief(beliefs, "beliefs")


def _back_projected(pomdp: POMDP, value: AlphaVectors, action: int, observation: int) -> Matrix:
    """The vectors before an action and an observation, γ Σ P(o | a, s') P(s' | s, a) α(s')."""
    weights = pomdp.transitions[action, ...] * pomdp.observations[action, :, observation][None, :]
    xp = array_namespace(weights)
    return pomdp.mdp.discount * (value.vectors @ xp.matrix_transpose(weights))


def _point_based_backup(pomdp: POMDP, value: AlphaVectors, beliefs: Matrix) -> AlphaVectors:
    """The best alpha vector at each belief, with one more step to go; equal ones once."""
    xp = array_namespace(beliefs)
    vectors_by_action = []
    for action in range(pomdp.mdp.num_actions):
        vector = xp.broadcast_to(pomdp.mdp.rewards[:, action][None, :], beliefs.shape)
        for observation in range(pomdp.num_observations):
            back = _back_projected(pomdp, value, action, observation)
            vector = vector + xp.take(back, best_vectors(beliefs, back), axis=0)
        vectors_by_action.append(vector)
    vectors = xp.stack(vectors_by_action, axis=1) * beliefs[:, None, :]
    sizes = xp.max(xp.sum(xp.abs(vectors), axis=-1), axis=1)
    chosen = to_numpy(first_highest(xp.sum(vectors, axis=-1), sizes))
    best = [to_numpy(vectors_by_action[action][place, :]) for place, action in enumerate(chosen)]
    return _alpha_vectors(*_distinct(np.asarray(best), chosen), pomdp)


def _distinct(vectors: HostMatrix, actions: HostVector) -> tuple[HostMatrix, HostVector]:
    """Vectors without repetitions, in the order in which they first occur."""
    scale = np.max(np.abs(vectors)) if vectors.size else 1.0
    rounded = np.round(vectors / (1e4 * epsilon(vectors) * (scale or 1.0)))
    _, first_rows = np.unique(rounded, axis=0, return_index=True)
    first_rows = np.sort(first_rows)
    return vectors[first_rows], actions[first_rows]


def _alpha_vectors(vectors: HostMatrix, actions: HostVector, pomdp: POMDP) -> AlphaVectors:
    return AlphaVectors(as_array(vectors, pomdp.observations), tuple(actions.tolist()))


def _exact_backup(pomdp: POMDP, value: AlphaVectors, tolerance: float) -> AlphaVectors:
    """All alpha vectors that are best anywhere, by incremental pruning."""
    vectors_by_action, actions_by_group = [], []
    for action in range(pomdp.mdp.num_actions):
        sums = to_numpy(pomdp.mdp.rewards[:, action])[None, :]
        for observation in range(pomdp.num_observations):
            back = to_numpy(_back_projected(pomdp, value, action, observation))
            back = back[parsimonious(back, tolerance)]
            sums = (sums[:, None, :] + back[None, :, :]).reshape(-1, sums.shape[1])
            sums = sums[parsimonious(sums, tolerance)]
        vectors_by_action.append(sums)
        actions_by_group.append(np.full(len(sums), action))
    vectors, actions = np.concatenate(vectors_by_action), np.concatenate(actions_by_group)
    kept = parsimonious(vectors, tolerance)
    return _alpha_vectors(vectors[kept], actions[kept], pomdp)


def _pruning(tolerance: float | None, size: float) -> float:
    """A tolerance of pruning, or by default a share of a size."""
    if tolerance is None:
        return 1e-9 * size
    return _check.positive(_check.number(tolerance, "tolerance"), "tolerance", zero=True)


def prune(value: AlphaVectors, *, tolerance: float | None = None) -> AlphaVectors:
    """Return the alpha vectors that are best at some belief, by linear programs, [eq-be-prune].

    Parameters
    ----------
    value : AlphaVectors
        The value function.
    tolerance : float, optional
        A vector is left out that is nowhere higher than those kept by more; by default than 1e-9
        of the largest entry. HiGHS resolves 1e-7 of the differences between vectors.

    Returns
    -------
    AlphaVectors
        The parsimonious set, in the order in which they came.

    Notes
    -----
    One linear program with S + 1 unknowns for each vector that is not the highest at a corner.
    Source: White (1991), Lark's algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.45, 0.45]])
    >>> prune(AlphaVectors(three, (0, 1, 2))).actions
    (0, 1)
    """
    _check.instance(value, "value", AlphaVectors)
    vectors = to_numpy(value.vectors)
    kept = parsimonious(vectors, _pruning(tolerance, float(np.max(np.abs(vectors)))))
    xp = array_namespace(value.vectors)
    rows = [value.vectors[int(k), :] for k in kept]
    actions = tuple(value.actions[k] for k in kept)
    return AlphaVectors(xp.stack(rows), actions, value.converged)


def parsimonious(vectors: HostMatrix, tolerance: float) -> HostVector:
    """The numbers of the vectors that are the highest somewhere, by more than the tolerance."""
    remaining = _undominated(vectors)
    kept: list[int] = []
    for corner in np.eye(vectors.shape[1]):
        _keep(kept, remaining, vectors, corner)
    while remaining:
        belief, margin = witness(vectors[remaining[0]], vectors[kept])
        if margin <= tolerance or not _keep(kept, remaining, vectors, belief):
            remaining.pop(0)
    return np.asarray(sorted(kept))


def _undominated(vectors: HostMatrix) -> list[int]:
    """The vectors that no single other one dominates; of equal ones the first."""
    undominated: list[int] = []
    for k in np.lexsort(vectors.T)[::-1]:  # what dominates another comes before it
        if not any(np.all(vectors[other] >= vectors[k]) for other in undominated):
            undominated.append(int(k))
    return sorted(undominated)


def _keep(kept: list[int], remaining: list[int], vectors: HostMatrix, belief: HostVector) -> bool:
    """Move the highest vector at a belief from those left to those kept, unless it is kept already.

    Of those that tie up to rounding it is the greatest, corner by corner.
    """
    candidates = [*kept, *remaining]
    values = vectors[candidates] @ belief
    slack = 1e3 * epsilon(vectors) * float(np.max(np.abs(vectors), axis=0) @ belief)
    ties = np.flatnonzero(values >= np.max(values) - slack)
    best = max((candidates[tie] for tie in ties), key=lambda k: tuple(vectors[k]))
    if best in kept:
        return False
    remaining.remove(best)
    kept.append(best)
    return True


def witness(vector: HostVector, others: HostMatrix) -> tuple[HostVector, float]:
    """The belief at which a vector is above all others by most, and by how much, or below."""
    num_states = len(vector)
    scale = float(max(np.max(np.abs(vector - others)), np.finfo(float).tiny))
    # over (b, g): the largest g with (α − α_k)ᵀ b ≥ scale g for all k, b ≥ 0 and Σ b = 1
    dominance = np.hstack([(vector - others) / scale, -np.ones((len(others), 1))])
    nonnegative = np.hstack([np.eye(num_states), np.zeros((num_states, 1))])
    sums_to_one = np.hstack([np.ones((1, num_states)), np.zeros((1, 1))])
    A = np.vstack([dominance, nonnegative, sums_to_one, -sums_to_one])
    b = np.concatenate([np.zeros(len(others) + num_states), [1.0, -1.0]])
    cost = np.concatenate([np.zeros(num_states), [-1.0]])
    belief = np.maximum(least_cost(cost, A, b).x[:-1], 0.0)
    belief = belief / belief.sum()
    return belief, float(np.min((vector - others) @ belief))


def max_difference(value: AlphaVectors, other: AlphaVectors) -> float:
    """Return by how much one value function exceeds another at most, over all beliefs.

    Parameters
    ----------
    value, other : AlphaVectors
        Two value functions, V and W.

    Returns
    -------
    float
        ``max_b V(b) − W(b)``, negative where V is below W everywhere; a linear program a vector.

    Examples
    --------
    >>> import numpy as np
    >>> max_difference(AlphaVectors(np.eye(2), (0, 1)), AlphaVectors(np.full((1, 2), 0.5), (0,)))
    0.5
    """
    _check.instance(value, "value", AlphaVectors)
    _check.instance(other, "other", AlphaVectors)
    if value.vectors.shape[1] != other.vectors.shape[1]:
        raise ValueError(f"other must be for {value.vectors.shape[1]} states; "
                         f"got {other.vectors.shape[1]}")  # fmt: skip
    other_vectors = to_numpy(other.vectors)
    return max(witness(vector, other_vectors)[1] for vector in to_numpy(value.vectors))


def blind_policy_bound(pomdp: POMDP) -> AlphaVectors:
    """Return the values of the blind policies, each repeating one action: a lower bound.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.

    Returns
    -------
    AlphaVectors
        One vector for each action, ``(I − γ P_a)⁻¹ r_a``, [eq-be-blind].

    Raises
    ------
    ValueError
        If the discount is one.
    """
    discounted(pomdp)
    xp = array_namespace(pomdp.observations)
    identity = eye(pomdp.mdp.num_states, pomdp.observations)
    rows = [
        xp.linalg.solve(
            identity - pomdp.mdp.discount * pomdp.transitions[a, ...],
            pomdp.mdp.rewards[:, a][:, None],
        )[:, 0]
        for a in range(pomdp.mdp.num_actions)
    ]
    return AlphaVectors(xp.stack(rows), tuple(range(pomdp.mdp.num_actions)))


def discounted(pomdp: POMDP) -> POMDP:
    """Return a process if it has a discount below one."""
    _check.instance(pomdp, "pomdp", POMDP)
    if pomdp.mdp.discount == 1.0:
        raise ValueError("pomdp must have a discount below one for a value without a last step")
    return pomdp


def point_based_value_iteration(
    pomdp: POMDP,
    beliefs: Matrix,
    *,
    start: AlphaVectors | None = None,
    tolerance: float | None = None,
    max_steps: int = 1000,
) -> AlphaVectors:
    """Return a lower bound of the value by point-based value iteration.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.
    beliefs : Matrix, shape (n, S)
        Where backups are made, such as those of `POMDP.reachable_beliefs`.
    start : AlphaVectors, optional
        A lower bound to begin with; by default `blind_policy_bound`.
    tolerance : float, optional
        It has converged where a backup raises none of the beliefs by more; by default than 1e-8
        of the largest reward, or what rounding hides.
    max_steps : int, default 1000
        How many backups at most.

    Returns
    -------
    AlphaVectors
        The value of plans that can be followed, and so nowhere above the best value. Its
        `converged` is False if `max_steps` backups did not suffice.

    Raises
    ------
    ValueError
        If the discount is one, shapes do not fit, `beliefs` are none, `tolerance` is not positive,
        or `max_steps` is below one.

    Notes
    -----
    A backup costs n·A·O·K·S with K vectors, at most n. Where a backup would
    lower a belief, it keeps the vector that it had. Source: Pineau, Gordon & Thrun (2003); Spaan &
    Vlassis (2005).

    Examples
    --------
    The tiger of Kaelbling, Littman & Cassandra (1998): listen, open the left door or the right one.

    >>> import numpy as np
    >>> from gpnotes.mdp import MDP
    >>> again = np.full((2, 2), 0.5)  # after a door was opened, and the sound then
    >>> rewards = np.asarray([[-1.0, -100.0, 10.0], [-1.0, 10.0, -100.0]])
    >>> mdp = MDP.from_arrays(np.stack([np.eye(2), again, again], axis=1), rewards, 0.95)
    >>> tiger = POMDP(mdp, np.stack([np.asarray([[0.85, 0.15], [0.15, 0.85]]), again, again]))
    >>> middle = np.asarray([0.5, 0.5])
    >>> beliefs = tiger.reachable_beliefs(middle, 5)
    >>> value = point_based_value_iteration(tiger, beliefs, tolerance=1e-3)
    >>> float(value.values(middle).round(1))
    19.4
    >>> value.decide(np.asarray([[0.5, 0.5], [0.97, 0.03]]))
    array([0, 2])
    """
    value = blind_policy_bound(pomdp) if start is None else start
    _check_fits(pomdp, value, "start")
    beliefs = _check_beliefs(pomdp, beliefs)
    tolerance = asked_or(tolerance, discounted(pomdp))
    for _ in range(_check.whole(max_steps, "max_steps", 1)):
        improved = _best_at(value, _point_based_backup(pomdp, value, beliefs), beliefs, pomdp)
        increase = improved._values(beliefs) - value._values(beliefs)
        value = improved
        if float(array_namespace(increase).max(increase)) <= tolerance:
            return value
    return replace(value, converged=False)


def _best_at(old: AlphaVectors, new: AlphaVectors, beliefs: Matrix, pomdp: POMDP) -> AlphaVectors:
    """Of the vectors of both those that are best at one of the beliefs, the new ones first."""
    vectors = np.concatenate([to_numpy(new.vectors), to_numpy(old.vectors)])
    actions = np.asarray([*new.actions, *old.actions])
    used = np.unique(np.asarray(best_vectors(to_numpy(beliefs), vectors)))
    return _alpha_vectors(vectors[used], actions[used], pomdp)
