"""Decision processes whose state is seen only through observations, and beliefs about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..ground import check as _check
from ..ground.check import NoValueError
from ..ground.showing import summary
from ..ground.sparse_matrices import is_sparse
from ..ground.xp import Array, Matrix, Stack, Vector, array_namespace, keep_copies
from .decision_process import MDP
from .distribution_checks import check_distributions
from .filtering import check_observations, conditioned, smoothed_belief

__all__ = ["POMDP", "ControlledChain"]


@dataclass(frozen=True, eq=False)
class POMDP:
    """A partially observable Markov decision process: an MDP, and observations of its states.

    Parameters
    ----------
    mdp : MDP
        The process, with S states and A actions, each available in every state.
    observations : Stack, shape (A, S, O)
        ``P(o | a, s')``, the probability of each observation where action a has led to s'.

    Notes
    -----
    The transitions are held once more as a dense array (A, S, S): this is for hundreds of states,
    not for millions.

    Examples
    --------
    >>> import numpy as np
    >>> stay = np.eye(2)[:, None, :]
    >>> mdp = MDP.from_arrays(stay, np.asarray([[1.0], [0.0]]), 0.9)
    >>> pomdp = POMDP(mdp, np.asarray([[[0.8, 0.2], [0.3, 0.7]]]))
    >>> pomdp.update(np.asarray([0.5, 0.5]), 0, 1).round(3)
    array([0.222, 0.778])
    """

    mdp: MDP
    observations: Stack

    def __post_init__(self) -> None:
        _require_all_actions(_check.instance(self.mdp, "mdp", MDP))
        checked = _check.finite(_check.floating(self.observations, "observations"), "observations")
        _check.alike(checked, "observations", self.mdp.rewards, "the rewards of mdp")
        actions, states = self.mdp.num_actions, self.mdp.num_states
        if checked.ndim != 3 or checked.shape[:2] != (actions, states) or checked.shape[2] == 0:
            raise ValueError(
                f"observations must have shape ({actions}, {states}, O): actions, states they lead "
                f"to, observations; got {tuple(checked.shape)}"
            )
        object.__setattr__(self, "observations", check_distributions(checked, "observations"))
        keep_copies(self, "observations")

    @property
    def num_observations(self) -> int:
        """The number O of observations."""
        return self.observations.shape[2]

    @cached_property
    def transitions(self) -> Stack:
        """The transitions as (A, S, S), dense, from s to s' by action a."""
        states, actions = self.mdp.num_states, self.mdp.num_actions
        P = self.mdp.transitions
        P = P.toarray() if is_sparse(P) else P
        xp = array_namespace(self.observations)
        return xp.permute_dims(xp.reshape(P, (states, actions, states)), (1, 0, 2))

    def check_belief(self, belief: Array, name: str = "belief") -> Array:
        """Return a belief (S,), or beliefs (n, S), checked: probabilities that sum to one."""
        _check.finite(_check.floating(belief, name), name)
        if belief.ndim not in (1, 2) or belief.shape[-1] != self.mdp.num_states:
            states = self.mdp.num_states
            raise ValueError(f"{name} must have shape ({states},) or (n, {states}); "
                             f"got {tuple(belief.shape)}")  # fmt: skip
        _check.alike(belief, name, self.observations, "the observations of the process")
        return check_distributions(belief, name)

    def observation_probabilities(self, belief: Array, action: int) -> Array:
        """Return how probable each observation is after an action, [eq-be-chance].

        Parameters
        ----------
        belief : Vector, shape (S,), or Matrix, shape (n, S)
            The belief about the state before the action, or several such beliefs.

        Returns
        -------
        Array, shape (O,) or (n, O)
            ``P(o | b, a)``.
        """
        action = _check.whole(action, "action", 0, self.mdp.num_actions - 1)
        return (
            self.check_belief(belief)
            @ self.transitions[action, ...]
            @ self.observations[action, ...]
        )

    def update(self, belief: Vector, action: int, observation: int) -> Vector:
        """Return the belief after an action and an observation, [eq-be-update].

        Parameters
        ----------
        belief : Vector, shape (S,)
            What is believed of the state before the action.
        observation : int
            The observation after it.

        Returns
        -------
        Vector, shape (S,)
            The belief afterwards.
        """
        action = _check.whole(action, "action", 0, self.mdp.num_actions - 1)
        observation = _check.whole(observation, "observation", 0, self.num_observations - 1)
        _check.vector(belief, "belief", size=self.mdp.num_states)
        predicted = self.check_belief(belief) @ self.transitions[action, ...]
        updated, log = conditioned(predicted, self.observations[action, :, observation])
        if log == -float("inf"):
            raise NoValueError(
                f"observation {observation} cannot happen after action {action} here"
            )
        return updated

    def controlled_chain(self, start: Vector, actions: Sequence[int]) -> ControlledChain:
        """Return the chain that actions make of the process, which `filter` and `smooth` take.

        Parameters
        ----------
        start : Vector, shape (S,)
            The belief about the state before the first action.
        actions : sequence of int
            The actions, each followed by one reading.
        """
        _check.vector(start, "start", size=self.mdp.num_states)
        start = self.check_belief(start, "start")
        acts = _check.entries(actions, "actions", self.mdp.num_actions, "the actions", repeat=True)
        return ControlledChain(self, start, acts)

    def reachable_beliefs(
        self, start: Vector, max_beliefs: int, *, tolerance: float = 1e-6
    ) -> Matrix:
        """Return beliefs that actions and observations lead to, the nearest in steps first.

        Parameters
        ----------
        start : Vector, shape (S,)
            Where to begin.
        max_beliefs : int
            How many are enough.
        tolerance : float, default 1e-6
            Two beliefs with no entries further apart than this are taken for one.

        Returns
        -------
        Matrix, shape (n, S)
            The beliefs, the start first; n is at most `max_beliefs`.
        """
        _check.vector(start, "start", size=self.mdp.num_states)
        start = self.check_belief(start, "start")
        max_beliefs = _check.whole(max_beliefs, "max_beliefs", 1)
        _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
        xp = array_namespace(start)
        beliefs, queue = start[None, :], [start]
        while queue and beliefs.shape[0] < max_beliefs:
            belief = queue.pop(0)
            for successor in self._next(belief):
                known = xp.max(xp.abs(beliefs - successor[None, :]), axis=1) <= tolerance
                if not bool(xp.any(known)) and beliefs.shape[0] < max_beliefs:
                    beliefs = xp.concat([beliefs, successor[None, :]])
                    queue.append(successor)
        return beliefs

    def _next(self, belief: Vector) -> list[Vector]:
        """The beliefs that one action and one observation lead to."""
        beliefs = []
        for action in range(self.mdp.num_actions):
            predicted = belief @ self.transitions[action, ...]
            for observation in range(self.num_observations):
                updated, log = conditioned(predicted, self.observations[action, :, observation])
                if log > -float("inf"):
                    beliefs.append(updated)
        return beliefs

    def __repr__(self) -> str:
        """The numbers of states, actions and observations."""
        actions, states, observations = self.observations.shape
        return f"POMDP({states} states, {actions} actions, {observations} observations)"


def _require_all_actions(mdp: MDP) -> None:
    """Refuse a process in which some state lacks an action."""
    xp = array_namespace(mdp.rewards)
    if bool(xp.all(mdp.available)):
        return
    pair = int(xp.argmax(xp.astype(xp.reshape(~mdp.available, (-1,)), xp.int32)))
    state, action = divmod(pair, mdp.num_actions)
    raise ValueError(
        "mdp must have every action available in every state, as an agent that does not see the "
        f"state cannot know what it may do; action {action} is not in state {state}: let it lead "
        "somewhere there, at a cost"
    )


@dataclass(frozen=True, eq=False)
class ControlledChain:
    """A POMDP under given actions, each followed by a reading: `POMDP.controlled_chain`.

    Parameters
    ----------
    pomdp : POMDP
        The process.
    start : Vector, shape (S,)
        The belief about the state before the first action.
    actions : tuple of int
        The actions.
    """

    pomdp: POMDP
    start: Vector
    actions: tuple[int, ...]

    __repr__ = summary

    @property
    def initial(self) -> Vector:
        """The belief after the first action and before its reading, (S,)."""
        return self.start @ self._transitions(0)

    def check_readings(self, readings: Array) -> Array:
        """Return the observations in a row, one for each action, checked."""
        readings = check_observations(readings, "readings", self.pomdp.num_observations)
        if readings.shape[0] != len(self.actions):
            count = len(self.actions)
            raise ValueError(f"readings must be one for each of {count} actions; "
                             f"got {readings.shape[0]}")  # fmt: skip
        return readings

    def predict(self, belief: Vector, step: int) -> Vector:
        """Return the belief after action `step` and before its reading."""
        return belief @ self._transitions(step)

    def update(self, belief: Vector, reading: Array, step: int) -> tuple[Vector, float]:
        """Return the belief after a reading, [eq-be-update], and its log probability."""
        return conditioned(belief, self.pomdp.observations[self.actions[step], :, int(reading)])

    def smooth(self, filtered: Vector, predicted: Vector, smoothed: Vector, step: int) -> Vector:
        """Return the belief of a step by all readings."""
        return smoothed_belief(filtered, predicted, smoothed, self._transitions(step))

    def stack(self, beliefs: list[Vector]) -> Matrix:
        """Return beliefs in a row, (T, S)."""
        return array_namespace(beliefs[0]).stack(beliefs)

    def _transitions(self, step: int) -> Matrix:
        return self.pomdp.transitions[self.actions[step], ...]
