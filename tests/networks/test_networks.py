"""Networks against loops, differences, scipy's densities and quadrature."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gpnotes import networks as nets
from gpnotes import stream, to_numpy
from gpnotes.ground.adam import Adam
from gpnotes.ground.xp import array_namespace
from gpnotes.model.kernels import ArcCosine
from gpnotes.networks.posterior_mode import ascend

SHAPES = pytest.mark.parametrize(
    ("sizes", "activation"), [((2, 2), "tanh"), ((2, 5, 2), "tanh"), ((2, 4, 3, 2), "relu")]
)


@pytest.fixture
def numbers(rng):
    """X (9, 2), y (9,), and a stream of more numbers."""
    return rng.normal(size=(9, 2)), rng.normal(size=9), rng


def by_loops(sizes, activation, theta, X):
    """The outputs, neuron by neuron."""
    act = np.tanh if activation == "tanh" else lambda t: max(t, 0.0)
    out = []
    for x in X:
        values, at = list(x), 0
        for number, (n, m) in enumerate(pairwise(sizes)):
            W, b = theta[at : at + n * m], theta[at + n * m : at + n * m + m]
            sums = [sum(values[i] * W[i * m + j] for i in range(n)) + b[j] for j in range(m)]
            values = sums if number == len(sizes) - 2 else [act(s) for s in sums]
            at += n * m + m
        out.append(values)
    return np.asarray(out)


def tolerance(space):
    return 1e-9 if space.double else 2e-4


def test_the_rate_of_an_ascent_falls_to_zero_along_a_line():
    """Up a slope that stays the same Adam goes by its rate: in all by ``rate (1 + … + 1/n)``."""
    start, slope = np.asarray([0.0, 2.0]), np.asarray([3.0, -0.5])
    found = ascend(lambda theta: (theta @ slope, slope), start, 10, 0.1)
    shares = np.arange(10, 0, -1) / 10.0
    np.testing.assert_allclose(found.theta, start + 0.1 * np.sum(shares) * np.sign(slope), 1e-6)
    before = start + 0.1 * np.concatenate([[0.0], np.cumsum(shares)[:-1]])[:, None] * np.sign(slope)
    np.testing.assert_allclose(found.trace, before @ slope, rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "slope"), [(1.0, [np.nan, 1.0]), (np.nan, [0.0, 1.0]), (np.inf, [1.0, 1.0])]
)
def test_an_ascent_that_overflows_anywhere_is_refused(value, slope):
    target = lambda theta: (np.float64(value), np.asarray(slope))  # noqa: E731
    with pytest.raises(ValueError, match=r"learning_rate must be smaller: .* overflows; got 0\.5"):
        ascend(target, np.zeros(2), 1, 0.5)


@SHAPES
def test_outputs_are_those_of_loops(space, numbers, sizes, activation):
    X, _, rng = numbers
    net = nets.Network(sizes, activation)
    theta = rng.normal(size=(3, net.num_weights))
    F = net(space.asarray(theta), space.asarray(X))
    assert array_namespace(F) == space.xp
    wanted = [by_loops(sizes, activation, t, X) for t in theta]
    np.testing.assert_allclose(to_numpy(F), wanted, rtol=tolerance(space), atol=tolerance(space))
    one = net(space.asarray(theta[1]), space.asarray(X))
    np.testing.assert_allclose(to_numpy(one), wanted[1], rtol=tolerance(space), atol=1e-5)


def differences(value, theta, h=1e-6):
    steps = h * np.eye(theta.size)
    return np.asarray([(value(theta + s) - value(theta - s)) / (2 * h) for s in steps])


@SHAPES
def test_the_pullback_is_the_derivative(space, numbers, sizes, activation):
    X, _, rng = numbers
    net = nets.Network(sizes, activation)
    theta, bar = rng.normal(size=(2, net.num_weights)), rng.normal(size=(2, 9, 2))
    _, pullback = net.values_and_pullback(space.asarray(theta), space.asarray(X))
    found = to_numpy(pullback(space.asarray(bar)))
    wanted = [
        differences(lambda t, b=b: np.sum(b * by_loops(sizes, activation, t, X)), t)
        for t, b in zip(theta, bar, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if space.double else 1e-3, atol=1e-4)
    rows = net.row_gradients(space.asarray(theta[0]), space.asarray(X), space.asarray(bar[0]))
    assert rows.shape == (9, net.num_weights)
    np.testing.assert_allclose(np.sum(to_numpy(rows), axis=0), found[0], rtol=1e-4, atol=1e-4)
    alone = net.row_gradients(
        space.asarray(theta[0]), space.asarray(X[4:5]), space.asarray(bar[0, 4:5])
    )
    np.testing.assert_allclose(to_numpy(rows)[4:5], to_numpy(alone), rtol=1e-4, atol=1e-5)


def models(space=None):
    asarray = np.asarray if space is None else space.asarray
    two = nets.Network((2, 4, 2))
    v = two.scaled_variances(1.5, 0.5, like=asarray(np.zeros(1)))
    return nets.BayesianNetwork(two, v), nets.BayesianNetwork(nets.Network((2, 4, 1)), 0.7, 0.3)


@pytest.mark.parametrize("which", [0, 1])
def test_the_joint_is_the_sum_of_scipys_densities(space, numbers, which):
    X, y, rng = numbers
    model, plain = models(space)[which], models()[which]
    theta = rng.normal(size=(2, model.network.num_weights))
    counts = rng.integers(0, 3, size=(2, 9)).astype(float)
    found, slope = nets.log_joint_and_gradient(
        model, *map(space.asarray, (theta, X, y)), counts=space.asarray(counts)
    )

    def wanted(t, c):
        F = plain.network(t, X)
        sd = np.exp(0.5 * F[:, 1]) if which == 0 else 0.3**0.5
        prior = stats.norm.logpdf(t, 0, plain.variances(t) ** 0.5).sum()
        return c @ stats.norm.logpdf(y, F[:, 0], sd) + prior

    rtol = 1e-10 if space.double else 1e-4
    np.testing.assert_allclose(
        to_numpy(found), [wanted(*both) for both in zip(theta, counts, strict=True)], rtol=rtol
    )
    by_steps = [
        differences(lambda t, c=c: wanted(t, c), t) for t, c in zip(theta, counts, strict=True)
    ]
    scale = np.max(np.abs(by_steps))
    np.testing.assert_allclose(
        to_numpy(slope), by_steps, rtol=1e-3, atol=(1e-7 if space.double else 1e-3) * scale
    )
    alone = nets.log_joint(model, space.asarray(theta[0]), space.asarray(X), space.asarray(y))
    assert alone.shape == ()


def test_where_the_density_overflows_there_is_a_wall(space, numbers):
    X, y, _ = numbers
    model = models(space)[0]
    theta = np.zeros((2, model.network.num_weights))
    theta[1, -1] = -1e4
    value, slope = nets.log_joint_and_gradient(model, *map(space.asarray, (theta, X, y)))
    value, slope = to_numpy(value), to_numpy(slope)
    assert np.isfinite(value[0])
    assert value[1] == -np.inf
    assert np.any(slope[0] != 0.0)
    assert not np.any(slope[1])
    none = space.asarray(np.zeros(9))  # no share of an infinite density is no number
    value = nets.log_joint(model, *map(space.asarray, (theta, X, y)), counts=none)
    assert np.isfinite(to_numpy(value)).tolist() == [True, False]
    assert to_numpy(value)[1] == -np.inf


def test_a_resampled_reading_counts_as_often_as_it_stands(numbers):
    X, y, rng = numbers
    model = models()[0]
    theta = rng.normal(size=model.network.num_weights)
    counts = nets.bootstrap_counts(9, 1, rng=stream(1))[0]
    assert counts.sum() == 9
    assert set(counts) <= set(range(10))
    rows = np.repeat(np.arange(9), counts.astype(int))
    np.testing.assert_allclose(
        nets.log_joint(model, theta, X, y, counts=counts),
        nets.log_joint(model, theta, X[rows], y[rows]),
    )


def test_a_wide_network_has_the_arc_cosine_kernel():
    """By 200 000 draws of a hidden neuron: the covariance does not depend on the width."""
    X = np.asarray([[-1.0], [0.3], [2.0]])
    net = nets.Network((1, 1, 1), "relu")
    model = nets.BayesianNetwork(net, net.scaled_variances(1.3, 0.6, like=X), 1.0)
    F = net(model.draw(200_000, rng=stream(0)), X)[..., 0]
    kernel = ArcCosine(1.0, 1.3, 0.6)
    wanted = 0.6 + 1.3 * kernel(X) / 2
    np.testing.assert_allclose(F.T @ F / len(F), wanted, rtol=0.05, atol=0.05)


def test_an_ensemble_is_its_members_one_by_one(space, numbers):
    X, y, _ = numbers
    model = models(space)[0]
    data = space.asarray(X), space.asarray(y)
    starts = model.draw(3, like=data[0], rng=stream(2))
    counts = nets.bootstrap_counts(9, 3, like=data[0], rng=stream(3))
    found = nets.map_estimate(model, *data, starts, num_steps=20, counts=counts)
    assert found.trace.shape == (20, 3)
    assert array_namespace(found.theta) == space.xp
    for k in range(3):
        alone = nets.map_estimate(model, *data, starts[k, :], num_steps=20, counts=counts[k, :])
        np.testing.assert_allclose(
            to_numpy(found.theta[k, :]), to_numpy(alone.theta), rtol=1e-2, atol=tolerance(space)
        )


def test_the_most_probable_weights_of_a_line_are_those_of_ridge_regression(numbers):
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    found = nets.map_estimate(model, X, y, np.zeros(3), num_steps=3000, learning_rate=0.05).theta
    A = np.column_stack([X, np.ones(9)])
    np.testing.assert_allclose(
        found, np.linalg.solve(A.T @ A + 0.25 * np.eye(3), A.T @ y), atol=1e-6
    )


def test_the_two_parts_make_the_variance_of_the_mixture(space, numbers):
    _, y, rng = numbers
    means, variances = rng.normal(size=(4, 9)), 0.2 + rng.random((4, 9))
    mix = nets.Mixture(space.asarray(means), space.asarray(variances))
    t = np.linspace(-12, 12, 24001)
    density = stats.norm.pdf(t[:, None, None], means, variances**0.5).mean(axis=1)
    h = t[1] - t[0]
    mean = h * t @ density
    whole = h * (t**2) @ density - mean**2
    np.testing.assert_allclose(to_numpy(mix.mean), mean, rtol=tolerance(space), atol=1e-6)
    parts = to_numpy(mix.aleatoric) + 3 / 4 * to_numpy(mix.epistemic)
    np.testing.assert_allclose(parts, whole, rtol=tolerance(space) * 10)
    np.testing.assert_allclose(
        to_numpy(mix.variance), to_numpy(mix.aleatoric + mix.epistemic), rtol=1e-6
    )
    found = to_numpy(mix.log_density(space.asarray(y)))
    wanted = np.log(stats.norm.pdf(y, means, variances**0.5).mean(axis=0))
    np.testing.assert_allclose(found, wanted, rtol=tolerance(space) * 10)
    np.testing.assert_allclose(
        to_numpy(mix.cdf(space.asarray(y))),
        stats.norm.cdf(y, means, variances**0.5).mean(axis=0),
        rtol=tolerance(space) * 10,
    )


def test_quantiles_of_a_mixture_have_their_share_below(space, numbers):
    rng = numbers[2]
    means, sd = 3.0 * rng.normal(size=(4, 9)), 0.2 + rng.random((4, 9))
    mix = nets.Mixture(space.asarray(means), space.asarray(sd**2))
    for share in (0.01, 0.5, 0.95):
        found = to_numpy(mix.quantile(share))
        below = stats.norm.cdf(found, means, sd).mean(axis=0)
        np.testing.assert_allclose(below, share, rtol=1e-10 if space.double else 1e-3)


def test_a_mixture_far_away_has_a_log_density():
    mix = nets.Mixture(np.zeros((2, 1)), np.ones((2, 1)))
    np.testing.assert_allclose(mix.log_density(np.asarray([60.0])), stats.norm.logpdf(60.0))


def test_the_bound_has_the_derivatives_of_its_draws(space, numbers):
    X, y, rng = numbers
    model, plain = models(space)[0], models()[0]
    p = plain.network.num_weights
    mean, log_sd, noise = rng.normal(size=p), rng.normal(size=p) - 1.0, rng.normal(size=(5, p))

    def wanted(m, s):
        theta, v = m + np.exp(s) * noise, plain.variances(m)
        F = plain.network(theta, X)
        fits = stats.norm.logpdf(y, F[..., 0], np.exp(0.5 * F[..., 1])).sum(axis=1).mean()
        kl = 0.5 * np.sum((m**2 + np.exp(2 * s)) / v - 1 - 2 * s + np.log(v))
        return fits - kl

    q = nets.MeanField(space.asarray(mean), space.asarray(log_sd))
    value, slope = nets.elbo_and_gradient(model, q, *map(space.asarray, (noise, X, y)))
    assert value == pytest.approx(wanted(mean, log_sd), rel=1e-9 if space.double else 1e-4)
    by_mean = differences(lambda m: wanted(m, log_sd), mean)
    by_sd = differences(lambda s: wanted(mean, s), log_sd)
    atol = (1e-7 if space.double else 1e-3) * np.max(np.abs(by_sd))
    np.testing.assert_allclose(to_numpy(slope.mean), by_mean, rtol=1e-3, atol=atol)
    np.testing.assert_allclose(to_numpy(slope.log_sd), by_sd, rtol=1e-3, atol=atol)


def test_a_bound_of_one_draw_is_the_term_of_it_in_the_mean(numbers):
    X, y, rng = numbers
    model = models()[0]
    q = nets.MeanField(*rng.normal(size=(2, model.network.num_weights)))
    noise = rng.normal(size=(2, model.network.num_weights))
    both = nets.elbo_and_gradient(model, q, noise, X, y)[0]
    alone = [nets.elbo_and_gradient(model, q, row, X, y)[0] for row in (noise[:1], noise[1:])]
    assert np.mean(alone) == pytest.approx(both, rel=1e-12)
    assert alone[0] != alone[1]
    with pytest.raises(ValueError, match=r"noise must have at least one row; got shape \(0, 22\)"):
        nets.elbo_and_gradient(model, q, noise[:0], X, y)


def test_draws_of_a_mean_field_have_its_moments(rng):
    q = nets.MeanField(rng.normal(size=3), np.log([0.1, 1.0, 3.0]))
    draws = q.draw(20_000, rng=stream(0))
    np.testing.assert_allclose((draws.mean(axis=0) - q.mean) / np.exp(q.log_sd), 0.0, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0), np.exp(q.log_sd), rtol=0.03)


def test_the_mean_field_of_a_line_is_the_best_there_is(numbers):
    """Of a normal posterior: its mean, and one over the diagonal of its precision."""
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    start = nets.MeanField(np.zeros(3), np.full(3, -2.0))
    found = nets.fit_mean_field(model, X, y, start, num_steps=3000, num_samples=20, rng=stream(0))
    A = np.column_stack([X, np.ones(9)])
    P = A.T @ A / 0.5 + np.eye(3) / 2.0
    np.testing.assert_allclose(found.q.mean, np.linalg.solve(P, A.T @ y / 0.5), atol=0.02)
    np.testing.assert_allclose(np.exp(-2 * found.q.log_sd), np.diag(P), rtol=0.05)
    assert found.trace.shape == (3000,)


def test_one_network_a_step_will_do_and_none_will_not(numbers):
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    start = nets.MeanField(np.zeros(3), np.full(3, -2.0))
    fit = lambda n: nets.fit_mean_field(model, X, y, start, num_steps=2, num_samples=n, rng=1)  # noqa: E731
    assert np.isfinite(fit(1).trace).all()
    with pytest.raises(ValueError, match="num_samples must be a whole number from 1; got 0"):
        fit(0)


def test_moments_that_run_are_those_of_all(space, rng):
    thetas = rng.normal(size=(7, 3)) + 2.0
    moments = nets.RunningMoments.init(space.asarray(thetas[0]))
    swag = nets.SWAG.init(space.asarray(thetas[0]), 4)
    means = [thetas[: t + 1].mean(axis=0) for t in range(7)]
    for theta in thetas[1:]:
        moments, swag = moments.update(space.asarray(theta)), swag.update(space.asarray(theta))
    rtol = 1e-10 if space.double else 1e-4
    np.testing.assert_allclose(to_numpy(moments.mean), means[-1], rtol=rtol)
    np.testing.assert_allclose(
        to_numpy(moments.covariance()), np.cov(thetas.T), rtol=rtol, atol=1e-6
    )
    D = (thetas - np.asarray(means))[-4:]
    wanted = 0.5 * np.diag(thetas.var(axis=0)) + D.T @ D / 6.0
    np.testing.assert_allclose(to_numpy(swag.covariance()), wanted, rtol=rtol * 10)
    draws = to_numpy(swag.draw(40_000, rng=stream(0)))
    np.testing.assert_allclose(draws.mean(axis=0), means[-1], atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), wanted, atol=0.05)


def test_moments_keep_their_digits_where_the_mean_is_large(rng):
    thetas = 1e8 + rng.normal(size=(50, 2))
    moments = nets.RunningMoments.init(thetas[0])
    for theta in thetas[1:]:
        moments = moments.update(theta)
    np.testing.assert_allclose(moments.covariance(), np.cov(thetas.T), rtol=1e-6)


def test_snapshots_are_taken_of_noisy_steps(space, numbers):
    X, y, _ = numbers
    model = models(space)[0]
    data = space.asarray(X), space.asarray(y)
    start = nets.map_estimate(model, *data, model.draw(1, like=data[0], rng=stream(0))[0, :]).theta
    found = nets.fit_swag(model, *data, start, num_steps=100, batch=3, rank=5, rng=stream(1))
    assert found.count == 10
    assert len(found.deviations) == 5
    assert float(space.xp.max(found.squared_deviations)) > 0.0
    still = nets.fit_swag(
        model, *data, start, num_steps=100, batch=3, rank=5, learning_rate=1e-9, rng=stream(1)
    )
    np.testing.assert_allclose(to_numpy(still.mean), to_numpy(start), rtol=1e-3, atol=1e-5)


def test_the_fewest_readings_and_deviations_are_taken(numbers):
    X, y, _ = numbers
    model = models()[0]
    theta, settings = np.full(model.network.num_weights, 0.1), {"num_steps": 4, "every": 1}
    found = nets.fit_swag(model, X, y, theta, batch=1, rank=2, rng=stream(0), **settings)
    assert (found.count, found.rank, len(found.deviations)) == (4, 2, 2)
    assert nets.fit_swag(model, X, y, theta, batch=9, rng=stream(0), **settings).count == 4
    assert nets.SWAG.init(theta, 2).rank == 2


@pytest.mark.parametrize(("steps", "most"), [(1, 1), (2, 1), (5, 2), (6, 3)])
def test_there_are_two_snapshots_where_there_are_two_steps(numbers, steps, most):
    X, y, _ = numbers
    model = models()[0]
    theta, settings = np.full(model.network.num_weights, 0.1), {"num_steps": steps, "batch": 2}
    found = nets.fit_swag(model, X, y, theta, every=most, rng=stream(0), **settings)
    assert found.count == (2 if steps > 1 else 1)
    with pytest.raises(ValueError, match=f"every must be a whole number from 1 to {most}; got"):
        nets.fit_swag(model, X, y, theta, every=most + 1, rng=stream(0), **settings)


def test_a_step_from_some_readings_has_their_share_of_the_prior():
    """All rows are equal, so that it does not matter which are drawn."""
    X, y = np.full((8, 2), 0.4), np.full(8, 1.2)
    model = models()[0]
    theta = np.linspace(-1.0, 1.0, model.network.num_weights)
    found = nets.fit_swag(
        model, X, y, theta, num_steps=2, every=1, learning_rate=0.05, batch=2, rng=stream(0)
    )
    for _ in range(2):
        last = theta = theta + 0.05 / 8 * nets.log_joint_and_gradient(model, theta, X, y)[1]
    first = 2 * found.mean - last
    before = np.linspace(-1.0, 1.0, model.network.num_weights)
    np.testing.assert_allclose(
        first, before + 0.05 / 8 * nets.log_joint_and_gradient(model, before, X, y)[1], rtol=1e-9
    )


def test_the_rate_falls_along_a_line_to_zero(numbers):
    X, y, _ = numbers
    model = models()[0]
    theta = start = model.draw(1, rng=stream(0))[0]
    adam = Adam(0.1, start)
    for share in (1.0, 0.75, 0.5, 0.25):
        theta = theta + adam.step(nets.log_joint_and_gradient(model, theta, X, y)[1], share)
    found = nets.map_estimate(model, X, y, start, num_steps=4, learning_rate=0.1)
    np.testing.assert_allclose(found.theta, theta, rtol=1e-12)


@pytest.mark.parametrize("kind", ["dropconnect", "dropout"])
def test_what_is_dropped(space, kind):
    net = nets.Network((2, 3, 4, 1))
    masks = nets.dropout_masks(
        net, 4000, dropout_rate=0.3, kind=kind, like=space.asarray(np.ones(1)), rng=stream(0)
    )
    host = to_numpy(masks)
    assert array_namespace(masks) == space.xp
    assert set(np.unique(host)) == {0.0, 1.0}
    layers = net.layers(masks)
    for number, (W, b) in enumerate(layers):
        W, b = to_numpy(W), to_numpy(b)
        assert np.all(b == 1.0)
        whole = kind == "dropout"
        if whole and number == 0:
            assert np.all(W == 1.0)
            continue
        np.testing.assert_allclose(W.mean(axis=0), 0.7, atol=0.05)
        together = np.mean(W[:, 0, 0] * W[:, 0, -1]) if W.shape[2] > 1 else 0.7
        assert together == pytest.approx(0.7 if whole or W.shape[2] == 1 else 0.49, abs=0.05)


def test_dropconnect_of_a_line_has_the_weights_of_its_expected_loss(rng):
    """The mean of squares over all masks is quadratic in the weights, and solved here."""
    X, drop = rng.normal(size=(12, 2)), 0.4
    y = X @ np.asarray([2.0, -1.5]) + rng.normal(size=12)
    model = nets.BayesianNetwork(nets.Network((2, 1)), 1.0, 0.5)
    found = nets.fit_mc_dropout(
        model,
        X,
        y,
        np.zeros(3),
        dropout_rate=drop,
        num_steps=4000,
        num_samples=50,
        learning_rate=0.02,
        rng=stream(0),
    ).theta
    A, keep = np.column_stack([X, np.ones(12)]), np.asarray([1 - drop, 1 - drop, 1.0])
    second = np.outer(keep, keep) + np.diag(keep * (1 - keep))
    P = A.T @ A * second / 0.5 + np.diag(keep)
    np.testing.assert_allclose(found, np.linalg.solve(P, keep * (A.T @ y) / 0.5), atol=0.02)


def test_nothing_dropped_is_the_most_probable(numbers):
    X, y, _ = numbers
    model = models()[0]
    start = model.draw(1, rng=stream(0))[0]
    plain = nets.map_estimate(model, X, y, start, num_steps=50)
    found = nets.fit_mc_dropout(model, X, y, start, dropout_rate=0.0, num_steps=50, rng=stream(1))
    np.testing.assert_allclose(found.theta, plain.theta, rtol=1e-9)
    volume = 0.5 * np.sum(np.log(2.0 * np.pi * model.variances(start)))  # of the prior, left out
    np.testing.assert_allclose(found.trace, plain.trace + volume, rtol=1e-9)


def test_dropout_leaves_the_first_layer_whole(numbers):
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    plain = nets.map_estimate(model, X, y, np.zeros(3), num_steps=5)
    settings = {"dropout_rate": 0.4, "kind": "dropout", "num_steps": 5, "rng": stream(1)}
    found = nets.fit_mc_dropout(model, X, y, np.zeros(3), **settings)
    np.testing.assert_allclose(found.theta, plain.theta, rtol=1e-12)


def test_the_last_layer_of_a_line_is_exact(space, numbers):
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    theta = space.asarray(np.asarray([0.3, -0.2, 0.1]))
    found = nets.fit_last_layer(model, theta, space.asarray(X), space.asarray(y))
    A = np.column_stack([X, np.ones(9)])
    lower = to_numpy(found.factors[0].lower)
    rtol = 1e-10 if space.double else 1e-3
    np.testing.assert_allclose(lower @ lower.T, A.T @ A / 0.5 + np.eye(3) / 2, rtol=rtol, atol=1e-4)
    draws = to_numpy(found.draw(40_000, rng=stream(0)))
    np.testing.assert_allclose(draws.mean(axis=0), to_numpy(theta), atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(lower @ lower.T), atol=0.02)


def test_the_last_layer_has_the_expected_curvature(numbers):
    """By differences of the gradient, averaged over readings from the model itself."""
    X, _, rng = numbers
    model = models()[0]
    theta = 0.5 * rng.normal(size=model.network.num_weights)
    F = model.network(theta, X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)

    def slopes(t):
        at = lambda z: nets.log_joint_and_gradient(  # noqa: E731
            model, t, X, F[:, 0] + z * np.exp(0.5 * F[:, 1])
        )[1]
        return sum(w * at(z) for w, z in zip(weights / weights.sum(), nodes, strict=True))

    places = np.arange(theta.size - 10, theta.size)
    h = 1e-5
    bent = [
        (slopes(theta + h * e) - slopes(theta - h * e)) / (2 * h)
        for e in np.eye(theta.size)[places]
    ]
    curvature = -np.asarray(bent)[:, places]
    found = nets.fit_last_layer(model, theta, X, F[:, 0])
    for number, factor in enumerate(found.factors):
        own = np.arange(number, 10, 2)
        np.testing.assert_allclose(
            factor.lower @ factor.lower.T, curvature[np.ix_(own, own)], rtol=1e-5, atol=1e-6
        )
    np.testing.assert_allclose(curvature[::2, 1::2], 0.0, atol=1e-6)
    held = found.draw(3, rng=stream(0))
    np.testing.assert_array_equal(held[:, : theta.size - 10], np.tile(theta[:-10], (3, 1)))
    last = found.draw(4000, rng=stream(1))[:, -10:]
    for number, factor in enumerate(found.factors):
        white = (last - theta[-10:])[:, number::2] @ factor.lower
        np.testing.assert_allclose(np.cov(white.T), np.eye(5), atol=0.1)


def test_all_weights_of_a_line_are_exact(space, numbers):
    """The process with the line's kernel has the same moments, and the same evidence."""
    X, y, _ = numbers
    model = nets.BayesianNetwork(nets.Network((2, 1)), 2.0, 0.5)
    A = np.column_stack([X, np.ones(9)])
    P = A.T @ A / 0.5 + np.eye(3) / 2
    best = np.linalg.solve(P, A.T @ y / 0.5)
    found = nets.fit_linearised_laplace(model, *map(space.asarray, (best, X, y)))
    mean, covariance = found.outputs(space.asarray(X[:4]))
    np.testing.assert_allclose(to_numpy(mean)[:, 0], A[:4] @ best, rtol=1e-4)
    wanted = np.diag(A[:4] @ np.linalg.solve(P, A[:4].T))
    np.testing.assert_allclose(to_numpy(covariance)[:, 0, 0], wanted, rtol=tolerance(space))
    density = stats.multivariate_normal(np.zeros(9), 2 * A @ A.T + 0.5 * np.eye(9))
    assert found.log_evidence == pytest.approx(
        density.logpdf(y), rel=1e-10 if space.double else 1e-4
    )
    mix = found.predict(space.asarray(X[:4]), 40_000, rng=stream(0))
    np.testing.assert_allclose(to_numpy(mix.epistemic), wanted, rtol=0.03)
    draws = to_numpy(found.draw(40_000, rng=stream(1)))
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(P), atol=0.02)


@SHAPES
def test_tangents_have_the_expected_curvature_of_all_weights(space, numbers, sizes, activation):
    """With dense Jacobians by differences of the loops."""
    X, y, rng = numbers
    net = nets.Network(sizes, activation)
    model = nets.BayesianNetwork(net, 0.7)
    theta, new = 0.5 * rng.normal(size=net.num_weights), rng.normal(size=(3, 2))

    def jacobian(at, h=1e-6):
        steps = h * np.eye(theta.size)
        ends = [[by_loops(sizes, activation, theta + s * t, at) for s in (1, -1)] for t in steps]
        return np.stack([(up - down) / (2 * h) for up, down in ends], axis=-1)

    F, J = by_loops(sizes, activation, theta, X), jacobian(X)
    curvature = np.stack([np.exp(-F[:, 1]), np.full(9, 0.5)], axis=1)
    P = np.einsum("nkp,nk,nkq->pq", J, curvature, J) + np.eye(theta.size) / 0.7
    found = nets.fit_linearised_laplace(model, *map(space.asarray, (theta, X, y)))
    lower = to_numpy(found.factor.lower)
    rtol = 1e-6 if space.double else 2e-3
    np.testing.assert_allclose(lower @ lower.T, P, rtol=rtol, atol=1e-3 * rtol * np.max(P))
    value = nets.log_joint(model, theta, X, y)
    wanted = value + 0.5 * (theta.size * np.log(2 * np.pi) - np.linalg.slogdet(P)[1])
    assert found.log_evidence == pytest.approx(wanted, rel=rtol)
    mean, covariance = map(to_numpy, found.outputs(space.asarray(new)))
    np.testing.assert_allclose(mean, by_loops(sizes, activation, theta, new), rtol=1e-3)
    at = jacobian(new)
    wanted = np.einsum("nkp,pq,njq->nkj", at, np.linalg.inv(P), at)
    np.testing.assert_allclose(covariance, wanted, rtol=rtol, atol=rtol)
    mix = found.predict(space.asarray(new), 40_000, rng=stream(0))
    np.testing.assert_allclose(to_numpy(mix.epistemic), wanted[:, 0, 0], rtol=0.03)
    np.testing.assert_allclose(
        np.log(to_numpy(mix.variances)).var(axis=0), wanted[:, 1, 1], rtol=0.03
    )


WRONG = {
    "a NaN at the start": (
        lambda m, X, y: nets.map_estimate(m, X, y, np.full(m.network.num_weights, np.nan)),
        "start must be finite",
    ),
    "a start without a value": (
        lambda m, X, y: nets.map_estimate(m, X, y, np.full(m.network.num_weights, -1e4)),
        "start must be smaller",
    ),
    "a rate that leads astray": (
        lambda m, X, y: nets.fit_swag(
            m, X, y, np.full(m.network.num_weights, 0.1), learning_rate=1e6, batch=2, rng=stream(0)
        ),
        "learning_rate must be smaller",
    ),
    "no readings": (
        lambda m, X, y: nets.log_joint(m, np.zeros(m.network.num_weights), X[:0], y[:0]),
        "X must have at least one row",
    ),
    "one snapshot": (
        lambda m, X, y: nets.RunningMoments.init(y).covariance(), "count must be at least two"
    ),
    "all dropped": (
        lambda m, X, y: nets.dropout_masks(m.network, 1, dropout_rate=1.0, rng=stream(0)),
        "dropout_rate must be below 1",
    ),
    "one output for two": (
        lambda m, X, y: nets.BayesianNetwork(nets.Network((1, 1))), "network must have 2 outputs"
    ),
    "a network without layers": (lambda m, X, y: nets.Network((3,)), "sizes must be at least two"),
    "negative counts": (
        lambda m, X, y: nets.log_joint(
            m, np.zeros(m.network.num_weights), X, y, counts=-1.0 + 0 * y
        ),
        "counts must be non-negative",
    ),
    "counts of other readings": (
        lambda m, X, y: nets.log_joint(m, np.zeros(m.network.num_weights), X, y, counts=np.ones(3)),
        "counts must have shape",
    ),
    "counts of readings for each weight": (
        lambda m, X, y: nets.log_joint(m, np.zeros(22), X, y, counts=np.ones((22, 9))),
        r"counts must have shape \(9,\); got \(22, 9\)",
    ),
    "one deviation": (
        lambda m, X, y: nets.fit_swag(
            m, X, y, np.zeros(m.network.num_weights), num_steps=2, every=1, rank=1, rng=stream(0)
        ),
        "rank must be a whole number from 2",
    ),
    "one deviation from the start": (lambda m, X, y: nets.SWAG.init(y, 1), "rank must be a whole"),
    "no step": (
        lambda m, X, y: nets.map_estimate(m, X, y, np.zeros(22), num_steps=0),
        "num_steps must be a whole number from 1; got 0",
    ),
    "a snapshot every zero steps": (
        lambda m, X, y: nets.fit_swag(m, X, y, np.zeros(22), num_steps=2, every=0, rng=stream(0)),
        "every must be a whole number from 1 to 1; got 0",
    ),
    "a batch of nothing": (
        lambda m, X, y: nets.fit_swag(
            m, X, y, np.zeros(m.network.num_weights), num_steps=2, every=1, batch=0, rng=stream(0)
        ),
        "batch must be a whole number from 1 to 9",
    ),
    "no members": (
        lambda m, X, y: nets.predict(m, np.zeros((0, m.network.num_weights)), X), "thetas must have"
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG, ids=lambda said: said.replace(" ", "-"))
def test_what_is_wrong_is_named(numbers, said):
    X, y, _ = numbers
    call, words = WRONG[said]
    with pytest.raises(ValueError, match=words):
        call(models()[0], X, y)


def test_more_readings_than_memory_holds_are_told_by_what_they_need():
    with pytest.raises(MemoryError, match=r"n must be smaller: 1\d{30} of them need"):
        nets.bootstrap_counts(10**30, 2, rng=stream(1))


def test_a_frame_of_several_columns_is_refused_wherever_x_is_asked_for(numbers):
    """Weights know columns by position, and a frame's may stand in another order next time."""
    X, y, _ = numbers
    model, theta = nets.BayesianNetwork(nets.Network((2, 1)), noise_variance=1.0), np.ones(3)
    frame, q = pd.DataFrame(X, columns=["b", "a"]), nets.MeanField(theta, -theta)
    tangent = nets.fit_linearised_laplace(model, theta, X, y)
    calls = [
        lambda X: nets.map_estimate(model, X, y, theta, num_steps=1),
        lambda X: nets.fit_mc_dropout(model, X, y, theta, dropout_rate=0.1, num_steps=1, rng=1),
        lambda X: nets.fit_swag(model, X, y, theta, num_steps=4, batch=2, every=1, rng=1),
        lambda X: nets.fit_mean_field(model, X, y, q, num_steps=1, rng=1),
        lambda X: nets.fit_last_layer(model, theta, X, y),
        lambda X: nets.fit_linearised_laplace(model, theta, X, y),
        lambda X: nets.predict(model, theta, X),
        tangent.outputs,
        lambda X: tangent.predict(X, 2, rng=1),
    ]
    for call in calls:
        call(pd.DataFrame(X))  # whose columns are numbered
        with pytest.raises(TypeError, match=r"X must be an array: .*give X\[\['b', 'a'\]\].to_nu"):
            call(frame)
    line = nets.BayesianNetwork(nets.Network((1, 1)), noise_variance=1.0)
    assert nets.predict(line, theta[:2], frame[["a"]]).means.shape == (1, 9)
