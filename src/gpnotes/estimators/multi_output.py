"""Regression of several outputs together, as an estimator of scikit-learn, with gaps among them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ..ground import check as _check
from ..ground.caller_warnings import warn_caller
from ..ground.conversion import columns_of, ordered
from ..ground.xp import Array, HostArray, HostMatrix, HostVector, to_numpy
from ..infer.exact import ExactPosterior
from ..infer.fit_checks import COPIES
from ..infer.fitting import Fit
from ..model.bounds import lengths_of
from ..model.contracts import Prior
from ..model.gaussian_process import GP
from ..model.kernels import (
    RBF,
    Coregion,
    Kernel,
    OutputNoise,
    Stationary,
    named,
    named_product,
    outputs_at,
    readings_of,
)
from .base import Bounds, GPEstimator, RandomState, ScoreOfRows, reals, warn_of_order

__all__ = ["MultiOutputGPRegressor"]

T = TypeVar("T")

_NOISE = 0.1  # of the variance of each output: where a fit of its noise starts
_VARIANCES = "variances of real numbers, (n, p)"
_OF_INPUTS, _LEVEL = "kernel.function.inputs.kernel", "kernel.level"
_NONE = 1e-12  # below this share of the variance of an output there is no noise
_OWN_NOISE = "kernel.noise.kernel.variance"
_OWN_VARIANCE = "kernel.function.outputs.kernel.own"


class MultiOutputGPRegressor(ScoreOfRows, MultiOutputMixin, RegressorMixin, GPEstimator):
    """Gaussian process regression of several outputs, which tell of each other.

    The intrinsic coregionalisation model, ``cov(f_i(x), f_j(z)) = B_ij k(x, z)`` with a learnt
    ``B = W Wᵀ + diag κ``, a level and independent noise of each output. An output that was not
    read at a row is NaN there: it is left out, and predicted from the others. scikit-learn's
    regressor and ``MultiOutputRegressor(GPRegressor())`` take the outputs for independent.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel k of the columns of X, from whose hyperparameters the fit starts, without one an
        `RBF` with a length for each column as in `GPRegressor`. The variance of a stationary one is
        held, since B has it.
    rank : int, default 1
        The number of columns of W, of functions that the outputs share: at most as many as outputs.
    fixed, bounds, priors, tied : collection of str, mappings, collection of groups, optional
        As in `GPRegressor`, by the names that `report_` prints, and of outputs in their standard
        deviations. The noise of the first output is ``"kernel.noise.kernel.variance[0]"``.
    restarts : int, default 0
        The number of further starts.
    random_state : int, RandomState or None, default None
        The source of the further starts.
    optimise : bool, default True
        Fit the hyperparameters; if False, all stays where it starts.
    max_steps : int, default 200
        The most steps that each start may take.
    verbose : int or bool, default 0
        With 1 or more, show a bar of the steps of a fit, which needs the package tqdm.

    Notes
    -----
    A fit sets

    - `gp_`, the process found, of outputs in standard deviations about their averages, and
      `posterior_`, given the data, whose last column is the number of an output;
    - `covariance_`, B in the units of y, and `correlation_`, with ones on its diagonal;
    - `noise_var_`, the variance of the noise of each output;
    - `output_names_`, the names of the columns of y, empty where it was no frame;
    - `log_evidence_` of the outputs so scaled, `runs_`, `report_`, `n_features_in_` and
      `feature_names_in_`, as of a `GPRegressor`.

    Noise and own variance of an output that does not vary, as of one that was read once, stay where
    they start, with 1 for its deviation; where none varies, all hyperparameters do. A warning says
    so.

    Costs O((n p)³) a step for p outputs. Source: Bonilla, Chai & Williams (2007); Álvarez, Rosasco
    & Lawrence (2012), section 4.2.

    Examples
    --------
    The second output is about minus the first, and was read at every other row:

    >>> X = np.linspace(0.0, 6.0, 24)[:, None]
    >>> y = np.column_stack([np.sin(X[:, 0]), -np.sin(X[:, 0])]) + 0.01 * np.cos(40.0 * X)
    >>> y[1::2, 1] = np.nan
    >>> model = MultiOutputGPRegressor().fit(X, y)
    >>> model.predict([[1.0]]).round(1), model.correlation_.round(1)
    (array([[ 0.8, -0.8]]), array([[ 1., -1.],
           [-1.,  1.]]))
    """

    _kind: ClassVar[str] = "MultiOutputGPRegressor"
    _posteriors: ClassVar[tuple[type, ...]] = (ExactPosterior,)

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        rank: int = 1,
        fixed: Collection[str] = (),
        bounds: Bounds | None = None,
        priors: Mapping[str, Prior] | None = None,
        tied: Collection[Collection[str]] = (),
        restarts: int = 0,
        random_state: RandomState = None,
        optimise: bool = True,
        max_steps: int = 200,
        verbose: int | bool = 0,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.fixed = fixed
        self.bounds = bounds
        self.priors = priors
        self.tied = tied
        self.restarts = restarts
        self.random_state = random_state
        self.optimise = optimise
        self.max_steps = max_steps
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, noise_var: ArrayLike | None = None) -> Self:
        """Fit the hyperparameters and condition on the data; O((n p)³) a step.

        Parameters
        ----------
        X : array-like, shape (n, d)
            The inputs, as of a `GPRegressor`.
        y : array-like, shape (n, p) or (n,)
            The outputs, a column each, with NaN for missing readings; a vector is one output.
            Rows are joined by position; a ``UserWarning`` says where pandas labels them otherwise
            than `X`.
        noise_var : array-like, of the shape of y, or None
            The known variance of the noise of each reading, added to that of its output,
            which is fitted. Entries of missing readings are ignored. The columns of a
            frame are matched by name where `y` is a frame of the same names.

        Returns
        -------
        MultiOutputGPRegressor
            The estimator itself.
        """
        self.check_arguments()
        warn_of_order(X=X, y=y, noise_var=noise_var)
        names = columns_of(y)
        noise_var = _as_outputs(noise_var, "noise_var", names)
        rows = self._rows(X, reset=True)
        table = _outputs(y, rows)
        known = None if noise_var is None else _known_noise(noise_var, table)
        is_vector = table.ndim == 1
        table = table.reshape(rows.shape[0], -1)
        centre, scale, varies = _units(table)
        scaled = (table - centre) / scale
        model = self._start(rows, scaled)
        places, readings = map(to_numpy, readings_of(rows, scaled, gaps=True))
        told: dict[str, object] = {}
        if known is not None:
            each = known.reshape(table.shape) / scale**2
            told["noise_var"] = to_numpy(readings_of(rows, each, gaps=True)[1])
        found = None
        still = np.flatnonzero(~varies).tolist()
        if self.optimise and still:
            where = f" in columns {still}" if varies.any() else ""
            what = "noise and own variance" if where else "the hyperparameters"
            said = f"y is constant{where}: {what} cannot be fitted and stay where they start"
            warn_caller(said, UserWarning)
        if self.optimise and varies.any():
            of_B = self.kernel is None or isinstance(self.kernel, Stationary)
            held = [_LEVEL, f"{_OF_INPUTS}.variance"] if of_B else [_LEVEL]
            named = {*(self.bounds or ()), *(self.priors or ()), *chain(*self.tied)}
            own = (f"{path}[{j}]" for path in (_OWN_NOISE, _OWN_VARIANCE) for j in still)
            held += [name for name in own if name not in named]
            found = self._fitted(model, places, readings, fixed=held, **told)
            _warn_of_copies(found, np.column_stack([rows, table]))
        given = self._conditioned(found, model, places, readings, **told)
        # not before: a fit that ends early leaves all as it was
        self.output_names_, self.is_vector_ = names, is_vector
        self.centre_, self.scale_ = centre, scale
        self._keep(given, found)
        return self

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[False] = False, noise: bool = True
    ) -> HostArray: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True], noise: bool = True
    ) -> tuple[HostArray, HostArray]: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: bool = False, noise: bool = True
    ) -> HostArray | tuple[HostArray, HostArray]: ...
    def predict(
        self, X: ArrayLike, return_std: bool = False, noise: bool = True
    ) -> HostArray | tuple[HostArray, HostArray]:
        """The means of all outputs at some rows, if wanted with standard deviations.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        return_std : bool, default False
            Give the standard deviations too.
        noise : bool, default True
            Of new y, with the noise of each output; if False, of f alone.

        Returns
        -------
        mean, sd : HostArray, shape (m, p)
            A column an output; (m,) where y was a vector. The mean alone unless more is wanted.
        """
        rows = self._new_rows(X)
        noise = _check.flag(noise, "noise")
        at = outputs_at(rows, self.scale_.shape[0])
        if not _check.flag(return_std, "return_std"):
            return self._table(self.posterior_.mean(at)) + self._shaped(self.centre_)
        mean, variance = map(to_numpy, self.posterior_.predict(at))  # with noise, a part of f
        if not noise:
            variance = np.maximum(variance - to_numpy(self._noise.diag(at[:, -1:])), 0.0)
        sd = self._table(np.sqrt(variance))
        return self._table(mean) + self._shaped(self.centre_), sd

    def score(self, X: ArrayLike, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Score the means at X (m, d) by R² of y (m, p), averaged over the outputs.

        Parameters
        ----------
        X, sample_weight
            As in a `GPRegressor`.
        y : array-like, shape (m, p) or (m,)
            The true outputs there. The columns of a frame are matched by name where that of the fit
            had the same names; a ``UserWarning`` says where it had others, and they are joined by
            position.

        Returns
        -------
        float
            R².
        """
        there, known = columns_of(y), getattr(self, "output_names_", ())
        if there and known and set(there) != set(known):
            said = "y is joined to the outputs of the fit by position, though their names differ"
            warn_caller(f"{said}: {list(there)} and {list(known)}", UserWarning)
        return super().score(X, _as_outputs(y, "y", known), sample_weight)

    @property
    def covariance_(self) -> HostMatrix:
        """B in the units of y, (p, p)."""
        return to_numpy(self._coregion.covariance) * np.outer(self.scale_, self.scale_)

    @property
    def correlation_(self) -> HostMatrix:
        """B with ones on its diagonal, (p, p)."""
        return to_numpy(self._coregion.correlation)

    @property
    def noise_var_(self) -> HostVector:
        """The variance of the noise of each output, (p,)."""
        return to_numpy(self._noise.variance) * self.scale_**2

    @property
    def _coregion(self) -> Coregion:
        coregion: Coregion = self.gp_.kernel.parts[0].parts[1].kernel  # as `_start` put it there
        return coregion

    @property
    def _noise(self) -> OutputNoise:
        noise: OutputNoise = self.gp_.kernel.parts[1].kernel
        return noise

    def _columns(self) -> tuple[str, ...]:
        """The names with one more, of the column of outputs."""
        names = super()._columns()
        return (*names, "output") if names else ()

    def _admit(self, rows: HostMatrix) -> None:
        """The kernel is of rows with outputs, which the posterior looks at."""

    def _table(self, values: Array) -> HostArray:
        """Values of all outputs, row by row, in the units of y."""
        return self._shaped(to_numpy(values).reshape(-1, self.scale_.shape[0]) * self.scale_)

    def _shaped(self, table: HostArray) -> HostArray:
        return table[..., 0] if self.is_vector_ else table

    def _start(self, X: HostMatrix, y: HostMatrix) -> GP:
        """The process that a fit begins with, of outputs of variance one."""
        (d, p), kernel = (X.shape[1], y.shape[1]), self.kernel
        rank = _check.whole(self.rank, "rank", 1, p)
        of_inputs = (RBF(1.0, lengths_of(X)) if kernel is None else kernel).on(*range(d))
        weights, own = _shared(np.nan_to_num(y), rank)
        noise = OutputNoise(np.full(p, _NOISE))
        level = Coregion(np.zeros((p, 1)), np.ones(p))  # about an average of what was read
        function = named_product(inputs=of_inputs, outputs=Coregion(weights, own).on(d))
        return GP(named(function=function, noise=noise.on(d), level=level.on(d)), 0.0)

    def check_arguments(self) -> None:
        """Raise, naming it, for an argument of the constructor that no data would make right."""
        super().check_arguments()
        _check.whole(self.rank, "rank", 1)

    def saved_values(self) -> dict[str, object]:
        """The arguments and the fit by their names, as `gpnotes.save` writes them."""
        of_outputs = ("centre_", "scale_", "is_vector_", "output_names_")
        more = {name: getattr(self, name) for name in of_outputs}
        return {**super().saved_values(), **more}

    def _restore(self, values: dict[str, Any]) -> None:
        """The posterior has one column more than the estimator, of outputs."""
        scale = _check.vector(values.pop("scale_"), "scale_")
        _check.positive(scale, "scale_")
        centre = _check.vector(values.pop("centre_"), "centre_", size=scale.shape[0])
        is_vector = _check.flag(values.pop("is_vector_"), "is_vector_")
        self.output_names_ = tuple(values.pop("output_names_", ()))  # old files have none
        names = values["feature_names_in_"]
        values["feature_names_in_"] = (*names, "output") if names else ()
        values["n_features_in_"] = _check.whole(values["n_features_in_"], "n_features_in_") + 1
        super()._restore(values)
        self.n_features_in_ -= 1
        if names:
            self.feature_names_in_ = self.feature_names_in_[:-1]
        if self._coregion.own.shape != scale.shape:
            raise ValueError(f"scale_ must be of {self._coregion.own.shape}; got {scale.shape}")
        self.centre_, self.scale_ = to_numpy(centre), to_numpy(scale)
        self.is_vector_ = is_vector


def _outputs(y: ArrayLike, rows: HostMatrix) -> HostArray:
    """The outputs (n, p) or (n,) as float64, NaN where none was read."""
    if y is None:
        raise ValueError("MultiOutputGPRegressor requires y to be passed, but the target y is None")
    table = reals(y, "y", "outputs of real numbers, (n, p)")
    n = rows.shape[0]
    if table.shape[:1] != (n,):
        remedy = ": give y.T" if table.shape[1:] == (n,) else _check.turned(table, rows)
        raise ValueError(f"y must have shape ({n}, p) or ({n},); got {table.shape}{remedy}")
    if np.isinf(table).any():
        row = int(np.argwhere(np.isinf(table))[0, 0])
        raise ValueError(f"y must be finite, or NaN for a gap; got inf, the first in row {row}")
    silent = np.flatnonzero(np.isnan(table.reshape(n, -1)).all(axis=0))
    if silent.size:
        got = f"got NaN alone in column {silent[0]}"
        raise ValueError(f"y must hold a reading of each output; {got}")
    _check.squarable(np.nan_to_num(table), "y")
    return table


def _as_outputs(given: T, name: str, outputs: tuple[str, ...]) -> T:
    """A table of outputs, its columns in the order of those of the fit if they have the names.

    Other names, as ``sd_a`` for ``a``, give no order.
    """
    return ordered(given, name, outputs) if set(columns_of(given)) == set(outputs) else given


def _known_noise(given: ArrayLike, y: HostArray) -> HostArray:
    """The variances of the noise of the readings in y, NaN where there is none."""
    known, there = reals(given, "noise_var", _VARIANCES), ~np.isnan(y)
    if known.shape != y.shape:
        raise ValueError(f"noise_var must have the shape of y, {y.shape}; got {known.shape}")
    _check.positive(known[there], "noise_var", zero=True)
    return np.where(there, known, np.nan)


def _units(table: HostMatrix) -> tuple[HostVector, HostVector, HostVector]:
    """Average and deviation of each output, 1 or more where that is rounding; and if it varies."""
    centre, sd = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    rounding = 4.0 * np.finfo(np.float64).eps * np.nanmax(np.abs(table), axis=0)
    # a deviation that is rounding may be far above 1: divided by its bound it stays small
    return centre, np.where(sd > rounding, sd, np.maximum(rounding, 1.0)), sd > rounding


def _warn_of_copies(found: Fit[Any, Any], rows: HostMatrix) -> None:
    """Warn where rows of X and y repeat others, and the fit left an output no noise."""
    best = max(found.runs, key=lambda run: run.objective)
    copies = len(rows) - len(np.unique(rows, axis=0))
    noise: OutputNoise = best.model.kernel.parts[1].kernel  # as `_start` put it there
    if copies and np.min(to_numpy(noise.variance)) < _NONE:
        remedy = f"leave them out, or give bounds={{'{_OWN_NOISE}': (low, high)}}"
        said = f"{COPIES}, in X and y, {copies} of {len(rows)}: {remedy}"
        warn_caller(said, ConvergenceWarning)


def _shared(y: HostMatrix, rank: int) -> tuple[HostMatrix, HostVector]:
    """Return W, from the leading directions of common variation, and κ, the rest of variance 1."""
    p = y.shape[1]
    values, vectors = np.linalg.eigh(y.T @ y / y.shape[0] + 0.1 * np.eye(p))
    weights = vectors[:, ::-1][:, :rank] * np.sqrt(0.5 * values[::-1][:rank])
    return weights, 1.0 - (weights**2).sum(axis=1)  # of outputs of variance one, 0.45 at least
