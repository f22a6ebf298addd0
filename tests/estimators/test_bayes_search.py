"""The search of hyperparameters for scikit-learn: its conventions, and what it finds."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from gpnotes.decide.bayesopt import Categorical, Fixed, Real, Space
from gpnotes.estimators import BayesSearchCV

ALPHA = {"alpha": Real(1e-3, 1e3, log=True)}
C = {"C": Real(1e-2, 1e2, log=True)}


def search(estimator, space, **options):
    settings = {"n_iter": 4, "num_initial": 2, "cv": 2, "random_state": 0} | options
    return BayesSearchCV(estimator, space, **settings)


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


@pytest.mark.slow
def test_it_finds_more_than_a_random_search(data):
    """Three hyperparameters of a machine of support vectors, 24 candidates."""
    pipe = make_pipeline(StandardScaler(), SVR())
    space = {
        "svr__C": Real(1e-3, 1e4, log=True),
        "svr__gamma": Real(1e-6, 1e1, log=True),
        "svr__epsilon": Real(1e-2, 1e2, log=True),
    }
    found = search(pipe, space, n_iter=24, num_initial=8, cv=3).fit(*data)
    scores = []
    for seed in range(5):
        points = Space(space).from_units(np.random.default_rng(seed).random((24, 3)))
        grid = {name: [point[name] for point in points] for name in space}
        chance = RandomizedSearchCV(pipe, grid, n_iter=24, cv=3, random_state=seed)
        scores.append(chance.fit(*data).best_score_)
    assert found.best_score_ > np.median(scores)
    assert abs(found.recommended_.mean - found.best_score_) < 0.02


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_space_of_few_settings_ends_the_search(data, at_once):
    """All three, and one again, which shows that scores repeat."""
    few = {"alpha": Categorical([0.1, 1.0, 10.0])}
    found = search(Ridge(), few, n_iter=12, n_points=at_once).fit(*data)
    tried = [one["alpha"] for one in found.cv_results_["params"]]
    assert sorted(set(tried)) == [0.1, 1.0, 10.0]
    assert len(tried) == 4


def test_it_has_what_scikit_learns_searches_have(data):
    space = Space({**ALPHA, "solver": Categorical(["svd", "cholesky"]), "max_iter": Fixed(50)})
    found = search(Ridge(), space, n_iter=6, n_points=4).fit(*data)
    results = found.cv_results_
    assert len(results["params"]) == 6
    assert found.best_params_ == results["params"][found.best_index_]
    assert found.best_score_ == max(results["mean_test_score"])
    assert found.best_estimator_.get_params()["solver"] == found.best_params_["solver"]
    assert found.predict(data[0]).shape == data[1].shape
    assert found.recommended_.x in results["params"]
    again = clone(found).fit(*data)
    assert again.cv_results_["params"] == results["params"]


def test_the_page_about_it_runs(data, root, capsys):
    """Its block needs scikit-learn, which the book is built without."""
    page = (root / "book" / "api" / "searching.md").read_text("utf-8")
    block = page.split("```python\n")[1].split("```")[0]
    shown = {"X": data[0], "y": data[1], "Real": Real}
    exec(block.replace("n_iter=15", "n_iter=8"), shown)
    assert "BayesSearchCV" in block
    assert "svr__C" in capsys.readouterr().out


def test_candidates_that_fail_are_left_behind(data):
    class Picky(Ridge):
        def fit(self, X, y):
            if self.alpha > 1.0:
                raise ValueError("too large")
            return super().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn tells of each fit that failed
        together = search(Picky(), ALPHA, n_iter=8, n_points=4, num_initial=4).fit(*data)
    with pytest.warns(FitFailedWarning, match="All the 2 fits failed"):
        alone = search(Picky(), ALPHA, n_iter=8, num_initial=4).fit(*data)
    assert np.isnan(together.cv_results_["mean_test_score"]).any()
    assert len(alone.cv_results_["params"]) < 8
    for found in (together, alone):
        assert found.best_params_["alpha"] <= 1.0
        assert math.isfinite(found.recommended_.mean)
    with (
        pytest.warns(FitFailedWarning) as told,
        pytest.raises(ValueError, match="All the 2 fits failed"),
    ):
        search(Picky(), {"alpha": Real(2.0, 3.0)}, n_iter=9, num_initial=3).fit(*data)
    assert len(told) == 2  # the third, with which the initial ones end, is raised
    with pytest.warns(FitFailedWarning) as told, pytest.raises(ValueError, match="All the 2"):
        search(Picky(), {"alpha": Real(2.0, 3.0)}, n_iter=9, num_initial=None).fit(*data)
    assert len(told) == 3  # the fourth is the last of twice as many as there are inputs and one
    few = {"alpha": Categorical([2.0, 3.0])}
    with (
        pytest.warns(FitFailedWarning) as told,
        pytest.raises(ValueError, match="All the 2 fits failed"),
    ):
        search(Picky(), few, n_iter=9, num_initial=8).fit(*data)
    assert len(told) == 1  # with the second there is none left
    with pytest.raises(ValueError, match=r"^too large"):
        search(Picky(), ALPHA, n_iter=8, num_initial=4, error_score="raise").fit(*data)


def test_candidates_are_compared_on_the_same_folds(data):
    """Its tolerance changes nothing here; a splitter without a seed shuffles at each call."""
    space = {"tol": Real(1e-6, 1e-3, log=True)}
    scores = search(Ridge(), space, cv=KFold(2, shuffle=True)).fit(*data).cv_results_
    assert len(set(scores["mean_test_score"])) == 1


def test_with_several_scores_one_is_looked_for(data):
    scores = {"fit": "r2", "error": "neg_mean_absolute_error"}
    found = search(Ridge(), ALPHA, scoring=scores, refit="error").fit(*data)
    assert found.best_score_ == max(found.cv_results_["mean_test_error"])
    with pytest.raises(ValueError, match="refit must be the name of the score"):
        search(Ridge(), ALPHA, scoring=scores, refit=False).fit(*data)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"n_iter": 0}, ValueError, "n_iter must be a whole number from 1"),
        ({"n_points": 2.0}, TypeError, "n_points must be a whole number from 1"),
        ({"num_initial": 0}, ValueError, "num_initial must be a whole number from 1"),
        ({"search_space": [1.0]}, TypeError, "dimensions must be a mapping"),
        ({"search_space": {"alpha": (0.1, 1.0)}}, TypeError, "must be a Real, Integer"),
    ],
)
def test_arguments_are_looked_at_by_fit(data, options, kind, said):
    made = search(Ridge(), ALPHA).set_params(**options)
    with pytest.raises(kind, match=said):
        made.fit(*data)


@pytest.mark.parametrize("called", ["fit", "score"])
def test_rows_that_are_labelled_otherwise_are_told(data, called):
    """The estimator that is tuned may be of scikit-learn, which joins by position in silence."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(data[0])
    y = pandas.Series(data[1])
    found = search(Ridge(), ALPHA, n_iter=2)
    if called == "score":
        found.fit(X, y)
    with pytest.warns(UserWarning, match=r"y is joined to X by position.*row 0 is 149.*y\.loc\[X"):
        getattr(found, called)(X, y[::-1])
