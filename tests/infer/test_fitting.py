"""Evidence maximised: better than its starts, at a stationary point, within its bounds."""

import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_of_draws import Given

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Gaussian,
    Matern32,
    Matern52,
    Periodic,
    ZeroMean,
    condition,
    log_evidence,
    log_evidence_and_gradient,
    stream,
)
from gpnotes.ground.chunks import Rows
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.params import flatten_gradient
from gpnotes.ground.random import Stream
from gpnotes.infer.fitting import fit
from gpnotes.infer.objective import objective_of
from gpnotes.infer.svgp import SVGP, Minibatches
from gpnotes.model.priors import LogNormalPrior, NormalPrior


@pytest.fixture
def data(rng):
    X = rng.uniform(-3, 3, size=(40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=40)


def start():
    return GP(RBF(1.0, np.ones(2)), 0.1)


def test_the_gradient_vanishes_and_the_parameter_is_found(data):
    fitted = fit(start(), *data, bounds={"kernel.lengthscale": (0.05, 50.0)})
    value, bar = log_evidence_and_gradient(fitted.model, *data)
    assert abs(value - fitted.log_evidence) < 1e-9
    assert value > log_evidence(start(), *data) + 5
    free = flatten_gradient(fitted.model, bar)[[0, 1, 3]]  # the idle column is at its bound
    assert abs(free).max() < 1e-2
    assert fitted.model.kernel.lengthscale[1] > 5 * fitted.model.kernel.lengthscale[0]
    assert 0.003 < fitted.model.noise_var < 0.03


def test_restarts_are_sorted_and_reported(data):
    fitted = fit(
        start(), *data, restarts=3, rng=stream(2), bounds={"kernel.lengthscale": (0.05, 50)}
    )
    values = [run.log_evidence for run in fitted.runs]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)
    assert fitted.log_evidence == values[0]
    assert 1 <= fitted.agreeing <= 4
    with pytest.raises(ValueError, match="restarts need an rng"):
        fit(start(), *data, restarts=1)


@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_each_restart_begins_at_a_place_of_its_own(sd):
    """By logarithms around the start, each moved by `restart_sd` times a number of its own."""
    X = np.linspace(0.0, 3.0, 9)[:, None]
    y, z, heard = np.sin(2.0 * X[:, 0]), np.linspace(-1.0, 1.0, 9)[[4, 0, 8, 2, 6, 1, 3, 7, 5]], []
    options = {"restarts": 3, "restart_sd": sd, "max_steps": 1, "on_step": heard.append}
    fit(GP(RBF(0.5, 0.8), 0.1), X, y, rng=Stream(0, (), Given(z)), **options)
    begun = {step.run: step.objective for step in heard if step.evaluation == 1}
    for run in range(4):
        moved = np.exp(sd * z[3 * run - 3 : 3 * run]) if run else np.ones(3)
        v, length, noise = np.asarray([0.5, 0.8, 0.1]) * moved
        there = GP(RBF(float(v), float(length)), float(noise))
        assert begun[run] == pytest.approx(log_evidence(there, X, y), rel=1e-9)


@pytest.mark.filterwarnings("ignore:the start given ended:gpnotes.infer.fit_checks.FitWarning")
def test_restarts_are_drawn_around_the_units_of_data_that_a_start_is_far_from():
    """The first run begins where it was given, the second in these units, the third around them."""
    X = 1e5 * np.linspace(0.0, 3.0, 9)[:, None]
    y, given = np.sin(2e-5 * X[:, 0]), GP(RBF(1.0, 1.0), 0.1)

    def begun(gp, **options):
        heard = []
        fit(gp, X, y, max_steps=1, on_step=heard.append, **options)
        return [step.objective for step in heard if step.evaluation == 1]

    still = Stream(0, (), Given(np.zeros(0)))
    in_units = begun(GP(RBF()))[0]
    runs = begun(given, restarts=1, rng=still)
    assert runs[:3] == pytest.approx([log_evidence(given, X, y), in_units, in_units], rel=1e-9)
    assert runs[0] < in_units - 1.0


def test_what_is_fixed_or_bounded_stays(data):
    fitted = fit(start(), *data, fixed=("noise_var",), bounds={"kernel.lengthscale": (2.0, 3.0)})
    assert fitted.model.noise_var == 0.1
    assert (fitted.model.kernel.lengthscale >= 2.0 - 1e-12).all()
    assert (fitted.model.kernel.lengthscale <= 3.0 + 1e-12).all()
    with pytest.raises(ValueError, match=r"bounds name \['length'\]"):
        fit(start(), *data, bounds={"length": (1.0, 2.0)})


def test_any_space(space, data):
    X, y = (space.asarray(a) for a in data)
    gp = GP(RBF(1.0, space.asarray([1.0, 1.0])), 0.1)
    fitted = fit(gp, X, y, max_steps=5, bounds={"kernel.lengthscale": (0.1, 10.0)})
    assert space.holds(fitted.model.kernel.lengthscale)
    assert fitted.log_evidence > log_evidence(gp, X, y)


# Ordinary data, and data that leave nothing to fit


def noisy_sine(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 1))
    return X, np.sin(3.0 * X[:, 0]) + 0.3 * rng.normal(size=20)


# seeds at which a line search once reached a zero, an infinity, or a matrix without a factor
@pytest.mark.parametrize(
    ("kernel", "seeds"),
    [
        (RBF(), (7, 33)),
        (RBF() + Periodic(), (2, 8, 11)),
        (RBF() * Periodic(), (30, 41)),
    ],
    ids=["rbf", "sum", "product"],
)
def test_ordinary_data_are_fitted_whatever_a_line_search_meets(kernel, seeds):
    for seed in seeds:
        X, y = noisy_sine(seed)
        fitted = fit(GP(kernel, 0.1), X, y, restarts=4, rng=stream(seed), max_steps=60)
        assert len(fitted.runs) == 5
        assert fitted.log_evidence > log_evidence(GP(kernel, 0.1), X, y)
        assert all(np.isfinite(run.log_evidence) for run in fitted.runs)


DEGENERATE = {
    "zero": lambda x: 0.0 * x,
    "constant": lambda x: 0.0 * x + 3.0,
    "one that stands out": lambda x: 1.0 * (x == x[0]),
    "huge": lambda x: 1e15 * np.sin(9.0 * x),
    "tiny": lambda x: 1e-15 * np.sin(9.0 * x),
    "far from zero": lambda x: 1e4 + np.sin(9.0 * x),
}
INPUTS = {
    "a line": np.linspace(0.0, 1.0, 8),
    "one point": np.ones(1),
    "one point, eight times": np.ones(8),
    "pairs": np.repeat(np.linspace(0.0, 1.0, 4), 2),
}


@pytest.mark.filterwarnings("ignore::gpnotes.infer.fitting.FitWarning")
@pytest.mark.parametrize("values", DEGENERATE)
@pytest.mark.parametrize(
    ("places", "dtype"), [*((places, np.float64) for places in INPUTS), ("pairs", np.float32)]
)
def test_data_that_leave_little_to_fit_are_fitted_too(values, places, dtype):
    x = INPUTS[places]
    X, y = x[:, None].astype(dtype), DEGENERATE[values](x).astype(dtype)
    for restarts, gp in enumerate((GP(RBF(), 0.1, ConstantMean(0.0)), GP(Matern32(), 0.1))):
        fitted = fit(gp, X, y, restarts=restarts, rng=stream(0), max_steps=30)
        assert np.isfinite(fitted.log_evidence)
        assert fitted.log_evidence >= log_evidence(gp, X, y) - 1e-6


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e160), (np.float32, 1e30)])
def test_what_has_no_evidence_anywhere_is_an_error_that_names_y(dtype, size):
    X = np.linspace(0.0, 1.0, 8)[:, None].astype(dtype)
    with pytest.raises(ValueError, match=r"^y must have an evidence under model; it has no val"):
        fit(GP(RBF(), 0.1), X, (size * np.sin(9.0 * X[:, 0])).astype(dtype))


def test_a_run_that_cannot_start_has_failed_and_the_others_go_on(data):
    fitted = fit(start(), *data, restarts=3, rng=stream(1), restart_sd=1e5, max_steps=5)
    failed = [run for run in fitted.runs if not np.isfinite(run.log_evidence)]
    assert failed
    assert np.isfinite(fitted.log_evidence)
    for run in failed:
        assert run.model == start()
        assert (run.converged, run.evaluations, run.at_bounds) == (False, 1, ())
        assert run.message.startswith("no value at the start: ")


def test_a_parameter_that_ends_on_its_bound_is_named(data):
    fitted = fit(start(), *data, bounds={"kernel.lengthscale": (2.0, 3.0), "noise_var": (1e-6, 1)})
    assert "kernel.lengthscale[0]" in fitted.runs[0].at_bounds
    assert "noise_var" not in fitted.runs[0].at_bounds
    X = np.linspace(0.0, 1.0, 9)[:, None]
    fitted = fit(GP(RBF(), 0.1, ConstantMean(0.0)), X, np.full(9, 3.0))
    assert "noise_var" in fitted.runs[0].at_bounds


def test_units_of_the_data_do_not_matter():
    """The same fit in other units, of the inputs and of the observations."""
    X, y = noisy_sine(3)
    gp = GP(Matern52(1.0, 0.7), 0.1)
    wanted = fit(gp, X, y)
    scaled = GP(Matern52(1e12, 0.7e-8), 0.1e12)
    fitted = fit(scaled, 1e-8 * X, 1e6 * y)
    assert fitted.log_evidence + 20 * np.log(1e6) == pytest.approx(wanted.log_evidence, abs=1e-4)
    assert fitted.model.kernel.lengthscale == pytest.approx(
        1e-8 * wanted.model.kernel.lengthscale, rel=1e-2
    )


KERNELS = (RBF, Matern32, Matern52, Periodic)
TARGETS = (
    lambda rng, x: rng.standard_normal(x.size),
    lambda rng, x: np.sin(3.0 * x),
    lambda rng, x: np.full(x.size, 3.0),
    lambda rng, x: 1e6 * np.sin(3.0 * x) + 0.1,
    lambda rng, x: 1e-6 * rng.standard_normal(x.size),
)


@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.filterwarnings("ignore::gpnotes.infer.fitting.FitWarning")
def test_no_fit_is_worse_than_its_start_however_awkward_that_is(seed):
    """Scales off by up to eight powers of ten, few readings, some of them twice; and it prints."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 8]))
    x = rng.standard_normal(n)
    if rng.random() < 0.3:
        x = np.repeat(x[: (n + 1) // 2], 2)[:n]
    y = TARGETS[rng.integers(len(TARGETS))](rng, x)
    variance, lengthscale, noise_var, mean = 10.0 ** rng.uniform(-8.0, 8.0, 4)
    kernel = KERNELS[rng.integers(len(KERNELS))](variance, lengthscale)
    kernel = kernel + RBF() if rng.random() < 0.3 else kernel
    gp = GP(kernel, noise_var, ConstantMean(mean) if rng.random() < 0.5 else ZeroMean())
    X = x[:, None]
    value = objective_of(gp, Rows(X, y)).evidence.value_and_gradient(gp, quiet=True)[0]
    fitted = fit(gp, X, y, max_steps=20)
    assert fitted.log_evidence >= value - 1e-6 * max(1.0, abs(value))
    objectives = [run.objective for run in fitted.runs]
    assert objectives == sorted(objectives, reverse=True)
    assert "log evidence" in str(fitted)


def test_inputs_read_twice_without_noise_are_fitted_or_need_it_in_words():
    X = np.repeat(np.linspace(0.0, 1.0, 4), 2)[:, None]
    y = np.sin(9.0 * X[:, 0])
    gp = GP(RBF(), 0.0)
    with pytest.raises(ValueError, match="noise_var is zero and has no logarithm; name it in fix"):
        fit(gp, X, y)
    for readings in (y, y + np.arange(8) % 2):  # the same twice, and two that differ
        fitted = fit(gp, X, readings, fixed=("noise_var",))
        assert np.isfinite(fitted.log_evidence)
        assert fitted.model.noise_var == 0.0


# Bounds


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_bounds_of_a_mean_are_in_its_own_units():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 1)), 5.0 + rng.normal(size=20)
    gp = GP(RBF(), 0.1, ConstantMean(0.3))
    for pair, low, high in (((0.2, 0.4), 0.4, 0.4), ((0.0, 10.0), 3.0, 7.0), ((-9, 9), 3.0, 7.0)):
        value = fit(gp, X, y, bounds={"mean.value": pair}).model.mean.value
        assert low - 1e-9 <= value <= high + 1e-9


# The door


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"restarts": -1}, ValueError, "restarts must be a whole number from 0; got -1"),
        ({"restarts": 1.5}, TypeError, "restarts must be a whole number"),
        ({"restarts": True}, TypeError, "restarts must be a whole number"),
        ({"restart_sd": -1.0}, ValueError, "restart_sd must be non-negative and finite; got -1.0"),
        ({"restart_sd": float("nan")}, ValueError, "restart_sd must be finite; got nan"),
        ({"restart_sd": [1.0]}, TypeError, "restart_sd must be a number; got list"),
        ({"restart_sd": 1 + 1j}, TypeError, "restart_sd must be a number; got complex"),
        ({"max_steps": 0}, ValueError, "max_steps must be a whole number from 1; got 0"),
        ({"max_steps": -1}, ValueError, "max_steps must be a whole number from 1; got -1"),
        ({"max_steps": 2.5}, TypeError, "max_steps must be a whole number from 1; got 2.5"),
        (
            {"max_steps": float("nan")},
            TypeError,
            "max_steps must be a whole number from 1; got nan",
        ),
        (
            {"rng": np.random.RandomState(0)},
            TypeError,
            "rng must be a Stream, a NumPy Generator",
        ),
        ({"fixed": "noise_var"}, TypeError, "fixed must be a collection of names; got"),
        ({"bounds": [1.0]}, TypeError, "bounds must be a mapping from names"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(data, options, error, message):
    with pytest.raises(error, match=message):
        fit(start(), *data, **{"restarts": 1, "rng": stream(0), **options})


def test_data_that_do_not_fit_are_refused_by_name(data):
    X, y = data
    words = "y must be finite; 1 of its entries are not, the first in row 3"
    with pytest.raises(ValueError, match=words):
        fit(start(), X, np.where(np.arange(40) == 3, np.nan, y))
    with pytest.raises(ValueError, match=r"X must have shape \(n, 2\) to match RBF.lengthscale"):
        fit(start(), X[:, :1], y)


# Threads


def test_fits_in_threads_leave_the_filters_of_warnings_alone():
    """The jitter policy's one promise is a warning, also where other threads fit meanwhile."""
    X = np.repeat(np.linspace(0.0, 1.0, 6), 2)[:, None].astype(np.float32)
    y = np.sin(3.0 * X[:, 0])
    gp, interval = GP(RBF(1.0, 2.0), 1e-9), sys.getswitchinterval()
    before = list(warnings.filters)
    threads = [
        threading.Thread(target=fit, args=(gp, X, y), kwargs={"fixed": ["noise_var"]})
        for _ in range(4)
    ]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert warnings.filters == before
    with pytest.warns(JitterWarning):
        condition(gp, X, y)


def test_a_fit_meets_jitter_without_a_word_and_what_it_finds_is_told():
    X = np.repeat(np.linspace(0.0, 1.0, 6), 2)[:, None]
    y = np.sin(3.0 * X[:, 0])
    fitted = fit(GP(RBF(1.0, 2.0), 1e-18), X, y, fixed=["noise_var"], max_steps=3)
    with pytest.warns(JitterWarning, match="added .* to its diagonal"):
        condition(fitted.model, X, y)


PRIORS = {"kernel.lengthscale": LogNormalPrior(0.5, 0.2), "noise_var": LogNormalPrior(-2.0, 0.5)}


def test_priors_draw_the_fit_to_where_both_slopes_cancel(rng):
    X, y, gp = readings(rng)
    found = fit(gp, X, y, priors=PRIORS)
    _, bar = log_evidence_and_gradient(found.model, X, y)
    prior = PRIORS["noise_var"]
    slope = bar.noise_var + prior.gradient(found.model.noise_var)
    assert abs(slope * found.model.noise_var) < 1e-3
    lengths = found.model.kernel.lengthscale
    slope = bar.kernel.lengthscale + PRIORS["kernel.lengthscale"].gradient(lengths)
    assert abs(slope * lengths) < 1e-3


def test_a_fit_with_priors_reports_both_parts(rng):
    X, y, gp = readings(rng)
    found = fit(gp, X, y, priors=PRIORS)
    (run,) = found.runs
    np.testing.assert_allclose(run.log_evidence, log_evidence(found.model, X, y), rtol=1e-9)
    parts = (
        PRIORS["noise_var"].log_density(found.model.noise_var),
        PRIORS["kernel.lengthscale"].log_density(found.model.kernel.lengthscale),
    )
    np.testing.assert_allclose(run.log_prior, sum(parts), rtol=1e-9)
    assert run.objective == run.log_evidence + run.log_prior
    plain = fit(gp, X, y)
    assert found.log_evidence < plain.log_evidence
    assert plain.runs[0].log_prior == 0.0


def test_a_sure_prior_decides_alone(rng):
    X, y, gp = readings(rng)
    found = fit(gp, X, y, priors={"kernel.lengthscale": NormalPrior(1.7, 1e-4)})
    np.testing.assert_allclose(found.model.kernel.lengthscale, 1.7, atol=1e-3)


@pytest.mark.parametrize(
    ("priors", "error", "match"),
    [
        ([1.0], TypeError, "priors must be a mapping from names to priors; got list"),
        ({"nobody": NormalPrior()}, ValueError, r"priors name \['nobody'\]"),
        ({"noise_var": 3.0}, TypeError, r"priors\['noise_var'\]"),
    ],
)
def test_priors_that_are_none_are_refused(rng, priors, error, match):
    X, y, gp = readings(rng)
    with pytest.raises(error, match=match):
        fit(gp, X, y, priors=priors)


def readings(rng):
    X = 4.0 * rng.random((25, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(25), GP(RBF(), 0.1)


def sines(rng, n=60):
    X = 6.0 * rng.random((n, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def test_a_callback_hears_of_each_run_and_may_end_the_fit(rng):
    X, y = sines(rng, 20)
    heard = []
    options = {"restarts": 3, "rng": stream(0), "max_steps": 5}
    found = fit(GP(RBF(), 0.1), X, y, callback=heard.append, **options)
    assert sorted(heard, key=lambda run: -run.objective) == list(found.runs)
    assert len(heard) == 4
    options["rng"] = stream(0)
    ended = fit(GP(RBF(), 0.1), X, y, callback=lambda run: run.evaluations > 0, **options)
    assert ended.runs == (heard[0],)
    with pytest.raises(TypeError, match=r"callback\(run\) must be True or False; got 1"):
        fit(GP(RBF(), 0.1), X, y, callback=lambda run: 1)


def test_a_bar_without_its_package_is_an_error_that_names_it(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X, y = sines(rng, 5)
    with pytest.raises(ImportError, match="progress=True needs the package tqdm"):
        fit(GP(RBF(), 0.1), X, y, progress=True)


def test_a_bar_counts_evaluations_and_a_callback_hears_beside_it(capsys):
    pytest.importorskip("tqdm", reason="the extra `progress` brings it")
    X = np.linspace(0.0, 3.0, 12)[:, None]
    heard = []
    options = {"progress": True, "restarts": 2, "rng": 1, "max_steps": 3}
    found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]), callback=heard.append, **options)
    assert len(heard) == len(found.runs) == 3
    evaluations = sum(run.evaluations for run in found.runs)
    assert f"{evaluations}" in capsys.readouterr().err.split("\r")[-1]


def test_a_fit_in_batches_is_of_models_that_have_them(rng):
    X, y = sines(rng)
    with pytest.raises(
        ValueError, match="minibatches must be None: a fit of a GP asks for all rows"
    ):
        fit(GP(RBF(), 0.1), X, y, minibatches=Minibatches(10))
    with pytest.raises((TypeError, ValueError), match=r"restarts must .*with minibatches"):
        fit(
            SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[:5]),
            X,
            y,
            minibatches=Minibatches(10),
            restarts=1,
        )
