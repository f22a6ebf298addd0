"""Evidences of several exact processes, with gradients, from one stack of matrices.

It is what `exact` has for one process on arrays of any library, with an axis more in front, for
kernels of one `form`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from ..ground import memory
from ..ground.chunks import Rows
from ..ground.late_reads import trials
from ..ground.params import cotangent, leaves
from ..ground.threads import threads_for
from ..ground.xp import (
    LOG_2PI,
    Array,
    HostVector,
    Numbers,
    Vector,
    array_namespace,
    as_array,
    cholesky_factor,
    device,
    diagonal,
    epsilon,
    eye,
    is_numpy_namespace,
    to_numpy,
    triangular_inverses,
    zeros,
)
from ..model import means
from ..model.gaussian_process import GP, fitted_mean, residual_of
from ..model.kernels import Kernel
from ..model.kernels.stacked import Gaps, form, matrices
from ..model.means import BasisMean, ZeroMean
from .known_noise import noise_of

__all__ = ["KIND", "Answer", "Asked", "answers_to", "is_stacked"]

KIND = "evidence and gradient"
"""What models that go on in step ask for."""

_ON_HOST = 64  # rows up to which NumPy's stacks are faster than our path for one matrix
_ELSEWHERE = 512  # and up to which another library begins operations for longer than it does them
_LOST = 0.25  # of the digits: as of `exact.warn_of_rounding`


class Asked(NamedTuple):
    """An evidence that is asked for, of which a fit, which is `quiet`, wants no warnings."""

    gp: GP
    rows: Rows
    quiet: bool


def is_stacked(gp: GP, rows: Rows) -> bool:
    """Tell if evidences of processes like one, given such data, are computed as one."""
    most = _ON_HOST if is_numpy_namespace(array_namespace(rows.X)) else _ELSEWHERE
    known = not isinstance(gp.mean, BasisMean)
    return known and rows.X.shape[0] <= most and form(gp.kernel) is not None


Answer: TypeAlias = tuple[float, GP] | None
"""Value and gradient; None for whoever is to compute them, and to tell what is told, alone."""


def answers_to(asked: Sequence[Asked]) -> list[Answer]:
    """The answers to all, in their order: those that are alike from one stack."""
    found: dict[int, Answer] = {}
    for numbers in _groups(asked):
        group = [asked[i] for i in numbers]
        found.update(zip(numbers, _answers_of_group(group), strict=True))
    return [found[i] for i in range(len(asked))]


def _groups(asked: Sequence[Asked]) -> Iterator[list[int]]:
    """Numbers of questions that are alike: kernels of one form, data of one kind and size.

    Smaller tables are filled up to the largest, which at most doubles the work.
    """
    alike: dict[object, list[int]] = {}
    for i, (gp, rows, *_) in enumerate(asked):
        X, one = rows.X, form(gp.kernel) if is_stacked(gp, rows) else None
        kind = (type(X), str(X.dtype), str(device(X)), X.shape[1])
        alike.setdefault((one, kind) if one else i, []).append(i)
    for numbers in alike.values():
        left = sorted(numbers, key=lambda i: -asked[i].rows.X.shape[0])
        while left:
            most = asked[left[0]].rows.X.shape[0]
            near = [i for i in left if 2 * asked[i].rows.X.shape[0] ** 3 >= most**3]
            X = asked[left[0]].rows.X
            for some in memory.blocks(len(near), X.shape[1] * most**2, like=X):
                yield near[some]
            left = left[len(near) :]


def _answers_of_group(asked: Sequence[Asked]) -> list[Answer]:
    """Those of one stack; if a matrix has no factor, of its halves, down to one model alone."""
    if len(asked) == 1:
        return [None]
    with np.errstate(all="ignore"):
        found = _found(asked)
    if found is None:
        half = len(asked) // 2
        return [*_answers_of_group(asked[:half]), *_answers_of_group(asked[half:])]
    return [found.of(b) for b in range(len(asked))]


class _Found(NamedTuple):
    """What a stack gives: arrays of a number each, on the host, and others where they are."""

    asked: Sequence[Asked]
    values: HostVector
    errors: HostVector
    by_noise: HostVector
    kernel_bar: Kernel
    alpha: Array

    def of(self, b: int) -> Answer:
        """Return the answer of the b-th model; None where numbers overflow or lost digits."""
        gp, rows, quiet = self.asked[b]
        value, n = float(self.values[b]), rows.X.shape[0]
        bar = _entry(self.kernel_bar, b)
        numbers = [value, float(self.by_noise[b]), *_floats_in(bar)]
        if not np.isfinite(numbers).all():
            return None
        if not quiet and self.errors[b] > epsilon(rows.X) ** _LOST * max(abs(value), n):
            return None
        mean_bar: Any = gp.mean
        if not isinstance(gp.mean, ZeroMean):
            mean_bar, _ = means.with_hooks(fitted_mean(gp))._pullback(rows.X, self.alpha[b, :n])
        return value, cotangent(gp, kernel=bar, noise_var=float(self.by_noise[b]), mean=mean_bar)


def _found(asked: Sequence[Asked]) -> _Found | None:
    for trial in trials(asked[0].rows.X):
        with trial:
            computed = _computed(asked)
    if computed is None:
        return None
    values, errors, by_noise, bar, alpha = computed
    numbers = to_numpy(values), to_numpy(errors), to_numpy(by_noise)
    return _Found(asked, *numbers, _read(bar), alpha)


@threads_for(lambda asked: asked[0].rows.X.shape[0] ** 3)
def _computed(asked: Sequence[Asked]) -> tuple[Array, Array, Array, Kernel, Array] | None:
    """Values, errors, derivatives by noise and kernel, and ``K_y⁻¹ r``; None without a factor."""
    data = _Data(asked)
    X, inside = data.X, data.inside
    xp, identity = array_namespace(X), eye(data.n, X)
    noise, share = data.noise
    K, pull = matrices([one.gp.kernel for one in asked], Gaps(X))
    pairs = None if inside is None else inside[:, :, None] * inside[:, None, :]
    K_y = (K if pairs is None else K * pairs) + noise[:, :, None] * identity
    if (lower := cholesky_factor(K_y)) is None:
        return None
    inverse = triangular_inverses(lower)
    turned = xp.matrix_transpose(inverse)
    half = inverse @ data.residual[:, :, None]
    alpha, precision = (turned @ half)[:, :, 0], turned @ inverse
    log_det = 2.0 * xp.sum(xp.log(diagonal(lower)), axis=1)
    values = -0.5 * (xp.sum(half * half, axis=(1, 2)) + log_det + data.spread)
    K_bar = 0.5 * (alpha[:, :, None] * alpha[:, None, :] - precision)
    by_noise = xp.sum(share * diagonal(K_bar), axis=1)
    # if no one asks for errors, any array of one number each does
    errors = values
    if not all(one.quiet for one in asked):  # who asks for `ExactPosterior.evidence_error`
        moved = diagonal(K_y) * (alpha * alpha + diagonal(precision))
        errors = 0.5 * epsilon(X) * xp.sum(moved, axis=1)
    # K was multiplied by the pairs, and so are the derivatives on their way back to it
    return values, errors, by_noise, pull(K_bar if pairs is None else K_bar * pairs), alpha


class _Data:
    """The data of several models, filled up to one number of rows: a row more is a reading of zero,
    of variance one, that has nothing in common with the others."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked = asked
        self._rows = [one.rows for one in asked]
        self._sizes = [rows.X.shape[0] for rows in self._rows]
        self.n = max(self._sizes)
        first = self._rows[0].X
        shared = all(rows.X is first for rows in self._rows)
        self.X = first if shared else self._filled([rows.X for rows in self._rows])
        filled = min(self._sizes) < self.n
        ones = [[float(i < size) for i in range(self.n)] for size in self._sizes]
        self.inside = as_array(ones, first) if filled else None

    @property
    def spread(self) -> Vector:
        """``n log 2π`` of each."""
        return as_array([size * LOG_2PI for size in self._sizes], self.X)

    @property
    def residual(self) -> Array:
        """What the observations have beyond the mean, (B, n), or (1, n) where all have the same."""
        each = [
            rows.y if isinstance(gp.mean, ZeroMean) else residual_of(gp, rows.X, rows.y)
            for gp, rows, *_ in self._asked
        ]
        return each[0][None, :] if all(one is each[0] for one in each) else self._filled(each)

    @property
    def noise(self) -> tuple[Array, Array]:
        """Its variances and their derivatives by the noise of the model, (B, n) or (B, 1)."""
        each = [noise_of(gp, rows) for gp, rows, *_ in self._asked]
        variance, share = (self._of_each(list(numbers)) for numbers in zip(*each, strict=True))
        if self.inside is None:
            return variance, share
        return variance * self.inside + (1.0 - self.inside), share * self.inside

    def _of_each(self, numbers: list[Numbers]) -> Array:
        if all(isinstance(one, float) for one in numbers):
            return as_array([[one] for one in numbers], self.X)
        xp = array_namespace(self.X)
        return self._filled([
            xp.full_like(rows.y, one) if isinstance(one, float) else one
            for one, rows in zip(numbers, self._rows, strict=True)
        ])  # fmt: skip

    def _filled(self, arrays: list[Array]) -> Array:
        """Arrays of different lengths as a stack, with zeros behind the shorter ones."""
        xp = array_namespace(arrays[0])
        return xp.stack([
            a if a.shape[0] == self.n
            else xp.concat([a, zeros((self.n - a.shape[0], *a.shape[1:]), a)])
            for a in arrays
        ])  # fmt: skip


def _read(bar: object) -> Any:
    """A cotangent with arrays of one number for each on the host."""
    return _changed(bar, lambda a: to_numpy(a) if a.ndim == 1 else a)


def _entry(bar: object, b: int) -> Any:
    """Return the entry of the b-th model."""
    return _changed(bar, lambda a: float(a[b]) if a.ndim == 1 else a[b, :])


def _changed(value: object, change: Callable[[Any], object]) -> object:
    if isinstance(value, tuple):
        return tuple(_changed(part, change) for part in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    bars = {}
    for item in fields(value):
        part = getattr(value, item.name)
        is_parameter = item.metadata.get("constraint", "fixed") != "fixed"
        bars[item.name] = change(part) if is_parameter else _changed(part, change)
    return cotangent(cast(Any, value), **bars)


def _floats_in(bar: Kernel) -> list[float]:
    return [leaf.value for leaf in leaves(bar) if isinstance(leaf.value, float)]
