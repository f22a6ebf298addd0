"""Certified mixtures: what learned payoffs leave open of a regret, and of the place."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    RoleSymmetricGame,
    certify,
    find_equilibria,
    fit_payoffs,
    regret,
)
from gpnotes.games.equilibria.certified_mixture import mixture_sensitivity


def _crowds(rng, number=40):
    """Ten players on two roads, slower the fuller they are."""
    game = RoleSymmetricGame((10,), (2,))
    first = rng.binomial(10, rng.random(number)).astype(float)
    x = np.stack([first, 10.0 - first], axis=1)
    y = -x * np.asarray([1.0, 2.0]) + 0.5 * rng.standard_normal(x.shape)
    return fit_payoffs(game, x, y, noise_var=0.25)


def test_regrets_and_their_moments_are_those_of_draws_of_the_payoffs(rng):
    """Of two strategies: the better payoff less the mean payoff, of draws made here."""
    model = _crowds(rng)
    mixture = np.asarray([0.8, 0.2])
    told = certify(model, mixture, rng=stream(1), num_samples=20_000)
    draws = told.payoffs + told.payoff_sd * rng.standard_normal((20_000, 2))
    regrets = draws.max(axis=1) - draws @ mixture
    assert told.regret_means[0] == pytest.approx(regrets.mean(), rel=0.03)
    assert told.regret_sd[0] == pytest.approx(regrets.std(), rel=0.03)
    wanted = np.quantile(regrets, (0.05, 0.95))
    np.testing.assert_allclose(told.regret_quantiles[0], wanted, rtol=0.05)


def test_the_place_moves_by_the_derivative_of_the_crossing(rng):
    """At p the payoffs differ by nothing; by a difference δ it moves ``δ / d(u₁ − u₀)/dp``."""
    model = _crowds(rng)
    settled = np.asarray(find_equilibria(model, rng=stream(1))[0].mixture)
    told = certify(model, settled, rng=1)
    step = 1e-5 * np.asarray([1.0, -1.0])
    ends = [model.deviation_payoffs((settled + sign * step)[None])[0] for sign in (1.0, -1.0)]
    slope = ((ends[0] - ends[1]) @ np.asarray([-1.0, 1.0])) / 2e-5
    wanted = np.sqrt(np.sum(told.payoff_sd**2)) / abs(slope)
    np.testing.assert_allclose(told.mixture_sd, wanted, rtol=1e-5)


def test_one_mixture_is_certified_and_two_samples_are_enough(rng):
    model = _crowds(rng)
    with pytest.raises(ValueError, match="mixture must be one; got 2 of them"):
        certify(model, np.full((2, 2), 0.5), rng=1)
    with pytest.raises(ValueError, match="num_samples must be a whole number from 2; got 1"):
        certify(model, np.full(2, 0.5), num_samples=1, rng=1)
    assert certify(model, np.full(2, 0.5), num_samples=2, rng=1).regret_means[0] > 0.0


def test_a_certificate_tells_payoffs_regret_and_place(rng):
    model = _crowds(rng)
    settled = find_equilibria(model, rng=stream(1))[0].mixture
    told = certify(model, settled, rng=stream(2), num_samples=4000)
    u, sd = model.deviation_payoffs_and_sd(settled)
    np.testing.assert_array_equal(told.payoffs, u[0])
    np.testing.assert_array_equal(told.payoff_sd, sd[0])
    assert told.regrets[0] < 1e-6 < told.regret_quantiles[0][0] < told.regret_means[0]
    assert told.regret_means[0] < told.regret_quantiles[0][1]
    assert told.mixture_sd[0] == pytest.approx(told.mixture_sd[1])


def test_the_place_moves_as_the_certificate_says(rng):
    """Errors of the payoffs, put into the offsets: the equilibria of such games lie about."""
    model = _crowds(rng)
    settled = find_equilibria(model, rng=stream(1))[0].mixture
    told = certify(model, settled, rng=stream(2))
    ends = []
    for _ in range(40):
        shift = told.payoff_sd * rng.standard_normal(2)
        moved = [
            Expansion(e.profiles, e.weights, e.lengthscales, e.scale, e.offset + by)
            for e, by in zip(model.expansions, shift, strict=True)
        ]
        other = PayoffModel(model.game, tuple(moved))
        ends.append(
            find_equilibria(other, settled[None], replicator_steps=0, max_supports=0)[0].mixture
        )
    assert np.std(np.asarray(ends)[:, 0]) == pytest.approx(told.mixture_sd[0], rel=0.3)


def test_unplayed_strategies_do_not_move_and_coordination_is_settled(rng):
    model = _crowds(rng)
    told = certify(model, np.asarray([1.0, 0.0]), rng=1)
    np.testing.assert_array_equal(told.mixture_sd, 0.0)
    assert told.regrets[0] == pytest.approx(
        float(regret(told.payoffs, told.mixture, model.game)[0])
    )


@pytest.mark.parametrize("unit", [1e-10, 1e8, 1e12])
def test_the_place_does_not_hang_on_the_currency_of_the_payoffs(unit):
    game = RoleSymmetricGame((9,), (2,))
    x = np.stack([np.arange(0.0, 10.0, 2.0), 9.0 - np.arange(0.0, 10.0, 2.0)], axis=1)
    for p in ([0.5, 0.5], [1.0, 0.0]):
        plain, scaled = (
            certify(fit_payoffs(game, x, -c * x, noise_var=0.01 * c**2), np.asarray(p), rng=1)
            for c in (1.0, unit)
        )
        np.testing.assert_allclose(scaled.mixture_sd, plain.mixture_sd, rtol=1e-3)


def test_payoffs_that_are_known_and_all_alike_settle_no_mixture():
    game = RoleSymmetricGame((3,), (2,))
    x = np.stack([np.arange(4.0), 3.0 - np.arange(4.0)], axis=1)
    told = certify(fit_payoffs(game, x, np.ones_like(x)), np.asarray([0.5, 0.5]), rng=1)
    np.testing.assert_array_equal(told.payoff_sd, 0.0)
    np.testing.assert_array_equal(told.mixture_sd, np.inf)


def test_a_role_with_one_strategy_stays_where_the_other_is_not_settled():
    game = RoleSymmetricGame((3, 2), (1, 2))
    x = np.asarray([[3.0, 0.0, 2.0], [3.0, 1.0, 1.0], [3.0, 2.0, 0.0]])
    model = fit_payoffs(game, x, np.ones_like(x))
    told = certify(model, np.asarray([1.0, 0.5, 0.5]), rng=1)
    np.testing.assert_array_equal(told.mixture_sd, [0.0, np.inf, np.inf])


@pytest.mark.parametrize("costs", [False, True], ids=["payoffs", "costs"])
@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_an_equilibrium_moves_as_its_equations_say(rng, unit, costs):
    """Payoffs ``A p + b`` of three roles; in the second, one strategy of three is not played.

    Errors e of the payoffs move p by ``D e``: those in play pay alike again, and add up to one.
    """
    model = PayoffModel(
        RoleSymmetricGame((4, 5, 2), (2, 3, 1)),
        tuple(Expansion(np.zeros((1, 6)), np.ones(1), np.ones(6)) for _ in range(6)),
    )
    drawn, p = rng.normal(size=(6, 6)), np.asarray([0.3, 0.7, 0.6, 0.0, 0.4, 1.0])
    A = unit * (-np.abs(drawn) if costs else drawn) * (1 - np.eye(6))
    played = np.flatnonzero(p)
    D = mixture_sensitivity(p, A, model)
    for s in range(6):
        e = 1e-3 * unit * np.eye(6)[s]
        moved = D @ e
        assert not moved[3]
        if s not in played:
            np.testing.assert_array_equal(moved, 0.0)
            continue
        change = A @ moved + e  # of the payoffs, to which it is added
        np.testing.assert_allclose(change[0], change[1], rtol=0, atol=1e-12 * unit)
        np.testing.assert_allclose(change[2], change[4], rtol=0, atol=1e-12 * unit)
        sums = moved[:2].sum(), moved[2:5].sum(), moved[5]
        np.testing.assert_allclose(sums, 0.0, atol=1e-14)
        assert (np.max(np.abs(moved)) > 1e-5) == (s != 5)


@pytest.mark.parametrize(("chance", "moves"), [(2e-9, True), (0.5e-9, False)])
def test_a_chance_of_a_billionth_is_played(rng, chance, moves):
    model = _crowds(rng)
    sensitivity = mixture_sensitivity(np.asarray([1.0 - chance, chance]), np.eye(2), model)
    np.testing.assert_array_equal(sensitivity != 0.0, np.full((2, 2), moves))


def test_what_is_not_settled_is_infinite_among_what_is_played(rng):
    """Two roles that pay the same whatever is played; of the second a strategy is not."""
    model = PayoffModel(
        RoleSymmetricGame((3, 2), (2, 3)),
        tuple(Expansion(np.zeros((1, 5)), np.ones(1), np.ones(5)) for _ in range(5)),
    )
    D = mixture_sensitivity(np.asarray([0.5, 0.5, 0.0, 0.0, 1.0]), np.zeros((5, 5)), model)
    wanted = np.zeros((5, 5))
    wanted[np.ix_([0, 1], [0, 1, 4])] = np.inf
    np.testing.assert_array_equal(D, wanted)
    both = mixture_sensitivity(np.asarray([0.5, 0.5, 0.2, 0.0, 0.8]), np.zeros((5, 5)), model)
    wanted[np.ix_([0, 1, 2, 4], [0, 1, 2, 4])] = np.inf
    np.testing.assert_array_equal(both, wanted)
