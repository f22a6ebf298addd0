"""The closed form: the multinomial taken for a normal, the sum for an integral.

For each role, with ``d_s = ℓ_s² + n p_s``, ``γ = Σ p_s ℓ_s² / d_s``, ``q_s = p_s / d_s`` and
``y = X_j − n p``,

    E f ≈ Π_r γ^(−½) Π_s ℓ_s/√d_s · exp(−½ Σ_s y_s²/d_s − ½ (n/γ) (qᵀy)²).

which is :eq:`eq-dp-closed`. The exponent is a quadratic form in X_j whose coefficients know the
mixture only. So all exponents of a batch are one matrix product, and all sums that payoffs and
derivatives need are another. Mixtures stand in columns here, (s, B): what is done to each strategy
is done to long rows.
"""

from __future__ import annotations

from typing import NamedTuple

from .._xp import Array, array_namespace, is_numpy_namespace
from ..memory import blocks
from .expansion import Expansion
from .game import RoleSymmetricGame

__all__ = ["expected"]

_COEFFICIENTS = 2**17  # numbers in one array of coefficients: what bounds the memory
_QUIET = 2**18  # multiplications in a product beyond which OpenBLAS starts threads, at a loss


class _Role(NamedTuple):
    """What a role's mixtures, (s, B), say about their normal distributions."""

    n: int
    d: Array
    gamma: Array  # (B,)
    q: Array
    bend: Array  # ℓ²/d
    shift: Array  # the mean n p, seen from the centre about which the samples are given
    along: Array  # qᵀ shift, (B,)

    @property
    def pull(self) -> Array:
        return self.n / self.gamma

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return _pairs(self.d.shape[0])


def _pairs(s: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(s) for j in range(i, s)]


def expected(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, p: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    """The approximate expectation (B,) under mixtures p (B, S), and its derivatives (B, S).

    Derivatives are those of the formula above, γ written as it stands there; along the simplex
    they agree with :eq:`eq-dp-gradient` and any other way to write them, :eq:`eq-dp-tangent`.
    O(B J s²) for s strategies a role.
    """
    xp = array_namespace(p)
    centre = xp.mean(expansion.profiles, axis=0)
    features = _features(expansion.profiles - centre, game)
    weighted = features * expansion.weights[:, None] if jacobian else expansion.weights[:, None]
    found = []
    for rows in blocks(p.shape[0], features.shape[1], _COEFFICIENTS):
        roles = _roles(game, strategy, expansion, centre, p[rows, :])
        found.append(_block(roles, features, xp.matrix_transpose(weighted), jacobian))
    value = xp.concat([one for one, _ in found])
    return value, xp.concat([one for _, one in found]) if jacobian else None


def _roles(
    game: RoleSymmetricGame, strategy: int, expansion: Expansion, centre: Array, p: Array
) -> list[_Role]:
    columns = array_namespace(p).matrix_transpose(p)
    ell2, centre = expansion.lengthscales[:, None] ** 2, centre[:, None]
    parts = zip(game.opponents(strategy), game.columns, strict=True)
    return [_role(n, columns[c, :], ell2[c, :], centre[c, :]) for n, c in parts]


def _role(n: int, p: Array, ell2: Array, centre: Array) -> _Role:
    xp = array_namespace(p)
    mean = n * p
    d = ell2 + mean
    q, bend, shift = p / d, ell2 / d, mean - centre
    # 1 − n Σ p²/d is the same on the simplex, but cancels where ℓ is short
    return _Role(n, d, xp.sum(p * bend, axis=0), q, bend, shift, xp.sum(q * shift, axis=0))


def _features(z: Array, game: RoleSymmetricGame) -> Array:
    """1, then for each role z_s and, of each pair once, z_s z_t: what a quadratic form multiplies.

    (J, F) for the samples z (J, S).
    """
    xp = array_namespace(z)
    columns = [xp.ones_like(z[:, :1])]
    for part in game.columns:
        zr = z[:, part]
        columns.append(zr)
        columns += [zr[:, i : i + 1] * zr[:, j : j + 1] for i, j in _pairs(zr.shape[1])]
    return xp.concat(columns, axis=1)


def _block(
    roles: list[_Role], features: Array, weighted: Array, jacobian: bool
) -> tuple[Array, Array | None]:
    xp = array_namespace(features)
    constant = sum(_constant(role) for role in roles)
    form = xp.concat([constant[None, :], *[_form(role) for role in roles]], axis=0)
    parts = blocks(form.shape[1], *_width(features))
    sums = xp.concat([weighted @ xp.exp(features @ form[:, some]) for some in parts], axis=1)
    if not jacobian:
        return sums[0, :], None
    start, slopes = 1, []
    for role in roles:
        stop = start + role.d.shape[0] + len(role.pairs)
        slopes.append(_slope(role, sums[0, :], sums[start:stop, :]))
        start = stop
    return sums[0, :], xp.matrix_transpose(xp.concat(slopes, axis=0))


def _width(features: Array) -> tuple[int, int]:
    """How much work a mixture is, and how much of it a block: to suit caches, or a GPU."""
    on_host = is_numpy_namespace(array_namespace(features))
    work = features.shape[0] * features.shape[1]
    return work, max(8 * work, _QUIET) if on_host else 2**27


def _constant(role: _Role) -> Array:
    """The logarithm of the factor before the exponential, and the form's part without z, (B,)."""
    xp = array_namespace(role.d)
    log_factor = xp.log(role.gamma) - xp.sum(xp.log(role.bend), axis=0)
    square = xp.sum(role.shift**2 / role.d, axis=0) + role.pull * role.along**2
    return -0.5 * (log_factor + square)


def _form(role: _Role) -> Array:
    """The form's parts linear and quadratic in z: ``(L + nM)⁻¹ = diag(1/d) + (n/γ) q qᵀ``."""
    xp = array_namespace(role.d)
    pulled = role.pull * role.q
    products = [pulled[i, :] * role.q[j, :] for i, j in role.pairs]
    quadratic = [
        -0.5 * (product + 1.0 / role.d[i, :]) if i == j else -product
        for product, (i, j) in zip(products, role.pairs, strict=True)
    ]
    return xp.concat([role.shift / role.d + role.along * pulled, xp.stack(quadratic)], axis=0)


def _slope(role: _Role, zeroth: Array, sums: Array) -> Array:
    """The derivatives by a role's p from the sums of w e, w e z and w e z zᵀ over the samples.

    With ``v = y/d`` and ``c = qᵀy``, and d' = n in each entry of the mixture,
    ``∂ exponent = n v_t + ½ n v_t² − (n/γ) c c' + ½ (n/γ²) c² γ'`` where
    ``c' = ℓ_t² y_t/d_t² − n q_t`` and ``γ' = ℓ_t⁴/d_t²``.
    """
    xp = array_namespace(zeroth)
    n, d, q, bend, pull = role.n, role.d, role.q, role.bend, role.pull
    first, second = sums[: d.shape[0], :], sums[d.shape[0] :, :]
    y, square, cy = _about_mean(role, zeroth, first, second)
    c, cc = xp.sum(q * y, axis=0), xp.sum(q * cy, axis=0)
    log_factor = -0.5 * (bend**2 / role.gamma + n / d)
    exponent = (n / d) * (y + 0.5 * square / d) - pull * (bend * cy / d - n * q * c)
    return log_factor * zeroth + exponent + (0.5 * pull / role.gamma * cc) * bend**2


def _about_mean(
    role: _Role, zeroth: Array, first: Array, second: Array
) -> tuple[Array, Array, Array]:
    """The sums of w e y, w e y² and w e (qᵀy) y from those about the centre."""
    xp = array_namespace(zeroth)
    shift, q, s = role.shift, role.q, role.d.shape[0]
    rows = {pair: second[row, :] for row, pair in enumerate(role.pairs)}
    along = [sum(q[i, :] * rows[min(i, t), max(i, t)] for i in range(s)) for t in range(s)]
    y = first - zeroth * shift
    square = xp.stack([rows[t, t] for t in range(s)]) - shift * (first + y)
    return y, square, xp.stack(along) - xp.sum(q * first, axis=0) * shift - role.along * y
