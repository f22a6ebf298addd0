"""One objective for every model: its vector, its slope, its fit, its posterior, its page."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    LogNormalPrior,
    Poisson,
    StudentT,
    condition,
    fit,
    stream,
)
from gpnotes.ground.chunks import ChunkError, Chunks, Rows
from gpnotes.ground.params import flatten, names
from gpnotes.infer import features, laplace, sparse, svgp
from gpnotes.infer.fitting import Fit, Run
from gpnotes.infer.objective import objective_of
from gpnotes.model.bounds import spread

N = 40
X = np.linspace(0.0, 6.0, N)[:, None]
NOISE = 0.2 * np.random.default_rng(1).standard_normal(N)
Y = 3.0 + np.sin(2.0 * X[:, 0]) + NOISE
LABELS = np.where(np.sin(2.0 * X[:, 0]) + NOISE > 0.0, 1.0, -1.0)
Z = X[2::6]


def process(unit=1.0, noise=0.1):
    return GP(RBF(unit**2, 1.0), noise * unit**2, ConstantMean(2.5 * unit))


def by_features(unit=1.0):
    return features.FeatureGP(
        process(unit), features.draw_frequencies(RBF(), X, 30, kind="paired", rng=stream(1))
    )


MODELS = {
    "exact": (process, Y),
    "sparse": (lambda unit=1.0: sparse.SparseGP(process(unit), Z), Y),
    "features": (by_features, Y),
    "variational": (
        lambda unit=1.0: svgp.SVGP(process(unit, 0.0), Gaussian(0.1 * unit**2), Z),
        Y,
    ),
    "heavy tails": (
        lambda unit=1.0: svgp.SVGP(process(unit, 0.0), StudentT(0.3 * unit, 4.0), Z),
        Y,
    ),
}
ALL = MODELS | {
    "labels": (lambda: svgp.SVGP(process(1.0, 0.0), Bernoulli(), Z), LABELS),
    "laplace": (lambda: laplace.LaplaceGP(process(1.0, 0.0)), LABELS),
    "ep": (lambda: laplace.EPGP(process(1.0, 0.0)), LABELS),
}
STANDS_FOR = {
    "sparse": "by 7 inducing variables, 'vfe': a lower bound",
    "features": "by 30 random features: an approximation",
}
DEAR = ("labels", "ep", "heavy tails")  # to draw a page of
CONDITIONED = {
    "exact": lambda model: condition(model, X, Y),
    "sparse": lambda model: condition(sparse.SparseGP(model.gp, model.inducing), X, Y),
    "features": lambda model: condition(features.FeatureGP(model.gp, model.frequencies), X, Y),
    "variational": lambda model: condition(model, X, Y),
    "heavy tails": lambda model: condition(model, X, Y),
    "labels": lambda model: condition(model, X, LABELS),
    "laplace": lambda model: condition(laplace.LaplaceGP(model.gp), X, LABELS),
    "ep": lambda model: condition(laplace.EPGP(model.gp), X, LABELS),
}


@cache
def found(name):
    """The fit of a few steps that several look at."""
    return fitted(name)


def fitted(name, **options):
    make, y = ALL[name]
    return fit(make(), X, y, **{"max_steps": 8, **options})


@pytest.mark.parametrize("name", ALL)
def test_the_slope_is_that_of_the_value(name):
    make, y = ALL[name]
    priors = {"mean.value" if name == "exact" else "gp.mean.value": LogNormalPrior(1.0, 0.5)}
    objective = objective_of(make(), Rows(X, y), priors=priors)
    vector = objective.vector(objective.model)
    assert vector.size == len(objective.units) >= 3
    slope = objective(vector)[1]
    steps = 1e-5 * np.eye(vector.size)
    wanted = [(objective(vector + h)[0] - objective(vector - h)[0]) / 2e-5 for h in steps]
    np.testing.assert_allclose(slope, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ALL)
def test_a_vector_is_a_model_and_back(name):
    make, y = ALL[name]
    objective = objective_of(make(), Rows(X, y))
    vector = objective.vector(objective.model) + 0.01
    np.testing.assert_allclose(objective.vector(objective.at(vector)), vector, rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_the_posterior_is_there_after_the_fit_and_made_once(name):
    one = found(name)
    assert one.posterior is one.posterior
    wanted = CONDITIONED[name](one.model)
    for ours, theirs in zip(one.posterior.predict(X), wanted.predict(X), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_every_fit_has_its_page_and_can_be_pickled(name):
    one = found(name)
    page = str(one)
    assert page.startswith(f"Fit of {N} readings\nlog evidence {one.log_evidence:.1f}\n")
    assert STANDS_FOR.get(name, "") in page.split("\n\n")[0]
    assert page.split("\n\n")[0].count("\n") == (2 if name in STANDS_FOR else 1)
    assert "kernel.lengthscale" in page
    assert "1 run:" in page
    again = pickle.loads(pickle.dumps(one))
    if name in DEAR:  # the page once more would only say once more that it holds what it held
        vector = one.objective.vector(one.model)
        assert again.objective(vector)[0] == one.objective(vector)[0] == one.log_evidence
    else:
        assert str(again) == page


@pytest.mark.parametrize("name", ALL)
def test_every_fit_has_restarts_bounds_and_a_callback(name):
    lengthscale = "kernel.lengthscale" if name == "exact" else "gp.kernel.lengthscale"
    heard = []
    options = {"restarts": 2, "rng": stream(1), "restart_sd": 0.3, "callback": heard.append}
    one = fitted(name, bounds={lengthscale: (0.9, 0.95)}, **options)
    assert len(one.runs) == len(heard) == 3
    assert one.log_evidence == max(run.log_evidence for run in heard)
    gp = one.model if name == "exact" else one.model.gp
    assert 0.9 <= gp.kernel.lengthscale <= 0.95 + 1e-12
    start = objective_of(ALL[name][0](), Rows(X, ALL[name][1]))
    assert all(run.log_evidence > start(start.vector(start.model))[0] - 1e-6 for run in heard[:1])


# Units


@pytest.mark.parametrize("unit", [1e3, 1e-6])
@pytest.mark.parametrize("name", MODELS)
def test_the_unit_of_y_does_not_matter_with_a_constant_mean(name, unit):
    """It did: at 1e-6 the slope by the mean drowned all others, at 1e3 the mean never moved."""
    make, y = MODELS[name]
    here = fit(make(), X, y)
    there = fit(make(unit), X, unit * y)
    evidence = there.log_evidence + N * np.log(unit)
    assert evidence == pytest.approx(here.log_evidence, abs=0.02)
    gps = [one.model if name == "exact" else one.model.gp for one in (here, there)]
    assert gps[1].mean.value / unit == pytest.approx(gps[0].mean.value, abs=0.02)
    assert abs(gps[0].mean.value - 2.5) > 0.05, "it has moved"


def test_restarts_move_a_mean_in_units_of_y_too():
    options = {"restarts": 3, "restart_sd": 0.5, "max_steps": 4}
    here = fit(process(), X, Y, rng=stream(3), **options)
    there = fit(process(1e3), X, 1e3 * Y, rng=stream(3), **options)
    wanted = [run.log_evidence for run in here.runs]
    given = [run.log_evidence + N * np.log(1e3) for run in there.runs]
    np.testing.assert_allclose(given, wanted, atol=1e-3)


def test_the_mean_of_a_latent_f_has_not_the_unit_of_y():
    counts = np.round(np.exp(Y))
    rates = objective_of(laplace.LaplaceGP(process(1.0, 0.0), Poisson()), Rows(X, counts))
    np.testing.assert_array_equal(rates.units, 1.0)
    heavy = objective_of(MODELS["heavy tails"][0](), Rows(X, Y))
    assert np.std(Y) in heavy.units
    np.testing.assert_array_equal(heavy.units[-len(Z) :], np.std(X))


# Chunks


@pytest.mark.parametrize("name", ["sparse", "features"])
def test_chunks_are_fitted_like_the_rows_that_they_are(name):
    make, y = MODELS[name]
    parts = [(X[rows], y[rows]) for rows in (slice(0, 7), slice(7, 30), slice(30, N))]
    whole = fit(make(), X, y, max_steps=10)
    one = fit(make(), Chunks(parts), max_steps=10)
    assert one.log_evidence == pytest.approx(whole.log_evidence, abs=1e-5)
    np.testing.assert_allclose(one.posterior.mean(X), whole.posterior.mean(X), rtol=1e-4)
    assert str(one).startswith(f"Fit of {N} readings\n")
    with pytest.raises(ChunkError, match=r"chunk 1 of chunks failed: .*y must be finite"):
        fit(make(), Chunks([parts[0], (X[:2], np.full(2, np.nan))]))
    with pytest.raises(TypeError, match="chunks must be a list, or another iterable that can be"):
        fit(make(), Chunks(iter(parts)))
    with pytest.raises(TypeError, match="y must be None where X is chunks"):
        fit(make(), Chunks(parts), y)


def test_the_spread_of_chunks_is_that_of_the_rows(rng):
    rows, y = rng.normal(size=(20, 2)) + 5.0, 1e3 * rng.normal(size=20)
    whole = spread(rows, y)
    added = spread(rows[:3], y[:3]) + spread(rows[3:11], y[3:11]) + spread(rows[11:], y[11:])
    assert added.count == whole.count == 20
    for field in ("low", "high", "mean", "deviation"):
        np.testing.assert_allclose(getattr(added, field), getattr(whole, field), rtol=1e-12)
    assert added.unit == pytest.approx(np.std(y), rel=1e-12)


@pytest.mark.parametrize("name", ["exact", "variational", "laplace"])
def test_what_is_no_sum_over_rows_needs_all_of_them(name):
    with pytest.raises(TypeError, match=r"X must be a matrix: the evidence of a \w+ is no sum"):
        fit(ALL[name][0](), Chunks([(X, ALL[name][1])]))


# What a model is


def test_a_gaussian_likelihood_and_the_best_q_are_titsias_bound():
    """Another route to the same bound: sums over rows, without q."""
    collapsed = fit(sparse.SparseGP(process(), Z), X, Y, fixed=("inducing",))
    one = fit(MODELS["variational"][0](), X, Y, fixed=("inducing",))
    assert one.log_evidence == pytest.approx(collapsed.log_evidence, abs=1e-3)
    assert one.model.likelihood.variance == pytest.approx(collapsed.model.gp.noise_var, rel=1e-2)


def test_what_is_no_model_is_refused_by_name():
    with pytest.raises(
        TypeError, match=r"model must be a GP, or a model with an evidence .*; got R"
    ):
        fit(RBF(), X, Y)


@dataclass(frozen=True)
class Slipping(RBF):
    """A kernel with a slip in its pullback, which shows where the lengthscale has changed."""

    def _pullback(self, x, z, K_bar):
        if self.lengthscale != 1.0:
            raise ValueError("operands could not be broadcast together")
        return super()._pullback(x, z, K_bar)


def test_a_slip_in_somebodys_kernel_is_raised_and_is_no_wall():
    """It read as "no improvement", from one evaluation to the next."""
    with pytest.raises(ValueError, match=r"^operands could not be broadcast together$"):
        fit(GP(Slipping(), 0.1), X, Y)


def test_parameters_that_no_float_holds_are_a_wall(rng):
    vector, rebuild = flatten(RBF(1.0, 2.0))
    for away in (1e3, -1e3):
        with pytest.raises(ArithmeticError, match="lengthscale must be a number that floats can"):
            rebuild(vector + np.asarray([0.0, away]))


# Batches


def variational(unit_X=1.0, unit_y=1.0):
    gp = GP(RBF(unit_y**2, unit_X), 0.0, ConstantMean(0.0))
    model = svgp.SVGP(gp, Gaussian(0.1 * unit_y**2), unit_X * Z)
    return condition(model, unit_X * X, unit_y * Y)


@pytest.mark.parametrize("units", [(1e-3, 1.0), (1e3, 1.0), (1.0, 1e-6), (1.0, 1e3)])
@pytest.mark.parametrize("batch", [N, 10])
def test_a_fit_from_batches_does_not_depend_on_units(units, batch):
    """It did: X in thousandths, and Z flew out of the data, to a bound of -522 from one of 7."""
    q, other = variational(), variational(*units)

    def batches(start):
        return svgp.Minibatches(batch, learning_rate=0.02, start=start)

    here = fit(q.model, X, Y, minibatches=batches(q), max_steps=40, rng=stream(1))
    data = units[0] * X, units[1] * Y
    there = fit(other.model, *data, minibatches=batches(other), max_steps=40, rng=stream(1))
    shift = N * np.log(units[1])
    np.testing.assert_allclose(there.log_evidence + shift, here.log_evidence, atol=1e-3)
    np.testing.assert_allclose(there.model.inducing / units[0], here.model.inducing, atol=1e-3)


def test_a_fit_from_batches_has_its_page():
    q = variational()
    ended = fit(q.model, X, Y, minibatches=svgp.Minibatches(N, start=q), max_steps=5, rng=stream(1))
    assert "This run stopped on its way up: give it more steps." in str(ended)
    assert replace(ended.runs[0], trace=()).evaluations == len(ended.runs[0].trace) == 5


def test_a_page_is_worked_out_once_and_shown_in_notebooks() -> None:
    X = np.linspace(0.0, 6.0, 12)[:, None]
    found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]), restarts=1, rng=1)
    assert found.report() is found.report(0)
    assert found.report(1) is not found.report()
    page = found._repr_html_()
    assert page.startswith("<pre>Fit of 12 readings")
    assert "kernel.lengthscale" in page
    assert found.report()._repr_html_() == page


def test_a_table_or_rows_are_the_same_data():
    start, X, y = GP(RBF(), 0.1), np.linspace(0.0, 3.0, 8)[:, None], np.arange(8.0)
    vector = np.zeros(3)
    value, slope = objective_of(start, Rows(X, y))(vector)
    again, other = objective_of(start, X.tolist(), y.tolist())(vector)
    assert value == again
    np.testing.assert_array_equal(slope, other)
    with pytest.raises(TypeError, match="y must be None where X is Rows"):
        objective_of(start, Rows(X, y), y)


def test_a_pair_in_the_place_of_x_is_told_where_y_goes():
    X = np.linspace(0.0, 1.0, 5)[:, None]
    with pytest.raises(TypeError, match=r"X must be a matrix, with y beside it: objective_of"):
        objective_of(GP(RBF(), 0.1), (X, X[:, 0]))


def test_what_is_tied_moves_together_and_its_slope_is_the_sum():
    plane = np.column_stack([X[:, 0], np.cos(3.0 * X[:, 0])])
    gp = GP(RBF(1.0, np.asarray([1.5, 1.5])), 0.1, ConstantMean(2.5))
    pair = [f"kernel.lengthscale[{k}]" for k in range(2)]
    both, apart = (objective_of(gp, Rows(plane, Y), tied=tied) for tied in ([pair], []))
    vector = both.vector(gp)
    assert vector.size == apart.vector(gp).size - 1
    step = 0.2 * np.asarray([name == pair[0] for name in names(gp) if name != pair[1]])
    moved = both.at(vector + step).kernel.lengthscale
    np.testing.assert_allclose(moved, np.full(2, 1.5 * np.exp(0.2)))
    value, slope = both(vector)
    wanted, slopes = apart(apart.vector(gp))
    assert value == wanted
    at = [names(gp).index(name) for name in pair]
    summed = slopes.copy()
    summed[at[0]] += slopes[at[1]]
    np.testing.assert_allclose(slope, np.delete(summed, at[1]))


def test_runs_agree_within_a_tenth_of_a_nat():
    gp = GP(RBF(), 0.1)
    runs = tuple(Run(gp, value, 1, True, "") for value in (5.0, 4.95, 4.75, -np.inf))
    assert Fit(runs).agreeing == 2
