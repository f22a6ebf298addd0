"""Several outputs for scikit-learn: its own checks, gaps, units, and files without pickle."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import gpnotes
from gpnotes import GP, RBF, condition
from gpnotes.model.kernels import Coregion, outputs_at

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402

from gpnotes.estimators import GPRegressor, MultiOutputGPRegressor  # noqa: E402

# many fits here are cut short, since it is not their end that is asked for
SHORT = "the fit stopped short of a maximum"
pytestmark = pytest.mark.filterwarnings(f"ignore:{SHORT}:sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def data(rng):
    """Three outputs of thirty rows: the second minus twice the first, the third by itself."""
    X = np.sort(rng.uniform(0.0, 6.0, (30, 1)), axis=0)
    first = np.sin(X[:, 0])
    f = np.column_stack([first, 5.0 - 2.0 * first, 100.0 * np.cos(3.0 * X[:, 0])])
    return X, f + rng.normal(size=(30, 3)) * [0.05, 0.1, 1.0]


def test_a_gap_is_told_by_the_other_outputs(data):
    X, y = data
    gaps = y.copy()
    gaps[15:, 1] = np.nan
    model = MultiOutputGPRegressor(max_steps=60).fit(X, gaps[:, :2])
    alone = GPRegressor().fit(X[:15], y[:15, 1])
    wrong, of_one = (model.predict(X)[15:, 1] - y[15:, 1], alone.predict(X[15:]) - y[15:, 1])
    assert np.sqrt(np.mean(wrong**2)) < 0.5 * np.sqrt(np.mean(of_one**2))
    assert model.correlation_[0, 1] < -0.95
    assert model.covariance_[1, 1] > model.covariance_[0, 0]


def test_gaps_in_each_of_three_outputs_are_told_by_those_that_are_read(data):
    X, y = data
    gaps = y.copy()
    gaps[16:24, 0] = gaps[4:12, 1] = np.nan
    gaps[26:, 2] = np.nan
    model = MultiOutputGPRegressor(rank=2, max_steps=60).fit(X, gaps)
    mean, sd = model.predict(X, return_std=True)
    assert mean.shape == sd.shape == (30, 3)
    for column, level in ((0, 0.05), (1, 0.1)):
        held = np.isnan(gaps[:, column])
        alone = GPRegressor().fit(X[~held], y[~held, column]).predict(X[held])
        wrong, of_one = (
            np.sqrt(np.mean((p - y[held, column]) ** 2)) for p in (mean[held, column], alone)
        )
        assert wrong < max(of_one, 3.0 * level)
        assert np.max(sd[held, column]) < 4.0 * level
    # the third goes its own way: where it was not read its deviation says so
    held = np.isnan(gaps[:, 2])
    assert np.min(sd[held, 2]) > np.max(sd[5:20, 2])
    assert abs(model.correlation_[0, 1]) > 0.9


def test_each_output_has_the_noise_that_was_fitted_to_it(data):
    """Of deviations of about 0.07, 0.07 and 0.014 in units of those of y."""
    X, y = data
    model = MultiOutputGPRegressor(max_steps=8).fit(X, y)
    assert np.ptp(np.log(model.noise_var_ / model.scale_**2)) > 0.1
    Xs = np.asarray([[1.0], [9.0]])
    sd, of_f = (model.predict(Xs, return_std=True, noise=noise)[1] for noise in (True, False))
    np.testing.assert_allclose(sd**2 - of_f**2, np.tile(model.noise_var_, (2, 1)), rtol=1e-7)


def test_what_is_predicted_is_the_process_of_the_posterior_in_units_of_y(data):
    X, y = data
    model = MultiOutputGPRegressor(RBF(1.0, 0.8), rank=2, optimise=False).fit(X, y)
    Xs = np.asarray([[1.0], [9.0]])
    mean, sd = model.predict(Xs, return_std=True)
    _, of_f = model.predict(Xs, return_std=True, noise=False)
    np.testing.assert_allclose(sd**2 - of_f**2, np.tile(model.noise_var_, (2, 1)), rtol=1e-9)
    scaled = (y - y.mean(axis=0)) / y.std(axis=0)
    product = model.gp_.kernel.parts[0]
    gp = GP(RBF(1.0, 0.8).on(0) * product.parts[1] + model.gp_.kernel.parts[2], 0.1)
    assert isinstance(product.parts[1].kernel, Coregion)
    by_hand = condition(gp, outputs_at(X, 3), scaled.ravel()).predict(outputs_at(Xs, 3), noise=True)
    wanted = by_hand[0].reshape(2, 3) * y.std(axis=0) + y.mean(axis=0)
    np.testing.assert_allclose(mean, wanted, rtol=1e-9)
    np.testing.assert_allclose(sd, np.sqrt(by_hand[1].reshape(2, 3)) * y.std(axis=0), rtol=1e-9)


def test_units_do_not_matter(data):
    X, y = data
    one = MultiOutputGPRegressor(max_steps=10).fit(X, y)
    other = MultiOutputGPRegressor(max_steps=10).fit(X, y * [1e6, 1e-6, 1.0])
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, abs=1e-5)
    wanted = one.predict(X) * [1e6, 1e-6, 1.0]
    np.testing.assert_allclose(other.predict(X), wanted, rtol=1e-4, atol=1e-9)


def test_a_vector_is_one_output(data):
    X, y = data
    model = MultiOutputGPRegressor(max_steps=5).fit(X, y[:, 0])
    mean, sd = model.predict(X[:4], return_std=True)
    assert mean.shape == sd.shape == (4,)
    assert model.score(X, y[:, 0]) > 0.9


def test_what_is_known_of_the_noise_of_each_reading_counts_in_its_own_units(data, tmp_path):
    X, y = data
    y = y[:, :2].copy()
    y[::5, 1] = np.nan
    known = np.where(np.arange(60).reshape(30, 2) % 3, 1e-4, 25.0) * [1.0, 4.0]
    wild = y + np.sqrt(known) * np.random.default_rng(5).normal(size=y.shape)
    told, untold = MultiOutputGPRegressor(max_steps=40), MultiOutputGPRegressor(max_steps=40)
    told.fit(X, wild, noise_var=known)
    wrong = [np.nanmean((model.predict(X) - y) ** 2) for model in (told, untold.fit(X, wild))]
    assert wrong[0] < 0.1 * wrong[1]
    # one output alone is what a regressor of one makes of it, in whatever unit it is
    kernel, given = RBF(1.0, 0.8), {"optimise": False}
    for unit in (1.0, 1e3):
        column = unit * wild[:, 0]
        alone = MultiOutputGPRegressor(kernel, **given).fit(X, column, unit**2 * known[:, 0])
        process = alone.posterior_.gp
        there = gpnotes.condition(
            process, alone.posterior_.X, (column - alone.centre_) / alone.scale_,
            noise_var=unit**2 * known[:, 0] / alone.scale_**2,
        )  # fmt: skip
        at = np.column_stack([X, np.zeros(30)])
        mean = there.mean(at) * alone.scale_ + alone.centre_
        np.testing.assert_allclose(alone.predict(X), mean, rtol=1e-9)
    # a variance where nothing was read is not looked at
    known[::5, 1] = np.nan
    again = MultiOutputGPRegressor(max_steps=40).fit(X, wild, noise_var=known)
    np.testing.assert_array_equal(again.predict(X), told.predict(X))
    gpnotes.save(told, tmp_path / "told")
    np.testing.assert_array_equal(gpnotes.load(tmp_path / "told").predict(X), told.predict(X))


def test_noise_that_is_no_table_of_variances_is_refused(data):
    X, y = data
    for noise_var, said in (
        (np.ones(30), r"noise_var must have the shape of y, \(30, 3\); got \(30,\)"),
        (np.full((30, 3), -1.0), "noise_var must be non-negative and finite; got 90 that are not"),
        ([["a"] * 3] * 30, "noise_var must be variances of real numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            MultiOutputGPRegressor().fit(X, y, noise_var=noise_var)


def test_searches_clones_and_files(data, tmp_path):
    X, y = data
    grid = {"kernel__lengthscale": [0.01, 0.8], "rank": [1, 2]}
    search = GridSearchCV(MultiOutputGPRegressor(RBF(), optimise=False), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__lengthscale"] == 0.8
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["day"])
    model = clone(MultiOutputGPRegressor(max_steps=4)).fit(frame, y)
    gpnotes.save(model, tmp_path / "model")
    loaded = gpnotes.load(tmp_path / "model")
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.n_features_in_ == 1
    assert loaded.feature_names_in_.tolist() == ["day"]
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_what_is_the_same_everywhere_is_said():
    with pytest.warns(UserWarning, match="y is constant"):
        model = MultiOutputGPRegressor().fit([[0.0], [1.0]], [[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_allclose(model.predict([[0.5]]), [[1.0, 2.0]])


def test_an_output_that_was_read_once_is_not_sure_of_itself(data):
    """Its evidence has no top: noise and variance went to 0, and it was 2 ± 0.0004 everywhere."""
    X, y = data
    y = np.column_stack([y[:, 0], np.full(30, np.nan), np.full(30, 0.1)])
    y[3, 1] = 2.0
    with pytest.warns(UserWarning, match=r"y is constant in columns \[1, 2\]: noise and own"):
        model = MultiOutputGPRegressor(max_steps=60).fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean[:, 1:], [[2.0, 0.1]] * 30)
    assert sd[:, 1:].min() > 0.3
    assert 0.03 < np.sqrt(model.noise_var_[0]) < 0.07
    pair = [f"kernel.noise.kernel.variance[{j}]" for j in (0, 2)]  # what is named is not held
    with pytest.warns(UserWarning, match="y is constant"):
        tied = MultiOutputGPRegressor(max_steps=60, tied=[pair]).fit(X, y).gp_
    noise = tied.kernel.parts[1].kernel.variance
    assert noise[0] == noise[2] < 0.05 < noise[1]


def test_a_fit_that_ends_early_leaves_the_former_one_whole(data):
    """The centre and units of the new data were paired with the posterior of the old."""
    X, y = data
    model = MultiOutputGPRegressor(optimise=False).fit(X, y)
    before = model.predict(X)
    model.set_params(optimise=True, fixed=("nonsense",))
    with pytest.raises(ValueError, match="nonsense"):
        model.fit(X, 1e3 * y + 5.0)
    np.testing.assert_array_equal(model.predict(X), before)


def test_what_is_no_table_of_outputs_is_refused():
    X = [[0.0], [1.0], [2.0]]
    for y, said in (
        ([[1.0, np.nan], [2.0, np.nan], [0.0, np.nan]], "a reading of each output.* in column 1"),
        ([[1.0, np.inf], [2.0, 0.0], [0.0, 0.0]], "y must be finite, or NaN for a gap; .* row 0"),
        (np.zeros((2, 2)), r"y must have shape \(3, p\) or \(3,\)"),
        (np.zeros((3, 1, 2)), "y must be outputs of real numbers"),
        ([["a", "b"]] * 3, "y must be outputs of real numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            MultiOutputGPRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r"rank must be .* 2"):
        MultiOutputGPRegressor(rank=3).fit(X, [[1.0, 2.0], [0.0, 3.0], [1.0, 1.0]])


ROWS = gpnotes.stream(0).uniform((12, 2)) * 3.0
FRAME = pd.DataFrame(ROWS, columns=["wind", "temp"])
Y = np.sin(ROWS[:, 1]) + ROWS[:, 0]


def test_a_score_matches_the_outputs_by_name(tmp_path):
    y = pd.DataFrame({"sine": np.sin(ROWS[:, 1]), "wind": ROWS[:, 0], "both": Y})
    model = MultiOutputGPRegressor(optimise=False).fit(FRAME, y)
    score = model.score(FRAME, y)
    assert score > 0.9
    model.save(tmp_path / "model")
    for one in (model, MultiOutputGPRegressor.load(tmp_path / "model")):
        assert one.output_names_ == ("sine", "wind", "both")
        assert one.score(FRAME, y[["both", "sine", "wind"]]) == pytest.approx(score)
    with pytest.warns(UserWarning, match="y is joined to the outputs .* by position"):
        assert model.score(FRAME, y.rename(columns={"sine": "cosine"})) == score
    plain = MultiOutputGPRegressor(optimise=False).fit(FRAME, y.to_numpy())
    assert (plain.output_names_, plain.score(FRAME, y)) == ((), score)


def test_the_noise_is_that_of_the_output_whatever_the_number_of_columns(tmp_path):
    y = np.column_stack([np.sin(ROWS[:, 1]), 100.0 * ROWS[:, 0]])
    model = MultiOutputGPRegressor(optimise=False).fit(FRAME, y)
    sd, of_f = (model.predict(FRAME, return_std=True, noise=noise)[1] for noise in (True, False))
    np.testing.assert_allclose(sd**2 - of_f**2, np.tile(model.noise_var_, (12, 1)), rtol=1e-9)
    np.testing.assert_allclose(model.noise_var_, 0.1 * y.var(axis=0))
    model.save(tmp_path / "model")
    loaded = MultiOutputGPRegressor.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["wind", "temp"]
    assert loaded.n_features_in_ == 2


def begun(y, rank=1):
    """The estimator of no steps at the outputs y."""
    X = np.arange(float(len(y)))[:, None]
    return MultiOutputGPRegressor(rank=rank, optimise=False).fit(X, y)


def test_a_fit_begins_with_half_of_what_the_outputs_share():
    """Of outputs that are alike W has half of the correlation and a tenth; κ fills up to one.

    Their correlations and a tenth of a unit matrix have the eigenvalues 2.1 and 0.1.
    """
    first = np.asarray([1.0, -1.0, 2.0, 0.0, -2.0])
    model = begun(np.column_stack([first, -3.0 * first + 7.0]))
    np.testing.assert_allclose(model.correlation_, [[1.0, -0.525], [-0.525, 1.0]])
    sd = first.std() * np.asarray([1.0, 3.0])
    np.testing.assert_allclose(model.covariance_, model.correlation_ * np.outer(sd, sd))
    coregion = model.gp_.kernel.parts[0].parts[1].kernel
    np.testing.assert_allclose(np.abs(coregion.weights), np.full((2, 1), 0.525**0.5))
    np.testing.assert_allclose(coregion.own, [0.475, 0.475])
    both = begun(np.column_stack([first, -3.0 * first + 7.0]), rank=2)
    np.testing.assert_allclose(both.correlation_, [[1.0, -0.5], [-0.5, 1.0]], atol=1e-12)
    level = model.gp_.kernel.parts[2].kernel
    np.testing.assert_array_equal(level.covariance, np.eye(2))
    assert model.gp_.kernel.parts[1].kernel.variance.tolist() == [0.1, 0.1]
    gaps = begun(np.column_stack([first, [1.0, np.nan, 2.0, np.nan, -2.0]]))  # zero where none is
    there = np.asarray([1.0, 0.0, 2.0, 0.0, -2.0])
    scaled = np.column_stack([first / first.std(), there - np.asarray([1, 0, 1, 0, 1]) / 3.0])
    scaled[:, 1] /= np.std([1.0, 2.0, -2.0])
    values, vectors = np.linalg.eigh(scaled.T @ scaled / 5.0 + 0.1 * np.eye(2))
    shared = 0.5 * values[1] * np.outer(vectors[:, 1], vectors[:, 1])
    np.testing.assert_allclose(gaps.correlation_[0, 1], shared[0, 1], rtol=1e-9)


def test_the_variance_of_a_stationary_kernel_is_held_and_that_of_a_line_is_fitted(data):
    X, y = data
    for kernel, moves in ((gpnotes.Matern32(1.0, 0.8), False), (gpnotes.Linear(1.0), True)):
        model = MultiOutputGPRegressor(kernel, max_steps=3).fit(X, y[:, :2])
        found = model.gp_.kernel.function.inputs.kernel.variance
        assert (found != 1.0) == moves
        assert model.gp_.kernel.level.kernel.own.tolist() == [1.0, 1.0]


def test_an_output_of_one_number_is_put_about_it_in_its_own_unit():
    model = begun(np.column_stack([np.full(4, 0.1), [1.0, 2.0, 3.0, 4.0]]))
    np.testing.assert_allclose(model.centre_, [0.1, 2.5])
    np.testing.assert_allclose(model.scale_, [1.0, np.std([1.0, 2.0, 3.0, 4.0])])


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("scale_", np.asarray([1.0, -1.0]), "scale_ must be positive"),
        ("scale_", np.ones(3), r"centre_ must have shape \(3,\)"),
        ("centre_", np.ones(3), r"centre_ must have shape \(2,\); got \(3,\)"),
        ("centre_", np.asarray([0.0, np.nan]), "centre_ must be finite"),
        ("is_vector_", 0, "is_vector_ must be True or False; got 0"),
        ("n_features_in_", 2, "n_features_in_ must be a whole number from 2 to 2; got 3"),
        ("n_features_in_", 1.0, "n_features_in_ must be a whole number"),
        ("feature_names_in_", ("a", "b"), "feature_names_in_ must be 2 strings, or none"),
    ],
)
def test_what_was_saved_and_does_not_go_together_is_refused(part, value, said):
    y = np.column_stack([np.sin(ROWS[:, 1]), ROWS[:, 0]])
    values = MultiOutputGPRegressor(optimise=False).fit(ROWS[:, :1], y).saved_values()
    restored = MultiOutputGPRegressor.of_saved(dict(values))
    assert (restored.n_features_in_, restored.is_vector_) == (1, False)
    with pytest.raises((ValueError, TypeError), match=said):
        MultiOutputGPRegressor.of_saved({**values, part: value})
    three = {"scale_": np.ones(3), "centre_": np.zeros(3)}
    with pytest.raises(ValueError, match=r"scale_ must be of \(2,\); got \(3,\)"):
        MultiOutputGPRegressor.of_saved({**values, **three})
    old = {name: values[name] for name in values if name != "output_names_"}
    assert MultiOutputGPRegressor.of_saved(old).output_names_ == ()


# Rounding, which differs from library to library, decides whether the factor wants jitter too.
@pytest.mark.filterwarnings("ignore::gpnotes.ground.linalg.JitterWarning")
def test_copies_of_rows_that_leave_no_noise_are_counted() -> None:
    draws = np.random.default_rng(1)
    X = draws.uniform(size=(8, 2))
    y = np.column_stack([np.sin(5.0 * X[:, 0]), X[:, 1]]) + 0.3 * draws.normal(size=(8, 2))
    twice = np.tile(X, (2, 1)), np.tile(y, (2, 1))
    said = r"in X and y, 8 of 16: leave them out, or give bounds=\{'kernel.noise.kernel.variance'"
    with pytest.warns(ConvergenceWarning, match=said):
        MultiOutputGPRegressor().fit(*twice)
    bounds = {"kernel.noise.kernel.variance": (1e-3, None)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultiOutputGPRegressor(bounds=bounds).fit(*twice)
        MultiOutputGPRegressor().fit(X, y)
