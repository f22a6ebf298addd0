"""The base of the estimators: rows as scikit-learn takes them, arguments, and files.

As scikit-learn wants it, arguments are looked at by ``fit``, not before.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from ..ground import check as _check
from ..ground.caller_warnings import warn_caller
from ..ground.conversion import (
    NamedRows,
    columns_of,
    faithful,
    floats,
    framed,
    on_host,
    ordered,
    out_of_order,
)
from ..ground.interrupts import raised_interrupts
from ..ground.naming import require_names
from ..ground.params import Parameters, leaves, replaced
from ..ground.random import Stream, stream
from ..ground.xp import HostArray, HostMatrix, HostVector, to_numpy
from ..infer import saving
from ..infer.fit_checks import is_of_precision, may_be_precise
from ..infer.fitting import Fit, fit
from ..infer.posterior import Posterior, named
from ..infer.report import Report
from ..infer.svgp import Minibatches
from ..infer.ties import groups_of
from ..infer.verbs import condition
from ..model.contracts import Prior
from ..model.kernels import Kernel
from ..model.starts import noise_is_open
from .fitted import validate_fitted

__all__ = [
    "GPEstimator", "RandomState", "ScoreOfRows", "finite", "random_state_of", "renamed",
    "stream_of_state", "warn_of_order",
]  # fmt: skip

RandomState: TypeAlias = int | np.random.RandomState | None
Bounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]

SEEDS = 2**31 - 1
_WITHIN = "kernel__"
_FEW = 64  # rows of one block, whatever the number of readings
_SURE = 1e100  # whose square is far from overflow
# what files from before such arguments were there do not hold
_LATER: dict[str, object] = {"verbose": 0, "fixed": (), "bounds": None, "priors": None, "tied": ()}


class ScoreOfRows:
    """The score of a mixin of scikit-learn, with a warning of rows that are labelled otherwise."""

    def score(self, X: ArrayLike, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Score predictions at X (m, d) by y, as scikit-learn does.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.
        y : array-like
            The true values there.
        sample_weight : array-like, shape (m,), or None
            The weight of each row.

        Returns
        -------
        float
            R², of a classifier the share of labels that are right.

        Warns
        -----
        UserWarning
            If `X` and `y` are of pandas and label their rows otherwise.
        """
        warn_of_order(X=X, y=y, sample_weight=sample_weight)
        return float(cast(Any, super()).score(X, y, sample_weight))


class GPEstimator(BaseEstimator):
    """An estimator around a process, with its files; subclasses fit and predict.

    It has the arguments `kernel`, `fixed`, `bounds`, `priors`, `tied`, `restarts`, `random_state`,
    `optimise`, `max_steps` and `verbose`, and a fit of it sets `posterior_` and `runs_`.
    """

    kernel: Kernel | None
    fixed: Collection[str]
    bounds: Bounds | None
    priors: Mapping[str, Prior] | None
    tied: Collection[Collection[str]]
    verbose: int | bool
    _kind: ClassVar[str]  # its name in a file
    _posteriors: ClassVar[tuple[type, ...]]  # what a fit can end with

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file, in NumPy's format ``.npz``, without pickle.

        Arguments, runs and posterior go into it, the factor (n, n) too: `load` computes nothing,
        and predicts the same to the last bit.

        Raises
        ------
        OSError
            If the file cannot be opened.
        """
        saving.write(path, self.saved_values(), self._kind)

    def saved_values(self) -> dict[str, object]:
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
        return {**self.get_params(deep=False), **self._named(), **fitted}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an estimator that `save` wrote; nothing in the file is run, whoever wrote it.

        Returns
        -------
        GPEstimator
            The fitted estimator, of the class that is asked.

        Raises
        ------
        OSError
            If the file cannot be opened, as a ``FileNotFoundError`` where there is none.
        """
        return saving.read(path, cls._kind, cls.of_saved)

    @classmethod
    def of_saved(cls, values: dict[str, object]) -> Self:
        """The estimator of `saved_values`; a `ValueError` or a `TypeError` if they are none."""
        values = {**_LATER, **values}
        model = cls(**{name: values.pop(name) for name in cls._get_param_names()})
        model.check_arguments()
        model._restore(values)
        return model

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The arguments by their names.

        With `deep`, as scikit-learn's searches want it, the hyperparameters of the kernel too:
        ``kernel__lengthscale``, ``kernel__parts__0__variance``, by the names of a report.
        """
        values: dict[str, object] = super().get_params(deep=False)
        if deep:
            values.update({_nested(leaf.path): leaf.value for leaf in leaves(values["kernel"])})
        return values

    def set_params(self, **params: object) -> Self:
        """Set arguments, and by names as of `get_params` hyperparameters of the kernel.

        A kernel never changes: the estimator gets another, with the new values and the others as
        they were.
        """
        within = {name: params.pop(name) for name in [*params] if name.startswith(_WITHIN)}
        super().set_params(**params)
        if within:
            self.kernel = _changed(self.kernel, within)
        return self

    def _restore(self, values: dict[str, object]) -> None:
        """Set the attributes of a fit, as they were saved."""
        validate_fitted(values, self._posteriors)
        names = values.pop("feature_names_in_")
        self.__dict__.update(values)
        if names:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._found = None
        self._read_off(self.posterior_)

    @property
    def report_(self) -> Report:
        """The hyperparameters with their errors, a page; worked out when it is first asked for.

        Where nothing was fitted, and of an estimator that was loaded, an `AttributeError`.
        """
        found = getattr(self, "_found", None)
        if found is None:
            raise AttributeError("report_ is of a fit in this process, and nothing was fitted here")
        return found.report()

    @cached_property
    def log_evidence_(self) -> float:
        """The log evidence of the process found, of `posterior_`, which warns where it is lost."""
        return float(self.posterior_.log_evidence)

    def _keep(
        self,
        posterior: Posterior,
        found: Fit[Parameters, Posterior] | None,
        known: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Set the posterior, the attributes that derive from it, and the fit that led to it.

        `known` are the arguments that were columns of the data, as in `Posterior`.
        """
        self._found = found and replace(found, columns=self._columns())
        self.runs_ = found.runs if found else ()
        self._read_off(named(posterior, self._columns(), known))

    def _columns(self) -> tuple[str, ...]:
        """The names of the columns that the model sees, for its report; none if they have none."""
        return tuple(map(str, getattr(self, "feature_names_in_", ())))

    def _read_off(self, posterior: Any) -> None:
        self.__dict__.pop("log_evidence_", None)
        self.posterior_ = posterior
        self.gp_ = posterior.gp

    def _named(self) -> dict[str, object]:
        """Return the options that name parameters, as types that a file can hold."""
        bounds = None if self.bounds is None else {n: (*b,) for n, b in self.bounds.items()}
        return {"fixed": (*self.fixed,), "bounds": bounds, "tied": groups_of(self.tied)}

    def _fitted(
        self,
        model: Parameters,
        X: HostMatrix,
        y: HostVector,
        *,
        fixed: Sequence[str] = (),
        **known: object,
    ) -> Fit[Parameters, Posterior]:
        """Fit a model from its own values; zeros stay zero.

        `known` has the known noise by its names in `fit`; `fixed` comes on top of the
        caller's own. Noise that is left open is no zero.
        """
        opened = ("noise_var", "gp.noise_var") if noise_is_open(model) else ()
        numbers = (leaf for leaf in leaves(model) if isinstance(leaf.value, float))
        positive = (one for one in numbers if one.constraint != "real" and one.path not in opened)
        zeros = [one.path for one in positive if one.value == 0.0]
        held = [*zeros, *fixed, *self.fixed]
        batch = self._batch(X.shape[0])
        draws = stream_of_state(self.random_state) if self.restarts or batch else None
        how: dict[str, Any] = {"restarts": self.restarts}
        if batch:
            how = {"minibatches": Minibatches(batch)}
        how.update(known, priors=self.priors, tied=self.tied, progress=self.verbose > 0)
        how["bounds"] = self.bounds
        with raised_interrupts(), may_be_precise():  # a grid search would go on to its next
            found = fit(
                model,
                self._with_names(X),
                y,
                rng=draws,
                fixed=held,
                max_steps=self.max_steps,
                **how,
            )
        for said in filter(is_of_precision, found.remarks):
            warn_caller(said, ConvergenceWarning)
        if batch is None and not found.runs[0].converged:
            said = f"the fit stopped short of a maximum after max_steps={self.max_steps}"
            warn_caller(f"{said}: {found.runs[0].message}", ConvergenceWarning)
        return found

    def _conditioned(
        self,
        found: Fit[Parameters, Posterior] | None,
        model: Parameters,
        X: HostMatrix,
        y: HostArray,
        **known: Any,
    ) -> Any:
        """The posterior of a fit; without one, of the model as it is."""
        return found.posterior if found else condition(model, self._with_names(X), y, **known)

    def _with_names(self, X: HostMatrix) -> HostMatrix | NamedRows:
        """Rows with the names of their columns, by which these and parameters may be named."""
        columns = self._columns()
        return NamedRows(X, columns) if columns else X

    def _batch(self, rows: int) -> int | None:
        """Of how many of so many rows each step of a fit is; None: of all."""
        return None

    def check_arguments(self) -> None:
        """Raise, naming it, for an argument of the constructor that no data would make right."""
        if self.kernel is not None:
            _require_kernel(self.kernel)
        _check.whole(self.restarts, "restarts")
        _check.whole(self.max_steps, "max_steps", 1)
        if not isinstance(self.verbose, bool):  # which is as good here, as to scikit-learn
            _check.whole(self.verbose, "verbose")
        _check.flag(self.optimise, "optimise")
        random_state_of(self.random_state)
        require_names(self.fixed)
        for given, name in ((self.bounds, "bounds"), (self.priors, "priors")):
            if not isinstance(given, Mapping | None):
                raise TypeError(f"{name} must be a mapping by names; got {_check.kind_of(given)}")
        if not isinstance(self.tied, Collection):  # a second fit would find no more in an iterator
            raise TypeError(f"tied must be a list of groups; got {_check.kind_of(self.tied)}")
        groups_of(self.tied)

    def _rows(self, X: ArrayLike, *, reset: bool) -> HostMatrix:
        """Rows as a matrix of float64, of as many columns as at the fit unless `reset`."""
        X = framed(X)  # scikit-learn knows the names of frames alone
        _check.plain(X, "X")
        _require_numbers(X, "X")
        try:
            settings = {"dtype": np.float64, "ensure_all_finite": False, "copy": reset}
            settings["ensure_min_samples"] = int(reset)  # of no rows there are no predictions
            rows = validate_data(self, X, reset=reset, **settings)
        except (TypeError, ValueError) as problem:
            if columns_of(X):
                floats(X, "X")  # whose error names the column, and what to do
            if hasattr(X, "sparse"):  # which a frame has where all its columns are
                got = "got sparse ones: give X.sparse.to_dense()"
                raise TypeError(f"X must have dense columns; {got}") from problem
            raise renamed(problem, "X must be rows of real numbers, (n, d)") from problem
        return finite(faithful(ordered(X, "X", ()), rows, "X"), "X", columns_of(X))

    def _new_rows(self, X: ArrayLike) -> HostMatrix:
        """Rows as those of the fit, which the kernel takes; nothing need look at them again."""
        if not hasattr(self, "posterior_"):
            check_is_fitted(self, "posterior_")
        rows = X if self._plain(X) else self._rows(X, reset=False)
        self._admit(rows)
        return rows

    def _mean_at(self, rows: HostMatrix) -> HostVector:
        """The mean of f at rows that are validated."""
        few = rows.shape[0] <= _FEW
        return to_numpy(self.posterior_._mean(rows) if few else self.posterior_.mean(rows))

    def _admit(self, rows: HostMatrix) -> None:
        """Refuse rows that the kernel does not take."""
        self.gp_.kernel._validate_inputs(rows, "X")

    def _plain(self, X: ArrayLike) -> TypeGuard[HostMatrix]:
        """Return True if X is good as it is, in a hundredth of the time that all checks take.

        For a single row they would take longer than the prediction. False says nothing.
        """
        if type(X) is not np.ndarray or X.dtype != np.float64 or hasattr(self, "feature_names_in_"):
            return False
        if X.ndim != 2 or X.shape[1] != self.n_features_in_ or not X.shape[0]:
            return False
        return bool(np.abs(X).max() < _SURE)  # of NaN it is False


def warn_of_order(**tables: object) -> None:
    """Warn of tables of one call whose rows are labelled otherwise, by the names of arguments.

    scikit-learn joins them by position without a word.
    """
    for name, first, seen, remedy in out_of_order(tables):
        said = f"{name} is joined to {first} by position, though their row labels differ"
        warn_caller(f"{said}: {seen}; {remedy}", UserWarning)


def _require_kernel(kernel: object) -> None:
    """Refuse an object that is no kernel of the package, and name its library."""
    if not isinstance(kernel, Kernel):
        wanted = "a gpnotes Kernel, such as gpnotes.RBF()"
        raise TypeError(f"kernel must be {wanted}; got {_check.whose(kernel)}")


def _nested(path: str) -> str:
    """The name that scikit-learn has for a hyperparameter of the kernel."""
    return _WITHIN + path.replace(".", "__")


def _changed(kernel: Kernel | None, within: dict[str, object]) -> Kernel:
    """The kernel with hyperparameters, by the names of scikit-learn, replaced."""
    paths = {_nested(leaf.path): leaf.path for leaf in leaves(kernel)}
    for name in within:
        if name not in paths:
            there = f"the kernel, {kernel!r}, has {sorted(paths)}" if kernel else "kernel is None"
            raise ValueError(f"{name} must be a hyperparameter of the kernel; {there}")
    new = {paths[name]: value for name, value in within.items()}
    return replaced(cast(Kernel, kernel), new)


def reals(given: ArrayLike, name: str, wanted: str, *, column: bool = False) -> HostArray:
    """Return a float64 copy of an array, which may hold NaN; of a `column`, a vector."""
    _check.plain(given, name)
    _require_numbers(given, name)
    settings = {"dtype": np.float64, "ensure_all_finite": False, "copy": True, "input_name": name}
    try:
        table = check_array(given, ensure_2d=False, **settings)
        made: HostArray = column_or_1d(table, warn=True) if column else table
    except (TypeError, ValueError) as problem:
        is_word = column and "convert string" in str(problem)
        remedy = " (of classes, give it to GPClassifier)" if is_word else ""
        if column and "1d array" in str(problem):
            remedy = " (of several columns, give it to MultiOutputGPRegressor)"
        raise renamed(problem, f"{name} must be {wanted}{remedy}") from problem
    return faithful(given, made, name)


def _require_numbers(given: ArrayLike, name: str) -> None:
    """Refuse what scikit-learn would make numbers of: dates, bytes, records, truths as y.

    A date would count the units of its dtype, a record its fields.
    """
    host = on_host(given, name)
    if host.dtype.kind in ("bMmSV" if name == "y" else "MmSV"):
        floats(given, name)  # whose error names the column, and what to do
        raise TypeError(f"{name} must hold real numbers; got entries of type {host.dtype}")
    strange = (bytes, np.datetime64, np.timedelta64)
    for entry in host.flat if host.dtype.kind == "O" else ():
        if isinstance(entry, strange):
            raise TypeError(f"{name} must hold real numbers; got {entry!r} in it")


def renamed(problem: Exception, wanted: str) -> Exception:
    """Return an error of scikit-learn with the argument and the expectation added."""
    kind = TypeError if isinstance(problem, TypeError) else ValueError
    return kind(f"{wanted}; {problem}")


def finite(a: HostArray, name: str, columns: tuple[str, ...] = ()) -> HostArray:
    """`a`, float64, if it is finite and its squares are; an error names the first row."""
    wrong = ~np.isfinite(a)
    if wrong.any():
        row, *column = np.argwhere(wrong)[0]
        where = f"row {row}" + (f", column {columns[column[0]]!r}" if columns else "")
        count = int(wrong.sum())
        remedy = ": leave those rows out of X and y" if name == "y" else ""
        said = f"{name} must be finite; got {count} NaN or inf, the first in {where}{remedy}"
        raise ValueError(said)
    _check.squarable(a, name)
    return a


def random_state_of(given: RandomState) -> RandomState:
    """`given`, if scikit-learn takes it for a random state."""
    if given is None or isinstance(given, np.random.RandomState):
        return given
    return _check.whole(given, "random_state")


def stream_of_state(given: RandomState) -> Stream:
    """A stream from a random state; None is NumPy's own, as everywhere in scikit-learn."""
    given = random_state_of(given)
    return stream(given if isinstance(given, int) else check_random_state(given).randint(SEEDS))
