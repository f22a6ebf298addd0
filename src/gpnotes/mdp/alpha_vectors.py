"""The value of a belief as the highest of some planes: backups, exact ones and those at points."""

from __future__ import annotations

from dataclasses import dataclass

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
    to_numpy,
)
from .pomdp import POMDP

__all__ = ["Planes", "backup", "blind", "distance", "improve", "prune"]


@dataclass(frozen=True, eq=False)
class Planes:
    """A function of beliefs, ``V(b) = max_k α_kᵀ b``, [eq-be-planes].

    Parameters
    ----------
    vectors : Matrix, shape (K, S)
        α, the height of each plane at each corner, where the state is known.
    actions : tuple of int
        The action that each plane begins with.

    Examples
    --------
    >>> import numpy as np
    >>> planes = Planes(np.asarray([[1.0, 0.0], [0.0, 1.0]]), (0, 1))
    >>> planes.values(np.asarray([[0.3, 0.7], [1.0, 0.0]]))
    array([0.7, 1. ])
    >>> planes.decide(np.asarray([[0.3, 0.7], [1.0, 0.0]]))
    array([1, 0])
    """

    vectors: Matrix
    actions: tuple[int, ...]

    __repr__ = summary

    def __post_init__(self) -> None:
        count = _check.matrix(self.vectors, "vectors").shape[0]
        if count == 0:
            raise ValueError("vectors must hold one plane or more; got none")
        try:
            actions = tuple(_check.whole(one, "actions") for one in self.actions)
        except TypeError:
            raise TypeError(f"actions must be whole numbers; got {self.actions!r}") from None
        if len(actions) != count:
            raise ValueError(f"actions must be one for each of {count} planes; got {len(actions)}")
        object.__setattr__(self, "actions", actions)

    def values(self, beliefs: Array) -> Array:
        """Return the value of a belief (S,), or of each of some (n, S)."""
        return array_namespace(beliefs).max(self._heights(beliefs), axis=-1)

    def best(self, beliefs: Array) -> Array:
        """Return the number of the highest plane at a belief (S,), or at each of some (n, S).

        Of planes that are equally high, up to rounding, it is the first.
        """
        return first_highest(self._heights(beliefs))

    def decide(self, beliefs: Array) -> Array:
        """Return the action of the highest plane at a belief (S,), or at each of some (n, S)."""
        best = self.best(beliefs)
        xp = array_namespace(best)
        actions = xp.asarray(self.actions, dtype=best.dtype, device=best.device)
        return xp.reshape(xp.take(actions, xp.reshape(best, (-1,))), best.shape)

    def _heights(self, beliefs: Array) -> Array:
        _check.finite(_check.floating(beliefs, "beliefs"), "beliefs")
        size = self.vectors.shape[1]
        if beliefs.ndim not in (1, 2) or beliefs.shape[-1] != size:
            raise ValueError(f"beliefs must have shape ({size},) or (n, {size}); "
                             f"got {beliefs.shape}")  # fmt: skip
        _check.alike(beliefs, "beliefs", self.vectors, "the planes")
        return beliefs @ array_namespace(beliefs).matrix_transpose(self.vectors)


def first_highest(heights: Array) -> Array:
    """The first entry along the last axis that is the highest up to rounding."""
    xp = array_namespace(heights)
    top = xp.max(heights, axis=-1, keepdims=True)
    slack = 1e3 * epsilon(heights) * (1.0 + xp.max(xp.abs(heights), axis=-1, keepdims=True))
    return xp.argmax(xp.astype(heights >= top - slack, xp.int32), axis=-1)


def backup(
    pomdp: POMDP, planes: Planes, *, beliefs: Matrix | None = None, slack: float = 1e-9
) -> Planes:
    """Return the value with one more step to go, [eq-be-backup].

    Parameters
    ----------
    pomdp : POMDP
        The process.
    planes : Planes
        The value after the step.
    beliefs : Matrix, shape (n, S), optional
        Where the value is asked for; the highest plane of each is found, and no other. By default
        all planes are found that are the highest anywhere.
    slack : float, default 1e-9
        Without `beliefs`, a plane is left out that is nowhere higher than the others by more.

    Returns
    -------
    Planes
        The value. With `beliefs` it is exact there, and elsewhere too low at most.

    Notes
    -----
    With K planes after the step, n beliefs cost A·O·K·S products each, and the planes A·O·K·S²
    once; the exact backup meets up to A·K^O planes, and asks a linear program of each that is left,
    after every observation.
    Source: Sondik (1971); Cassandra, Littman & Zhang (1997); Pineau, Gordon & Thrun (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.mdp import MDP
    >>> mdp = MDP.from_arrays(np.eye(2)[:, None, :].repeat(2, 1), np.eye(2), 0.9)
    >>> pomdp = POMDP(mdp, np.full((2, 2, 1), 1.0))
    >>> backup(pomdp, Planes(np.zeros((1, 2)), (0,))).vectors
    array([[1., 0.],
           [0., 1.]])
    """
    _fits(pomdp, planes)
    _check.positive(_check.number(slack, "slack"), "slack", zero=True)
    if beliefs is None:
        return _exact(pomdp, planes, slack)
    return _at(pomdp, planes, _some(pomdp, beliefs))


def _fits(pomdp: POMDP, planes: Planes, name: str = "planes") -> None:
    _check.instance(pomdp, "pomdp", POMDP)
    _check.instance(planes, name, Planes)
    if planes.vectors.shape[1] != pomdp.mdp.states or max(planes.actions) >= pomdp.mdp.actions:
        raise ValueError(
            f"{name} must be for {pomdp.mdp.states} states and {pomdp.mdp.actions} actions; they "
            f"have {planes.vectors.shape[1]} states and actions up to {max(planes.actions)}"
        )
    _check.alike(planes.vectors, name, pomdp.observations, "the observations of the process")


def _some(pomdp: POMDP, beliefs: Matrix) -> Matrix:
    _check.matrix(beliefs, "beliefs", columns=pomdp.mdp.states)
    if beliefs.shape[0] == 0:
        raise ValueError("beliefs must hold one belief or more; got none")
    return pomdp.belief(beliefs, "beliefs")


def _steps(pomdp: POMDP, planes: Planes, action: int, kind: int) -> Matrix:
    """The planes before an action and an observation, γ P(o | a, s') P(s' | s, a) α(s'), (K, S)."""
    weights = pomdp.moves[action, ...] * pomdp.observations[action, :, kind][None, :]
    xp = array_namespace(weights)
    return pomdp.mdp.discount * (planes.vectors @ xp.matrix_transpose(weights))


def _at(pomdp: POMDP, planes: Planes, beliefs: Matrix) -> Planes:
    """The highest plane at each belief, with one more step to go; equal ones once."""
    xp = array_namespace(beliefs)
    rows, heights = [], []
    for action in range(pomdp.mdp.actions):
        row = xp.broadcast_to(pomdp.mdp.rewards[:, action][None, :], beliefs.shape)
        for kind in range(pomdp.kinds):
            ahead = _steps(pomdp, planes, action, kind)
            row = row + xp.take(ahead, first_highest(beliefs @ xp.matrix_transpose(ahead)), axis=0)
        rows.append(row)
        heights.append(xp.sum(beliefs * row, axis=1))
    chosen = to_numpy(first_highest(xp.stack(heights, axis=1)))
    found = [to_numpy(rows[action][place, :]) for place, action in enumerate(chosen)]
    vectors, actions = _once(np.asarray(found), chosen)
    return _planes(vectors, actions, pomdp)


def _once(vectors: HostMatrix, actions: HostVector) -> tuple[HostMatrix, HostVector]:
    """Planes without repetitions, in the order in which they first occur."""
    scale = np.max(np.abs(vectors)) if vectors.size else 1.0
    rounded = np.round(vectors / (1e4 * epsilon(vectors) * (scale or 1.0)))
    _, first = np.unique(rounded, axis=0, return_index=True)
    first = np.sort(first)
    return vectors[first], actions[first]


def _planes(vectors: HostMatrix, actions: HostVector, pomdp: POMDP) -> Planes:
    return Planes(as_array(vectors, pomdp.observations), tuple(int(one) for one in actions))


def _exact(pomdp: POMDP, planes: Planes, slack: float) -> Planes:
    """All planes that are the highest anywhere, by incremental pruning."""
    groups, numbers = [], []
    for action in range(pomdp.mdp.actions):
        total = to_numpy(pomdp.mdp.rewards[:, action])[None, :]
        for kind in range(pomdp.kinds):
            ahead = to_numpy(_steps(pomdp, planes, action, kind))
            ahead = ahead[highest(ahead, slack)]
            total = (total[:, None, :] + ahead[None, :, :]).reshape(-1, total.shape[1])
            total = total[highest(total, slack)]
        groups.append(total)
        numbers.append(np.full(len(total), action))
    vectors, actions = np.concatenate(groups), np.concatenate(numbers)
    kept = highest(vectors, slack)
    return _planes(vectors[kept], actions[kept], pomdp)


def prune(planes: Planes, *, slack: float = 1e-9) -> Planes:
    """Return the planes that are the highest at some belief, by linear programs, [eq-be-prune].

    Parameters
    ----------
    planes : Planes
        The planes.
    slack : float, default 1e-9
        A plane is left out that is nowhere higher than those kept by more. HiGHS resolves 1e-7 of
        the differences between planes.

    Returns
    -------
    Planes
        Those kept, in their order.

    Notes
    -----
    One linear program with S + 1 unknowns for each plane that is not the highest at a corner.
    Source: White (1991), Lark's algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.45, 0.45]])
    >>> prune(Planes(three, (0, 1, 2))).actions
    (0, 1)
    """
    _check.instance(planes, "planes", Planes)
    _check.positive(_check.number(slack, "slack"), "slack", zero=True)
    kept = highest(to_numpy(planes.vectors), slack)
    xp = array_namespace(planes.vectors)
    rows = [planes.vectors[int(k), :] for k in kept]
    return Planes(xp.stack(rows), tuple(planes.actions[k] for k in kept))


def highest(vectors: HostMatrix, slack: float) -> HostVector:
    """The numbers of the planes that are the highest somewhere, by more than the slack."""
    left = _undominated(vectors)
    kept: list[int] = []
    for corner in np.eye(vectors.shape[1]):
        _keep(kept, left, vectors, corner)
    while left:
        belief, gain = witness(vectors[left[0]], vectors[kept])
        if gain <= slack or not _keep(kept, left, vectors, belief):
            left.pop(0)
    return np.asarray(sorted(kept))


def _undominated(vectors: HostMatrix) -> list[int]:
    """The planes that no single other one covers; of equal ones the first."""
    left: list[int] = []
    for k in np.lexsort(vectors.T)[::-1]:  # what covers another comes before it
        if not any(np.all(vectors[one] >= vectors[k]) for one in left):
            left.append(int(k))
    return sorted(left)


def _keep(kept: list[int], left: list[int], vectors: HostMatrix, belief: HostVector) -> bool:
    """Move the highest plane at a belief from those left to those kept, unless it is kept already.

    Of those that tie up to rounding it is the greatest, corner by corner.
    """
    candidates = [*kept, *left]
    heights = vectors[candidates] @ belief
    slack = 1e3 * epsilon(vectors) * (1.0 + np.max(np.abs(heights)))
    tied = np.flatnonzero(heights >= np.max(heights) - slack)
    best = max((candidates[place] for place in tied), key=lambda k: tuple(vectors[k]))
    if best in kept:
        return False
    left.remove(best)
    kept.append(best)
    return True


def witness(plane: HostVector, others: HostMatrix) -> tuple[HostVector, float]:
    """The belief at which a plane is above all others by most, and by how much, or below."""
    states = len(plane)
    scale = float(max(np.max(np.abs(plane - others)), np.finfo(float).tiny))
    above = np.hstack([(plane - others) / scale, -np.ones((len(others), 1))])
    inside = np.hstack([np.eye(states), np.zeros((states, 1))])
    whole = np.hstack([np.ones((1, states)), np.zeros((1, 1))])
    A = np.vstack([above, inside, whole, -whole])
    b = np.concatenate([np.zeros(len(others) + states), [1.0, -1.0]])
    cost = np.concatenate([np.zeros(states), [-1.0]])
    found = least_cost(cost, A, b).x
    belief = np.maximum(found[:-1], 0.0)
    belief = belief / belief.sum()
    return belief, float(np.min((plane - others) @ belief))


def distance(planes: Planes, others: Planes) -> float:
    """Return by how much the first is higher than the second at most, over all beliefs.

    Parameters
    ----------
    planes, others : Planes
        Two functions of beliefs.

    Returns
    -------
    float
        ``max_b V(b) − W(b)``, negative where V is below W everywhere; a linear program a plane.

    Examples
    --------
    >>> import numpy as np
    >>> distance(Planes(np.eye(2), (0, 1)), Planes(np.full((1, 2), 0.5), (0,)))
    0.5
    """
    _check.instance(planes, "planes", Planes)
    _check.instance(others, "others", Planes)
    if planes.vectors.shape[1] != others.vectors.shape[1]:
        raise ValueError(f"others must be for {planes.vectors.shape[1]} states; "
                         f"got {others.vectors.shape[1]}")  # fmt: skip
    below = to_numpy(others.vectors)
    return max(witness(plane, below)[1] for plane in to_numpy(planes.vectors))


def blind(pomdp: POMDP) -> Planes:
    """Return what each action is worth that is taken for ever, whatever is seen: a lower bound.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.

    Returns
    -------
    Planes
        One plane an action, ``(I − γ P_a)⁻¹ r_a``, [eq-be-blind].

    Raises
    ------
    ValueError
        If the discount is one.
    """
    discounted(pomdp)
    xp = array_namespace(pomdp.observations)
    one = xp.eye(pomdp.mdp.states, dtype=pomdp.observations.dtype, device=pomdp.observations.device)
    rows = [
        xp.linalg.solve(
            one - pomdp.mdp.discount * pomdp.moves[a, ...], pomdp.mdp.rewards[:, a][:, None]
        )[:, 0]
        for a in range(pomdp.mdp.actions)
    ]
    return Planes(xp.stack(rows), tuple(range(pomdp.mdp.actions)))


def discounted(pomdp: POMDP) -> POMDP:
    """Return a process if it has a discount below one."""
    _check.instance(pomdp, "pomdp", POMDP)
    if pomdp.mdp.discount == 1.0:
        raise ValueError("pomdp must have a discount below one for a value without a last step")
    return pomdp


def improve(
    pomdp: POMDP,
    beliefs: Matrix,
    *,
    start: Planes | None = None,
    tolerance: float = 1e-6,
    most: int = 1000,
) -> Planes:
    """Return a lower bound of the value, raised at some beliefs until it rises no more.

    Parameters
    ----------
    pomdp : POMDP
        The process, with a discount below one.
    beliefs : Matrix, shape (n, S)
        Where backups are made, such as those of `POMDP.reachable`.
    start : Planes, optional
        A lower bound to begin with; by default `blind`.
    tolerance : float, default 1e-6
        The end is where no belief rises by more.
    most : int, default 1000
        How many backups at most.

    Returns
    -------
    Planes
        The value of plans that can be followed, and so nowhere above the best value.

    Raises
    ------
    ValueError
        If the discount is one, shapes do not fit, `beliefs` are none, `tolerance` is not positive,
        or `most` is below one.

    Notes
    -----
    A backup costs n·A·O·K·S with K planes, of which there are at most n. Where a backup would lower
    a belief, it keeps the plane that it had. Source: Pineau, Gordon & Thrun (2003); Spaan &
    Vlassis (2005).
    """
    planes = blind(discounted(pomdp)) if start is None else start
    _fits(pomdp, planes, "start")
    beliefs = _some(pomdp, beliefs)
    _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
    for _ in range(_check.whole(most, "most", 1)):
        new = _kept(planes, _at(pomdp, planes, beliefs), beliefs, pomdp)
        rise = new.values(beliefs) - planes.values(beliefs)
        planes = new
        if float(array_namespace(rise).max(rise)) <= tolerance:
            break
    return planes


def _kept(old: Planes, new: Planes, beliefs: Matrix, pomdp: POMDP) -> Planes:
    """Of both planes those that are the highest at one of the beliefs, the new ones first."""
    vectors = np.concatenate([to_numpy(new.vectors), to_numpy(old.vectors)])
    actions = np.asarray([*new.actions, *old.actions])
    used = np.unique(np.asarray(first_highest(to_numpy(beliefs) @ vectors.T)))
    return _planes(vectors[used], actions[used], pomdp)
