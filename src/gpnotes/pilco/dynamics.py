"""The dynamics of a world as Gaussian processes: what one step does to a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .. import _check
from .._xp import Array, array_namespace
from ..exact import Posterior
from ..moments import Predictor, predictor

__all__ = ["Dynamics", "augmented"]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """What one step does to a state x (D,): independent GPs for each entry of the difference.

    `posteriors` are D processes that predict ``x' − x`` from ``(x, sin x_a, cos x_a, u)``, where
    the entries `angles` of x are angles; ``K = D + 2A`` entries without the action u.
    :eq:`eq-pc-dynamics`. Raises `TypeError` or `ValueError`
    for what are no posteriors and angles, and what `moments.predictor` raises, when it is used.
    """

    posteriors: tuple[Posterior, ...]
    angles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.posteriors, Posterior) or not isinstance(self.posteriors, Sequence):
            got = type(self.posteriors).__name__
            raise TypeError(f"posteriors must be a sequence of Posterior; got {got}")
        if not self.posteriors:
            raise ValueError("posteriors must hold one for each entry of a state; got none")
        for k, posterior in enumerate(self.posteriors):
            _check.instance(posterior, f"posteriors[{k}]", Posterior)
        _check.entries(self.angles, "angles", len(self.posteriors), "a state")

    @cached_property
    def predictor(self) -> Predictor:
        """The same, ready for uncertain inputs; O(n³) once."""
        return predictor(self.posteriors)

    def inputs(self, states: Array, actions: Array) -> Array:
        """``(x, sin x_a, cos x_a, u)``, (n, K + U), for states (n, D) and actions (n, U).

        Raises `ValueError` or `TypeError` for arrays that do not fit each other.
        """
        _check.matrix(states, "states", columns=len(self.posteriors))
        _check.matrix(actions, "actions", rows=states.shape[0])
        _check.alike(actions, "actions", states, "states")
        return augmented(states, actions, self.angles)


def augmented(states: Array, actions: Array, angles: Sequence[int]) -> Array:
    """``(x, sin x_a, cos x_a, u)``, (n, K + U), of states and actions that have been checked."""
    xp = array_namespace(states)
    turns = [f(states[:, a])[:, None] for f in (xp.sin, xp.cos) for a in angles]
    return xp.concat([states, *turns, actions], axis=1)
