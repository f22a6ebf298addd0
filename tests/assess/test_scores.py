"""Scores are their definitions, reach the limits that they tell of, and refuse what has none."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gpnotes import gauss_hermite
from gpnotes.assess.scores import (
    Scores,
    coverage,
    crps,
    log_loss,
    mean_squared_error,
    mean_standardised_log_loss,
    score_all,
    standardised_mean_squared_error,
)

NORMAL = {"log_loss": log_loss, "crps": crps, "coverage": coverage}


@pytest.fixture
def case(rng):
    """y, means, variances (7,) and the targets of a training (11,), nothing standard."""
    y = 3.0 + 2.0 * rng.normal(size=7)
    return y, y + rng.normal(size=7), rng.uniform(0.3, 4.0, size=7), rng.normal(2.0, 3.0, size=11)


def expected(score, mean, variance, at=(0.0, 1.0)):
    """The average score of N(mean, variance) for y ~ N(at), by quadrature of one-entry arrays."""
    nodes, weights = gauss_hermite(80)
    ys = at[0] + math.sqrt(at[1]) * nodes
    one = np.full(1, mean), np.full(1, variance)
    return sum(w * score(np.full(1, y), *one) for y, w in zip(ys, weights, strict=True))


# Definitions


def test_squared_errors_are_sums(case):
    y, mean, _, _ = case
    total = sum((a - b) ** 2 for a, b in zip(y, mean, strict=True))
    assert mean_squared_error(y, mean) == pytest.approx(total / 7, rel=1e-13)
    centre = sum(y) / 7
    share = total / sum((a - centre) ** 2 for a in y)
    assert standardised_mean_squared_error(y, mean) == pytest.approx(share, rel=1e-13)


def test_log_losses_are_those_of_scipy(case):
    y, mean, variance, y_train = case
    wanted = -np.mean(stats.norm.logpdf(y, mean, np.sqrt(variance)))
    assert log_loss(y, mean, variance) == pytest.approx(wanted, rel=1e-13)
    trivial = -np.mean(stats.norm.logpdf(y, y_train.mean(), y_train.std()))
    found = mean_standardised_log_loss(y, mean, variance, y_train)
    assert found == pytest.approx(wanted - trivial, rel=1e-12)


def test_the_crps_is_its_integral(case):
    y, mean, variance, _ = case

    def integral(a, m, s):
        left, _ = integrate.quad(lambda t: stats.norm.cdf(t, m, s) ** 2, m - 12 * s, a)
        right, _ = integrate.quad(lambda t: stats.norm.sf(t, m, s) ** 2, a, max(a, m) + 12 * s)
        return left + right

    each = [integral(*one) for one in zip(y, mean, np.sqrt(variance), strict=True)]
    assert crps(y, mean, variance) == pytest.approx(np.mean(each), rel=1e-7)


def test_the_crps_is_a_difference_of_average_distances(rng):
    """``E|X − y| − ½ E|X − X'|`` for independent X, X' of the prediction, by drawing them."""
    n, m, s, y = 200_000, 1.0, 0.7, 1.9
    X, other = rng.normal(m, s, size=(2, n))
    draws = np.abs(X - y) - 0.5 * np.abs(X - other)
    found = crps(np.full(1, y), np.full(1, m), np.full(1, s**2))
    assert found == pytest.approx(draws.mean(), abs=5 * draws.std() / math.sqrt(n))


@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999])
def test_the_coverage_counts_what_the_intervals_of_scipy_hold(rng, level):
    y, mean = 3.0 * rng.normal(size=(2, 200))
    variance = rng.uniform(0.3, 9.0, size=200)
    low, high = stats.norm.interval(level, mean, np.sqrt(variance))
    assert coverage(y, mean, variance, level) == np.mean((low <= y) & (y <= high))


def test_all_scores_at_once_are_the_single_ones(case):
    y, mean, variance, y_train = case
    assert score_all(y, mean, variance, y_train, 0.5) == Scores(
        mean_squared_error(y, mean),
        standardised_mean_squared_error(y, mean),
        log_loss(y, mean, variance),
        mean_standardised_log_loss(y, mean, variance, y_train),
        crps(y, mean, variance),
        coverage(y, mean, variance, 0.5),
    )


# Limits


def test_what_is_met_has_no_error(case):
    y = case[0]
    tiny = np.full(7, 1e-40)
    assert mean_squared_error(y, y) == standardised_mean_squared_error(y, y) == 0.0
    of_a_bell = 1e-20 * (math.sqrt(2.0) - 1.0) / math.sqrt(math.pi)
    assert crps(y, y, tiny) == pytest.approx(of_a_bell, rel=1e-12, abs=0.0)
    assert log_loss(y, y, tiny) < -40.0  # it has no least value
    assert log_loss(y, y, tiny**2) < 2.0 * log_loss(y, y, tiny)


def test_a_constant_has_the_variance_of_y_and_the_square_of_its_distance(case):
    y = case[0]
    assert mean_squared_error(y, np.full(7, y.mean())) == pytest.approx(y.var(), rel=1e-13)
    assert standardised_mean_squared_error(y, np.full(7, y.mean())) == pytest.approx(1.0)
    constant = y.mean() + 0.3 * y.std()
    assert standardised_mean_squared_error(y, np.full(7, constant)) == pytest.approx(1.09)


def test_on_average_noise_is_what_a_squared_error_ends_at(rng):
    """The true function gets the variance of the noise, and its share; anything else more."""
    n, noise_var = 100_000, 0.25
    f = rng.normal(size=n)
    y = f + math.sqrt(noise_var) * rng.normal(size=n)
    spread = 5.0 * math.sqrt(2.0 / n)
    assert mean_squared_error(y, f) == pytest.approx(noise_var, rel=spread)
    assert standardised_mean_squared_error(y, f) == pytest.approx(0.2, rel=2 * spread)
    assert mean_squared_error(y, 0.9 * f) > mean_squared_error(y, f)
    assert mean_squared_error(y, f + 0.1) > mean_squared_error(y, f)


@pytest.mark.parametrize("name", ["log_loss", "crps"])
def test_on_average_the_truth_is_best(name):
    score, truth = NORMAL[name], (0.4, 2.0)
    best = expected(score, *truth, at=truth)
    entropy = 0.5 * math.log(2.0 * math.pi * math.e * truth[1])
    limit = {"log_loss": entropy, "crps": math.sqrt(truth[1] / math.pi)}
    assert best == pytest.approx(limit[name], rel=1e-9)
    for shift, factor in ((0.3, 1.0), (-0.3, 1.0), (0.0, 1.3), (0.0, 0.7), (0.2, 1.2)):
        other = expected(score, truth[0] + shift, factor * truth[1], at=truth)
        assert other > best + 1e-3


def test_what_the_log_loss_has_above_the_truth_is_a_divergence():
    (m, v), (a, b) = (0.4, 2.0), (0.9, 1.3)
    above = expected(log_loss, a, b, at=(m, v)) - expected(log_loss, m, v, at=(m, v))
    divergence = 0.5 * (math.log(b / v) + (v + (m - a) ** 2) / b - 1.0)
    assert above == pytest.approx(divergence, rel=1e-9)


def test_the_trivial_prediction_has_no_standardised_log_loss(case):
    y, _, _, y_train = case
    trivial = np.full(7, y_train.mean()), np.full(7, y_train.var())
    assert mean_standardised_log_loss(y, *trivial, y_train) == pytest.approx(0.0, abs=1e-14)
    worse = trivial[0], 9.0 * trivial[1]
    assert mean_standardised_log_loss(y, *worse, y_train) > 0.0


def test_the_standardised_log_loss_of_the_truth_is_half_a_log_of_variances():
    """Inputs give y a mean, N(0, 3.5) over them; around it y has the variance 0.5."""

    def loss(y, mean, variance):
        return mean_standardised_log_loss(y, mean, variance, np.asarray([-2.0, 2.0]))

    nodes, weights = gauss_hermite(40)
    means = math.sqrt(3.5) * nodes
    each = [expected(loss, m, 0.5, at=(m, 0.5)) for m in means]
    assert weights @ np.asarray(each) == pytest.approx(0.5 * math.log(0.5 / 4.0), rel=1e-9)


def test_the_crps_goes_to_the_distance_and_is_least_at_the_mean(case):
    y, mean, variance, _ = case
    assert crps(y, mean, 1e-12 * variance) == pytest.approx(np.mean(np.abs(y - mean)), rel=1e-5)
    least = (math.sqrt(2.0) - 1.0) / math.sqrt(math.pi)
    for z in (0.0, 1e-3, 0.5, -0.5, 3.0):
        found = crps(np.full(1, 5.0 + 2.0 * z), np.full(1, 5.0), np.full(1, 4.0))
        assert found == pytest.approx(2.0 * least) if z == 0.0 else found > 2.0 * least


def test_coverage_ends_at_its_level_for_the_truth_and_at_one_for_what_is_too_wide(rng):
    n, mean = 50_000, rng.normal(size=50_000)
    y, one = mean + rng.normal(size=n), np.ones(n)
    for level in (0.5, 0.9):
        scatter = 5.0 * math.sqrt(level * (1.0 - level) / n)
        assert coverage(y, mean, one, level) == pytest.approx(level, abs=scatter)
        trivial = np.full(n, y.mean()), np.full(n, y.var())
        assert coverage(y, *trivial, level) == pytest.approx(level, abs=scatter)
        assert coverage(y, mean, 1e4 * one, level) == 1.0
        assert coverage(y, mean, 1e-8 * one, level) < 0.01


def test_an_end_of_an_interval_is_in_it():
    end = stats.norm.ppf(0.75)
    y = np.asarray([0.999 * end, 1.001 * end])
    assert coverage(y, np.zeros(2), np.ones(2), 0.5) == 0.5
    for level in (1e-300, math.nextafter(1.0, 0.0)):
        assert coverage(np.zeros(1), np.zeros(1), np.ones(1), level) == 1.0


# Units


@pytest.mark.parametrize("unit", [1e-3, 7.0, 1e6])
def test_units_of_y(case, unit):
    y, mean, variance, y_train = case
    scores = score_all(y, mean, variance, y_train)
    other = score_all(unit * y, unit * mean, unit**2 * variance, unit * y_train)
    assert other.mean_squared_error == pytest.approx(unit**2 * scores.mean_squared_error)
    assert other.crps == pytest.approx(unit * scores.crps)
    assert other.log_loss == pytest.approx(scores.log_loss + math.log(unit))
    for name in ("standardised_mean_squared_error", "mean_standardised_log_loss", "coverage"):
        assert getattr(other, name) == pytest.approx(getattr(scores, name), rel=1e-10)


def test_units_in_which_squares_are_no_floats_are_no_trouble_to_what_has_no_unit(case):
    y, mean, _, y_train = case
    wanted = standardised_mean_squared_error(y, mean)
    assert standardised_mean_squared_error(1e-200 * y, 1e-200 * mean) == pytest.approx(wanted)
    variance = np.ones(7)
    trivial = mean_standardised_log_loss(y, y, variance, y_train)
    small = mean_standardised_log_loss(1e-150 * y, 1e-150 * y, 1e-300 * variance, 1e-150 * y_train)
    assert small == pytest.approx(trivial)


def test_far_out_the_crps_is_the_distance_less_a_constant():
    for z in (30.0, -30.0, 1e5, 1e100):
        found = crps(np.full(1, z), np.zeros(1), np.ones(1))
        assert found == pytest.approx(abs(z) - 1.0 / math.sqrt(math.pi), rel=1e-14)


# Spaces


def test_any_space(space, case):
    there = [space.asarray(a) for a in case]
    found, wanted = score_all(*there), score_all(*case)
    for name, value in vars(wanted).items():
        assert type(getattr(found, name)) is float
        assert getattr(found, name) == pytest.approx(value, rel=1e-12 if space.double else 1e-4)


def test_single_precision_is_scored_in_double(case):
    single = [a.astype(np.float32) for a in case]
    wanted = score_all(*(a.astype(np.float64) for a in single))
    for name, value in vars(score_all(*single)).items():
        assert value == pytest.approx(getattr(wanted, name), rel=1e-13)


# The door


def test_a_single_row_and_rows_that_are_all_equal_have_no_standardised_scores():
    y, one = np.full(3, 2.0), np.ones(3)
    scores = score_all(y, y, one, y)
    assert scores.standardised_mean_squared_error is scores.mean_standardised_log_loss is None
    assert scores.mean_squared_error == 0.0
    with pytest.raises(ValueError, match=r"^y must vary; its 3 entries are all 2\.0"):
        standardised_mean_squared_error(y, y)
    with pytest.raises(ValueError, match=r"^y_train must vary; its 1 entries are all 2\.0"):
        mean_standardised_log_loss(y, y, one, y[:1])


WRONG = [
    ("y", lambda a: np.full(7, np.nan), r"^y must be finite; 7 of its entries are not"),
    ("y", lambda a: np.where(np.arange(7) == 4, np.nan, a), "^y must be .* the first in row 4"),
    ("y", lambda a: a[:0], r"^y must have at least one entry; got \(0,\)"),
    ("y", lambda a: 1e200 * a, r"^y must be smaller than .* in size: squares overflow"),
    ("mean", lambda a: a[:3], r"^mean must have shape \(7,\); got \(3,\)"),
    ("mean", lambda a: np.where(np.arange(7) == 2, np.inf, a), "^mean must .* first in row 2"),
    ("mean", lambda a: a.astype(np.float32), "^mean must have the dtype of y, float64; got float3"),
    ("variance", lambda a: a[:, None], r"^variance must have shape \(7,\); got \(7, 1\)"),
    (
        "variance",
        lambda a: np.where(np.arange(7) > 4, -a, a),
        r"^variance must be positive; 2 of its entries are not, the first in row 5: -",
    ),
    (
        "variance",
        lambda a: np.where(np.arange(7) == 3, 0.0, a),
        r"^variance must be positive; 1 of its entries are not, the first in row 3: 0\.0",
    ),
    ("variance", lambda a: np.full(7, 1e-300), r"√variance must be smaller than .* in size"),
    ("y_train", lambda a: a[:0], r"^y_train must have at least one entry; got \(0,\)"),
    ("y_train", lambda a: np.where(np.arange(11) == 9, np.nan, a), "^y_train must .* in row 9"),
]


@pytest.mark.parametrize(
    ("name", "spoil", "message"), WRONG, ids=[f"{i} {row[0]}" for i, row in enumerate(WRONG)]
)
def test_what_cannot_be_scored_is_refused_by_name(case, name, spoil, message):
    names = ("y", "mean", "variance", "y_train")
    arguments = dict(zip(names, case, strict=True))
    if "√" in message:
        arguments["mean"] = arguments["mean"] * 1e5
    with pytest.raises((ValueError, TypeError), match=message):
        score_all(**{**arguments, name: spoil(arguments[name])})


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0])
def test_a_level_is_a_share(case, level):
    with pytest.raises(ValueError, match=rf"^level must be between 0 and 1; got {level}"):
        coverage(*case[:3], level)
