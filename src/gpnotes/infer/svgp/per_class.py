"""The work on one function, done for those of all classes: a pass, a step, a gradient.

The likelihood alone ties the classes together. Given its slopes by the moments of each
function, all else is that of one function, and registered here next to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, cast

from ...ground import memory
from ...ground.params import added, cotangent
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector
from ...model.likelihoods.hermite_averages import Expected
from ..interdomain.point_functionals import with_hooks
from .evidence_lower_bound import (
    Way,
    added_models,
    bar_of_inducing,
    cross_slope,
    inputs_bar,
    sums_and_gradient,
    way_back,
)
from .model import SVGP
from .multiclass import ClassesPosterior, classes_marginals, whitened
from .natural_gradients import distance, slope_along, step_begun, take_step, tolerance
from .posterior import Marginals, VariationalPosterior
from .row_sums import Block, Sums, plus, require_finite, sums_of, sweep

__all__ = ["ClassesSums"]

ClassesBlock = tuple[Block, ...]  # of the same rows, one for each class


class ClassesSums(NamedTuple):
    """``Σ E log p(yᵢ | fᵢ)`` of all classes together, and the slopes and sites of each."""

    value: float
    parts: tuple[Sums, ...]


def _blocks(
    posterior: ClassesPosterior, X: Matrix, y: Vector, scale: float
) -> Iterator[ClassesBlock]:
    """The rows in blocks that have room, with the slopes of each class."""
    classes, nodes = len(posterior.whitened), posterior.model.nodes
    for rows in memory.blocks(X.shape[0], max(posterior.inducing.size, classes * nodes), like=X):
        A, mean, variance = classes_marginals(posterior, X[rows, :])
        slopes = posterior.likelihood._expected(y[rows], mean, variance, nodes)
        value, by_mean, by_variance = (scale * part for part in slopes)
        yield tuple(
            Block(
                X[rows, :], y[rows], Marginals(A, mean[:, c], variance[:, c]),
                Expected(value, by_mean[:, c], by_variance[:, c]),
            )
            for c in range(classes)
        )  # fmt: skip


def _sums_of(block: ClassesBlock) -> ClassesSums:
    parts = tuple(map(sums_of, block))
    return ClassesSums(parts[0].value, parts)


def _plus(first: ClassesSums, second: ClassesSums) -> ClassesSums:
    return ClassesSums(first.value + second.value, tuple(map(plus, first.parts, second.parts)))


@sweep.register
def _(
    posterior: ClassesPosterior, X: Matrix, y: Vector, scale: float = 1.0, known: None = None
) -> ClassesSums:
    return reduce(_plus, (_sums_of(block) for block in _blocks(posterior, X, y, scale)))


@step_begun.register
def _(
    posterior: ClassesPosterior, sums: ClassesSums, length: float
) -> Callable[[], ClassesPosterior]:
    """Return the step of each function, less the common part of their means.

    That is seen by the divergence alone, so that zero is the best, to which the curvature of its
    labels would bring it all too slowly.
    """
    pairs = zip(posterior.functions, sums.parts, strict=True)
    after = [
        whitened(cast("VariationalPosterior", take_step(q, part, length))) for q, part in pairs
    ]
    common = sum((own.weights for own in after[1:]), after[0].weights) / len(after)
    centred = tuple(own._replace(weights=own.weights - common) for own in after)
    return lambda: replace(posterior, whitened=centred, steps=posterior.steps + 1, converged=False)


@slope_along.register
def _(before: ClassesPosterior, after: ClassesPosterior, sums: ClassesSums) -> float:
    return sum(map(slope_along, before.functions, after.functions, sums.parts))


@distance.register
def _(posterior: ClassesPosterior, sums: ClassesSums) -> float:
    return math.hypot(*map(distance, posterior.functions, sums.parts))


@tolerance.register
def _(posterior: ClassesPosterior) -> float:
    return math.hypot(*map(tolerance, posterior.functions))


@sums_and_gradient.register
def _(
    posterior: ClassesPosterior, X: Matrix, y: Vector, scale: float, known: None = None
) -> tuple[ClassesSums, SVGP]:
    ways = tuple(map(way_back, posterior.functions))
    sums, model_bar = reduce(
        lambda one, other: (_plus(one[0], other[0]), added_models(one[1], other[1])),
        (
            (require_finite(_sums_of(block)), _bar_of_rows(posterior.model, block, ways))
            for block in _blocks(posterior, X, y, scale)
        ),
    )
    kernel_bar, Z_bar = model_bar.gp.kernel, inputs_bar(model_bar)
    for q, part, way in zip(posterior.functions, sums.parts, ways, strict=True):
        by_kernel, by_Z = bar_of_inducing(q, part, way)
        kernel_bar, Z_bar = added(kernel_bar, by_kernel), Z_bar + by_Z
    return sums, cotangent(model_bar, gp=cotangent(model_bar.gp, kernel=kernel_bar), inducing=Z_bar)


@threads_for(
    lambda model, block, ways: len(ways) * block[0].f.A.shape[0] ** 2 * block[0].X.shape[0]
)
def _bar_of_rows(model: SVGP, block: ClassesBlock, ways: tuple[Way, ...]) -> SVGP:
    """The derivatives from a block of rows, but for those by K_uu: the classes share K_uf."""
    slopes = [part.slopes for part in block]
    by_cross = [
        cross_slope(way, part.f.A, part.slopes.by_mean, part.slopes.by_variance)
        for way, part in zip(ways, block, strict=True)
    ]
    X, kernel = block[0].X, model.gp.kernel
    kernel_bar, Z_bar = with_hooks(model.variables)._cross_pullback(
        kernel, X, sum(by_cross[1:], by_cross[0])
    )
    by_own = [slope.by_variance for slope in slopes]
    own_bar, _ = kernel._diag_pullback(X, sum(by_own[1:], by_own[0]))
    gp_bar = cotangent(model.gp, kernel=added(kernel_bar, own_bar))
    return cotangent(model, gp=gp_bar, inducing=Z_bar)
