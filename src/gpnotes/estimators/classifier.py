"""Gaussian process classification as an estimator of scikit-learn.

Two classes by expectation propagation or Laplace's approximation, several and many rows by inducing
points.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from ..ground import check as _check
from ..ground.random import stream
from ..ground.xp import HostArray, HostMatrix, HostVector, Matrix, to_numpy
from ..infer import laplace, svgp
from ..model.bounds import lengths_of
from ..model.contracts import Prior
from ..model.gaussian_process import GP
from ..model.kernels import RBF, Kernel
from ..model.likelihoods import Bernoulli, Categorical
from ..model.means import ConstantMean
from .base import Bounds, GPEstimator, RandomState, ScoreOfRows, renamed, warn_of_order

__all__ = ["GPClassifier"]

_OF_INDUCING = (svgp.VariationalPosterior, svgp.ClassesPosterior)
_OF_ONE_FUNCTION = (
    laplace.LaplacePosterior, laplace.EPPosterior, svgp.VariationalPosterior
)  # fmt: skip
_BATCH = 1000  # rows of a step where there are more than twice as many
_METHODS = ("ep", "laplace")
_FEW = 500  # rows up to which expectation propagation is the default
_POINTS = 50  # of which several classes are seen by default; they stay where they begin
_DRAWS = 1000  # of the functions of several classes, for an average without a closed form


class GPClassifier(ScoreOfRows, ClassifierMixin, GPEstimator):
    """Gaussian process classification with the methods that scikit-learn asks of an estimator.

    Two classes have one function, with a constant mean that is fitted, and ``P(second) = Φ(f)``,
    [eq-al-label]; several have a function each and the softmax, [eq-la-softmax]. `fit`
    maximises the evidence by `gpnotes.fit`, of two classes as expectation propagation has it,
    [eq-la-ep-evidence], with more than 500 rows as Laplace's approximation does, [eq-la-evidence],
    and of several classes the variational bound of an `gpnotes.SVGP`.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel of the package, from whose hyperparameters the fit starts. Without one it is an
        `RBF` of variance 1 with a length for each column: its standard deviation times √d.
    method : str or None, default None
        How the posterior of f becomes a Gaussian: ``"ep"`` by expectation propagation, `EPGP`, for
        two classes, or ``"laplace"``, around its mode, `LaplaceGP` or `SoftmaxGP`. None is
        ``"ep"`` for two classes of up to 500 rows together, ``"laplace"`` for two of more, and for
        several fifty inducing points that stay where they begin. With `inducing` it must be None.
    fixed, bounds, priors, tied : collection of str, mappings, collection of groups, optional
        As in `GPRegressor`, by the names that `report_` prints: ``"gp.kernel.lengthscale[1]"``. A
        fit by batches, of inducing points and from 2000 rows on, takes no bounds and no priors.
    restarts : int, default 0
        The number of further starts.
    random_state : int, RandomState or None, default None
        The source of the further starts, a whole number or NumPy's ``RandomState``.
    optimise : bool, default True
        Fit the hyperparameters; if False, all stays where it starts.
    max_steps : int, default 200
        The most steps that each start may take.
    inducing : int, optional
        See f through its values at so many inducing points, by the variational bound of an
        `gpnotes.SVGP`: for more than a few thousand rows, where Laplace's approximation takes
        minutes a step and memory for (n, n). The fit moves the points, unless `fixed` has
        ``"inducing"``; they start at rows of X. From 2000 rows on it sees 1000 of them a step, by
        `random_state`, and `max_steps` steps are the fit, without restarts. None is fifty points
        for several classes, unless `method` says otherwise, and none for two.
    verbose : int or bool, default 0
        With 1 or more, show a bar of the steps of a fit, which needs the package tqdm.

    Notes
    -----
    A fit sets

    - `classes_`, the labels, sorted, of whatever kind they are;
    - `gp_`, the process found, and `posterior_`, an `EPPosterior`, a `LaplacePosterior` or a
      `SoftmaxPosterior`, with inducing points a `VariationalPosterior` or a `ClassesPosterior`;
    - `log_evidence_`, the approximate log evidence of the process found, with inducing points a
      bound, from batches an estimate of it;
    - `runs_`, the runs from all starts, best first; none where nothing was fitted;
    - `report_`, the hyperparameters found, with their errors, a page to be printed;
    - `n_features_in_`, the number of columns of X, and `feature_names_in_`, their names
      if they have any.

    Where classes separate, or one is rare, the evidence asks for a wide prior of f. A mode is then
    nearer to zero than the mean, and probabilities by ``"laplace"`` are too near to even: of 200
    rows, three of a class far from the others, they are 0.32 in the mean. Labels that are left
    out say so, and a fit warns. Expectation propagation keeps the rare class rare. On thirty
    tables of 60 to 200 rows, half of them separable or rare, its mean log loss is 0.24 nats where
    Laplace's approximation has 0.34 (`benchmarks/classes.py`). Where classes overlap the two
    agree, and with many columns and little to tell both learn too much.

    Of several classes inducing points are right where a mode is not: on eight tables the mean log
    loss through fifty of them is 0.39 where ``"laplace"`` has 0.58, of three species of iris 0.11
    and 0.43, of ten digits 0.27 and 0.89 (`benchmarks/classes.py --several`). Points that a fit
    moves predict no better, and take most of a minute where there are many columns.

    A length for each column is much to learn from few labels: of 150 labels without a signal in ten
    columns the log loss is 0.79 by ``"ep"``, and 0.70, that of the base rate, with one length. It
    is one of all if `tied`, or in ``RBF(1.0, 3.0)``; a grid search tells which predicts better.

    Costs O(n³) a sweep or Newton step; each step of the fit takes some ten, for c classes
    c times that; where classes separate, some forty sweeps. Two hundred rows take a second or two
    by ``"ep"``, up to fifteen where a class is rare, and a third of a second by ``"laplace"``.
    With M inducing points a step costs O(c (n M² + M³)), of n rows or of a batch of them. With the
    fifty points of 1500 rows it takes 0.03 s for each class: a fit of a hundred classes may take
    ten minutes, and one of a thousand hours. Where the labels are amounts, as counts are, take
    `GPRegressor`. Source: Rasmussen & Williams (2006), sections 3.4 to 3.6 and 5.5; Hensman,
    Matthews & Ghahramani (2015).

    Examples
    --------
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> model = GPClassifier(RBF(4.0), optimise=False).fit(X, np.repeat(["low", "high"], 6))
    >>> model.predict([[1.0], [5.0]]).tolist(), model.predict_proba([[1.0]]).round(2)
    (['low', 'high'], array([[0.06, 0.94]]))
    >>> of_many = GPClassifier(RBF(4.0), inducing=6, optimise=False)
    >>> of_many.fit(X, np.repeat([0, 1, 2], 4)).predict([[1.0], [3.0], [5.0]])
    array([0, 1, 2])
    """

    _kind: ClassVar[str] = "GPClassifier"
    _posteriors: ClassVar[tuple[type, ...]] = (
        laplace.LaplacePosterior,
        laplace.EPPosterior,
        laplace.SoftmaxPosterior,
        *_OF_INDUCING,
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        method: str | None = None,
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
        self.method = method
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the hyperparameters and condition on the labels; O(c n³) a step.

        Parameters
        ----------
        X : array-like, shape (n, d)
            The inputs: any array-like of scikit-learn, as a list, integers or a data frame.
            It is copied.
        y : array-like, shape (n,)
            The labels, of two classes or more: numbers, strings or truths. Rows are
            joined by position; a ``UserWarning`` says where pandas labels them otherwise than `X`.

        Returns
        -------
        GPClassifier
            The estimator itself.

        Raises
        ------
        RuntimeError
            If the mode of f is not found, or the sites of expectation propagation do not settle.
        ValueError
            If `method` is ``"ep"`` and there are more than two classes.

        Warns
        -----
        ConvergenceWarning
            If the fit stops short of a maximum.
        FitWarning
            If far more labels, each left out, are as guessed than Laplace's approximation says.
        """
        self.check_arguments()
        warn_of_order(X=X, y=y)
        rows = self._rows(X, reset=True)
        labels, number = _numbered(y, rows)
        kernel = self.kernel if self.kernel is not None else RBF(1.0, lengths_of(rows))
        classes = labels.size
        told = 2.0 * number - 1.0 if classes == 2 else number
        method, points = self._method(rows.shape[0], classes), self._points(classes)
        model = _model(kernel, classes, points, method)
        still = ("inducing",) if points != self.inducing else ()
        found = self._fitted(model, rows, told, fixed=still) if self.optimise else None
        given = self._conditioned(found, model, rows, told)
        self.classes_ = labels  # not before: a fit that ends early leaves all as it was
        self._keep(given, found)
        if isinstance(given, _OF_INDUCING):
            self.log_evidence_ = found.log_evidence if found else svgp.elbo(given, rows, told)
        return self

    def check_arguments(self) -> None:
        """Raise, naming it, for an argument of the constructor that no data would make right."""
        super().check_arguments()
        if self.inducing is not None:
            _check.whole(self.inducing, "inducing", 1)
        if self.method is None:
            return
        if not isinstance(self.method, str) or self.method not in _METHODS:
            raise ValueError(f"method must be one of {[*_METHODS]} or None; got {self.method!r}")
        if self.inducing is not None:
            why = "with inducing points, which have a bound of their own"
            raise ValueError(f"method must be None {why}; got {self.method!r}")

    def _method(self, rows: int, classes: int) -> str:
        """Return the approximation to the posterior of f for so many rows, all of X."""
        if self.method == "ep" and classes > 2:
            raise ValueError(f"method must be 'laplace' or None for {classes} classes; got 'ep'")
        return self.method or ("ep" if rows <= _FEW else "laplace")

    def _points(self, classes: int) -> int | None:
        """Return the number of inducing points of f; None without them."""
        several = classes > 2 and self.method is None
        return _POINTS if several and self.inducing is None else self.inducing

    def _batch(self, rows: int) -> int | None:
        return _BATCH if self.inducing is not None and rows > 2 * _BATCH else None

    def _read_off(self, posterior: object) -> None:
        if not isinstance(posterior, _OF_INDUCING):
            super()._read_off(posterior)
            return
        self.posterior_, self.gp_ = posterior, posterior.model.gp

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """Return the probabilities of all classes at some rows, averaged over f.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.

        Returns
        -------
        Matrix, shape (m, c)
            The probabilities, a column a class in the order of `classes_`; each row sums to one.

        Notes
        -----
        Of two classes in closed form, [eq-al-predictive], O(n² m). With M inducing points O(c M²
        m), of several classes by the quadrature of `Categorical`. Of several by ``"laplace"`` by
        1000 draws, the same ones at each call, with a standard error below 0.016; O(c n² m).
        """
        return self._probabilities(self._new_rows(X))

    def _probabilities(self, rows: HostMatrix) -> Matrix:
        if isinstance(self.posterior_, laplace.SoftmaxPosterior):
            return self.posterior_.probability(rows, _DRAWS, rng=stream(0))
        second = to_numpy(self.posterior_.probability(rows))
        if second.ndim == 2:
            return second
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: ArrayLike) -> HostArray:
        """The most probable class at some rows.

        Parameters
        ----------
        X : array-like, shape (m, d)
            The inputs.

        Returns
        -------
        HostArray, shape (m,)
            The labels, of the kind that the fit saw.

        Notes
        -----
        Of two classes it is the second where the mean of f is positive, whatever its variance: that
        takes O(n m).
        """
        rows = self._new_rows(X)
        if isinstance(self.posterior_, _OF_ONE_FUNCTION):
            best = (self._mean_at(rows) > 0.0).astype(np.int64)
        else:
            best = np.argmax(to_numpy(self._probabilities(rows)), axis=1)
        return self.classes_[best]

    def saved_values(self) -> dict[str, object]:
        """The arguments and the fit by their names, as `gpnotes.save` writes them.

        Before a fit, a ``NotFittedError``.
        """
        values = {**super().saved_values(), "log_evidence_": self.log_evidence_}
        classes = self.classes_
        if classes.dtype.kind in "UO":  # text is written as text
            values["classes_"] = (classes.dtype.kind, *classes.tolist())
        else:
            values["classes_"] = classes
        return values

    @classmethod
    def of_saved(cls, values: dict[str, object]) -> Self:
        """The estimator of `saved_values`; files from before there was a `method` hold none."""
        return super().of_saved({"method": None, **values})

    def _restore(self, values: dict[str, Any]) -> None:
        classes = _classes(values.pop("classes_"))
        bound = _check.number(values.pop("log_evidence_"), "log_evidence_")
        super()._restore(values)
        self.log_evidence_ = bound
        held = _functions(self.posterior_)
        if classes.shape != (held,):
            raise ValueError(f"classes_ must be {held} labels; got {classes.shape}")
        self.classes_ = classes


def _model(
    kernel: Kernel, classes: int, inducing: int | None, method: str
) -> laplace.LaplaceGP | laplace.EPGP | laplace.SoftmaxGP | svgp.SVGP:
    of_two = GP(kernel, 0.0, ConstantMean(0.0))
    if inducing is not None and classes == 2:
        return svgp.SVGP(of_two, Bernoulli(), inducing)
    if inducing is not None:
        return svgp.SVGP(GP(kernel, 0.0), Categorical(classes), inducing)
    if classes > 2:
        return laplace.SoftmaxGP(GP(kernel, 0.0), classes)
    return laplace.EPGP(of_two) if method == "ep" else laplace.LaplaceGP(of_two)


def _functions(posterior: object) -> int:
    """Return the number of classes of a posterior."""
    if isinstance(posterior, svgp.ClassesPosterior):
        return posterior.likelihood.classes
    return int(getattr(posterior, "classes", 2))


def _numbered(y: ArrayLike, rows: HostMatrix) -> tuple[HostArray, HostVector]:
    """The labels that occur, sorted, and of each row the number of its own."""
    if y is None:
        raise ValueError("GPClassifier requires y to be passed, but the target y is None")
    _check.plain(y, "y")
    try:
        labels = _of_words(column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        classes, number = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as problem:
        raise renamed(problem, "y must be a vector of labels, (n,)") from problem
    if labels.shape != rows.shape[:1]:
        remedy = _check.turned(labels, rows)
        raise ValueError(f"y must have shape {rows.shape[:1]}; got {labels.shape}{remedy}")
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes; got one class, {classes.tolist()}")
    return classes, number.astype(np.float64)


def _of_words(labels: HostArray) -> HostArray:
    """Labels, if those in an array of objects are words and none is missing."""
    if labels.dtype.kind != "O" or all(isinstance(label, str) for label in labels):
        return labels
    kinds = [type(label).__name__ for label in labels]
    for row, kind in enumerate(kinds):
        if kind in ("NoneType", "NAType"):
            raise ValueError(f"got {labels[row]} in row {row}: leave such rows out of X and y")
    kinds = sorted({*kinds})
    remedy = f"give y.astype({kinds[0] if len(kinds) == 1 else 'str'!r})"
    raise ValueError(f"Unknown label type: objects, of {' and '.join(kinds)}: {remedy}")


def _classes(told: object) -> HostArray:
    """The labels as `saved_values` has them."""
    if not isinstance(told, tuple):
        return np.asarray(told)
    kind, *labels = told
    if kind not in ("U", "O") or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"classes_ must be labels; got {told!r}")
    return np.asarray(labels, dtype=kind)
