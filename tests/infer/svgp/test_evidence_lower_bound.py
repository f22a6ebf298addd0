"""The bound against brute-force integrals, and its derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import multivariate_normal, norm

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Linear,
    Matern52,
    Periodic,
    StudentT,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import flatten, flatten_gradient, names
from gpnotes.infer import laplace, svgp
from gpnotes.infer.svgp.posterior import inducing_factor
from gpnotes.model.likelihoods import Binomial
from gpnotes.testing import gradcheck

from .conftest import LIKELIHOODS, fit_from, model_of, observed, process

NAMES = pytest.mark.parametrize("name", LIKELIHOODS)


@NAMES
def test_the_bound_is_that_of_brute_force_integrals(space, numbers, name):
    """KL over a grid of u = f(Z), and ``E log p(y | f)`` by sums over 40 001 points."""
    X, f, draws, Z, _ = numbers
    X, y, Z = X[:5], observed(name, f, draws)[:5], Z[:2]
    q = svgp.initial_posterior(model_of(name, Z, space.asarray, nodes=300))
    q = svgp.natural_gradient_step(q, space.asarray(X), space.asarray(y), step_size=0.5)
    bound = svgp.elbo(q, space.asarray(X), space.asarray(y))
    wanted = brute_force(to_numpy(q.weights), to_numpy(q.precision), name, X, y, Z)
    # poles of Student's density near the real line slow the rule down
    tight = 1e-7 if name == "student" else 1e-9
    assert bound == pytest.approx(wanted, rel=tight if space.double else 2e-4)


def brute_force(weights, precision, name, X, y, Z):
    """By q(u) and the conditional ``f | u``, without whitening."""
    gp = process()
    Kuu, Kuf = gp.kernel(Z), gp.kernel(Z, X)
    L = np.linalg.cholesky(Kuu)
    m = 0.2 + L @ np.asarray(weights, float)
    S = L @ np.linalg.inv(np.asarray(precision, float)) @ L.T
    before, after = multivariate_normal([0.2, 0.2], Kuu), multivariate_normal(m, S)
    # u = m + R z over a grid of z, where the trapezoidal rule is exact to rounding
    z = np.linspace(-9.0, 9.0, 121)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1)
    u = m + grid @ np.linalg.cholesky(S).T
    weight = np.exp(-0.5 * np.sum(grid**2, axis=-1))
    kl = np.sum(weight * (after.logpdf(u) - before.logpdf(u))) / weight.sum()
    value = 0.0
    for i in range(len(y)):
        a = np.linalg.solve(Kuu, Kuf[:, i])
        mean = 0.2 + a @ (m - 0.2)
        sd = np.sqrt(gp.kernel.diag(X)[i] - a @ Kuf[:, i] + a @ S @ a)

        z = np.linspace(-10.0, 10.0, 40_001)
        log_density = LIKELIHOODS[name].log_density(float(y[i]), mean + sd * z)
        value += log_density @ norm.pdf(z) * (z[1] - z[0])
    return value - kl


def with_weights(model, q):
    """q(v) held, of another model."""
    return replace(q, model=model, inducing=inducing_factor(model))


KERNELS = {
    "rbf": RBF(1.6, np.asarray([0.8, 1.5])),
    "sum": Matern52(0.9, 0.7) + Linear(0.3),
    "product": RBF(0.9, 1.2) * Periodic(1.1, 0.9, 1.4),
}


@NAMES
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gradient_agrees_with_differences(numbers, name, kernel):
    X, f, draws, Z, _ = numbers
    X, y, Z = X[:9], observed(name, f, draws)[:9], Z[:3]
    gp = GP(KERNELS[kernel], 0.0, ConstantMean(0.2))
    model = svgp.SVGP(gp, LIKELIHOODS[name], Z, 12)
    q = svgp.natural_gradient_step(svgp.initial_posterior(model), X, y, step_size=0.7)

    def bound(kernel, mean, likelihood, Z):
        new = svgp.SVGP(replace(gp, kernel=kernel, mean=mean), likelihood, Z, 12)
        return svgp.elbo(with_weights(new, q), X, y, total=20)

    def pullback(kernel, mean, likelihood, Z, bar):
        new = svgp.SVGP(replace(gp, kernel=kernel, mean=mean), likelihood, Z, 12)
        value, model_bar = svgp.elbo_and_gradient(with_weights(new, q), X, y, total=20)
        assert value == pytest.approx(bound(kernel, mean, likelihood, Z), rel=1e-12)
        return model_bar.gp.kernel, model_bar.gp.mean, model_bar.likelihood, model_bar.inducing

    names = ("kernel", "mean", "likelihood", "Z")
    gradcheck(bound, pullback, gp.kernel, gp.mean, model.likelihood, Z, names=names, rtol=2e-6)


@NAMES
def test_the_gradient_is_the_same_in_every_space(space, numbers, name):
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    start = svgp.initial_posterior(model_of(name, Z, space.asarray))
    q = svgp.natural_gradient_step(start, space.asarray(X), space.asarray(y), step_size=0.7)
    value, bar = svgp.elbo_and_gradient(q, space.asarray(X), space.asarray(y))
    assert isinstance(value, float)
    assert space.holds(bar.inducing)
    assert space.holds(bar.gp.kernel.parts[0].lengthscale)
    host = svgp.natural_gradient_step(
        svgp.initial_posterior(model_of(name, Z)), X, y, step_size=0.7
    )
    wanted, wanted_bar = svgp.elbo_and_gradient(host, X, y)
    close = {"rtol": 1e-9, "atol": 1e-9} if space.double else {"rtol": 2e-3, "atol": 2e-2}
    np.testing.assert_allclose(value, wanted, **close)
    np.testing.assert_allclose(to_numpy(bar.inducing), wanted_bar.inducing, **close)
    both = [flatten_gradient(q.model, b, fixed=("gp.noise_var",)) for b in (bar, wanted_bar)]
    np.testing.assert_allclose(*both, **close)


@NAMES
def test_blocks_of_rows_change_no_gradient(monkeypatch, numbers, name):
    X, f, draws, Z, _ = numbers
    y = observed(name, f, draws)
    q = svgp.natural_gradient_step(svgp.initial_posterior(model_of(name, Z)), X, y, step_size=0.7)
    value, bar = svgp.elbo_and_gradient(q, X, y)
    monkeypatch.setattr(memory, "ENTRIES", 25)
    again, bar_again = svgp.elbo_and_gradient(q, X, y)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(bar_again.inducing, bar.inducing, rtol=1e-9, atol=1e-10)
    both = [flatten_gradient(q.model, b, fixed=("gp.noise_var",)) for b in (bar, bar_again)]
    np.testing.assert_allclose(*both, rtol=1e-10)


def test_at_a_converged_q_it_is_the_gradient_of_the_highest_bound(numbers):
    """Of ``max_q`` by differences: q settles anew at each."""
    X, f, draws, Z, _ = numbers
    y = observed("logit", f, draws)
    gp = GP(RBF(1.6, 0.8), 0.0)

    def best(kernel, Z):
        return condition(svgp.SVGP(replace(gp, kernel=kernel), Bernoulli("logit"), Z), X, y)

    def pullback(kernel, Z, bar):
        bar = svgp.elbo_and_gradient(best(kernel, Z), X, y)[1]
        return bar.gp.kernel, bar.inducing

    gradcheck(
        lambda *parts: svgp.elbo(best(*parts), X, y), pullback, gp.kernel, Z[:3],
        names=("kernel", "Z"), rtol=1e-5,
    )  # fmt: skip


def test_with_an_inducing_point_at_every_datum_it_is_the_gradient_of_the_evidence(numbers):
    X, f, draws, _, _ = numbers
    y = observed("gaussian", f, draws)
    gp = GP(RBF(1.6, 0.8), 0.0, ConstantMean(0.1))
    q = condition(svgp.SVGP(gp, Gaussian(0.3), X), X, y)
    bar = svgp.elbo_and_gradient(q, X, y)[1]
    wanted = log_evidence_and_gradient(replace(gp, noise_var=0.3), X, y)[1]
    assert bar.likelihood.variance == pytest.approx(wanted.noise_var, rel=1e-5)
    assert bar.gp.mean.value == pytest.approx(wanted.mean.value, rel=1e-5)
    assert bar.gp.kernel.variance == pytest.approx(wanted.kernel.variance, rel=1e-4)
    assert bar.gp.kernel.lengthscale == pytest.approx(wanted.kernel.lengthscale, rel=1e-4)


def test_more_inducing_points_never_lower_the_best_bound(rng):
    X = np.linspace(0.0, 6.0, 50)[:, None]
    y = np.where(np.sin(X[:, 0]) + 0.3 * rng.normal(size=50) > 0.0, 1.0, -1.0)
    gp = GP(RBF(4.0, 0.8), 0.0)
    bounds = [
        svgp.elbo(condition(svgp.SVGP(gp, Bernoulli(), X[::k]), X, y), X, y) for k in (24, 12, 6, 3)
    ]
    assert np.all(np.diff(bounds) > 0.0)


@NAMES
def test_the_best_bound_lies_just_below_the_evidence(name):
    """Of three data, whose evidence is a sum over a grid of f; q misses its skewness alone."""
    X, y = (
        np.asarray([[0.0], [0.6], [2.0]]),
        {"poisson": [0.0, 2.0, 1.0]}.get(name, [1.0, 1.0, -1.0]),
    )
    y = np.asarray(y)
    gp = GP(RBF(0.8, 1.0), 0.0)
    q = condition(svgp.SVGP(gp, LIKELIHOODS[name], X, 60), X, y)
    z = np.linspace(-7.0, 7.0, 61)  # of far more digits than are asked for
    grid = np.stack(np.meshgrid(z, z, z, indexing="ij"), axis=-1)
    f = grid @ np.linalg.cholesky(gp.kernel(X)).T
    logs = LIKELIHOODS[name].log_density(np.broadcast_to(y, f.shape), f).sum(axis=-1)
    weights = np.exp(-0.5 * np.sum(grid**2, axis=-1))
    evidence = np.log(np.sum(np.exp(logs) * weights) / np.sum(weights))
    gap = evidence - svgp.elbo(q, X, y)
    assert -1e-9 < gap < (1e-8 if name == "gaussian" else 0.1)
    assert evidence - svgp.elbo(svgp.initial_posterior(q.model), X, y) > gap


# Fits


def test_batches_take_each_row_once_an_epoch():
    rows = svgp.batches(10, 4, rng=stream(3))
    epochs = [[next(rows) for _ in range(3)] for _ in range(2)]
    for epoch in epochs:
        assert [part.size for part in epoch] == [4, 4, 2]
        assert sorted(np.concatenate(epoch)) == list(range(10))
    assert not np.array_equal(np.concatenate(epochs[0]), np.concatenate(epochs[1]))
    again = svgp.batches(10, 4, rng=stream(3))
    np.testing.assert_array_equal(next(again), epochs[0][0])


def test_with_all_rows_a_fit_ends_near_the_best_collapsed_bound(rng):
    """The other route: L-BFGS on the evidence of the exact process."""
    X = np.linspace(0.0, 6.0, 40)[:, None]
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    wanted = log_evidence(_fitted(X, y), X, y)
    start = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.5), X[::4]))
    found = fit_from(start, X, y, max_steps=400, step_size=1.0, learning_rate=0.05, rng=stream(0))
    assert len(found.runs[0].trace) == 400
    assert wanted - 0.5 < found.log_evidence < wanted + 1e-6
    assert found.posterior.model.likelihood.variance == pytest.approx(0.04, rel=0.6)


def test_a_step_too_long_for_floats_names_the_learning_rate():
    X = np.linspace(0.0, 6.0, 40)[:, None]
    start = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.5), X[::4]))
    with pytest.raises(ValueError, match="learning_rate must be smaller: after a step gp"):
        fit_from(start, X, np.sin(X[:, 0]), max_steps=3, learning_rate=1e6, rng=stream(0))


def _fitted(X, y):
    return fit(GP(RBF(), 0.5), X, y).model


@NAMES
def test_a_fit_from_batches_raises_the_bound_of_all(space, numbers, name):
    X, f, draws, Z, _ = numbers
    y = space.asarray(observed(name, f, draws))
    X = space.asarray(X)
    start = svgp.initial_posterior(model_of(name, Z, space.asarray))
    rates = {"step_size": 0.3, "learning_rate": 0.02}
    found = fit_from(start, X, y, max_steps=24, batch=10, rng=stream(1), **rates)
    assert space.holds(found.posterior.weights)
    assert space.holds(found.posterior.model.inducing)
    before = svgp.elbo(condition(start.model, X, y), X, y)
    after = svgp.elbo(condition(found.posterior.model, X, y), X, y)
    assert after > before
    assert svgp.elbo(found.posterior, X, y) > svgp.elbo(start, X, y)


def test_what_is_fixed_stays(numbers):
    X, f, draws, Z, _ = numbers
    y = observed("student", f, draws)
    start = svgp.initial_posterior(model_of("student", Z))
    held = ("inducing", "likelihood.dof", "gp.kernel.parts.0.variance")
    found = fit_from(start, X, y, max_steps=5, batch=10, fixed=held, rng=stream(1)).model
    np.testing.assert_array_equal(found.inducing, start.model.inducing)
    assert found.likelihood.dof == 3.0
    assert found.likelihood.scale != 0.4
    assert found.gp.kernel.parts[0].variance == 1.6
    assert found.gp.kernel.parts[1].variance != 0.02
    all_of_it = ("inducing", "gp", "likelihood")
    still = fit_from(start, X, y, max_steps=3, step_size=1.0, fixed=all_of_it, rng=stream(1))
    one = start
    for _ in range(3):
        one = svgp.natural_gradient_step(one, X, y)
    np.testing.assert_allclose(still.posterior.weights, one.weights, rtol=1e-12)
    with pytest.raises(ValueError, match="fixed names 'nobody'"):
        fit_from(start, X, y, fixed=("nobody",), rng=stream(1))


def test_a_fit_goes_on_where_one_ended_and_is_the_same_every_time(numbers):
    X, f, draws, Z, _ = numbers
    y = observed("logit", f, draws)
    start = svgp.initial_posterior(model_of("logit", Z))
    found, same = (fit_from(start, X, y, max_steps=9, batch=7, rng=stream(1)) for _ in range(2))
    assert found.runs[0].trace == same.runs[0].trace
    np.testing.assert_array_equal(found.posterior.weights, same.posterior.weights)
    further = fit_from(found.posterior, X, y, max_steps=4, batch=7, rng=stream(2))
    assert further.posterior.steps == 13


def test_a_callback_sees_each_step_and_may_end_the_fit(numbers):
    X, f, draws, Z, _ = numbers
    y = observed("logit", f, draws)
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.step == 4

    start = svgp.initial_posterior(model_of("logit", Z))
    found = fit_from(start, X, y, max_steps=9, batch=7, callback=callback, rng=stream(1))
    assert [progress.step for progress in seen] == [1, 2, 3, 4]
    np.testing.assert_array_equal([progress.bound for progress in seen], found.runs[0].trace)
    assert seen[-1].posterior is found.posterior
    with pytest.raises(TypeError, match=r"callback\(progress\) must be True or False"):
        fit_from(start, X, y, max_steps=2, callback=lambda progress: "stop", rng=stream(1))


def test_a_fit_that_leaps_too_far_says_what_to_do():
    X = np.linspace(0.0, 1.0, 20)[:, None]
    y = np.full(20, 1e6)
    start = svgp.initial_posterior(svgp.SVGP(GP(RBF(9.0), 0.0), LIKELIHOODS["poisson"], X[::4]))
    with (
        np.errstate(all="ignore"),
        pytest.raises(RuntimeError, match="the bound must be finite; here"),
    ):
        fit_from(start, X, y, max_steps=3, step_size=1.0, rng=stream(0))


def test_a_likelihood_of_ones_own_is_fitted(numbers):
    """One with parameters and a pullback, and one without either; none inherits."""
    X, f, draws, Z, _ = numbers
    y = observed("student", f, draws)
    theirs = StudentT(0.4, 3.0)

    class Bare:
        def log_density(self, y, f):
            return theirs.log_density(y, f)

        def derivatives(self, y, f):
            return theirs.derivatives(y, f)

    bare = svgp.SVGP(process(), Bare(), Z)
    q = condition(bare, X, y)
    wanted = condition(svgp.SVGP(process(), theirs, Z), X, y)
    np.testing.assert_allclose(q.weights, wanted.weights, rtol=1e-6, atol=1e-8)
    found = fit(bare, X, y, minibatches=svgp.Minibatches(len(X)), max_steps=3, rng=stream(1))
    assert isinstance(found.posterior.model.likelihood, Bare)
    with pytest.raises(TypeError, match=r"the likelihood must be .* lacks predict"):
        q.predict(X, noise=True)


def test_a_first_step_is_of_the_bound_of_all_rows_and_as_long_as_the_rate(numbers):
    """Adam's first step is the rate times the sign of each derivative, q's is `update`."""
    X, f, draws, Z, _ = numbers
    y = observed("student", f, draws)
    start = svgp.natural_gradient_step(svgp.initial_posterior(model_of("student", Z)), X, y)
    rates = {"step_size": 0.3, "learning_rate": 0.01}
    found = fit_from(start, X, y, max_steps=1, batch=7, rng=stream(5), **rates)
    rows = next(svgp.batches(30, 7, rng=stream(5)))
    value, bar = svgp.elbo_and_gradient(start, X[rows], y[rows], total=30)
    assert found.runs[0].trace[0] == pytest.approx(value, rel=1e-12)
    wanted = svgp.natural_gradient_step(start, X[rows], y[rows], step_size=0.3, total=30)
    np.testing.assert_allclose(found.posterior.weights, wanted.weights, rtol=1e-12)
    new, held = found.posterior.model, ("gp.noise_var",)
    units = np.std(X, axis=0)
    np.testing.assert_allclose(
        new.inducing - start.model.inducing, 0.01 * units * np.sign(bar.inducing), rtol=1e-4
    )
    moved = flatten(new, fixed=held)[0] - flatten(start.model, fixed=held)[0]
    signs = np.sign(flatten_gradient(start.model, bar, fixed=held))
    means = np.asarray([name == "gp.mean.value" for name in names(start.model, fixed=held)])
    assert means.sum() == 1  # the one parameter with a unit, that of y
    np.testing.assert_allclose(moved, 0.01 * np.where(means, np.std(y), 1.0) * signs, rtol=1e-4)


def test_a_second_step_follows_both_gradients(numbers):
    """By the recursion of Kingma & Ba (2015), algorithm 1, written out."""
    X, f, draws, Z, _ = numbers
    y = observed("logit", f, draws)
    start = svgp.natural_gradient_step(svgp.initial_posterior(model_of("logit", Z)), X, y)
    seen = []
    options = {"learning_rate": 0.02, "callback": lambda p: seen.append(p)}
    fit_from(start, X, y, max_steps=3, rng=stream(5), **options)
    posteriors = [start, *(progress.posterior for progress in seen)]
    mean = square = 0.0
    for k in range(3):
        gradient = np.std(X, axis=0) * svgp.elbo_and_gradient(posteriors[k], X, y)[1].inducing
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        step = mean / (1.0 - 0.9 ** (k + 1)) / np.sqrt(square / (1.0 - 0.999 ** (k + 1)))
        moved = posteriors[k + 1].model.inducing - posteriors[k].model.inducing
        np.testing.assert_allclose(moved, 0.02 * np.std(X, axis=0) * step, rtol=1e-4)


def test_trials_are_labels_of_repeated_rows(rng):
    """As `Binomial` says of rows whose numbers of trials differ: here they do not, to compare."""
    X, y = rng.uniform(-2.0, 2.0, size=(12, 1)), rng.integers(0, 4, size=12).astype(float)
    trials = np.full(12, 3)
    rows = np.repeat(X, trials, axis=0)
    labels = np.concatenate([np.repeat([1.0, -1.0], [int(k), 3 - int(k)]) for k in y])
    gp, Z = GP(RBF(1.5, 0.9), 0.0), X[:5]
    counted = condition(svgp.SVGP(gp, Binomial(3), Z), X, y)
    told = condition(svgp.SVGP(gp, Bernoulli("logit"), Z), rows, labels)
    ways = np.log(comb(3, y)).sum()
    assert svgp.elbo(counted, X, y) - ways == pytest.approx(svgp.elbo(told, rows, labels), abs=1e-8)
    for one, other in zip(counted.predict(X), told.predict(X), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    near = condition(laplace.LaplaceGP(gp, Binomial(3)), X, y)
    apart = condition(laplace.LaplaceGP(gp, Bernoulli("logit")), rows, labels)
    np.testing.assert_allclose(near.mean(X), apart.mean(X), atol=1e-8)
    np.testing.assert_allclose(near.variance(X), apart.variance(X), atol=1e-8)


@pytest.mark.parametrize("given", ["noise_var", "weights", "offset"])
def test_what_is_known_of_each_reading_counts_as_in_exact_regression(numbers, given):
    """With an inducing point at each: bound, slopes and predictions are those of regression."""
    X, y = numbers[0][:12], numbers[1][:12]
    known = np.linspace(0.1, 2.0, 12)
    more = {given: known}
    left = (y - known, {}) if given == "offset" else (y, more)  # which regression takes away before
    gp = GP(RBF(1.6, 0.8), 0.0, ConstantMean(0.2))
    model, exact = svgp.SVGP(gp, Gaussian(0.3), X + 0.0), replace(gp, noise_var=0.3)
    value, bar = log_evidence_and_gradient(model, X, y, **more)
    wanted, wanted_bar = log_evidence_and_gradient(exact, X, left[0], **left[1])
    assert value == pytest.approx(wanted, rel=1e-9)
    assert bar.likelihood.variance == pytest.approx(wanted_bar.noise_var, rel=1e-6)
    assert bar.gp.mean.value == pytest.approx(wanted_bar.mean.value, rel=1e-6)
    ours = condition(model, X, y, **more).predict(X)
    theirs = condition(exact, X, left[0], **left[1]).predict(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_part_is_predicted_with_its_own_covariance(numbers):
    X, y = numbers[0][:12], numbers[1][:12]
    gp = GP(RBF(1.6, 0.8) + Linear(0.4), 0.0, ConstantMean(0.2))
    q = condition(svgp.SVGP(gp, Gaussian(0.3), X + 0.0), X, y)
    exact = condition(replace(gp, noise_var=0.3), X, y)
    for k in (0, 1):
        ours, theirs = (posterior.part(k) for posterior in (q, exact))
        for got, wanted in zip(ours.predict(X[:4] + 0.1), theirs.predict(X[:4] + 0.1), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(
            ours.covariance(X[:4] + 0.1), theirs.covariance(X[:4] + 0.1), rtol=1e-6, atol=1e-8
        )
