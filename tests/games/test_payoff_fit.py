"""A game from samples: length scales, units, profiles that repeat, in every space."""

import numpy as np
import pytest

from gpnotes import RBF, stream
from gpnotes.games import RoleSymmetricGame, fit_payoffs
from gpnotes.games.payoff_fit import _fitted, _lengthscales, _Options, _start
from gpnotes.ground.xp import to_numpy

GAME = RoleSymmetricGame((9, 5), (2, 3))


@pytest.fixture
def samples(rng):
    """Profiles of GAME and noisy payoffs; what is not played earns NaN."""
    x = _profiles(GAME, rng, 60)
    coefficients = rng.normal(size=(GAME.num_strategies, GAME.num_strategies)) / 4.0
    y = 3.0 * np.sin(x @ coefficients) + 0.1 * rng.normal(size=x.shape)
    return x, np.where(x > 0, y, np.nan)


def _profiles(game, rng, n):
    parts = [
        np.stack([rng.multinomial(m, rng.dirichlet(np.ones(k))) for _ in range(n)])
        for m, k in zip(game.players, game.strategies, strict=True)
    ]
    return np.concatenate(parts, axis=1).astype(float)


def _mixtures(game, rng, n=6):
    return np.concatenate([rng.dirichlet(np.ones(k), n) for k in game.strategies], axis=1)


@pytest.mark.parametrize("lengths", ["strategy", "role"])
def test_every_space_learns_the_game_of_numpy(space, samples, rng, lengths):
    x, y = samples[0][:30], samples[1][:30]
    model = fit_payoffs(
        GAME, space.asarray(x), space.asarray(y), noise_var=0.01, lengthscale_per=lengths
    )
    for payoff in model.expansions:
        assert all(space.holds(a) for a in (payoff.profiles, payoff.weights, payoff.lengthscales))
    p = _mixtures(GAME, rng)
    wanted = fit_payoffs(GAME, x, y, noise_var=0.01, lengthscale_per=lengths).deviation_payoffs(p)
    got = model.deviation_payoffs(space.asarray(p))
    assert space.holds(got)
    gap = 1e-4 if space.double else 0.05  # of payoffs up to 3, fitted where the evidence is flat
    np.testing.assert_allclose(to_numpy(got), wanted, rtol=0, atol=gap)


def test_the_payoffs_are_learned(samples, rng):
    x, y = samples
    model = fit_payoffs(GAME, x, y, rng=stream(0))
    for s, payoff in enumerate(model.expansions):
        played = x[:, s] > 0
        errors = payoff.payoff(x[played] - (np.arange(5) == s)) - y[played, s]
        assert np.sqrt(np.mean(errors**2)) < 0.2


@pytest.mark.parametrize("game", [GAME, RoleSymmetricGame((9,), (3,))])
def test_a_role_may_have_one_length_scale(rng, game):
    """Tied is a product over roles, and that is one kernel with the lengths repeated."""
    x = _profiles(game, rng, 50)
    y = np.sin(x @ rng.normal(size=(game.num_strategies, game.num_strategies)) / 4.0)
    model = fit_payoffs(game, x, y, lengthscale_per="role")
    for payoff in model.expansions:
        lengths = [payoff.lengthscales[c] for c in game.columns]
        assert all(np.ptp(ell) == 0.0 for ell in lengths)
        assert len({float(ell[0]) for ell in lengths}) == game.num_roles
    options = _Options(None, "role", (1.0, 90.0), 0)
    gp = _fitted(_start(game, 0, options, x, 1.0), x, y[:, 0], options, None)
    variance = float(gp.kernel.diag(x[:1])[0])
    wide = RBF(variance, _lengthscales(game, gp.kernel, x))
    np.testing.assert_allclose(gp.kernel(x), wide(x), rtol=1e-12)
    assert variance != 1.0  # it was fitted too


def test_length_scales_stay_within_their_bounds(samples):
    x, y = samples
    for payoff in fit_payoffs(GAME, x, y).expansions:
        assert ((payoff.lengthscales >= 1.0 - 1e-12) & (payoff.lengthscales <= 90.0 + 1e-9)).all()
    for payoff in fit_payoffs(GAME, x, y, lengthscale_bounds=(2.0, 3.0)).expansions:
        assert ((payoff.lengthscales >= 2.0 - 1e-12) & (payoff.lengthscales <= 3.0 + 1e-9)).all()


@pytest.mark.parametrize("lengths", ["strategy", "role"])
def test_length_scales_under_one_player_are_for_who_asks(rng, lengths):
    """Payoffs without a trace of smoothness: the evidence would have scales as short as it can."""
    game, up = RoleSymmetricGame((20,), (2,)), np.arange(1.0, 20.0)
    x = np.stack([up, 20.0 - up], axis=1)
    y = (-1.0) ** up[:, None] * rng.uniform(0.5, 1.5, (19, 2))
    options = {"noise_var": 1e-3, "lengthscale_per": lengths}
    short = fit_payoffs(game, x, y, lengthscale_bounds=(0.1, 20.0), **options)
    usual = fit_payoffs(game, x, y, **options)
    assert min(float(payoff.lengthscales.min()) for payoff in short.expansions) < 0.9
    assert min(float(payoff.lengthscales.min()) for payoff in usual.expansions) >= 1.0 - 1e-12
    u = short.deviation_payoffs(np.asarray([[0.3, 0.7], [1.0, 0.0]]))
    wanted = short.deviation_payoffs(np.asarray([[0.3, 0.7], [1.0, 0.0]]), "enumerated")
    np.testing.assert_allclose(u, wanted, rtol=1e-12)


@pytest.mark.parametrize(("shift", "unit"), [(1e6, 1.0), (0.0, 1e-20), (0.0, 1e-6), (-4e3, 1e3)])
@pytest.mark.parametrize("noise_var", [None, 0.02])
def test_payoffs_in_other_units_are_the_same_model(samples, rng, shift, unit, noise_var):
    x, y = samples
    p = _mixtures(GAME, rng)
    usual = fit_payoffs(GAME, x, y, noise_var=noise_var)
    own_noise = None if noise_var is None else noise_var * unit**2
    other = fit_payoffs(GAME, x, shift + unit * y, noise_var=own_noise)
    for ours, wanted in zip(other.expansions, usual.expansions, strict=True):
        np.testing.assert_allclose(ours.lengthscales, wanted.lengthscales, rtol=1e-3)
        np.testing.assert_allclose(ours.scale, unit * wanted.scale, rtol=1e-8)
    back = (other.deviation_payoffs(p) - shift) / unit
    np.testing.assert_allclose(back, usual.deviation_payoffs(p), rtol=0, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 4.0, 1e-12])
def test_a_constant_column_is_a_constant_payoff(samples, value):
    constant_column(np, samples, value)


def test_payoffs_that_differ_by_rounding_are_constant(samples, rng):
    """A spread of 1e-13 of their size is no payoff of the others' choices; one of 1e-9 is."""
    x, y = samples
    for spread, varies in ((1e-13, False), (1e-9, True)):
        payoffs = 4.0 * (1.0 + spread * rng.normal(size=y.shape))
        model = fit_payoffs(GAME, x, np.where(x > 0, payoffs, np.nan), noise_var=spread**2)
        _, J = model.deviation_payoffs_and_jacobian(_mixtures(GAME, rng))
        assert J.any() == varies


def test_and_in_every_space(space, samples):
    constant_column(space, samples, -1e6)


def constant_column(space, samples, value):
    x, y = samples[0][:12], samples[1][:12]
    y = np.where(np.arange(5) == 1, value, y)
    model = fit_payoffs(GAME, space.asarray(x), space.asarray(y), noise_var=0.01)
    p = space.asarray([[0.5, 0.5, 0.25, 0.25, 0.5], [1.0, 0.0, 0.0, 0.0, 1.0]])
    u, J = model.deviation_payoffs_and_jacobian(p)
    np.testing.assert_allclose(to_numpy(u)[:, 1], value, rtol=1e-6)
    assert not to_numpy(J)[:, 1].any()
    assert to_numpy(J)[:, 0].any()


@pytest.mark.parametrize("lengths", ["strategy", "role"])
def test_a_profile_seen_thrice_counts_as_one_with_a_third_of_the_noise(samples, rng, lengths):
    x, y = samples
    x, first = np.unique(x, axis=0, return_index=True)
    y, p = y[first], _mixtures(GAME, rng)
    three = np.repeat(x, 3, axis=0), np.repeat(y, 3, axis=0)
    ours = fit_payoffs(GAME, *three, noise_var=0.03, lengthscale_per=lengths)
    once = fit_payoffs(GAME, x, y, noise_var=0.01, lengthscale_per=lengths)
    for a, b in zip(ours.expansions, once.expansions, strict=True):
        assert a.profiles.shape == b.profiles.shape  # one bump for each
        np.testing.assert_allclose(a.lengthscales, b.lengthscales, rtol=1e-2)
    np.testing.assert_allclose(
        ours.deviation_payoffs(p), once.deviation_payoffs(p), rtol=0, atol=1e-4
    )


def test_repeated_profiles_share_what_the_mean_leaves_over(samples, rng):
    """``K_y α = z``: the residuals at a profile add up to its weight, times ``σ_n²/σ_f²``."""
    x, y = samples
    x, y = np.concatenate([x, x[:30], x[:9]]), np.concatenate([y, y[:30] + 0.1, y[:9] - 0.1])
    for s, payoff in enumerate(fit_payoffs(GAME, x, y).expansions):
        played = x[:, s] > 0
        profiles = x[played] - (np.arange(5) == s)
        left = (y[played, s] - payoff.payoff(profiles)) / payoff.scale
        sums = [left[(profiles == row).all(axis=1)].sum() for row in payoff.profiles]
        ratio = float(np.median(sums / payoff.weights))
        assert ratio > 0.0
        np.testing.assert_allclose(sums, ratio * payoff.weights, rtol=1e-6, atol=1e-8)


def test_a_role_of_one_player_and_one_of_one_strategy(rng):
    game = RoleSymmetricGame((1, 6, 4), (2, 2, 1))
    x = _profiles(game, rng, 50)
    y = np.sin(x @ rng.normal(size=(5, 5)) / 3.0)
    for lengths in ("strategy", "role"):
        model = fit_payoffs(game, x, y, lengthscale_per=lengths)
        p = _mixtures(game, rng)
        u, J = model.deviation_payoffs_and_jacobian(p)
        wanted, jacobian = model.deviation_payoffs_and_jacobian(p, "enumerated")
        np.testing.assert_allclose(u, wanted, rtol=0, atol=1e-10)
        np.testing.assert_allclose(J, jacobian, rtol=0, atol=1e-9)
        assert not J[:, :2, :2].any()


def test_what_means_nothing_is_refused(samples):
    x, y = samples
    with pytest.raises(ValueError, match=r"lengthscale_per must be one of .*; got 'all'"):
        fit_payoffs(GAME, x, y, lengthscale_per="all")
    for bounds in ((1.0, np.inf), (1.0, np.nan)):
        with pytest.raises(ValueError, match="lengthscale_bounds must be finite; got"):
            fit_payoffs(GAME, x, y, lengthscale_bounds=bounds)
    for bounds in ((0.0, 1.0), (2.0, 1.0), ()):
        with pytest.raises(
            ValueError, match="lengthscale_bounds must be two numbers, positive and rising"
        ):
            fit_payoffs(GAME, x, y, lengthscale_bounds=bounds)
    with pytest.raises(ValueError, match="noise_var must be non-negative and finite; got -1"):
        fit_payoffs(GAME, x, y, noise_var=-1.0)
    with pytest.raises(ValueError, match=r"payoffs must have shape \(60, 5\); got \(60, 4\)"):
        fit_payoffs(GAME, x, y[:, :4])


def test_profiles_that_are_none_are_named(samples):
    x, y = (np.array(a) for a in samples)
    x[3, 0] += 0.5
    with pytest.raises(ValueError, match=f"must hold whole numbers from 0; row 3 has {x[3, 0]:g}"):
        fit_payoffs(GAME, x, y)
    x[3, 0], total = -1.0, x[3, :2].sum() - 0.5
    x[3, 1] = total + 1.0
    with pytest.raises(ValueError, match=r"must hold whole numbers from 0; row 3 has -1"):
        fit_payoffs(GAME, x, y)
    x[3, 0], x[3, 1] = total, 1.0
    with pytest.raises(ValueError, match=r"profiles must spread the \d+ players of role 0; got su"):
        fit_payoffs(GAME, x, y)


def test_restarts_are_as_many_as_were_asked_for(samples, monkeypatch):
    x, y = samples
    asked = []

    def fit(*given, restarts, **options):
        asked.append(restarts)
        raise InterruptedError

    monkeypatch.setattr("gpnotes.games.payoff_fit.fit", fit)
    for options in ({}, {"rng": 1}, {"restarts": 0}, {"rng": 1, "restarts": 3}):
        with pytest.raises(InterruptedError):
            fit_payoffs(GAME, x, y, **options)
    assert asked == [0, 2, 0, 3]
    with pytest.raises(ValueError, match="restarts=1 need an rng to draw their starts from"):
        fit_payoffs(GAME, x, y, restarts=1)


def _means(rng, game=GAME, number=25, noise=0.3):
    """Payoffs of single simulations, and their means over the repetitions of each profile."""
    x = np.unique(_profiles(game, rng, number), axis=0)
    r = rng.integers(1, 12, len(x))
    true = np.sin(x @ rng.normal(size=(game.num_strategies, game.num_strategies)) / 4.0)
    each = [
        u + noise * rng.normal(size=(k, game.num_strategies)) for u, k in zip(true, r, strict=True)
    ]
    return x, r, np.stack([u.mean(axis=0) for u in each]), np.concatenate(each)


@pytest.mark.parametrize("lengths", ["strategy", "role"])
@pytest.mark.parametrize("noise_var", [0.09, None])
def test_the_noise_of_a_mean_is_that_of_one_over_its_repetitions(rng, lengths, noise_var):
    """Of the process in full, at the hyperparameters that were found."""
    x, r, y, _ = _means(rng)
    model = fit_payoffs(GAME, x, y, noise_var=noise_var, repetitions=r, lengthscale_per=lengths)
    for s, payoff in enumerate(model.expansions):
        played, at = x[:, s] > 0, GAME.profiles(s)[::9]
        others = x[played] - (np.arange(5) == s)
        v, noise = payoff.posterior_variance.signal_var, payoff.posterior_variance.noise_var
        if noise_var is not None:
            np.testing.assert_allclose(payoff.scale**2 * noise, noise_var)
        Ky = v * payoff.bump_matrix(others, others) + np.diag(noise / r[played])
        across = v * payoff.bump_matrix(at, others)
        wanted = payoff.offset + across @ np.linalg.solve(Ky, y[played, s] - payoff.offset)
        np.testing.assert_allclose(payoff.payoff(at), wanted, rtol=1e-8, atol=1e-8)
        left = v - np.sum(across * np.linalg.solve(Ky, across.T).T, axis=1)
        np.testing.assert_allclose(payoff.variance(at), payoff.scale**2 * left, atol=1e-9)


def test_means_teach_what_their_simulations_teach(rng):
    x, r, y, single = _means(rng, noise=0.5)
    p = _mixtures(GAME, rng)
    means = fit_payoffs(GAME, x, y, noise_var=0.25, repetitions=r)
    every = fit_payoffs(GAME, np.repeat(x, r, axis=0), single, noise_var=0.25)
    for ours, wanted in zip(
        means.deviation_payoffs_and_sd(p), every.deviation_payoffs_and_sd(p), strict=True
    ):
        np.testing.assert_allclose(ours, wanted, atol=0.01)  # the evidence is flat
    alike = fit_payoffs(GAME, x, y, noise_var=0.25).deviation_payoffs_and_sd(p)[1]
    assert abs(alike - means.deviation_payoffs_and_sd(p)[1]).max() > 0.05


def test_the_noise_of_one_simulation_is_found_from_means(rng):
    """It is that of their scatter times what they are the means of, hundreds or not."""
    x, r, y, _ = _means(rng, number=80)
    for times in (1, 100):
        model = fit_payoffs(GAME, x, y, repetitions=times * r)
        found = np.mean([e.scale**2 * e.posterior_variance.noise_var for e in model.expansions])
        assert 0.06 < found / times < 0.13


def test_repetitions_in_every_space_and_of_each_payoff(space, rng):
    x, r, y, _ = _means(rng)
    p = _mixtures(GAME, rng)
    of_each = np.where(x > 0, r[:, None], np.nan)
    wanted = fit_payoffs(GAME, x, y, noise_var=0.09, repetitions=r).deviation_payoffs(p)
    for given in (r.astype(float), of_each):
        model = fit_payoffs(
            GAME, *map(space.asarray, (x, y)), noise_var=0.09, repetitions=space.asarray(given)
        )
        got = model.deviation_payoffs(space.asarray(p))
        assert space.holds(got)
        np.testing.assert_allclose(
            to_numpy(got), wanted, rtol=0, atol=1e-4 if space.double else 0.05
        )


def test_repetitions_that_mean_nothing_are_refused(samples):
    x, y = samples
    for wrong in (np.zeros(60), np.full(60, -1.0), np.where(x > 0, np.nan, 1.0)):
        with pytest.raises(ValueError, match="repetitions must be"):
            fit_payoffs(GAME, x, y, repetitions=wrong)
    for shape in ((59,), (60, 4), (60, 1, 1)):
        with pytest.raises(ValueError, match="repetitions must"):
            fit_payoffs(GAME, x, y, repetitions=np.ones(shape))
    with pytest.raises(TypeError, match="repetitions must"):
        fit_payoffs(GAME, x, y, repetitions=3)


def _once(rng, times=1, noise=0.0):
    """Ten players on three roads, the last of which one morning shows, once or again."""
    game = RoleSymmetricGame((10,), (3,))
    up = np.arange(11.0)
    x = np.stack([up, 10.0 - up, 0.0 * up], axis=1)
    x = np.concatenate([x, np.tile([4.0, 4.0, 2.0], (times, 1))])
    y = -x * [1.0, 2.0, 1.0] + noise * rng.normal(size=x.shape)
    return game, x, y


@pytest.mark.parametrize("options", [{}, {"noise_var": 1e-4}, {"lengthscale_per": "role"}])
def test_a_strategy_seen_once_is_known_where_it_was_seen(rng, options):
    """Elsewhere it is as unknown as the payoffs of its role differ; it never is for sure."""
    game, x, y = _once(rng)
    payoff = fit_payoffs(game, x, y, **options).expansions[2]
    sd = np.sqrt(payoff.variance(np.asarray([[4.0, 4.0, 1.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]])))
    spread = y[:, :2].std()
    assert sd[0] < 0.4 * spread
    assert sd[2] > sd[1] > 0.5 * spread
    np.testing.assert_allclose(payoff.payoff(np.asarray([[4.0, 4.0, 1.0]])), y[-1, 2])
    model = fit_payoffs(game, x, y, **options)
    _, doubt = model.deviation_payoffs_and_sd(np.asarray([[0.4, 0.4, 0.2], [0.0, 0.0, 1.0]]))
    assert 0.0 < doubt[0, 2] < doubt[1, 2]


def test_of_one_profile_seen_again_the_scatter_is_the_noise(rng):
    game, x, y = _once(rng, times=400, noise=0.5)
    payoff = fit_payoffs(game, x, y).expansions[2]
    seen = np.asarray([[4.0, 4.0, 1.0]])
    np.testing.assert_allclose(
        payoff.scale * np.sqrt(payoff.posterior_variance.noise_var), 0.5, rtol=0.15
    )
    np.testing.assert_allclose(np.sqrt(payoff.variance(seen)), 0.5 / 20.0, rtol=0.15)


@pytest.mark.parametrize("value", [0.0, -7.0])
def test_a_game_seen_once_is_not_known_for_sure(value):
    game = RoleSymmetricGame((3, 2), (2, 1))
    model = fit_payoffs(game, np.asarray([[1.0, 2.0, 2.0]]), np.full((1, 3), value))
    payoffs, sd = model.deviation_payoffs_and_sd(np.asarray([0.5, 0.5, 1.0]))
    np.testing.assert_allclose(payoffs, value)
    assert (sd > 0.1).all()
    assert [payoff.scale for payoff in model.expansions] == [abs(value) or 1.0] * 3


def test_a_single_opponent_bounds_a_length_by_ten(monkeypatch):
    seen = []

    def fitted(gp, X, z, options, stream):
        seen.append(options.bounds)
        return _fitted(gp, X, z, options, stream)

    monkeypatch.setattr("gpnotes.games.payoff_fit._fitted", fitted)
    profiles = np.asarray([[2, 0], [1, 1], [0, 2]])
    payoffs = np.asarray([[1.0, 0.0], [0.5, 2.0], [0.0, 3.0]])
    fit_payoffs(RoleSymmetricGame((2,), (2,)), profiles, payoffs, noise_var=0.01)
    assert set(seen) == {(1.0, 10.0)}


def test_a_payoff_that_is_not_known_says_what_to_leave_out():
    game = RoleSymmetricGame(players=(9,), strategies=(2,))
    profiles = np.stack([np.arange(10.0), 9.0 - np.arange(10.0)], axis=1)
    payoffs = np.where(profiles == 4.0, np.nan, -profiles)
    with pytest.raises(ValueError, match="see column 0: leave out the profiles"):
        fit_payoffs(game, profiles, payoffs, noise_var=0.01)
    known = np.isfinite(payoffs).all(axis=1)
    fit_payoffs(game, profiles[known], payoffs[known], noise_var=0.01)
