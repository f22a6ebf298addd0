"""Gaussian process regression as an estimator of scikit-learn, around `fit` and `condition`.

It converts arguments by scikit-learn's conventions, chooses a start in the units of the
data, and keeps the posterior. All that is computed is computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..ground import check as _check
from ..ground import memory
from ..ground.caller_warnings import warn_caller
from ..ground.conversion import columns_of, known_columns, taken_out
from ..ground.naming import covered
from ..ground.xp import HostMatrix, HostVector, Matrix, Vector, to_numpy
from ..infer import sparse
from ..infer.exact import ExactPosterior
from ..infer.open_start import require_unit
from ..model.bounds import lengths_of
from ..model.contracts import Mean, MeanFunction, Prior, require
from ..model.gaussian_process import GP
from ..model.kernels import RBF, Kernel
from ..model.means import ConstantMean, ZeroMean
from .base import (
    Bounds,
    GPEstimator,
    RandomState,
    ScoreOfRows,
    finite,
    reals,
    stream_of_state,
    warn_of_order,
)

__all__ = ["GPRegressor"]

_NOISE = 0.1  # of the variance of y: where a fit of the noise starts


class GPRegressor(ScoreOfRows, RegressorMixin, GPEstimator):
    """Gaussian process regression with the methods that scikit-learn asks of an estimator.

    ``y = f(x) + ε`` with ``f ~ GP(mean, kernel)`` and independent noise ε. `fit` maximises the
    evidence over all hyperparameters by `gpnotes.fit` and conditions by `gpnotes.condition`.
    Deviations, covariances and draws are of a new y, ε included, and of f with ``noise=False``. As
    scikit-learn wants it, arguments are looked at by `fit`, not before. Everything is float64 and
    on the host.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel of the package, from whose hyperparameters the fit starts. Without one it is an
        `RBF` with the variance of y and a length for each column: its standard deviation times √d,
        so that the root mean square distance of two rows is √2 lengths, whatever the units.
    noise_var : float, optional
        Where the variance of ε starts; without it, at a tenth of the variance of y. It then has the
        floor of `gpnotes.fit`, below which precise data lead it. A zero, here or in the
        kernel, stays zero.
    alpha : float or array-like, shape (n,), default 0.0
        Variances that are known and added to that of ε, one for all targets or one for each of a
        `fit`, as scikit-learn's own regressor has them; predictions count ε alone. Where
        they are all the noise there is, give ``noise_var=0.0`` with them.
    mean : ``"constant"``, ``"zero"`` or a mean, default ``"constant"``
        A constant starts at the average of y and is fitted; a mean is one of the package.
    fixed, bounds, priors, tied : collection of str, mappings, collection of groups, optional
        As in `gpnotes.fit`, by the names that `report_` prints: ``"kernel.lengthscale[1]"``,
        ``"noise_var"``, with inducing points ``"gp.kernel.lengthscale[1]"``. Fixed parameters stay
        at their start. Bounds and priors are in the units of X and y. Where nothing is fitted they
        are of no use, and their names are not looked at.
    restarts : int, default 0
        The number of further starts.
    random_state : int, RandomState or None, default None
        The source of the further starts, a whole number or NumPy's ``RandomState``.
    optimise : bool, default True
        Fit the hyperparameters; if False, all stays where it starts.
    max_steps : int, default 200
        The most steps that each start may take.
    inducing : int, optional
        See f through its values at so many inducing points, by the bound of Titsias (2009): a step
        then costs O(n M²) instead of O(n³), and memory is that of a block of rows. The fit moves
        the points; they start at rows of X that lie far from each other, as of a
        `gpnotes.SparseGP`.
    verbose : int or bool, default 0
        With 1 or more, show a bar of the steps of a fit, which needs the package tqdm.

    Notes
    -----
    A fit sets

    - `gp_`, the process found, and `posterior_`, given the data;
    - `log_evidence_`, the log evidence of the process found;
    - `runs_`, the runs from all starts, best first; none where nothing was fitted;
    - `report_`, the hyperparameters found, with their errors, a page to be printed;
    - `n_features_in_`, the number of columns of X, and `feature_names_in_`, their names
      if they have any.

    A constant y has no evidence that a constant mean would not drive to infinity. There, as for a
    single row, the hyperparameters stay where they start, and a warning says so; the start takes 1
    for the variance of y.

    With inducing points `log_evidence_` is a bound, and the noise may not be zero.

    Source: Rasmussen & Williams (2006), sections 2.2 and 5.4.1; Titsias (2009).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 2.0]
    >>> model = GPRegressor(RBF(), noise_var=0.5, optimise=False).fit(X, y)
    >>> mean, sd = model.predict([[1.0], [9.0]], return_std=True)
    >>> mean.round(4), sd.round(4)
    (array([2.3472, 2.    ]), array([0.8729, 1.2247]))
    >>> model.predict([[1.0], [9.0]], return_std=True, noise=False)[1].round(4)
    array([0.5118, 1.    ])
    >>> columns = [[0.0, 2.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]]
    >>> pair = ("kernel.lengthscale[0]", "kernel.lengthscale[1]")
    >>> model = GPRegressor(noise_var=0.1, fixed=["noise_var"], tied=[pair])
    >>> lengths = model.fit(columns, [0.0, 2.0, 3.0, 4.0]).gp_.kernel.lengthscale
    >>> bool(lengths[0] == lengths[1]), model.gp_.noise_var
    (True, 0.1)
    >>> rows = np.linspace(0.0, 6.0, 2000)[:, None]
    >>> many = GPRegressor(noise_var=0.05, inducing=10, max_steps=40)
    >>> of_many = many.fit(rows, np.sin(rows[:, 0]))
    >>> of_many.posterior_.Z.shape, of_many.predict([[1.5]]).round(2)
    ((10, 1), array([1.]))
    """

    _kind: ClassVar[str] = "GPRegressor"
    _posteriors: ClassVar[tuple[type, ...]] = (ExactPosterior, sparse.SparsePosterior)

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        noise_var: float | None = None,
        alpha: ArrayLike = 0.0,
        mean: str | MeanFunction = "constant",
        fixed: Collection[str] = (),
        bounds: Bounds | None = None,
        priors: Mapping[str, Prior] | None = None,
        tied: Collection[Collection[str]] = (),
        restarts: int = 0,
        random_state: RandomState = None,
        optimise: bool = True,
        max_steps: int = 200,
        inducing: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.kernel = kernel
        self.noise_var = noise_var
        self.alpha = alpha
        self.mean = mean
        self.fixed = fixed
        self.bounds = bounds
        self.priors = priors
        self.tied = tied
        self.restarts = restarts
        self.random_state = random_state
        self.optimise = optimise
        self.max_steps = max_steps
        self.verbose = verbose
        self.inducing = inducing

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> Self:
        """Fit the hyperparameters and condition on the data; O(n³) a step, with inducing O(n M²).

        Parameters
        ----------
        X : array-like, shape (n, d)
            The inputs: any array-like of scikit-learn, as a list, integers or a data frame.
            It is copied.
        y : array-like, shape (n,)
            The targets, likewise. Rows are
            joined by position; a ``UserWarning`` says where pandas labels them otherwise than `X`.
        noise_var : array-like, shape (n,), or str, or None
            The known variance of the noise of each target, as `alpha` of the
            constructor; both are added to the noise that is fitted. Where `X` is a frame it may be
            the name of a column, which is then no feature, and which `predict` and `sample_y` take
            from their frame again; so may `weights`.
        weights : array-like, shape (n,), or str, or None
            Of how many readings each target is the mean, so that the variance of its ε is divided
            by it, [eq-fv-known-noise]. It is no ``sample_weight``: to scikit-learn a target that
            weighs two has been read twice, with the same result both times, which would tell the
            fit that there is next to no noise; a mean of two has forgotten how they differed.

        Returns
        -------
        GPRegressor
            The estimator itself. Where rows of X repeat and there is no noise, the posterior takes
            jitter and says so by a ``JitterWarning``.
        """
        self.check_arguments()
        named: dict[str, Any] = {"noise_var": noise_var, "weights": weights}
        X, told = taken_out(X, **named)
        warn_of_order(X=X, y=y, alpha=self.alpha, **told)
        rows = self._rows(X, reset=True)
        targets = _targets(y, rows)
        known = self._known(rows, **told)
        start = self._start(rows, targets)
        learns = self._learns(start, targets)
        if learns and _variance(targets) and self._leaves_noise_open(known["noise_var"]):
            start = GP(start.kernel, mean=start.mean)
        model = start if self.inducing is None else sparse.SparseGP(start, self.inducing)
        found = self._fitted(model, rows, targets, **known) if learns else None
        given = self._conditioned(found, model, rows, targets, **known)
        self._keep(given, found, known_columns(**named))
        return self

    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = False,
        return_cov: Literal[False] = False,
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> Vector: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[True],
        return_cov: Literal[False] = False,
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> tuple[Vector, Vector]: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = False,
        *,
        return_cov: Literal[True],
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> tuple[Vector, Matrix]: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> Vector | tuple[Vector, Vector] | tuple[Vector, Matrix]: ...
    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> Vector | tuple[Vector, Vector] | tuple[Vector, Matrix]:
        """The mean at some rows, if wanted with standard deviations or the covariance.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        return_std : bool, default False
            Give the standard deviations of new y too.
        return_cov : bool, default False
            Give the covariance of new y too.
        noise : bool, default True
            Of a new y, with the noise that was fitted; if False, of f alone. scikit-learn's own
            regressor counts the noise of a ``WhiteKernel`` among its kernels, as by default here,
            and not that of its `alpha`.
        noise_var, weights : array-like, shape (m,), or str, or None
            The known noise of each new y, as in `fit`. Where it was a column of X there,
            that column is taken again; the deviations of new y at an X that lacks it are a
            ``ValueError``.

        Returns
        -------
        mean : Vector, shape (m,)
            The mean, alone unless more is wanted.
        sd : Vector, shape (m,)
            The standard deviations, with ``return_std=True``.
        covariance : Matrix, shape (m, m)
            The covariance, with ``return_cov=True``.

        Notes
        -----
        [eq-fv-cholesky]; with `return_cov` [eq-fv-cov].

        Source: Rasmussen & Williams (2006), algorithm 2.1.
        """
        _check.flag(noise, "noise")
        rows, known = self._rows_and_noise(X, noise, noise_var, weights)
        both = _check.flag(return_std, "return_std"), _check.flag(return_cov, "return_cov")
        if all(both):
            raise ValueError("return_cov must be False where return_std is True; got True")
        if return_cov:
            covariance = self.posterior_.covariance(rows, noise=noise, **known)
            return self.posterior_.mean(rows), covariance
        if not return_std:
            return self._mean_at(rows)
        if known or self.posterior_.known_columns:
            mean, variance = self.posterior_.predict(rows, noise=noise, **known)
        else:
            mean, variance = self.posterior_._predict(rows, noise)
        return mean, np.sqrt(to_numpy(variance))

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        noise: bool = True,
        noise_var: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
    ) -> Matrix:
        """Draw sets of new y at some rows, or functions, [eq-fv-sample].

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        n_samples : int, default 1
            The number of draws.
        random_state : int, RandomState or None, default 0
            Their source, as in the constructor. By default each call draws the same again, as in
            scikit-learn; None draws others.
        noise : bool, default True
            Draw new y, with noise; if False, f.
        noise_var, weights
            As in `predict`.

        Returns
        -------
        Matrix, shape (m, n_samples)
            One draw a column.
        """
        rows, known = self._rows_and_noise(X, noise, noise_var, weights)
        count = memory.count(n_samples, "n_samples")
        draws = stream_of_state(random_state)
        return self.posterior_.sample(rows, count, rng=draws, noise=noise, **known).T

    def _rows_and_noise(
        self, X: ArrayLike, noise: bool, noise_var: object, weights: object
    ) -> tuple[HostMatrix, dict[str, HostVector]]:
        """Return new rows, and the known noise of y there, also from columns of a frame."""
        if not hasattr(self, "posterior_"):
            check_is_fitted(self, "posterior_")
        given = {"noise_var": noise_var, "weights": weights}
        told = {name: one for name, one in given.items() if one is not None}
        there = columns_of(X)
        again = {n: column for n, column in self.posterior_.known_columns if column in there}
        if not told and not again:
            return self._new_rows(X), {}
        X, found = taken_out(X, **(again | told))
        X = taken_out(X, **{n: c for n, c in again.items() if n in told and c in columns_of(X)})[0]
        rows = self._new_rows(X)
        known = {n: _targets(cast(Any, one), rows, n) for n, one in found.items()}
        return rows, known if noise else {n: known[n] for n in told}

    def check_arguments(self) -> None:
        """Raise, naming it, for an argument of the constructor that no data would make right."""
        super().check_arguments()
        if self.noise_var is not None:
            _check.positive(_check.number(self.noise_var, "noise_var"), "noise_var", zero=True)
        if self.inducing is not None:
            _check.whole(self.inducing, "inducing", 1)
        if isinstance(self.mean, str):
            _check.choice(self.mean, "mean", ("constant", "zero"))
        else:
            GP(RBF(), 0.0, self.mean)  # which says what is no mean
            if self.optimise:
                require(self.mean, "mean", Mean)

    def _known(self, rows: HostMatrix, noise_var: Any, weights: Any) -> dict[str, Any]:
        """Return the known noise of each row's target, from here or from the constructor."""
        counts = None if weights is None else _targets(weights, rows, "weights")
        own = None if noise_var is None else _targets(noise_var, rows, "noise_var")
        alpha = self.alpha
        if isinstance(alpha, float) and alpha == 0.0:
            return {"noise_var": own, "weights": counts}
        one = np.ndim(alpha) == 0
        each = np.full(len(rows), _alpha(alpha)) if one else _targets(alpha, rows, "alpha")
        return {"noise_var": _alpha(each) + (0.0 if own is None else own), "weights": counts}

    def _start(self, X: HostMatrix, y: HostVector) -> GP:
        """The process that a fit begins with, as given or else in the units of the data."""
        variance = _variance(y) or 1.0
        kernel = self.kernel
        if kernel is None:
            kernel = RBF(variance, lengths_of(X))
        noise_var = _NOISE * variance if self.noise_var is None else self.noise_var
        return GP(kernel, noise_var, self._mean(y))

    def _leaves_noise_open(self, known: HostVector | None) -> bool:
        """Return True if no noise is given, so that it has the floor of `gpnotes.fit`."""
        name = "noise_var" if self.inducing is None else "gp.noise_var"
        return self.noise_var is None and known is None and not covered(self.fixed, name)

    def _mean(self, y: HostVector) -> MeanFunction:
        if not isinstance(self.mean, str):
            return self.mean
        return ZeroMean() if self.mean == "zero" else ConstantMean(float(np.mean(y)))

    def _learns(self, start: GP, y: HostVector) -> bool:
        """Return True if there is something to fit; warn if y is constant."""
        if not self.optimise:
            return False
        if not _variance(y) and (isinstance(start.mean, ConstantMean) or not y.any()):
            said = "y is constant: the hyperparameters cannot be fitted and stay where they start"
            warn_caller(said, UserWarning)
            return False
        return True


def _alpha(alpha: Any) -> Any:
    """Variances that may be zero, one or one for each target."""
    return _check.positive(
        alpha if np.ndim(alpha) else _check.number(alpha, "alpha"), "alpha", zero=True
    )


def _targets(y: ArrayLike, rows: HostMatrix, name: str = "y") -> HostVector:
    """Targets as a vector of float64, one for each row."""
    if y is None:
        raise ValueError("GPRegressor requires y to be passed, but the target y is None")
    targets = finite(reals(y, name, "a vector of real numbers, (n,)", column=True), name)
    _check.vector(targets, name, rows=rows)
    return targets


def _variance(y: HostVector) -> float:
    """The variance of y about its average, 0 where that is only rounding."""
    top = float(np.max(np.abs(y)))
    share = float(np.std(y / top)) if top else 0.0
    return 0.0 if share <= 4.0 * np.finfo(np.float64).eps else require_unit(top * share) ** 2
