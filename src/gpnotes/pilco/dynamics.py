"""The dynamics of a world as Gaussian processes: what one step does to a state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .. import _check
from .._xp import Array, array_namespace
from ..exact import Posterior
from ..moments import Predictor, predictor

__all__ = ["Dynamics"]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """What one step does to a state x (D,): independent GPs for each entry of the difference.

    `posteriors` are D processes that predict ``x' − x`` from ``(x, sin x_a, cos x_a, u)``, where
    the entries `angles` of x are angles; ``K = D + 2A`` entries without the action u.
    :eq:`eq-pc-dynamics`. Raises what `moments.predictor` raises, the first time that it is asked.
    """

    posteriors: tuple[Posterior, ...]
    angles: tuple[int, ...] = ()

    @cached_property
    def predictor(self) -> Predictor:
        """The same, ready for uncertain inputs; O(n³) once."""
        return predictor(self.posteriors)

    def inputs(self, states: Array, actions: Array) -> Array:
        """``(x, sin x_a, cos x_a, u)``, (n, K + U), for states (n, D) and actions (n, U).

        Raises `ValueError` or `TypeError` for arrays that do not fit each other, and for angles
        that are no entries of a state.
        """
        xp = array_namespace(_check.matrix(states, "states"))
        _check.matrix(actions, "actions", rows=states.shape[0])
        _check.alike(actions, "actions", states, "states")
        angles = _check.entries(self.angles, "angles", states.shape[1], "a state")
        turns = [f(states[:, a])[:, None] for f in (xp.sin, xp.cos) for a in angles]
        return xp.concat([states, *turns, actions], axis=1)
