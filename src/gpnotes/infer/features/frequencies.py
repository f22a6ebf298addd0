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
from ...ground.random import Stream, stream_of
from ...ground.showing import summary
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
    mean k(x, z) over the draws. The hyperparameters stay with the kernel, so that a fit can move
    them while the draws stay. Made by `draw_frequencies`.

    Parameters
    ----------
    unit : Matrix, shape (R, d)
        The frequencies for a lengthscale of one; copied.
    phases : Vector, shape (R,)
        The phases β; copied.
    kernel_class : type
        The class of the kernels that they are for, a subclass of `Stationary`.

    Raises
    ------
    ValueError
        If `unit` is empty, the shapes do not match or entries are not finite.
    TypeError
        If the arrays differ in namespace, dtype or device, or `kernel_class` is no class of
        stationary kernels.

    Notes
    -----
    Source: Rahimi & Recht (2007), algorithm 1.

    Examples
    --------
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

    __repr__ = summary

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
        """The features Φ of some inputs under a kernel; ``ΦΦᵀ`` estimates ``kernel(X)``.

        Parameters
        ----------
        kernel : Kernel
            The kernel, of the class that the frequencies were drawn for.
        X : Matrix, shape (n, d)
            The inputs.

        Returns
        -------
        Matrix, shape (n, R)
            The features.

        Raises
        ------
        ValueError
            If X is no matrix of finite numbers with d columns, is so large that squares overflow,
            or does not fit the kernel.
        TypeError
            If the kernel is of another class, or X differs in namespace, dtype or device from the
            frequencies.
        MemoryError
            If the features have no room.

        Notes
        -----
        O(n d R). Inputs far from the origin lose digits, as in any cosine: ``eps |ω·x|`` of each
        feature.
        """
        stationary = self.validate(kernel, X)
        memory.require(X.shape[0], self.size, copies=2, like=X, what="the features")
        return self.feature_rows(stationary, X)

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

        Raises
        ------
        ValueError, TypeError
            As in `features`, and for a `Phi_bar` that does not fit.

        Notes
        -----
        With ``P = ω·x + β``: ``P_bar = −σ_f √(2/R) sin P ∘ Phi_bar``, ``X_bar = P_bar ω`` and, for
        each lengthscale, ``ℓ_bar = −Σᵢ (X ∘ X_bar)ᵢ / ℓ``. O(n d R).
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
        """The kernel, if these frequencies are for it; else a `TypeError`.

        Parameters
        ----------
        kernel : Kernel
            The kernel.

        Returns
        -------
        Stationary
            The kernel, as it is.

        Raises
        ------
        TypeError
            If it is of another class than the frequencies were drawn for.
        """
        if type(kernel) is not self.kernel_class or not isinstance(kernel, Stationary):
            wanted = f"a {self.kernel_class.__name__}, for which the frequencies were drawn"
            raise TypeError(f"kernel must be {wanted}; got {kernel!r}")
        return kernel

    def validate(self, kernel: Kernel, X: Matrix, name: str = "X") -> Stationary:
        """The kernel, if these frequencies are for it, and both for such inputs.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : Matrix, shape (n, d)
            The inputs.
        name : str, default ``"X"``
            The name of the inputs in what is raised.

        Returns
        -------
        Stationary
            The kernel, as it is.

        Raises
        ------
        ValueError, TypeError
            As in `features`.
        """
        _check.matrix(X, name, columns=self.unit.shape[1])
        return self.require_match(kernel, X, name)

    def require_match(self, kernel: Kernel, X: Matrix, name: str = "X") -> Stationary:
        """`validate` for an X that is a finite matrix of as many columns already.

        Parameters
        ----------
        kernel, X, name
            As in `validate`.

        Returns
        -------
        Stationary
            The kernel, as it is.

        Raises
        ------
        ValueError, TypeError
            As in `features`.
        """
        stationary = self.validate_kernel(kernel)
        _check.alike(_check.squarable(X, name), name, self.unit, "frequencies")
        stationary.validate_inputs(X, name)
        return stationary

    def feature_rows(self, kernel: Stationary, X: Matrix) -> Matrix:
        """`features` of inputs that are validated, (n, R)."""
        return _waves(X, *self.waves_of(kernel))

    def phase_bar(self, kernel: Stationary, X: Matrix, Phi_bar: Matrix) -> Matrix:
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

    def waves_of(self, kernel: Stationary) -> tuple[Matrix, Vector, float]:
        """The features as waves, in turns.

        Parameters
        ----------
        kernel : Stationary
            The kernel; it is not validated.

        Returns
        -------
        omega : Matrix, shape (R, d)
            The frequencies in turns.
        offset : Vector, shape (R,)
            The phases in turns.
        amplitude : float
            The amplitude of all features.
        """
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
    stream: Stream | int,
    *,
    kind: FeatureKind = "paired",
    orthogonal: bool = False,
) -> Frequencies:
    """Draw frequencies for the features of an RBF or Matérn kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel, an `RBF`, `Matern12`, `Matern32` or `Matern52`.
    X : Matrix, shape (m, d)
        Inputs like those to come: only the columns, the dtype and the device are looked at.
    n : int
        The number of features.
    stream : Stream or int
        The stream to draw from.
    kind : ``"paired"`` or ``"cosine"``, default ``"paired"``
        Paired features are a cosine and a sine of each of n/2 frequencies (n even):
        ``φ(x)·φ(x) = σ_f²`` exactly, and the estimate depends on ``x − z`` alone. The others are n
        cosines with uniform phases.
    orthogonal : bool, default False
        Draw d frequencies at a time at right angles, each distributed as before, which lowers the
        variance of the estimate.

    Returns
    -------
    Frequencies
        The frequencies and their phases.

    Raises
    ------
    ValueError
        If `n` is below 1, or odd for paired features; for an unknown `kind`; if X is no matrix of
        finite numbers or does not fit the kernel.
    TypeError
        If the spectral density of the kernel is not known here, `stream` is no `Stream`, `n` no
        whole number, `kind` no string or `orthogonal` no bool.

    Notes
    -----
    O(n d), with `orthogonal` O(n d²).

    Source: Rahimi & Recht (2007); for Matérn kernels, whose spectral density is that of Student's
    t with 2ν degrees of freedom, Rasmussen & Williams (2006), section 4.2.1; for orthogonal ones,
    Yu, Suresh, Choromanski, Holtmann-Rice & Kumar (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import Matern52, stream
    >>> frequencies = draw_frequencies(Matern52(), np.zeros((1, 3)), 8, stream(1))
    >>> frequencies.unit.shape, frequencies.phases.round(2)[:4], frequencies.phases.round(2)[4:]
    ((8, 3), array([0., 0., 0., 0.]), array([-1.57, -1.57, -1.57, -1.57]))
    """
    kernel = _known(kernel)
    kernel.validate_inputs(_check.matrix(X, "X"), "X")
    n = _check.whole(n, "n", 1)
    stream = stream_of(stream, "stream")
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
