"""Kernels of places on the sphere, by latitude and longitude in degrees.

A place becomes a point of space, and a kernel of space sees the straight way through the sphere,
the *chord*. So every kernel of three columns is one of places, at the poles and across the date
line as elsewhere. The great-circle distance, put into a kernel of space, need not give one: of the
Matérn kernels only those of smoothness ν ≤ ½ stay positive definite (Gneiting, 2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ...fast import tiled_kernels
from ...fast.tiled_kernels import tiled
from ...fast.tiles import TiledKernel
from ...ground import check as _check
from ...ground.conversion import takes
from ...ground.params import cotangent, fixed
from ...ground.xp import Array, Matrix, MatrixLike, Vector, array_namespace
from .algebra import Kernel, require_kernels

__all__ = ["EARTH", "OnSphere", "great_circle_distances"]

EARTH = 6371.0  # the mean radius of the Earth in km
_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class OnSphere(Kernel):
    """A kernel of places on a sphere, ``k(x, z) = k₁(p(x), p(z))`` with points p of space.

    Inputs have two columns, latitude φ from −90 to 90 and longitude λ, in degrees:
    ``p = r (cos φ cos λ, cos φ sin λ, sin φ)``. A stationary k₁ sees the chord
    ``2 r sin(d / 2r)`` of places that are d apart on the surface: the same up to a half per cent
    as far as 2000 km on Earth. Its lengthscale is in the unit of the radius.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁ of three columns, such as ``Matern32(1.0, 500.0)``.
    radius : float, default 6371.0
        The radius r, which is not fitted: that of the Earth in km.

    Notes
    -----
    A kernel of other columns is one more factor or term: ``OnSphere(k).on(0, 1)``. A
    restriction of a positive definite function is positive definite, so that any k₁ will do; with
    great-circle distances few would: Gneiting (2013). The derivatives by the place are
    ``∂p/∂φ`` and ``∂p/∂λ`` times those by p.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import Matern32
    >>> kernel = OnSphere(Matern32(1.0, 500.0))
    >>> places = np.asarray([[51.5, 179.9], [51.5, -179.9], [51.5, 170.0]])
    >>> kernel(places).round(3)
    array([[1.   , 0.999, 0.315],
           [0.999, 1.   , 0.304],
           [0.315, 0.304, 1.   ]])
    """

    kernel: Kernel = fixed()
    radius: float = fixed(EARTH)

    def __post_init__(self) -> None:
        require_kernels("kernel", self.kernel)
        if self.kernel.labels_rows:
            raise TypeError(f"OnSphere.kernel must read no labels; got {self.kernel!r}")
        radius = _check.positive(_check.number(self.radius, "radius"), "radius")
        object.__setattr__(self, "radius", radius)

    def at_columns(self, columns: tuple[str, ...], name: str = "X") -> Self:
        """The same: the columns that the kernel within sees are of points, and have no names."""
        return self

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        return self.kernel._gram(self._points(x), None if z is None else self._points(z))

    def _diag(self, x: Matrix) -> Vector:
        return self.kernel._diag(self._points(x))

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        there = None if z is None else self._points(z)
        bar, p_bar, q_bar = self.kernel._pullback(self._points(x), there, K_bar)
        z_bar = None if z is None or q_bar is None else self._pull(z, q_bar)
        return cotangent(self, kernel=bar), self._pull(x, p_bar), z_bar

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        bar, p_bar = self.kernel._diag_pullback(self._points(x), d_bar)
        return cotangent(self, kernel=bar), self._pull(x, p_bar)

    def _on_tiles(self, x: Matrix) -> TiledKernel:
        return tiled_kernels.Wrapped(self, tiled(self.kernel, self._points(x)))

    def _points(self, x: Matrix) -> Matrix:
        """The points (n, 3) of places (n, 2)."""
        return self.radius * _directions(x)

    def _pull(self, x: Matrix, p_bar: Matrix) -> Matrix:
        """Carry derivatives by the points back to latitudes and longitudes in degrees."""
        xp = array_namespace(x)
        a, b, c = p_bar[:, 0], p_bar[:, 1], p_bar[:, 2]
        (sin_lat, sin_lon), (cos_lat, cos_lon) = _sines(x)
        by_latitude = cos_lat * c - sin_lat * (cos_lon * a + sin_lon * b)
        by_longitude = cos_lat * (cos_lon * b - sin_lon * a)
        return self.radius * _DEGREE * xp.stack([by_latitude, by_longitude], axis=1)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        _require_places(x, name)
        self.kernel._validate_inputs(self._points(x), f"the points of {name}")


@takes("x", "z")
def great_circle_distances(
    x: MatrixLike, z: MatrixLike | None = None, *, radius: float = EARTH
) -> Matrix:
    """Measure the shortest ways on the surface of a sphere between places.

    ``2 r arcsin(|p(x) − p(z)| / 2r)``, whose chord is that of `OnSphere`; near the antipode, where
    the sine is flat, it keeps half of the digits.

    Parameters
    ----------
    x : Matrix, shape (n, 2)
        Latitudes and longitudes in degrees.
    z : Matrix, shape (m, 2), optional
        Others; those of x if it is None.
    radius : float, default 6371.0
        The radius, in the unit of the distances.

    Returns
    -------
    Matrix, shape (n, m)
        The distances.

    Examples
    --------
    >>> great_circle_distances([[0.0, 0.0]], [[90.0, 0.0], [0.0, 180.0]]).round(1)
    array([[10007.5, 20015.1]])
    """
    _require_places(_check.matrix(x, "x"), "x")
    z = x if z is None else z
    _require_places(_check.matrix(z, "z"), "z")
    _check.alike(z, "z", x, "x")
    radius = _check.positive(_check.number(radius, "radius"), "radius")
    xp = array_namespace(x)
    p, q = _directions(x), _directions(z)
    halves = [0.5 * (p[:, k][:, None] - q[:, k][None, :]) for k in range(3)]
    half_chord = xp.sqrt(halves[0] ** 2 + halves[1] ** 2 + halves[2] ** 2)
    half_chord = xp.clip(half_chord, 0.0, 1.0)
    return 2.0 * radius * xp.atan2(half_chord, xp.sqrt((1.0 - half_chord) * (1.0 + half_chord)))


def _require_places(x: Matrix, name: str) -> None:
    if x.shape[1] != 2:
        wanted = "two columns, latitude and longitude"
        raise ValueError(f"{name} must have {wanted}; got {tuple(x.shape)}")
    xp = array_namespace(x)
    worst = float(xp.max(xp.abs(x[:, 0]))) if x.shape[0] else 0.0
    if worst > 90.0:
        wanted = "latitudes from -90 to 90 degrees in column 0"
        raise ValueError(f"{name} must have {wanted}; the largest is {worst:g}")


def _sines(x: Matrix) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The sines and the cosines of latitude and longitude."""
    xp = array_namespace(x)
    latitude, longitude = _DEGREE * x[:, 0], _DEGREE * x[:, 1]
    return (xp.sin(latitude), xp.sin(longitude)), (xp.cos(latitude), xp.cos(longitude))


def _directions(x: Matrix) -> Matrix:
    """The points (n, 3) of the unit sphere."""
    (sin_lat, sin_lon), (cos_lat, cos_lon) = _sines(x)
    return array_namespace(x).stack([cos_lat * cos_lon, cos_lat * sin_lon, sin_lat], axis=1)
