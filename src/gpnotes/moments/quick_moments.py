"""`predictor` for NumPy arrays: the same moments and the same pullback, from `quick`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._xp import Array, symmetric_part
from .quick import Quick, Totals, glance, pulled_pairs, totals

__all__ = ["Found", "Outputs", "found", "pulled", "quick_outputs"]

_NUMBERS = ("offset", "noise_var", "signal_var")


@dataclass(frozen=True, eq=False)
class Outputs:
    """How E outputs are made of C parts and P pairs, and what prediction needs of each."""

    have: Quick
    owner: list[int]
    weights: list[Array | None]  # of each pair within one output: ``α αᵀ − K_y⁻¹``
    half: Array  # (E, n, n): L⁻¹
    offset: Array  # (E,)
    noise_var: Array
    signal_var: Array
    belongs: Array  # (E, C): one where the part is the output's
    place: Array  # (E², P): where, and how often, the value of a pair stands in the covariance


def quick_outputs(
    have: Quick, outputs: Sequence[Any], owner: list[int], pairs: list[tuple[int, int]]
) -> Outputs:
    """Collect what `predictor` knows of each output."""
    E, dtype = len(outputs), have.alpha.dtype
    joint = [np.outer(one.alpha, one.alpha) - one.inverse for one in outputs]
    weights = [joint[owner[i]] if owner[i] == owner[j] else None for i, j in pairs]
    place = np.zeros((E * E, len(pairs)), dtype)
    for k, (i, j) in enumerate(pairs):
        a, b = owner[i], owner[j]
        place[a * E + b, k] += 1.0
        place[b * E + a, k] += 1.0 if i != j else 0.0
    numbers = [[getattr(one, name) for one in outputs] for name in _NUMBERS]
    offset, noise_var, signal_var = np.asarray(numbers, dtype=dtype)
    belongs = np.asarray([[float(k == a) for k in owner] for a in range(E)], dtype=dtype)
    half = np.stack([one.half for one in outputs])
    return Outputs(have, owner, weights, half, offset, noise_var, signal_var, belongs, place)


class Seen(NamedTuple):
    """What the pullback needs of a `Glance`: less to keep than all of it."""

    N: Array
    g: Array
    q: Array
    b: Array


class Found(NamedTuple):
    """Mean, covariance and cross-covariance, and what the pullback needs of them."""

    mean: Array
    covariance: Array
    cross: Array
    seen: Seen
    totals: Totals
    half: Array  # (E, n, 1): L⁻¹ q
    h: Array  # (C, D): Σ α q g
    kept: Array  # (E,): one, or zero where the variance was clipped


def found(model: Outputs, m: Array, S: Array, noise: bool, slopes: bool) -> Found:
    """The moments; with `slopes` the sums that derivatives need too."""
    seen = glance(model.have, m, S)
    E = model.offset.shape[0]
    mean = model.offset + model.belongs @ np.sum(seen.b, axis=1)
    h = (seen.g @ seen.b[:, :, None])[:, :, 0]
    half = model.half @ (model.belongs @ seen.q)[:, :, None]
    at_mean = model.signal_var - np.sum(half[:, :, 0] ** 2, axis=1)
    sums = totals(model.have, seen, model.weights, slopes)
    variance = at_mean + (model.place @ (sums.value - sums.of_means))[:: E + 1]
    kept = np.asarray(variance > 0.0, dtype=S.dtype)
    if not np.all(kept):
        weights = [
            W if kept[model.owner[i]] else None
            for (i, _), W in zip(model.have.pairs, model.weights, strict=True)
        ]
        sums = totals(model.have, seen, weights, slopes)
    covariance = (model.place @ sums.value).reshape(E, E)
    variances = np.maximum(covariance.reshape(-1)[:: E + 1] + kept * at_mean, 0.0)
    covariance.reshape(-1)[:: E + 1] = variances + model.noise_var if noise else variances
    cross = S @ (model.belongs @ h).T
    kept_of = Seen(seen.N, seen.g, seen.q, seen.b)
    return Found(mean, covariance, cross, kept_of, sums, half, h, kept)


def pulled(
    model: Outputs, S: Array, now: Found, mean_bar: Array, covariance_bar: Array, cross_bar: Array
) -> tuple[Array, Array]:
    """The derivatives by m and by S, which is symmetric."""
    seen, scale = now.seen, covariance_bar.reshape(-1) @ model.place
    m_bar, S_bar, once, twice = pulled_pairs(model.have, now.totals, scale)
    once_more = _through_parts(model, S, now, mean_bar, covariance_bar, cross_bar)
    once, twice = once + once_more, twice + once_more
    column = (model.belongs.T @ cross_bar.T)[:, :, None]  # (C, D, 1), of each part's output
    turned = seen.N @ (S @ column)
    m_bar = m_bar + np.sum((seen.g @ once[:, :, None])[:, :, 0], axis=0)
    m_bar -= np.sum(np.sum(seen.b, axis=1)[:, None] * turned[:, :, 0], axis=0)
    S_bar += 0.5 * np.sum((seen.g * twice[:, None, :]) @ seen.g.transpose(0, 2, 1), axis=0)
    C, D, _ = seen.N.shape
    S_bar -= 0.5 * (np.sum(once, axis=1) @ seen.N.reshape(C, D * D)).reshape(D, D)
    S_bar += (column - turned)[:, :, 0].T @ now.h
    return m_bar, symmetric_part(S_bar)


def _through_parts(
    model: Outputs, S: Array, now: Found, mean_bar: Array, covariance_bar: Array, cross_bar: Array
) -> Array:
    """The derivatives by log q, (C, n), of means, of ``S h`` and of the variances at m."""
    seen, owner = now.seen, model.owner
    along = (S @ cross_bar).T[owner]
    through = mean_bar[owner][:, None] + (along[:, None, :] @ seen.g)[:, 0, :]
    solved = (model.half.transpose(0, 2, 1) @ now.half)[:, :, 0]
    variance_bar = now.kept * np.diagonal(covariance_bar)
    taken = (2.0 * variance_bar[:, None] * solved)[owner]
    return seen.b * through - seen.q * taken
