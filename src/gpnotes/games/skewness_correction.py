"""The leading error of the closed form: the skewness of the counts.

The normal distribution of method ``"gaussian"`` has the mean and the covariance of the counts, and
no third central moments. Those are sums over independent opponents, and a bump that is averaged
over a normal distribution is a bump, so that the term with third derivatives has a closed form.
"""

from __future__ import annotations

from ..ground import check as _check
from ..ground.memory import blocks
from ..ground.xp import Array, Vector, array_namespace, whole_power
from .expansion import ENTRIES, Expansion
from .payoffs import PayoffModel

__all__ = ["gaussian_correction"]


def gaussian_correction(model: PayoffModel, mixtures: Array) -> Array:
    """The term of the skewness, [eq-dp-skewness], which method ``"gaussian"`` leaves out.

    Its size says about how far the closed form is off, by as many exponentials as the closed form
    takes; added to its payoffs, it takes most of that away. For lengthscales of a player and more:
    shorter ones resolve single players, which moments do not describe. And not where chances are
    even, where the error is small: between two strategies there the term is zero, the error not.

    Parameters
    ----------
    model : PayoffModel
        The game with its payoffs.
    mixtures : Array, shape (S,) or (B, S)
        The mixtures, one a row.

    Returns
    -------
    Matrix, shape (B, S)
        The correction to add to the payoffs of method ``"gaussian"``.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame
    >>> near = Expansion(np.asarray([[0.0, 20.0]]), np.ones(1), np.full(2, 4.0))
    >>> model = PayoffModel(RoleSymmetricGame((21,), (2,)), (near, near))
    >>> p = np.asarray([[0.1, 0.9]])
    >>> closed, exact = (model.deviation_payoffs(p, name)[0, 0] for name in ("gaussian", "exact"))
    >>> float(round(exact - closed, 4)), float(round(gaussian_correction(model, p)[0, 0], 4))
    (0.0098, 0.0095)
    """
    _check.instance(model, "model", PayoffModel)
    p = model.game.check_mixtures(mixtures)
    _check.alike(p, "mixtures", model.expansions[0].profiles, "the profiles")
    columns = [_correction(model, s, p) for s in range(model.game.num_strategies)]
    return _check.finite(array_namespace(p).stack(columns, axis=1), "the correction")


def _correction(model: PayoffModel, strategy: int, p: Array) -> Vector:
    payoff, game = model.expansions[strategy], model.game
    roles = list(zip(game.opponents(strategy), game.columns, strict=True))
    parts = [
        _block(payoff, roles, p[rows, :])
        for rows in blocks(p.shape[0], payoff.profiles.shape[0], ENTRIES, like=p)
    ]
    return payoff.scale / 6.0 * array_namespace(p).concat(parts)


def _block(payoff: Expansion, roles: list[tuple[int, slice]], p: Array) -> Vector:
    """Six times the term, without the scale: bumps by their factors, and sums over strategies."""
    xp = array_namespace(p)
    parts = [
        _role(n, payoff.profiles[:, c], payoff.lengthscales[c] ** 2, p[:, c]) for n, c in roles
    ]
    exponents, thirds = zip(*parts, strict=True)
    bumps = xp.exp(sum(exponents[1:], start=exponents[0]))
    return (bumps * sum(thirds[1:], start=thirds[0])) @ payoff.weights


def _role(n: int, X: Array, squared: Array, p: Array) -> tuple[Array, Array]:
    """The exponent of each widened bump with its factor, and its third-order terms, (B, N) each."""
    xp = array_namespace(p)
    v = squared + n * p  # the covariance is diag(v) − n p pᵀ, whose inverse adds (n/γ) of rank one
    beta = squared / v
    gamma = xp.sum(p * beta, axis=1)[:, None]
    strategies = range(X.shape[1])

    def column(a: Array, s: int) -> Array:
        return a[:, s : s + 1]

    away = [X[None, :, s] - n * column(p, s) for s in strategies]
    delta = sum(column(p / v, s) * away[s] for s in strategies) / gamma
    square = sum(away[s] ** 2 / column(v, s) for s in strategies) + n * gamma * delta**2
    log_factor = xp.sum(xp.log(beta), axis=1)[:, None] - xp.log(gamma)
    cubic = xp.zeros_like(delta)
    for s in strategies:
        eta = away[s] / column(v, s) - column(beta, s) * delta
        omega = n / column(v, s) + column(beta, s) ** 2 / gamma
        cubic = cubic + column(p, s) * (n * whole_power(eta, 3) - 3.0 * omega * eta)
    return 0.5 * (log_factor - square), cubic
