"""Regret, dynamics, fitted games and their equilibria."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    RoleSymmetricGame,
    find_equilibria,
    fit_payoffs,
    regret,
    replicator_dynamics,
)
from gpnotes.ground.xp import to_numpy


def congestion(x):
    """Two roads: each costs as much as it is crowded; the first twice as much."""
    return np.stack([-2.0 * x[:, 0], -x[:, 1]], axis=1)


@pytest.fixture
def samples(rng):
    game = RoleSymmetricGame((30,), (2,))
    first = np.concatenate([np.arange(31), rng.integers(0, 31, 60)])
    x = np.stack([first, 30 - first], axis=1).astype(float)
    y = congestion(x) + 0.2 * rng.normal(size=x.shape)
    return game, x, np.where(x > 0, y, np.nan)


def test_regret(space):
    game = RoleSymmetricGame((2, 2), (2, 2))
    u = space.asarray([[1.0, 3.0, 5.0, 5.0], [2.0, 0.0, 1.0, 7.0]])
    p = space.asarray([[0.5, 0.5, 0.1, 0.9], [1.0, 0.0, 0.5, 0.5]])
    r = regret(u, p, game)
    assert space.holds(r)
    np.testing.assert_allclose(to_numpy(r), [1.0, 3.0], rtol=1e-6)


def test_replicator_finds_the_crossing(space):
    game = RoleSymmetricGame((30,), (2,))
    xp = space.xp

    def payoffs(p):
        return xp.stack([-2.0 * p[:, 0], -p[:, 1]], axis=1)

    p = replicator_dynamics(
        payoffs, space.asarray([[0.9, 0.1], [0.2, 0.8]]), game, num_steps=300, step_size=0.2
    )
    assert space.holds(p)
    np.testing.assert_allclose(to_numpy(p)[:, 0], 1 / 3, atol=1e-4)


@pytest.mark.parametrize("step_size", [0.1, 0.5, 3.0])
def test_steps_of_the_replicator_are_those_of_its_formula(step_size):
    """Each role by itself, over the widest range so far: that of the first payoffs here."""
    game = RoleSymmetricGame((3, 2), (3, 2))
    shares = np.asarray([[0.5, 0.3, 0.2, 0.6, 0.4], [0.9, 0.0, 0.1, 0.5, 0.5]])
    payoffs = np.asarray([[7.0, 9.0, 3.0, -1.0, 1.0]])
    factors = [2.0, 1.0, 0.5]
    rest = iter(factors)
    p = replicator_dynamics(
        lambda p: np.repeat(next(rest) * payoffs, 2, axis=0),
        shares, game, num_steps=3, step_size=step_size,
    )  # fmt: skip
    ranges = factors[0] * np.asarray([6.0, 6.0, 6.0, 2.0, 2.0])
    wanted = shares * np.exp(step_size * sum(factors) * payoffs / ranges)
    for role in (slice(0, 3), slice(3, 5)):
        whole = wanted[:, role].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(p[:, role], wanted[:, role] / whole, rtol=1e-12)


def test_replicator_settles_and_rows_do_not_touch_each_other():
    """A range taken anew at each step would end in a cycle, a common one in another place."""
    game = RoleSymmetricGame((30,), (2,))
    starts = np.asarray([[0.9, 0.1], [1.0, 0.0], [0.2, 0.8]])
    alone = [replicator_dynamics(_true, start[None, :], game, num_steps=1500) for start in starts]
    np.testing.assert_array_equal(
        replicator_dynamics(_true, starts, game, num_steps=1500), np.vstack(alone)
    )
    np.testing.assert_allclose(alone[0][0, 0], 28 / 87, atol=1e-8)
    assert alone[1].tolist() == [[1.0, 0.0]]  # what has probability zero keeps it


def test_whole_numbers_are_profiles_too(samples):
    game, x, y = samples
    ours, theirs = fit_payoffs(game, x.astype(np.int64), y), fit_payoffs(game, x, y)
    np.testing.assert_array_equal(ours.expansions[0].weights, theirs.expansions[0].weights)


def test_learn_then_solve(samples):
    """A deviator meets 29 others: 2 (29 p + 1) = 29 (1 − p) + 1, so p = 28/87."""
    game, x, y = samples
    model = fit_payoffs(game, x, y, rng=stream(0))
    result = find_equilibria(model, rng=stream(1), true_payoffs=lambda p: _true(p))
    assert len(result) == 1
    assert result[0].regret < 1e-8
    assert abs(float(result[0].mixture[0]) - 28 / 87) < 0.01
    assert result[0].true_regret < 0.3
    assert (model.expansions[0].profiles.sum(axis=1) == 29).all()  # without the deviator
    assert len(model.expansions[0].weights) == 30  # profiles that repeat were merged


def _true(p):
    return np.stack([-2.0 * (29 * p[:, 0] + 1), -(29 * p[:, 1] + 1)], axis=1)


def test_pure_equilibria_are_found(rng):
    """The crowd pays: both corners and a mixture between them are equilibria."""
    game = RoleSymmetricGame((10,), (2,))
    first = np.arange(11.0)
    x = np.stack([first, 10 - first], axis=1)
    y = np.where(x > 0, x, np.nan)
    model = fit_payoffs(game, x, y, noise_var=1e-6)
    result = find_equilibria(
        model, np.asarray([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]]), replicator_steps=5
    )
    pure = sorted(round(float(e.mixture[0]), 3) for e in result)
    assert pure[0] == 0.0
    assert pure[-1] == 1.0
    assert all(e.regret < 1e-3 for e in result)


def test_a_constant_column(samples):
    game, x, y = samples
    y = np.where(np.arange(2) == 0, 4.0, y)
    model = fit_payoffs(game, x, y)
    u, J = model.deviation_payoffs_and_jacobian(np.asarray([[0.3, 0.7]]))
    assert u[0, 0] == 4.0
    assert not J[0, 0].any()


def test_what_cannot_be_learned(samples):
    game, x, y = samples
    with pytest.raises(ValueError, match="spread the 30 players of role 0; got sums from 31"):
        fit_payoffs(game, x + np.asarray([1.0, 0.0]), y)
    with pytest.raises(ValueError, match="none plays strategy 0"):
        fit_payoffs(game, x * 0.0 + np.asarray([0.0, 30.0]), y)
    with pytest.raises(ValueError, match="payoffs must be finite where a strategy is played"):
        fit_payoffs(game, x, y * np.nan)
    with pytest.raises(ValueError, match="find_equilibria needs starts, or an rng"):
        find_equilibria(fit_payoffs(game, x, y))


def test_a_game_that_is_given_beside_a_model_is_its_own(samples):
    game, x, _ = samples
    model, p = fit_payoffs(game, x[:31], x[:31] * -1.0, noise_var=0.1), np.asarray([[0.5, 0.5]])
    for given in (None, game, RoleSymmetricGame((30,), (2,))):
        assert replicator_dynamics(model, p, given, num_steps=1).shape == (1, 2)
    with pytest.raises(ValueError, match=r"game must be the model's own, .*, or left out; got"):
        replicator_dynamics(model, p, RoleSymmetricGame((29,), (2,)), num_steps=1)
    with pytest.raises(ValueError, match="game must be given where payoffs is a function"):
        replicator_dynamics(congestion, p, num_steps=1)
    with pytest.raises(TypeError, match="payoffs must be an array; got list"):
        regret([1.0, 2.0], p, game)
