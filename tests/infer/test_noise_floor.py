"""Noise that a model leaves open has a floor, and readings that are more precise lead below it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gpnotes import (
    GP,
    RBF,
    Chunks,
    ConstantMean,
    FeatureGP,
    FitWarning,
    Matern12,
    Matern52,
    SparseGP,
    StateSpaceGP,
    condition,
    fit,
    stream,
)
from gpnotes.estimators import GPRegressor
from gpnotes.ground.ascent import Ascent
from gpnotes.ground.chunks import Rows
from gpnotes.ground.interrupts import INTERRUPTED
from gpnotes.ground.params import names
from gpnotes.infer import fitting, noise_floor
from gpnotes.infer.features import draw_frequencies
from gpnotes.infer.fit_checks import left_out, may_be_precise, without_copies
from gpnotes.infer.noise_floor import FLOOR
from gpnotes.infer.open_start import started_objective
from gpnotes.infer.progress import ENOUGH

OPEN = GP(RBF(), mean=ConstantMean())
AFRESH = 1000


def branin(X):
    a, b = 15.0 * X[:, 0] - 5.0, 15.0 * X[:, 1]
    valley = b - 5.1 / (4.0 * math.pi**2) * a**2 + 5.0 / math.pi * a - 6.0
    return valley**2 + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * np.cos(a) + 10.0


def wave(X):
    return 50.0 * np.sin(X[:, 0]) + 10.0 * X[:, 0]


def bumps(X):
    return np.sin(5.0 * X[:, 0]) + np.cos(3.0 * X).sum(axis=1)


def read(f, shape, scale=1.0, noise=0.0, seed=1):
    """Readings, and fresh ones."""
    draw = stream(seed)
    n, d = shape
    X = scale * np.asarray(draw.uniform((n + AFRESH, d)))
    y = f(X) + noise * np.asarray(draw.normal(n + AFRESH))
    return X[:n], y[:n], X[n:], y[n:]


def told(posterior, Xs, ys):
    """The root mean square error, the deviation stated, and the mean log density."""
    mean, variance = posterior.predict(Xs, noise=True)
    error = ys - mean
    density = -0.5 * np.mean(error**2 / variance + np.log(2.0 * math.pi * variance))
    return np.sqrt(np.mean(error**2)), np.sqrt(np.mean(variance)), density


def on_floor(X, y):
    return fit(OPEN, X, y, bounds={"noise_var": (FLOOR * np.var(y), 1e10 * np.var(y))})


@pytest.mark.parametrize(("n", "share"), [(60, 0.15), (200, 0.02)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_simulator_has_no_noise(n, share, seed):
    X, y, Xs, ys = read(branin, (n, 2), seed=seed)
    found = fit(OPEN, X, y)
    here, sd, density = told(found.posterior, Xs, ys)
    there, wide, lower = told(on_floor(X, y).posterior, Xs, ys)
    assert found.runs[0].converged
    assert here < share * there
    assert 0.1 * here < sd < 0.1 * wide
    assert density > lower + 3.0


def test_a_good_instrument_has_the_noise_that_it_has():
    X, y, Xs, ys = read(wave, (60, 1), 10.0, 0.01)
    found = fit(OPEN, X, y)
    assert math.sqrt(found.model.noise_var) == pytest.approx(0.01, rel=0.3)
    assert found.runs[0].at_bounds == ()
    error, sd, density = told(found.posterior, Xs, ys)
    assert error < 0.015
    assert sd == pytest.approx(0.01, rel=0.3)
    held = fit(GP(RBF(), 1e-4, ConstantMean()), X, y, fixed=["noise_var"])
    assert density > told(held.posterior, Xs, ys)[2] - 0.1
    assert "floor" not in str(found)


# Where rounding ends the way down, the deviation is right to a factor, and the fit says so.
@pytest.mark.filterwarnings("ignore:the noise stands on its floor")
def test_whole_numbers_squared():
    X = np.arange(20)[:, None]
    found = fit(OPEN, X, X[:, 0] ** 2)
    mean, variance = found.posterior.predict([[3.5]], noise=True)
    assert mean[0] == pytest.approx(12.25, abs=1e-3)
    assert variance[0] ** 0.5 < 0.01


MODELS = {
    "inducing points": lambda X: SparseGP(OPEN, X[::4].copy()),
    "on a line": lambda X: StateSpaceGP(GP(Matern52(), mean=ConstantMean())),
    "through features": lambda X: FeatureGP(GP(RBF()), draw_frequencies(RBF(), X, 60, rng=1)),
}


@pytest.mark.filterwarnings("ignore:K_uu of")
@pytest.mark.parametrize("name", MODELS)
def test_other_models_too(name):
    X, y, Xs, ys = read(wave, (120, 1), 10.0, 0.01)
    found = fit(MODELS[name](X), X, y)
    assert math.sqrt(found.model.gp.noise_var) == pytest.approx(0.01, rel=0.3)
    error, sd, _ = told(found.posterior, Xs, ys)
    assert error < 0.02
    assert sd < 0.02


def test_noise_that_is_known_beside_is_counted():
    X, y, *_ = read(wave, (60, 1), 10.0, 0.01)
    found = fit(OPEN, X, y, noise_var=np.full(60, 1e-4))
    assert found.model.noise_var < 1e-3
    line = StateSpaceGP(GP(Matern52(), mean=ConstantMean()))
    assert fit(line, X, y, noise_var=np.full(60, 1e-4)).model.gp.noise_var < 1e-3


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(("n", "d", "seed"), [(20, 1, 1), (20, 3, 2), (40, 4, 3), (60, 2, 4)])
def test_readings_with_noise_are_fitted_as_ever(n, d, seed, noise):
    X, y, *_ = read(bumps, (n, d), noise=noise, seed=seed)
    here, there = fit(OPEN, X, y), on_floor(X, y)
    assert here.log_evidence == pytest.approx(there.log_evidence, abs=1e-9)
    assert here.model.noise_var == pytest.approx(there.model.noise_var, rel=1e-9)


@pytest.mark.parametrize(("seed", "n"), [(9, 23), (245, 19), (331, 21), (411, 17), (859, 21)])
def test_errors_that_chance_made_small_do_not_lead_below(seed, n):
    """Of a thousand tables with noise like these eleven would go, were errors not looked at."""
    X, y, *_ = read(bumps, (n, 4), noise=0.2, seed=seed)
    found = fit(OPEN, X, y)
    assert found.model.noise_var == pytest.approx(FLOOR * np.var(y))
    assert found.remarks == ()


ROCK = """
4990 2791.9 .0903296, 7002 3892.6 .148622, 7558 3930.66 .183312, 7352 3869.32 .117063,
7943 3948.54 .122417, 7979 4010.15 .167045, 9333 4345.75 .189651, 8209 4344.75 .164127,
8393 3682.04 .203654, 6425 3098.65 .162394, 9364 4480.05 .150944, 8624 3986.24 .148141,
10651 4036.54 .228595, 8868 3518.04 .231623, 9417 3999.37 .172567, 8874 3629.07 .153481,
10962 4608.66 .204314, 10743 4787.62 .262727, 11878 4864.22 .200071, 9867 4479.41 .14481,
7838 3428.74 .113852, 11876 4353.14 .291029, 12212 4697.65 .240077, 8233 3518.44 .161865,
6360 1977.39 .280887, 4193 1379.35 .179455, 7416 1916.24 .191802, 5246 1585.42 .133083,
6509 1851.21 .225214, 4895 1239.66 .341273, 6775 1728.14 .311646, 7894 1461.06 .276016,
5980 1426.76 .197653, 5318 990.388 .326635, 7392 1350.76 .154192, 7894 1461.06 .276016,
3469 1376.7 .176969, 1468 476.322 .438712, 3524 1189.46 .163586, 5267 1644.96 .253832,
5048 941.543 .328641, 1016 308.642 .230081, 5605 1145.69 .464125, 8793 2280.49 .420477,
3475 1174.11 .200744, 1651 597.808 .262651, 5514 1455.88 .182453, 9718 1485.58 .200447
"""  # R's table rock: four sections of each of twelve cores, whose permeabilities are
PERMEABILITIES = (6.3, 17.1, 119.0, 82.4, 58.6, 142.0, 740.0, 890.0, 950.0, 100.0, 1300.0, 580.0)


def test_noise_that_chance_hides_is_not_given_up():
    """Few readings lie on a smooth function by chance; the evidence is then highest at no noise."""
    X = np.asarray([row.split() for row in ROCK.split(",")], dtype=float)
    y = np.log(np.repeat(PERMEABILITIES, 4))
    stood = 0
    for seed in range(60):
        order = np.asarray(stream(seed).permutation(48))[: 10 + seed % 10]
        found = fit(OPEN, X[order], y[order])
        assert found.model.noise_var >= FLOOR * np.var(y[order]) * (1.0 - 1e-9)
        stood += "noise_var" in found.runs[0].at_bounds
    assert stood


def test_what_has_no_rows_at_hand_is_told_to_give_bounds():
    X, y, *_ = read(wave, (120, 1), 10.0)
    model = SparseGP(OPEN, X[::4].copy())
    chunks = Chunks([(X[:60], y[:60]), (X[60:], y[60:])])
    said = r"its floor, 0.0001 of .*: give bounds=\{'gp.noise_var': \(low, high\)\}"
    with pytest.warns(FitWarning, match=said):
        found = fit(model, chunks, max_steps=40, fixed=["inducing"])
    assert "The noise stands on its floor" in " ".join(str(found).split())
    assert found.runs[0].at_bounds[0] == "gp.noise_var"
    bounds = {"gp.noise_var": (1e-9, 1e4)}
    fit(model, chunks, max_steps=10, fixed=["inducing"], bounds=bounds)  # warnings are errors


def test_what_rounding_keeps_on_its_floor_is_told():
    X = np.arange(20, dtype=np.float32)[:, None]
    y = X[:, 0] ** 2
    with pytest.warns(FitWarning, match="on its floor, .*: give X and y in float64, or bounds="):
        found = fit(OPEN, X, y)
    with may_be_precise():
        assert fit(OPEN, X, y).remarks == found.remarks != ()


def plane(X):
    return 3.0 * X[:, 0] - 2.0 * X[:, 1]


def product(X):
    return X[:, 0] * X[:, 1]


@pytest.mark.parametrize("f", [plane, product])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_plane_with_little_noise_is_as_good_as_with_the_noise_given(f, seed):
    """On a high floor lengths and variance grow until rounding leaves no way below it."""
    noise = 1e-4 * np.std(f(10.0 * np.asarray(stream(0).uniform((1000, 2)))))
    X, y, Xs, ys = read(f, (100, 2), 10.0, noise, seed)
    found = fit(OPEN, X, y)
    assert found.runs[0].at_bounds == found.remarks == ()
    assert 0.5 * noise < told(found.posterior, Xs, ys)[1] < 2.0 * noise
    given = fit(GP(RBF(), noise**2, ConstantMean()), X, y, fixed=["noise_var"])
    assert told(found.posterior, Xs, ys)[2] > told(given.posterior, Xs, ys)[2] - 0.1


def sines(X):
    """Ishigami & Homma (1990), half a turn to either side."""
    a, b, c = math.pi * (X.T - 0.5)
    return np.sin(a) + 7.0 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)


@pytest.mark.parametrize(("seed", "noise"), [(1, 1e-3), (3, 1e-3), (5, 1e-3), (1, 0.03), (4, 0.03)])
def test_an_input_is_not_taken_for_noise(seed, noise):
    """The first run of all these gives the third input to the noise, or nearly so."""
    X, y, Xs, ys = read(sines, (100, 3), noise=noise, seed=seed)
    found = fit(OPEN, X, y)
    held = fit(GP(RBF(), noise**2, ConstantMean()), X, y, fixed=["noise_var"])
    assert len(found.runs) == 2
    assert told(found.posterior, Xs, ys)[2] > told(held.posterior, Xs, ys)[2] - 0.1


@pytest.mark.parametrize(("message", "good"), [("ABNORMAL: ", True), ("STOP: 200 STEPS", False)])
def test_a_run_from_below_that_rounding_ended_is_as_good_as_converged(monkeypatch, message, good):
    X, y, *_ = read(sines, (100, 3), noise=1e-3, seed=1)
    climbed_on = noise_floor._climbed_on

    def ended(*args):
        return climbed_on(*args)._replace(converged=False, message=message)

    monkeypatch.setattr(noise_floor, "_climbed_on", ended)
    found = fit(OPEN, X, y)
    assert [run.message.startswith(message) for run in found.runs] == [True, False]
    assert [run.converged for run in found.runs] == [good, True]


def test_an_input_without_a_part_in_f_costs_one_run_that_does_not_count():
    X, y, *_ = read(lambda X: np.sin(5.0 * X[:, 0]), (60, 2), noise=0.03)
    heard = []
    assert len(fit(OPEN, X, y, on_step=heard.append).runs) == 1
    assert {step.run for step in heard} == {0, 1}


def test_what_rounding_keeps_on_a_lower_floor_is_told(monkeypatch):
    """A plane makes a variance without end, whose digits leave none for the noise.

    How far a run from the start comes depends on the processor; here it is not taken.
    """
    monkeypatch.setattr(noise_floor, "_COARSE", 0.0)
    X, y, Xs, ys = read(plane, (40, 2), 10.0, 1e-4, seed=5)
    said = r"its floor, 1e-\d+ of .*, beyond which the evidence rises: give bounds="
    with pytest.warns(FitWarning, match=said):
        found = fit(OPEN, X, y)
    assert found.model.noise_var < 0.1 * FLOOR * np.var(y)
    assert "The noise stands on its floor" in " ".join(str(found).split())
    error, sd, _ = told(found.posterior, Xs, ys)
    assert sd > 8.0 * error
    near = fit(OPEN, X, y, bounds={"noise_var": (1e-9, 1e-7)})  # as the warning says
    assert told(near.posterior, Xs, ys)[1] < 4.0 * 1e-4


def test_bounds_that_were_given_are_not_left():
    X, y, *_ = read(wave, (60, 1), 10.0, 0.01)
    found = on_floor(X, y)
    assert found.model.noise_var == pytest.approx(FLOOR * np.var(y))
    assert found.runs[0].at_bounds == ("noise_var",)


def test_every_run_goes_on_by_itself_and_is_heard_of():
    X, y, *_ = read(wave, (60, 1), 10.0, 0.01)
    heard = []
    found = fit(OPEN, X, y, restarts=2, restart_sd=0.3, rng=1, on_step=heard.append)
    assert found.agreeing == 3
    for number, run in enumerate(sorted(found.runs, key=lambda run: run.evaluations)):
        assert run.at_bounds == ()
        steps = [step for step in heard if step.run == number]
        assert [step.evaluation for step in steps] == list(range(1, len(steps) + 1))
        assert max(step.objective for step in steps) == steps[-1].best
    counted = [step for step in heard if step.run < 3]  # the last began with little noise, in vain
    assert sum(run.evaluations for run in found.runs) == pytest.approx(len(counted), abs=12)
    assert len(counted) < len(heard)
    row = names(found.objective.model).index("noise_var")
    low = found.objective.limits[row, 0]
    assert math.exp(low) < found.model.noise_var


def test_who_has_heard_enough_below_the_floor_keeps_what_was_found_above():
    X, y, *_ = read(wave, (60, 1), 10.0, 0.01)
    floor = on_floor(X, y)
    ends = floor.runs[0].evaluations + 3
    found = fit(OPEN, X, y, on_step=lambda step: step.evaluation > ends)
    assert found.runs[0].message == "on_step ended it"
    assert found.model.noise_var == pytest.approx(FLOOR * np.var(y))
    assert found.runs[0].at_bounds == ("noise_var",)


@pytest.mark.parametrize(("value", "message"), [
    (0.0, INTERRUPTED), (0.0, ENOUGH), (-math.inf, "no value"),
])  # fmt: skip
def test_no_run_goes_on_below_a_floor_that_was_cut_or_has_no_value(value, message):
    """What the caller has ended is not taken up again, though the objective rises below."""
    X = np.linspace(0.0, 1.0, 12)[:, None]
    rows = Rows(X, np.sin(5.0 * X[:, 0]))
    objective = started_objective(GP(RBF()), rows)
    vector = objective.vector(objective.model)
    vector[noise_floor.noise_row(objective)] = math.log(FLOOR * np.var(rows.y))
    ended = Ascent(vector, 0.0, 9, True, "a top")
    assert noise_floor._left_out_on_floor(objective, rows, ended) is not None
    cut = ended._replace(value=value, message=message)
    assert noise_floor._left_out_on_floor(objective, rows, cut) is None


def test_a_floor_is_that_of_what_the_noise_is_tied_to():
    X, y, *_ = read(wave, (60, 1), 10.0, 0.01)
    model, rows = GP(RBF() + 1.0 * RBF(), mean=ConstantMean()), Rows(X, y)
    made = started_objective(model, rows, tied=[("kernel.parts.1.scale", "noise_var")])
    assert made.floor == "kernel.parts.1.scale"
    row = names(made.model, fixed=made.fixed).index(made.floor)
    assert math.exp(made.limits[row, 0]) == pytest.approx(FLOOR * np.var(y))
    assert started_objective(model, rows, bounds={"noise_var": (1e-9, 1.0)}).floor == ""
    assert started_objective(GP(RBF(), 1.0), rows).floor == ""
    assert started_objective(GP(RBF(), 0.0), rows, fixed=["noise_var"]).floor == ""


def test_moments_leave_out_what_leave_one_out_leaves_out():
    """Of an exact process in another's clothes both ways agree."""
    X, y, *_ = read(wave, (40, 1), 10.0, 0.5)
    gp = GP(Matern52(2000.0, 3.0), 0.25, ConstantMean(50.0))
    one = condition(gp, X, y).leave_one_out()
    z = (y - one.mean) / np.sqrt(one.variance)
    rows = Rows(X, y)
    for model in (gp, StateSpaceGP(gp)):
        found = left_out(started_objective(model, rows).evidence, model, rows)
        assert found.size == pytest.approx(np.sqrt(np.mean(z**2)), rel=1e-6)
        assert found.density == pytest.approx(np.mean(one.log_density), rel=1e-6)
        assert found.rounding < 1e-6


def test_chunks_and_two_rows_have_nothing_to_leave_out():
    X, y, *_ = read(wave, (40, 1), 10.0, 0.5)
    evidence = started_objective(GP(RBF(), 1.0), Rows(X[:2], y[:2])).evidence
    assert left_out(evidence, GP(RBF(), 1.0), Rows(X[:2], y[:2])) is None
    assert left_out(evidence, GP(RBF(), 1.0), Chunks([(X, y)])) is None


def growth(X):
    """Park (1991), the second."""
    a, b, c, d = X.T
    return 2.0 / 3.0 * np.exp(a + b) - d * np.sin(c) + c


def slope_of_waves(X):
    """Lim, Sacks, Studden & Welch (2002)."""
    a, b = X.T
    return ((30.0 + 5.0 * a * np.sin(5.0 * a)) * (4.0 + np.exp(-5.0 * b)) - 100.0) / 6.0


def share_of(f, shape, share, seed):
    """Readings with noise of a share of the deviation of f, fresh ones, and its variance."""
    draw = stream(seed)
    X = np.asarray(draw.uniform((shape[0] + AFRESH, shape[1])))
    noise = share * np.std(f(X))
    y = f(X) + noise * np.asarray(draw.normal(len(X)))
    n = shape[0]
    return X[:n], y[:n], X[n:], y[n:], noise**2


def test_a_little_higher_counts_where_readings_left_out_are_far_likelier():
    """The first run ends with 1e-6 of the variance of y as noise, where there is 1e-12."""
    X, y, Xs, ys, noise_var = share_of(growth, (60, 4), 1e-6, 10)
    found = fit(OPEN, X, y)
    assert len(found.runs) == 2
    first = next(run for run in found.runs if run is not found.runs[0])
    assert 0.1 < found.runs[0].objective - first.objective < 12.0
    held = fit(GP(RBF(), noise_var, ConstantMean()), X, y, fixed=["noise_var"])
    assert told(found.posterior, Xs, ys)[2] > told(held.posterior, Xs, ys)[2] - 0.1
    assert told(found.posterior, Xs, ys)[2] > told(condition(first.model, X, y), Xs, ys)[2] + 0.1


def test_a_lower_top_that_readings_would_rather_have_is_told():
    X, y, Xs, ys, _ = share_of(sines, (40, 3), 1e-4, 1)
    with pytest.warns(FitWarning, match=r"another top with less noise: .*bounds=\{'noise_var'"):
        found = fit(OPEN, X, y)
    best, other = found.runs
    assert best.objective > other.objective
    assert other.model.noise_var < 1e-4 * best.model.noise_var
    assert "Readings can mean another top" in " ".join(str(found).split())
    with pytest.warns(ConvergenceWarning, match="another top with less noise"):
        GPRegressor().fit(X, y)
    likelier = told(condition(other.model, X, y), Xs, ys)[2] - told(found.posterior, Xs, ys)[2]
    assert likelier > 0.1
    near = fit(OPEN, X, y, bounds={"noise_var": (1e-9 * np.var(y), 1e-6 * np.var(y))})
    assert near.log_evidence == pytest.approx(other.log_evidence, abs=0.1)  # as the warning says


def test_a_floor_is_left_as_long_as_rounding_allows(monkeypatch):
    """A noise of 1e-12 of the variance of y, under a kernel whose variance is a thousand times y's.

    Every processor rounds differently, so a rounding of five percent is put in the place of its
    own: too much for a step down from a floor, and little enough for a run from the start.
    """
    X, y, *_ = share_of(slope_of_waves, (90, 2), 1e-6, 1)
    objective, rows = started_objective(OPEN, Rows(X, y)), Rows(X, y)
    begin, row = objective.vector(objective.model), noise_floor.noise_row(objective)

    def rounded(*model_and_data):
        found = left_out(*model_and_data)
        return found and found._replace(rounding=0.05)

    def share(coarse):
        monkeypatch.setattr(noise_floor, "_COARSE", coarse)
        end = noise_floor.climb(objective, rows, (0, begin), 60)
        return math.exp(end.vector[row]) / np.var(y)

    monkeypatch.setattr(noise_floor, "left_out", rounded)
    assert share(0.1) < 0.5e-10
    assert share(0.04) == pytest.approx(FLOOR)


def test_a_run_that_rounding_ended_says_so_in_its_report(monkeypatch):
    X, y, *_ = share_of(slope_of_waves, (30, 2), 1e-3, 1)
    rows = Rows(X, y)
    objective = started_objective(OPEN, rows)
    lengths = np.full(2, 0.5)
    tiny = GP(RBF(1e3, lengths), 1e-11, ConstantMean(20.0))
    assert noise_floor.stopped_by_rounding(objective, rows, tiny) > 0.02
    assert noise_floor.stopped_by_rounding(objective, rows, replace(tiny, noise_var=1e-2)) == 0.0
    at_top = fit(OPEN, X, y)
    assert noise_floor.stopped_by_rounding(objective, rows, at_top.model) == 0.0
    closed = started_objective(tiny, rows)
    assert noise_floor.stopped_by_rounding(closed, rows, tiny) == 0.0
    monkeypatch.setattr(fitting, "stopped_by_rounding", lambda *_: 0.05)
    page = " ".join(str(fit(OPEN, X, y)).split())
    assert "Rounding moves variances by 5 percent of the noise" in page
    assert "fixed=['noise_var']" in page


@pytest.mark.parametrize("model", [OPEN, StateSpaceGP(GP(Matern12(), mean=ConstantMean()))])
def test_copies_of_rows_do_not_lead_below_the_floor(model):
    """A table that stands twice tells each reading by its copy, without an error."""
    X, y, *_ = read(wave, (25, 1), 10.0, 5.0)
    twice = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    with pytest.warns(FitWarning, match=r"copies of others, in X and y, 25 of 50: leave them out"):
        found = fit(model, *twice)
    assert getattr(found.model, "gp", found.model).noise_var == pytest.approx(FLOOR * np.var(y))
    rows = Rows(*twice)
    evidence = started_objective(found.model, rows).evidence
    once = left_out(evidence, found.model, rows)
    alone = started_objective(found.model, Rows(X, y)).evidence
    assert once == left_out(alone, found.model, Rows(X, y))
    assert once.readings == 25
    assert not once.is_far_within


def test_a_simulator_that_was_asked_twice_has_no_noise_either():
    X, y, *_ = read(wave, (14, 1), 10.0)
    found = fit(OPEN, np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert found.model.noise_var < 1e-3 * FLOOR * np.var(y)
    known = Rows(X.repeat(2, 0), y.repeat(2), noise_var=np.tile([1.0, 2.0], 14))
    assert without_copies(known) is known
