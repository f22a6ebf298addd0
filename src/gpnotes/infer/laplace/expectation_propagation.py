"""Expectation propagation for labels: a Gaussian whose marginals have the right moments.

Each label's likelihood is replaced by a normal factor, a site, so that mean and variance of its
latent value are those that it has with this one likelihood as it is and all others replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Rows
from ...ground.class_tags import saved_as
from ...ground.late_reads import number, trials
from ...ground.linalg import Cholesky
from ...ground.params import cotangent, numbers_read
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import (
    Array,
    Matrix,
    Vector,
    array_namespace,
    diagonal,
    epsilon,
    fused,
    zero_where,
)
from ...model import means
from ...model.gaussian_process import GP, differentiable_mean, require_no_noise
from ...model.likelihoods import Bernoulli
from ..evidence import Evidence, Model, evidence_of, whole_rows
from .sites import SitePosterior, factored, shifted_mean, validate, warn_of_rounding

__all__ = ["EPGP", "EPPosterior"]

_PROBIT = Bernoulli()
_MOST_SWEEPS = 1000
_NEAR, _MORE = 1e-5, 12  # how far sites may move at the end, and the sweeps that float32 tries it
_PLAIN_SWEEPS = 30  # before steps are put together
_SLOWER, _FASTER, _LEAST = 0.5, 1.2, 0.05  # of the share of the way that sites move


class _Sites(NamedTuple):
    """``exp(ν f − ½ τ f²)`` for each label, f less its prior mean."""

    precision: Vector
    shift: Vector


class _Step(NamedTuple):
    """Where the sites were, a row of precisions and one of shifts, and the way to the wanted."""

    at: Matrix
    way: Matrix

    @classmethod
    def of(cls, sites: _Sites, wanted: _Sites) -> _Step:
        at, to = (array_namespace(s.shift).stack(s) for s in (sites, wanted))
        return cls(at, to - at)

    def products(self, before: list[_Step]) -> list[Array]:
        """The products of what lies between the ways of steps, and of each with this way.

        Each site counts in units of its size.
        """
        if not before:
            return []
        xp = array_namespace(self.at)
        size = xp.maximum(xp.abs(self.at), xp.abs(self.at + self.way))
        unit = 1.0 / xp.where(size > 0.0, size, xp.ones_like(size))
        apart, way = [unit * (step.way - self.way) for step in before], unit * self.way
        return [xp.sum(a * b) for b in (*apart, way) for a in apart]

    def moved(self, share: float, before: list[_Step], products: list[float]) -> _Sites:
        """The sites after a share of the way, or of the shortest that steps before make with it.

        That is Anderson's mixing (Walker & Ni, 2011): if ways were linear in sites, the sites
        between those of some steps would have the way between theirs. Precisions stay positive.
        """
        xp = array_namespace(self.at)
        mixed = plain = self.at + share * self.way
        weights = _shortest(products, epsilon(plain)) if before else []
        for weight, step in zip(weights, before, strict=True):
            mixed = mixed - weight * (step.at - self.at + share * (step.way - self.way))
        mixed = xp.where(xp.all(mixed[0, :] >= 0.0), mixed, plain) if before else plain
        return _Sites(mixed[0, :], mixed[1, :])


def _shortest(products: list[float], eps: float) -> list[float]:
    """The w that make ``way − Σ w apart`` short; a ridge keeps those of ways alike small."""
    many = math.isqrt(len(products))
    table = np.reshape(products, (many + 1, many))
    gram, along = table[:many, :], table[many, :]
    # no division by zero where a way has not changed
    size = np.sqrt(np.diagonal(gram)) + np.finfo(np.float64).tiny
    # scaled to a diagonal of ones, so that one ridge suits ways of any length
    scaled = np.linalg.solve(gram / size / size[:, None] + eps**0.75 * np.eye(many), along / size)
    return [float(w) for w in scaled / size]


class _Sweep(NamedTuple):
    """The posterior by the sites, and the sites that each label would have instead."""

    sites: _Sites
    cholesky: Cholesky
    gradient: Vector
    fit: Array  # the log evidence but for the determinant
    wanted: _Sites
    gap: Array  # how far they are from there, in units of the marginals


@threads_for(lambda gp, rows, likelihood, quiet: rows.X.shape[0] ** 3)
def _conditioned(gp: GP, rows: Rows, likelihood: Bernoulli, quiet: bool) -> EPPosterior:
    X, y = rows.X, rows.y
    for trial in trials(X):
        with trial:
            K = gp.kernel._gram(X, None)
            swept, sweeps = _settled(K, shifted_mean(gp, rows), y, likelihood)
            log_evidence = number(swept.fit) - 0.5 * swept.cholesky.log_det
            sqrt_W = array_namespace(K).sqrt(swept.sites.precision)
            warn_of_rounding(K, sqrt_W, quiet, 0.1)
    return EPPosterior(
        gp, X, y, likelihood, swept.gradient, sqrt_W, swept.cholesky, number(log_evidence), sweeps
    )


def _settled(K: Matrix, mean: Vector, y: Vector, likelihood: Bernoulli) -> tuple[_Sweep, int]:
    """The sweep whose sites are those that are wanted, and how many it took.

    Under a wide prior whole steps go to and fro: the share falls where the way gets longer, and
    after thirty sweeps the ways of the last three are mixed.
    """
    sites = _Sites(*2 * [array_namespace(K).zeros_like(mean)])
    share, last, near, more = 1.0, float("inf"), epsilon(K) ** 0.5, 0
    steps: list[_Step] = []
    for sweep in range(1, _MOST_SWEEPS + 1):
        swept = _sweep(K, mean, y, likelihood, sites)
        here, before = _Step.of(sites, swept.wanted), steps if sweep > _PLAIN_SWEEPS else []
        gap, *products = map(float, (swept.gap, *here.products(before)))
        # the evidence is stationary in the sites: where they are off by √eps, it is off by eps;
        # moments are not, and in float32 take some sweeps more
        more += more > 0 or (gap <= near and sweep > _PLAIN_SWEEPS)
        if gap <= min(near, _NEAR) or (gap <= near and more > _MORE):
            return swept, sweep
        if not math.isfinite(gap):
            break
        share = max(_SLOWER * share, _LEAST) if gap > last else min(_FASTER * share, 1.0)
        last = gap
        sites = here.moved(share, before, products)
        steps = [*steps[-1:], here]
    wanted = f"model must let expectation propagation settle in {_MOST_SWEEPS} sweeps"
    doubt = f"is the prior not too wide, or offset too large, for {K.dtype}?"
    raise _check.NoValueError(f"{wanted}; its sites still moved by {gap:.1e}: {doubt}")


def _sweep(K: Matrix, mean: Vector, y: Vector, likelihood: Bernoulli, sites: _Sites) -> _Sweep:
    """Source: Rasmussen & Williams (2006), algorithm 3.5, for all sites at once."""
    xp = array_namespace(K)
    tau, nu = sites
    root = xp.sqrt(tau)
    factor = factored(K, root)
    half = factor._half_solve(root[:, None] * K)
    variance = xp.clip(diagonal(K) - xp.sum(half * half, axis=0), 0.0, None)
    # (K⁻¹ + τ)⁻¹ ν = K (ν − τ^½ B⁻¹ τ^½ K ν): K is never inverted, and may be singular
    gradient = nu - root * factor._solve(root * (K @ nu))
    f = K @ gradient
    cavity = _cavities(variance, tau, nu, f)
    tilted = likelihood._tilted(y, mean + cavity[1], cavity[0])
    precision, shift, moved = _matched(variance, tau, nu, f, *cavity, *tilted[1:])
    fit = xp.sum(_terms(tilted[0], tau, nu, *cavity)) + 0.5 * xp.sum(nu * f)
    wanted = _Sites(precision, shift)
    return _Sweep(sites, factor, gradient, fit, wanted, xp.max(moved))


@fused
def _cavities(variance: Vector, tau: Vector, nu: Vector, f: Vector) -> tuple[Vector, Vector]:
    """Variance and mean of the marginals, each without its own site, [eq-la-cavity]."""
    left = 1.0 - tau * variance
    return variance / left, (f - nu * variance) / left


@fused
def _matched(
    variance: Vector,
    tau: Vector,
    nu: Vector,
    f: Vector,
    cavity_variance: Vector,
    cavity_mean: Vector,
    alpha: Vector,
    beta: Vector,
) -> tuple[Vector, Vector, Vector]:
    """Precisions and shifts of the sites that are wanted, and how far these are, see `_Sweep`."""
    xp, narrower = array_namespace(variance), 1.0 - cavity_variance * beta
    precision = beta / narrower
    # labels have log-concave likelihoods: less than zero is rounding, and has no square root
    precision = zero_where(precision < 0.0, precision)
    shift = (alpha + cavity_mean * beta) / narrower
    by_tau, by_nu = precision - tau, shift - nu
    moved = xp.abs(by_nu - f * by_tau) * xp.sqrt(variance) + xp.abs(by_tau) * variance
    return precision, shift, moved


@fused
def _terms(
    log_z: Vector, tau: Vector, nu: Vector, cavity_variance: Vector, cavity_mean: Vector
) -> Vector:
    """The term of each label in the evidence."""
    # no site is divided by its precision, which is zero where the label tells nothing
    wider = 1.0 + tau * cavity_variance
    square = nu * (2.0 * cavity_mean + nu * cavity_variance) - tau * (cavity_mean * cavity_mean)
    return log_z + 0.5 * array_namespace(tau).log(wider) - 0.5 * square / wider


@dataclass(frozen=True, eq=False)
class EPPosterior(SitePosterior):
    """The Gaussian of expectation propagation, ``f | y ≈ N(m + K a, (K⁻¹ + W)⁻¹)``.

    Made by `gpnotes.condition`.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The labels, 1 and −1.
    likelihood : Bernoulli
        Their link.
    gradient : Vector, shape (n,)
        ``a = K⁻¹(mean − m)``, the gradient of the log sites at the mean.
    sqrt_W : Vector, shape (n,)
        ``W^½``, with W the precisions of the sites.
    cholesky : Cholesky
        The factor of ``I + W^½ K W^½``.
    log_evidence : float
        The log of the evidence that expectation propagation has for ``p(y)``, [eq-la-ep-evidence].
    sweeps : int
        How many times all sites were visited.

    Notes
    -----
    Source: Rasmussen & Williams (2006), section 3.6.

    Examples
    --------
    For one label the moments are exact.

    >>> import numpy as np
    >>> from gpnotes import RBF, condition
    >>> posterior = condition(EPGP(GP(RBF(), 0.0)), np.zeros((1, 1)), np.ones(1))
    >>> mean, variance = posterior.predict(np.asarray([[0.0], [9.0]]))
    >>> mean.round(4), variance.round(4)
    (array([0.5642, 0.    ]), array([0.6817, 1.    ]))
    """

    gp: GP
    X: Matrix
    y: Vector
    likelihood: Bernoulli
    gradient: Vector
    sqrt_W: Vector
    cholesky: Cholesky
    log_evidence: float
    sweeps: int

    __repr__ = summary

    @threads_for(lambda self: self.X.shape[0] ** 3)
    def evidence_gradient(self) -> tuple[GP, Matrix]:
        """Differentiate `log_evidence` by the process and the inputs, [eq-la-ep-gradient]; O(n³).

        Returns
        -------
        gp_bar : GP
            A `GP` that holds the derivatives by kernel and mean.
        X_bar : Matrix, shape (n, d)
            The derivatives by the inputs.

        Raises
        ------
        TypeError
            If the mean of the process has no pullback.

        Notes
        -----
        Where the sites have settled the evidence does not change with them, so that
        ``K_bar = ½ (a aᵀ − W^½ B⁻¹ W^½)`` as for normal noise. Source: Rasmussen & Williams
        (2006), equation 5.27.
        """
        memory.require_of_rows(
            self.X.shape[0], like=self.X, copies=4, what="the gradient of the evidence"
        )
        R = self.sqrt_W[:, None] * self.cholesky.inverse() * self.sqrt_W[None, :]
        K_bar = 0.5 * (self.gradient[:, None] * self.gradient[None, :] - R)
        kernel_bar, X_bar, _ = self.gp.kernel._pullback(self.X, None, K_bar)
        mean = means.with_hooks(differentiable_mean(self.gp))
        mean_bar, X_bar_of_mean = mean._pullback(self.X, self.gradient)
        gp_bar = cotangent(self.gp, kernel=kernel_bar, noise_var=0.0, mean=mean_bar)
        return gp_bar, X_bar + X_bar_of_mean


@dataclass(frozen=True, eq=False)
class EPGP(Model["EPGP", EPPosterior]):
    """A process seen through labels, by the Gaussian of expectation propagation.

    A model for `condition`, `log_evidence` and `fit`; as a cotangent, it holds the derivatives by
    the process.

    Parameters
    ----------
    gp : GP
        The process of f. The likelihood says how y scatters around f, so that ``gp.noise_var``
        must be zero and stays.
    likelihood : Bernoulli, default Bernoulli()
        The link of the labels, 1 and −1.

    Notes
    -----
    [eq-la-sites]. Costs O(n³) a sweep, ten of them where the prior is narrow and some fifty where
    it is wide; sites that do not settle, or a prior so wide that no digit is left, are a
    `RuntimeError`, under a quarter a ``RoundingWarning``. Its moments, probabilities and
    evidence are nearer to the true ones than those of `LaplaceGP`, most of all under a wide prior
    (Kuss & Rasmussen, 2005; Nickisch & Rasmussen, 2008).

    Source: Minka (2001); Rasmussen & Williams (2006), sections 3.6 and 5.5.2. All sites are
    updated at once, with damping.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import LaplaceGP, RBF, condition, fit
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> y, gp = np.sign(np.sin(X[:, 0]) + 0.1), GP(RBF(25.0, 1.5), 0.0)
    >>> [condition(kind(gp), X, y).probability([[1.0]]).round(2) for kind in (EPGP, LaplaceGP)]
    [array([0.98]), array([0.87])]
    >>> fit(EPGP(gp), X, y).log_evidence > condition(EPGP(gp), X, y).log_evidence
    True
    """

    gp: GP
    likelihood: Bernoulli = _PROBIT

    def __post_init__(self) -> None:
        require_no_noise(_check.instance(self.gp, "gp", GP))
        _check.instance(self.likelihood, "likelihood", Bernoulli)


@saved_as("EP evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[EPGP, EPPosterior]):
    """The approximate evidence of the sites that have settled."""

    by_offset: ClassVar[bool] = True
    rows: Rows

    def require_gradient(self, model: EPGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(self, model: EPGP, *, quiet: bool = False) -> tuple[float, EPGP]:
        for trial in trials(self.rows.X):
            with trial:
                posterior = _conditioned(model.gp, self.rows, model.likelihood, quiet)
                gp_bar = posterior.evidence_gradient()[0]
        value, bar = posterior.log_evidence, cotangent(model, gp=gp_bar)
        return number(value), numbers_read(bar)

    def posterior(self, model: EPGP) -> EPPosterior:
        return _conditioned(model.gp, self.rows, model.likelihood, False)


@evidence_of.register(EPGP)
def _evidence(model: EPGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    validate(model.gp, rows, model.likelihood)
    return _Evidence(rows, held=("gp.noise_var",), latent=True)
