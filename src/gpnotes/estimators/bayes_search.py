"""A search over an estimator's hyperparameters by cross-validation, as scikit-learn has others.

It works as `RandomizedSearchCV` does, but chooses each candidate by the scores before:
`bayesopt.Optimiser` proposes it, and learns the mean score of the folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from ..decide.bayesopt import Optimiser, Recommendation, Space
from ..decide.bayesopt.search_space import Dimension, Point
from ..ground import check as _check
from .base import RandomState, warn_of_order

__all__ = ["BayesSearchCV"]

_SEEDS = 2**31 - 1


class BayesSearchCV(BaseSearchCV):
    """Search over hyperparameters by cross-validation, each candidate chosen by the scores before.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        The estimator to tune.
    search_space : Space or mapping from str to Real, Integer, Categorical or Fixed
        The range of each parameter of the estimator.
    n_iter : int, default 50
        How many candidates are tried; fewer where a finite space is used up before.
    n_points : int, default 1
        How many are tried at once: with ``n_jobs`` the folds of all of them are fitted in parallel.
    num_initial : int, optional
        How many candidates are of a Sobol sequence, as in `Optimiser`.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        Those of ``RandomizedSearchCV``. With several scores, `refit` names the one that is looked
        for.
    random_state : int, RandomState or None, default None
        The source of all random numbers.

    Notes
    -----
    Besides the attributes of scikit-learn's searches, as `best_params_` and `cv_results_`, a fit
    sets `recommended_`, a `Recommendation`: the candidate that a model of all scores holds for the
    best, with its error. `best_score_` is the luckiest mean of folds.

    A candidate whose fits all fail raises a warning and is left out of `cv_results_`, and the
    search stays away from there; if none of the first, which know nothing, has a score, the error
    is raised.

    Examples
    --------
    >>> from gpnotes.decide.bayesopt import Real
    >>> from sklearn.linear_model import Ridge
    >>> X = np.linspace(0.0, 1.0, 30)[:, None] ** np.arange(8)
    >>> space = {"alpha": Real(1e-6, 1e3, log=True)}
    >>> search = BayesSearchCV(Ridge(), space, n_iter=10, random_state=1)
    >>> search.fit(X, np.sin(6.0 * X[:, 1])).best_params_["alpha"] < 1e-2
    True
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        search_space: Space | Mapping[str, Dimension],
        *,
        n_iter: int = 50,
        n_points: int = 1,
        num_initial: int | None = None,
        scoring: object = None,
        n_jobs: int | None = None,
        refit: bool | str = True,
        cv: object = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: RandomState = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, pre_dispatch=pre_dispatch, error_score=error_score,
            return_train_score=return_train_score,
        )  # fmt: skip
        self.search_space = search_space
        self.n_iter = n_iter
        self.n_points = n_points
        self.num_initial = num_initial
        self.random_state = random_state

    def fit(self, X: object, y: object = None, **params: object) -> Self:
        """Search, and warn of tables whose rows are labelled otherwise.

        Parameters
        ----------
        X, y : array-like
            The rows and the targets.
        **params
            Further arguments of the estimator's fit, and the groups of the folds.

        Returns
        -------
        BayesSearchCV
            The search itself.
        """
        warn_of_order(X=X, y=y, **params)
        return super().fit(X, y, **params)

    def score(self, X: object, y: object = None, **params: object) -> float:
        """Score the best estimator, and warn as `fit` does."""
        warn_of_order(X=X, y=y, **params)
        return super().score(X, y, **params)

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        given = self.search_space
        space = given if isinstance(given, Space) else Space(given)
        n_iter = _check.whole(self.n_iter, "n_iter", 1)
        at_once = _check.whole(self.n_points, "n_points", 1)
        seed = int(check_random_state(self.random_state).randint(_SEEDS))
        optimiser = Optimiser(space, goal="maximise", num_initial=self.num_initial, rng=seed)
        blind = min(
            n_iter, 2 * (space.columns + 1) if self.num_initial is None else self.num_initial
        )
        cv = _Folds(self.cv) if hasattr(self.cv, "split") else None  # others keep their folds
        while optimiser.count < n_iter and not optimiser.used_up:
            points = optimiser.ask_batch(min(at_once, n_iter - optimiser.count))
            try:
                results = evaluate_candidates(points, cv)
            except ValueError as problem:  # all fits of these points failed, or all ever will
                if self.error_score == "raise":
                    raise
                for point in points:
                    optimiser.fail(point, str(problem))
                if optimiser.best is None and (optimiser.count >= blind or optimiser.used_up):
                    raise
                warnings.warn(f"{points}: {problem}", FitFailedWarning, stacklevel=3)
            else:
                scores = results[self._score_of(results)][-len(points) :]
                for point, score in zip(points, scores, strict=True):
                    optimiser.tell(point, float(score))  # what is not finite is a failure
        self.recommended_: Recommendation[Point] | None = optimiser.recommend()

    def _score_of(self, results: Mapping[str, object]) -> str:
        """Return the column of the score that is searched for."""
        if "mean_test_score" in results:
            return "mean_test_score"
        if not isinstance(self.refit, str):
            wanted = "the name of the score that is looked for, where there are several"
            raise ValueError(f"refit must be {wanted}; got {self.refit!r}")
        return f"mean_test_{self.refit}"


class _Folds:
    """A splitter that makes its folds once, whether it shuffles or not: scores are compared."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._folds: list[Any] = []

    def split(self, *tables: object, **params: object) -> list[Any]:
        """The folds of the first call."""
        self._folds = self._folds or list(self._splitter.split(*tables, **params))
        return self._folds
