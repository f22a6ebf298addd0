"""Newton's steps towards the equilibria, from where they start."""

import numpy as np

from gpnotes.games import RoleSymmetricGame
from gpnotes.games.equilibria.newton import newton_steps

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
