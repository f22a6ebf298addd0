"""All six methods: in every space, at the boundary cases, and what each is worth."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    PosteriorVariance,
    RoleSymmetricGame,
    all_profiles,
)
from gpnotes.games.methods import (
    WITH_VARIANCE,
    RoleProblem,
    exact_sum,
    neighbours,
    normal_approximation,
    sampled,
)
from gpnotes.games.methods.neighbours import mode
from gpnotes.ground.xp import to_numpy

METHODS = ["exact", "enumerated", "gaussian", "point", "neighbours", "sampled"]
# one role, a role with one player, one player everywhere, a role with one strategy, three roles
EDGES = [((4,), (5,)), ((1, 6), (2, 3)), ((1, 1), (3, 2)), ((3, 2), (1, 4)), ((2, 1, 3), (2, 2, 3))]


def _ask(model, p, method):
    """Payoffs and Jacobian by any of the methods."""
    options = {"rng": stream(3), "num_samples": 40} if method == "sampled" else {}
    return model.deviation_payoffs_and_jacobian(p, method, **options)


@pytest.mark.parametrize("method", METHODS)
def test_every_space_has_the_answer_of_numpy(space, make_model, make_mixtures, as_numpy, method):
    model = make_model((5, 1), (3, 2), space.asarray)
    p = space.asarray(make_mixtures(model.game, 4))
    u, J = _ask(model, p, method)
    assert space.holds(u)
    assert space.holds(J)
    rounding = 1e-11 if space.double else 2e-4
    host = np.asarray(to_numpy(p), np.float64)
    host[:, :3] /= host[:, :3].sum(axis=1, keepdims=True)
    host[:, 3:] /= host[:, 3:].sum(axis=1, keepdims=True)
    for ours, wanted in zip((u, J), _ask(as_numpy(model), host, method), strict=True):
        np.testing.assert_allclose(to_numpy(ours), wanted, rtol=rounding, atol=10 * rounding)


def test_standard_errors_live_with_the_payoffs(space, make_model, make_mixtures):
    model = make_model((5, 1), (3, 2), space.asarray)
    p = space.asarray(make_mixtures(model.game, 3))
    payoffs, jacobian = model.sampled_payoffs_and_jacobian(p, num_samples=50, rng=stream(0))
    for estimate, shape in ((payoffs, (3, 5)), (jacobian, (3, 5, 5))):
        assert space.holds(estimate.mean)
        assert space.holds(estimate.standard_error)
        assert estimate.mean.shape == estimate.standard_error.shape == shape
        assert estimate.num_samples == 50


def test_standard_errors_are_positive_where_a_payoff_counts_losses(make_model, make_mixtures):
    model = make_model((5, 3), (3, 2))
    losses = [
        Expansion(f.profiles, f.weights, f.lengthscales, -f.scale, -f.offset)
        for f in model.expansions
    ]
    p = make_mixtures(model.game, 2)
    drawn = model.sampled_payoffs_and_jacobian(p, num_samples=20, rng=stream(5))
    lost = PayoffModel(model.game, losses).sampled_payoffs_and_jacobian(
        p, num_samples=20, rng=stream(5)
    )
    for ours, theirs in zip(lost, drawn, strict=True):
        np.testing.assert_array_equal(ours.mean, -theirs.mean)
        np.testing.assert_array_equal(ours.standard_error, theirs.standard_error)
        assert (ours.standard_error >= 0.0).all()


def test_samples_are_one_method_of_six(space, make_model, make_mixtures):
    """The same draws, with standard errors or without."""
    model = make_model((5, 1), (3, 2), space.asarray)
    p = space.asarray(make_mixtures(model.game, 3))
    options = {"rng": stream(2), "num_samples": 30}
    payoffs = model.deviation_payoffs(p, "sampled", **options)
    drawn = model.sampled_payoffs(p, num_samples=30, rng=stream(2))
    np.testing.assert_array_equal(to_numpy(payoffs), to_numpy(drawn.mean))
    both = model.deviation_payoffs_and_jacobian(p, "sampled", rng=stream(4), num_samples=30)
    estimates = model.sampled_payoffs_and_jacobian(p, num_samples=30, rng=stream(4))
    for ours, estimate in zip(both, estimates, strict=True):
        np.testing.assert_array_equal(to_numpy(ours), to_numpy(estimate.mean))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [0.2, 3.0])
@pytest.mark.parametrize(("players", "strategies"), EDGES)
def test_where_nothing_is_left_to_chance_all_methods_agree(
    make_model, make_mixtures, players, strategies, length, method
):
    """A pure mixture has one profile; length scales under one player do not matter to that."""
    model = make_model(players, strategies, lengths=(length, 1.5 * length))
    p = make_mixtures(model.game, 3, corner=True)
    u, J = _ask(model, p, method)
    assert np.isfinite(u).all()
    assert np.isfinite(J).all()
    for s, one in enumerate(model.expansions):
        played = np.repeat(model.game.opponents(s), strategies) * p[:1]
        np.testing.assert_allclose(u[0, s], one.payoff(played)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_player_alone_in_a_role_does_not_meet_that_role(make_model, make_mixtures, method):
    model = make_model((1, 6), (2, 3))
    p = make_mixtures(model.game, 4)
    u, J = _ask(model, p, method)
    # nothing along the simplex: the closed form adds the same to both derivatives, off the simplex
    np.testing.assert_allclose(J[:, :2, 0], J[:, :2, 1], rtol=1e-13)
    assert np.abs(J[:, 2:, :2]).max() > 1e-3
    np.testing.assert_allclose(_ask(model, _turned(p), method)[0][:, :2], u[:, :2], atol=1e-14)


def _turned(p):
    """The same, but the first role mixes the other way."""
    return np.concatenate([p[:, 1::-1], p[:, 2:]], axis=1)


@pytest.mark.parametrize("method", METHODS[:5])  # samples are drawn anew
def test_probability_zero_is_the_limit_of_little(make_model, make_mixtures, method):
    model = make_model((4, 3), (3, 2), lengths=(1.0, 4.0))
    p = 0.9 * make_mixtures(model.game, 3) + 0.1 / np.repeat((3, 2), (3, 2))
    p[:, 0], p[:, 1] = 0.0, 1.0 - p[:, 2]
    near = p + 1e-9 * np.asarray([1.0, -1.0, 0.0, 0.0, 0.0])
    for ours, limit in zip(_ask(model, p, method), _ask(model, near, method), strict=True):
        np.testing.assert_allclose(ours, limit, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_off_by_rounding_is_put_right_and_clearly_off_refused(make_model, make_mixtures, method):
    model = make_model((4, 3), (3, 2))
    p = make_mixtures(model.game, 2)
    off = p * (1.0 + 3e-10)
    off[0, 0] -= 2e-13
    for ours, wanted in zip(_ask(model, off, method), _ask(model, p, method), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match=r"in row 1 those of role 0 sum to 1\.001, off by 0\.001"):
        _ask(model, p + 1e-3 * np.asarray([[0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0]]), method)
    with pytest.raises(ValueError, match=r"row 0 has an entry -0\.5, below zero by 0\.5"):
        _ask(model, np.asarray([[1.5, -0.5, 0.0, 0.5, 0.5]]), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_payoff_that_is_constant(make_model, make_mixtures, method):
    model = make_model((4, 3), (3, 2))
    flat = Expansion(np.zeros((1, 5)), np.zeros(1), np.ones(5), offset=7.0)
    model = PayoffModel(model.game, (flat, *model.expansions[1:]))
    u, J = _ask(model, make_mixtures(model.game, 3, corner=True), method)
    assert (u[:, 0] == 7.0).all()
    assert not J[:, 0].any()
    assert J[:, 1:].any()


@pytest.mark.parametrize("method", METHODS[:5])
@pytest.mark.parametrize("held", [30, 2**20])
def test_of_many_mixtures_each_has_what_it_has_alone(
    make_model, make_mixtures, monkeypatch, method, held
):
    monkeypatch.setattr(exact_sum, "_HELD", held)
    model = make_model((5, 4), (3, 2))
    p = make_mixtures(model.game, 12, corner=True)
    together, alone = _ask(model, p, method), [_ask(model, row, method) for row in p]
    for ours, wanted in zip(together, zip(*alone, strict=True), strict=True):
        np.testing.assert_allclose(ours, np.concatenate(wanted), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("method", WITH_VARIANCE)
@pytest.mark.parametrize("held", [30, 2**20])
def test_of_many_mixtures_each_is_as_unsure_as_alone(
    make_model, make_mixtures, monkeypatch, method, held
):
    monkeypatch.setattr(exact_sum, "_HELD", held)
    model = make_model((5, 4), (3, 2), lengths=(1.0, 4.0))
    left = PosteriorVariance(1.0, 30.0, 6.0 * np.eye(12))
    model = PayoffModel(
        model.game, [replace(one, posterior_variance=left) for one in model.expansions]
    )
    p = make_mixtures(model.game, 12, corner=True)
    sd = model.deviation_payoffs_and_sd(p, method)[1]
    alone = [model.deviation_payoffs_and_sd(row, method)[1] for row in p]
    assert (sd > 0.01).all()
    np.testing.assert_allclose(sd, np.concatenate(alone), rtol=1e-9)


@pytest.mark.parametrize(("opponents", "better"), [(4, True), (60, False)])
def test_neighbours_are_for_few_opponents(rng, make_model, make_mixtures, opponents, better):
    """With dozens the profiles near the likeliest are a sliver: `point` is as good, and cheap."""
    model = make_model((opponents + 1,), (3,), n=40, lengths=(0.9 * opponents, 1.1 * opponents))
    p = make_mixtures(model.game, 200)
    exact = model.deviation_payoffs(p)
    point, neighbours, gaussian = (
        np.sqrt(np.mean((model.deviation_payoffs(p, method) - exact) ** 2))
        for method in ("point", "neighbours", "gaussian")
    )
    assert (neighbours < 0.5 * point) if better else (neighbours > 0.8 * point)
    assert gaussian < 0.5 * min(point, neighbours)


def test_many_moves_are_counted_before_there_is_room_for_them(make_model):
    """This once took 23 GB, and the process with it."""
    model = make_model((60, 60, 60), (4, 4, 4))
    for moves in (50, 10**9):
        says = rf"max_deviations={moves} would sum for strategy 0 over at least \d+ profiles, more"
        with pytest.raises(ValueError, match=says):
            model.deviation_payoffs(np.full(12, 0.25), "neighbours", max_deviations=moves)
    with pytest.raises(
        ValueError, match="max_deviations=2 would sum for strategy 0 over 595 profiles"
    ):
        model.deviation_payoffs(np.full(12, 0.25), "neighbours", max_deviations=2, limit=594)


@pytest.mark.parametrize(
    ("opponents", "strategies"), [((4,), (3,)), ((2, 1), (3, 2)), ((5,), (1,))]
)
@pytest.mark.parametrize("moves", [0, 1, 3])
def test_the_steps_to_neighbours_are_counted_and_each_is_made_once(opponents, strategies, moves):
    size = sum(strategies)
    reach = [np.arange(-moves, moves + 1)] * size
    every = np.stack(np.meshgrid(*reach, indexing="ij"), axis=-1).reshape(-1, size)
    ends = np.cumsum(strategies)[:-1]
    sums = np.stack([part.sum(axis=1) for part in np.split(every, ends, axis=1)], axis=1)
    moved = np.stack(
        [np.clip(part, 0, None).sum(axis=1) for part in np.split(every, ends, axis=1)], axis=1
    )
    few = (moved <= opponents).all(axis=1) & (moved.sum(axis=1) <= moves)
    wanted = every[(sums == 0).all(axis=1) & few]
    shares = neighbours._all_deviations(opponents, strategies, moves, 10**6, "")
    steps = np.concatenate([neighbours._changes(share, strategies) for share in shares])
    assert (
        len(steps) == sum(neighbours._count(share, strategies) for share in shares) == len(wanted)
    )
    np.testing.assert_array_equal(np.unique(steps, axis=0), np.unique(wanted, axis=0))


def test_samples_that_come_in_lots_are_one_sample(make_model, make_mixtures, monkeypatch):
    model = make_model((5, 3), (3, 2))
    p = make_mixtures(model.game, 3)
    together = model.sampled_payoffs_and_jacobian(p, num_samples=3001, rng=stream(1))
    monkeypatch.setattr(sampled, "_DRAWN", 5 * 700)
    lots = model.sampled_payoffs_and_jacobian(p, num_samples=3001, rng=stream(1))
    exact = model.deviation_payoffs_and_jacobian(p)
    for estimate, wanted in zip(lots, exact, strict=True):
        assert (abs(estimate.mean - wanted) < 4.5 * estimate.standard_error + 1e-12).all()
    np.testing.assert_allclose(
        lots[0].standard_error, together[0].standard_error, rtol=0.15, atol=1e-6
    )


def test_lots_are_put_together_as_if_they_were_one(make_model, make_mixtures, rng):
    payoff = make_model((5, 3), (3, 2)).expansions[0]
    p, x = make_mixtures(RoleSymmetricGame((5, 3), (3, 2)), 2), rng.integers(0, 4, (2, 90, 5))
    cuts = [0, 13, 14, 60, 90]
    lots = [sampled._moments(x[:, a:b], payoff, p) for a, b in pairwise(cuts)]
    mean, error = sampled._mean_and_error(lots)
    f = np.stack([payoff.bumps(row.astype(float)) for row in x])
    np.testing.assert_allclose(mean, f.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(error, f.std(axis=1, ddof=1) / np.sqrt(90), rtol=1e-12)


def test_what_is_far_below_rounding_counts_as_zero():
    """14 length scales is where a bump is 1e-43 and still there, 16 where it is 1e-56 and not."""
    game = RoleSymmetricGame((21,), (2,))
    near = np.asarray([[20.0, 0.0]])
    p = np.asarray([[0.0, 1.0]])

    def payoff(length, weight=1.0, profiles=near):
        weights = np.asarray([weight, 1.0])[: len(profiles)]
        bump = Expansion(profiles, weights, np.asarray([length, 1e9]))
        return PayoffModel(game, (bump, bump)).deviation_payoffs(p)[0, 0]

    np.testing.assert_allclose(payoff(20.0 / 14.0), np.exp(-98.0), rtol=1e-9)
    assert payoff(20.0 / 16.0) == 0.0
    both = np.concatenate([near, [[0.0, 20.0]]])  # beside a sample that is felt it is nothing
    assert payoff(20.0 / 16.0, profiles=both) == payoff(20.0 / 16.0, 0.0, both) > 0.9


# Bumps without their weights: the variance of a payoff is a sum over pairs of them


def _normal_factor(problem, payoff, p, apart=None):
    """Products over roles of ``√(|L| / |L + C|) exp(−½ yᵀ (L + C)⁻¹ y)``, by dense algebra.

    C is the covariance of a role's counts, or twice that for the difference of two profiles.
    """
    value = 1.0
    for n, part in zip(problem.opponents, problem.game.columns, strict=True):
        L, q = np.diag(payoff.lengthscales[part] ** 2), p[part]
        C = n * (np.diag(q) - np.outer(q, q))
        if apart is None:
            C, y = 2.0 * C, np.zeros_like(q)
        else:
            y = apart[part] - n * q
        inner = np.exp(-0.5 * y @ np.linalg.solve(L + C, y))
        value *= inner * np.sqrt(np.linalg.det(L) / np.linalg.det(L + C))
    return value


def _chance(problem, x, p):
    parts = zip(problem.opponents, problem.game.columns, strict=True)
    return np.prod([stats.multinomial.pmf(x[part], n, p[part]) for n, part in parts])


def _bump(payoff, x, z):
    return np.exp(-0.5 * np.sum((x - z) ** 2 / payoff.lengthscales**2))


@pytest.mark.parametrize("method", WITH_VARIANCE)
def test_single_bumps_and_pairs_are_the_means_over_profiles(
    make_model, make_mixtures, monkeypatch, method
):
    """Of the multinomial, one profile or two at a time; the closed form those of a normal."""
    monkeypatch.setattr(normal_approximation, "_COEFFICIENTS", 1)  # a block for each mixture
    model = make_model((4, 3), (2, 3), n=5, lengths=(0.6, 3.0))
    p = make_mixtures(model.game, 3)
    for role, s in ((0, 0), (1, 4)):
        payoff = model.expansions[s]
        problem = RoleProblem(model.game, role, (payoff,), p, gradient=False)
        moments = WITH_VARIANCE[method]
        single, pairs = moments.singles(problem, payoff), moments.pairs(problem, payoff)
        assert (single.shape, pairs.shape) == ((5, 3), (3,))
        if method == "gaussian":
            of_one = [[_normal_factor(problem, payoff, q, z) for q in p] for z in payoff.profiles]
            of_two = [_normal_factor(problem, payoff, q) for q in p]
        else:
            x = model.game.profiles(s)
            chances = np.asarray([[_chance(problem, one, q) for q in p] for one in x])
            of_one = [[_bump(payoff, z, one) for one in x] for z in payoff.profiles] @ chances
            between = [[_bump(payoff, z, one) for one in x] for z in x]
            of_two = np.sum(chances * (between @ chances), axis=0)
        np.testing.assert_allclose(single, of_one, rtol=1e-9)
        np.testing.assert_allclose(pairs, of_two, rtol=1e-9)


def test_the_likeliest_profile_is_that_of_all_profiles(rng):
    game = RoleSymmetricGame((7, 2), (4, 3))
    p = np.concatenate([rng.dirichlet(np.ones(s), 20) for s in game.strategies], axis=1)
    found = mode(p, game.players, game)
    every = all_profiles(game)
    chances = [np.ones(len(every)) for _ in p]
    for k, row in enumerate(p):
        for n, part in zip(game.players, game.columns, strict=True):
            chances[k] *= stats.multinomial(n, row[part]).pmf(every[:, part])
        at = (every == found[k]).all(axis=1)
        assert at.sum() == 1
        assert chances[k][at][0] == pytest.approx(chances[k].max(), rel=1e-9)
