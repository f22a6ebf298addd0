"""Newton's steps towards the equilibria, from where they start."""

import numpy as np

from gpnotes.games import RoleSymmetricGame
from gpnotes.games.equilibria.newton import newton_steps, project

GAME = RoleSymmetricGame((3,), (2,))


def constant(*u):
    """Payoffs that depend on nothing."""
    return lambda p: (np.broadcast_to(np.asarray(u), p.shape), np.zeros((len(p), 2, 2)))


def test_a_mixture_that_is_no_equilibrium_is_left():
    """Also where the payoffs are a mixture themselves, and the start is even."""
    found = newton_steps(constant(0.3, 0.7), np.asarray([[0.5, 0.5]]), GAME, np.ones(2), 5)
    np.testing.assert_allclose(found, [[0.0, 1.0]])


def test_without_steps_the_start_comes_back():
    start = np.asarray([[0.25, 0.75]])
    found = newton_steps(constant(0.3, 0.7), start, GAME, np.ones(2), 0)
    np.testing.assert_array_equal(found, start)


TWO_ROLES = RoleSymmetricGame((3, 2), (3, 2))


def nearest_mixture(z):
    """The point of the simplex that is nearest, its threshold found by halving."""
    low, high = z.min() - 1.0, z.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(z - middle, 0.0).sum() > 1.0 else (low, middle)
    return np.maximum(z - low, 0.0)


def test_each_role_of_each_row_is_projected_by_itself(rng):
    z = rng.normal(size=(7, 5))
    found, jacobian = project(z, TWO_ROLES)
    wanted = [np.append(nearest_mixture(row[:3]), nearest_mixture(row[3:])) for row in z]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    for column, step in enumerate(1e-6 * np.eye(5)):
        slope = (project(z + step, TWO_ROLES)[0] - project(z - step, TWO_ROLES)[0]) / 2e-6
        np.testing.assert_allclose(jacobian[:, :, column], slope, atol=1e-8)


def test_rows_take_their_steps_as_if_each_were_alone(rng):
    """Some steps help and some do not, from where half of the way is gone."""
    A, bend = 3.0 * rng.normal(size=(5, 5)), rng.normal(size=(5, 5))
    start = project(rng.normal(size=(6, 5)), TWO_ROLES)[0]

    def payoffs(p):
        inner = np.sin(4.0 * p @ bend.T)
        slopes = 4.0 * np.sqrt(1.0 - inner**2) * np.sign(np.cos(4.0 * p @ bend.T))
        return inner @ A.T, np.einsum("ij,bj,jk->bik", A, slopes, bend)

    for steps in (1, 2, 3, 8):
        found = newton_steps(payoffs, start, TWO_ROLES, np.ones(5), steps)
        alone = [newton_steps(payoffs, p[None], TWO_ROLES, np.ones(5), steps)[0] for p in start]
        np.testing.assert_allclose(found, alone, atol=1e-9)
