"""The closed form: the multinomial taken for a normal, the sum for an integral.

For each role, with ``d_s = ℓ_s² + n p_s``, ``γ = Σ p_s ℓ_s² / d_s``, ``q_s = p_s / d_s`` and
``y = X_j − n p``,

    E f ≈ Π_r γ^(−½) Π_s ℓ_s/√d_s · exp(−½ Σ_s y_s²/d_s − ½ (n/γ) (qᵀy)²).

which is [eq-dp-closed], from [eq-dp-chain] by the determinant of a diagonal and a matrix of
rank one, [eq-dp-determinants]. The exponent is a quadratic form in X_j whose coefficients know
the mixture only. So all exponents of a batch are one matrix product, and all sums that payoffs and
derivatives need are another. Mixtures stand in columns here, (s, B), so that
work for each strategy runs along long rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ground.memory import blocks
from ...ground.xp import Array, array_namespace
from ..expansion import Expansion
from ..game import RoleSymmetricGame
from .expected_payoff import Expectation, Options, RoleProblem

__all__ = ["expectations", "pairs", "single_bumps"]

_COEFFICIENTS = 2**17  # numbers in one array of coefficients: what bounds the memory
_QUIET = 2**18  # multiplications in a product beyond which OpenBLAS starts threads, at a loss


class _Role(NamedTuple):
    """The normal distributions of a role's opponents under its mixtures, (s, B)."""

    n: int
    d: Array  # ℓ² + n p
    gamma: Array  # Σ p ℓ²/d, (B,)
    q: Array  # p/d
    ratio: Array  # ℓ²/d
    shift: Array  # the mean n p, seen from the centre about which the samples are given
    q_shift: Array  # qᵀ shift, (B,)

    @property
    def n_over_gamma(self) -> Array:
        return self.n / self.gamma

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return _pairs(self.d.shape[0])


def _pairs(s: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(s) for j in range(i, s)]


def expectations(problem: RoleProblem, options: Options) -> list[Expectation]:
    """The expectations of a role's bumps in the normal approximation, and their gradients.

    Parameters
    ----------
    problem : RoleProblem
        The payoffs and mixtures.
    options : Options
        None matters.

    Returns
    -------
    list of Expectation
        One for each strategy of the role.

    Notes
    -----
    Derivatives are those of the formula of this module, γ written as it stands there; along the
    simplex they agree with [eq-dp-gradient] and any other way to write them,
    [eq-dp-tangent]. O(B J s²) for s strategies a role.
    """
    return [_expectation(problem, payoff) for payoff in problem.expansions]


def _expectation(problem: RoleProblem, payoff: Expansion) -> Expectation:
    p = problem.mixtures
    xp = array_namespace(p)
    centre = xp.mean(payoff.profiles, axis=0)
    features = _features(payoff.profiles - centre, problem.game)
    weights = payoff.weights[:, None]
    weighted = xp.matrix_transpose(features * weights if problem.gradient else weights)
    parts = [
        _block(_roles(problem, payoff, centre, p[rows, :]), features, weighted, problem.gradient)
        for rows in blocks(p.shape[0], features.shape[1], _COEFFICIENTS, like=p)
    ]
    return Expectation.joined(parts)


def single_bumps(problem: RoleProblem, payoff: Expansion) -> Array:
    """The expectation of each bump alone in the normal approximation, without its weight.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures; of its payoffs only the place matters.
    payoff : Expansion
        The bumps.

    Returns
    -------
    Matrix, shape (J, B)
        The expectations.
    """
    xp = array_namespace(problem.mixtures)
    centre = xp.mean(payoff.profiles, axis=0)
    features = _features(payoff.profiles - centre, problem.game)
    parts = [
        xp.exp(features @ _all_forms(_roles(problem, payoff, centre, problem.mixtures[rows, :])))
        for rows in blocks(
            problem.mixtures.shape[0], features.shape[1], _COEFFICIENTS, like=problem.mixtures
        )
    ]
    return xp.concat(parts, axis=1)


def pairs(problem: RoleProblem, payoff: Expansion) -> Array:
    """The expectation of the bump between two profiles that are drawn apart, taken for normal.

    Parameters
    ----------
    problem : RoleProblem
        The mixtures.
    payoff : Expansion
        The bumps; only their lengthscales matter.

    Returns
    -------
    Vector, shape (B,)
        The expectations.

    Notes
    -----
    The difference of the two has mean zero and twice the covariance: the factor of the closed form
    with 2 n opponents, [eq-ge-pairs].
    """
    xp = array_namespace(problem.mixtures)
    mixtures = xp.matrix_transpose(problem.mixtures)
    ell2 = payoff.lengthscales[:, None] ** 2
    total = xp.ones_like(mixtures[0, :])
    for n, c in zip(problem.opponents, problem.game.columns, strict=True):
        p = mixtures[c, :]
        ratio = ell2[c, :] / (ell2[c, :] + 2.0 * n * p)
        total = total * xp.exp(
            0.5 * (xp.sum(xp.log(ratio), axis=0) - xp.log(xp.sum(p * ratio, axis=0)))
        )
    return total


def _roles(problem: RoleProblem, payoff: Expansion, centre: Array, p: Array) -> list[_Role]:
    mixtures = array_namespace(p).matrix_transpose(p)
    ell2 = payoff.lengthscales[:, None] ** 2
    centre = centre[:, None]
    roles = zip(problem.opponents, problem.game.columns, strict=True)
    return [_role(n, mixtures[c, :], ell2[c, :], centre[c, :]) for n, c in roles]


def _role(n: int, p: Array, ell2: Array, centre: Array) -> _Role:
    xp = array_namespace(p)
    mean = n * p
    d = ell2 + mean
    q = p / d
    ratio = ell2 / d
    shift = mean - centre
    # 1 − n Σ p²/d is the same on the simplex, but cancels where ℓ is short
    gamma = xp.sum(p * ratio, axis=0)
    return _Role(n, d, gamma, q, ratio, shift, xp.sum(q * shift, axis=0))


def _features(z: Array, game: RoleSymmetricGame) -> Array:
    """The features that a quadratic form multiplies: 1, then z_s and z_s z_t of each role and pair.

    (J, F) for the samples z (J, S); of each pair once.
    """
    xp = array_namespace(z)
    columns = [xp.ones_like(z[:, :1])]
    for part in game.columns:
        zr = z[:, part]
        columns.append(zr)
        columns += [zr[:, i : i + 1] * zr[:, j : j + 1] for i, j in _pairs(zr.shape[1])]
    return xp.concat(columns, axis=1)


def _block(roles: list[_Role], features: Array, weighted: Array, gradient: bool) -> Expectation:
    xp = array_namespace(features)
    form = _all_forms(roles)
    portions = blocks(form.shape[1], *_work_sizes(features), like=form)
    sums = xp.concat([weighted @ xp.exp(features @ form[:, part]) for part in portions], axis=1)
    if not gradient:
        return Expectation(sums[0, :])
    start = 1
    gradients = []
    for role in roles:
        stop = start + role.d.shape[0] + len(role.pairs)
        gradients.append(_gradient(role, sums[0, :], sums[start:stop, :]))
        start = stop
    return Expectation(sums[0, :], xp.matrix_transpose(xp.concat(gradients, axis=0)))


def _all_forms(roles: list[_Role]) -> Array:
    """The coefficients of all exponents, (F, B)."""
    first, *others = [_constant(role) for role in roles]
    constant = sum(others, start=first)
    parts = [constant[None, :], *[_form(role) for role in roles]]
    return array_namespace(constant).concat(parts, axis=0)


def _work_sizes(features: Array) -> tuple[int, int]:
    """The work of a mixture, and that of a block on a host, to suit its caches."""
    work = features.shape[0] * features.shape[1]
    return work, max(8 * work, _QUIET)


def _constant(role: _Role) -> Array:
    """The logarithm of the factor before the exponential, and the form's part without z, (B,)."""
    xp = array_namespace(role.d)
    log_factor = xp.log(role.gamma) - xp.sum(xp.log(role.ratio), axis=0)
    square = xp.sum(role.shift**2 / role.d, axis=0) + role.n_over_gamma * role.q_shift**2
    return -0.5 * (log_factor + square)


def _form(role: _Role) -> Array:
    """The form's parts linear and quadratic in z: ``(L + nM)⁻¹ = diag(1/d) + (n/γ) q qᵀ``."""
    xp = array_namespace(role.d)
    scaled_q = role.n_over_gamma * role.q
    products = [scaled_q[i, :] * role.q[j, :] for i, j in role.pairs]
    quadratic = [
        -0.5 * (product + 1.0 / role.d[i, :]) if i == j else -product
        for product, (i, j) in zip(products, role.pairs, strict=True)
    ]
    linear = role.shift / role.d + role.q_shift * scaled_q
    return xp.concat([linear, xp.stack(quadratic)], axis=0)


def _gradient(role: _Role, zeroth: Array, sums: Array) -> Array:
    """The derivatives by a role's p from the sums of w e, w e z and w e z zᵀ over the samples.

    With ``v = y/d`` and ``c = qᵀy``, and d' = n in each entry of the mixture,
    ``∂ exponent = n v_t + ½ n v_t² − (n/γ) c c' + ½ (n/γ²) c² γ'`` where
    ``c' = ℓ_t² y_t/d_t² − n q_t`` and ``γ' = ℓ_t⁴/d_t²``.
    """
    xp = array_namespace(zeroth)
    n, d, gamma, q, ratio, *_ = role
    y, y2, cy = _about_mean(role, zeroth, sums[: d.shape[0], :], sums[d.shape[0] :, :])
    c = xp.sum(q * y, axis=0)
    c2 = xp.sum(q * cy, axis=0)
    by_factor = -0.5 * (ratio**2 / gamma + n / d) * zeroth
    by_diagonal = (n / d) * (y + 0.5 * y2 / d)
    by_c = role.n_over_gamma * (ratio * cy / d - n * q * c)
    by_gamma = (0.5 * role.n_over_gamma / gamma * c2) * ratio**2
    return by_factor + (by_diagonal - by_c) + by_gamma


def _about_mean(
    role: _Role, zeroth: Array, first: Array, second: Array
) -> tuple[Array, Array, Array]:
    """The sums of w e y, w e y² and w e (qᵀy) y from those about the centre."""
    xp = array_namespace(zeroth)
    shift = role.shift
    q = role.q
    s = role.d.shape[0]
    rows = {pair: second[row, :] for row, pair in enumerate(role.pairs)}
    q_second = [
        sum((q[i, :] * rows[min(i, t), max(i, t)] for i in range(1, s)), start=q[0, :] * rows[0, t])
        for t in range(s)
    ]
    y = first - zeroth * shift
    square = xp.stack([rows[t, t] for t in range(s)]) - shift * (first + y)
    return y, square, xp.stack(q_second) - xp.sum(q * first, axis=0) * shift - role.q_shift * y
