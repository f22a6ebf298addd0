"""The term of the skewness: by quadrature, by what it leaves, and where there is none."""

import numpy as np
import pytest

from gpnotes import gauss_hermite
from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame, gaussian_correction
from gpnotes.ground.xp import to_numpy


def third_along(payoff, x, t):
    """The third derivative of a payoff at the profiles x along a direction."""
    gap, squared = payoff.profiles - x[:, None, :], payoff.lengthscales**2
    slope, bend = np.sum(t * gap / squared, axis=2), np.sum(t**2 / squared)
    bumps = np.exp(-0.5 * np.sum(gap**2 / squared, axis=2))
    return payoff.scale * (bumps * (slope**3 - 3 * slope * bend)) @ payoff.weights


def normal_profiles(n, p, columns, nodes=30):
    """Nodes of the normal distribution of all roles' counts, for roles of two strategies."""
    z, w = gauss_hermite(nodes)
    first, second = (a.ravel() for a in np.meshgrid(z, z, indexing="ij"))
    x = np.tile(np.repeat(n, 2) * p, (nodes**2, 1))
    for count, role, steps in zip(n, columns, (first, second), strict=True):
        spread = np.sqrt(count * p[role][0] * p[role][1])
        x[:, role] += spread * steps[:, None] * [1.0, -1.0]
    return x, np.outer(w, w).ravel()


def test_it_is_the_third_moment_of_the_choices_times_a_third_derivative(rng, make_model):
    """Each opponent adds a sixth of the third derivative along its choice less the mixture."""
    model = make_model((7, 5), (2, 2), lengths=(2.0, 5.0))
    p = np.array([0.3, 0.7, 0.8, 0.2])
    found = gaussian_correction(model, p)[0]
    for s, payoff in enumerate(model.expansions):
        n = model.game.opponents(s)
        x, w = normal_profiles(n, p, model.game.columns)
        wanted = 0.0
        for count, role in zip(n, model.game.columns, strict=True):
            for choice in range(role.start, role.stop):
                t = np.zeros(4)
                t[role] = -p[role]
                t[choice] += 1.0
                wanted += count / 6 * p[choice] * (w @ third_along(payoff, x, t))
        assert found[s] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("players", "strategies"), [((40,), (3,)), ((30, 1), (2, 3)), ((25, 30), (4, 2))]
)
def test_with_it_most_of_the_error_is_gone(space, make_model, make_mixtures, players, strategies):
    model = make_model(players, strategies, space.asarray, n=40, lengths=(2.0, 6.0))
    p = space.asarray(make_mixtures(model.game, 20))
    closed, exact = (to_numpy(model.deviation_payoffs(p, m)) for m in ("gaussian", "exact"))
    term = gaussian_correction(model, p)
    assert space.holds(term)
    term = to_numpy(term)
    error, left = np.linalg.norm(exact - closed), np.linalg.norm(exact - closed - term)
    assert left < error / 3
    assert np.linalg.norm(term) == pytest.approx(error, rel=0.25)


def test_where_nobody_has_a_choice_or_chances_are_even_it_is_zero(make_model):
    model = make_model((9, 1), (2, 2))
    pure = gaussian_correction(model, np.array([1.0, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(pure, 0.0, atol=1e-14)
    two = make_model((9,), (2,))
    np.testing.assert_allclose(gaussian_correction(two, np.array([0.5, 0.5])), 0.0, atol=1e-14)


def test_blocks_of_mixtures_are_one_batch(monkeypatch, make_model, make_mixtures):
    model = make_model((6, 4), (3, 2))
    p = make_mixtures(model.game, 7)
    whole = gaussian_correction(model, p)
    monkeypatch.setattr("gpnotes.games.skewness_correction.ENTRIES", 30)
    np.testing.assert_allclose(gaussian_correction(model, p), whole, rtol=1e-13)
    one = [gaussian_correction(model, row)[0] for row in p]
    np.testing.assert_allclose(one, whole, rtol=1e-13)


def test_doors(make_model):
    model = make_model((6,), (2,))
    with pytest.raises(TypeError, match="model must be a gpnotes PayoffModel"):
        gaussian_correction(model.expansions[0], np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="mixtures"):
        gaussian_correction(model, np.array([0.5, 0.6]))
    with pytest.raises(TypeError, match="mixtures"):
        gaussian_correction(model, np.array([0.5, 0.5], dtype=np.float32))


def test_offset_is_left_alone_and_scale_multiplies():
    def term(**units):
        payoff = Expansion(np.array([[2.0, 18.0]]), np.ones(1), np.full(2, 3.0), **units)
        model = PayoffModel(RoleSymmetricGame((21,), (2,)), (payoff, payoff))
        return gaussian_correction(model, np.array([0.2, 0.8]))

    np.testing.assert_allclose(term(scale=-3.0, offset=7.0), -3.0 * term(), rtol=1e-14)
    assert abs(term()).min() > 1e-4
