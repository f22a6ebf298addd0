"""Noise that is known reading by reading: error bars, and readings that are means of several.

The noise of reading i has the variance ``λᵢ = σ_n² / wᵢ + vᵢ``, [eq-fv-known-noise], with the
weights w and the known variances v of the data, and the σ_n² of the process, which a fit moves.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from ..ground import check as _check
from ..ground.caller_warnings import warn_caller
from ..ground.chunks import Chunks, Rows
from ..ground.linalg import RoundingWarning
from ..ground.xp import Matrix, Numbers, Vector, array_namespace, epsilon, in_double
from ..model.gaussian_process import GP

__all__ = [
    "Noise", "in_double_of", "joined", "knows_noise", "noise_given", "noise_of", "noise_of_chunk",
    "noise_under", "validate_noise", "warn_of_offset",
]  # fmt: skip


class Noise(NamedTuple):
    """λ and its derivative by σ_n²: one number each where all readings are alike."""

    variance: Numbers
    share: Numbers = 1.0

    def of(self, rows: slice) -> Noise:
        """Return the noise of some of the readings."""
        return Noise(*(a if isinstance(a, float) else a[rows] for a in self))


def noise_of(gp: GP, rows: Rows) -> Noise:
    """Return the noise of rows of data under a process, with the known noise of each."""
    return noise_under(gp.noise_var, rows)


def noise_under(noise_var: float, rows: Rows) -> Noise:
    """Return the noise of rows of data whose single readings have noise σ_n²."""
    share = 1.0 if rows.weights is None else 1.0 / rows.weights
    known = 0.0 if rows.noise_var is None else rows.noise_var
    return Noise(share * noise_var + known, share)


def noise_given(gp: GP, data: object) -> Noise | None:
    """Return the noise of data with known noise or weights, else None.

    Of chunks it is a word only that readings are not alike: each chunk has its own,
    `noise_of_chunk`.
    """
    if knows_noise(data):
        return noise_of(gp, data)
    return Noise(gp.noise_var) if isinstance(data, Chunks) and data.knows_noise else None


def noise_of_chunk(gp: GP, rows: Rows) -> Noise:
    """Return the noise of each row of a chunk, which has been checked but for its known noise."""
    validate_noise(rows.X, rows.X.shape[0], rows.noise_var, rows.weights)
    ones = array_namespace(rows.X).ones_like(rows.y)
    return Noise(*(ones * part for part in noise_of(gp, rows)))


def in_double_of(noise: Noise) -> Noise:
    """The same in float64, where each reading has its own."""
    return Noise(*(a if isinstance(a, float) else in_double(a) for a in noise))


def joined(rows: Rows, more: Rows) -> Rows:
    """Join the readings of both, with their known noise: for some, nothing beyond σ_n²."""
    xp = array_namespace(rows.X)

    def both(name: str, usual: float) -> Vector | None:
        given = [(getattr(some, name), some.y) for some in (rows, more)]
        if all(a is None for a, _ in given):
            return None
        return xp.concat([xp.full_like(y, usual) if a is None else a for a, y in given])

    X, y = xp.concat([rows.X, more.X]), xp.concat([rows.y, more.y])
    return Rows(X, y, both("noise_var", 0.0), both("weights", 1.0))


def knows_noise(data: object) -> TypeGuard[Rows]:
    """Return True if the data are rows with known noise or weights."""
    return isinstance(data, Rows) and data.knows_noise


def validate_noise(X: Matrix, n: int, noise_var: Vector | None, weights: Vector | None) -> None:
    """Raise, naming the argument, for variances or weights that are not those of n readings.

    They must be of the kind of X. Variances may be zero, and weights may not.
    """
    for name, given in (("noise_var", noise_var), ("weights", weights)):
        if given is not None:
            _check.alike(_check.vector(given, name, size=n), name, X, "X")
            _check.positive(given, name, zero=name == "noise_var")
    if weights is not None:
        # a weight may be positive, and yet so small that its share of the noise is infinite
        _check.no_overflow(1.0 / weights, "weights", "1 / weights")


def warn_of_offset(gp: GP, X: Matrix, offset: Vector, latent: bool) -> None:
    """Warn of offsets so large that their rounding moves f, of size 1 where it is `latent`."""
    xp = array_namespace(X)
    lost = epsilon(X) * float(xp.max(xp.abs(offset)))
    size = float(xp.max(gp.kernel._diag(X))) ** 0.5
    if lost > 0.01 * (min(size, 1.0) if latent else size):
        said = f"offset is rounded by {lost:.1e} in {X.dtype}, and f, of size {size:.1e}, too"
        remedy = "take its level out of it, and out of y or the mean of gp, or compute in float64"
        warn_caller(f"{said}: {remedy}", RoundingWarning)
