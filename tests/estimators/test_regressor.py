"""The face for scikit-learn: its own checks, pipelines and searches, and files without pickle."""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
import zipfile
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
import pytest
from saved_files import changed, of_array, of_value, posterior_of

import gpnotes
import gpnotes.ground.linalg
import gpnotes.model.kernels
import gpnotes.model.means
from gpnotes import GP, RBF, ConstantMean, Linear, Matern32, Periodic, White
from gpnotes.estimators import GPClassifier, GPRegressor, MultiOutputGPRegressor
from gpnotes.ground.linalg import JitterWarning
from gpnotes.infer import noise_floor, sparse
from gpnotes.model import kernels
from gpnotes.model.means import BasisMean, Powers

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import (  # noqa: E402
    ConvergenceWarning,
    DataConversionWarning,
    NotFittedError,
)
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process import kernels as theirs  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

# many fits here are cut short, since it is not their end that is asked for
SHORT = "the fit stopped short of a maximum"
pytestmark = pytest.mark.filterwarnings(f"ignore:{SHORT}:sklearn.exceptions.ConvergenceWarning")

FIXED = {"noise_var": 0.1, "optimise": False}


@pytest.fixture
def data(rng):
    X = rng.uniform(-3.0, 3.0, size=(40, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=40)


@pytest.fixture
def Xs(rng):
    return rng.uniform(-3.0, 3.0, size=(7, 2))


# -- in scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"inducing": 4}])
def test_verbose_shows_the_steps_of_a_fit(data, capsys, given):
    pytest.importorskip("tqdm", reason="the extra `progress` brings it")
    quiet = GPRegressor(max_steps=3, **given).fit(*data)
    assert capsys.readouterr() == ("", "")
    loud = GPRegressor(max_steps=3, verbose=1, **given).fit(*data)
    assert "objective" in capsys.readouterr().err
    assert loud.log_evidence_ == quiet.log_evidence_
    assert GPRegressor(verbose=True, optimise=False).fit(*data).verbose is True
    with pytest.raises(TypeError, match="verbose must be a whole number"):
        GPRegressor(verbose="much").fit(*data)


def test_files_of_before_there_was_verbose_are_read(data):
    values = GPRegressor(optimise=False).fit(*data).saved_values()
    del values["verbose"]
    assert GPRegressor.of_saved(values).verbose == 0


def test_in_a_pipeline_it_sees_what_the_step_before_it_made(data, Xs):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), GPRegressor()).fit(X, y)
    scaler = StandardScaler().fit(X)
    alone = GPRegressor().fit(scaler.transform(X), y)
    assert np.array_equal(pipeline.predict(Xs), alone.predict(scaler.transform(Xs)))
    assert pipeline.score(X, y) > 0.95


def test_cross_validation_leaves_the_estimator_as_it_is(data):
    model = GPRegressor(RBF(1.0, np.ones(2)))
    scores = cross_val_score(model, *data, cv=KFold(4))
    assert scores.shape == (4,)
    assert scores.min() > 0.8
    assert not hasattr(model, "posterior_")
    assert model.kernel == RBF(1.0, np.ones(2))


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_a_search_finds_the_kernel_that_predicts(data):
    candidates = [Linear(), RBF(1.0, np.ones(2)), White()]
    search = GridSearchCV(GPRegressor(), {"kernel": candidates}, cv=4).fit(*data)
    assert search.best_params_ == {"kernel": candidates[1]}
    linear, rbf, white = search.cv_results_["mean_test_score"]
    assert rbf > 0.8 > linear > white
    assert search.best_estimator_.gp_.kernel != candidates[1], "it was fitted"


def test_a_search_goes_over_hyperparameters_of_the_kernel(data):
    kernel = 0.5 * RBF(1.0, 30.0) + Linear()
    grid = {"kernel__parts__0__kernel__lengthscale": [0.01, 1.0, 50.0], "noise_var": [0.01]}
    search = GridSearchCV(GPRegressor(kernel, optimise=False), grid, cv=4).fit(*data)
    best = search.best_estimator_
    assert best.gp_.kernel == best.kernel == 0.5 * RBF(1.0, 1.0) + Linear()
    assert kernel == 0.5 * RBF(1.0, 30.0) + Linear()
    within = {name for name in search.estimator.get_params() if "__" in name}
    assert within == {
        "kernel__parts__0__scale", "kernel__parts__0__kernel__variance",
        "kernel__parts__0__kernel__lengthscale", "kernel__parts__1__variance",
    }  # fmt: skip
    both = GPClassifier().set_params(kernel=RBF(), kernel__lengthscale=3.0, kernel__variance=2.0)
    assert both.kernel == RBF(2.0, 3.0)
    assert clone(both).kernel == RBF(2.0, 3.0)


def test_a_hyperparameter_that_the_kernel_has_not_is_refused():
    model = GPRegressor(RBF())
    with pytest.raises(ValueError, match=r"kernel__period must .* has \['kernel__lengthscale', "):
        model.set_params(kernel__period=1.0)
    with pytest.raises(ValueError, match=r"kernel__lengthscale must .* kernel is None"):
        GPRegressor().set_params(kernel__lengthscale=1.0)
    with pytest.raises(ValueError, match=r"RBF\.lengthscale must be positive"):
        model.set_params(kernel__lengthscale=-1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'degree'"):
        model.set_params(degree=2)


def test_a_clone_has_the_arguments_and_no_fit(data):
    kernel = 2.0 * RBF(1.0, np.asarray([1.0, 2.0])) + Periodic().on(0)
    given = {"kernel": kernel, "noise_var": 0.5, "mean": "zero", "restarts": 2, "random_state": 3,
             "optimise": False, "max_steps": 7, "inducing": 5, "alpha": 0.1,
             "verbose": 1, "fixed": ("noise_var",), "bounds": {"kernel.scale": (0.1, 9.0)},
             "priors": {}, "tied": [["kernel.kernel.parts.0.lengthscale[0]"] * 2]}  # fmt: skip
    copy = clone(GPRegressor(**given).fit(*data))
    assert copy.get_params(deep=False) == given
    with pytest.raises(NotFittedError):
        copy.predict(data[0])


def test_scikit_learns_own_regressor_agrees(data, Xs):
    X, y = data
    lengths = np.asarray([0.7, 2.5])
    ours = GPRegressor(1.3 * RBF(1.0, lengths) + Matern32(0.4, 1.7), mean="zero", **FIXED)
    kernel = theirs.ConstantKernel(1.3) * theirs.RBF(lengths)
    kernel = kernel + theirs.ConstantKernel(0.4) * theirs.Matern(1.7, nu=1.5)
    other = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, y)
    ours.fit(X, y)
    assert ours.log_evidence_ == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-8)
    for asked in ({"return_std": True}, {"return_cov": True}):
        of_f = ours.predict(Xs, **asked, noise=False)  # their alpha is no part of a prediction
        for one, two in zip(of_f, other.predict(Xs, **asked), strict=True):
            np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-8)
    assert ours.sample_y(Xs, 5).shape == other.sample_y(Xs, 5).shape == (7, 5)


def test_noise_that_is_known_at_the_fit_is_added_to_alpha(data, Xs):
    X, y = data
    known = np.linspace(0.01, 0.5, len(y))
    model = GPRegressor(alpha=0.1, **FIXED).fit(X, y, noise_var=known)
    same = GPRegressor(alpha=0.1 + known, **FIXED).fit(X, y)
    assert model.log_evidence_ == pytest.approx(same.log_evidence_, rel=1e-12)
    alone = GPRegressor(**FIXED).fit(X, y, noise_var=known)
    same = GPRegressor(alpha=known, **FIXED).fit(X, y)
    np.testing.assert_allclose(alone.predict(Xs), same.predict(Xs), rtol=1e-12)


def test_deviations_are_of_y_as_those_of_scikit_learn_with_its_white_kernel(data, Xs):
    lengths = np.asarray([0.7, 2.5])
    ours = GPRegressor(RBF(1.0, lengths), mean="zero", **FIXED).fit(*data)
    kernel = theirs.RBF(lengths) + theirs.WhiteKernel(0.1)
    other = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(*data)
    for asked in ({"return_std": True}, {"return_cov": True}):
        for one, two in zip(ours.predict(Xs, **asked), other.predict(Xs, **asked), strict=True):
            np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-8)
    draws = [model.sample_y(Xs[:1], 4000, random_state=1) for model in (ours, other)]
    sds = [float(np.std(drawn)) for drawn in draws]
    assert sds[0] == pytest.approx(sds[1], rel=6.0 / np.sqrt(4000))


# -- what is fitted ---------------------------------------------------------------------------


def test_it_is_fit_and_condition(data, Xs):
    gp = GP(RBF(1.0, np.ones(2)), 0.2)
    found = gpnotes.fit(gp, *data)
    posterior = gpnotes.condition(found.model, *data)
    model = GPRegressor(gp.kernel, noise_var=0.2, mean="zero").fit(*data)
    assert model.gp_ == found.model
    assert model.log_evidence_ == posterior.log_evidence
    assert [run.log_evidence for run in model.runs_] == [found.log_evidence]
    mean, sd = model.predict(Xs, return_std=True)
    assert np.array_equal(mean, posterior.predict(Xs)[0])
    assert np.array_equal(sd, np.sqrt(posterior.predict(Xs, noise=True)[1]))
    covariance = model.predict(Xs, return_cov=True)[1]
    assert np.array_equal(covariance, posterior.covariance(Xs, noise=True))


def test_the_constant_mean_is_fitted_and_reaches_its_own_optimum(data):
    X, y = data
    model = GPRegressor().fit(X, y + 50.0)
    gp = model.gp_
    assert type(gp.mean) is ConstantMean
    assert {type(run.model.mean) for run in model.runs_} == {ConstantMean}
    # the best constant at these hyperparameters, in closed form
    K_y = gp.kernel(X) + gp.noise_var * np.eye(40)
    ones = np.linalg.solve(K_y, np.ones(40))
    assert gp.mean.value == pytest.approx(ones @ (y + 50.0) / ones.sum(), abs=1e-3)
    assert abs(gp.mean.value - np.mean(y + 50.0)) > 1e-3
    found = gpnotes.fit(replace(gp, mean=ConstantMean(50.0)), X, y + 50.0)
    assert model.log_evidence_ > found.log_evidence - 1e-3


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("columns", [np.ones(2), np.asarray([1e-4, 1e5])])
def test_units_do_not_matter(data, Xs, unit, columns):
    """Nor for the fit: in other units the optimiser takes the same way to the same evidence."""
    X, y = data
    plain = GPRegressor().fit(X, y)
    other = GPRegressor().fit(X * columns, unit * (y + 7.0))
    evidence = other.log_evidence_ + 40 * np.log(unit)
    assert evidence == pytest.approx(plain.log_evidence_, abs=1e-4)
    there = other.predict(Xs * columns) / unit - 7.0
    np.testing.assert_allclose(there, plain.predict(Xs), rtol=0.0, atol=1e-3)


def test_the_start_is_in_units_of_the_data(data):
    X, y = data
    model = GPRegressor(optimise=False).fit(np.column_stack([X, np.full(40, 0.1)]), y)
    assert model.runs_ == ()
    assert model.gp_.mean == ConstantMean(np.mean(y))
    assert model.gp_.kernel.variance == pytest.approx(np.var(y))
    assert model.gp_.noise_var == pytest.approx(0.1 * np.var(y))
    wanted = [*(np.sqrt(3.0) * np.std(X, axis=0)), 1.0]  # a constant column has no unit
    np.testing.assert_allclose(model.gp_.kernel.lengthscale, wanted)


def test_restarts_are_drawn_by_the_random_state(data):
    once = GPRegressor(max_steps=20).fit(*data)
    first, second = (GPRegressor(restarts=2, random_state=1, max_steps=20).fit(*data) for _ in "ab")
    assert len(first.runs_) == 3
    assert first.runs_ == second.runs_
    assert first.log_evidence_ >= once.log_evidence_ - 1e-9
    assert first.runs_ != GPRegressor(restarts=2, random_state=2, max_steps=20).fit(*data).runs_
    old = np.random.RandomState(5)
    models = [GPRegressor(restarts=1, random_state=old, max_steps=5).fit(*data) for _ in "ab"]
    assert models[0].runs_ != models[1].runs_, "it moves on, as everywhere in scikit-learn"


def test_without_restarts_nothing_is_drawn(data):
    before = np.random.get_state()[2]  # noqa: NPY002
    GPRegressor(max_steps=3).fit(*data).sample_y(data[0][:2])
    assert np.random.get_state()[2] == before  # noqa: NPY002


def test_what_is_zero_stays_zero(data):
    kernel = gpnotes.model.kernels.Polynomial(1.0, 0.0, 2) + RBF()
    model = GPRegressor(kernel, noise_var=0.0, mean=ConstantMean(0.0), max_steps=5)
    with pytest.warns(JitterWarning, match="noise_var=0"):
        model.fit(np.vstack([data[0], data[0]]), np.concatenate([data[1], data[1]]))
    assert model.gp_.noise_var == 0.0
    assert model.gp_.kernel.parts[0].bias == 0.0
    assert model.gp_.kernel.parts[1] != RBF()
    assert model.gp_.mean != ConstantMean(0.0), "a mean may have any value"


# -- predictions ------------------------------------------------------------------------------


def test_noise_is_of_y_and_not_of_f(data, Xs):
    model = GPRegressor(**FIXED).fit(*data)
    of_f, of_y = (model.predict(Xs, return_std=True, noise=noise)[1] for noise in (False, True))
    np.testing.assert_allclose(of_y**2 - of_f**2, 0.1, rtol=1e-12)
    of_f, of_y = (model.predict(Xs, return_cov=True, noise=noise)[1] for noise in (False, True))
    np.testing.assert_allclose(of_y - of_f, 0.1 * np.eye(7), atol=1e-15)


def test_draws_have_the_mean_and_the_covariance(data, Xs):
    model = GPRegressor(**FIXED).fit(*data)
    mean, covariance = model.predict(Xs, return_cov=True, noise=True)
    draws = model.sample_y(Xs, 4000, random_state=1, noise=True)
    sd = np.sqrt(np.diag(covariance))
    assert (abs(draws.mean(axis=1) - mean) < 5.0 * sd / np.sqrt(4000)).all()
    assert (abs(np.cov(draws) - covariance) < 5.0 * np.outer(sd, sd) * np.sqrt(2.0 / 4000)).all()
    assert np.array_equal(model.sample_y(Xs, 2), model.sample_y(Xs, 2))
    assert not np.array_equal(model.sample_y(Xs, 2), model.sample_y(Xs, 2, random_state=1))


def test_a_single_row_is_predicted_as_it_is_among_others(data, Xs):
    model = GPRegressor(**FIXED).fit(*data)
    for noise in (True, False):
        together = model.predict(Xs, return_std=True, noise=noise)
        for i in range(len(Xs)):
            alone = model.predict(Xs[i : i + 1], return_std=True, noise=noise)
            np.testing.assert_allclose([alone[0][0], alone[1][0]], [a[i] for a in together], 1e-12)
        single = [model.predict(Xs[i : i + 1])[0] for i in range(len(Xs))]
        np.testing.assert_allclose(single, together[0], rtol=1e-12)
    many = np.tile(Xs, (20, 1))  # more than go the short way
    np.testing.assert_allclose(model.predict(many), np.tile(together[0], 20), rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
def test_the_short_way_of_a_row_refuses_what_the_long_one_does(value):
    model = GPRegressor(**FIXED).fit([[0.0, 1.0], [1.0, 2.0]], [1.0, 2.0])
    row = np.asarray([[0.0, value]])
    with pytest.raises(ValueError, match="X must be"):
        model.predict(row)
    as_many_rows_as_columns = np.zeros((2, 1))
    for wrong in (row[0], row[:, :1], as_many_rows_as_columns, row[None]):
        with pytest.raises(ValueError, match="X must be rows of real numbers"):
            model.predict(wrong)
    coded = GPRegressor(kernels.Hamming(), **FIXED).fit([[0.0], [1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="X must hold codes of categories"):
        coded.predict(np.asarray([[0.5]]))


def test_deviations_or_a_covariance(data):
    with pytest.raises(ValueError, match="return_cov must be False where return_std is True"):
        GPRegressor(**FIXED).fit(*data).predict(data[0], return_std=True, return_cov=True)


def test_what_scikit_learn_takes_for_arrays_is_taken(rng):
    X, y = rng.integers(0, 9, size=(12, 2)), rng.integers(0, 5, size=12)
    wanted = GPRegressor(**FIXED).fit(X.astype(float), y.astype(float)).predict(X.astype(float))
    as_given = [(X, y), (X.tolist(), y.tolist()), (tuple(map(tuple, X)), tuple(y)),
                (X.astype(np.float32), y.astype(np.float16)), (X.astype(object), y.astype(object)),
                (np.asfortranarray(X), y[::-1][::-1])]  # fmt: skip
    for inputs, targets in as_given:
        got = GPRegressor(**FIXED).fit(inputs, targets).predict(inputs)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    with pytest.warns(DataConversionWarning):
        got = GPRegressor(**FIXED).fit(X, y[:, None]).predict(X)
    assert np.array_equal(got, wanted)


class Frame:
    """A stand-in for a frame of pandas, which scikit-learn takes by ``__array__``."""

    def __init__(self, entries: np.ndarray) -> None:
        self.entries = entries
        self.shape = entries.shape

    def __len__(self) -> int:
        return len(self.entries)

    def __array__(self, dtype=None, copy=None):
        return self.entries if dtype is None else self.entries.astype(dtype)


DATES = np.arange(30).astype("datetime64[D]")
STRANGE = {
    "dates": DATES[:, None].astype("datetime64[us]"),
    "times": (DATES - DATES[0])[:, None].astype("timedelta64[s]"),
    "records": np.zeros((30, 1), dtype=[("a", float)]),
    "bytes": np.full((30, 1), b"1.5"),
    "objects": np.full((30, 1), b"1.5", dtype=object),
    "a frame": Frame(DATES[:, None].astype("datetime64[s]")),
    "a mixed frame": Frame(np.full((30, 2), DATES[1] - DATES[0], dtype=object)),
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("estimator", [GPRegressor, GPClassifier])
def test_what_counts_in_units_of_its_dtype_is_no_number(estimator, kind):
    strange = STRANGE[kind]
    X, y = np.linspace(0.0, 1.0, 30)[:, None], np.arange(30.0) % 2
    with pytest.raises((TypeError, ValueError), match=r"^X must"):
        estimator(optimise=False).fit(strange, y)
    fitted = estimator(optimise=False).fit(np.hstack([X] * np.shape(strange)[-1]), y)
    with pytest.raises((TypeError, ValueError), match=r"^X must"):
        fitted.predict(strange)
    if estimator is GPRegressor and "frame" not in kind:
        with pytest.raises((TypeError, ValueError), match=r"^y must"):
            GPRegressor(optimise=False).fit(X, strange[:, 0])


SIDEWAYS = np.arange(60.0).reshape(3, 20)
ODD = {
    "dates, flat": (DATES, np.ones(30), "X must hold real numbers.*days_since"),
    "dates, a column": (DATES[:, None], np.ones(30), "X must hold real numbers.*days_since"),
    "a frame of dates": (
        pd.DataFrame({"when": DATES.astype("datetime64[s]")}), np.ones(30),
        "X must hold real numbers; .* in column 'when': gpnotes.days_since",
    ),
    "sparse columns": (
        pd.DataFrame({"a": pd.arrays.SparseArray(np.linspace(0.0, 1.0, 30))}), np.ones(30),
        r"X must have dense columns; .* give X\.sparse\.to_dense\(\)",
    ),
    "columns for rows": (SIDEWAYS, np.ones(20), r"y must .*\(20,\): X .*\(3, 20\); give X\.T"),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("estimator", [GPRegressor, GPClassifier, MultiOutputGPRegressor])
def test_an_error_of_data_says_what_mends_them(estimator, case):
    X, y, wanted = ODD[case]
    with pytest.raises((TypeError, ValueError), match=wanted):
        estimator(optimise=False).fit(X, np.cumsum(y) % 2)


@pytest.mark.parametrize("estimator", [GPRegressor, MultiOutputGPRegressor])
def test_truths_are_labels_for_a_classifier(estimator):
    X = np.linspace(0.0, 1.0, 30)[:, None]
    for truths in ([True, False] * 15, np.arange(30) % 2 == 0, pd.Series([True, False] * 15)):
        with pytest.raises(TypeError, match=r"y must hold real numbers; .*GPClassifier"):
            estimator(optimise=False).fit(X, truths)


def test_outputs_in_rows_want_to_be_turned():
    X = np.linspace(0.0, 1.0, 30)[:, None]
    with pytest.raises(ValueError, match=r"y must have shape .*\(2, 30\): give y\.T"):
        MultiOutputGPRegressor(optimise=False).fit(X, np.ones((2, 30)))


def test_what_the_caller_changes_later_changes_nothing(data, Xs):
    X, y = data[0].copy(), data[1].copy()
    model = GPRegressor(**FIXED).fit(X, y)
    before = model.predict(Xs)
    X[:], y[:] = 0.0, 0.0
    assert np.array_equal(model.predict(Xs), before)
    assert np.array_equal(model.posterior_.y, data[1])


# -- data that leave little to fit ------------------------------------------------------------


ROUNDED = np.asarray([0.3, 0.1 + 0.2, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("y", [np.full(5, 0.1), np.zeros(5), np.full(5, -3e9), ROUNDED])
@pytest.mark.parametrize("mean", ["constant", ConstantMean(1.0)])
def test_constant_targets_are_said_and_predicted(y, mean):
    X = np.arange(5.0)[:, None]
    with pytest.warns(UserWarning, match="y is constant"):
        model = GPRegressor(mean=mean).fit(X, y)
    assert model.runs_ == ()
    tolerance = 1e-12 * abs(y[0]) if mean == "constant" else 0.2 * abs(y[0] - 1.0)
    assert abs(model.predict(X) - y).max() <= tolerance
    _, sd = model.predict([[99.0]], return_std=True, noise=False)
    assert 0.5 < sd[0] <= 1.0, "certain of nothing"


def test_zeros_under_a_mean_of_zero_are_constant_and_other_constants_are_not():
    X = np.arange(5.0)[:, None]
    with pytest.warns(UserWarning, match="y is constant"):
        GPRegressor(mean="zero").fit(X, np.zeros(5))
    assert len(GPRegressor(mean="zero").fit(X, np.ones(5)).runs_) == 1


def test_a_single_row():
    with pytest.warns(UserWarning, match="y is constant"):
        model = GPRegressor().fit([[2.0, 3.0]], [5.0])
    mean, sd = model.predict([[2.0, 3.0], [90.0, 90.0]], return_std=True)
    np.testing.assert_allclose(mean, 5.0)
    assert sd[0] < sd[1]


def test_rows_that_repeat_without_noise(rng):
    X = np.repeat(rng.normal(size=(5, 1)), 2, axis=0)
    y = rng.normal(size=10)
    with pytest.warns(JitterWarning, match="noise_var=0"):
        model = GPRegressor(noise_var=0.0, max_steps=5).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.posterior_.cholesky.jitter > 0.0


# -- errors -----------------------------------------------------------------------------------


def test_what_is_not_finite_is_told_by_its_row(data):
    X, y = data[0].copy(), data[1].copy()
    y[[7, 9]] = np.nan
    said = "y must be finite; got 2 NaN or inf, the first in row 7: leave those rows out of X and y"
    with pytest.raises(ValueError, match=said):
        GPRegressor().fit(X, y)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"X must be finite; got 1 NaN or inf, .* in row 3$"):
        GPRegressor().fit(X, data[1])


def test_the_process_that_was_found_in_a_frame_knows_its_columns(rng):
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(rng.normal(size=(12, 2)), columns=["wind", "temp"])
    y = np.sin(rows["wind"]) + 0.1 * rng.normal(size=12)
    model = GPRegressor(RBF(1.0, [1.0, 2.0]), max_steps=2).fit(rows, y)
    turned = gpnotes.condition(model.gp_, rows[["temp", "wind"]], y.to_numpy())
    assert turned.columns == ("wind", "temp")
    assert turned.log_evidence == pytest.approx(model.log_evidence_, rel=1e-12)


def test_of_a_frame_the_column_is_named_with_what_to_do():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"tons": [1.0, 2.0, 1.5], "origin": ["usa", "japan", "usa"]})
    for model in (GPRegressor(), GPClassifier()):
        with pytest.raises(TypeError, match=r"'usa' in column 'origin'.*one-hot"):
            model.fit(frame, [1.0, 0.0, 1.0])
        gap = frame.assign(origin=[0.0, 1.0, np.nan])
        with pytest.raises(ValueError, match=r"got 1 NaN or inf, the first in row 2, column 'or"):
            model.fit(gap, [1.0, 0.0, 1.0])


def test_words_go_through_a_pipeline_one_hot_or_as_codes(rng):
    pd = pytest.importorskip("pandas")
    compose, preprocessing = (
        importlib.import_module(f"sklearn.{name}") for name in ("compose", "preprocessing")
    )
    frame = pd.DataFrame({"origin": list("abc") * 8, "tons": np.linspace(0.0, 2.0, 24)})
    y = (
        frame["tons"]
        + frame["origin"].map({"a": 0.0, "b": 3.0, "c": -2.0})
        + rng.normal(0.0, 0.1, 24)
    )
    one_hot = compose.make_column_transformer(
        (preprocessing.OneHotEncoder(), ["origin"]), remainder="passthrough"
    )
    codes = compose.make_column_transformer(
        (preprocessing.OrdinalEncoder(), ["origin"]), remainder="passthrough"
    )
    kernel = kernels.Hamming().on(0) * RBF().on(1)
    for model in (make_pipeline(one_hot, GPRegressor()), make_pipeline(codes, GPRegressor(kernel))):
        assert model.fit(frame.iloc[:-4], y.iloc[:-4]).score(frame.iloc[-4:], y.iloc[-4:]) > 0.97


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"kernel": RBF},
            "kernel must be a gpnotes Kernel, such as gpnotes\\.RBF\\(\\); got the class RBF",
        ),
        ({"kernel": theirs.RBF()}, r"kernel must be a gpnotes Kernel, .* got RBF of sklearn"),
        ({"kernel": RBF(1.0, np.ones(3))}, r"X must have shape \(n, 3\) to match RBF.lengthscale"),
        ({"noise_var": -1.0}, "noise_var must be non-negative and finite; got -1.0"),
        ({"mean": "average"}, r"mean must be one of \['constant', 'zero'\]; got 'average'"),
        ({"mean": RBF()}, "mean must be a mean function"),
        ({"mean": np.sum}, "mean must be a mean function with a pullback"),
        ({"random_state": "seed"}, "random_state must be a whole number from 0; got 'seed'"),
        ({"optimise": 1}, "optimise must be True or False; got 1"),
    ],
)
def test_arguments_are_looked_at_by_fit_and_named(data, wrong, said):
    model = GPRegressor(**wrong)
    with pytest.raises((TypeError, ValueError), match=said):
        model.fit(*data)


def test_rows_too_close_for_their_squares_are_told_by_their_column(data):
    X = data[0] * np.asarray([1.0, 1e-200])
    with pytest.raises(ValueError, match=r"X must vary by more .* underflow; got .* 1"):
        GPRegressor().fit(X, data[1])


# -- inducing points --------------------------------------------------------------------------


def test_with_inducing_points_it_is_a_fit_of_the_bound(rng):
    """Of 3000 rows, at a thousandth of the cost: as near to the truth as the noise lets it."""
    X = rng.uniform(0.0, 6.0, size=(3000, 1))
    truth = np.sin(3.0 * X[:, 0])
    y = 5.0 + truth + 0.1 * rng.normal(size=3000)
    given = {"kernel": RBF(2.0, 1.5), "noise_var": 0.2, "mean": ConstantMean(4.0), "inducing": 14}
    model = GPRegressor(**given, max_steps=30).fit(X, y)
    Z = GPRegressor(**given, optimise=False).fit(X, y).posterior_.Z
    gp = GP(given["kernel"], given["noise_var"], given["mean"])
    found = gpnotes.fit(sparse.SparseGP(gp, Z), X, y, max_steps=30)
    assert model.gp_ == found.model.gp
    assert np.array_equal(model.posterior_.Z, found.model.inducing)
    assert model.log_evidence_ == found.posterior.log_evidence
    assert not np.array_equal(model.posterior_.Z, Z), "they move"
    assert np.abs(model.predict(X) - 5.0 - truth).max() < 0.05
    assert np.sqrt(model.gp_.noise_var) == pytest.approx(0.1, rel=0.1)
    assert model.predict(X[:3], return_std=True, noise=False)[1].max() < 0.03
    assert model.predict(X[:3], return_cov=True, noise=True)[1].shape == (3, 3)
    assert model.sample_y(X[:3], 4).shape == (3, 4)


def test_as_many_points_as_rows_are_exact(data, Xs):
    exact = GPRegressor(**FIXED).fit(*data)
    sparse_one = GPRegressor(**FIXED, inducing=99).fit(*data)
    assert sparse_one.posterior_.Z.shape == (40, 2)
    np.testing.assert_allclose(sparse_one.predict(Xs), exact.predict(Xs), atol=1e-6)
    assert sparse_one.log_evidence_ == pytest.approx(exact.log_evidence_, abs=1e-4)


def test_points_start_at_rows_also_of_labels(data):
    X = np.column_stack([data[0][:, 0], np.arange(40.0) % 2])
    kernel = RBF().on(0) * kernels.Coregion(np.ones((2, 1)), np.ones(2)).on(1)
    model = GPRegressor(kernel, inducing=6, max_steps=3).fit(X, data[1])
    assert set(model.posterior_.Z[:, 1]) == {0.0, 1.0}
    rows = {tuple(row) for row in data[0]}
    points = GPRegressor(inducing=6, optimise=False).fit(*data).posterior_.Z
    assert all(tuple(row) in rows for row in points)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"inducing": 0}, "inducing must be a whole number from 1; got 0"),
        ({"inducing": 2.0}, "inducing must be a whole number from 1; got 2.0"),
        ({"inducing": 5, "noise_var": 0.0}, "gp.noise_var must be positive"),
    ],
)
def test_what_is_no_number_of_points_is_refused(data, wrong, said):
    with pytest.raises((TypeError, ValueError), match=said):
        GPRegressor(**wrong).fit(*data)


# -- files ------------------------------------------------------------------------------------


def test_inducing_points_are_loaded_to_the_last_bit_and_looked_over(data, Xs, tmp_path):
    path = tmp_path / "model"
    model = GPRegressor(inducing=6, max_steps=3).fit(*data)
    loaded = back(model, path)
    assert loaded.get_params(deep=False) == model.get_params(deep=False)
    assert vars(loaded).keys() == vars(model).keys()
    for one, two in zip(
        loaded.predict(Xs, return_std=True), model.predict(Xs, return_std=True), strict=True
    ):
        assert one.tobytes() == two.tobytes()
    whole = path.read_bytes()
    for place, make in (
        ("Z", lambda a: a[1:]),
        ("Z", lambda a: a[:, :1]),
        ("weight_mean", lambda a: a[1:]),
        ("cholesky.lower", lambda a: 0.0 * a),
        ("inducing.factor.lower", lambda a: a[:, 1:]),
    ):
        path.write_bytes(whole)
        changed(path, of_array(place, make))
        with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
            GPRegressor.load(path)


LENGTHS = np.asarray([0.1 + 0.2, 1.0 / 3.0])
# of other rows: tests of their own, those of several outputs in model/kernels/test_coregion.py
LABELLED = (
    kernels.WithGradients, kernels.GradientNoise, kernels.Coregion, kernels.Hamming,
    kernels.OutputNoise,
)  # fmt: skip
PUBLIC = [getattr(kernels, name) for name in kernels.__all__]
KERNELS = [kind for kind in PUBLIC if isinstance(kind, type) and issubclass(kind, kernels.Kernel)]
CONCRETE = [
    kind for kind in KERNELS
    if not kind.__abstractmethods__ and kind not in LABELLED
    and not issubclass(kind, kernels.OnGraph)
]  # fmt: skip
COMBINED = {
    kernels.Sum: RBF(1.0 / 3.0, LENGTHS) + Linear(LENGTHS) + White(1e-300),
    kernels.Product: RBF() * (Linear() + 0.1 * Periodic(1.0, LENGTHS, 0.7)),
    kernels.Scaled: (1.0 / 7.0) * kernels.RationalQuadratic(alpha=0.3),
    kernels.ActiveDims: RBF(1.0, LENGTHS).on(1, 0) * Matern32().on(1),
    kernels.Polynomial: kernels.Polynomial(0.1, 0.0, 3),
    kernels.Power: (RBF(1.0, LENGTHS) + 0.5) ** 2,
    kernels.ThinPlate: kernels.ThinPlate(1.0, 9.0),
    kernels.Power: Linear(LENGTHS) ** 2,
    kernels.OnSphere: kernels.OnSphere(RBF(), 1.0),
    kernels.Wiener: kernels.Wiener(1.0, -99.0).on(0),
    kernels.IntegratedWiener: kernels.IntegratedWiener(1.0, -99.0).on(0),
}


def example(kind):
    """A kernel of this class for two columns."""
    kernel = COMBINED.get(kind) or kind()
    return kernel.on(0) if isinstance(kernel, kernels.Circular) else kernel


def back(model, path):
    model.save(path)
    return type(model).load(path)


@pytest.mark.filterwarnings("ignore:no reading tells of another")
@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_what_is_loaded_is_the_same_to_the_last_bit(data, Xs, kind, tmp_path):
    model = GPRegressor(example(kind), max_steps=3, restarts=1, random_state=1).fit(*data)
    loaded = back(model, tmp_path / "model")
    assert loaded.get_params(deep=False) == model.get_params(deep=False)
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.gp_ == model.gp_
    assert loaded.runs_ == model.runs_
    assert loaded.log_evidence_ == model.log_evidence_
    for asked in ({"return_std": True}, {"return_cov": True}, {"return_cov": True, "noise": True}):
        for one, two in zip(loaded.predict(Xs, **asked), model.predict(Xs, **asked), strict=True):
            assert one.tobytes() == two.tobytes()
    assert np.array_equal(loaded.sample_y(Xs, 3), model.sample_y(Xs, 3))
    for item in fields(model.posterior_):
        one, two = (getattr(either.posterior_, item.name) for either in (loaded, model))
        assert not isinstance(two, np.ndarray) or np.array_equal(one, two)


@pytest.mark.parametrize("kind", [kernels.GraphHeat, kernels.GraphMatern])
def test_a_kernel_on_a_graph_is_fitted_and_loaded(kind, tmp_path):
    graph = kernels.Graph(4, ((0, 1), (1, 2), (2, 3)))
    X, y = np.asarray([[0.0], [1.0], [3.0]]), np.asarray([0.3, -0.1, 0.7])
    model = GPRegressor(kind(graph), max_steps=3).fit(X, y)
    loaded = back(model, tmp_path / "model")
    assert loaded.gp_ == model.gp_
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()


def test_values_and_gradients_are_fitted_and_loaded(tmp_path):
    x = np.linspace(0.0, 5.0, 6)[:, None]
    X = np.concatenate([kernels.values_at(x), kernels.gradients_at(x)])
    y = np.concatenate([np.sin(x[:, 0]), np.cos(x[:, 0])])
    kernel = kernels.WithGradients(RBF()) + kernels.GradientNoise(0.01)
    with pytest.raises(TypeError, match="mean must be ConstantOfValues for a kernel of derivat"):
        GPRegressor(kernel).fit(X, y)
    model = GPRegressor(kernel, mean=gpnotes.model.means.ConstantOfValues(0.0), random_state=1).fit(
        X, y
    )
    new = kernels.values_at(np.asarray([[0.5], [2.2]]))
    np.testing.assert_allclose(model.predict(new), np.sin(new[:, 0]), atol=0.02)
    loaded = back(model, tmp_path / "model")
    assert loaded.gp_ == model.gp_
    assert loaded.predict(new).tobytes() == model.predict(new).tobytes()


@pytest.mark.parametrize(
    "mean", ["zero", ConstantMean(0.1), gpnotes.ZeroMean(), BasisMean(Powers(1))]
)
def test_means_jitter_and_names_of_columns_are_saved(data, mean, tmp_path):
    X = np.vstack([data[0]] * 2)
    model = GPRegressor(mean=mean, noise_var=np.float32(0.0), optimise=False)
    with pytest.warns(JitterWarning):
        model.fit(X, np.concatenate([data[1]] * 2))
    model.feature_names_in_ = np.asarray(["élan", "b"], dtype=object)
    loaded = back(model, tmp_path / "a model.npz")
    assert loaded.mean == mean
    assert loaded.posterior_.cholesky.jitter == model.posterior_.cholesky.jitter > 0.0
    assert loaded.feature_names_in_.tolist() == ["élan", "b"]
    assert loaded.feature_names_in_.dtype == object
    assert np.array_equal(loaded.posterior_.mean(X), model.posterior_.mean(X))
    with pytest.warns(UserWarning, match="fitted with feature names"):
        loaded.predict(X)


def test_a_file_holds_no_pickle_and_stands_where_it_was_asked_for(data, tmp_path):
    GPRegressor(RBF() + White(), max_steps=2).fit(*data).save(str(tmp_path / "model"))
    (path,) = tmp_path.iterdir()
    assert path.name == "model"
    with np.load(path, allow_pickle=False) as file:
        assert {file[name].dtype.kind for name in file.files} == {"U", "f"}


@dataclass(frozen=True)
class Cauchy(kernels.Stationary):
    def _profile(self, q):
        return 1.0 / (1.0 + q)

    def _slope(self, q):
        return -1.0 / (1.0 + q) ** 2


@dataclass(frozen=True)
class White2(White):
    """One of the package by birth, but not of it."""


White2.__name__ = "White"  # and it even says so


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kernel": Cauchy()}, "kernel must be .* to be saved; got Cauchy: give its class"),
        ({"kernel": RBF() + 2.0 * Cauchy().on(0)},
         "kernel.parts.1.kernel.kernel must be .* to be saved; got Cauchy"),
        ({"kernel": RBF() * White2()}, "kernel.parts.1 must be .* to be saved; got White"),
        ({"mean": np.negative, "kernel": RBF()}, "mean must be .* to be saved; got ufunc"),
        ({"random_state": np.random.RandomState(1)},
         "random_state must be .* to be saved; got RandomState"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved_is_named_and_nothing_is_written(data, tmp_path, given, said):
    X, y = data[0][:, :1], data[1]
    model = GPRegressor(optimise=False, **given)
    if given.get("mean"):
        model.mean = lambda x: -x[:, 0]
        said = said.replace("ufunc", "function")
    model.fit(X if "mean" in given else data[0], y)
    with pytest.raises(TypeError, match=said):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


class Trap:
    """What pickle would run."""

    def __reduce__(self):
        return exec, ("raise SystemError('it ran')",)


def broken(path, how):
    """The file at `path`, spoilt."""
    whole = path.read_bytes()
    if how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "words":
        path.write_text("no model")
    elif how == "array":
        with path.open("wb") as file:
            np.save(file, np.ones(3))
    elif how == "other":
        with path.open("wb") as file:
            np.savez(file, description=np.asarray('{"form": "a letter", "values": {}}'))
    elif how == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    elif how == "pickled array":
        member = io.BytesIO()
        np.save(member, np.asarray([Trap()], dtype=object), allow_pickle=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("description.npy", member.getvalue())
    else:
        with np.load(path) as file:
            parts = dict(file)
        spoilt = str(parts["description"]).replace('"RBF"', '"os"')
        with path.open("wb") as file:
            np.savez(file, **(parts | {"description": np.asarray(spoilt)}))


HOW = ["cut", "empty", "words", "array", "other", "pickle", "pickled array", "another class"]


@pytest.mark.parametrize("how", HOW)
def test_what_save_did_not_write_is_refused_and_not_run(data, tmp_path, how):
    path = tmp_path / "model.npz"
    GPRegressor(**FIXED).fit(*data).save(path)
    broken(path, how)
    with pytest.raises(ValueError, match=r"path must be of a file that `save` wrote; got .*model"):
        GPRegressor.load(path)


def of_posterior(name, value):
    def change(values, parts):
        posterior_of(values)[name] = value

    return change


KERNEL = {"class": "RBF", "fields": {"variance": 1.0, "lengthscale": 1.0}}
HOSTILE = {
    "no posterior": lambda values, parts: values.pop("posterior_"),
    "no kernel": lambda values, parts: values.pop("kernel"),
    "no alpha": lambda values, parts: posterior_of(values).pop("alpha"),
    "a name too many": of_value("__sklearn_tags__", "x"),
    "a method's name": of_value("predict_", 1.0),
    "another class": of_value("posterior_", KERNEL),
    "a number": of_value("posterior_", 3.0),
    "a process of another class": of_posterior("gp", KERNEL),
    "a factor of another class": of_posterior("cholesky", KERNEL),
    "a trend of nothing": of_posterior("trend", 3.0),
    "a missing array": of_posterior("X", {"array": "nowhere"}),
    "another file": of_posterior("X", {"array": "../description"}),
    "text for numbers": of_posterior("X", {"array": "description"}),
    "a class unknown": of_value("kernel", {"class": "Popen", "fields": {}}),
    "a class abstract": of_value("kernel", {"class": "Kernel", "fields": {}}),
    "runs of something else": of_value("runs_", {"tuple": [KERNEL]}),
    "no tuple of runs": of_value("runs_", "runs"),
    "other columns": of_value("n_features_in_", 3),
    "no number of columns": of_value("n_features_in_", "two"),
    "names that are none": of_value("feature_names_in_", {"tuple": [1.0, 2.0]}),
    "a name too few": of_value("feature_names_in_", {"tuple": ["a"]}),
    "a wrong argument": of_value("restarts", -1),
    "a mean that is none": of_value("mean", KERNEL),
    "a huge number": of_value("noise_var", 10**400),
    "rows of X": of_array("X", lambda a: a[1:]),
    "columns of X": of_array("X", lambda a: a[:, :1]),
    "NaN in X": of_array("X", lambda a: a * np.nan),
    "X of integers": of_array("X", lambda a: a.astype(int)),
    "X in float32": of_array("X", lambda a: a.astype(np.float32)),
    "y twice": of_array("y", lambda a: np.concatenate([a, a])),
    "alpha a matrix": of_array("alpha", lambda a: a[:, None]),
    "a short residual": of_array("residual", lambda a: a[:-1]),
    "an infinite factor": of_array("cholesky.lower", lambda a: a + np.inf),
    "a long factor": of_array("cholesky.lower", lambda a: a[:, :-1]),
    "a factor of nothing": of_array("cholesky.lower", lambda a: 0.0 * a),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_file_whose_parts_do_not_go_together_is_refused(data, tmp_path, how):
    path = tmp_path / "model.npz"
    GPRegressor(RBF(), **FIXED).fit(*data).save(path)
    changed(path, HOSTILE[how])
    with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
        GPRegressor.load(path)


@pytest.mark.parametrize("change", [of_posterior("trend", None), of_posterior("trend", KERNEL)])
def test_a_mean_with_a_basis_is_loaded_with_what_was_learnt_of_it(data, tmp_path, change):
    path = tmp_path / "model.npz"
    model = GPRegressor(RBF(), mean=BasisMean(Powers(1)), **FIXED).fit(*data)
    assert back(model, path).posterior_.trend is not None
    changed(path, change)
    with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
        GPRegressor.load(path)


def _archive(path, description, **options):
    """A file that nobody's `write` would write, with this description."""
    member = io.BytesIO()
    np.save(member, np.asarray(description))
    with zipfile.ZipFile(path, "w", **options) as archive:
        archive.writestr("description.npy", member.getvalue())


def test_what_numpy_and_zip_stumble_over_is_refused_as_well(data, tmp_path):
    path = tmp_path / "model.npz"
    GPRegressor(RBF(), **FIXED).fit(*data).save(path)
    whole = path.read_bytes()

    def refused():
        with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
            GPRegressor.load(path)

    encrypted = bytearray(whole)  # a flag that asks for a password
    start = whole.rindex(b"PK\x01\x02")
    while start >= 0:
        encrypted[start + 8] |= 1
        start = whole.rfind(b"PK\x01\x02", 0, start)
    path.write_bytes(bytes(encrypted))
    refused()
    _archive(path, "[" * 100_000)
    refused()
    _archive(path, "{}", compression=zipfile.ZIP_DEFLATED)
    refused()
    with path.open("wb") as file:  # ten million million numbers, it says
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
        member = io.BytesIO()
        np.lib.format.write_array_header_1_0(member, header)
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("description.npy", member.getvalue())
    refused()


def test_a_file_with_a_changed_byte_is_refused_or_the_same(data, tmp_path, rng):
    path = tmp_path / "model.npz"
    X, y = data[0][:5], data[1][:5]
    model = GPRegressor(RBF(), **FIXED).fit(X, y)
    model.save(path)
    whole = path.read_bytes()
    for place in rng.integers(0, len(whole), 400):
        spoilt = bytearray(whole)
        spoilt[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(spoilt))
        with contextlib.suppress(ValueError):
            np.testing.assert_array_equal(GPRegressor.load(path).predict(X), model.predict(X))


def test_nothing_is_saved_before_a_fit_and_nothing_loaded_from_nowhere(tmp_path):
    with pytest.raises(NotFittedError):
        GPRegressor().save(tmp_path / "model")
    with pytest.raises(FileNotFoundError):
        GPRegressor.load(tmp_path / "model")
    with pytest.raises(TypeError, match="path must be a string or a path; got int"):
        GPRegressor.load(1)


def test_a_fit_that_stops_short_warns_as_scikit_learn_does(data):
    with pytest.warns(ConvergenceWarning, match="after max_steps=1"):
        GPRegressor(max_steps=1).fit(*data)


def test_the_report_is_that_of_the_fit_and_made_once(data):
    model = GPRegressor().fit(*data)
    page = str(model.report_)
    assert page.startswith(f"Fit of {len(data[1])} readings")
    assert "kernel.lengthscale" in page
    assert model.report_ is model.report_
    for other in (GPRegressor(RBF(), optimise=False).fit(*data), GPRegressor()):
        assert not hasattr(other, "report_")


def test_a_loaded_estimator_has_its_runs_and_no_report(data, tmp_path):
    model = GPRegressor().fit(*data)
    model.save(tmp_path / "one.gp")
    loaded = GPRegressor.load(tmp_path / "one.gp")
    assert loaded.runs_ == model.runs_
    with pytest.raises(AttributeError, match="report_ is of a fit in this process"):
        loaded.report_  # noqa: B018


@pytest.mark.parametrize("inducing", [None, 40])
@pytest.mark.filterwarnings("ignore:K_uu of")
def test_precise_targets_are_predicted_precisely(inducing):
    """Of a noise of 2e-4 standard deviations of y, a fiftieth of what the floor lets be."""
    X = np.linspace(0.0, 10.0, 120)[:, None]
    draws = 0.01 * np.random.default_rng(0).standard_normal((2, 120))
    model = GPRegressor(inducing=inducing).fit(X, _wave(X) + draws[0])
    at = X + 0.03
    mean, sd = model.predict(at, return_std=True)
    assert np.sqrt(np.mean((mean - _wave(at) - draws[1]) ** 2)) < 0.015
    assert np.mean(sd) == pytest.approx(0.01, rel=0.3)
    noise_var = model.gp_.noise_var
    again = GPRegressor(inducing=inducing).fit(10.0 * X, 10.0 * (_wave(X) + draws[0]))
    assert again.gp_.noise_var == pytest.approx(100.0 * noise_var, rel=1e-3)


def test_noise_that_stands_on_its_floor_is_a_convergence_warning(monkeypatch):
    X = np.linspace(0.0, 10.0, 60)[:, None]
    for name in ("_ROUNDING", "_COARSE"):  # as if nothing below it could be believed
        monkeypatch.setattr(noise_floor, name, 0.0)
    said = r"The noise stands on its floor, 0.0001 of .* bounds=\{'noise_var': \(low, high\)\}"
    with pytest.warns(ConvergenceWarning, match=said) as told:
        model = GPRegressor().fit(X, _wave(X))
    assert [one.category for one in told] == [ConvergenceWarning]
    assert model.runs_[0].at_bounds == ("noise_var",)
    GPRegressor(bounds={"noise_var": (1e-3, 1e4)}).fit(X, _wave(X))  # what was given is no floor


def _wave(X):
    return 50.0 * np.sin(X[:, 0]) + 10.0 * X[:, 0]


X = np.asarray(gpnotes.stream(0).uniform((30, 2))) * 4.0
Y = np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1]) + 0.1 * np.asarray(gpnotes.stream(1).normal(30))


@pytest.mark.parametrize("inducing", [None, 6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_known_noise_that_was_a_column_is_taken_again(inducing, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "error": np.linspace(0.01, 0.5, 30)})
    known = frame["error"].to_numpy()
    model = GPRegressor(inducing=inducing, max_steps=5).fit(frame, Y, noise_var="error")
    gpnotes.save(model, tmp_path / "model")
    plain = GPRegressor(inducing=inducing, max_steps=5).fit(frame[["a", "b"]], Y, noise_var=known)
    wanted = plain.predict(frame[["a", "b"]], return_std=True)
    for one in (model, gpnotes.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        mean, sd = one.predict(frame, return_std=True)
        np.testing.assert_allclose(mean, wanted[0])
        np.testing.assert_allclose(sd**2, wanted[1] ** 2 + known)
        np.testing.assert_allclose(np.diag(one.predict(frame, return_cov=True)[1]), sd**2)
        np.testing.assert_array_equal(one.predict(frame), one.predict(frame[["a", "b"]]))
        given = one.predict(frame, return_std=True, noise_var=np.zeros(30))[1]
        np.testing.assert_allclose(given, wanted[1])
        of_f = one.predict(frame, return_std=True, noise=False)[1]
        np.testing.assert_array_equal(of_f, one.predict(frame[["a", "b"]], True, noise=False)[1])
        assert np.var(one.sample_y(frame, 3000), axis=1) == pytest.approx(sd**2, rel=0.2)
        assert one.score(frame, Y) == pytest.approx(plain.score(frame[["a", "b"]], Y))
        for ask in (lambda X, one=one: one.predict(X, return_std=True), one.sample_y):
            with pytest.raises(ValueError, match=r"noise_var must be given .* column 'error'"):
                ask(frame[["a", "b"]])
        turned = one.posterior_.mean(frame[["b", "a"]])
        np.testing.assert_array_equal(turned, one.predict(frame))


@pytest.mark.parametrize("names", [False, True])
def test_rows_of_float64_of_the_fit_s_columns_need_no_second_look(names):
    """Others may be as good, or are refused: they go through all checks."""
    X = np.asarray([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]])
    frame = pd.DataFrame(X, columns=["a", "b"]) if names else X
    model = GPRegressor(RBF(), optimise=False).fit(frame, X[:, 0])
    assert model._plain(X) is not names
    for other in (X[:, :1], X[:0], X[0], X[None], X.astype(np.float32), X.tolist(), frame[:0],
                  X * np.nan, X + np.inf, X * 1e200):  # fmt: skip
        assert not model._plain(other)
    assert model._plain(1e30 * X) is not names


def test_words_for_targets_are_refused_with_the_estimator_that_takes_them() -> None:
    with pytest.raises(ValueError, match=r"^y must be a vector of real .*give it to GPClassifier"):
        GPRegressor().fit(np.zeros((2, 1)), ["sick", "well"])


def test_several_columns_of_targets_are_refused_with_the_estimator_that_takes_them() -> None:
    with pytest.raises(ValueError, match=r"^y must be .*give it to MultiOutputGPRegressor\); y "):
        GPRegressor().fit(np.zeros((2, 1)), np.zeros((2, 2)))
