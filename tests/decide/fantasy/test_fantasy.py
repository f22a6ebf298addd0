"""What a fantasy observation is worth: against refits, quadrature, dense algebra, differences."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import GP, RBF, ExactPosterior, Linear, Matern52, condition, to_numpy
from gpnotes.decide import fantasy
from gpnotes.decide.moments.kernel_expectations import _kernel_mean_and_pullback
from gpnotes.ground.linalg import cholesky
from gpnotes.testing import gradcheck


def test_a_kernels_average_is_that_of_quadrature(make_posterior, make_state, nodes, rng):
    for rank, parts in ((2, 1), (1, 3), (0, 2)):
        kernel, (m, S) = make_posterior(parts=parts).gp.kernel, make_state(rank=rank)
        Z = rng.normal(size=(5, 2))
        x, w = nodes(m, S)
        value, _ = _kernel_mean_and_pullback(kernel, Z, m, S)
        np.testing.assert_allclose(value, w @ kernel(x, Z), rtol=1e-9)


def test_a_scaled_kernels_average_and_what_is_learnt_with_it(make_state, rng):
    X, (m, S), x = rng.normal(size=(4, 2)), make_state(), rng.normal(size=(3, 2))
    scaled, plain = (
        condition(GP(kernel, 0.1), X, X[:, 0]) for kernel in (2.0 * RBF(1.0, 0.8), RBF(2.0, 0.8))
    )
    np.testing.assert_allclose(
        fantasy.variance_reduction(scaled, m, S, x),
        fantasy.variance_reduction(plain, m, S, x),
        rtol=1e-13,
    )


def test_the_pullback_of_a_kernels_average(make_posterior, make_state, rng):
    kernel, (m, _), root = make_posterior(parts=2).gp.kernel, make_state(), rng.normal(size=(2, 3))

    def value(Z, m, root):
        return _kernel_mean_and_pullback(kernel, Z, m, root @ root.T)[0]

    def pullback(Z, m, root, bar):
        Z_bar, m_bar, S_bar = _kernel_mean_and_pullback(kernel, Z, m, root @ root.T)[1](bar)
        np.testing.assert_array_equal(S_bar, S_bar.T)
        return Z_bar, m_bar, 2.0 * S_bar @ root

    gradcheck(value, pullback, rng.normal(size=(4, 2)), m, root)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("rank", [1, 2])
def test_the_reduction_is_that_of_a_refit_for_every_fantasy(
    make_posterior, make_state, variance_of, refitted, rng, parts, rank
):
    posterior, (m, S) = make_posterior(parts=parts), make_state(rank=rank)
    candidates = rng.normal(size=(3, 2))
    reductions = fantasy.variance_reduction(posterior, m, S, candidates)
    before = sum(variance_of(posterior, m, S))
    for x_hat, fall in zip(candidates, reductions, strict=True):
        np.testing.assert_allclose(before - sum(refitted(posterior, m, S, x_hat)), fall, rtol=1e-8)


def test_the_reduction_lives_where_its_arguments_do(space, make_posterior, make_state, rng):
    host, (m, S), x = make_posterior(parts=2), make_state(), rng.normal(size=(4, 2))
    parts = [RBF(part.variance, space.asarray(part.lengthscale)) for part in host.gp.kernel.parts]
    gp = GP(parts[0] + parts[1], host.gp.noise_var)
    there = condition(gp, space.asarray(host.X), space.asarray(host.y))
    args = space.asarray(m), space.asarray(S), space.asarray(x)
    tolerance = 1e-10 if space.double else 2e-4
    reductions, pull = fantasy.variance_reduction_and_pullback([there, there], *args)
    assert space.holds(reductions)
    np.testing.assert_allclose(
        to_numpy(reductions)[:, 1],
        fantasy.variance_reduction(host, m, S, x),
        rtol=tolerance,
        atol=tolerance,
    )
    for bar in pull(reductions * 0.0 + 1.0):
        assert space.holds(bar)
    assert space.holds(fantasy.mean_covariance(there, *args))
    assert space.holds(fantasy.batch_variance_reduction([there], *args))
    for choice in (fantasy.best(there, *args), *fantasy.greedy(there, *args, 2)):
        assert space.holds(choice.input)
    climbed = fantasy.refine(there, *args[:2], choice, [(-3.0, 3.0)] * 2)
    assert space.holds(climbed.input)
    assert climbed.reduction >= float(fantasy.variance_reduction(there, *args)[choice.row]) * 0.999


def test_only_the_inputs_of_the_data_matter(make_posterior, make_state, rng):
    posterior, (m, S), x = make_posterior(), make_state(), rng.normal(size=(4, 2))
    other = condition(posterior.gp, posterior.X, 5.0 + 3.0 * posterior.y)
    np.testing.assert_array_equal(
        fantasy.variance_reduction(posterior, m, S, x), fantasy.variance_reduction(other, m, S, x)
    )


def test_a_known_input_is_the_exact_limit(make_posterior, make_state, rng):
    posterior, x = make_posterior(), rng.normal(size=(3, 2))
    m = rng.normal(size=2)
    both = posterior.covariance(np.vstack([m, x]))
    exact = both[0, 1:] ** 2 / (np.diag(both)[1:] + posterior.gp.noise_var)
    reductions = fantasy.variance_reduction(posterior, m, np.zeros((2, 2)), x)
    np.testing.assert_allclose(reductions, exact, rtol=1e-12)
    nearly = fantasy.variance_reduction(posterior, m, 1e-14 * np.eye(2), x)
    np.testing.assert_allclose(nearly, exact, rtol=1e-10)
    np.testing.assert_allclose(
        fantasy.variance_reduction(posterior, m, np.zeros((2, 2)), m[None, :]),
        both[0, 0] ** 2 / (both[0, 0] + posterior.gp.noise_var),
        rtol=1e-12,
    )


def test_far_away_there_is_nothing_to_learn(make_posterior, make_state):
    posterior, (m, S) = make_posterior(), make_state()
    away = m + np.outer([0.0, 3.0, 6.0, 12.0, 1e3], np.ones(2))
    reductions = fantasy.variance_reduction(posterior, m, S, away)
    assert np.all(np.diff(reductions[1:]) <= 0.0)
    assert reductions[0] > 1e-3
    assert reductions[3] < 1e-12
    assert reductions[4] == 0.0


def test_an_observation_repeated_with_noise_is_an_ordinary_one(
    make_posterior, make_state, variance_of, refitted
):
    posterior, (m, S) = make_posterior(), make_state()
    again = posterior.X[2:3, :]
    reductions = fantasy.variance_reduction(posterior, m, S, again)
    assert reductions[0] > 0.0
    after = sum(refitted(posterior, m, S, again))
    np.testing.assert_allclose(reductions, sum(variance_of(posterior, m, S)) - after, rtol=1e-7)


def test_an_observation_repeated_without_noise_teaches_nothing(make_state, rng):
    for n in (1, 5, 12):
        X, (m, S) = 2.0 * rng.normal(size=(n, 2)), make_state()
        posterior = condition(GP(RBF(2.0, 0.7), 0.0), X, rng.normal(size=n))
        assert posterior.cholesky.jitter == 0.0
        np.testing.assert_array_equal(fantasy.variance_reduction(posterior, m, S, X), np.zeros(n))
        value, pull = fantasy.variance_reduction_and_pullback(posterior, m, S, X)
        assert not np.any(value)
        assert all(not np.any(bar) for bar in pull(np.ones(n)))
        elsewhere = np.vstack([X, X.mean(axis=0) + 1.0])
        picks = fantasy.greedy(posterior, m, S, elsewhere, 2)
        assert picks[0].row == n
        assert picks[0].reduction > picks[1].reduction == 0.0


def test_jitter_is_noise_for_a_fantasy_as_it_is_for_the_data(rng):
    X, y, x, m = rng.normal(size=(3, 2)), np.ones(3), rng.normal(size=(1, 2)), rng.normal(size=2)
    gp = GP(RBF(2.0, 0.7), 0.0)
    factor = cholesky(gp.kernel(X), jitter=0.2)
    posterior = ExactPosterior(gp, X, y, factor, y, factor.solve(y))
    assert posterior.cholesky.jitter == 0.2
    before = posterior.variance(m[None, :])[0]
    after = posterior.extend(x, y[:1]).variance(m[None, :])[0]
    reductions = fantasy.variance_reduction(posterior, m, np.zeros((2, 2)), x)[0]
    np.testing.assert_allclose(reductions, before - after, rtol=1e-10)


@pytest.mark.parametrize("noise_var", [4e-4, 1e-3])
def test_single_precision_and_many_data_with_little_noise(rng, noise_var):
    """The noise is known exactly: what it divides is small here, and not nothing."""
    n, root = 500, np.asarray([[0.2, 0.0], [0.1, 0.2]])
    arrays = rng.uniform(-1, 1, (n, 2)), np.zeros(n), rng.uniform(-1, 1, (100, 2)), root @ root.T
    values, picks = [], []
    for dtype in (np.float32, np.float64):
        X, y, x, S = (a.astype(dtype) for a in arrays)
        posterior = condition(GP(RBF(1.0, np.full(2, 0.5, dtype)), noise_var), X, y)
        values.append(fantasy.variance_reduction(posterior, X[0], S, x))
        picks.append([choice.row for choice in fantasy.greedy(posterior, X[0], S, x, 3)])
    assert values[0].dtype == np.float32
    np.testing.assert_allclose(values[0], values[1], atol=0.2 * values[1].max())
    worth = [fantasy.batch_variance_reduction(posterior, X[0], S, x[picked]) for picked in picks]
    assert worth[0] > 0.9 * worth[1]  # candidates may be so near that rounding chooses


def test_next_to_an_exact_observation_it_is_the_slope_that_one_learns(nodes):
    """Without noise the reduction is not continuous at the data: beside them it is that of an
    observed derivative, computed here from derivatives of the kernel."""
    ell, m, S = 0.8, np.asarray([0.4]), np.asarray([[0.3]])
    X = np.asarray([[0.0], [1.5]])
    posterior = condition(GP(RBF(1.0, ell), 0.0), X, np.asarray([0.2, -0.4]))
    x, w = nodes(m, S, 60)
    # cov(f(x), f'(0)) and var f'(0) given f(0), f(1.5), from k'(x, 0) = k(x, 0) x / ell²
    kernel, Kff = posterior.gp.kernel, posterior.gp.kernel(X)
    prior = kernel(x, X[:1])[:, 0] * x[:, 0] / ell**2
    to_data = kernel(X, X[:1])[:, 0] * X[:, 0] / ell**2
    cross = w @ (prior - kernel(x, X) @ np.linalg.solve(Kff, to_data))
    slope_var = 1.0 / ell**2 - to_data @ np.linalg.solve(Kff, to_data)
    near = fantasy.variance_reduction(posterior, m, S, np.asarray([[1e-4], [-1e-4]]))
    np.testing.assert_allclose(near, cross**2 / slope_var, rtol=1e-3)
    assert fantasy.variance_reduction(posterior, m, S, X[:1])[0] == 0.0


def test_no_noise_and_a_fresh_input_is_the_limit_of_little_noise(make_state, rng):
    X, (m, S), x = 2.0 * rng.normal(size=(5, 2)), make_state(), rng.normal(size=(3, 2))
    reductions = [
        fantasy.variance_reduction(condition(GP(RBF(2.0, 0.7), noise), X, np.zeros(5)), m, S, x)
        for noise in (0.0, 1e-13)
    ]
    np.testing.assert_allclose(*reductions, rtol=1e-9)
    assert np.all(reductions[0] > 0.0)


def test_it_never_takes_more_than_an_average_of_f_has(make_posterior, make_state, nodes, rng):
    posterior, (m, S) = make_posterior(), make_state()
    x, w = nodes(m, S, 12)
    all_there_is = w @ posterior.covariance(x) @ w
    reductions = fantasy.variance_reduction(posterior, m, S, rng.normal(size=(50, 2)))
    assert reductions.min() >= 0.0
    assert reductions.max() <= all_there_is
    batch = fantasy.batch_variance_reduction(posterior, m, S, rng.normal(size=(9, 2)))
    assert reductions.max() * 0.5 < batch <= all_there_is


def test_several_inputs_add_and_several_outputs_stand_in_columns(make_posterior, make_state, rng):
    first, second = make_posterior(n=7), make_posterior(n=5, parts=2)
    (m, S), (m2, S2), x = make_state(), make_state(rank=1), rng.normal(size=(6, 2))
    both = np.stack([m, m2]), np.stack([S, S2])
    reductions = fantasy.variance_reduction([first, second], *both, x)
    assert reductions.shape == (6, 2)
    for column, posterior in zip(reductions.T, (first, second), strict=True):
        one = fantasy.variance_reduction(posterior, m, S, x)
        np.testing.assert_allclose(column, one + fantasy.variance_reduction(posterior, m2, S2, x))
    cross = fantasy.mean_covariance(first, *both, x)
    assert cross.shape == (2, 6)
    np.testing.assert_allclose(cross[1], fantasy.mean_covariance(first, m2, S2, x))


def test_the_averaged_covariance_is_that_of_quadrature(make_posterior, make_state, nodes, rng):
    posterior, (m, S), x_hat = make_posterior(parts=2), make_state(), rng.normal(size=(3, 2))
    x, w = nodes(m, S, 24)
    joint = posterior.covariance(np.vstack([x, x_hat]))[: len(x), len(x) :]
    covariances = fantasy.mean_covariance(posterior, m, S, x_hat)
    np.testing.assert_allclose(covariances, w @ joint, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("several", [False, True])
def test_gradients(make_posterior, make_state, rng, several):
    posteriors = [make_posterior(), make_posterior(n=4, parts=2)] if several else make_posterior()
    m = rng.normal(size=(3, 2)) if several else rng.normal(size=2)
    root = rng.normal(size=(3, 2, 2)) if several else rng.normal(size=(2, 2))

    def value(x, m, root):
        return fantasy.variance_reduction(posteriors, m, root @ np.swapaxes(root, -1, -2), x)

    def pullback(x, m, root, bar):
        S = root @ np.swapaxes(root, -1, -2)
        x_bar, m_bar, S_bar = fantasy.variance_reduction_and_pullback(posteriors, m, S, x)[1](bar)
        return x_bar, m_bar, 2.0 * S_bar @ root

    gradcheck(value, pullback, rng.normal(size=(4, 2)), m, root)


def test_a_covariance_off_by_rounding_is_taken_as_its_symmetric_part(make_posterior, rng):
    posterior, m, x = make_posterior(), rng.normal(size=2), rng.normal(size=(3, 2))
    S = np.asarray([[0.4, 0.1], [0.1 + 1e-9, 0.3]])
    np.testing.assert_array_equal(
        fantasy.variance_reduction(posterior, m, S, x),
        fantasy.variance_reduction(posterior, m, S.T, x),
    )
    below = np.asarray([[1.0, 0.0], [0.0, -1e-12]])  # as matching of moments may leave it
    np.testing.assert_allclose(
        fantasy.variance_reduction(posterior, m, below, x),
        fantasy.variance_reduction(posterior, m, np.diag([1.0, 0.0]), x),
    )


def test_portions_change_nothing(make_posterior, make_state, rng, monkeypatch):
    posterior, (m, S), x = make_posterior(), make_state(), rng.normal(size=(11, 2))
    whole = fantasy.variance_reduction(posterior, m, S, x)
    monkeypatch.setattr("gpnotes.ground.memory.ENTRIES", 24)  # three candidates at a time
    np.testing.assert_allclose(fantasy.variance_reduction(posterior, m, S, x), whole, rtol=1e-12)


def test_a_batch_is_worth_a_quadratic_form(make_posterior, make_state, rng):
    posterior, (m, S), batch = make_posterior(), make_state(), rng.normal(size=(4, 2))
    c, C = (
        fantasy.mean_covariance(posterior, m, S, batch),
        posterior.covariance(batch, noise=True),
    )
    reduction = fantasy.batch_variance_reduction(posterior, m, S, batch)
    np.testing.assert_allclose(reduction, c @ np.linalg.solve(C, c), rtol=1e-11)
    several = fantasy.batch_variance_reduction([posterior, posterior], m, S, batch)
    np.testing.assert_allclose(several, [reduction, reduction])


def test_a_batch_is_worth_what_refits_say(make_posterior, make_state, variance_of, refitted, rng):
    posterior, (m, S), batch = make_posterior(), make_state(), rng.normal(size=(2, 2))
    fall = sum(variance_of(posterior, m, S)) - sum(refitted(posterior, m, S, batch))
    reduction = fantasy.batch_variance_reduction(posterior, m, S, batch)
    np.testing.assert_allclose(reduction, fall, rtol=1e-7)
    assert reduction > fantasy.variance_reduction(posterior, m, S, batch).max()


def test_a_batch_of_duplicates(make_posterior, make_state, rng):
    x = rng.normal(size=(1, 2))
    m, S = make_state()
    noisy = make_posterior()
    twice = fantasy.batch_variance_reduction(noisy, m, S, np.vstack([x, x]))
    c, s = fantasy.mean_covariance(noisy, m, S, x)[0], noisy.variance(x)[0]
    np.testing.assert_allclose(twice, c**2 / (s + noisy.gp.noise_var / 2.0), rtol=1e-11)
    exact = condition(GP(noisy.gp.kernel, 0.0), noisy.X, noisy.y)
    once = fantasy.variance_reduction(exact, m, S, x)[0]
    np.testing.assert_allclose(
        fantasy.batch_variance_reduction(exact, m, S, np.vstack([x, x, noisy.X[:2]])),
        once,
        rtol=1e-9,
    )


def test_greedy_choices_promise_what_they_are_worth_together(make_posterior, make_state, rng):
    posteriors, weights = [make_posterior(), make_posterior(n=4)], np.asarray([1.0, 0.3])
    states = np.stack([make_state()[0] for _ in range(3)]), np.stack([make_state()[1]] * 3)
    ground = rng.normal(size=(12, 2))
    choices = fantasy.greedy(posteriors, *states, ground, 4, weights)
    rows = [choice.row for choice in choices]
    assert len(set(rows)) == 4
    worth = fantasy.batch_variance_reduction(posteriors, *states, ground[rows]) @ weights
    np.testing.assert_allclose(sum(choice.reduction for choice in choices), worth, rtol=1e-10)
    first = fantasy.best(posteriors, *states, ground, weights)
    assert first.row == rows[0]
    np.testing.assert_allclose(first.reduction, choices[0].reduction)
    for k in range(1, 4):  # each choice is the best of all that are left, by brute force
        rest = [j for j in range(12) if j not in rows[:k]]
        worths = {
            j: fantasy.batch_variance_reduction(posteriors, *states, ground[[*rows[:k], j]])
            @ weights
            for j in rest
        }
        assert max(worths, key=worths.get) == rows[k]


def test_greedy_is_near_the_best_set_but_not_always_it(make_state, rng):
    """Pairs by brute force: the greedy pair is never better, mostly equal, at times worse."""
    shares = []
    for _ in range(25):
        X, ground = rng.normal(size=(3, 1)), rng.normal(size=(8, 1))
        posterior = condition(GP(RBF(1.0, 0.7), 0.01), X, np.zeros(3))
        m, S = make_state(d=1)
        pairs = [
            fantasy.batch_variance_reduction(posterior, m, S, ground[list(pair)])
            for pair in itertools.combinations(range(8), 2)
        ]
        greedy = sum(one.reduction for one in fantasy.greedy(posterior, m, S, ground, 2))
        shares.append(greedy / max(pairs))
    assert max(shares) <= 1.0 + 1e-9
    assert min(shares) > 0.5
    assert np.mean(np.asarray(shares) > 1.0 - 1e-9) > 0.5
    assert min(shares) < 0.999


def test_gains_are_not_submodular():
    """One observation can make another one worth more: f(1) says little of the average of f around
    0 until f(2), to which it is tied as well, is known. So greedy choice has no guarantee here."""
    posterior = condition(GP(RBF(1.0, 1.0), 1e-3), np.asarray([[9.0]]), np.zeros(1))
    state = np.zeros(1), np.asarray([[0.04]])
    a, b = np.asarray([[1.5]]), np.asarray([[2.5]])
    alone = fantasy.variance_reduction(posterior, *state, b)[0]
    after = fantasy.batch_variance_reduction(posterior, *state, np.vstack([a, b]))
    assert after - fantasy.variance_reduction(posterior, *state, a)[0] > 2.0 * alone


def test_duplicated_candidates_tie_and_the_first_one_wins(make_posterior, make_state, rng):
    posterior, (m, S) = make_posterior(), make_state()
    x = rng.normal(size=(3, 2))
    values = fantasy.variance_reduction(posterior, m, S, np.vstack([x, x]))
    np.testing.assert_allclose(values[:3], values[3:], rtol=1e-13)
    tripled = np.vstack([x[:1], x[:1], x[:1]])
    assert fantasy.best(posterior, m, S, tripled).row == 0
    choices = fantasy.greedy(posterior, m, S, tripled, 3)
    assert [choice.row for choice in choices] == [0, 1, 2]
    assert choices[0].reduction > choices[1].reduction > choices[2].reduction > 0.0


def test_a_climb_ends_where_the_slope_is_zero_or_at_a_bound(make_posterior, make_state, rng):
    posteriors, (m, S) = [make_posterior(), make_posterior(n=4)], make_state()
    weights, grid = np.asarray([1.0, 2.0]), rng.uniform(-2.0, 2.0, size=(30, 2))
    start = fantasy.best(posteriors, m, S, grid, weights)
    refined = fantasy.refine(posteriors, m, S, start, [(-5.0, 5.0), (-60.0, 40.0)], weights)
    assert refined.row == start.row
    assert refined.reduction > start.reduction
    value, pull = fantasy.variance_reduction_and_pullback(posteriors, m, S, refined.input[None, :])
    np.testing.assert_allclose(value[0] @ weights, refined.reduction, rtol=1e-12)
    assert np.max(np.abs(pull(weights[None, :])[0])) < 1e-4 * refined.reduction
    wall = float(start.input[0])
    stopped = fantasy.refine(
        posteriors, m, S, start, [(wall - 1e-3, wall + 1e-3), (-5, 5)], weights
    )
    assert abs(stopped.input[0] - wall) <= 1e-3 + 1e-12
    outside = fantasy.refine(posteriors, m, S, np.asarray([9.0, 0.0]), [(-1, 1)] * 2, weights)
    assert outside.row == -1
    assert np.all(np.abs(outside.input) <= 1.0)


def test_a_climb_follows_the_slope_in_units_of_the_bounds(make_posterior, make_state, monkeypatch):
    posteriors, (m, S), seen = [make_posterior(), make_posterior(n=4)], make_state(), []

    def ascend(rise, start, limits, steps):
        gradcheck(lambda unit: rise(unit)[0], lambda unit, bar: (bar * rise(unit)[1],), start)
        seen.append((rise(start)[0], limits.tolist(), steps))
        return SimpleNamespace(vector=start)

    monkeypatch.setattr("gpnotes.decide.fantasy.choice.ascend", ascend)
    weights, box = np.asarray([1.0, 2.0]), [(-5.0, 5.0), (-60.0, 40.0)]
    refined = fantasy.refine(posteriors, m, S, m + 0.3, box, weights, max_steps=7)
    assert seen == [(pytest.approx(1.0), [[0.0, 1.0]] * 2, 7)]
    np.testing.assert_allclose(refined.input, m + 0.3, rtol=1e-12)


def test_arguments_that_do_not_fit_are_named(make_posterior, make_state):
    posterior, (m, S), x = make_posterior(), make_state(), np.ones((3, 2))
    bad = np.diag([1.0, -0.1])
    cases = [
        ((m, bad, x), "S must be positive semidefinite"),
        ((m, np.asarray([[1.0, 0.5], [0.0, 1.0]]), x), "S must be symmetric"),
        ((m, S * np.nan, x), "S must be finite"),
        ((m, np.eye(3), x), r"S must have shape \(2, 2\)"),
        ((m[:1], S, x), r"m must have shape \(2,\)"),
        ((m[None, :], S, x), r"m and S must have shapes \(T, 2\)"),
        ((np.zeros((0, 2)), np.zeros((0, 2, 2)), x), "T ≥ 1"),
        ((np.stack([m, m]), np.stack([S, bad]), x), r"S\[1\] must be positive semidefinite"),
        ((m, S, x[:0]), "candidates must have at least one row"),
        ((m, S, x[:, :1]), r"candidates must have shape \(n, 2\)"),
        ((m, S, x * np.inf), "candidates must be finite"),
    ]
    for args, message in cases:
        for call in (
            fantasy.variance_reduction,
            fantasy.variance_reduction_and_pullback,
            fantasy.best,
        ):
            with pytest.raises(ValueError, match=message):
                call(posterior, *args)
    with pytest.raises(ValueError, match="batch must have at least one row"):
        fantasy.batch_variance_reduction(posterior, m, S, x[:0])
    with pytest.raises(TypeError, match="dtype"):
        fantasy.variance_reduction(posterior, m, S, x.astype(np.float32))
    for models, shape in ((posterior, (3,)), ([posterior], (3, 1))):
        _, pull = fantasy.variance_reduction_and_pullback(models, m, S, x)
        with pytest.raises(ValueError, match="bar must have shape"):
            pull(np.ones((2, *shape[1:])))
        assert pull(np.ones(shape))[0].shape == x.shape


@pytest.mark.parametrize("size", [0, 4, 1.5, -1, float("nan"), float("inf"), True, None])
def test_a_budget_that_the_ground_set_cannot_fill(make_posterior, make_state, size):
    error = ValueError if type(size) is int else TypeError
    with pytest.raises(error, match="size must be a whole number from 1 to 3"):
        fantasy.greedy(make_posterior(), *make_state(), np.ones((3, 2)), size)


def test_models_and_weights_that_do_not_fit_are_named(make_posterior, make_state):
    posterior, (m, S), x = make_posterior(), make_state(), np.ones((3, 2))
    with pytest.raises(ValueError, match="posteriors must hold at least one"):
        fantasy.variance_reduction([], m, S, x)
    with pytest.raises(TypeError, match=r"posteriors must be ExactPosterior; got GP"):
        fantasy.variance_reduction([posterior.gp], m, S, x)
    with pytest.raises(ValueError, match=r"posteriors\[1\].X must have shape \(n, 2\)"):
        fantasy.variance_reduction([posterior, make_posterior(d=3)], m, S, x)
    with pytest.raises(ValueError, match=r"weights must have shape \(1,\)"):
        fantasy.best(posterior, m, S, x, np.ones(2))
    with pytest.raises(ValueError, match="weights must be non-negative"):
        fantasy.best(posterior, m, S, x, -np.ones(1))
    for bounds in ([(0.0, 1.0)], [(0.0, 1.0), (1.0, 1.0)], [(0.0, np.inf)] * 2):
        with pytest.raises(ValueError, match=r"bounds must be 2 pairs \(lower, upper\)"):
            fantasy.refine(posterior, m, S, m, bounds)
    for wrong in ([(0.0, 1.0), (0.0,)], "ab", None):
        with pytest.raises(ValueError, match="bounds must be 2 pairs"):
            fantasy.refine(posterior, m, S, m, wrong)
    with pytest.raises(ValueError, match="max_steps must be a whole number from 1; got 0"):
        fantasy.refine(posterior, m, S, m, [(0.0, 1.0)] * 2, max_steps=0)
    for wrong in (posterior.gp, None):
        with pytest.raises(TypeError, match=r"posteriors must be .* or a sequence of them; got"):
            fantasy.variance_reduction(wrong, m, S, x)
    singles = fantasy.mean_covariance, fantasy.expected_variance, fantasy.expected_variance_parts
    for call, wrong in itertools.product(singles, ([posterior], posterior.gp)):
        with pytest.raises(TypeError, match=r"posterior must be one ExactPosterior; got"):
            call(wrong, m, S, x)
    for kernel in (Matern52(), RBF() + Linear()):
        other = condition(GP(kernel, 0.1), posterior.X, posterior.y)
        with pytest.raises(TypeError, match="RBF"):
            fantasy.variance_reduction(other, m, S, x)


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("parts", [1, 2])
def test_what_is_left_in_both_parts_is_what_refits_say(
    make_posterior, make_state, refitted, rng, rank, parts
):
    posterior, (m, S) = make_posterior(parts=parts), make_state(rank=rank)
    candidates = rng.normal(size=(2, 2))
    variances = fantasy.expected_variance_parts(posterior, m, S, candidates)
    total = fantasy.expected_variance(posterior, m, S, candidates)
    np.testing.assert_allclose(variances.total, total, rtol=1e-10)
    for k, x_hat in enumerate(candidates):
        of_function, of_input = refitted(posterior, m, S, x_hat)
        np.testing.assert_allclose(variances.of_function[k], of_function, rtol=1e-8)
        np.testing.assert_allclose(variances.of_input[k], of_input, rtol=1e-8)


def test_the_parts_differ_from_before_as_the_law_of_total_variance_says(
    make_posterior, make_state, variance_of, nodes, rng
):
    posterior, (m, S), x_hat = make_posterior(), make_state(), rng.normal(size=(1, 2))
    x, w = nodes(m, S, 24)
    c = posterior.covariance(np.vstack([x, x_hat]))[:-1, -1]
    s = posterior.variance(x_hat, noise=True)[0]
    before = variance_of(posterior, m, S)
    variances = fantasy.expected_variance_parts(posterior, m, S, x_hat)
    np.testing.assert_allclose(variances.of_function[0], before[0] - w @ c**2 / s, rtol=1e-8)
    np.testing.assert_allclose(variances.of_input[0], before[1] + (w @ c**2 - (w @ c) ** 2) / s)
    assert variances.of_input[0] > before[1]


def test_noise_of_the_next_observation_stays(make_posterior, make_state, rng):
    posterior, (m, S), x = make_posterior(), make_state(), rng.normal(size=(3, 2))
    noise_var = posterior.gp.noise_var
    for call in (
        fantasy.expected_variance,
        lambda *a, **k: fantasy.expected_variance_parts(*a, **k).total,
    ):
        noisy = call(posterior, m, S, x, noise=True)
        np.testing.assert_allclose(noisy - call(posterior, m, S, x), noise_var, rtol=1e-10)


def test_a_known_input_has_a_functions_part_only(make_posterior, rng):
    posterior, m, x = make_posterior(), rng.normal(size=2), rng.normal(size=(2, 2))
    variances = fantasy.expected_variance_parts(posterior, m, np.zeros((2, 2)), x)
    np.testing.assert_array_equal(variances.of_input, np.zeros(2))
    for k in range(2):
        refit = posterior.extend(x[k : k + 1], np.zeros(1)).variance(m[None, :])
        np.testing.assert_allclose(variances.of_function[k], refit[0], rtol=1e-10)


def test_a_nearly_known_input_keeps_its_digits(make_posterior, rng):
    posterior, m, x = make_posterior(), rng.normal(size=2), rng.normal(size=(3, 2))
    S = np.asarray([[1.0, 0.3], [0.3, 2.0]])
    tiny = fantasy.expected_variance_parts(posterior, m, 1e-24 * S, x).of_input
    small = fantasy.expected_variance_parts(posterior, m, 1e-10 * S, x).of_input
    np.testing.assert_allclose(tiny * 1e14, small, rtol=1e-8)
    assert np.all(tiny > 0.0)


def test_the_expected_covariance_of_outputs_is_what_refits_say(
    make_posterior, make_state, nodes, rng
):
    models, (m, S) = [make_posterior(), make_posterior(n=4, parts=2)], make_state()
    x_hat, (x, w) = rng.normal(size=(1, 2)), nodes(m, S)
    t, wt = np.polynomial.hermite_e.hermegauss(3)
    wt = wt / wt.sum()
    expected = np.zeros((2, 2))
    for i, j in itertools.product(range(3), repeat=2):
        after = [
            one.extend(x_hat, one.mean(x_hat) + node * np.sqrt(one.variance(x_hat, noise=True)))
            for one, node in zip(models, t[[i, j]], strict=True)
        ]
        means, variances = zip(*(one.predict(x) for one in after), strict=True)
        centred = np.stack(means) - (np.stack(means) @ w)[:, None]
        one_pair = (centred * w) @ centred.T + np.diag(np.stack(variances) @ w)
        expected += wt[i] * wt[j] * one_pair
    covariances = fantasy.expected_covariance(models, m, S, x_hat)
    np.testing.assert_allclose(covariances[0], expected, rtol=1e-8)


def test_what_is_left_lives_where_its_arguments_do(space, rng):
    X, y = space.asarray(rng.normal(size=(5, 2))), space.asarray(rng.normal(size=5))
    posterior = condition(GP(RBF(1.5, 0.9), 0.1), X, y)
    args = space.asarray(rng.normal(size=2)), space.asarray(0.3 * np.eye(2)), X + 0.1
    parts = fantasy.expected_variance_parts(posterior, *args)
    total = fantasy.expected_variance(posterior, *args)
    assert all(space.holds(a) for a in (*parts, total))
    assert space.holds(fantasy.expected_covariance([posterior, posterior], *args))
    tolerance = 1e-11 if space.double else 1e-5
    np.testing.assert_allclose(to_numpy(parts.total), to_numpy(total), atol=tolerance)


def test_parts_in_portions_are_the_same(make_posterior, make_state, rng, monkeypatch):
    posterior, (m, S), x = make_posterior(), make_state(), rng.normal(size=(9, 2))
    whole = fantasy.expected_variance_parts(posterior, m, S, x)
    monkeypatch.setattr("gpnotes.decide.fantasy.expected_variances._PORTION", 2)
    for one, other in zip(fantasy.expected_variance_parts(posterior, m, S, x), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_what_is_left_where_nothing_can_be_learnt(make_state, variance_of, rng):
    X, (m, S) = 2.0 * rng.normal(size=(5, 2)), make_state()
    posterior = condition(GP(RBF(2.0, 0.7), 0.0), X, rng.normal(size=5))
    variances = fantasy.expected_variance_parts(posterior, m, S, X)
    before = variance_of(posterior, m, S)
    np.testing.assert_allclose(variances.of_function, before[0], rtol=1e-8)
    np.testing.assert_allclose(variances.of_input, before[1], rtol=1e-8)
    np.testing.assert_allclose(fantasy.expected_variance(posterior, m, S, X), sum(before))


def test_a_mean_function_that_varies_is_no_constant(make_posterior, make_state):
    """It would vary over the input, which nothing here counts."""

    class Slope:
        def __call__(self, x):
            return x[:, 0]

        def pullback(self, x, bar):
            raise NotImplementedError

    posterior, (m, S) = make_posterior(), make_state()
    other = condition(replace(posterior.gp, mean=Slope()), posterior.X, posterior.y)
    for call in (fantasy.expected_variance, fantasy.expected_variance_parts):
        with pytest.raises(TypeError, match="constant mean"):
            call(other, m, S, posterior.X)


@pytest.mark.parametrize("wrong", [[[0.0, 1.0]], None, "x", 3.0])
def test_candidates_that_are_no_array_are_named(make_posterior, make_state, wrong):
    posterior, (m, S) = make_posterior(), make_state()
    for call in (fantasy.expected_variance, fantasy.expected_variance_parts):
        with pytest.raises(TypeError, match="candidates must be a"):
            call(posterior, m, S, wrong)
    with pytest.raises(TypeError, match="candidates must be a"):
        fantasy.expected_covariance([posterior], m, S, wrong)


def test_what_is_left_needs_one_input_that_fits(make_posterior, make_state):
    posterior, (m, S), x = make_posterior(), make_state(), np.ones((3, 2))
    for call in (fantasy.expected_variance, fantasy.expected_variance_parts):
        with pytest.raises(ValueError, match=r"m must have shape \(2,\)"):
            call(posterior, m[None, :], S[None, :, :], x)
        with pytest.raises(ValueError, match="S must be"):
            call(posterior, m, -np.eye(2), x)
        with pytest.raises(ValueError, match="candidates must have at least one row"):
            call(posterior, m, S, x[:0])
