"""Cross-validation: every row is held out once, and no fit has seen what it is scored on."""

import math
import statistics
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Gaussian,
    LaplaceGP,
    condition,
    fit,
    stream,
)
from gpnotes.assess import scores
from gpnotes.assess.crossval import _said, cross_validate, group_folds, kfold
from gpnotes.infer import features, sparse, svgp
from gpnotes.infer.linear import BayesianLinear

PROCESS = GP(RBF(1.2, 0.8), 0.05, ConstantMean(0.3))


@pytest.fixture
def data(rng):
    X = rng.uniform(-2.0, 2.0, size=(23, 2))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=23)


def exactly(X, y):
    return condition(PROCESS, X, y)


@dataclass
class Fixed:
    """A posterior that predicts what it is told, for any inputs."""

    answer: Any

    def predict(self, Xs, noise=False):
        assert noise
        return self.answer(len(Xs)) if callable(self.answer) else self.answer


@dataclass
class InUnits:
    """A posterior of standardised y, in the units of y."""

    posterior: Any
    centre: float
    scale: float

    def predict(self, Xs, noise=False):
        mean, variance = self.posterior.predict(Xs, noise=noise)
        return self.centre + self.scale * mean, self.scale**2 * variance


def standardised_and_fitted(X, y):
    """All that is learnt from data: centre, scale, hyperparameters, posterior."""
    centre, scale = y.mean(), y.std()
    inside = (y - centre) / scale
    found = fit(GP(RBF(), 0.1), X, inside, max_steps=8)
    return InUnits(found.posterior, centre, scale)


# Folds


@pytest.mark.parametrize(("n", "folds"), [(2, 2), (10, 3), (11, 5), (7, 7), (100, 10)])
def test_every_row_is_held_out_once(n, folds):
    pairs = kfold(n, folds, rng=stream(3))
    assert len(pairs) == folds
    sizes = [len(test) for _, test in pairs]
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(n))
    for train, test in pairs:
        assert sorted([*train, *test]) == list(range(n))
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()


def test_a_stream_deals_the_rows():
    def dealt(seed):
        return [test.tolist() for _, test in kfold(40, 4, rng=stream(seed))]

    assert dealt(1) == dealt(1)
    assert dealt(1) != dealt(2)
    assert all(np.ptp(rows) > 20 for rows in dealt(1)), "a fold is no stretch of rows"
    # any two rows share a fold as often as chance has it: 9 of 39
    together = [any({0, 1} <= set(fold) for fold in dealt(seed)) for seed in range(600)]
    assert np.mean(together) == pytest.approx(9 / 39, abs=5 * math.sqrt(9 * 30 / 39**2 / 600))


def test_a_group_is_held_out_as_a_whole():
    pairs = group_folds(["b", "a", "b", "c"])
    assert [test.tolist() for _, test in pairs] == [[1], [0, 2], [3]]
    assert [train.tolist() for train, _ in pairs] == [[0, 2, 3], [1, 3], [0, 1, 2]]
    stretches = group_folds(np.arange(10) * 3 // 10)
    assert [test.tolist() for _, test in stretches] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize("kind", [list, tuple, np.asarray])
def test_labels_are_whole_numbers_or_strings(kind):
    assert [test.tolist() for _, test in group_folds(kind([7, -2, 7]))] == [[1], [0, 2]]
    assert [test.tolist() for _, test in group_folds(kind(["x", "y", "x"]))] == [[0, 2], [1]]


# No leak


def test_a_fit_sees_the_training_rows_alone(data):
    """Rows are told by their numbers, which stand in both X and y."""
    n, seen, asked = 23, [], []
    X = np.stack([np.arange(n, dtype=float), data[0][:, 0]], axis=1)

    def recording(X, y):
        seen.append((X[:, 0].tolist(), y.tolist()))
        return Recording(X)

    class Recording:
        def __init__(self, X):
            self.X = X

        def predict(self, Xs, noise):
            asked.append(Xs[:, 0].tolist())
            return np.zeros(len(Xs)), np.ones(len(Xs))

    y = 100.0 + np.arange(n)
    found = cross_validate(recording, X, y, 4, rng=stream(5))
    pairs = kfold(n, 4, rng=stream(5))
    assert len(seen) == len(asked) == len(found.scores) == 4
    for (rows, targets), held_out, (train, test) in zip(seen, asked, pairs, strict=True):
        assert rows == train.tolist()
        assert targets == (100.0 + train).tolist()
        assert held_out == test.tolist()
        assert not set(rows) & set(held_out)
        assert len(rows) + len(held_out) == n
    assert [test.tolist() for test in found.held_out] == asked


def test_predictions_do_not_depend_on_the_y_that_they_are_of(data):
    """Whatever y is held out, centre, scale and hyperparameters of the fold stay what they are."""
    X, y = data
    found = cross_validate(standardised_and_fitted, X, y, 3, rng=stream(1))
    for rows in found.held_out:
        other = y.copy()
        other[rows] = 50.0 - 7.0 * y[rows]
        again = cross_validate(standardised_and_fitted, X, other, 3, rng=stream(1))
        np.testing.assert_array_equal(again.predicted_mean[rows], found.predicted_mean[rows])
        np.testing.assert_array_equal(
            again.predicted_variance[rows], found.predicted_variance[rows]
        )
        others = np.setdiff1d(np.arange(23), rows)
        assert (again.predicted_mean[others] != found.predicted_mean[others]).all()


def test_what_is_scaled_by_all_rows_beforehand_has_seen_them(data):
    """The check above can fail: it does for a scale that a fit takes from outside."""
    X, y = data
    rows = kfold(23, 3, rng=stream(1))[0][1]
    other = y.copy()
    other[rows] *= 9.0

    def leaking(y_all):
        def fitted(X, y):
            scale = y_all.std()
            return InUnits(condition(PROCESS, X, y / scale), 0.0, scale)

        return fitted

    one, two = (cross_validate(leaking(a), X, a, 3, rng=stream(1)) for a in (y, other))
    assert (one.predicted_mean[rows] != two.predicted_mean[rows]).all()


def test_a_fit_may_do_what_it_likes_with_its_rows(data):
    X, y = data
    kept = X.copy(), y.copy()
    wanted = cross_validate(exactly, X, y, 4, rng=stream(1))

    def spoiling(X, y):
        posterior = condition(PROCESS, X.copy(), y.copy())
        X[:], y[:] = np.nan, np.nan
        return posterior

    found = cross_validate(spoiling, X, y, 4, rng=stream(1))
    assert found.scores == wanted.scores
    np.testing.assert_array_equal(X, kept[0])
    np.testing.assert_array_equal(y, kept[1])


# Scores


def test_leaving_one_out_is_the_closed_form(data):
    X, y = data
    closed = condition(PROCESS, X, y).leave_one_out()
    found = cross_validate(exactly, X, y, 23, rng=stream(1))
    np.testing.assert_allclose(found.predicted_mean, closed.mean, rtol=1e-9)
    np.testing.assert_allclose(found.predicted_variance, closed.variance, rtol=1e-9)
    assert found.mean.log_loss == pytest.approx(-closed.log_density.mean(), rel=1e-9)
    assert found.mean.mean_squared_error == pytest.approx(np.mean((y - closed.mean) ** 2), rel=1e-9)
    # one row has no variance by which to standardise, but many to be trained on
    assert found.mean.standardised_mean_squared_error is None
    assert found.sd.standardised_mean_squared_error is None
    assert found.mean.mean_standardised_log_loss < 0.0


def test_scores_are_those_of_each_fold_by_hand(data):
    X, y = data
    found = cross_validate(exactly, X, y, 4, level=0.8, rng=stream(2))
    pairs = kfold(23, 4, rng=stream(2))
    by_hand = []
    for train, test in pairs:
        mean, variance = condition(PROCESS, X[train], y[train]).predict(X[test], noise=True)
        by_hand.append(scores.score_all(y[test], mean, variance, y[train], 0.8))
        np.testing.assert_array_equal(found.predicted_mean[test], mean)
        np.testing.assert_array_equal(found.predicted_variance[test], variance)
    assert found.scores == tuple(by_hand)
    assert found.level == 0.8
    columns = list(zip(*map(astuple, by_hand), strict=True))
    assert astuple(found.mean) == pytest.approx([statistics.fmean(c) for c in columns])
    assert astuple(found.sd) == pytest.approx([np.std(c, ddof=1) for c in columns])


def test_a_better_process_scores_better(data):
    X, y = data
    good = cross_validate(exactly, X, y, 5, rng=stream(1)).mean
    bad = cross_validate(
        lambda X, y: condition(GP(RBF(1.0, 0.01), 0.05), X, y), X, y, 5, rng=stream(1)
    )
    assert good.standardised_mean_squared_error < 0.5
    assert good.mean_standardised_log_loss < -0.3
    assert bad.mean.standardised_mean_squared_error > 0.9
    assert good.crps < bad.mean.crps


def test_neighbours_flatter_what_stretches_do_not():
    """A process that cannot look ahead is scored by neighbours with folds, without by stretches."""
    X = np.linspace(0.0, 30.0, 60)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * stream(4).normal(60)
    dealt = cross_validate(exactly, X, y, 6, rng=stream(1)).mean
    stretches = cross_validate(exactly, X, y, groups=np.arange(60) * 6 // 60).mean
    assert dealt.standardised_mean_squared_error < 0.2
    assert stretches.standardised_mean_squared_error > 0.5


def test_targets_that_are_all_equal_leave_the_standardised_scores_out(data):
    X, _ = data
    found = cross_validate(exactly, X, np.full(23, 0.3), 4, rng=stream(1))
    for one in (*found.scores, found.mean, found.sd):
        assert one.standardised_mean_squared_error is one.mean_standardised_log_loss is None
    assert found.mean.mean_squared_error < 1e-20


@pytest.mark.parametrize("n", [2, 3])
def test_the_fewest_rows(n):
    X, y = np.arange(float(n))[:, None], np.arange(float(n))
    found = cross_validate(exactly, X, y, 2, rng=stream(1))
    assert sorted(np.concatenate(found.held_out)) == list(range(n))
    assert found.mean.crps > 0.0


def test_any_posterior_that_predicts_observations(data):
    gp = GP(RBF(), 0.1)
    frequencies = features.draw_frequencies(gp.kernel, data[0], 100, rng=stream(2))
    model = svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), data[0][:8])
    for one in (
        lambda X, y: condition(sparse.SparseGP(gp, X[:8]), X, y),
        lambda X, y: condition(features.FeatureGP(gp, frequencies), X, y),
        lambda X, y: condition(model, X, y),
        lambda X, y: condition(BayesianLinear(np.eye(2), 0.1), X, y),
    ):
        found = cross_validate(one, *data, 3, rng=stream(1))
        assert found.mean.standardised_mean_squared_error < 0.8
        assert found.predicted_variance.min() > 0.1


def test_any_space(space, data):
    X, y = (space.asarray(a) for a in data)
    found = cross_validate(exactly, X, y, 4, rng=stream(2))
    wanted = cross_validate(exactly, *data, 4, rng=stream(2))
    assert space.holds(found.predicted_mean)
    assert space.holds(found.predicted_variance)
    tolerance = 1e-8 if space.double else 2e-3
    for one, other in zip(found.scores, wanted.scores, strict=True):
        assert astuple(one) == pytest.approx(astuple(other), rel=tolerance, abs=tolerance)
    groups = space.xp.asarray(np.arange(23) % 3, device=space.device)
    by_groups = cross_validate(exactly, X, y, groups=groups)
    assert [len(rows) for rows in by_groups.held_out] == [8, 8, 7]


# The door


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"folds": 24}, ValueError, "^folds must be .* from 2 to the number of rows, 23; got 24"),
        ({"folds": 1}, ValueError, "^folds must be a whole number from 2; got 1"),
        ({"folds": 2.0}, TypeError, r"^folds must be a whole number from 2; got 2\.0"),
        ({"folds": None}, ValueError, "^folds must be .* where there are no groups"),
        ({"rng": None}, ValueError, "^folds need an rng"),
        (
            {"rng": np.random.RandomState(0)},
            TypeError,
            "^rng must be a Stream, a NumPy Generator",
        ),
        ({"level": 95}, ValueError, r"^level must be between 0 and 1; got 95"),
        ({"fit": PROCESS}, TypeError, "^fit must be a function of X and y; got GP"),
        ({"groups": [1] * 23, "rng": None}, ValueError, "^folds and rng must be None where"),
        ({"groups": [1] * 23, "folds": None}, ValueError, "^folds and rng must be None where"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(data, options, error, message):
    X, y = data
    right = {"fit": exactly, "folds": 3, "rng": stream(0)}
    with pytest.raises(error, match=message):
        cross_validate(X=X, y=y, **{**right, **options})


@pytest.mark.parametrize("made", [
    pd.Series, pd.Categorical, lambda words: pd.Series(words).astype("category"), pl.Series,
    lambda words: pl.Series(words).cast(pl.Categorical),
    lambda words: pd.Series(["baa".index(word) for word in words], dtype="Int64"),
])  # fmt: skip
def test_groups_may_be_a_column(made):
    found = group_folds(made(["b", "a", "b"]))
    assert sorted(test.tolist() for _, test in found) == [[0, 2], [1]]


def test_groups_of_other_rows_are_refused(data):
    X, y = pd.DataFrame(data[0], columns=["east", "north"]), pd.Series(data[1])
    groups = pd.Series(np.arange(23) % 3)
    found = cross_validate(exactly, X, y, groups=groups)
    wanted = cross_validate(exactly, *data, groups=groups.to_numpy())
    np.testing.assert_allclose(found.predicted_mean, wanted.predicted_mean)
    with pytest.raises(ValueError, match=r"^groups must have the row labels of X; .*groups\.loc"):
        cross_validate(exactly, X, y, groups=groups[::-1])


def test_groups_may_be_words_in_an_array_of_objects():
    """So `to_numpy` gives a column of words of a frame; "all strings; got object" was no help."""
    words = np.asarray(["b", "a", "b"], dtype=object)
    assert [test.tolist() for _, test in group_folds(words)] == [[1], [0, 2]]
    with pytest.raises(TypeError, match=r"^groups must be labels .*; got \['b', None, 'b'\]"):
        group_folds(np.asarray(["b", None, "b"], dtype=object))


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([1, 2] * 11, ValueError, "^groups must have a label for each of the 23 rows; got 22"),
        ([1] * 23, ValueError, "^groups must have at least two different labels; got 1"),
        ([0.5] * 23, TypeError, "^groups must be labels .* all whole numbers or all strings"),
        (["a", 1] * 11 + ["a"], TypeError, "^groups must be labels"),
        ([True, False] * 11 + [True], TypeError, "^groups must be labels"),
        (np.arange(23.0), TypeError, "^groups must be labels .*; got float64"),
        (np.ones((23, 1), dtype=int), ValueError, r"^groups must have shape \(n,\); got \(23, 1\)"),
        ("a" * 23, TypeError, "^groups must be an array; got str"),
    ],
    ids=range(8),
)
def test_groups_that_name_no_folds_are_refused(data, groups, error, message):
    with pytest.raises(error, match=message):
        cross_validate(exactly, *data, groups=groups)


def test_data_that_do_not_fit_are_refused_before_any_fit(data):
    X, y = data

    def never(X, y):
        raise AssertionError("a fit of data that are wrong")

    for spoilt, message in (
        ((X, np.where(np.arange(23) == 6, np.nan, y)), "^y must be finite; 1 .* in row 6"),
        ((np.where(np.arange(23)[:, None] == 4, np.nan, X), y), "^X must be finite; 2 .* in row 4"),
        ((X, y[:-1]), r"^y must have shape \(23,\); got \(22,\)"),
        ((X[:1], y[:1]), r"^X must have at least two rows; got \(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            cross_validate(never, *spoilt, 2, rng=stream(0))
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        cross_validate(never, X, y, 2, level=1.0, rng=stream(0))


def at(value, place):
    return lambda n: np.where(np.arange(n) == place, value, 1.0)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda n: (at(np.nan, 1)(n), np.ones(n)), ValueError, "mean .* must be finite; 1 of 8 .*"),
        (lambda n: (np.ones(n), at(np.nan, 1)(n)), ValueError, "variance .* positive and finite"),
        (lambda n: (np.ones(n), at(0.0, 1)(n)), ValueError, r"variance .* positive .*: 0\.0"),
        (lambda n: (np.ones(n), at(-1.0, 1)(n)), ValueError, r"variance .* positive .*: -1\.0"),
        (lambda n: (np.ones(n), at(np.inf, 1)(n)), ValueError, "variance .* finite; .*: inf"),
    ],
    ids=range(5),
)
def test_a_prediction_that_is_no_number_is_told_by_its_row(data, answer, error, message):
    with pytest.raises(error, match=message) as caught:
        cross_validate(lambda X, y: Fixed(answer), *data, 3, rng=stream(7))
    row = kfold(23, 3, rng=stream(7))[0][1][1]
    assert f"the first at row {row} of X" in str(caught.value)
    assert "fit's posterior" in str(caught.value)
    assert caught.value.__notes__[0].startswith("in fold 0, which holds out the rows ")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, r"^fit must return a posterior, with predict\(Xs, noise=True\); got NoneType"),
        (PROCESS, "^fit must return a posterior, .*; got GP"),
        (
            Fixed(np.ones(8)),
            "^fit must return a posterior that predicts a mean and a variance; got",
        ),
        (Fixed(lambda n: (np.ones(n),) * 3), "^fit must .* a mean and a variance; got a? ?tuple"),
        (Fixed(lambda n: ([1.0] * n, np.ones(n))), "^the mean that fit's posterior .* got list"),
        (
            Fixed(lambda n: (np.ones(n), np.ones(n, dtype=np.float32))),
            "^the variance that fit's posterior predicts must have the dtype of y",
        ),
        (Fixed(lambda n: (np.ones(n), np.ones(1))), r"^the variance .* must have shape \(8,\)"),
    ],
    ids=range(7),
)
def test_what_is_no_posterior_is_told(data, result, message):
    with pytest.raises((TypeError, ValueError), match=message):
        cross_validate(lambda X, y: result, *data, 3, rng=stream(7))


def test_labels_have_no_predicted_observations(data):
    X, y = data
    labels = np.sign(y - np.median(y) - 1e-9)
    with pytest.raises(TypeError, match="fit must return a posterior of normal observations"):
        cross_validate(
            lambda X, y: condition(LaplaceGP(GP(RBF(), 0.0)), X, y),
            X,
            labels,
            3,
            rng=stream(1),
        )


@pytest.mark.parametrize(("size", "said"), [
    (1, "0"), (8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, 2, 3, 4, 5, 6, 7, … (9 in all)"),
])  # fmt: skip
def test_rows_are_said_one_by_one_up_to_eight(size, said):
    assert _said(np.arange(size)) == said


def test_what_a_fit_raises_comes_with_its_fold(data):
    calls = []

    def failing(X, y):
        calls.append(len(y))
        if len(calls) == 2:
            raise ZeroDivisionError("nothing to divide by")
        return exactly(X, y)

    with pytest.raises(ZeroDivisionError, match="nothing to divide by") as caught:
        cross_validate(failing, *data, 2, rng=stream(1))
    assert caught.value.__notes__[0].startswith("in fold 1, which holds out the rows ")
    assert caught.value.__notes__[0].endswith(", … (11 in all)")


def test_a_frame_comes_to_the_fit_as_a_frame_so_that_it_may_name_columns(data):
    X, y = data
    known = np.linspace(0.01, 0.5, len(y))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "error": known})

    def named(X, y):
        return condition(PROCESS, X, y, noise_var="error")

    found = cross_validate(named, frame, pd.Series(y), 4, rng=stream(2))
    of_polars = cross_validate(named, pl.from_pandas(frame), y, 4, rng=stream(2))
    for test, score in zip(found.held_out, found.scores, strict=True):
        rest = np.setdiff1d(np.arange(len(y)), test)
        posterior = condition(PROCESS, X[rest], y[rest], noise_var=known[rest])
        mean, variance = posterior.predict(X[test], noise=True, noise_var=known[test])
        np.testing.assert_allclose(found.predicted_mean[test], mean)
        np.testing.assert_allclose(found.predicted_variance[test], variance)
        assert score.mean_squared_error == pytest.approx(np.mean((y[test] - mean) ** 2))
    np.testing.assert_array_equal(of_polars.predicted_variance, found.predicted_variance)
    with pytest.raises(ValueError, match="y must have the row labels of X"):
        cross_validate(named, frame, pd.Series(y)[::-1], 4, rng=stream(2))


def test_lists_are_taken_as_arrays(data):
    X, y = data
    found = cross_validate(exactly, X.tolist(), y.tolist(), 4, rng=stream(2))
    wanted = cross_validate(exactly, X, y, 4, rng=stream(2))
    np.testing.assert_allclose(found.predicted_mean, wanted.predicted_mean)
