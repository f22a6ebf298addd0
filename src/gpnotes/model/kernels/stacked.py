"""Matrices of many kernels of one form at once, (B, n, n), and the way back from their derivatives.

The kernels differ in their numbers, or the data do, or both. Where one matrix is small, a library
takes as long to begin an operation as to do it, and begins as many for a stack as for one matrix.
Squared distances are sums of squared differences, whatever the number of columns: they are formed
once for all kernels of the same data, and multiplied by the lengthscales in one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from functools import cached_property, reduce, singledispatch
from operator import mul
from typing import Any, TypeAlias, cast

from ...ground.params import cotangent
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    array_namespace,
    as_array,
    diagonal,
    eye,
    kept_where,
    whole_power,
)
from .algebra import ActiveDims, Constant, Kernel, Power, Product, Scaled, Sum
from .linear import Linear, Polynomial
from .periodic import Periodic
from .pullback_sums import added, products_of_others
from .stationary import RationalQuadratic, Stationary, bare
from .white import White

__all__ = ["Gaps", "Pull", "form", "matrices"]

Pull: TypeAlias = Callable[[Array], Kernel]
"""From derivatives (B, n, n) to one kernel that holds those of all, with a leading axis B."""


class Gaps:
    """The differences of all pairs of rows of inputs, (n, d) or, for each of a stack, (B, n, d)."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def of(self, columns: tuple[int, ...]) -> Gaps:
        """Those of some columns."""
        xp = array_namespace(self.X)
        return Gaps(xp.stack([self.X[..., k] for k in columns], axis=-1))

    @cached_property
    def differences(self) -> Array:
        """Those of each column, (d, n, n) or (B, d, n, n)."""
        columns = array_namespace(self.X).matrix_transpose(self.X)
        return columns[..., :, None] - columns[..., None, :]

    def squared(self, units: Array) -> Array:
        """Their squares, (d, n²) or (B, d, n²), in a unit for each column."""
        xp, (n, d) = array_namespace(self.X), self.X.shape[-2:]
        gaps = self.differences / units[:, None, None]
        return xp.reshape(gaps * gaps, (*self.X.shape[:-2], d, n * n))


def form(kernel: Kernel) -> Hashable:
    """Return what kernels of one stack have in common; None for one that no stack takes.

    Stationary kernels without further hyperparameters are taken, `RationalQuadratic`, `Periodic`,
    `Linear`, `Polynomial`, `Constant`, `White`, and sums, products, multiples, powers and choices
    of columns of what is taken.
    """
    kind, known = type(kernel), cast(Any, kernel)
    plain = isinstance(kernel, Stationary) and len(fields(kernel)) == 2 and kernel.of_pairs
    if plain or kind in (RationalQuadratic, Periodic, Linear, Polynomial):
        return kind, *(_size(getattr(kernel, item.name)) for item in fields(kernel))
    if kind in (Sum, Product):
        return _form_of(kind, known.names, *known.parts)
    if kind is Scaled:
        return _form_of(kind, (), known.kernel)
    if kind is Power:
        return _form_of(kind, (known.exponent,), known.kernel)
    if kind is ActiveDims:
        return None if known.seeks_columns else _form_of(kind, known.numbers, known.kernel)
    return kind if kind in (Constant, White) else None


def _form_of(kind: type, what: tuple[object, ...], *parts: Kernel) -> Hashable:
    forms = tuple(map(form, parts))
    return None if None in forms else (kind, what, *forms)


def _size(value: Numbers) -> int:
    """The number of a parameter's entries; 0 for a number, and a whole one that stays itself."""
    return value if isinstance(value, int) else 0 if isinstance(value, float) else value.shape[0]


def matrices(kernels: Sequence[Kernel], gaps: Gaps) -> tuple[Array, Pull]:
    """Return the matrices of kernels of one `form`, (B, n, n) or less, and the pullback of all.

    Where no part looks at the inputs they may be (B, 1, 1), to be broadcast.
    """
    return _stacked(kernels[0], kernels, gaps)


@singledispatch
def _stacked(first: Kernel, kernels: Sequence[Kernel], gaps: Gaps) -> tuple[Array, Pull]:
    raise TypeError(f"kernels must be such as `form` takes; got {first!r}")


@_stacked.register
def _(first: Stationary, kernels: Sequence[Stationary], gaps: Gaps) -> tuple[Array, Pull]:
    _, K, bars = _of_distances(first, kernels, gaps)
    return K, lambda K_bar: cotangent(first, **bars(K_bar))


@_stacked.register
def _(
    first: RationalQuadratic, kernels: Sequence[RationalQuadratic], gaps: Gaps
) -> tuple[Array, Pull]:
    variances, alphas = (_column(kernels, name, gaps.X) for name in ("variance", "alpha"))
    all_of_them = cast(RationalQuadratic, bare(RationalQuadratic, (variances, alphas)))
    q, K, bars = _of_distances(all_of_them, kernels, gaps)

    def pull(K_bar: Array) -> Kernel:
        terms = variances * all_of_them._by_alpha(q, K_bar)
        alpha = array_namespace(q).sum(terms, axis=(1, 2))
        return cotangent(first, alpha=alpha, **bars(K_bar))

    return K, pull


def _of_distances(
    profiles: Stationary, kernels: Sequence[Stationary], gaps: Gaps
) -> tuple[Array, Array, Callable[[Array], dict[str, Array]]]:
    """Squared distances and matrices, (B, n, n), and the way back to variances and lengths."""
    X, xp = gaps.X, array_namespace(gaps.X)
    (n, d), many = X.shape[-2:], len(kernels)
    lengths, variances = _per_column(kernels, "lengthscale", X), _column(kernels, "variance", X)
    squares = gaps.squared(lengths[0, :])
    turned = xp.matrix_transpose(squares)
    shares = (lengths[:1, :] / lengths) ** 2
    shared = squares.ndim == 2
    q = shares @ squares if shared else shares[:, None, :] @ squares
    q = xp.reshape(q, (many, n, n))
    profile = profiles._profile(q)

    def bars(K_bar: Array) -> dict[str, Array]:
        by_variance = xp.sum(K_bar * profile, axis=(1, 2))
        # where points coincide a profile may have no slope, and no length matters
        q_bar = kept_where(q > 0.0, variances * K_bar * profiles._slope(q))
        flat = xp.reshape(q_bar, (many, n * n) if shared else (many, 1, n * n))
        by_squares = xp.reshape(flat @ turned, (many, d))
        by_lengths = -2.0 * by_squares * shares / lengths
        return {"variance": by_variance, "lengthscale": _like(kernels, "lengthscale", by_lengths)}

    return q, variances * profile, bars


@_stacked.register
def _(first: Periodic, kernels: Sequence[Periodic], gaps: Gaps) -> tuple[Array, Pull]:
    X, xp = gaps.X, array_namespace(gaps.X)
    variances = _column(kernels, "variance", X)
    turns, lengths = (
        _per_column(kernels, name, X)[:, :, None, None] for name in ("period", "lengthscale")
    )
    angles = (math.pi / turns) * gaps.differences
    chords = 2.0 * xp.sin(angles) / lengths
    profile = xp.exp(-0.5 * xp.sum(chords * chords, axis=1))

    def pull(K_bar: Array) -> Kernel:
        by_variance = xp.sum(K_bar * profile, axis=(1, 2))
        weighted = (variances * K_bar * profile)[:, None, :, :] * chords
        by_lengths = xp.sum(weighted * chords / lengths, axis=(2, 3))
        by_turns = xp.sum(weighted * xp.cos(angles) * angles, axis=(2, 3))
        by_periods = by_turns * (2.0 / (turns * lengths))[:, :, 0, 0]
        return cotangent(
            first,
            variance=by_variance,
            lengthscale=_like(kernels, "lengthscale", by_lengths),
            period=_like(kernels, "period", by_periods),
        )

    return variances * profile, pull


@_stacked.register
def _(first: Linear, kernels: Sequence[Linear], gaps: Gaps) -> tuple[Array, Pull]:
    X, xp = gaps.X, array_namespace(gaps.X)
    u = X * _per_column(kernels, "variance", X)[:, None, :] ** 0.5

    def pull(K_bar: Array) -> Kernel:
        by_slopes = xp.sum(X * (K_bar @ X), axis=1)
        return cotangent(first, variance=_like(kernels, "variance", by_slopes))

    return u @ xp.matrix_transpose(u), pull


@_stacked.register
def _(first: Polynomial, kernels: Sequence[Polynomial], gaps: Gaps) -> tuple[Array, Pull]:
    xp = array_namespace(gaps.X)
    inner, pull_inner = matrices([kernel._inner for kernel in kernels], gaps)
    K, by_base = _raised(inner + _column(kernels, "bias", gaps.X), first.degree)

    def pull(K_bar: Array) -> Kernel:
        base_bar = by_base(K_bar)
        inner_bar = cast(Linear, pull_inner(base_bar))
        by_bias = xp.sum(base_bar, axis=(1, 2))
        return cotangent(first, variance=inner_bar.variance, bias=by_bias)

    return K, pull


@_stacked.register
def _(first: Sum, kernels: Sequence[Sum], gaps: Gaps) -> tuple[Array, Pull]:
    parts, pulls = _parts(kernels, gaps)
    return added(parts), lambda K_bar: cotangent(first, parts=tuple(p(K_bar) for p in pulls))


@_stacked.register
def _(first: Product, kernels: Sequence[Product], gaps: Gaps) -> tuple[Array, Pull]:
    parts, pulls = _parts(kernels, gaps)

    def pull(K_bar: Array) -> Kernel:
        others = products_of_others(parts)
        return cotangent(
            first, parts=tuple(p(K_bar * k) for p, k in zip(pulls, others, strict=True))
        )

    return reduce(mul, parts), pull


def _parts(
    kernels: Sequence[Sum] | Sequence[Product], gaps: Gaps
) -> tuple[list[Array], list[Pull]]:
    each = zip(*(kernel.parts for kernel in kernels), strict=True)
    parts, pulls = zip(*(matrices(alike, gaps) for alike in each), strict=True)
    return list(parts), list(pulls)


@_stacked.register
def _(first: Scaled, kernels: Sequence[Scaled], gaps: Gaps) -> tuple[Array, Pull]:
    scales, xp = _column(kernels, "scale", gaps.X), array_namespace(gaps.X)
    K, pull = matrices([kernel.kernel for kernel in kernels], gaps)

    def pulled(K_bar: Array) -> Kernel:
        by_scale = xp.sum(K_bar * K, axis=(1, 2))
        return cotangent(first, scale=by_scale, kernel=pull(scales * K_bar))

    return scales * K, pulled


@_stacked.register
def _(first: Power, kernels: Sequence[Power], gaps: Gaps) -> tuple[Array, Pull]:
    k, pull = matrices([kernel.kernel for kernel in kernels], gaps)
    K, by_k = _raised(k, first.exponent)
    return K, lambda K_bar: cotangent(first, kernel=pull(by_k(K_bar)))


def _raised(base: Array, exponent: int) -> tuple[Array, Callable[[Array], Array]]:
    """A whole power entry by entry, and the way back to its base."""
    return whole_power(
        base, exponent
    ), lambda bar: bar * (exponent * whole_power(base, exponent - 1))


@_stacked.register
def _(first: ActiveDims, kernels: Sequence[ActiveDims], gaps: Gaps) -> tuple[Array, Pull]:
    K, pull = matrices([kernel.kernel for kernel in kernels], gaps.of(first.places))
    return K, lambda K_bar: cotangent(first, kernel=pull(K_bar))


@_stacked.register
def _(first: Constant, kernels: Sequence[Constant], gaps: Gaps) -> tuple[Array, Pull]:
    xp = array_namespace(gaps.X)
    variances = _column(kernels, "variance", gaps.X)
    return variances, lambda K_bar: cotangent(first, variance=xp.sum(K_bar, axis=(1, 2)))


@_stacked.register
def _(first: White, kernels: Sequence[White], gaps: Gaps) -> tuple[Array, Pull]:
    X, xp = gaps.X, array_namespace(gaps.X)
    variances = _column(kernels, "variance", X)

    def pull(K_bar: Array) -> Kernel:
        return cotangent(first, variance=xp.sum(diagonal(K_bar), axis=1))

    return variances * eye(X.shape[-2], X), pull


def _column(kernels: Sequence[Kernel], name: str, like: Array) -> Array:
    """A number of each kernel, (B, 1, 1)."""
    return as_array([[[getattr(kernel, name)]] for kernel in kernels], like)


def _per_column(kernels: Sequence[object], name: str, X: Array) -> Matrix:
    """A number of each kernel for each column, (B, d)."""
    each = [getattr(kernel, name) for kernel in kernels]
    if isinstance(each[0], float):
        return as_array([[value] * X.shape[-1] for value in each], X)
    return array_namespace(X).stack(each)


def _like(kernels: Sequence[object], name: str, terms: Matrix) -> Array:
    """Derivatives for each column, (B, d), in the shape of a parameter: summed, (B,), for one."""
    one = isinstance(getattr(kernels[0], name), float)
    return array_namespace(terms).sum(terms, axis=1) if one else terms
