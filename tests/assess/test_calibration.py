"""Calibration: diagrams, recalibration and conformal intervals are their definitions."""

import importlib
import itertools
import math
import warnings

import numpy as np
import pytest
from scipy import optimize, special, stats

import gpnotes
from gpnotes import stream
from gpnotes.assess import calibration as ca
from gpnotes.assess.calibration import recalibrate
from gpnotes.assess.scores import coverage


@pytest.fixture
def case(rng):
    """Labels and probabilities (200,) that do not fit them quite."""
    p = rng.uniform(size=200)
    return np.where(rng.uniform(size=200) < p**2, 1.0, -1.0), p


@pytest.fixture
def scored(rng):
    """Labels and scores (150,), with some scores that stand twice."""
    f = np.round(3.0 * rng.normal(size=150), 1)
    return np.where(rng.uniform(size=150) < special.expit(0.4 * f - 0.5), 1.0, -1.0), f


# The diagram


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [1, 2, 7, 10, 30])
@pytest.mark.parametrize("n", [30, 101, 200])
def test_the_curve_is_that_of_scikit_learn(case, strategy, bins, n):
    from sklearn.calibration import calibration_curve

    y, p = case[0][:n], case[1][:n]
    p[3], p[4], p[5] = 0.5, 0.2, 0.7  # on edges
    frequency, confidence = calibration_curve(y, p, pos_label=1, n_bins=bins, strategy=strategy)
    found = ca.reliability(y, p, bins, strategy=strategy)
    np.testing.assert_allclose(found.frequency, frequency, rtol=1e-13)
    np.testing.assert_allclose(found.confidence, confidence, rtol=1e-13)
    assert found.count.sum() == n


def test_predictions_without_doubt_have_a_diagram():
    """Zero and one are probabilities too; they come true, but for the last."""
    y, p = np.asarray([-1.0, 1.0, -1.0, 1.0, -1.0]), np.asarray([0.0, 1.0, 0.0, 1.0, 1.0])
    found = ca.reliability(y, p, 2)
    np.testing.assert_array_equal(found.confidence, [0.0, 1.0])
    np.testing.assert_allclose(found.frequency, [0.0, 2.0 / 3.0], rtol=1e-15)
    np.testing.assert_array_equal(found.sd, 0.0)
    # labels drawn from such predictions are sure
    np.testing.assert_array_equal(ca.consistency_resampling(p, 3, 2, rng=stream(1)), 0.0)


def test_predictions_that_are_equal_stay_together():
    y, p = np.asarray([1.0, -1.0, 1.0, 1.0]), np.asarray([0.3, 0.3, 0.3, 0.9])
    found = ca.reliability(y, p, 4, strategy="quantile")
    np.testing.assert_array_equal(found.count, [3.0, 1.0])


def test_a_diagram_is_its_sums_bin_by_bin(case):
    y, p = case
    found = ca.reliability(y, p, 4)
    for b in range(4):
        inside = (p > b / 4) & (p <= (b + 1) / 4)
        d = (y[inside] == 1) - p[inside]
        m = inside.sum()
        assert found.count[b] == m
        assert found.gap[b] == pytest.approx(d.mean(), rel=1e-12)
        wanted = math.sqrt(sum(q * (1 - q) for q in p[inside])) / m
        assert found.sd[b] == pytest.approx(wanted, rel=1e-12)
        pairs = sum(d[i] * d[j] for i in range(m) for j in range(m) if i != j)
        assert found.squared_gap[b] == pytest.approx(pairs / (m * (m - 1)), rel=1e-9)
    weight = found.count / 200
    assert found.expected_calibration_error == pytest.approx(weight @ abs(found.gap), rel=1e-12)
    assert found.squared_error == pytest.approx(weight @ found.gap**2, rel=1e-12)
    assert found.unbiased_squared_error == pytest.approx(weight @ found.squared_gap, rel=1e-12)
    assert found.maximum_calibration_error == pytest.approx(abs(found.gap).max(), rel=1e-12)
    assert found.bound_if_calibrated == pytest.approx(weight @ found.sd, rel=1e-12)


def test_more_bins_than_memory_holds_are_told_by_what_they_need():
    y, p = np.asarray([-1.0, 1.0]), np.asarray([0.2, 0.7])
    with pytest.raises(MemoryError, match=r"bins must be smaller: 1\d{12} of them need .* GiB"):
        ca.reliability(y, p, 10**12)


def test_empty_bins_cost_nothing_but_their_edges():
    """The sum of the predictions has the bins that a table of 10⁷ columns would have counted."""
    y, p = np.asarray([-1.0, 1.0, 1.0]), np.asarray([0.2, 0.7, 0.7 + 1e-6])
    found = ca.reliability(y, p, 10**7)
    assert found.count.tolist() == [1.0, 1.0, 1.0]
    assert found.confidence.tolist() == p.tolist()


def test_a_bin_of_two_has_one_pair():
    found = ca.reliability_of_groups(np.asarray([1.0, -1.0]), np.asarray([0.2, 0.7]), [0, 0])
    assert found.squared_gap[0] == pytest.approx(0.8 * -0.7)


def test_the_unbiased_error_is_right_on_average_over_all_labels():
    """Every way to label seven predictions, each with its probability: no simulation."""
    p = np.asarray([0.1, 0.15, 0.3, 0.6, 0.7, 0.8, 0.95])
    truth = np.asarray([0.2, 0.1, 0.5, 0.5, 0.4, 0.9, 0.7])
    groups = [0, 0, 0, 1, 1, 1, 1]
    plain = unbiased = 0.0
    for ones in itertools.product([0, 1], repeat=7):
        chance = np.prod(np.where(ones, truth, 1 - truth))
        found = ca.reliability_of_groups(2.0 * np.asarray(ones) - 1, p, groups)
        plain += chance * found.squared_error
        unbiased += chance * found.unbiased_squared_error
    # the product of the gaps of all pairs of different predictions
    d = truth - p
    wanted = 0.0
    for rows in ([0, 1, 2], [3, 4, 5, 6]):
        pairs = [d[i] * d[j] for i in rows for j in rows if i != j]
        wanted += len(rows) / 7 * np.mean(pairs)
    assert unbiased == pytest.approx(wanted, rel=1e-12)
    assert plain > wanted + 0.03


def test_the_error_of_right_predictions_is_below_its_bound_on_average(rng):
    """All labels of nine predictions that are right; the bound is tight for single halves."""
    for p, groups in (
        (rng.uniform(size=9), [0, 1, 1, 2, 2, 2, 3, 3, 3]),
        (np.full(9, 0.5), list(range(9))),
    ):
        mean = 0.0
        for ones in itertools.product([0, 1], repeat=9):
            y = 2.0 * np.asarray(ones) - 1
            found = ca.reliability_of_groups(y, p, groups)
            mean += np.prod(np.where(ones, p, 1 - p)) * found.expected_calibration_error
        assert mean <= found.bound_if_calibrated * (1 + 1e-12)
    assert mean == pytest.approx(found.bound_if_calibrated, rel=1e-12)


def test_errors_of_drawn_labels_have_the_mean_of_all_labels():
    p = np.asarray([0.1, 0.15, 0.3, 0.62, 0.7, 0.8, 0.95])
    mean = 0.0
    for ones in itertools.product([0, 1], repeat=7):
        found = ca.reliability(2.0 * np.asarray(ones) - 1, p, 3)
        mean += np.prod(np.where(ones, p, 1 - p)) * found.expected_calibration_error
    drawn = ca.consistency_resampling(p, 20000, 3, rng=stream(1))
    assert drawn.shape == (20000,)
    assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / math.sqrt(20000))


def test_drawn_errors_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch, case):
    whole = ca.consistency_resampling(case[1], 50, rng=stream(2))
    module = importlib.import_module("gpnotes.assess.calibration.diagram")
    monkeypatch.setattr(module, "_CHUNK", 400)
    np.testing.assert_allclose(
        ca.consistency_resampling(case[1], 50, rng=stream(2)), whole, rtol=1e-12
    )


def test_a_diagram_in_any_space(space, case):
    y, p = (space.asarray(a) for a in case)
    wanted = ca.reliability(*case, 6)
    found = ca.reliability(y, p, 6)
    tolerance = 1e-12 if space.double else 1e-5
    for name in ("count", "confidence", "frequency", "sd", "squared_gap", "gap"):
        one = getattr(found, name)
        assert type(one) is type(p)
        np.testing.assert_allclose(
            gpnotes.to_numpy(one), getattr(wanted, name), rtol=1e-4, atol=tolerance
        )
    assert found.expected_calibration_error == pytest.approx(
        wanted.expected_calibration_error, rel=1e-4
    )
    groups = space.xp.asarray(np.arange(200) % 3, device=space.device)
    assert ca.reliability_of_groups(y, p, groups).count.shape == (3,)
    drawn = ca.consistency_resampling(p, 5, rng=stream(3))
    np.testing.assert_allclose(
        gpnotes.to_numpy(drawn), ca.consistency_resampling(case[1], 5, rng=stream(3)), rtol=1e-3
    )


# Recalibration


def log_loss(y, p):
    return -np.mean(np.log(np.where(y == 1, p, 1 - p)))


def test_the_temperature_is_the_best_one(scored):
    y, f = scored
    found = ca.fit_temperature(y, f)
    best = optimize.minimize_scalar(
        lambda t: log_loss(y, special.expit(f / math.exp(t))), tol=1e-12
    )
    assert found.temperature == pytest.approx(math.exp(best.x), rel=1e-5)
    p = found(f)
    assert f @ ((y == 1) - p) == pytest.approx(0.0, abs=1e-9)
    assert ((p > 0.5) == (f > 0)).all()


def test_a_temperature_takes_few_steps(scored, monkeypatch):
    module = importlib.import_module("gpnotes.assess.calibration.recalibrate")
    calls = []
    kept = module._sigmoid
    monkeypatch.setattr(module, "_sigmoid", lambda f: calls.append(1) or kept(f))
    ca.fit_temperature(*scored)
    assert 3 < len(calls) < 20


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1.0, 1e6, 1e100])
def test_a_temperature_has_the_unit_of_the_scores(scored, unit):
    y, f = scored
    wanted = ca.fit_temperature(y, f).temperature
    assert ca.fit_temperature(y, unit * f).temperature == pytest.approx(
        unit * wanted, rel=1e-9, abs=0.0
    )


def test_platt_is_scikit_learns(scored):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Same(ClassifierMixin, BaseEstimator):
        classes_ = np.asarray([-1.0, 1.0])

        def fit(self, X, y):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def predict(self, X):
            return np.sign(X[:, 0])

        def decision_function(self, X):
            return X[:, 0]

    y, f = scored
    theirs = CalibratedClassifierCV(FrozenEstimator(Same()), method="sigmoid").fit(f[:, None], y)
    ours = ca.fit_platt(y, f)(f)
    np.testing.assert_allclose(ours, theirs.predict_proba(f[:, None])[:, 1], atol=2e-4)


def test_platts_sigmoid_is_the_best_one(scored):
    y, f = scored
    n, ones = len(y), (y == 1).sum()
    target = np.where(y == 1, (ones + 1) / (ones + 2), 1 / (n - ones + 2))
    found = ca.fit_platt(y, f)
    off = target - found(f)
    assert off.sum() == pytest.approx(0.0, abs=1e-7)
    assert f @ off == pytest.approx(0.0, abs=1e-7)
    moved = ca.fit_platt(y, 1e5 + 1e-3 * f)
    np.testing.assert_allclose(moved(1e5 + 1e-3 * f), found(f), rtol=1e-6)


def test_platt_stays_finite_where_scores_tell_all_labels_apart():
    y, f = np.asarray([-1.0, -1.0, 1.0, 1.0]), np.asarray([-200.0, -3.0, 4.0, 300.0])
    found = ca.fit_platt(y, f)
    assert 0.0 < found.slope < 10.0
    assert 0.0 < found(f).min() < found(f).max() <= 1.0


@pytest.mark.parametrize(
    ("y", "f"),
    [
        ([-1, -1, 1, -1, -1], [27.5, -0.4, 2.3, -1.9, -0.3]),
        ([-1, 1, 1, -1, -1, 1], [5.7, -2.1, -6.1, 1.3, 0.1, -0.1]),
        ([-1, -1, 1, 1, 1], [0.0, 16.6, 1.5, 0.7, 0.7]),
    ],
)
def test_platts_steps_are_halved_where_a_whole_one_goes_too_far(y, f):
    """The gradient of the loss is zero at its end, also for a slope below zero."""
    y, f = np.asarray(y, dtype=float), np.asarray(f)
    ones = np.sum(y == 1.0)
    target = np.where(y == 1.0, (ones + 1.0) / (ones + 2.0), 1.0 / (len(y) - ones + 2.0))
    off = target - ca.fit_platt(y, f)(f)
    assert [off.sum(), off @ f] == pytest.approx([0.0, 0.0], abs=1e-7)


def test_isotonic_is_scikit_learns(scored):
    from sklearn.isotonic import IsotonicRegression

    y, f = scored
    theirs = IsotonicRegression(out_of_bounds="clip").fit(f, y == 1)
    found = ca.fit_isotonic(y, f)
    at = np.linspace(-12, 12, 333)
    np.testing.assert_allclose(found(at), theirs.predict(at), atol=1e-12)
    assert len(found.knots) < len(np.unique(f))


def test_isotonic_is_the_largest_of_smallest_means(rng):
    y = np.where(rng.uniform(size=12) < np.linspace(0.2, 0.8, 12), 1.0, -1.0)
    one = (y + 1) / 2
    values = ca.fit_isotonic(y, np.arange(12.0))(np.arange(12.0))
    for i in range(12):
        wanted = max(min(one[j : k + 1].mean() for k in range(i, 12)) for j in range(i + 1))
        assert values[i] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("fit", [ca.fit_temperature, ca.fit_platt, ca.fit_isotonic])
def test_recalibration_in_any_space(space, scored, fit):
    y, f = (space.asarray(a) for a in scored)
    wanted = fit(*scored)(np.linspace(-9.0, 9.0, 7))
    found = fit(y, f)(space.asarray(np.linspace(-9.0, 9.0, 7)))
    assert space.holds(found)
    np.testing.assert_allclose(gpnotes.to_numpy(found), wanted, rtol=2e-4, atol=2e-6)
    assert space.holds(ca.logit(space.asarray(np.asarray([0.2, 0.7]))))


def test_the_log_odds_are_undone_by_a_temperature_of_one():
    p = np.asarray([1e-9, 0.2, 0.5, 1 - 1e-9])
    np.testing.assert_allclose(ca.TemperatureScaling(1.0)(ca.logit(p)), p, rtol=1e-7)
    assert ca.TemperatureScaling(1.0)(np.asarray([-800.0, 800.0])).tolist() == [0.0, 1.0]


# Numbers


def test_the_transform_is_the_distribution_function(rng):
    y, mean, variance = rng.normal(size=9), rng.normal(size=9), rng.uniform(0.5, 2.0, size=9)
    found = ca.probability_integral_transform(y, mean, variance)
    np.testing.assert_allclose(found, stats.norm.cdf(y, mean, np.sqrt(variance)), rtol=1e-13)
    inside = np.abs(found - 0.5) <= 0.4
    assert coverage(y, mean, variance, 0.8) == pytest.approx(inside.mean())


@pytest.mark.parametrize(("n", "level"), [(9, 0.9), (19, 0.95), (99, 0.99), (20, 0.55), (99, 0.55)])
def test_the_rank_is_exact_although_levels_are_no_floats(n, level):
    """(n + 1) level is a whole number in the decimals that were typed."""
    k = round((n + 1) * level)
    wanted = k if abs(k - (n + 1) * level) < 1e-9 else math.ceil((n + 1) * level)
    assert ca.conformal_quantile(np.arange(1.0, n + 1), level) == wanted


@pytest.mark.parametrize("level", [0.3, 0.5, 0.75, 0.8, 0.9])
def test_a_new_score_is_below_the_quantile_as_often_as_promised(level):
    """All orders of n + 1 scores are alike, so each of them may be the new one."""
    for n in range(math.ceil(level / (1 - level)), 12):
        scores = np.arange(n + 1.0)
        held = [
            s <= ca.conformal_quantile(np.delete(scores, i), level) for i, s in enumerate(scores)
        ]
        assert level - 1e-12 <= np.mean(held) < level + 1 / (n + 1)
        assert np.mean(held) == pytest.approx(ca.conformal_coverage(n, level).mean)


def test_the_coverage_has_its_beta_distribution():
    found = ca.conformal_coverage(29, 0.8)
    uniform = np.asarray(stream(4).uniform((20000, 29)))
    covered = np.sort(uniform, axis=1)[:, found.a - 1]  # of uniform scores it is the quantile
    law = stats.beta(found.a, found.b)
    assert stats.kstest(covered, law.cdf).pvalue > 1e-3
    assert found.mean == pytest.approx(law.mean(), rel=1e-12)
    assert found.sd == pytest.approx(law.std(), rel=1e-12)


def test_intervals_hold_as_many_as_were_asked_for(rng):
    y, mean, sd = rng.normal(size=40), rng.normal(size=40), rng.uniform(0.5, 2, size=40)
    for scale in (1.0, sd):
        found = ca.split_conformal(y, mean, scale, level=0.8)
        low, high = found.interval(mean, scale * (1 + 1e-12))  # one y is on an edge
        assert ((low <= y) & (y <= high)).sum() == math.ceil(41 * 0.8)
        assert found.coverage == ca.conformal_coverage(40, 0.8)


def test_intervals_take_the_scale_of_the_held_out_or_ask_for_it(rng):
    """One was 1.0 unless it was given again: intervals in units of 10 were a tenth as wide."""
    y, mean, sd = rng.normal(size=40), rng.normal(size=40), rng.uniform(0.5, 2, size=40)
    units = [ca.split_conformal(y, mean, scale).interval(mean) for scale in (1.0, 10, 0.1)]
    for low, high in units[1:]:
        np.testing.assert_allclose([low, high], units[0], rtol=1e-12)
    with pytest.raises(ValueError, match=r"^scale must be given: the held-out observations had"):
        ca.split_conformal(y, mean, sd).interval(mean)


def test_intervals_are_those_of_mapie(rng):
    regression = pytest.importorskip("mapie.regression")
    from sklearn.linear_model import LinearRegression

    X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
    model = LinearRegression().fit(X[:50], y[:50])
    mean = model.predict(X[50:])
    for level in (0.7, 0.9, 0.95):
        theirs = regression.SplitConformalRegressor(model, confidence_level=level, prefit=True)
        theirs.conformalize(X[50:110], y[50:110])
        _, intervals = theirs.predict_interval(X[110:])
        found = ca.split_conformal(y[50:110], mean[:60], level=level).interval(mean[60:])
        np.testing.assert_allclose(np.stack(found, axis=1), intervals[:, :, 0], rtol=1e-12)


def test_numbers_in_any_space(space, rng):
    host = rng.normal(size=30), rng.normal(size=30), rng.uniform(0.5, 2.0, size=30)
    y, mean, sd = (space.asarray(a) for a in host)
    assert space.holds(ca.probability_integral_transform(y, mean, sd))
    found = ca.split_conformal(y, mean, sd)
    assert found.quantile == pytest.approx(ca.split_conformal(*host).quantile, rel=1e-5)
    low, high = found.interval(mean, sd)
    assert space.holds(low)
    assert space.holds(high)
    assert space.holds(found.interval(mean, 1.0)[0])


# The door

Y, P = np.asarray([1.0, -1.0, 1.0]), np.asarray([0.2, 0.4, 0.9])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ca.reliability(np.asarray([0.0, 1.0, 1.0]), P), "^y must hold labels, 1 or -1; 1"),
        (lambda: ca.reliability(Y, P + 0.2), "^probability must lie from 0 to 1; 1 .* row 2: 1.1"),
        (lambda: ca.reliability(Y, -P), "^probability must lie from 0 to 1; 3 .* row 0: -0.2"),
        (lambda: ca.reliability(Y, P * np.nan), "^probability must be finite; 3"),
        (lambda: ca.reliability(Y * np.nan, P), "^y must be finite; 3"),
        (lambda: ca.reliability(Y, P[:2]), r"^probability must have shape \(3,\); got \(2,\)"),
        (lambda: ca.reliability(Y[:0], P[:0]), r"^y must have at least one label; got \(0,\)"),
        (lambda: ca.reliability(Y, P, 0), "^bins must be a whole number from 1; got 0"),
        (lambda: ca.reliability(Y, P, 4, strategy="quantile"), "^bins of one size .* 3 .*; got 4"),
        (lambda: ca.reliability(Y, P, strategy="random"), "^strategy must be one of"),
        (lambda: ca.reliability_of_groups(Y, P, [0, 1]), "^groups must be whole .* one for each"),
        (lambda: ca.reliability_of_groups(Y, P, [0, 1, -1]), "^groups must be a whole .* from 0"),
        (lambda: ca.reliability_of_groups(Y, P, np.asarray([0, 1, -1])), "^groups .* got -1"),
        (lambda: ca.reliability(Y, P, 50).unbiased_squared_error, "^a bin must have at least two"),
        (lambda: ca.logit(np.asarray([0.0, 0.5])), "^probability must be strictly between 0 and 1"),
        (lambda: ca.logit(np.asarray([1.0, 0.5])), "^probability must be .* 1; 1 of its entries"),
        (lambda: ca.fit_temperature(Y, np.asarray([1.0, 1.0, 0.0])), "^score must say something"),
        (lambda: ca.fit_temperature(Y, np.asarray([1.0, -1.0, 2.0])), "temperature is zero"),
        (lambda: ca.fit_temperature(Y, np.asarray([-1.0, 1.0, 0.5])), "^score must say something"),
        (lambda: ca.fit_temperature(2.0 * Y, P), "^y must hold labels"),
        (lambda: ca.fit_platt(np.ones(3), P), "^y must hold labels of both kinds; its 3 labels"),
        (lambda: ca.fit_platt(Y, np.ones(3)), "^score must vary; its 3 entries are all 1.0"),
        (lambda: ca.fit_isotonic(Y, P * np.inf), "^score must be finite"),
        (lambda: ca.TemperatureScaling(0.0), "^temperature must be positive and finite; got 0.0"),
        (lambda: ca.Isotonic(np.asarray([1.0, 0.0]), P[:2]), "^knots must increase"),
        (lambda: ca.Isotonic(P[:0], P[:0]), "^knots must increase, and hold at least one; got"),
        (lambda: ca.Isotonic(np.asarray([1.0, 1.0]), P[:2]), "^knots must increase"),
        (lambda: ca.Isotonic(np.asarray([0.0, 1.0]), P[:2] + 0.7), "^values must not decrease"),
        (lambda: ca.Isotonic(P, np.asarray([0.1, 0.9, 0.5])), "^values must not decrease"),
        (lambda: ca.Isotonic(P, P - 0.3), "^values must not decrease"),
        (lambda: ca.split_conformal(P, P, level=0.9), "^level 0.9 needs at least 9 held-out .* 3"),
        (lambda: ca.conformal_quantile(np.ones(18), 0.95), "^level 0.95 needs at least 19 .* 18"),
        (lambda: ca.conformal_coverage(98, 0.99), "^level 0.99 needs at least 99 .* got 98"),
        (lambda: ca.conformal_quantile(np.ones(20), 1.0), "^level must be between 0 and 1; got 1"),
        (lambda: ca.conformal_quantile(np.ones(0), 0.5), "^scores must have at least one entry"),
        (lambda: ca.split_conformal(P, P, -P, level=0.5), "^scale must be positive"),
        (lambda: ca.probability_integral_transform(P, P, 0.0 * P), "^variance must be positive"),
    ],
    ids=range(37),
)  # fmt: skip
def test_bad_input_is_told_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_empty_bin_is_left_out():
    found = ca.reliability(Y, P, 3)
    np.testing.assert_array_equal(found.count, [1.0, 1.0, 1.0])
    found = ca.reliability(Y, np.asarray([0.1, 0.1, 0.95]), 10)
    np.testing.assert_array_equal(found.count, [2.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isfinite(found.unbiased_squared_error)


@pytest.mark.parametrize("skew", [0.2, 1.0, 4.0])
def test_platt_s_line_is_found_in_few_steps(rng, skew, monkeypatch):
    """Newton's method converges in a few steps; with a wrong Hessian it takes dozens."""
    f = rng.uniform(-1.0, 1.0, size=300)
    target = special.expit(3.0 * f + skew) * 0.98 + 0.01
    monkeypatch.setattr(recalibrate, "_MOST_STEPS", 8)
    a, b = recalibrate._newton(f, target, 0.0)
    off = target - special.expit(a * f + b)
    assert abs(f @ off) + abs(np.sum(off)) < 1e-10 * 300
