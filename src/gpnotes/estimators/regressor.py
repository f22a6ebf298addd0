"""Gaussian process regression as an estimator of scikit-learn, around `fit` and `condition`.

It converts what comes in as scikit-learn's conventions want it, chooses a start in the units of the
data, and keeps the posterior. All that is computed is computed elsewhere.
"""

from __future__ import annotations

import math
import os
import warnings
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..ground import check as _check
from ..ground.params import leaves
from ..ground.random import Stream, stream
from ..ground.xp import HostMatrix, HostVector, Matrix, Vector, to_numpy
from ..infer import saving
from ..infer.exact import condition
from ..infer.fitting import Fit, fit
from ..model.contracts import Mean, MeanFunction, require
from ..model.kernels import RBF, Kernel
from ..model.means import ConstantMean, ZeroMean
from ..model.process import GP
from .fitted import FITTED, validate_fitted

__all__ = ["GPRegressor"]

RandomState: TypeAlias = int | np.random.RandomState | None

_KIND = "GPRegressor"
_NOISE = 0.1  # of the variance of y: where a fit of the noise starts
_SEEDS = 2**31 - 1


class GPRegressor(RegressorMixin, BaseEstimator):
    """Gaussian process regression with the methods that scikit-learn asks of an estimator.

    ``y = f(x) + ε`` with ``f ~ GP(mean, kernel)`` and independent noise ε. `fit` maximises the
    evidence over all hyperparameters by `gpnotes.fit` and conditions by `gpnotes.condition`. As
    scikit-learn wants it, arguments are looked at by `fit`, not before. Everything is float64 and
    on the host.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel of the package, from whose hyperparameters the fit starts. Without one it is an
        `RBF` with the variance of y and a length for each column: its standard deviation times √d,
        so that the root mean square distance of two rows is √2 lengths, whatever the units.
    noise_var : float, optional
        Where the variance of ε starts; without it, at a tenth of the variance of y. What is zero,
        here or in the kernel, stays zero.
    mean : ``"constant"``, ``"zero"`` or a mean, default ``"constant"``
        A constant starts at the average of y and is fitted; a mean is one of the package.
    restarts : int, default 0
        The number of further starts.
    random_state : int, RandomState or None, default None
        What draws the further starts, a whole number or NumPy's ``RandomState``.
    optimise : bool, default True
        Fit the hyperparameters; if False, all stays where it starts.
    steps : int, default 200
        The most steps that each start may take.

    Notes
    -----
    A fit sets

    - `gp_`, the process found, and `posterior_`, given the data;
    - `log_evidence_`, the log evidence of the process found;
    - `runs_`, the reports of all starts, best first; none where nothing was fitted;
    - `n_features_in_`, the number of columns of X, and `feature_names_in_`, their names
      if they have any.

    A constant y has no evidence that a constant mean would not drive to infinity. There, as for a
    single row, the hyperparameters stay where they start, and a warning says so; the start takes 1
    for the variance of y.

    Source: Rasmussen & Williams (2006), sections 2.2 and 5.4.1.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 2.0]
    >>> model = GPRegressor(RBF(), noise_var=0.5, optimise=False).fit(X, y)
    >>> mean, sd = model.predict([[1.0], [9.0]], return_std=True)
    >>> mean.round(4), sd.round(4)
    (array([2.3472, 2.    ]), array([0.5118, 1.    ]))
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        noise_var: float | None = None,
        mean: str | MeanFunction = "constant",
        restarts: int = 0,
        random_state: RandomState = None,
        optimise: bool = True,
        steps: int = 200,
    ) -> None:
        self.kernel = kernel
        self.noise_var = noise_var
        self.mean = mean
        self.restarts = restarts
        self.random_state = random_state
        self.optimise = optimise
        self.steps = steps

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the hyperparameters and condition on the data; O(n³) a step.

        Parameters
        ----------
        X : array-like, shape (n, d)
            The inputs: what scikit-learn takes for an array, as a list, integers or a data frame.
            It is copied.
        y : array-like, shape (n,)
            The targets, likewise.

        Returns
        -------
        GPRegressor
            The estimator itself. Where rows of X repeat and there is no noise, the posterior takes
            jitter and says so by a ``JitterWarning``.

        Raises
        ------
        ValueError, TypeError
            If an argument, here or of the constructor, does not fit; each is named. Entries that
            are not finite are told by their row.
        FactorisationError
            If the Gram matrix cannot be factored.
        MemoryError
            If it has no room.
        """
        self.check_arguments()
        rows = self._rows(X, reset=True)
        targets = _targets(y, rows.shape[0])
        start = self._start(rows, targets)
        found = self._fitted(start, rows, targets)
        self.runs_ = found.runs if found else ()
        self.posterior_ = found.posterior if found else condition(start, rows, targets)
        self.gp_ = self.posterior_.gp
        self.log_evidence_ = self.posterior_.log_evidence
        return self

    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise: bool = False,
    ) -> Vector | tuple[Vector, Vector] | tuple[Vector, Matrix]:
        """The mean at some rows, if wanted with standard deviations or the covariance.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        return_std : bool, default False
            Give the standard deviations too.
        return_cov : bool, default False
            Give the covariance too.
        noise : bool, default False
            Predict a new y rather than f; scikit-learn's own regressor predicts f.

        Returns
        -------
        mean : Vector, shape (m,)
            The mean, alone unless more is wanted.
        sd : Vector, shape (m,)
            The standard deviations, with ``return_std=True``.
        covariance : Matrix, shape (m, m)
            The covariance, with ``return_cov=True``.

        Raises
        ------
        ValueError
            Before a fit, as a ``NotFittedError``. If `return_std` and `return_cov` are both True,
            or X does not fit.
        TypeError
            If X is not made of real numbers, or a flag is no bool.
        MemoryError
            If the covariance has no room.

        Notes
        -----
        :eq:`eq-fv-cholesky`; with `return_cov` :eq:`eq-fv-cov`.

        Source: Rasmussen & Williams (2006), algorithm 2.1.
        """
        rows = self._new_rows(X)
        _check.flag(noise, "noise")
        both = _check.flag(return_std, "return_std"), _check.flag(return_cov, "return_cov")
        if all(both):
            raise ValueError("return_cov must be False where return_std is True; got True")
        if return_cov:
            return self.posterior_.mean(rows), self.posterior_.covariance(rows, noise)
        if not return_std:
            return self.posterior_.mean(rows)
        mean, variance = self.posterior_.predict(rows, noise)
        return mean, np.sqrt(to_numpy(variance))

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        noise: bool = False,
    ) -> Matrix:
        """Draw functions from the posterior at some rows, :eq:`eq-fv-sample`.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        n_samples : int, default 1
            The number of functions.
        random_state : int, RandomState or None, default 0
            What draws them, as in the constructor.
        noise : bool, default False
            Draw new y rather than f.

        Returns
        -------
        Matrix, shape (m, n_samples)
            One function a column.

        Raises
        ------
        ValueError
            Before a fit, as a ``NotFittedError``. If X does not fit, `n_samples` is below 1, or
            `random_state` is negative.
        TypeError
            If an argument is of another kind than stated.
        MemoryError
            If the covariance has no room.
        """
        rows = self._new_rows(X)
        count = _check.whole(n_samples, "n_samples", 1)
        return self.posterior_.sample(rows, _stream(random_state), count, noise).T

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file, in NumPy's format ``.npz``, without pickle.

        Arguments, runs and posterior go into it, the factor (n, n) too: `load` computes nothing,
        and predicts the same to the last bit.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        ValueError
            Before a fit, as a ``NotFittedError``.
        TypeError
            If `path` is no string and no path, and, with its name, for what only pickle could
            save: a kernel or a mean that is not of the package, a ``RandomState``. Then no file is
            written.
        OSError
            If the file cannot be opened.
        """
        saving.write(path, self.saved_values(), _KIND)

    def saved_values(self) -> dict[str, Any]:
        """The arguments and the fit by their names, as `gpnotes.save` writes them.

        Before a fit, a ``NotFittedError``.
        """
        check_is_fitted(self, "posterior_")
        fitted = {
            "posterior_": self.posterior_,
            "runs_": self.runs_,
            "n_features_in_": self.n_features_in_,
            "feature_names_in_": tuple(getattr(self, "feature_names_in_", ())),
        }
        return {**self.get_params(deep=False), **fitted}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an estimator that `save` wrote; nothing in the file is run, whoever wrote it.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        GPRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If `save` did not write the file.
        TypeError
            If `path` is no string and no path.
        OSError
            If the file cannot be opened, as a ``FileNotFoundError`` where there is none.
        MemoryError
            If its arrays have no room.
        """
        return saving.read(path, _KIND, cls.of_saved)

    @classmethod
    def of_saved(cls, values: dict[str, Any]) -> Self:
        """The estimator of `saved_values`; a `ValueError` or a `TypeError` if they are none."""
        arguments = {name: values.pop(name) for name in cls._get_param_names()}
        if values.keys() != set(FITTED):
            raise ValueError(f"a fit sets {sorted(FITTED)}, not {sorted(values)}")
        validate_fitted(values)
        model = cls(**arguments)
        model.check_arguments()
        if not isinstance(model.mean, str):
            GP(RBF(), 0.0, model.mean)  # which says what is no mean
        names = values.pop("feature_names_in_")
        model.__dict__.update(values)
        if names:
            model.feature_names_in_ = np.asarray(names, dtype=object)
        model.gp_ = model.posterior_.gp
        model.log_evidence_ = model.posterior_.log_evidence
        return model

    def check_arguments(self) -> None:
        """Raise, naming it, for an argument of the constructor that no data would make right."""
        if self.kernel is not None:
            _check.instance(self.kernel, "kernel", Kernel)
        if self.noise_var is not None:
            _check.positive(_check.number(self.noise_var, "noise_var"), "noise_var", zero=True)
        if isinstance(self.mean, str):
            _check.choice(self.mean, "mean", ("constant", "zero"))
        _check.whole(self.restarts, "restarts")
        _check.whole(self.steps, "steps", 1)
        if _check.flag(self.optimise, "optimise") and not isinstance(self.mean, str):
            require(self.mean, "mean", Mean)
        _random_state(self.random_state)

    def _rows(self, X: ArrayLike, *, reset: bool) -> HostMatrix:
        """Rows as a matrix of float64, of as many columns as at the fit unless `reset`."""
        _check.plain(X, "X")
        try:
            settings = {"dtype": np.float64, "ensure_all_finite": False, "copy": reset}
            rows = validate_data(self, X, reset=reset, **settings)
        except (TypeError, ValueError) as problem:
            raise _renamed(problem, "X must be rows of real numbers, (n, d)") from problem
        return _finite(rows, "X")

    def _new_rows(self, X: ArrayLike) -> HostMatrix:
        check_is_fitted(self, "posterior_")
        return self._rows(X, reset=False)

    def _start(self, X: HostMatrix, y: HostVector) -> GP:
        """The process that a fit begins with, as given or else in the units of the data."""
        variance = _variance(y) or 1.0
        kernel = self.kernel
        if kernel is None:
            kernel = RBF(variance, _lengths(X))
        noise_var = _NOISE * variance if self.noise_var is None else self.noise_var
        return GP(kernel, noise_var, self._mean(y))

    def _mean(self, y: HostVector) -> MeanFunction:
        if not isinstance(self.mean, str):
            return self.mean
        return ZeroMean() if self.mean == "zero" else ConstantMean(float(np.mean(y)))

    def _fitted(self, start: GP, X: HostMatrix, y: HostVector) -> Fit[GP] | None:
        """The fit from `start`; none where there is nothing to fit."""
        if not self.optimise:
            return None
        if not _variance(y) and (isinstance(start.mean, ConstantMean) or not y.any()):
            said = "y is constant: the hyperparameters cannot be fitted and stay where they start"
            warnings.warn(said, UserWarning, stacklevel=3)
            return None
        numbers = (leaf for leaf in leaves(start) if isinstance(leaf.value, float))
        zeros = [one.path for one in numbers if one.value == 0.0 and one.constraint != "real"]
        draws = _stream(self.random_state) if self.restarts else None
        steps = self.steps
        return fit(start, X, y, restarts=self.restarts, stream=draws, fixed=zeros, steps=steps)


def _lengths(X: HostMatrix) -> HostVector:
    """The standard deviation times √d of each column of X, and 1 for one that is constant."""
    widths = np.std(X, axis=0) * math.sqrt(X.shape[1])
    varies = np.ptp(X, axis=0) > 0.0
    lost = np.flatnonzero(varies & (widths == 0.0))
    if lost.size:
        wanted = "vary by more than 1e-160 where it varies: squares underflow"
        raise ValueError(f"X must {wanted}; got {np.ptp(X[:, lost[0]]):.3g} in column {lost[0]}")
    return np.where(varies, widths, 1.0)


def _targets(y: ArrayLike, n: int) -> HostVector:
    """Targets as a vector of float64, one for each of `n` rows."""
    if y is None:
        raise ValueError("GPRegressor requires y to be passed, but the target y is None")
    _check.plain(y, "y")
    settings = {"dtype": np.float64, "ensure_all_finite": False, "copy": True}
    try:
        column = check_array(y, ensure_2d=False, input_name="y", **settings)
        targets: HostVector = column_or_1d(column, warn=True)
    except (TypeError, ValueError) as problem:
        raise _renamed(problem, "y must be a vector of real numbers, (n,)") from problem
    _check.vector(_finite(targets, "y"), "y", size=n)
    return targets


def _renamed(problem: Exception, wanted: str) -> Exception:
    """The error of scikit-learn, which says what came, with the argument and what was expected."""
    kind = TypeError if isinstance(problem, TypeError) else ValueError
    return kind(f"{wanted}; {problem}")


def _finite(a: Any, name: str) -> Any:
    """`a`, float64, if it is finite and its squares are; an error names the first row."""
    wrong = ~np.isfinite(a)
    if wrong.any():
        row = int(np.argwhere(wrong)[0, 0])
        count = int(wrong.sum())
        raise ValueError(f"{name} must be finite; got {count} NaN or inf, the first in row {row}")
    return _check.squarable(a, name)


def _random_state(given: RandomState) -> RandomState:
    """`given`, if scikit-learn takes it for a random state."""
    if given is None or isinstance(given, np.random.RandomState):
        return given
    return _check.whole(given, "random_state")


def _stream(given: RandomState) -> Stream:
    """A stream from a random state; None is NumPy's own, as everywhere in scikit-learn."""
    given = _random_state(given)
    return stream(given if isinstance(given, int) else check_random_state(given).randint(_SEEDS))


def _variance(y: HostVector) -> float:
    """The variance of y about its average, 0 where that is only rounding."""
    top = float(np.max(np.abs(y)))
    share = float(np.std(y / top)) if top else 0.0
    return 0.0 if share <= 4.0 * np.finfo(np.float64).eps else (top * share) ** 2
