"""One RBF kernel at a time: the parts that a sum of kernels has, and what N(m, S) makes of each.

For a part with lengthscales ``Λ = diag ℓ²`` and its points X, with ``ν = X − m`` and ``u = Λ⁻¹ν``,
the expectation is ``q = σ_f² |I + SΛ⁻¹|^−½ exp(−½ νᵀ(S + Λ)⁻¹ν)`` and its derivative by m is q g
with ``g = (S + Λ)⁻¹ν``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _check
from .._xp import Array, array_namespace
from ..kernels import RBF, Kernel, Scaled, Sum
from .spread import Spread

__all__ = ["Part", "Seen", "parts_of", "pulled_q", "seen", "stacked_precision"]


class Part(NamedTuple):
    """``variance · exp(−½ Σ_d precision_d (x_d − z_d)²)``; `precision` has shape (D,)."""

    variance: float
    precision: Array


def parts_of(kernel: Kernel, like: Array, name: str = "kernel") -> list[Part]:
    """The parts of a kernel that is an RBF or a sum of them, for inputs like the rows of `like`.

    Raises `TypeError` for any other.
    """
    _check.instance(kernel, name, Kernel)
    kernel._admit(like, "X")
    return _parts(kernel, like, 1.0)


def _parts(kernel: Any, like: Array, scale: float) -> list[Part]:
    if type(kernel) is Sum:
        return [part for one in kernel.parts for part in _parts(one, like, scale)]
    if type(kernel) is Scaled:
        return _parts(kernel.kernel, like, scale * kernel.scale)
    if type(kernel) is not RBF:
        raise TypeError(f"kernel must be an RBF kernel or a sum of such; got {kernel!r}")
    precision = array_namespace(like).ones_like(like[0, :]) / kernel.lengthscale**2
    return [Part(scale * kernel.variance, precision)]


def stacked_precision(parts: list[Part]) -> Array:
    """The precisions (B, D) of B parts."""
    return array_namespace(parts[0].precision).stack([part.precision for part in parts])


class Seen(NamedTuple):
    """A part at its points, seen from N(m, S): ``ν, u, g`` (n, D) and q (n,), as above.

    `T` and `H` are those of `spread` with ``D = Λ⁻¹``, `N` is ``(S + Λ)⁻¹``, all (D, D); `reach` is
    the largest ``−log(q/σ_f²)``.
    """

    precision: Array
    T: Array
    H: Array
    N: Array
    w: Array
    nu: Array
    u: Array
    g: Array
    q: Array
    reach: float


def seen(part: Part, nu: Array, solved: Spread, k: int) -> Seen:
    """`part` at points that lie `nu` (n, D) from the mean; its algebra has place k in `solved`."""
    xp = array_namespace(nu)
    T, H, w = solved.T[k, :, :], solved.H[k, :, :], solved.w[k, :]
    u = nu * part.precision
    g = u @ xp.matrix_transpose(H)
    far = 0.5 * (xp.sum(nu * g, axis=1) + xp.sum(xp.log1p(w)))
    q, reach = part.variance * xp.exp(-far), float(xp.max(far))
    return Seen(part.precision, T, H, H * part.precision[None, :], w, nu, u, g, q, reach)


def pulled_q(one: Seen, t: Array, bent: Array | None = None) -> tuple[Array, Array]:
    """What ``Σ t log q``, t (n,), has for derivatives by m, (D,), and by S, (D, D).

    `bent` (n,), if it is given, stands for t where g is squared.
    """
    xp = array_namespace(t)
    turned = xp.matrix_transpose(one.g)
    square = (turned * (t if bent is None else bent)) @ one.g
    return turned @ t, 0.5 * (square - xp.sum(t) * one.N)
