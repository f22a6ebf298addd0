"""The posterior of a process through its inducing points."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ground.linalg import Cholesky
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, in_double, solve_triangular
from ...model import means
from ...model.gaussian_process import GP
from ...model.normal import Normal, of_root
from ..interdomain.point_functionals import applied
from ..posterior import PartPosterior, Posterior, require_inputs
from ..sufficient_statistics import like_data
from .projection import Inducing, kernel_in_double

__all__ = ["SparsePosterior"]


@dataclass(frozen=True, eq=False)
class SparsePosterior(Posterior):
    """The posterior of a process through inducing variables, ``u = f(Z)``; made by `condition`.

    A prediction costs O(n* M²), a covariance O(n*² M) and draws O(n*³).

    Parameters
    ----------
    gp : GP
        The process.
    Z : Matrix, shape (M, d)
        The inputs that u looks at; of other inducing variables than values, none perhaps.
    inducing : Inducing
        The prior of u.
    weight_mean : Vector, shape (M,)
        The mean of the whitened u: ``L_u⁻¹(u − m(Z)) ~ N(weight_mean, B⁻¹)``.
    cholesky : Cholesky
        The factor L of ``B = L Lᵀ``. It and the mean are in float64 where the device has it.
    log_evidence : float
        The evidence of the method, or its bound.
    degenerate : bool
        True where the variance is that of ``K_*u K_uu⁻¹ u`` alone, as the subset of regressors has
        it: it vanishes far from Z.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.infer import sparse
    >>> Z = np.asarray([[0.0]])
    >>> posterior = condition(sparse.SparseGP(GP(RBF(), 0.5), Z), Z, np.asarray([3.0]))
    >>> [a.round(4) for a in posterior.predict(np.asarray([[0.0], [9.0]]), noise=True)]
    [array([2., 0.]), array([0.8333, 1.5   ])]
    """

    gp: GP
    Z: Matrix
    inducing: Inducing
    weight_mean: Vector
    cholesky: Cholesky
    log_evidence: float
    degenerate: bool = False

    __repr__ = summary
    _copies = 4

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit those of u."""
        require_inputs(Xs, name, self.Z, "Z", self.gp.kernel)

    @property
    def _noise(self) -> float:
        return self.gp.noise_var

    @property
    def _width(self) -> int:
        return self.inducing.size

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """With ``V = L_u⁻¹ K_u*``: ``m(x) + Vᵀ weight_mean``, ``k(x, x) − |v|² + |L⁻¹v|²``."""
        pulled = self._pulled(in_double(Xs), self.inducing)
        pull, variance = (like_data(part, Xs) for part in pulled)
        return means.with_hooks(self.gp.mean)._call(Xs) + pull, variance

    @threads_for(lambda self, Xs, inducing: self.inducing.size**2 * Xs.shape[0])
    def _pulled(self, Xs: Matrix, inducing: Inducing) -> tuple[Vector, Vector]:
        xp = array_namespace(Xs)
        V, gap = inducing.whiten(Xs)
        half = solve_triangular(self.cholesky.lower, V)
        known = xp.sum(half * half, axis=0)
        pull = xp.matrix_transpose(V) @ self.weight_mean
        return pull, known if self.degenerate else known + gap

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, self.inducing)

    @threads_for(lambda self, Xs, inducing: self.inducing.size * Xs.shape[0] ** 2)
    def _covariance_by(self, Xs: Matrix, inducing: Inducing) -> Matrix:
        wide = in_double(Xs)
        xp = array_namespace(wide)
        V, _ = inducing.whiten(wide)
        half = solve_triangular(self.cholesky.lower, V)
        known = xp.matrix_transpose(half) @ half
        if self.degenerate:
            return like_data(known, Xs)
        left = inducing.kernel._gram(wide, None) - xp.matrix_transpose(V) @ V
        return like_data(left + known, Xs)

    def _scales(self, Xs: Matrix) -> Vector:
        return self.gp.kernel._diag(Xs)

    def _process(self) -> GP:
        return self.gp

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        pulled = self._pulled(in_double(Xs), self._seen_by(part))
        pull, variance = (like_data(one, Xs) for one in pulled)
        return part.mean_in(means.with_hooks(self.gp.mean)._call(Xs), pull), variance

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        return self._covariance_by(Xs, self._seen_by(part))

    def _seen_by(self, part: PartPosterior) -> Inducing:
        """Return the prior of u with its covariance to a part; the rest of u counts as noise."""
        return replace(self.inducing, kernel=kernel_in_double(part.kernel))

    def inducing_values(self) -> Normal:
        """The distribution of u, mostly f(Z), given the data, with the root ``L_u L⁻ᵀ``; O(M³)."""
        lower = self.inducing.factor.lower
        xp = array_namespace(lower)
        turned = solve_triangular(self.cholesky.lower, xp.matrix_transpose(lower))
        root = xp.matrix_transpose(turned)
        mean = like_data(lower @ self.weight_mean, self.Z)
        mean = mean + applied(self.inducing.given, self.gp.mean, self.gp.kernel)
        return of_root(mean, like_data(root, self.Z))
