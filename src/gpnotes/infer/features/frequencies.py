"""Frequencies drawn from the spectral density of a kernel, and the features that they make.

By Bochner's theorem a stationary kernel is an average, ``k(x, z) = σ_f² E cos ω·(x − z)``, over
frequencies ω of a distribution of its own: normal for RBF, Student's t with 2ν degrees of freedom
for Matérn. An average over frequencies drawn is a product of features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ...fast import cosines
from ...ground import check as _check
from ...ground import memory
from ...ground import xp as _xp
from ...ground.params import cotangent
from ...ground.random import Stream
from ...ground.xp import Array, Matrix, Vector, array_namespace
from ...model.kernels import RBF, Kernel, Matern12, Matern32, Matern52, Stationary
from ...model.kernels.sums import per_dimension

__all__ = ["Frequencies", "draw_frequencies"]

FeatureKind = Literal["paired", "cosine"]

# Degrees of freedom of the Student-t distribution of the frequencies; None for the normal one.
_FREEDOM: dict[type[Stationary], int | None] = {
    RBF: None,
    Matern12: 1,
    Matern32: 3,
    Matern52: 5,
}
_TURN = 2.0 * math.pi


@dataclass(frozen=True, eq=False)
class Frequencies:
    """R frequencies for a lengthscale of one, with phases: a map from inputs to features.

    ``φⱼ(x) = σ_f √(2/R) cos(ωⱼ·x + βⱼ)`` with ``ωⱼ = unitⱼ / ℓ``, so that ``φ(x)·φ(z)`` has the
    mean k(x, z) over the draws. `unit` has shape (R, d), `phases` β shape (R,), both copied;
    `kernel_class` is the class of the kernels that they are for. Made by `draw_frequencies`; the
    hyperparameters stay with the kernel, so that a fit can move them while the draws stay.
    Raises `ValueError` or `TypeError` for arrays that do not fit.
    Source: Rahimi & Recht (2007), algorithm 1.

    >>> import numpy as np
    >>> from gpnotes import RBF, stream
    >>> X = np.asarray([[0.0], [1.0]])
    >>> Phi = draw_frequencies(RBF(), X, 20_000, stream(1)).features(RBF(), X)
    >>> (Phi @ Phi.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    unit: Matrix
    phases: Vector
    kernel_class: type[Stationary]

    def __post_init__(self) -> None:
        rows = _check.matrix(self.unit, "unit").shape[0]
        if self.unit.size == 0:
            raise ValueError(f"unit must have at least one row and column; got {self.unit.shape}")
        _check.alike(_check.vector(self.phases, "phases", size=rows), "phases", self.unit, "unit")
        if not (isinstance(self.kernel_class, type) and issubclass(self.kernel_class, Stationary)):
            wanted = "a class of stationary kernels"
            raise TypeError(f"kernel_class must be {wanted}; got {self.kernel_class!r}")
        _xp.keep_copies(self, "unit", "phases")

    @property
    def size(self) -> int:
        """The number of features R."""
        return self.unit.shape[0]

    def features(self, kernel: Kernel, X: Matrix) -> Matrix:
        """The features Φ (n, R) of inputs X (n, d) under a kernel; O(n d R).

        ``ΦΦᵀ`` estimates ``kernel(X)``. Inputs far from the origin lose digits, as in any cosine:
        ``eps |ω·x|`` of each feature. Raises `ValueError` or `TypeError` for a kernel of another
        class and for inputs that do not fit, `MemoryError` for features that have no room.
        """
        stationary = self.validate(kernel, X)
        memory.require(X.shape[0], self.size, copies=2, like=X, what="the features")
        return self.feature_rows(stationary, X)

    def pullback(self, kernel: Kernel, X: Matrix, Phi_bar: Matrix) -> tuple[Kernel, Matrix]:
        """Carry ``Phi_bar`` (n, R) back through `features` to ``(kernel_bar, X_bar)``; O(n d R).

        With ``P = ω·x + β``: ``P_bar = −σ_f √(2/R) sin P ∘ Phi_bar``, ``X_bar = P_bar ω`` and, for
        each lengthscale, ``ℓ_bar = −Σᵢ (X ∘ X_bar)ᵢ / ℓ``. Raises what `features` raises.
        """
        stationary = self.validate(kernel, X)
        _check.matrix(Phi_bar, "Phi_bar", rows=X.shape[0], columns=self.size)
        _check.alike(Phi_bar, "Phi_bar", X, "X")
        X_bar = self.phase_bar(stationary, X, Phi_bar) @ (self.unit / stationary.lengthscale)
        xp = array_namespace(X)
        terms = -X * X_bar / stationary.lengthscale
        weighted = float(xp.sum(Phi_bar * self.feature_rows(stationary, X)))
        kernel_bar = cotangent(
            stationary,
            variance=weighted / (2.0 * stationary.variance),
            lengthscale=per_dimension(terms, stationary.lengthscale),
        )
        return kernel_bar, X_bar

    def validate_kernel(self, kernel: Kernel) -> Stationary:
        """The kernel, if these frequencies are for it."""
        if type(kernel) is not self.kernel_class or not isinstance(kernel, Stationary):
            wanted = f"a {self.kernel_class.__name__}, for which the frequencies were drawn"
            raise TypeError(f"kernel must be {wanted}; got {kernel!r}")
        return kernel

    def validate(self, kernel: Kernel, X: Matrix, name: str = "X") -> Stationary:
        """The kernel, if these frequencies are for it, and both for such inputs."""
        stationary = self.validate_kernel(kernel)
        _check.matrix(X, name, columns=self.unit.shape[1])
        _check.alike(_check.squarable(X, name), name, self.unit, "frequencies")
        stationary._validate(X, name)
        return stationary

    def feature_rows(self, kernel: Stationary, X: Matrix) -> Matrix:
        """`features` of inputs that are validated."""
        return _waves(X, *self.waves_of(kernel))

    def phase_bar(self, kernel: Stationary, X: Matrix, Phi_bar: Matrix) -> Matrix:
        """The derivatives by the phases P (n, R): ``−sin P = cos(P + π/2)`` times the rest."""
        omega, offset, amplitude = self.waves_of(kernel)
        return Phi_bar * _waves(X, omega, offset + 0.25, amplitude)

    def waves_of(self, kernel: Stationary) -> tuple[Matrix, Vector, float]:
        """The features as waves: frequencies (R, d) and offsets (R,) in turns, one amplitude."""
        omega = self.unit / (_TURN * kernel.lengthscale)
        return omega, self.phases / _TURN, math.sqrt(2.0 * kernel.variance / self.size)


def _waves(X: Matrix, omega: Matrix, offset: Vector, amplitude: float) -> Matrix:
    """``amplitude cos 2π(ω·x + offset)``, (n, R)."""
    if cosines.supports(X):
        return cosines.waves(X, omega, offset, amplitude)
    xp = array_namespace(X)
    return amplitude * xp.cos(_TURN * (X @ xp.matrix_transpose(omega) + offset[None, :]))


def draw_frequencies(
    kernel: Kernel,
    X: Matrix,
    n: int,
    stream: Stream,
    *,
    kind: FeatureKind = "paired",
    orthogonal: bool = False,
) -> Frequencies:
    """Frequencies for `n` features of an RBF or Matérn kernel of inputs like X (m, d); O(n d).

    Of X only the columns, the dtype and the device are looked at. ``kind="paired"`` makes a cosine
    and a sine of each of n/2 frequencies (n even): ``φ(x)·φ(x) = σ_f²`` exactly, and the estimate
    depends on ``x − z`` alone. ``kind="cosine"`` makes n cosines with uniform phases. With
    `orthogonal`, d frequencies at a time are at right angles, each distributed as before, which
    lowers the variance of the estimate; O(n d²).

    Raises `TypeError` for another kernel, `ValueError` for fewer than one feature or an odd number
    of paired ones, and either for arguments that do not fit.
    Source: Rahimi & Recht (2007); for Matérn kernels, whose spectral density is that of Student's t
    with 2ν degrees of freedom, Rasmussen & Williams (2006), section 4.2.1; for orthogonal ones, Yu,
    Suresh, Choromanski, Holtmann-Rice & Kumar (2016).

    >>> import numpy as np
    >>> from gpnotes import Matern52, stream
    >>> frequencies = draw_frequencies(Matern52(), np.zeros((1, 3)), 8, stream(1))
    >>> frequencies.unit.shape, frequencies.phases.round(2)[:4], frequencies.phases.round(2)[4:]
    ((8, 3), array([0., 0., 0., 0.]), array([-1.57, -1.57, -1.57, -1.57]))
    """
    kernel = _known(kernel)
    kernel._validate(_check.matrix(X, "X"), "X")
    n = _check.whole(n, "n", 1)
    _check.instance(stream, "stream", Stream)
    paired = _check.choice(kind, "kind", get_args(FeatureKind)) == "paired"
    if paired and n % 2:
        raise ValueError(f"n must be even for paired features; got {n}")
    shape = (n // 2 if paired else n, X.shape[1])
    square = _check.flag(orthogonal, "orthogonal")
    unit = _unit(_FREEDOM[type(kernel)], shape, stream, square, X)
    xp = array_namespace(X)
    if paired:
        zeros = xp.zeros_like(unit[:, 0])
        phases = xp.concat([zeros, zeros - 0.25 * _TURN])
        return Frequencies(xp.concat([unit, unit]), phases, type(kernel))
    return Frequencies(unit, _TURN * stream.uniform(n, like=X), type(kernel))


def _known(kernel: Kernel) -> Stationary:
    """The kernel, if its spectral density is known here."""
    _check.instance(kernel, "kernel", Kernel)
    if not isinstance(kernel, Stationary) or type(kernel) not in _FREEDOM:
        known = ", ".join(kind.__name__ for kind in _FREEDOM)
        raise TypeError(f"kernel must be one of {known}; got {kernel!r}")
    return kernel


def _unit(
    freedom: int | None, shape: tuple[int, int], stream: Stream, orthogonal: bool, like: Array
) -> Matrix:
    """Frequencies (m, d) for a lengthscale of one: normals, over the root of a chi-squared."""
    normals = stream.normal(shape, like=like)
    unit = _at_right_angles(normals, stream) if orthogonal else normals
    if freedom is None:
        return unit
    xp = array_namespace(unit)
    chi_squared = xp.sum(stream.normal((shape[0], freedom), like=like) ** 2, axis=1)
    return unit * xp.sqrt(freedom / chi_squared)[:, None]


def _at_right_angles(normals: Matrix, stream: Stream) -> Matrix:
    """Directions drawn uniformly, d at right angles at a time, with lengths of other normals."""
    xp = array_namespace(normals)
    m, d = normals.shape
    directions = []
    for start in range(0, m, d):
        R = xp.linalg.qr(stream.normal((d, d), like=normals))
        signs = xp.sign(_xp.diagonal(R.R))
        directions.append((R.Q * signs[None, :])[: min(d, m - start), :])
    lengths = xp.sqrt(xp.sum(normals * normals, axis=1))
    return xp.concat(directions) * lengths[:, None]
