"""Labels and other non-Gaussian observations: a Gaussian around the mode of f.

Newton steps find the mode, and the posterior keeps the factor of ``B = I + W^½ K W^½``, whose
eigenvalues are at least one. Prediction, the approximate evidence and its derivatives start from
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Rows
from ...ground.class_tags import saved_as
from ...ground.late_reads import number, trials
from ...ground.linalg import Cholesky
from ...ground.params import cotangent, leaves, numbers_read
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, diagonal
from ...model import means
from ...model.contracts import Likelihood, require
from ...model.gaussian_process import GP, differentiable_mean, require_no_noise
from ...model.likelihoods import Bernoulli, Binomial
from ...model.likelihoods.adapter import centred, is_latent, moves_under_laplace, with_hooks
from ...model.likelihoods.base import Bars, LikelihoodBase
from ..evidence import Evidence, Model, evidence_of, whole_rows
from .bending import Bending, bending_of
from .left_out import LeftOut, compared
from .mode import Mode, Seen, mode_of
from .sites import SitePosterior, factored, shifted_mean, validate, warn_of_rounding

__all__ = ["LaplaceGP", "LaplacePosterior"]

_PROBIT = Bernoulli()
_PRIOR = "or give the variance of the kernel a prior"
_DOUBTED = {
    Bernoulli: (("y = -1", "y = 1"), f"take an EPGP, method='ep' of an estimator, {_PRIOR}"),
    Binomial: (("failures", "successes"), f"take an SVGP, {_PRIOR}"),
}


@threads_for(lambda gp, rows, likelihood, quiet: rows.X.shape[0] ** 3)
def _conditioned(gp: GP, rows: Rows, likelihood: Likelihood, quiet: bool) -> LaplacePosterior:
    X, y = rows.X, rows.y
    K = gp.kernel._gram(X, None)
    f, alpha, (_, second, third), bends, steps = _mode(K, shifted_mean(gp, rows), y, likelihood)
    sqrt_W = _root(second)
    factor = factored(K, sqrt_W)
    bent = bending_of(K, sqrt_W, factor, second) if bends else None
    warn_of_rounding(K, sqrt_W, quiet)
    mode = f if rows.offset is None else f - rows.offset
    return LaplacePosterior(
        gp, X, y, likelihood, mode, alpha, sqrt_W, third, factor, steps, rows.offset, bent
    )


def _mode(K: Matrix, mean: Vector, y: Vector, likelihood: Likelihood) -> Mode:
    """The f of the largest ``log p(y | f) − ½ (f − m)ᵀ K⁻¹ (f − m)``.

    Where only y − f counts it is found as f − m, which is rounded less than f at a high level.
    """
    hooks = with_hooks(likelihood)
    near, level = centred(likelihood, y, mean)
    found = _mode_near(K, level, near, hooks)
    return found if level is mean else found._replace(f=mean + found.f)


def _mode_near(K: Matrix, mean: Vector, y: Vector, hooks: LikelihoodBase) -> Mode:
    """The mode as it is looked for, from the mean on."""
    xp = array_namespace(K)

    def look(alpha: Vector, f: Vector) -> Seen:
        # α = K⁻¹(f − m) is what steps are taken in, so that the quadratic form takes no solve
        value = xp.sum(hooks._log_density(y, f)) - 0.5 * xp.sum(alpha * (f - mean))
        slopes = hooks._derivatives(y, f)
        return Seen(value, slopes, xp.any(slopes[1] > 0.0))

    def newton(alpha: Vector, slopes: tuple[Vector, ...], bends: bool) -> Vector:
        first, second, _ = slopes
        return _newton(K, first - alpha, second, bends)

    doubt = f"has p(f | y) a maximum, and is the prior not too wide for {K.dtype}?"
    return mode_of(K, mean, look, newton, doubt)


def _newton(K: Matrix, off: Vector, second: Vector, bends: bool) -> Vector:
    """The way of α to the maximum of the quadratic that touches the posterior, [eq-la-newton].

    It is ``(I + W K)⁻¹ (∇log p − α)``, whose rounding the next step takes away.
    """
    sqrt_W = _root(second)
    factor = factored(K, sqrt_W)
    bent = _bent_there(K, sqrt_W, factor, second) if bends else None
    pull = K @ off
    way = off - sqrt_W * factor._solve(sqrt_W * pull)
    if bent is None:
        return way
    return way + array_namespace(K).matrix_transpose(bent.root) @ (bent.root @ pull)


def _bent_there(K: Matrix, sqrt_W: Vector, factor: Cholesky, second: Vector) -> Bending | None:
    """`bending_of`, on the way to a mode: None too where the posterior has no maximum nearby."""
    try:
        return bending_of(K, sqrt_W, factor, second)
    except _check.NoValueError:
        return None


def _root(second: Vector) -> Vector:
    """``W^½``, zero where log p(y | f) bends upwards: a step by the rest leads uphill too."""
    xp = array_namespace(second)
    return xp.sqrt(xp.clip(-second, 0.0, None))


class _Way(NamedTuple):
    """The way back from derivatives by the mode and the curvature to all that moves them."""

    variance: Vector  # of f given y, the diagonal of (K⁻¹ + W)⁻¹
    u: Vector  # the derivatives by the prior mean through the mode
    moved: Vector  # K u, those by the gradient of log p(y | f) through the mode


@dataclass(frozen=True, eq=False)
class LaplacePosterior(SitePosterior):
    """The Gaussian around the mode, ``f | y ≈ N(mode, (K⁻¹ + W)⁻¹)``; made by `gpnotes.condition`.

    Parameters
    ----------
    gp : GP
        The process that was conditioned.
    X : Matrix, shape (n, d)
        The inputs.
    y : Vector, shape (n,)
        The observations.
    likelihood : Likelihood
        How y scatters around f.
    mode : Vector, shape (n,)
        The mode of f at `X`.
    gradient : Vector, shape (n,)
        ``K⁻¹(mode − m)``, the gradient of ``log p(y | f)`` there.
    sqrt_W : Vector, shape (n,)
        ``W^½``, with W minus the second derivatives there, and zero where these are positive.
    third : Vector, shape (n,)
        The third derivatives there.
    cholesky : Cholesky
        The factor of ``I + W^½ K W^½``.
    steps : int
        How many Newton steps it took.
    offset : Vector, shape (n,), or None, default None
        The term added to f for each observation. Predictions are of f alone, unless they
        get the offsets of new inputs.
    bent : Bending or None, default None
        The terms of observations where log p(y | f) bends upwards, as outliers under `StudentT`.

    Notes
    -----
    [eq-la-predict]. Source: Rasmussen & Williams (2006), section 3.4, algorithm 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, condition
    >>> posterior = condition(LaplaceGP(GP(RBF(), 0.0)), np.zeros((1, 1)), np.ones(1))
    >>> mean, variance = posterior.predict(np.asarray([[0.0], [9.0]]))
    >>> mean.round(4), variance.round(4)
    (array([0.5061, 0.    ]), array([0.6613, 1.    ]))
    """

    gp: GP
    X: Matrix
    y: Vector
    likelihood: Likelihood
    mode: Vector
    gradient: Vector
    sqrt_W: Vector
    third: Vector
    cholesky: Cholesky
    steps: int
    offset: Vector | None = None
    bent: Bending | None = None

    __repr__ = summary

    @property
    def _bending(self) -> Matrix | None:
        return None if self.bent is None else self.bent.root

    @property
    def log_evidence(self) -> float:
        """The approximate log evidence, nearly ``log p(y)``.

        ``log p(y | f) − ½ (f − m)ᵀ K⁻¹ (f − m) − ½ log |B|`` at the mode, [eq-la-evidence].
        Source: Rasmussen & Williams (2006), algorithm 3.1.
        """
        xp = array_namespace(self.mode)
        deviation = self.mode - means.with_hooks(self.gp.mean)._call(self.X)
        f = self.mode if self.offset is None else self.mode + self.offset
        fit = number(xp.sum(with_hooks(self.likelihood)._log_density(self.y, f)))
        log_det = self.cholesky.log_det + (0.0 if self.bent is None else self.bent.log_det)
        return fit - 0.5 * number(xp.sum(self.gradient * deviation)) - 0.5 * log_det

    @threads_for(lambda self: self.X.shape[0] ** 3)
    def evidence_gradient(self) -> tuple[GP, Matrix]:
        """Differentiate `log_evidence` by the process and the inputs, [eq-la-gradient]; O(n³).

        Returns
        -------
        gp_bar : GP
            A `GP` that holds the derivatives by kernel and mean.
        X_bar : Matrix, shape (n, d)
            The derivatives by the inputs. There is no third one, by y, as in `ExactPosterior`: a
            label cannot change a little.

        Raises
        ------
        TypeError
            If the mean of the process has no pullback.

        Notes
        -----
        The mode moves with the hyperparameters, ``df = (I + KW)⁻¹ (dK ∇log p + dm)``, and W with
        the mode. So with ``R = W^½ B⁻¹ W^½`` and ``s = ½ diag((K⁻¹ + W)⁻¹) ∇³log p`` there is one
        matrix for all, ``K_bar = ½ (a aᵀ − R) + u aᵀ`` with ``a = ∇log p`` and ``u = s − R K s``.
        Source: Rasmussen & Williams (2006), algorithm 5.1.
        """
        return self._gradient(self._way_back())

    @threads_for(lambda self: self.X.shape[0] ** 3)
    def likelihood_gradient(self) -> Likelihood:
        """Differentiate `log_evidence` by the parameters of the likelihood; O(n³).

        Returns
        -------
        Likelihood
            One of the class of `likelihood` that holds the derivatives; `likelihood` itself where
            there is no parameter, or no ``derivatives_bar``.

        Notes
        -----
        [eq-la-likelihood-gradient]. With ``ℓ`` for log p(y | f), v for ``diag((K⁻¹ + W)⁻¹)`` and
        `evidence_gradient`'s u, it is ``Σ ∂ℓ/∂θ + ½ v ∂ℓ″/∂θ + K u ∂ℓ′/∂θ``: a parameter changes
        the density and the curvature at the mode, and moves the mode by
        ``df = (K⁻¹ + W)⁻¹ ∂ℓ′/∂θ dθ``, [eq-la-likelihood-moves]. Source: Rasmussen &
        Williams (2006), section 5.5.1, whose hyperparameters are those of the kernel; the same
        steps for those of the likelihood.
        """
        return self._likelihood_gradient(self._way_back())

    def _gradients(self) -> tuple[GP, Likelihood]:
        """The derivatives by process and likelihood, from one pass."""
        way = self._way_back()
        return self._gradient(way)[0], self._likelihood_gradient(way)

    def _way_back(self) -> _Way:
        n = self.X.shape[0]
        xp = array_namespace(self.X)
        memory.require_of_rows(n, like=self.X, copies=6, what="the gradient of the evidence")
        K = self.gp.kernel._gram(self.X, None)
        variance = xp.clip(diagonal(K) - self._told(K), 0.0, None)
        s = 0.5 * variance * self.third
        Ks = K @ s
        u = s - self.sqrt_W * self.cholesky._solve(self.sqrt_W * Ks)
        if self.bent is not None:
            u = u + xp.matrix_transpose(self.bent.root) @ (self.bent.root @ Ks)
        return _Way(variance, u, K @ u)

    def _gradient(self, way: _Way) -> tuple[GP, Matrix]:
        R = self.sqrt_W[:, None] * self.cholesky.inverse() * self.sqrt_W[None, :]
        if self.bent is not None:
            R = R - array_namespace(R).matrix_transpose(self.bent.root) @ self.bent.root
        # u aᵀ is not symmetric, and need not be: the pullback of K takes both triangles
        K_bar = (0.5 * self.gradient + way.u)[:, None] * self.gradient[None, :] - 0.5 * R
        kernel_bar, X_bar, _ = self.gp.kernel._pullback(self.X, None, K_bar)
        mean = means.with_hooks(differentiable_mean(self.gp))
        mean_bar, X_bar_of_mean = mean._pullback(self.X, self.gradient + way.u)
        gp_bar = cotangent(self.gp, kernel=kernel_bar, noise_var=0.0, mean=mean_bar)
        return gp_bar, X_bar + X_bar_of_mean

    @threads_for(lambda self, likelihood: self.X.shape[0] ** 3)
    def _left_out(self, likelihood: Bernoulli | Binomial) -> LeftOut:
        """Each label, or share of successes, from all others: f less its site, [eq-la-cavity]."""
        if isinstance(likelihood, Binomial):
            label, share = Bernoulli("logit"), self.y / likelihood.trials
        else:
            label, share = likelihood, 0.5 * (self.y + 1.0)
        xp = array_namespace(self.X)
        K = self.gp.kernel._gram(self.X, None)
        variance = xp.clip(diagonal(K) - self._told(K), 0.0, None)
        # a site is exp(−½ W f² + (W f̂ + ∇log p) f) with the mode f̂: without it the precision is
        # 1/v − W, and the mean f̂ − ∇log p / (1/v − W)
        wider = variance / (1.0 - self.sqrt_W**2 * variance)
        f = self.mode if self.offset is None else self.mode + self.offset
        one = label._probability(f - wider * self.gradient, wider)
        return compared(*(xp.stack([1.0 - a, a], axis=1) for a in (one, share)))

    def _likelihood_gradient(self, way: _Way) -> Likelihood:
        one = array_namespace(self.mode).ones_like(self.mode)
        f = self.mode if self.offset is None else self.mode + self.offset
        bars = Bars(one, way.moved, 0.5 * way.variance)
        return with_hooks(self.likelihood)._derivatives_bar(self.y, f, bars)


@dataclass(frozen=True, eq=False)
class LaplaceGP(Model["LaplaceGP", LaplacePosterior]):
    """A process seen through a likelihood, by the Gaussian around the mode of ``p(f | y)``.

    A model for `condition`, `log_evidence` and `fit`; as a cotangent, it holds the derivatives by
    process and likelihood.

    Parameters
    ----------
    gp : GP
        The process of f. The likelihood says how y scatters around f, so that ``gp.noise_var``
        must be zero and stays.
    likelihood : Likelihood, default Bernoulli()
        How y scatters around f. Its parameters are fitted too, such as the shape
        of a `NegativeBinomial`; those of one of yours if it has ``derivatives_bar``, as
        `contracts.CurvedLikelihood` says, and else they stay. Labels of a `Bernoulli` are 1 and −1.

    Notes
    -----
    [eq-al-laplace], [eq-la-bell]. Costs O(n³) a Newton step, some ten of them. A step is halved
    until it does not lower the posterior density; a mode that is not found, or a prior so wide that
    no digit is left, is a `RuntimeError`, under a quarter a ``RoundingWarning``. Under a prior as
    wide as the labels allow, ``p(f | y)`` is skewed and its mode nearer to zero than its mean:
    probabilities are then too near to a half (Kuss & Rasmussen, 2005). A `fit` warns where labels
    that are left out contradict them; an `EPGP` is right there.

    A likelihood that is not log-concave, as `StudentT`, may leave several modes: the one found is
    uphill from the prior mean. Where log p(y | f) bends upwards the precision of a site is negative
    (Hartmann & Vanhatalo, 2018). Far from a mode steps go by the positive ones alone; a mode
    without a bell around it is an error, from which a fit turns back. Where another mode is found
    the evidence jumps, and a fit may end there, unconverged: take an `SVGP`, or another start.

    Source: Rasmussen & Williams (2006), algorithm 3.1 and section 5.5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, condition, fit
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> y, gp = np.sign(np.sin(X[:, 0]) + 0.1), GP(RBF(1.0, 0.3), 0.0)
    >>> condition(LaplaceGP(gp), X, y).probability([[1.0], [4.5]]).round(2)
    array([0.68, 0.32])
    >>> fit(LaplaceGP(gp), X, y).log_evidence > condition(LaplaceGP(gp), X, y).log_evidence
    True
    """

    gp: GP
    likelihood: Likelihood = _PROBIT

    def __post_init__(self) -> None:
        require_no_noise(_check.instance(self.gp, "gp", GP))
        require(self.likelihood, "likelihood", Likelihood)


@saved_as("Laplace evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[LaplaceGP, LaplacePosterior]):
    """The approximate evidence at the mode."""

    by_offset: ClassVar[bool] = True
    rows: Rows

    def require_gradient(self, model: LaplaceGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(
        self, model: LaplaceGP, *, quiet: bool = False
    ) -> tuple[float, LaplaceGP]:
        for trial in trials(self.rows.X):
            with trial:
                posterior = _conditioned(model.gp, self.rows, model.likelihood, quiet)
                gp_bar, likelihood_bar = posterior._gradients()
                value = posterior.log_evidence
        return number(value), numbers_read(cotangent(model, gp=gp_bar, likelihood=likelihood_bar))

    def posterior(self, model: LaplaceGP) -> LaplacePosterior:
        for trial in trials(self.rows.X):
            with trial:
                found = _conditioned(model.gp, self.rows, model.likelihood, False)
        return found

    def doubt(self, model: LaplaceGP) -> str:
        for kind, (names, remedy) in _DOUBTED.items():
            if isinstance(model.likelihood, kind):
                found = self.posterior(model)._left_out(model.likelihood)
                return found.doubt(names, remedy)
        return ""


@evidence_of.register(LaplaceGP)
def _evidence(model: LaplaceGP, data: Rows | Chunks) -> _Evidence:
    rows = whole_rows(data, model)
    validate(model.gp, rows, model.likelihood)
    moves = moves_under_laplace(model.likelihood)
    others = ("likelihood",) if leaves(model.likelihood) and not moves else ()
    held, latent = ("gp.noise_var", *others), is_latent(model.likelihood)
    return _Evidence(rows, held=held, latent=latent)
