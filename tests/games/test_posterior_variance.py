"""What a learned payoff leaves open: the posterior variance, and that of its expectations."""

import warnings

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    PosteriorVariance,
    RoleSymmetricGame,
    all_profiles,
    fit_payoffs,
    propose_profiles,
)
from gpnotes.games.methods import WITH_VARIANCE
from gpnotes.games.methods.enumerated import multinomial_pmf
from gpnotes.games.profile_selection import _Candidates, _candidates, _weights
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.xp import to_numpy

GAME = RoleSymmetricGame((6, 4), (2, 3))


def _profiles(game, rng, n):
    parts = [
        np.stack([rng.multinomial(m, rng.dirichlet(np.ones(k))) for _ in range(n)])
        for m, k in zip(game.players, game.strategies, strict=True)
    ]
    return np.concatenate(parts, axis=1).astype(float)


def _fitted(rng, asarray=np.asarray, n=25, **options):
    """A model of noisy payoffs of profiles, each of which is seen twice."""
    x = _profiles(GAME, rng, n)
    x = np.concatenate([x, x])
    y = np.sin(x @ rng.normal(size=(5, 5)) / 4.0) + 0.2 * rng.normal(size=x.shape)
    return fit_payoffs(GAME, asarray(x), asarray(y), noise_var=0.04, **options), x, y


def test_the_variance_is_that_of_the_process(rng):
    """Of all samples one by one, though profiles that repeat have one bump."""
    model, x, y = _fitted(rng)
    at = GAME.profiles(0)[::7]
    for s in (0, 3):
        payoff, played = model.expansions[s], x[:, s] > 0
        z = (y[played, s] - payoff.offset) / payoff.scale
        gp = GP(
            RBF(payoff.posterior_variance.signal_var, payoff.lengthscales),
            payoff.posterior_variance.noise_var,
        )
        known = condition(gp, x[played] - (np.arange(5) == s), z)
        np.testing.assert_allclose(payoff.variance(at), payoff.scale**2 * known.variance(at))
        np.testing.assert_allclose(payoff.payoff(at), payoff.offset + payoff.scale * known.mean(at))


def test_every_space_gives_the_deviations_of_numpy(space, rng, make_mixtures):
    seed = int(rng.integers(2**31))
    options = {"lengthscale_per": "role", "n": 8}
    model, _, _ = _fitted(np.random.default_rng(seed), space.asarray, **options)
    host, _, _ = _fitted(np.random.default_rng(seed), **options)
    p = make_mixtures(GAME, 4, corner=True)
    for method in WITH_VARIANCE:
        payoffs, sd = model.deviation_payoffs_and_sd(space.asarray(p), method)
        assert space.holds(payoffs)
        assert space.holds(sd)
        wanted, atol = host.deviation_payoffs_and_sd(p, method)[1], 1e-4 if space.double else 0.05
        np.testing.assert_allclose(to_numpy(sd), wanted, atol=atol, err_msg=method)


def test_exact_is_the_sum_over_all_profiles(rng, make_mixtures):
    model, _, _ = _fitted(rng)
    p = make_mixtures(GAME, 6, corner=True)
    payoffs, sd = model.deviation_payoffs_and_sd(p)
    np.testing.assert_array_equal(payoffs, model.deviation_payoffs(p))
    np.testing.assert_allclose(
        sd, model.deviation_payoffs_and_sd(p, "enumerated")[1], rtol=1e-9, atol=1e-9
    )


def test_at_a_pure_profile_it_is_the_deviation_of_the_payoff(rng):
    model, _, _ = _fitted(rng)
    p = np.asarray([[1.0, 0.0, 0.0, 1.0, 0.0]])
    _, sd = model.deviation_payoffs_and_sd(p)
    for s, payoff in enumerate(model.expansions):
        others = np.repeat(GAME.opponents(s), GAME.strategies) * p
        np.testing.assert_allclose(sd[0, s], np.sqrt(payoff.variance(others)[0]), rtol=1e-8)


def test_the_closed_form_is_near_for_wide_bumps(rng):
    game = RoleSymmetricGame((60,), (3,))
    x = _profiles(game, rng, 40)
    y = np.sin(x / 20.0) + 0.1 * rng.normal(size=x.shape)
    model = fit_payoffs(game, x, y, lengthscale_bounds=(15.0, 60.0))
    p = rng.dirichlet(np.full(3, 4.0), 5)
    exact, near = (model.deviation_payoffs_and_sd(p, m)[1] for m in ("exact", "gaussian"))
    np.testing.assert_allclose(near, exact, rtol=0.02)


def test_games_drawn_from_the_process_are_as_far_off_as_it_says(rng, make_mixtures):
    """Payoffs of all profiles from the prior, noisy readings of some: the errors have its sd."""
    game, seen = RoleSymmetricGame((5, 3), (2, 2)), 8
    p, at = make_mixtures(game, 3), game.profiles(0)
    start = Expansion(at, np.zeros(len(at)), np.full(4, 2.5))
    K = start.bump_matrix(at, at)
    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(at)))
    chance = multinomial_pmf(at, game.opponents(0), p)
    ratios = []
    for _ in range(200):
        f = root @ rng.standard_normal(len(at))
        rows = rng.choice(len(at), seen, replace=False)
        y = f[rows] + 0.3 * rng.standard_normal(seen)
        Ky = K[np.ix_(rows, rows)] + 0.09 * np.eye(seen)
        payoff = Expansion(
            at[rows],
            np.linalg.solve(Ky, y),
            np.full(4, 2.5),
            posterior_variance=PosteriorVariance(1.0, 0.09, np.linalg.cholesky(Ky)),
        )
        model = PayoffModel(game, (payoff,) * 4)
        u, sd = model.deviation_payoffs_and_sd(p)
        ratios.append(((u - (chance @ f)[:, None]) / sd)[:, 0])
    np.testing.assert_allclose(np.mean(np.square(ratios), axis=0), 1.0, atol=0.3)


def test_a_constant_payoff_is_taken_at_its_word(rng):
    x = _profiles(GAME, rng, 20)
    y = -x
    y[:, 4] = 7.0
    model = fit_payoffs(GAME, x, y)
    assert model.deviation_payoffs_and_sd(np.asarray([0.5, 0.5, 0.2, 0.3, 0.5]))[1][0, 4] == 0.0


def test_a_subgame_has_payoffs_and_deviations_of_the_whole(rng):
    model, _, _ = _fitted(rng)
    kept = [True, True, True, False, True]
    inside, whole = [0.3, 0.7, 0.4, 0.6], [0.3, 0.7, 0.4, 0.0, 0.6]
    u, sd = model.restrict(kept).deviation_payoffs_and_sd(np.asarray(inside))
    wanted = model.deviation_payoffs_and_sd(np.asarray(whole))
    for ours, theirs in zip((u, sd), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs[:, kept], rtol=1e-9)
    twice = model.restrict(kept).restrict([True, True, False, True])
    at_once = model.restrict([True, True, False, False, True])
    p = np.asarray([0.3, 0.7, 1.0])
    for ours, theirs in zip(
        twice.deviation_payoffs_and_sd(p), at_once.deviation_payoffs_and_sd(p), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_what_has_no_doubt_is_refused(make_model):
    model = make_model((3,), (2,))
    with pytest.raises(ValueError, match="strategy 0 has none"):
        model.deviation_payoffs_and_sd(np.asarray([0.5, 0.5]))
    with pytest.raises(ValueError, match="variance needs an expansion with a posterior_variance"):
        model.expansions[0].variance(np.asarray([[1.0, 1.0]]))
    with pytest.raises(ValueError, match="method must be one of"):
        model.deviation_payoffs_and_sd(np.asarray([0.5, 0.5]), "point")


def _crowds(rng, number=40):
    """Ten players on two roads, slower the fuller they are."""
    game = RoleSymmetricGame((10,), (2,))
    x = _profiles(game, rng, number)
    y = -x * np.asarray([1.0, 2.0]) + 0.5 * rng.standard_normal(x.shape)
    return fit_payoffs(game, x, y, noise_var=0.25)


def test_proposals_for_no_mixture_are_refused(rng):
    with pytest.raises(ValueError, match="mixtures must have at least one row"):
        propose_profiles(_crowds(rng), np.zeros((0, 2)), rng=1)


def _variance_after(model, s, p, more):
    """The variance of a payoff after more profiles, hyperparameters as they were."""
    payoff = model.expansions[s]
    others = more[more[:, s] > 0] - (np.arange(2) == s)
    at = np.concatenate([payoff.profiles, others])
    v, noise = payoff.posterior_variance.signal_var, payoff.posterior_variance.noise_var
    Ky = v * payoff.bump_matrix(at, at) + noise * np.eye(len(at))
    grown = Expansion(
        at, np.zeros(len(at)), payoff.lengthscales, payoff.scale,
        posterior_variance=PosteriorVariance(v, noise, np.linalg.cholesky(Ky)),
    )  # fmt: skip
    return PayoffModel(model.game, (grown,) * 2).deviation_payoffs_and_sd(p)[1][0, s] ** 2


def test_players_are_moved_at_every_mixture(rng):
    """Each of two pure equilibria gets profiles in which one player deviates."""
    drawn = _candidates(_crowds(rng), np.eye(2), 200, stream(1).generator)
    assert drawn.tolist() == [[0.0, 10.0], [1.0, 9.0], [9.0, 1.0], [10.0, 0.0]]


def test_a_proposal_lessens_the_doubt_more_than_a_draw(rng):
    """Eight more mornings, proposed and drawn at the mixture, of a game known only elsewhere."""
    game = RoleSymmetricGame((10,), (2,))
    up = np.arange(6.0, 11.0)
    x = np.stack([up, 10.0 - up], axis=1)
    model = fit_payoffs(game, x, -x, noise_var=0.25, lengthscale_bounds=(4.0, 4.1))
    p = np.asarray([[0.5, 0.5]])
    proposed = propose_profiles(model, p, 8, rng=stream(3))
    assert proposed.shape == (8, 2)
    assert (proposed.sum(axis=1) == 10).all()
    assert set(proposed[:, 0].tolist()) <= set(np.arange(11.0).tolist())

    def left(more):
        return sum(_variance_after(model, s, p, more) for s in range(2))

    drawn = [rng.multinomial(10, p[0], 8).astype(float) for _ in range(10)]
    assert left(proposed) < min(left(more) for more in drawn)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("method", ["gaussian", "exact"])
def test_without_noise_nothing_is_proposed_that_was_seen(kind, method):
    """Eleven profiles of 31 are unknown: the first eleven proposals, in single precision too."""
    game = RoleSymmetricGame((30,), (2,))
    x = all_profiles(game)
    known = [i for i in range(31) if not 9 <= i <= 19]
    seen = x[known].astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitterWarning)
        model = fit_payoffs(game, seen, np.sin(seen), noise_var=0.0, lengthscale_bounds=(1.5, 1.6))
    proposed = propose_profiles(model, np.asarray([0.45, 0.55], kind), 11, rng=0, method=method)
    assert sorted(proposed[:, 0].tolist()) == list(range(9, 20))


def test_a_gain_is_what_one_more_simulation_takes_off_the_variances(rng):
    """Against models that have it, hyperparameters as they were."""
    game = RoleSymmetricGame((10,), (2,))
    x = all_profiles(game)[[0, 3, 4, 9]]
    model = fit_payoffs(game, x, 9.0 * np.sin(x), noise_var=0.25, lengthscale_bounds=(2.0, 2.1))
    p, candidates = np.asarray([[0.5, 0.5]]), all_profiles(game)
    for s in range(2):
        found = _Candidates.of(model, s, p, candidates, np.asarray([0.7]), "exact")
        now = _variance_after(model, s, p, candidates[:0])
        taken = [now - _variance_after(model, s, p, candidates[j : j + 1]) for j in range(11)]
        np.testing.assert_allclose(found.gains(), 0.7 * np.asarray(taken), rtol=1e-6, atol=1e-12)


def test_proposals_show_what_nobody_plays(rng):
    """Whether the third road is better is unknown: somebody has to take it."""
    game = RoleSymmetricGame((10,), (3,))
    x = _profiles(game, rng, 30)
    x = x[x[:, 2] < 1]
    x = np.concatenate([x, [[0.0, 0.0, 10.0], [0.0, 2.0, 8.0], [1.0, 0.0, 9.0]]])
    y = np.where(np.arange(3) == 2, x - 14.0, -x)
    model = fit_payoffs(game, x, y, noise_var=0.1)
    proposed = propose_profiles(model, np.asarray([0.5, 0.5, 0.0]), 5, rng=1)
    assert (proposed[:, 2] == 1).any()


@pytest.mark.parametrize("wrong", [{"signal_var": -1.0}, {"factor": np.ones((2, 3))},
                                   {"kept_share": np.ones(3)}])  # fmt: skip
def test_a_doubt_that_does_not_fit_is_refused(wrong):
    right = {"signal_var": 1.0, "noise_var": 0.1, "factor": np.eye(2)}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PosteriorVariance(**{**right, **wrong})
    with pytest.raises(ValueError, match="the factor of posterior_variance"):
        Expansion(
            np.ones((3, 2)), np.ones(3), np.ones(2), posterior_variance=PosteriorVariance(**right)
        )


def test_weights_are_mean_squares_of_the_derivatives_of_a_regret(rng):
    """Of a role's best payoff less its mean: 1 where a strategy is best, less its share."""
    model, _, _ = _fitted(rng, n=12)
    p = np.concatenate([rng.dirichlet(np.ones(c.stop - c.start), 40) for c in GAME.columns], axis=1)
    found = _weights(model, p, "gaussian", rng, 4000)
    u, sd = model.deviation_payoffs_and_sd(p)
    draws = u + sd * rng.standard_normal((4000, *u.shape))
    wanted, shares = np.empty_like(u), np.empty_like(u)
    for c in GAME.columns:
        best = draws[..., c].argmax(axis=2)[..., None] == np.arange(c.stop - c.start)
        wanted[:, c], shares[:, c] = np.mean((best - p[:, c]) ** 2, axis=0), best.mean(axis=0)
    assert np.any((shares > 0.2) & (shares < 0.8))  # at some of them it is open which is best
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=0.06)


def test_covariances_are_whitened_by_what_is_kept_of_them(rng):
    L, share, bumps = np.tril(rng.uniform(1.0, 2.0, (4, 4))), rng.random(4), rng.random((4, 3))
    for kept, known in ((None, 1.0), (share, share[:, None])):
        found = PosteriorVariance(1.5, 0.1, L, kept)
        wanted = np.linalg.solve(L, 1.5 * known * bumps)
        np.testing.assert_allclose(found.whiten(bumps), wanted, rtol=1e-12)
        np.testing.assert_allclose(found.reduction(bumps), np.sum(wanted**2, axis=0), rtol=1e-12)
