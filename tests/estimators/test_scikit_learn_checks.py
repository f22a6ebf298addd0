"""scikit-learn's own checks of every estimator: none fails."""

from __future__ import annotations

import functools
import importlib
import warnings
from typing import Any

import pytest

pytest.importorskip("sklearn")

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from gpnotes import GP, RBF, FitWarning, condition, estimators
from gpnotes.decide.bayesopt import Optimiser, Real
from gpnotes.estimators import BayesSearchCV, GPClassifier, GPRegressor, MultiOutputGPRegressor
from gpnotes.model.kernels import Linear, Matern32

# many fits here are cut short, since it is not their end that is asked for
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# where there is no pandas, beside those of array namespaces, which want a variable to be set
SKIPPED = {
    "check_regressor_data_not_an_array",
    "check_classifier_data_not_an_array",
}
SEARCH = {"num_initial": 2, "cv": 2, "random_state": 0}
# what scikit-learn's own list says of its GridSearchCV, too
EXPECTED = {"check_supervised_y_2d": "DataConversionWarning not caught"}
# of as few settings as there can be: a process is fitted to them when all are read
OF_RIDGE = BayesSearchCV(Ridge(), {"alpha": Real(1e-3, 1e3, log=True)}, n_iter=2, **SEARCH)
OF_CLASSES = BayesSearchCV(
    GaussianNB(), {"var_smoothing": Real(1e-9, 1e-1, log=True)}, n_iter=3, **SEARCH
)
MODELS = {
    "GPRegressor": GPRegressor(max_steps=10),
    "GPRegressor with arguments": GPRegressor(
        Matern32() + Linear(), mean="zero", max_steps=5, restarts=1
    ),
    "GPRegressor by inducing points": GPRegressor(inducing=5, max_steps=3),
    "GPClassifier": GPClassifier(optimise=False),
    "GPClassifier by Laplace": GPClassifier(method="laplace", optimise=False),
    "GPClassifier by inducing points": GPClassifier(inducing=4, max_steps=1),
    "MultiOutputGPRegressor": MultiOutputGPRegressor(max_steps=3),
    "BayesSearchCV": OF_RIDGE,
    "BayesSearchCV of a classifier": OF_CLASSES,
}


def quick(X: Any, y: Any, *, rng: Any) -> Any:
    """A model without a fit."""
    return condition(GP(RBF(1.0, 0.5), 1e-4), X, y)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_checks_of_scikit_learn(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        checks = importlib.import_module("sklearn.utils.estimator_checks")
    except RuntimeError as problem:  # 1.6 has none beside array-api-compat, unless told otherwise
        pytest.skip(str(problem))
    expected = EXPECTED if model is OF_RIDGE else {}
    if model is OF_CLASSES:  # its third setting is asked for; that of Ridge fits a process
        asking = functools.partial(Optimiser, model=quick)
        monkeypatch.setattr("gpnotes.estimators.bayes_search.Optimiser", asking)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FitWarning)  # the checks make noise
        if isinstance(model, BayesSearchCV):
            warnings.simplefilter("ignore")  # of data that the checks make
        told = checks.check_estimator(
            model, on_skip=None, on_fail=None, expected_failed_checks=expected
        )
    outcomes = {one["check_name"]: one["exception"] or one["status"] for one in told}
    skipped = SKIPPED | expected.keys()
    others = {name: said for name, said in outcomes.items() if said != "passed"}
    left = [name for name in others if name not in skipped and "check_array_api" not in name]
    assert left == [], others
    assert len(outcomes) > 40


def test_every_estimator_is_among_them() -> None:
    tried = {type(model) for model in MODELS.values()}
    known = {getattr(estimators, name) for name in estimators.__all__}
    assert {kind for kind in known if isinstance(kind, type) and hasattr(kind, "fit")} == tried
