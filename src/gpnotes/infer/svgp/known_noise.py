"""Known values of each reading: noise of its own, of a normal likelihood, or an offset of f."""

from __future__ import annotations

from typing import cast

from ...ground import check as _check
from ...ground.chunks import Rows
from ...ground.params import cotangent
from ...ground.xp import LOG_2PI, Vector, array_namespace
from ...model.contracts import Likelihood
from ...model.likelihoods import Gaussian
from ...model.likelihoods.adapter import is_latent
from ...model.likelihoods.hermite_averages import Expected
from ...model.likelihoods.multiclass import MulticlassLikelihood
from ..known_noise import Noise, knows_noise, noise_under, warn_of_offset
from .model import SVGP
from .posterior import Marginals

__all__ = [
    "expected_under", "known_in", "likelihood_bar_under", "noise_in", "require_normal", "shifted",
    "some_of", "validate_offset",
]  # fmt: skip


def noise_in(likelihood: object, known: Rows | None) -> Noise | None:
    """The noise of rows under a normal likelihood, where something is known of each."""
    if not knows_noise(known):
        return None
    return noise_under(cast(Gaussian, likelihood).variance, known)


def known_in(rows: Rows) -> Rows | None:
    """Return the rows, if they have known noise or offsets."""
    return rows if knows_noise(rows) or rows.offset is not None else None


def some_of(rows: Rows, places: Vector) -> Rows:
    """Some of the rows (b,), by their numbers."""
    xp = array_namespace(rows.X)

    def some(a: Vector | None) -> Vector | None:
        return None if a is None else xp.take(a, places, axis=0)

    X, y = (xp.take(a, places, axis=0) for a in (rows.X, rows.y))
    return Rows(X, y, some(rows.noise_var), some(rows.weights), some(rows.offset))


def shifted(f: Marginals, known: Rows | None, rows: slice) -> Marginals:
    """Return f at some of the rows, with the offset of each added."""
    if known is None or known.offset is None:
        return f
    return f._replace(mean=f.mean + known.offset[rows])


def validate_offset(model: SVGP, rows: Rows) -> None:
    """Raise, naming the argument, for an offset that is not that of the rows of one function."""
    if rows.offset is None:
        return
    if isinstance(model.likelihood, MulticlassLikelihood):
        what = "there is one function a class"
        raise TypeError(f"offset must be None: {what}; got {_check.kind_of(rows.offset)}")
    size = rows.X.shape[0]
    _check.alike(_check.vector(rows.offset, "offset", size=size), "offset", rows.X, "X")
    warn_of_offset(model.gp, rows.X, rows.offset, is_latent(model.likelihood))


def require_normal(likelihood: object, rows: Rows) -> None:
    """Raise a `TypeError` where readings have noise of their own under another likelihood."""
    if isinstance(likelihood, Gaussian):
        return
    for name, given in (("noise_var", rows.noise_var), ("weights", rows.weights)):
        if given is not None:
            what = f"{type(likelihood).__name__} has no noise of its own for each reading"
            raise TypeError(f"{name} must be None: {what}; got {_check.kind_of(given)}")


def expected_under(noise: Noise, y: Vector, f: Marginals) -> Expected:
    """``E log N(yᵢ; fᵢ, λᵢ) = log N(yᵢ; mᵢ, λᵢ) − vᵢ / 2λᵢ``, and its slopes by m and v."""
    xp, miss = array_namespace(y), y - f.mean
    scale = noise.variance + xp.zeros_like(miss)
    value = -0.5 * (xp.log(scale) + LOG_2PI + (miss * miss + f.variance) / scale)
    return Expected(value, miss / scale, -0.5 / scale)


def likelihood_bar_under(
    likelihood: Likelihood, noise: Noise, y: Vector, f: Marginals, scale: float
) -> Likelihood:
    """``∂/∂σ² = Σ ∂λᵢ/∂σ² ½ (((y − m)² + v)/λ − 1)/λ``, times the rows that each stands for."""
    xp = array_namespace(y)
    terms = (((y - f.mean) ** 2 + f.variance) / noise.variance - 1.0) / noise.variance
    total = float(xp.sum(noise.share * terms))
    return cast("Likelihood", cotangent(cast(Gaussian, likelihood), variance=0.5 * scale * total))
