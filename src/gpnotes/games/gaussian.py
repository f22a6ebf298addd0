"""The closed form: the multinomial taken for a normal, the sum for an integral.

For each role, with ``d_s = ℓ_s² + n p_s``, ``γ = Σ p_s ℓ_s² / d_s``, ``q_s = p_s / d_s`` and
``y = X_j − n p``,

    E f ≈ Π_r γ^(−½) Π_s ℓ_s/√d_s · exp(−½ Σ_s y_s²/d_s − ½ (n/γ) (qᵀy)²).

The exponent is a quadratic form in X_j whose coefficients know the mixture only. So all exponents
of a batch are one matrix product, and all sums that payoffs and derivatives need are another.
"""

from __future__ import annotations

from typing import NamedTuple

from .._xp import Array, array_namespace
from .expansion import Expansion, blocks
from .game import RoleSymmetricGame

__all__ = ["expected"]


class _Role(NamedTuple):
    """What a role's mixture, (B, s), says about its normal distribution."""

    n: int
    p: Array
    ell2: Array
    centre: Array  # about which the samples are given

    @property
    def d(self) -> Array:
        return self.ell2 + self.n * self.p

    @property
    def gamma(self) -> Array:
        # 1 − n Σ p²/d is the same on the simplex, but cancels where ℓ is short
        return array_namespace(self.p).sum(self.p * self.ell2 / self.d, axis=1)

    @property
    def shift(self) -> Array:
        """Where the mean lies, seen from the centre."""
        return self.n * self.p - self.centre


def expected(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, p: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    """The approximate expectation (B,) under mixtures p (B, S), and its derivatives (B, S).

    Derivatives are those of the formula above, γ written as it stands there; along the simplex
    they agree with those of any other way to write it. O(B J s²) for s strategies a role.
    """
    xp = array_namespace(p)
    centre = xp.mean(expansion.profiles, axis=0)
    features = _features(expansion.profiles - centre, game)
    weighted = features * expansion.weights[:, None]
    weighted = weighted if jacobian else weighted[:, :1]
    found = []
    for rows in blocks(p.shape[0], features.shape[0]):
        roles = _roles(game, strategy, expansion, centre, p[rows, :])
        found.append(_block(roles, features, weighted, jacobian))
    value = xp.concat([one for one, _ in found])
    return value, xp.concat([one for _, one in found]) if jacobian else None


def _roles(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, centre: Array, p: Array
) -> list[_Role]:
    ell2 = expansion.lengthscales**2
    parts = zip(game.opponents(strategy), game.columns, strict=True)
    return [_Role(n, p[:, c], ell2[c], centre[c]) for n, c in parts]


def _features(z: Array, game: RoleSymmetricGame) -> Array:
    """1, then for each role z_s and z_s z_t: what a quadratic form in z multiplies."""
    xp = array_namespace(z)
    columns = [xp.ones_like(z[:, :1])]
    for part in game.columns:
        zr = z[:, part]
        columns += [zr, xp.reshape(zr[:, :, None] * zr[:, None, :], (z.shape[0], -1))]
    return xp.concat(columns, axis=1)


def _block(
    roles: list[_Role], features: Array, weighted: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    xp = array_namespace(features)
    exponent = xp.concat(
        [sum(_constant(r) for r in roles)[:, None], *[_quadratic(r) for r in roles]], axis=1
    )
    sums = xp.exp(exponent @ xp.matrix_transpose(features)) @ weighted
    if not jacobian:
        return sums[:, 0], None
    start, bars = 1, []
    for role in roles:
        s = role.p.shape[1]
        first, second = sums[:, start : start + s], sums[:, start + s : start + s + s * s]
        bars.append(_slope(role, sums[:, :1], first, xp.reshape(second, (-1, s, s))))
        start += s + s * s
    return sums[:, 0], xp.concat(bars, axis=1)


def _precision(role: _Role) -> Array:
    """``(L + nM)⁻¹ = diag(1/d) + (n/γ) q qᵀ``, (B, s, s)."""
    xp = array_namespace(role.p)
    q = role.p / role.d
    one = xp.eye(q.shape[1], dtype=q.dtype, device=q.device)
    return one / role.d[:, :, None] + (role.n / role.gamma)[:, None, None] * (
        q[:, :, None] * q[:, None, :]
    )


def _constant(role: _Role) -> Array:
    """The logarithm of the factor before the exponential, and the form's part without z."""
    xp = array_namespace(role.p)
    log_factor = xp.log(role.gamma) + xp.sum(xp.log(role.d / role.ell2), axis=1)
    form = xp.sum(role.shift * _times(_precision(role), role.shift), axis=1)
    return -0.5 * (log_factor + form)


def _quadratic(role: _Role) -> Array:
    """The form's parts linear and quadratic in z."""
    xp = array_namespace(role.p)
    A = _precision(role)
    flat = xp.reshape(A, (A.shape[0], -1))
    return xp.concat([_times(A, role.shift), -0.5 * flat], axis=1)


def _times(A: Array, v: Array) -> Array:
    return (A @ v[:, :, None])[:, :, 0]


def _slope(role: _Role, zeroth: Array, first: Array, second: Array) -> Array:
    """The derivatives by a role's p from the sums of w e, w e z and w e z zᵀ over the samples.

    With ``v = y/d`` and ``c = qᵀy``, and d' = n in each entry of the mixture,
    ``∂ exponent = n v_t + ½ n v_t² − (n/γ) c c' + ½ (n/γ²) c² γ'`` where
    ``c' = ℓ_t² y_t/d_t² − n q_t`` and ``γ' = ℓ_t⁴/d_t²``.
    """
    xp = array_namespace(role.p)
    n, d, shift, g = role.n, role.d, role.shift, role.gamma[:, None]
    y = first - zeroth * shift
    yy = _outer_about(second, first, zeroth, shift)
    q, bend = role.p / d, role.ell2 / d
    square = xp.linalg.diagonal(yy)
    cy = _times(yy, q)  # Σ w e c y
    c, cc = xp.sum(q * y, axis=1, keepdims=True), xp.sum(q * cy, axis=1, keepdims=True)
    log_factor = -0.5 * (bend**2 / g + n / d)
    exponent = n * y / d + 0.5 * n * square / d**2
    exponent = exponent - (n / g) * (bend * cy / d - n * q * c)
    return log_factor * zeroth + exponent + 0.5 * (n / g**2) * bend**2 * cc


def _outer_about(second: Array, first: Array, zeroth: Array, shift: Array) -> Array:
    """Second moments about the mean n p from those about the centre."""
    cross = first[:, :, None] * shift[:, None, :]
    moved = zeroth[:, :, None] * (shift[:, :, None] * shift[:, None, :])
    return second - cross - array_namespace(cross).matrix_transpose(cross) + moved
