"""Frequencies drawn from the spectral density of a kernel, and the features that they make.

By Bochner's theorem a stationary kernel is an average, ``k(x, z) = σ_f² E cos ω·(x − z)``, over
frequencies ω of a distribution of its own: normal for RBF, Student's t with 2ν degrees of freedom
for Matérn, normal with a gamma distributed precision for RationalQuadratic. An average over
frequencies drawn is a product of features. Those of a sum stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from ...fast import cosines
from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.late_reads import number
from ...ground.params import cotangent
from ...ground.random import RNG, Stream, stream_of
from ...ground.showing import summary
from ...ground.xp import (
    Array,
    Matrix,
    MatrixLike,
    Vector,
    array_namespace,
    as_array,
    diagonal,
    in_double,
    keep_copies,
)
from ...model.kernels import (
    RBF,
    ActiveDims,
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    Scaled,
    Stationary,
    Sum,
)
from ...model.kernels.pullback_sums import per_dimension
from ...model.kernels.summands import summands_of
from .feature_map import FeatureMap

__all__ = ["Frequencies", "Term", "draw_frequencies"]

FeatureKind = Literal["paired", "cosine"]

_FREEDOM: dict[type[Stationary], int] = {Matern12: 1, Matern32: 3, Matern52: 5}  # of Student's t
_KNOWN: tuple[type[Stationary], ...] = (RBF, *_FREEDOM, RationalQuadratic)
_TURN = 2.0 * math.pi


@dataclass(frozen=True)
class Term:
    """The term of a kernel that some features are for: one of its summands.

    Parameters
    ----------
    kind : type
        The class of that kernel, a subclass of `Stationary`.
    size : int
        The number of its features.
    columns : tuple of int
        The columns of the inputs that it looks at.
    alpha : float or None, default None
        The α of a `RationalQuadratic` that they were drawn for, which must stay.
    """

    kind: type[Stationary]
    size: int
    columns: tuple[int, ...]
    alpha: float | None = None

    def __str__(self) -> str:
        alpha = "" if self.alpha is None else f" with alpha {self.alpha:g}"
        return f"{self.kind.__name__} of columns {list(self.columns)}{alpha}"


@dataclass(frozen=True, eq=False)
class Frequencies(FeatureMap):
    """R frequencies for a lengthscale of one, with phases: a map from inputs to features.

    ``φⱼ(x) = σ_f √(2/R) cos(ωⱼ·x + βⱼ)`` with ``ωⱼ = unitⱼ / ℓ``, so that ``φ(x)·φ(z)`` has the
    mean k(x, z) over the draws. The hyperparameters stay with the kernel, so that a fit can move
    them while the draws stay; only the α of a `RationalQuadratic` must stay too. Where the kernel
    is a sum, each of its terms has features of its own. Made by `draw_frequencies`.

    Parameters
    ----------
    unit : Matrix, shape (R, d)
        The frequencies for a lengthscale of one; copied. Zero in columns that a term leaves out.
    phases : Vector, shape (R,)
        The phases β; copied.
    terms : tuple of Term, or type
        The terms of the kernels that they are for, in their order; for one of all features and
        columns its class, a subclass of `Stationary`.

    Notes
    -----
    Source: Rahimi & Recht (2007), algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, stream
    >>> X = np.asarray([[0.0], [1.0]])
    >>> Phi = draw_frequencies(RBF(), X, 20_000, rng=stream(1)).features(RBF(), X)
    >>> (Phi @ Phi.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    unit: Matrix
    phases: Vector
    terms: tuple[Term, ...] | type[Stationary]

    name: ClassVar[str] = "random features"

    __repr__ = summary

    def __post_init__(self) -> None:
        rows = _check.matrix(self.unit, "unit").shape[0]
        if 0 in self.unit.shape:
            shape = tuple(self.unit.shape)
            raise ValueError(f"unit must have at least one row and column; got {shape}")
        _check.alike(_check.vector(self.phases, "phases", size=rows), "phases", self.unit, "unit")
        if isinstance(self.terms, type) and issubclass(self.terms, Stationary):
            one = Term(self.terms, rows, tuple(range(self.unit.shape[1])))
            object.__setattr__(self, "terms", (one,))
        _require_terms(self.terms, rows)
        keep_copies(self, "unit", "phases")

    @property
    def like(self) -> Matrix:
        """`unit`, which is of the dtype and on the device of the inputs and features."""
        return self.unit

    def pullback(self, kernel: Kernel, X: Matrix, Phi_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry derivatives by the features back to the kernel and the inputs.

        Parameters
        ----------
        kernel, X
            As in `features`.
        Phi_bar : Matrix, shape (n, R)
            The derivatives by the features.

        Returns
        -------
        kernel_bar : Kernel
            The derivatives by the hyperparameters.
        X_bar : Matrix, shape (n, d)
            The derivatives by the inputs.

        Notes
        -----
        With ``P = ω·x + β``: ``P_bar = −σ_f √(2/R) sin P ∘ Phi_bar``, ``X_bar = P_bar ω``,
        ``ω_bar = P_barᵀ X`` and, for each lengthscale, ``ℓ_bar = −Σⱼ (ω ∘ ω_bar)ⱼ / ℓ``. O(n d R).
        """
        self.validate(kernel, X)
        _check.matrix(Phi_bar, "Phi_bar", rows=X.shape[0], columns=self.size)
        _check.alike(Phi_bar, "Phi_bar", X, "X")
        xp = array_namespace(X)
        P_bar = self.phase_bar(kernel, X, Phi_bar)
        weighted = xp.sum(Phi_bar * self._features(kernel, X), axis=0)
        omega_bar = xp.matrix_transpose(P_bar) @ X
        turns, _, _ = self.waves_of(kernel)
        return self.kernel_bar(kernel, weighted, omega_bar), P_bar @ (_TURN * turns)

    def kernel_bar(self, kernel: Kernel, weighted: Vector, omega_bar: Matrix) -> Kernel:
        """Each term's by its variance and, through ω, by its lengthscales; by α it is 0."""
        xp = array_namespace(weighted)
        bars = []
        for term, rows, leaf in self._leaves(kernel):
            total = number(xp.sum(weighted[rows]))
            # ω = unit / ℓ, so that dω/dℓ = −unit / ℓ²
            by_omega = -omega_bar[rows, :] * self.unit[rows, :] / self._lengths(term, leaf) ** 2
            own = array_namespace(by_omega).stack([by_omega[:, k] for k in term.columns], axis=1)
            alpha = {} if term.alpha is None else {"alpha": 0.0}
            # features are proportional to σ_f, the root of the variance: hence the 2
            bar = cotangent(
                leaf,
                variance=total / (2.0 * leaf.variance),
                lengthscale=per_dimension(own, leaf.lengthscale),
                **alpha,
            )
            bars.append((bar, total))
        return _assembled(kernel, iter(bars))[0]

    def _leaves(self, kernel: Kernel) -> Iterator[tuple[Term, slice, Stationary]]:
        """Each term with its features and its kernel."""
        start = 0
        for term, (leaf, _, _) in zip(self._terms, self._summands(kernel), strict=True):
            assert isinstance(leaf, Stationary)
            yield term, slice(start, start + term.size), leaf
            start += term.size

    @property
    def _terms(self) -> tuple[Term, ...]:
        assert not isinstance(self.terms, type)
        return self.terms

    def _summands(self, kernel: Kernel) -> Iterator[tuple[Kernel, tuple[int, ...], float]]:
        return summands_of(kernel, tuple(range(self.unit.shape[1])))

    def _lengths(self, term: Term, leaf: Stationary) -> float | Vector:
        """The lengthscale of a term for each column of X, 1 in those that it leaves out."""
        held, d = leaf.lengthscale, self.unit.shape[1]
        if isinstance(held, float) or term.columns == tuple(range(d)):
            return held
        xp = array_namespace(held)
        place = {k: i for i, k in enumerate(term.columns)}
        one = xp.ones_like(held[0])
        return xp.stack([held[place[k]] if k in place else one for k in range(d)])

    def validate_kernel(self, kernel: Kernel) -> Kernel:
        """The kernel, if these frequencies are for it; else a `TypeError`."""
        wanted = "; ".join(map(str, self._terms))
        if self._terms[1:] == () and len(self._terms[0].columns) == self.unit.shape[1]:
            wanted = f"a {self._terms[0].kind.__name__}"
        whole = isinstance(kernel, Kernel)
        found = list(self._summands(kernel)) if whole and _fits(kernel, self.unit) else []
        if [(type(leaf), dims) for leaf, dims, _ in found] != [
            (term.kind, term.columns) for term in self._terms
        ]:
            drawn = "for which the frequencies were drawn"
            raise TypeError(f"kernel must be {wanted}, {drawn}; got {kernel!r}")
        for term, (leaf, _, _) in zip(self._terms, found, strict=True):
            if isinstance(leaf, RationalQuadratic) and leaf.alpha != term.alpha:
                drawn = "for which the frequencies were drawn"
                raise ValueError(f"kernel.alpha must be {term.alpha}, {drawn}; got {leaf.alpha}")
        return kernel

    def _features(self, kernel: Kernel, X: Matrix) -> Matrix:
        return _waves(X, *self.waves_of(kernel))

    def gram_and_cross(self, kernel: Kernel, X: Matrix, r: Vector) -> tuple[Matrix, Vector]:
        """In place for NumPy's arrays of float64."""
        if not cosines.supports(X):
            return super().gram_and_cross(kernel, X, r)
        omega, offset, amplitude = self.waves_of(kernel)
        if isinstance(amplitude, float):
            return cosines.gram_and_cross(X, r, omega, offset, amplitude)
        # features of amplitude one first: a factor of each column scales M² sums, not n M waves
        products, sums = cosines.gram_and_cross(X, r, omega, offset, 1.0)
        return amplitude[:, None] * products * amplitude[None, :], amplitude * sums

    def omega_bar(self, kernel: Kernel, X: Matrix, Phi_bar: Callable[[], Matrix]) -> Matrix:
        """``P_barᵀ X``."""
        P_bar = in_double(self.phase_bar(kernel, X, Phi_bar()))
        return array_namespace(X).matrix_transpose(P_bar) @ in_double(X)

    def phase_bar(self, kernel: Kernel, X: Matrix, Phi_bar: Matrix) -> Matrix:
        """The derivatives by the phases P, ``−sin P = cos(P + π/2)`` times the rest.

        Parameters
        ----------
        kernel, X, Phi_bar
            As in `pullback`; they are not validated.

        Returns
        -------
        Matrix, shape (n, R)
            The derivatives.
        """
        omega, offset, amplitude = self.waves_of(kernel)
        return Phi_bar * _waves(X, omega, offset + 0.25, amplitude)

    def waves_of(self, kernel: Kernel) -> tuple[Matrix, Vector, float | Vector]:
        """The features as waves, in turns.

        Parameters
        ----------
        kernel : Kernel
            The kernel; it is not validated.

        Returns
        -------
        omega : Matrix, shape (R, d)
            The frequencies in turns.
        offset : Vector, shape (R,)
            The phases in turns.
        amplitude : float or Vector, shape (R,)
            The amplitude of all features, or of each where there are several terms.
        """
        xp = array_namespace(self.unit)
        omegas, amplitudes = [], []
        scales = (scale for _, _, scale in self._summands(kernel))
        for (term, rows, leaf), scale in zip(self._leaves(kernel), scales, strict=True):
            # in turns: a fast cosine takes off whole turns, which is exact
            omegas.append(self.unit[rows, :] / (_TURN * self._lengths(term, leaf)))
            amplitudes.append(math.sqrt(2.0 * scale * leaf.variance / term.size))
        offset = self.phases / _TURN
        if len(amplitudes) == 1:
            return omegas[0], offset, amplitudes[0]
        each = [xp.full_like(omega[:, 0], a) for omega, a in zip(omegas, amplitudes, strict=True)]
        return xp.concat(omegas), offset, xp.concat(each)


def _require_terms(terms: object, size: int) -> None:
    if not (isinstance(terms, tuple) and terms and all(isinstance(t, Term) for t in terms)):
        wanted = "a class of stationary kernels, or a tuple of Term"
        raise TypeError(f"terms must be {wanted}; got {terms!r}")
    if sum(term.size for term in terms) != size:
        raise ValueError(f"terms must be of {size} features in all; got {terms!r}")


def _fits(kernel: Kernel, unit: Matrix) -> bool:
    """True if the kernel looks at no column that there are no frequencies for."""
    try:
        kernel._validate_inputs(unit[:0, :], "X")
    except ValueError:
        return False
    return True


def _assembled(kernel: Kernel, bars: Iterator[tuple[Stationary, float]]) -> tuple[Kernel, float]:
    """The cotangent of a kernel from those of its terms, and the sum of their weights."""
    if isinstance(kernel, Sum):
        parts = [_assembled(part, bars) for part in kernel.parts]
        return cotangent(kernel, parts=tuple(bar for bar, _ in parts)), sum(t for _, t in parts)
    if isinstance(kernel, Scaled):
        bar, total = _assembled(kernel.kernel, bars)
        return cotangent(kernel, scale=total / (2.0 * kernel.scale), kernel=bar), total
    if isinstance(kernel, ActiveDims):
        bar, total = _assembled(kernel.kernel, bars)
        return cotangent(kernel, kernel=bar), total
    return next(bars)


def _waves(X: Matrix, omega: Matrix, offset: Vector, amplitude: float | Vector) -> Matrix:
    """``amplitude cos 2π(ω·x + offset)``, (n, R)."""
    if not isinstance(amplitude, float):
        return amplitude[None, :] * _waves(X, omega, offset, 1.0)
    if cosines.supports(X):
        return cosines.waves(X, omega, offset, amplitude)
    xp = array_namespace(X)
    return amplitude * xp.cos(_TURN * (X @ xp.matrix_transpose(omega) + offset[None, :]))


@takes("X")
def draw_frequencies(
    kernel: Kernel,
    X: MatrixLike,
    n: int,
    *,
    kind: FeatureKind = "paired",
    orthogonal: bool = False,
    rng: RNG,
) -> Frequencies:
    """Draw frequencies for the features of RBF, Matérn and rational quadratic kernels, and of sums.

    Parameters
    ----------
    kernel : Kernel
        An `RBF`, Matérn kernel or `RationalQuadratic`, or sums, multiples and choices of columns.
    X : Matrix, shape (m, d)
        Inputs like those to come: only the columns, the dtype and the device are looked at.
    n : int
        The number of features; each term of a sum has as many, up to one or two.
    kind : ``"paired"`` or ``"cosine"``, default ``"paired"``
        Paired features are a cosine and a sine of each of n/2 frequencies (n even):
        ``φ(x)·φ(x) = σ_f²`` exactly, and the estimate depends on ``x − z`` alone. The others are n
        cosines with uniform phases.
    orthogonal : bool, default False
        Draw d frequencies at a time at right angles, each distributed as before, which lowers the
        variance of the estimate.

    Notes
    -----
    O(n d), with `orthogonal` O(n d²).

    Source: Rahimi & Recht (2007); for Matérn kernels, whose spectral density is that of Student's
    t with 2ν degrees of freedom, and for rational quadratic ones, mixtures of RBFs over a gamma
    distributed precision, Rasmussen & Williams (2006), section 4.2.1; for orthogonal ones, Yu,
    Suresh, Choromanski, Holtmann-Rice & Kumar (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import Matern52, stream
    >>> frequencies = draw_frequencies(Matern52(), np.zeros((1, 3)), 8, rng=stream(1))
    >>> frequencies.unit.shape, frequencies.phases.round(2)[:4], frequencies.phases.round(2)[4:]
    ((8, 3), array([0., 0., 0., 0.]), array([-1.57, -1.57, -1.57, -1.57]))
    >>> of_sum = draw_frequencies(Matern52() + RBF().on(0), np.zeros((1, 3)), 8, rng=stream(1))
    >>> [str(term) for term in of_sum.terms]
    ['Matern52 of columns [0, 1, 2]', 'RBF of columns [0]']
    """
    terms = _known(kernel, _check.matrix(X, "X"))
    n = memory.count(n, "n", each=X.shape[1], like=X)
    stream = stream_of(rng)
    paired = _check.choice(kind, "kind", get_args(FeatureKind)) == "paired"
    if paired and n % 2:
        raise ValueError(f"n must be even for paired features; got {n}")
    square = _check.flag(orthogonal, "orthogonal")
    each = 2 if paired else 1
    if n < each * len(terms):
        raise ValueError(f"n must be at least {each} for each of {len(terms)} kernels; got {n}")
    units, phases, drawn = [], [], []
    for i, (leaf, dims) in enumerate(terms):
        share = each * ((n // each + i) // len(terms))  # these add up to n
        unit, turned = _drawn(leaf, (share, len(dims)), stream, paired, square, X)
        units.append(_put(unit, dims, X))
        phases.append(turned)
        alpha = leaf.alpha if isinstance(leaf, RationalQuadratic) else None
        drawn.append(Term(type(leaf), share, dims, alpha))
    xp = array_namespace(X)
    return Frequencies(xp.concat(units), xp.concat(phases), tuple(drawn))


def _known(kernel: Kernel, X: Matrix) -> list[tuple[Stationary, tuple[int, ...]]]:
    """The terms of a kernel, if their spectral densities are known here, with their columns."""
    _check.instance(kernel, "kernel", Kernel)._validate_inputs(X, "X")
    terms = []
    for leaf, dims, _ in summands_of(kernel, tuple(range(X.shape[1]))):
        if not isinstance(leaf, Stationary) or type(leaf) not in _KNOWN:
            known = ", ".join(kind.__name__ for kind in _KNOWN)
            made = f"one of {known}, or made of them by sums, multiples and columns"
            raise TypeError(f"kernel must be {made}; got {kernel!r}")
        terms.append((leaf, dims))
    return terms


def _drawn(
    leaf: Stationary,
    shape: tuple[int, int],
    stream: Stream,
    paired: bool,
    orthogonal: bool,
    like: Array,
) -> tuple[Matrix, Vector]:
    """Frequencies (n, d) for a lengthscale of one, and their phases."""
    n, d = shape
    unit = _unit(leaf, (n // 2 if paired else n, d), stream, orthogonal, like)
    xp = array_namespace(unit)
    if paired:
        zeros = xp.zeros_like(unit[:, 0])
        # cos (P − ¼ turn) is sin P, so that a pair needs no phase, and |φ(x)|² is σ_f² at every x
        return xp.concat([unit, unit]), xp.concat([zeros, zeros - 0.25 * _TURN])
    return unit, _TURN * stream.uniform(n, like=like)


def _put(unit: Matrix, dims: tuple[int, ...], X: Matrix) -> Matrix:
    """Frequencies of some columns as frequencies of all, zero in the others."""
    d = X.shape[1]
    if dims == tuple(range(d)):
        return unit
    xp = array_namespace(unit)
    place = {k: i for i, k in enumerate(dims)}
    nothing = xp.zeros_like(unit[:, 0])
    return xp.stack([unit[:, place[k]] if k in place else nothing for k in range(d)], axis=1)


def _unit(
    leaf: Stationary, shape: tuple[int, int], stream: Stream, orthogonal: bool, like: Array
) -> Matrix:
    """Normals (m, d) over the root of a chi-squared, or times that of a gamma, or as they are."""
    normals = stream.normal(shape, like=like)
    unit = _at_right_angles(normals, stream) if orthogonal else normals
    if isinstance(leaf, RationalQuadratic):
        # exp(−τ r²/2ℓ²) averaged over a gamma of shape α and mean one is the rational quadratic
        precisions = stream.generator.standard_gamma(leaf.alpha, shape[0]) / leaf.alpha
        return unit * as_array(precisions**0.5, like)[:, None]
    if type(leaf) not in _FREEDOM:
        return unit
    xp = array_namespace(unit)
    freedom = _FREEDOM[type(leaf)]
    # one χ² for all columns of a frequency: a multivariate t, not a product of single ones
    chi_squared = xp.sum(stream.normal((shape[0], freedom), like=like) ** 2, axis=1)
    return unit * xp.sqrt(freedom / chi_squared)[:, None]


def _at_right_angles(normals: Matrix, stream: Stream) -> Matrix:
    """Directions drawn uniformly, d at right angles at a time, with lengths of other normals."""
    xp = array_namespace(normals)
    m, d = normals.shape
    directions = []
    for start in range(0, m, d):
        R = xp.linalg.qr(stream.normal((d, d), like=normals))
        # with these signs R has a positive diagonal, and Q is uniform over all rotations; as it
        # comes, it depends on the signs that a library happens to choose
        signs = xp.sign(diagonal(R.R))
        directions.append((R.Q * signs[None, :])[: min(d, m - start), :])
    lengths = xp.sqrt(xp.sum(normals * normals, axis=1))
    return xp.concat(directions) * lengths[:, None]
