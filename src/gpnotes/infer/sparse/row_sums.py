"""The passes of sparse regression over the rows of data: sums, and then slopes.

Through waves either is made of sums over the rows that were formed once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple, cast

from ...fast import sparse as in_place
from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Rows
from ...ground.params import added, cotangent
from ...ground.threads import threads_for
from ...ground.xp import (
    Array,
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    as_array,
    diagonal,
    eye,
    in_double,
    solve_triangular,
    symmetric_part,
)
from ...model import means
from ...model.contracts import Mean
from ...model.gaussian_process import GP, differentiable_mean, residual_of, validate_data
from ...model.kernels import Kernel
from ...model.means import ConstantMean, ZeroMean
from ..interdomain.point_functionals import with_hooks
from ..interdomain.waves import WaveSums, WaveVariables
from ..known_noise import Noise, in_double_of, noise_of_chunk
from ..sufficient_statistics import Statistics
from .methods import SparseMethod
from .projection import Inducing

__all__ = ["Kept", "Pull", "Slopes", "Sums", "all_alike", "level_of", "validate_rows"]

_KEPT = 2**23  # entries of Φ that may be kept between the passes: 64 MiB, and its slopes as much

_Whitened = tuple[Matrix, Vector]  # V of some rows, and their gaps


class Kept:
    """Blocks that the first pass leaves to the second, as long as there is room for them.

    On a device these may take a share of its free memory. For sums of waves, the process's view of
    them, `seen`.
    """

    def __init__(self) -> None:
        self.seen: _Seen | None = None
        self._blocks: dict[int, in_place.Block] = {}
        self._whitened: dict[int, _Whitened] = {}
        self._room: int | None = None

    def put(self, start: int, block: in_place.Block) -> None:
        """Keep the block of the rows from `start`, if it has room."""
        if self._has_room(block.Phi):
            self._blocks[start] = block

    def get(self, start: int) -> in_place.Block | None:
        """Return the block of the rows from `start`, if it was kept."""
        return self._blocks.get(start)

    def put_whitened(self, start: int, whitened: _Whitened) -> None:
        """Keep the V (M, n) of the rows from `start` with their gaps, if there is room."""
        if self._has_room(whitened[0]):
            self._whitened[start] = whitened

    def take_whitened(self, start: int) -> _Whitened | None:
        """Return the values kept for the rows from `start`, and drop them."""
        if (block := self._blocks.pop(start, None)) is not None:
            return block.Phi.T, block.gap
        return self._whitened.pop(start, None)

    def _has_room(self, a: Matrix) -> bool:
        if self._room is None:
            self._room = memory.entries_to_keep(a, _KEPT)
        self._room -= math.prod(a.shape)
        return self._room >= 0


@dataclass(frozen=True, eq=False)
class Sums:
    """The first pass, a function of rows (X, y) that gives their statistics, with ``Φ = Vᵀ``.

    Parameters
    ----------
    gp : GP
        The process.
    Z : Matrix, shape (M, d)
        The inputs of the inducing variables.
    inducing : Inducing
        The prior of the inducing variables.
    method : SparseMethod
        The method, whose noise the statistics have.
    kept : Kept, optional
        Room for rows that the second pass will see next, in this process.
    noise : Noise, optional
        The noise of the rows, where each has its own.
    """

    gp: GP
    Z: Matrix
    inducing: Inducing
    method: SparseMethod
    kept: Kept | None = None
    noise: Noise | None = None

    def __call__(self, X: Matrix, y: Vector) -> Statistics:
        """The statistics of the rows (X, y)."""
        validate_rows(self.gp, self.Z, X, y)
        return self._call(X, y)

    def of_chunk(self, rows: Rows) -> Statistics:
        """The statistics of a chunk of rows, each with a noise of its own."""
        validate_rows(self.gp, self.Z, rows.X, rows.y)
        known = replace(self, noise=noise_of_chunk(self.gp, rows))
        return known._call(rows.X, rows.y)

    def _call(self, X: Matrix, y: Vector) -> Statistics:
        r = _residual(self.gp, X, y)
        blocks = self.inducing.blocks(X.shape[0])
        parts = (self._rows(rows.start, in_double(X[rows, :]), r[rows]) for rows in blocks)
        return reduce(add, parts)

    @threads_for(lambda self, start, X, r: self.inducing.size**2 * X.shape[0])
    def _rows(self, start: int, X: Matrix, r: Vector) -> Statistics:
        xp = array_namespace(X)
        V, gap = self._whitened(start, X)
        noise_var = _noise_of(self, start, X).variance
        noise = self.method.noise(gap, noise_var)
        scale = 1.0
        if isinstance(noise_var, float) and self.method.share == 0.0:
            scale = noise_var  # one noise for all rows: M² sums are divided, not n M numbers
        else:  # each row by its own deviation
            V, r = V / xp.sqrt(noise)[None, :], r / xp.sqrt(noise)
        gram, cross = self._products(V, r)
        return Statistics(
            X.shape[0],
            gram / scale,
            cross / scale,
            float(xp.sum(r * r)) / scale,
            float(xp.sum(xp.log(noise))),
            float(xp.sum(gap if isinstance(noise_var, float) else gap / noise_var)),
            self.method.correction(gap, noise_var),
        )

    def of_waves(self, sums: WaveSums) -> Statistics:
        """Return the statistics of readings given by their sums, for a method with one noise."""
        seen = _seen_by(self, sums)
        xp = array_namespace(seen.T)
        noise_var = self.gp.noise_var
        gram = symmetric_part(seen.T @ seen.gram @ xp.matrix_transpose(seen.T))
        prior = sums.count * self.inducing.kernel._diag(seen.place)
        # Σᵢ gᵢ = n σ_f² − tr VᵀV, and the trace is that of V Vᵀ
        gap = xp.clip(prior - xp.sum(diagonal(gram)), 0.0, None)
        # Σ r² = Σ ỹ² + n apart², since ỹ sums to zero
        return Statistics(
            sums.count,
            gram / noise_var,
            seen.T @ seen.products / noise_var,
            (sums.squares + sums.count * seen.apart**2) / noise_var,
            sums.count * math.log(noise_var),
            float(gap[0]),
            self.method.correction(gap, noise_var),
        )

    def _products(self, V: Matrix, r: Vector) -> tuple[Matrix, Vector]:
        Phi = array_namespace(V).matrix_transpose(V)
        if self.inducing.in_place:
            return in_place.products(Phi, r)
        return V @ Phi, V @ r

    def _whitened(self, start: int, X: Matrix) -> tuple[Matrix, Vector]:
        kernel = self.inducing.kernel
        if self.kept is None:
            return self.inducing.whiten(X)
        if not (self.inducing.in_place and in_place.supports(kernel, X)):
            whitened = self.inducing.whiten(X)
            self.kept.put_whitened(start, whitened)
            return whitened
        block = in_place.whiten(kernel, self.inducing.Z, self.inducing.factor.lower, X)
        self.kept.put(start, block)
        return block.Phi.T, block.gap


@dataclass(frozen=True, eq=False)
class Slopes:
    """The derivatives that some rows bring; those of two sets of rows add.

    Parameters
    ----------
    kernel_bar : Kernel
        The derivatives by the kernel.
    Z_bar : Matrix, shape (M, d)
        The derivatives by Z.
    moved : Matrix, shape (M, M)
        ``V_bar Vᵀ``; zero where `regression` knows it from the sums, where all rows have one
        noise.
    noise_bar : float
        The derivative by σ².
    mean_bar : Mean
        The derivatives by the mean.
    """

    kernel_bar: Kernel
    Z_bar: Matrix
    moved: Matrix
    noise_bar: float
    mean_bar: Mean

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(
            added(self.kernel_bar, other.kernel_bar),
            self.Z_bar + other.Z_bar,
            self.moved + other.moved,
            self.noise_bar + other.noise_bar,
            added(self.mean_bar, other.mean_bar),
        )


@dataclass(frozen=True, eq=False)
class Pull:
    """The second pass, a function of rows (X, y) that gives their `Slopes`.

    Where all rows have one noise, they have one derivative by their gaps too.

    Parameters
    ----------
    gp, Z, inducing, method, kept, noise
        As in `Sums`.
    weight_mean : Vector, shape (M,)
        w of ``α = (r − Vᵀw) / λ``.
    precision : Matrix, shape (M, M)
        B⁻¹.
    quadratic_noise : float, default 0.0
        λ of α where all rows have one noise: σ² but for the upper bound, whose quadratic form has
        more noise, and a w of its own. Where each has its own, how many times that noise it is.
    gap_bar : float, default 0.0
        The derivative by each gap where all rows have one noise; of the upper bound where each has
        its own, that by ``gᵢ/λᵢ``.
    """

    gp: GP
    Z: Matrix
    inducing: Inducing
    method: SparseMethod
    weight_mean: Vector
    precision: Matrix
    quadratic_noise: float = 0.0
    gap_bar: float = 0.0
    kept: Kept | None = None
    noise: Noise | None = None

    def __call__(self, X: Matrix, y: Vector) -> Slopes:
        """The slopes of the rows (X, y)."""
        validate_rows(self.gp, self.Z, X, y)
        return self._call(X, y)

    def of_chunk(self, rows: Rows) -> Slopes:
        """The slopes of a chunk of rows, each with a noise of its own."""
        validate_rows(self.gp, self.Z, rows.X, rows.y)
        known = replace(self, noise=noise_of_chunk(self.gp, rows))
        return known._call(rows.X, rows.y)

    def _call(self, X: Matrix, y: Vector) -> Slopes:
        r = _residual(self.gp, X, y)
        blocks = list(self.inducing.blocks(X.shape[0]))
        if all_alike(self) and self.inducing.in_place:
            return self._all_in_place(X, r, blocks)
        return reduce(add, (self._rows(rows.start, X[rows, :], r[rows]) for rows in blocks))

    def of_waves(self, sums: WaveSums) -> Slopes:
        """Return the slopes of readings given by their sums, for a method with one noise.

        With ``K_uf = diag(c) H`` and ``V = T H``: ``c_bar = diag(L_u⁻ᵀ V_bar Hᵀ)``, where the Gram
        matrix of H and its products with r make ``V_bar Hᵀ``.

        """
        seen = _seen_by(self, sums)
        xp = array_namespace(seen.T)
        inducing, w = self.inducing, self.weight_mean
        # H α = (H r − H Hᵀ Tᵀw)/λ and 1ᵀα λ = Σ r − (H 1)ᵀ Tᵀw: each row of data is in the sums
        pulled_back = xp.matrix_transpose(seen.T) @ w
        alpha_H = (seen.products - seen.gram @ pulled_back) / self.quadratic_noise
        alpha_1 = sums.count * seen.apart - float(xp.sum(seen.waves * pulled_back))
        middle = self.precision / self.gp.noise_var + 2.0 * self.gap_bar * eye(w.shape[0], w)
        # V_bar Hᵀ of the V_bar of `_rows`, whose last two terms are −(B⁻¹/σ² + 2 g_bar I) V
        bar_H = w[:, None] * alpha_H[None, :] - middle @ (seen.T @ seen.gram)
        K_bar_H = solve_triangular(inducing.factor.lower, bar_H, transpose=True)
        variables = cast(WaveVariables[Kernel], inducing.variables)
        kernel_bar = variables.amplitudes_pullback(inducing.kernel, diagonal(K_bar_H))
        gaps_bar = xp.full_like(seen.place[:, 0], sums.count * self.gap_bar)
        diag_bar, _ = inducing.kernel._diag_pullback(seen.place, gaps_bar)
        # no inputs can be moved: an array without rows stands for the derivatives by them
        return Slopes(
            added(kernel_bar, diag_bar),
            inducing.Z,
            xp.zeros_like(self.precision),
            0.0,
            _level_bar(differentiable_mean(self.gp), alpha_1 / self.quadratic_noise),
        )

    @threads_for(lambda self, start, rows, r: self.inducing.size**2 * rows.shape[0])
    def _rows(self, start: int, rows: Matrix, r: Vector) -> Slopes:
        """With ``V_bar = w αᵀ − B⁻¹ V Λ⁻¹ − 2 V diag(g_bar)``, for V's share of Q and of the gaps.

        Q depends on K_uu and K_uf alone: ``K_uf_bar = L_u⁻ᵀ V_bar``, and by K_uu the last
        term, ``−½ L_u⁻ᵀ (V_bar Vᵀ) L_u⁻¹``.
        """
        X = in_double(rows)
        xp = array_namespace(X)
        # dropped with that: no later pass needs it
        kept = self.kept.take_whitened(start) if self.kept else None
        V, gap = kept or self.inducing.whiten(X)
        own = _noise_of(self, start, rows)
        noise = self.method.noise(gap, own.variance)
        solved = self.precision @ V
        error = r - xp.matrix_transpose(V) @ self.weight_mean
        explained = xp.sum(V * solved, axis=0)
        alpha, gap_bar, noise_bar = self._row_bars(error, own, noise, gap, explained)
        # The evidence has V by Q = VᵀV and by the gaps g = k(x, x) − diag Q, with (Q + Λ)⁻¹ r = α,
        # V α = w and V (Q + Λ)⁻¹ = B⁻¹ V Λ⁻¹
        V_bar = self.weight_mean[:, None] * alpha[None, :] - solved / noise[None, :]
        V_bar = V_bar - 2.0 * V * gap_bar[None, :]
        K_bar = solve_triangular(self.inducing.factor.lower, V_bar, transpose=True)
        kernel = self.inducing.kernel
        kernel_bar, Z_bar = with_hooks(self.inducing.variables)._cross_pullback(kernel, X, K_bar)
        diag_bar, _ = kernel._diag_pullback(X, gap_bar)
        moved = xp.zeros_like(self.precision)
        if not all_alike(self):
            moved = V_bar @ xp.matrix_transpose(V)
        mean_bar = self._mean_bar(rows, alpha)
        return Slopes(added(kernel_bar, diag_bar), Z_bar, moved, noise_bar, mean_bar)

    def _row_bars(
        self, error: Vector, own: Noise, noise: Vector, gap: Vector, solved: Vector
    ) -> tuple[Vector, Vector, float]:
        """α, the derivatives by the gaps, and by σ²; of rows with one noise these come later."""
        xp = array_namespace(error)
        if all_alike(self):
            return error / self.quadratic_noise, xp.full_like(gap, self.gap_bar), 0.0
        if self.method.upper:
            return self._upper_bars(error, own, noise, gap, solved)
        alpha = error / noise
        # λ_bar = ½ (α² − diag (Q + Λ)⁻¹)
        lambda_bar = 0.5 * (alpha * alpha - (1.0 - solved / noise) / noise)
        gap_bar, by_noise = self.method.correction_bars(gap, own.variance)
        noise_bar = float(xp.sum(own.share * (lambda_bar + by_noise)))
        return alpha, gap_bar + self.method.share * lambda_bar, noise_bar

    def _upper_bars(
        self, error: Vector, own: Noise, noise: Vector, gap: Vector, solved: Vector
    ) -> tuple[Vector, Vector, float]:
        """The same of the upper bound, whose quadratic form has the noise ``s λ``.

        With ``s = 1 + Σ gᵢ/λᵢ`` and its derivative `gap_bar`, ``½ αᵀΛα``:
        ``λ_bar = ½ (s α² − diag (Q + Λ)⁻¹) − gap_bar g/λ²``.
        """
        xp = array_namespace(error)
        alpha = error / (self.quadratic_noise * noise)
        lambda_bar = 0.5 * (self.quadratic_noise * alpha * alpha - (1.0 - solved / noise) / noise)
        lambda_bar = lambda_bar - self.gap_bar * gap / (noise * noise)
        return alpha, self.gap_bar / noise, float(xp.sum(own.share * lambda_bar))

    @threads_for(lambda self, X, r, blocks: self.inducing.size**2 * X.shape[0])
    def _all_in_place(self, X: Matrix, r: Vector, blocks: list[slice]) -> Slopes:
        """The same for NumPy's arrays, rows with one noise, and kernels that work in place.

        There ``K_uf_bar = L_u⁻ᵀ w αᵀ − L_u⁻ᵀ (B⁻¹/σ² + 2 g_bar I) V``, in one product.
        """
        own = self.inducing.kernel
        kernel, lower, Z = own, self.inducing.factor.lower, self.inducing.Z
        assert in_place.supports(kernel, X)
        middle = self.precision / self.gp.noise_var + 2.0 * self.gap_bar * eye(Z.shape[0], Z)
        work = in_place.Workspace(
            kernel,
            -solve_triangular(lower, middle, transpose=True),
            solve_triangular(lower, self.weight_mean, transpose=True),
            self.weight_mean,
            self.quadratic_noise,
        )
        lengths_bar: Numbers = 0.0
        xp = array_namespace(X)
        Z_bar, alphas = xp.zeros_like(Z), []
        for rows in blocks:
            part = in_double(X[rows, :])
            block = self.kept.get(rows.start) if self.kept else None
            block = block or in_place.whiten(kernel, Z, lower, part)
            W, alpha = work.carried(block, r[rows])
            by_lengths, by_Z = in_place.pull_of_distances(kernel, block.pairs, W)
            lengths_bar, Z_bar = lengths_bar + by_lengths, Z_bar + by_Z
            alphas.append(alpha)
        variance_bar = X.shape[0] * self.gap_bar
        kernel_bar = cotangent(own, variance=variance_bar, lengthscale=lengths_bar)
        mean_bar = self._mean_bar(X, xp.concat(alphas))
        return Slopes(kernel_bar, Z_bar, xp.zeros_like(self.precision), 0.0, mean_bar)

    def _mean_bar(self, rows: Matrix, alpha: Vector) -> Mean:
        like = array_namespace(rows).astype(alpha, rows.dtype)
        return means.with_hooks(differentiable_mean(self.gp))._pullback(rows, like)[0]


def all_alike(work: Sums | Pull) -> bool:
    """Return True if all rows have one noise, and one derivative by their gap."""
    return work.method.constant and work.noise is None


def _noise_of(work: Sums | Pull, start: int, X: Matrix) -> Noise:
    """Return the noise of the rows X; the first has the number `start`."""
    if work.noise is None:
        return Noise(work.gp.noise_var)
    return in_double_of(work.noise.of(slice(start, start + X.shape[0])))


def validate_rows(gp: GP, Z: Matrix, X: Matrix, y: Array) -> None:
    """Raise for rows that do not go with the process and with the inputs Z."""
    validate_data(gp, X, y, columns=Z.shape[1])
    _check.alike(X, "X", Z, "inducing")


def _residual(gp: GP, X: Matrix, y: Array) -> Vector:
    """The residual in float64."""
    return _check.squarable(in_double(residual_of(gp, X, y)), "y − m(X)")


class _Seen(NamedTuple):
    """Sums of readings as a process sees them through the waves H of its variables.

    ``V = T H``, ``H Hᵀ``, ``H 1`` and ``H r``, by how much the mean of y is apart from that of the
    process, and one place (1, 1) for all, since the prior is the same everywhere.
    """

    T: Matrix
    gram: Matrix
    waves: Vector
    products: Vector
    apart: float
    place: Matrix


def _seen_by(work: Sums | Pull, sums: WaveSums) -> _Seen:
    if work.kept is not None and work.kept.seen is not None:
        return work.kept.seen
    inducing = work.inducing
    variables = cast(WaveVariables[Kernel], inducing.variables)
    gram, waves, products = sums.moments(variables)
    apart = sums.mean - level_of(work.gp)
    amplitudes = eye(variables.size, gram) * variables.amplitudes(inducing.kernel)
    T = solve_triangular(inducing.factor.lower, amplitudes)
    place = as_array([[sums.circle[0]]], gram)
    # r = ỹ + apart: the process may have another level than the mean of y
    seen = _Seen(T, gram, waves, products + apart * waves, apart, place)
    if work.kept is not None:
        work.kept.seen = seen
    return seen


def level_of(gp: GP) -> float:
    """The mean of a process, if it is the same everywhere."""
    if type(gp.mean) is ConstantMean:
        return gp.mean.value
    if type(gp.mean) is ZeroMean:
        return 0.0
    wanted = "a ZeroMean or a ConstantMean, since sums of waves forget where y was read"
    raise TypeError(f"gp.mean must be {wanted}; got {gp.mean!r}")


def _level_bar(mean: Mean, bar: float) -> Mean:
    """The derivatives by a mean of `level_of`, given that by its value."""
    return cotangent(mean, value=bar) if type(mean) is ConstantMean else cotangent(mean)
