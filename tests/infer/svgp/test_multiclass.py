"""Several classes by the robust maximum: brute force, differences, labels, Laplace, batches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Matern52,
    RobustMax,
    White,
    condition,
    fit,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.params import flatten, flatten_gradient
from gpnotes.infer import deep, laplace, svgp
from gpnotes.infer.svgp.natural_gradients import optimise_q
from gpnotes.model.likelihoods import Categorical

from .conftest import fit_from

C = 3


@pytest.fixture
def numbers(rng):
    """X (30, 2), classes y (30,), Z (6, 2) and Xs (5, 2) on the host."""
    X = rng.normal(size=(30, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=30), [-0.5, 0.5]).astype(float)
    return X, y, X[:6] + 0.1, X[-5:] + 0.3


def process(asarray=np.asarray):
    return GP(RBF(1.6, asarray([0.8, 1.5])) + White(0.05), 0.0)


def model_of(Z, asarray=np.asarray, slip=0.05, nodes=20):
    return svgp.SVGP(process(asarray), RobustMax(C, slip), asarray(Z), nodes)


def close(space, rtol=1e-7):
    return {"rtol": rtol, "atol": rtol} if space.double else {"rtol": 5e-3, "atol": 5e-3}


def somewhere(numbers, slip=0.05):
    """A q on its way, of which nothing is symmetric."""
    X, y, Z, _ = numbers
    q = svgp.natural_gradient_step(
        svgp.initial_posterior(model_of(Z, slip=slip)), X, y, step_size=0.4
    )
    return svgp.natural_gradient_step(q, X, y)


def test_the_functions_and_the_probabilities_are_those_of_each_class_by_itself(space, numbers):
    X, y, _, Xs = (space.asarray(a) for a in numbers)
    q = optimise_q(svgp.initial_posterior(model_of(numbers[2], space.asarray)), X, y, max_steps=20)
    mean, variance = q.predict(Xs)
    chance = q.probability(Xs)
    logs = q.log_density(Xs, y[:5])
    assert all(space.holds(a) for a in (mean, variance, chance, logs))
    for c, function in enumerate(q.functions):
        alone = function.predict(Xs)
        np.testing.assert_allclose(to_numpy(mean)[:, c], to_numpy(alone[0]), **close(space))
        np.testing.assert_allclose(to_numpy(variance)[:, c], to_numpy(alone[1]), **close(space))
    np.testing.assert_allclose(to_numpy(chance).sum(axis=1), 1.0, rtol=1e-5)
    rows = np.arange(5), numbers[1][:5].astype(int)
    np.testing.assert_allclose(np.exp(to_numpy(logs)), to_numpy(chance)[rows], **close(space))
    host = optimise_q(svgp.initial_posterior(model_of(numbers[2])), *numbers[:2], max_steps=20)
    np.testing.assert_allclose(to_numpy(chance), host.probability(numbers[3]), **close(space))


def test_probabilities_are_shares_of_draws(numbers, rng):
    _, _, _, Xs = numbers
    q = somewhere(numbers)
    drawn = np.stack(
        [f.sample(Xs, 40_000, rng=stream(c)) for c, f in enumerate(q.functions)], axis=-1
    )
    highest = drawn.argmax(axis=-1)
    shares = np.stack([np.mean(highest == c, axis=0) for c in range(C)], axis=1)
    wanted = 0.025 + (0.95 - 0.025) * shares
    np.testing.assert_allclose(q.probability(Xs), wanted, atol=0.012)


def test_the_bound_is_below_the_evidence_by_brute_force_and_near_it(rng):
    """Four labels, three classes: the evidence is a mean over draws of the prior."""
    X, y = np.array([[0.0], [0.4], [1.5], [3.0]]), np.array([0.0, 0.0, 1.0, 2.0])
    gp = GP(RBF(1.3, 1.0), 0.0)
    root = np.linalg.cholesky(gp.kernel(X))
    f = root @ rng.normal(size=(200_000, C, 4, 1))
    hit = f[..., 0].argmax(axis=1) == y
    likely = np.prod(np.where(hit, 0.9, 0.05), axis=1)
    evidence = np.log(likely.mean())
    error = likely.std() / likely.mean() / 200_000**0.5
    q = condition(svgp.SVGP(gp, RobustMax(C, 0.1), X, 60), X, y)
    bound = svgp.elbo(q, X, y)
    assert bound < evidence + 3.0 * error
    assert bound > evidence - 1.5
    assert svgp.elbo(svgp.initial_posterior(q.model), X, y) < bound - 1.0
    fewer = condition(svgp.SVGP(gp, RobustMax(C, 0.1), X[:2], 60), X, y)
    assert svgp.elbo(fewer, X, y) < bound
    # and the probabilities come near those of the posterior, which weighs the same draws
    share = np.stack([likely @ (f[:, :, 1, 0].argmax(axis=1) == c) for c in range(C)])
    wanted = 0.05 + 0.85 * share / likely.sum()
    np.testing.assert_allclose(q.probability(X[1:2])[0], wanted, atol=0.1)


def test_under_the_softmax_the_bound_is_below_the_evidence_by_brute_force_and_near_it(rng):
    """Four labels, three classes; the probabilities are those of the same draws of the prior."""
    X, y = np.array([[0.0], [0.4], [1.5], [3.0]]), np.array([0.0, 0.0, 1.0, 2.0])
    gp = GP(RBF(2.0, 1.0), 0.0)
    f = (np.linalg.cholesky(gp.kernel(X)) @ rng.normal(size=(100_000, C, 4, 1)))[..., 0]
    share = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    likely = np.prod(share[:, y.astype(int), range(4)], axis=1)
    evidence = np.log(likely.mean())
    q = condition(svgp.SVGP(gp, Categorical(C), X), X, y)
    bound = svgp.elbo(q, X, y)
    assert evidence - 0.2 < bound < evidence
    wanted = np.einsum("s,scn->nc", likely, share) / likely.sum()
    np.testing.assert_allclose(q.probability(X), wanted, atol=0.03)


def test_the_derivatives_under_the_softmax_agree_with_differences(numbers):
    X, y, Z, _ = numbers
    start = svgp.initial_posterior(svgp.SVGP(GP(RBF(1.6, 0.9), 0.0), Categorical(C), Z))
    q = svgp.natural_gradient_step(start, X, y, step_size=0.4)
    _, bar = svgp.elbo_and_gradient(q, X, y)

    def at(model):
        return svgp.elbo(
            replace(q, model=model, inducing=svgp.initial_posterior(model).inducing), X, y
        )

    vector, rebuild = flatten(q.model, fixed=("gp.noise_var",))
    slopes = flatten_gradient(q.model, bar, fixed=("gp.noise_var",))
    for i, step in enumerate(1e-5 * np.eye(vector.size)):
        wanted = (at(rebuild(vector + step)) - at(rebuild(vector - step))) / 2e-5
        assert slopes[i] == pytest.approx(wanted, rel=1e-5, abs=1e-6)


def test_under_the_softmax_overlapping_classes_have_their_chances(rng):
    """On fresh labels drawn by known chances: nearer to them than the robust maximum comes."""
    X = rng.uniform(0.0, 6.0, size=(400, 1))
    f = np.stack([2.0 * np.sin(X[:, 0]), 1.5 * np.cos(1.3 * X[:, 0]), 0.0 * X[:, 0]], axis=1)
    chance = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    y = np.asarray([rng.choice(3, p=p) for p in chance]).astype(float)
    Z = np.linspace(0.0, 6.0, 7)[:, None]
    off = {}
    for likelihood in (Categorical(3), RobustMax(3)):
        q = optimise_q(
            svgp.initial_posterior(svgp.SVGP(GP(RBF(1.5, 1.3), 0.0), likelihood, Z)),
            X,
            y,
            max_steps=12,
        )
        off[type(likelihood)] = np.sqrt(np.mean((q.probability(X) - chance) ** 2))
    assert off[Categorical] < 0.06
    assert off[Categorical] < 0.5 * off[RobustMax]


def test_of_one_label_it_is_the_best_of_all_normal_densities_by_a_search():
    """Four numbers: means and variances of the class told and of the two others."""

    def lost(at):
        (own, other), (u, v) = at[:2], np.exp(at[2:])
        f = np.linspace(own - 9.0 * u**0.5, own + 9.0 * u**0.5, 2001)
        weight = stats.norm.pdf(f, own, u**0.5) * (f[1] - f[0])
        best = weight @ stats.norm.cdf((f - other) / v**0.5) ** 2
        divergence = 0.5 * (u + own**2 - 1.0 - np.log(u) + 2.0 * (v + other**2 - 1.0 - np.log(v)))
        return divergence - best * np.log(0.9) - (1.0 - best) * np.log(0.05)

    found = optimize.minimize(lost, [0.5, -0.3, -0.2, -0.1], options={"gtol": 1e-8})
    X, y = np.zeros((1, 1)), np.ones(1)
    model = svgp.SVGP(GP(RBF(1.0, 1.0), 0.0), RobustMax(C, 0.1), X, 60)
    q = condition(model, X, y)
    assert svgp.elbo(q, X, y) == pytest.approx(-found.fun, abs=1e-8)
    mean, variance = q.predict(X)
    np.testing.assert_allclose(mean[0], found.x[[1, 0, 1]], atol=1e-4)
    np.testing.assert_allclose(variance[0], np.exp(found.x[[3, 2, 3]]), atol=1e-4)


@pytest.mark.parametrize(
    "kernel", [RBF(1.6, np.array([0.8, 1.5])), Matern52(2.0, 0.7) + White(0.1)], ids=repr
)
def test_the_derivatives_of_the_bound_agree_with_differences(numbers, kernel):
    """With q(v) held, as ``elbo_and_gradient`` says."""
    X, y, Z, _ = numbers
    start = svgp.initial_posterior(svgp.SVGP(GP(kernel, 0.0), RobustMax(C, 0.05), Z))
    q = svgp.natural_gradient_step(start, X, y, step_size=0.4)
    q = svgp.natural_gradient_step(q, X, y, step_size=0.6)
    value, bar = svgp.elbo_and_gradient(q, X, y, total=90)
    assert value == pytest.approx(svgp.elbo(q, X, y, total=90), rel=1e-12)

    def at(model):
        start = svgp.initial_posterior(model)
        return svgp.elbo(replace(q, model=model, inducing=start.inducing), X, y, total=90)

    held = ("gp.noise_var",)
    vector, rebuild = flatten(q.model, fixed=held)
    slopes = flatten_gradient(q.model, bar, fixed=held)
    for i, step in enumerate(1e-5 * np.eye(vector.size)):
        wanted = (at(rebuild(vector + step)) - at(rebuild(vector - step))) / 2e-5
        assert slopes[i] == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    for m, d in ((0, 0), (3, 1), (5, 0)):
        step = np.zeros_like(Z)
        step[m, d] = 1e-5
        up, down = (at(replace(q.model, inducing=Z + s)) for s in (step, -step))
        assert bar.inducing[m, d] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-6)


def test_the_gradient_is_the_same_in_every_space(space, numbers):
    X, y, Z, _ = numbers
    arrays = [space.asarray(a) for a in (X, y)]
    wanted, wanted_bar = svgp.elbo_and_gradient(somewhere(numbers), X, y)
    q = svgp.initial_posterior(model_of(Z, space.asarray))
    q = svgp.natural_gradient_step(svgp.natural_gradient_step(q, *arrays, step_size=0.4), *arrays)
    value, bar = svgp.elbo_and_gradient(q, *arrays)
    assert space.holds(bar.inducing)
    assert value == pytest.approx(wanted, rel=1e-9 if space.double else 1e-3)
    np.testing.assert_allclose(to_numpy(bar.inducing), wanted_bar.inducing, **close(space))


def test_no_q_nearby_has_a_higher_bound(numbers, rng):
    X, y, Z, _ = numbers
    q = condition(model_of(Z), X, y)
    assert q.converged
    assert q.steps < 100  # a thousand, unless the common part of the means is taken away
    common = sum(own.weights for own in q.whitened)
    np.testing.assert_allclose(common, 0.0, atol=1e-12)
    top = svgp.elbo(q, X, y)
    for _ in range(20):
        moved = []
        for own in q.whitened:
            turn = 1e-2 * rng.normal(size=(6, 6))
            precision = own.precision + turn @ own.precision + own.precision @ turn.T
            factor = replace(own.cholesky, lower=np.linalg.cholesky(precision))
            moved.append(own._replace(precision=precision, cholesky=factor,
                                      weights=own.weights + 1e-2 * rng.normal(size=6)))  # fmt: skip
        assert svgp.elbo(replace(q, whitened=tuple(moved)), X, y) < top
    away = svgp.natural_gradient_step(q, X, y, step_size=0.1)
    for own, there in zip(q.whitened, away.whitened, strict=True):
        np.testing.assert_allclose(there.weights, own.weights, atol=1e-5)


def test_two_classes_are_as_good_as_labels_of_the_difference(numbers):
    """Where two functions are one, ``f₁ − f₀``, with a slip in the place of the probit."""
    X, y, Z, Xs = numbers
    y = (y > 0.0).astype(float)
    q = condition(svgp.SVGP(process(), RobustMax(2, 0.05), Z), X, y)
    other = condition(svgp.SVGP(process(), RobustMax(2, 0.05), Z), X, 1.0 - y)
    np.testing.assert_allclose(q.probability(Xs), other.probability(Xs)[:, ::-1], atol=1e-6)
    mean, _ = q.predict(Xs)
    np.testing.assert_allclose(mean[:, 0], -mean[:, 1], atol=1e-5)


def test_on_classes_that_lie_apart_it_agrees_with_laplace(rng):
    centres = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    y = np.repeat(np.arange(3.0), 20)
    X = centres[y.astype(int)] + 0.5 * rng.normal(size=(60, 2))
    gp = GP(RBF(4.0, 2.0), 0.0)
    q = condition(svgp.SVGP(gp, RobustMax(C), X[::4]), X, y)
    other = condition(laplace.SoftmaxGP(gp, C), X, y)
    Xs = centres.repeat(30, axis=0) + 0.8 * rng.normal(size=(90, 2))
    best = q.probability(Xs).argmax(axis=1)
    assert np.mean(best == other.probability(Xs, rng=stream(0)).argmax(axis=1)) > 0.97
    assert np.mean(q.probability(X)[np.arange(60), y.astype(int)]) > 0.97


def test_labels_that_are_wrong_are_outvoted(rng):
    """A label in six is flipped: with a slip of that size its own place is not believed."""
    X = np.linspace(0.0, 6.0, 60)[:, None]
    true = np.repeat([0.0, 1.0, 2.0], 20)
    y = true.copy()
    y[2::6] = (y[2::6] + 1.0) % 3.0
    q = condition(svgp.SVGP(GP(RBF(1.0, 0.7), 0.0), RobustMax(C, 0.15), X[::4]), X, y)
    inside = np.min(np.abs(np.arange(60)[:, None] - [19.5, 39.5]), axis=1) > 3.0
    best = q.probability(X).argmax(axis=1)
    assert np.all(best[inside] == true[inside])


def test_the_unit_of_f_cannot_be_learnt(numbers):
    X, y, Z, _ = numbers
    gp = GP(RBF(1.6, 0.8), 0.0)
    q = optimise_q(svgp.initial_posterior(svgp.SVGP(gp, RobustMax(C), Z)), X, y, max_steps=30)
    _, bar = svgp.elbo_and_gradient(q, X, y)
    assert bar.gp.kernel.variance == pytest.approx(0.0, abs=1e-10)
    assert abs(bar.gp.kernel.lengthscale) > 1e-3


@pytest.fixture
def unfitted(numbers):
    """A model, what is held of it, and its bound."""
    X, y, Z, _ = numbers
    model = svgp.SVGP(GP(RBF(1.0, 4.0), 0.0), RobustMax(C, 0.05), Z)
    return model, ("gp.kernel.variance",), svgp.elbo(condition(model, X, y), X, y)


def test_a_fit_raises_the_bound(numbers, unfitted):
    X, y, _, _ = numbers
    model, held, start = unfitted
    found = fit(model, X, y, fixed=held, max_steps=10)
    assert isinstance(found.posterior, svgp.ClassesPosterior)
    assert found.log_evidence > start + 1.0
    assert found.log_evidence == pytest.approx(svgp.elbo(found.posterior, X, y), abs=1e-3)
    assert "gp.kernel.lengthscale" in str(found)


def test_a_fit_by_batches_raises_the_bound(numbers, unfitted):
    X, y, _, _ = numbers
    model, held, start = unfitted
    begin = svgp.initial_posterior(model)
    rates = {"step_size": 0.2, "learning_rate": 0.05}
    climbed = fit_from(begin, X, y, max_steps=150, batch=10, fixed=held, rng=stream(0), **rates)
    assert isinstance(climbed.posterior, svgp.ClassesPosterior)
    assert svgp.elbo(condition(climbed.model, X, y), X, y) > start + 0.5
    right = climbed.posterior.probability(X).argmax(axis=1) == y
    assert right.mean() > 0.75


def test_batches_average_to_all_and_blocks_change_nothing(monkeypatch, numbers):
    X, y, _, Xs = numbers
    q = somewhere(numbers)
    whole = svgp.elbo_and_gradient(q, X, y)
    parts = [
        svgp.elbo_and_gradient(q, X[rows], y[rows], total=30)
        for rows in (slice(0, 10), slice(10, 20), slice(20, 30))
    ]
    assert np.mean([value for value, _ in parts]) == pytest.approx(whole[0], rel=1e-12)
    there = q.probability(Xs)
    monkeypatch.setattr(memory, "ENTRIES", 200)
    again = svgp.elbo_and_gradient(q, X, y)
    assert again[0] == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(again[1].inducing, whole[1].inducing, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(q.probability(Xs), there, rtol=1e-12)


def test_what_does_not_fit_is_named(numbers):
    X, y, Z, Xs = numbers
    model = model_of(Z)
    q = somewhere(numbers)
    for wrong in (y + 1.0, y - 1.0, y + 0.5):
        with pytest.raises(ValueError, match="y must hold classes, whole numbers from 0 to 2; got"):
            condition(model, X, wrong)
        with pytest.raises(ValueError, match="y must hold classes"):
            q.log_density(X, wrong)
    with pytest.raises(ValueError, match=r"gp\.mean must be ZeroMean\(\): .*; got ConstantMean"):
        svgp.SVGP(GP(RBF(), 0.0, ConstantMean(1.0)), RobustMax(3), Z)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be 0"):
        svgp.SVGP(GP(RBF(), 0.1), RobustMax(3), Z)
    with pytest.raises(ValueError, match=r"Xs must have shape \(n, 2\)"):
        q.probability(Xs[:, :1])
    for alone in (lambda f: svgp.elbo(f, X, y), lambda f: f.log_density(X, y)):
        with pytest.raises(TypeError, match=r"likelihood must be .* RobustMax lacks log_density"):
            alone(q.functions[0])
    with pytest.raises(TypeError, match=r"likelihood must be .* RobustMax lacks log_density"):
        laplace.LaplaceGP(GP(RBF(), 0.0), RobustMax(3))
    with pytest.raises(TypeError, match="posterior must be a gpnotes VariationalPosterior; got"):
        deep.with_inner_layers(q, [RBF()])
    with pytest.raises(TypeError, match="posterior must be a gpnotes Variational; got"):
        svgp.elbo(model, X, y)
