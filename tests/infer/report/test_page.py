"""What a fit prints: numbers rounded to what is known, all runs, what is not determined."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Constant,
    ConstantMean,
    LaplaceGP,
    LogNormalPrior,
    Matern32,
    Periodic,
    Poisson,
    asarray,
    dataset,
    fit,
    log_evidence,
    stream,
)
from gpnotes.ground.params import flatten
from gpnotes.infer import sparse
from gpnotes.infer.fitting import Fit, Run
from gpnotes.infer.report import FinishedRun, Hyperparameter, Report
from gpnotes.model.kernels import OutputNoise


def readings(rng, n=60):
    X = 6.0 * rng.random((n, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def by_name(report):
    return {one.name: one for one in report.hyperparameters}


# Standard errors, by a second route


def test_errors_are_those_of_second_differences_of_the_evidence(rng):
    """The route of `fit` is differences of the gradient; this one is of values, by scipy's step."""
    X, y = readings(rng)
    found = fit(GP(RBF(), 0.1, ConstantMean(0.0)), X, y)
    end, rebuild = flatten(found.model)
    h, axes = 1e-3, np.eye(end.size)

    def value(v):
        return log_evidence(rebuild(v), X, y)

    H = -np.asarray([
        [
            sum(s * t * value(end + h * (s * one + t * other)) for s in (1, -1) for t in (1, -1))
            for other in axes
        ]
        for one in axes
    ]) / (4.0 * h**2)  # fmt: skip
    errors = np.diag(np.linalg.inv(H)) ** 0.5
    reported = [one.error for one in found.report().hyperparameters]
    np.testing.assert_allclose(reported, errors, rtol=1e-3)


def test_a_common_scale_is_known_to_the_root_of_two_over_n(rng):
    """[eq-hp-information]: for readings whose covariance is known but for a factor."""
    n = 50
    X = 100.0 * np.arange(n, dtype=float)[:, None]  # so far apart that the kernel is white
    y = 3.0 * rng.standard_normal(n)
    found = fit(GP(RBF(1.0, 1.0), 1e-6), X, y, fixed=("noise_var", "kernel.lengthscale"))
    (variance,) = found.report().hyperparameters
    np.testing.assert_allclose(variance.value, np.mean(y**2), rtol=1e-3)
    np.testing.assert_allclose(variance.error, math.sqrt(2.0 / n), rtol=1e-4)
    np.testing.assert_allclose(
        variance.interval,
        variance.value * np.exp([-2.0 * variance.error, 2.0 * variance.error]),
    )


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_a_mean_of_white_noise_is_known_to_its_standard_error(rng):
    n, y = 40, 360.0 + 2.0 * rng.standard_normal(40)
    X = 100.0 * np.arange(n, dtype=float)[:, None]
    gp = GP(RBF(1e-9, 1.0), 1.0, ConstantMean(350.0))
    found = fit(gp, X, y, fixed=("kernel",))
    mean = by_name(found.report())["mean.value"]
    np.testing.assert_allclose(mean.error, np.std(y) / math.sqrt(n), rtol=1e-4)
    np.testing.assert_allclose(np.diff(mean.interval), 4.0 * mean.error)


def test_errors_are_right_as_often_as_they_say():
    """Two errors of the logarithm hold the true noise variance in about 95 of 100 draws."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = 6.0 * rng.random((80, 1))
        K = RBF()(X) + 0.04 * np.eye(80)
        y = np.linalg.cholesky(K) @ rng.standard_normal(80)
        low, high = by_name(fit(GP(RBF(), 0.1), X, y).report())["noise_var"].interval
        held += low < 0.04 < high
    assert 50 <= held <= 60


def test_a_prior_makes_a_parameter_better_known(rng):
    X, y = readings(rng)
    plain = by_name(fit(GP(RBF(), 0.1), X, y).report())
    sure = {"kernel.lengthscale": LogNormalPrior(0.0, 0.05)}
    found = fit(GP(RBF(), 0.1), X, y, priors=sure)
    assert by_name(found.report())["kernel.lengthscale"].error < 0.05
    assert plain["kernel.lengthscale"].error > 0.1
    assert "log prior" in str(found)
    assert "log prior" not in str(fit(GP(RBF(), 0.1), X, y))


def test_every_space_has_the_same_report(space, rng):
    X, y = readings(rng)
    gp = GP(RBF(1.0, space.asarray([1.0])), 0.1, ConstantMean(0.1))
    found = fit(gp, space.asarray(X), space.asarray(y))
    wanted = fit(GP(RBF(1.0, np.ones(1)), 0.1, ConstantMean(0.1)), X, y).report()
    close = {"rtol": 1e-2} if space.double else {"rtol": 0.1}
    for one, other in zip(found.report().hyperparameters, wanted.hyperparameters, strict=True):
        assert (one.name, one.state) == (other.name, "determined")
        np.testing.assert_allclose(one.error, other.error, **close)
    assert "kernel.lengthscale[0]" in str(found)


# What the readings do not determine


@pytest.fixture(scope="module")
def three_years():
    """The fit of the chapter on hyperparameters, of which most runs end without a signal."""
    table = dataset("co2-monthly")
    months = table[:, 0] + (table[:, 1] - 0.5) / 12 - 1990
    rows = np.flatnonzero((months > 0) & (months < 10))[:36]
    start = GP(RBF(10.0, 1.0), 1.0, ConstantMean(355.0))
    X, y = asarray(months[rows, None]), asarray(table[rows, 2])
    return fit(start, X, y, restarts=9, rng=stream(0), restart_sd=1.5)


def test_three_years_of_carbon_dioxide_determine_all_at_the_best_top(three_years):
    report = three_years.report()
    assert report.undetermined() == ()
    assert {one.state for one in report.hyperparameters} == {"determined"}
    assert "Not determined" not in str(three_years)


def test_where_they_see_no_signal_its_variance_and_lengthscale_are_not_determined(three_years):
    lost = [
        k
        for k, run in enumerate(three_years.runs)
        if run.log_evidence < three_years.log_evidence - 1.0
    ]
    assert len(lost) >= 5
    for k in lost:
        report = three_years.report(k)
        assert set(report.undetermined()) == {"kernel.variance", "kernel.lengthscale"}
        found = by_name(report)
        assert found["noise_var"].state == found["mean.value"].state == "determined"
        np.testing.assert_allclose(found["noise_var"].error, math.sqrt(2.0 / 36.0), rtol=0.05)
        assert found["kernel.variance"].low == 0.0
        behind = three_years.log_evidence - three_years.runs[k].log_evidence
        assert str(report).startswith(
            f"Fit of 36 readings, run {k} of 10, {behind:.1f} below the best\n"
        )
        assert "Not determined by the readings: kernel.variance, kernel.lengthscale." in str(report)


def test_an_input_that_does_not_count_has_a_lengthscale_without_an_upper_end():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.02 * rng.normal(size=60)
    bounds = {"kernel.lengthscale": (0.05, 5000.0)}
    found = fit(GP(RBF(1.0, np.ones(2)), 0.1), X, y, bounds=bounds)
    idle = by_name(found.report())["kernel.lengthscale[1]"]
    assert by_name(found.report())["kernel.lengthscale[0]"].state == "determined"
    if found.runs[0].at_bounds:  # it is the flat direction that is told, and not the bound
        assert idle.state == "flat"
        assert "On a bound" not in str(found)


def test_of_readings_that_are_all_equal_only_the_mean_is_determined():
    """Whether the signal's variance ends at 1e-6 or at 1e-12 of the noise is for no one to see."""
    X = np.random.default_rng(0).uniform(-3, 3, size=(40, 2))
    found = fit(
        GP(RBF(1.0, 1.0), 0.1, ConstantMean(0.0)), X, np.full(40, 3.0), fixed=("noise_var",)
    )
    report = by_name(found.report())
    assert set(found.report().undetermined()) == {"kernel.variance", "kernel.lengthscale"}
    assert report["kernel.variance"].low == 0.0
    assert 1e-4 < report["kernel.variance"].high < 0.1
    np.testing.assert_allclose(report["mean.value"].value, 3.0, atol=1e-3)
    np.testing.assert_allclose(report["mean.value"].error, math.sqrt(0.1 / 40.0), rtol=1e-2)
    assert "The readings are all equal" in str(found)
    assert "On a bound" not in str(found)


def test_where_the_noise_is_fitted_too_readings_that_are_all_equal_are_told():
    """The evidence rises for ever as the noise falls; where that ends, rounding decides."""
    X = np.linspace(0.0, 1.0, 9)[:, None]
    found = fit(GP(RBF(), 0.1, ConstantMean(0.0)), X, np.full(9, 3.0))
    assert "The readings are all equal" in str(found)
    single = fit(GP(RBF(), 0.1, ConstantMean(0.0)), X[:1], np.ones(1))
    assert "The readings are all equal" not in str(single)


FAR = "The readings have mean 50 and standard deviation 2: a mean, such as ConstantMean, may raise"


def test_readings_far_from_zero_ask_for_a_mean():
    """Without one the kernel's variance stands for their level."""
    X = np.linspace(0.0, 6.0, 30)[:, None]
    y = 50.0 + 3.0 * np.sin(2.0 * X[:, 0])

    def page(model, y=y):
        return " ".join(str(fit(model, X, y, max_steps=5)).split())

    assert FAR in page(GP(RBF(), 0.1))
    assert FAR.replace("50", "-50") in page(GP(RBF(), 0.1), -y)
    assert FAR in page(sparse.SparseGP(GP(RBF(), 0.1), X[::5]))
    has_one = (GP(RBF(), 0.1, ConstantMean(0.0)), GP(RBF() + Constant(), 0.1))
    near = (page(GP(RBF(), 0.1), y - 48.0), page(GP(RBF(), 0.1), np.full(30, 50.0)))
    for said in (*map(page, has_one), *near):
        assert "a mean, such as" not in said
    assert "a mean, such as" not in str(fit(GP(RBF(), 0.1), X[:1], y[:1]))  # it has no spread
    counts = np.round(y)
    assert "a mean, such as" not in page(LaplaceGP(GP(RBF(), 0.0), Poisson()), counts)


def test_noise_whose_bound_keeps_it_from_falling_is_on_it():
    X = np.linspace(0.0, 6.0, 30)[:, None]
    found = fit(GP(RBF(), 1.0), X, np.sin(2.0 * X[:, 0]), bounds={"noise_var": (0.01, 10.0)})
    report = by_name(found.report())
    assert report["noise_var"].state == "bound"
    np.testing.assert_allclose(report["noise_var"].value, 0.01)
    assert "On a bound, beyond which the objective rises: noise_var." in str(found)


def test_one_reading_has_a_ridge():
    found = fit(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    assert set(found.report().undetermined()) == {
        "kernel.variance",
        "kernel.lengthscale",
        "noise_var",
    }
    assert "Determined only in part, to be moved together: kernel.variance, noise_var." in str(
        found
    )


# The page


def test_the_page_lists_every_run_and_says_how_many_agree(rng):
    X, y = readings(rng, 20)
    found = fit(GP(Matern32(), 0.1), X, y, restarts=5, rng=stream(1), restart_sd=1.0)
    page = str(found)
    assert page.startswith(f"Fit of 20 readings\nlog evidence {found.log_evidence:.1f}\n")
    assert f"6 runs, {found.agreeing} within 0.1 of the best:" in page
    assert len(page.split("below the best")[1].splitlines()) == 7
    assert repr(found) == (
        f"<Fit: log evidence {found.log_evidence:.1f}, {found.agreeing} of 6 runs agree>"
    )
    assert page.isascii()


def test_failed_runs_are_in_the_table_and_have_no_report(rng):
    X, y = readings(rng, 20)
    found = fit(GP(RBF(), 0.1), X, y, restarts=3, rng=stream(1), restart_sd=1e5, max_steps=5)
    failed = [k for k, run in enumerate(found.runs) if run.log_evidence == -math.inf]
    assert failed
    assert str(found).count("failed") == len(failed)
    with pytest.raises(ValueError, match="run must be one that did not fail; got"):
        found.report(failed[0])
    for wrong in (len(found.runs), -1):
        with pytest.raises(ValueError, match="run must be a whole number from 0 to 3"):
            found.report(wrong)


def test_an_ascent_that_was_cut_short_says_so(rng):
    X, y = readings(rng)
    assert "stopped on its way up" in str(fit(GP(RBF(1.0, 0.1), 1.0), X, y, max_steps=1))
    assert "stopped on its way up" not in str(fit(GP(RBF(1.0, 0.1), 1.0), X, y))


def test_one_of_many_is_a_warning():
    runs = tuple(FinishedRun(value, 12, True, ()) for value in (5.0, 3.0))
    assert "One run alone is the best" in str(Report(3, (), 5.0, 0.0, 0.0, runs))
    assert "One run alone is the best" not in str(Report(3, (), 5.0, 0.0, 0.0, runs[:1]))
    agreeing = (runs[0], *runs)
    assert "One run alone is the best" not in str(Report(3, (), 5.0, 0.0, 0.0, agreeing))


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ((1.23456, True, 0.034, "determined"), ["1.235", "3.4 %", "1.2 to 1.3"]),
        ((1234.56, True, 0.34, "determined"), ["1230", "34 %", "630 to 2400"]),
        ((2.0, True, 1.5, "determined"), ["2.0", "a factor of 4.5", "0.10 to 40"]),
        ((3.4e-9, True, 0.1, "determined"), ["3.40e-09", "10 %", "2.8e-09 to 4.2e-09"]),
        ((355.198, False, 0.92, "determined"), ["355.20", "0.92", "353.36 to 357.04"]),
        ((-0.001, False, 1.4, "determined"), ["0.0", "1.4", "-2.8 to 2.8"]),
        ((7.0, True, math.nan, "flat", 0.0, math.inf), ["any", "", ""]),
        ((7.0, True, math.nan, "flat", 5.2, math.inf), ["5 or more", "", ""]),
        ((7.0, True, math.nan, "flat", 0.0, 8.4), ["8 or less", "", ""]),
        ((7.0, False, math.nan, "flat", -math.inf, 84.0), ["80 or less", "", ""]),
        ((7.0, False, math.nan, "flat", -3.0, 84.0), ["-3 to 80", "", ""]),
        ((0.0123, True, math.nan, "bound"), ["0.012", "", ""]),
    ],
)
def test_numbers_are_rounded_to_what_is_known(row, wanted):
    value, positive, error, state, *ends = row
    low, high = ends or (value, value)
    one = Hyperparameter("name", value, positive, error, state, low, high)
    page = str(Report(9, (one,), 0.0, 0.0, 0.0, (FinishedRun(0.0, 1, True, ()),)))
    (line,) = (line for line in page.splitlines() if line.startswith("name "))
    assert line.split()[1:] == " ".join(wanted).split()


def test_of_runs_that_agree_rounding_decides_no_order():
    """Two runs at one top swap places by their last digit; the page is the same."""
    ends = [FinishedRun(5.0, 31, True, ()), FinishedRun(5.0 - 1e-12, 48, True, ("noise_var",))]
    other = [ends[1]._replace(objective=5.0), ends[0]._replace(objective=5.0 - 1e-12)]
    pages = {str(Report(3, (), 5.0, 0.0, 0.0, tuple(runs))) for runs in (ends, other)}
    assert len(pages) == 1


def test_a_fit_made_by_hand_has_one_line_and_no_report():
    gp = GP(RBF(), 0.1)
    made = Fit((Run(gp, 5.0, 1, True, ""),))
    assert str(made) == repr(made) == "<Fit: log evidence 5.0>"
    assert made == Fit((Run(gp, 5.0, 1, True, ""),))
    with pytest.raises(ValueError, match="must be a fit that `fit` made"):
        made.report()


def test_a_fit_is_pickled_with_its_report(rng):
    X, y = readings(rng)
    found = fit(GP(RBF(), 0.1), X, y)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again == found


def test_a_fit_evaluates_nothing_for_a_report_that_nobody_asks_for(rng, monkeypatch):
    X, y = readings(rng)
    seen = []
    from gpnotes.infer import exact

    evidence = exact._value_and_gradient
    monkeypatch.setattr(exact, "_value_and_gradient", lambda *a: seen.append(1) or evidence(*a))
    found = fit(GP(RBF(), 0.1), X, y)
    assert len(seen) == found.runs[0].evaluations
    repr(found)
    assert len(seen) == found.runs[0].evaluations
    found.report()
    assert len(seen) == found.runs[0].evaluations + 1 + 2 * 3


def test_a_sparse_fit_prints_the_same_page(rng):
    X, y = readings(rng)
    exact = fit(GP(RBF(), 0.1), X, y)
    found = fit(sparse.SparseGP(GP(RBF(), 0.1), np.linspace(0.0, 6.0, 20)[:, None]), X, y)
    rows = zip(found.report().hyperparameters, exact.report().hyperparameters, strict=True)
    for one, other in rows:
        assert one.name == f"gp.{other.name}"
        np.testing.assert_allclose(one.error, other.error, rtol=0.05)
    assert str(found).startswith("Fit of 60 readings\nlog evidence ")


# Progress


def test_a_frame_s_columns_are_not_taken_for_outputs():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"hour": np.linspace(0.0, 6.0, 12), "which": np.arange(12.0) % 3})
    noise = OutputNoise(np.full(3, 0.1)).on(1)
    found = fit(GP(RBF().on(0) + noise), frame, np.sin(frame["hour"]), max_steps=2)
    rows = {one.name: one.column for one in found.report().hyperparameters}
    assert rows["kernel.parts.0.kernel.lengthscale"] == "hour"
    assert [rows[f"kernel.parts.1.kernel.variance[{i}]"] for i in range(3)] == ["", "", ""]


def test_rows_name_the_columns_they_belong_to_and_what_they_follow():
    pd = pytest.importorskip("pandas")
    draws = np.random.default_rng(4)
    frame = pd.DataFrame({"wind": draws.random(14), "temp": 30.0 * draws.random(14)})
    y = np.sin(5.0 * frame["wind"]) + 0.1 * frame["temp"]
    kernel = RBF(1.0, np.asarray([0.5, 10.0])) + Periodic(1.0, 0.9, 3.0).on("temp")
    first, second = (f"kernel.parts.0.lengthscale ({name})" for name in frame)
    bounds = {second: (5.0, 20.0), "kernel.parts.1.kernel.period (temp)": (2.0, 4.0)}
    tied = [["kernel.parts.0.variance", "kernel.parts.1.kernel.variance"]]
    found = fit(GP(kernel, 0.1), frame, y, bounds=bounds, fixed=[first], tied=tied, max_steps=3)
    assert found.model.kernel.parts[0].lengthscale[0] == 0.5
    assert 5.0 <= found.model.kernel.parts[0].lengthscale[1] <= 20.0
    rows = by_name(found.report())
    columns = {name: one.column for name, one in rows.items()}
    assert columns == {
        "kernel.parts.0.variance": "",
        "kernel.parts.0.lengthscale[1]": "temp",
        "kernel.parts.1.kernel.variance": "",
        "kernel.parts.1.kernel.lengthscale": "",  # in turns
        "kernel.parts.1.kernel.period": "temp",
        "noise_var": "",
    }
    followers = {name: one.tied_to for name, one in rows.items() if one.tied_to}
    assert followers == {"kernel.parts.1.kernel.variance": "kernel.parts.0.variance"}
    lines = {line.partition("  ")[0]: line for line in str(found).splitlines()}
    assert {"kernel.parts.0.lengthscale[1] (temp)", "kernel.parts.1.kernel.period (temp)"} < set(
        lines
    )
    assert lines["kernel.parts.1.kernel.variance"].endswith("tied to kernel.parts.0.variance")
