"""Elliptical slice sampling: for a normal prior and any likelihood, without a step to be set."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..ground import check as _check
from ..ground.random import Stream
from ..ground.xp import Matrix, Vector, array_namespace, as_host, blas, is_numpy_namespace
from .states import State, Step
from .targets import Target, log_density_at, start_at

__all__ = ["EllipticalSlice"]

_AHEAD = 64  # draws of the prior made in one product, which costs little more than a single one
_SHORTEST_ARC = 1e-12  # an arc on which floats tell no positions apart


@dataclass(frozen=True, eq=False)
class EllipticalSlice:
    """Elliptical slice sampling under the prior ``N(mean, L Lᵀ)``, [eq-mc-ellipse].

    The target is the log likelihood alone: the prior is in the way that the sampler moves.

    Parameters
    ----------
    covariance_root : Matrix, shape (d, d)
        A root L of the covariance of the prior, such as its Cholesky factor.
    mean : Vector, shape (d,), or None
        The mean of the prior; None is zero.

    Notes
    -----
    Every step is accepted; the number of times that the arc is shortened first varies.
    Source: Murray, Adams & MacKay (2010).
    """

    covariance_root: Matrix
    mean: Vector | None = None
    target_acceptance = None

    def __post_init__(self) -> None:
        d = _check.square(self.covariance_root, "covariance_root").shape[0]
        if self.mean is not None:
            mean = _check.vector(self.mean, "mean", size=d)
            _check.alike(mean, "mean", self.covariance_root, "covariance_root")

    def init(self, target: Target, position: Vector) -> State:
        """Return the state at a start; the log likelihood must be finite."""
        log_density, _ = start_at(target, position, gradient=False)
        d = self.covariance_root.shape[0]
        _check.vector(position, "position", size=d)
        _check.alike(position, "position", self.covariance_root, "covariance_root")
        return State(position, log_density)

    def step(self, target: Target, state: State, stream: Stream) -> Step:
        """Draw an ellipse and a level, and shorten the arc until a position on it is above."""
        from_prior, *prior_draws = state.prior_draws or self._prior_draws(stream)
        x = state.position if self.mean is None else state.position - self.mean
        uniform = stream.generator.random  # what `stream.uniform()` gives, without its checks
        # log1p(−u) is log(1 − u), finite for every u in [0, 1); log u is not
        level = state.log_density + math.log1p(-uniform())
        angle = 2.0 * math.pi * uniform()
        low, high, evaluations = angle - 2.0 * math.pi, angle, 0
        while high - low > _SHORTEST_ARC:
            proposal = math.cos(angle) * x + math.sin(angle) * from_prior
            proposal = proposal if self.mean is None else self.mean + proposal
            log_density, evaluations = log_density_at(target, proposal), evaluations + 1
            if log_density >= level and log_density > -math.inf:
                accepted = State(proposal, log_density, None, state.count + 1, tuple(prior_draws))
                return Step(accepted, 1.0, True, False, evaluations)
            # angle 0 is the old position, which is above the level: the arc keeps it and shrinks
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = low + (high - low) * uniform()
        stayed = replace(state, count=state.count + 1, prior_draws=tuple(prior_draws))
        return Step(stayed, 1.0, False, False, evaluations)

    def _prior_draws(self, stream: Stream) -> tuple[Vector, ...]:
        d = self.covariance_root.shape[0]
        normals = stream.normal((d, _AHEAD), like=self.covariance_root)
        rows = array_namespace(normals).matrix_transpose(self._times_root(normals))
        return tuple(rows[i, :] for i in range(_AHEAD))

    def _times_root(self, normals: Matrix) -> Matrix:
        """``L normals``; by half the products where NumPy's L is a Cholesky factor."""
        if not self._triangular:
            return self.covariance_root @ normals
        upper, rows = as_host(self.covariance_root).T, as_host(normals).T  # in Fortran order
        return np.asarray(blas("trmm", self.covariance_root.dtype)(1.0, upper, rows, side=1)).T

    @cached_property
    def _triangular(self) -> bool:
        if not is_numpy_namespace(array_namespace(self.covariance_root)):
            return False
        return not np.any(np.triu(as_host(self.covariance_root), 1))
