"""Any likelihood by the hooks of ours: those that you bring are asked by their public methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ...ground.params import leaves
from ...ground.xp import Array, Vector, array_namespace
from ..contracts import (
    CurvedLikelihood,
    Likelihood,
    ParametricLikelihood,
    PredictiveLikelihood,
    missing,
    require,
)
from .base import Bars, LikelihoodBase
from .multiclass import MulticlassLikelihood

__all__ = ["centred", "is_latent", "moves_under_laplace", "require_observable", "with_hooks"]


def with_hooks(likelihood: Likelihood) -> LikelihoodBase:
    """Return a likelihood with the hooks of ours, which check nothing.

    Ours is returned as it is, unless a subclass has its own `log_density` or `derivatives`:
    as one of another's making, it is asked by these.
    """
    kind = type(likelihood)
    if isinstance(likelihood, LikelihoodBase) and (kind.log_density, kind.derivatives) == (
        LikelihoodBase.log_density,
        LikelihoodBase.derivatives,
    ):
        return likelihood
    return _Brought(likelihood)


@dataclass(frozen=True)
class _Brought(LikelihoodBase):
    """A likelihood that is not ours, whose y have the shape of f."""

    likelihood: Likelihood

    def _log_density(self, y: Array, f: Array) -> Array:
        return self.likelihood.log_density(_like(y, f), f)

    def _derivatives(self, y: Array, f: Array) -> tuple[Array, Array, Array]:
        return self.likelihood.derivatives(_like(y, f), f)

    def _predict(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        return cast(PredictiveLikelihood, self.likelihood).predict(mean, variance)

    def _bar(self, y: Array, f: Array, bar: Array) -> Any:
        parametric = require(self.likelihood, "likelihood", ParametricLikelihood)
        return cast(ParametricLikelihood, parametric).pullback(_like(y, f), f, bar)[0]

    def _derivatives_bar(self, y: Array, f: Array, bars: Bars) -> Any:
        if not moves_under_laplace(self.likelihood):
            return self.likelihood
        likelihood = cast(CurvedLikelihood, self.likelihood)
        return likelihood.derivatives_bar(_like(y, f), f, *bars)

    def _expected_bar(self, y: Array, mean: Array, variance: Array, bar: Array, nodes: int) -> Any:
        if not leaves(self.likelihood):
            return self.likelihood
        return super()._expected_bar(y, mean, variance, bar, nodes)


def _like(y: Array, f: Array) -> Array:
    return array_namespace(f).broadcast_to(y, f.shape)


def require_observable(likelihood: Likelihood, y: Vector, mean: Vector) -> None:
    """Refuse validated y that a likelihood cannot have made, and a likelihood that does not fit.

    Ours look at y alone; another is tried at the mean, by its public methods.

    Raises
    ------
    ValueError
        If the likelihood refuses y, or gives arrays of another shape.
    """
    hooks = with_hooks(likelihood)
    if isinstance(likelihood, LikelihoodBase):
        kind = type(likelihood)
        if kind._observable is not LikelihoodBase._observable:  # that y is finite is known
            likelihood._observable(y)
    given = [hooks._log_density(y, mean), *hooks._derivatives(y, mean)]
    shapes = [tuple(getattr(terms, "shape", ())) for terms in given]
    if shapes != 4 * [mean.shape]:
        wanted = f"a log density and three derivatives of shape {tuple(mean.shape)}"
        raise ValueError(f"likelihood must return {wanted}; got {shapes}")


def moves_under_laplace(likelihood: Likelihood) -> bool:
    """Return True if a likelihood has parameters, and says how its curvature moves with them."""
    if not leaves(likelihood):
        return False
    if isinstance(likelihood, LikelihoodBase):
        return type(likelihood)._derivatives_bar is not LikelihoodBase._derivatives_bar
    return not missing(likelihood, CurvedLikelihood)


def centred(likelihood: Likelihood, y: Array, level: Array) -> tuple[Array, Array]:
    """Return y and the level of f, both less that level where only y − f counts.

    Far from zero f is rounded, and what it is less the level is not.
    """
    return with_hooks(likelihood)._centred(y, level)


def is_latent(likelihood: Likelihood | MulticlassLikelihood) -> bool:
    """Return True if f has not the unit of y: no parameter of the likelihood has it, or its square.

    So it is for labels and counts, and not for normal noise.
    """
    return not any(leaf.unit in ("y", "y²") for leaf in leaves(likelihood))
