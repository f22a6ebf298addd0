"""A common offset, and noise that belongs to observations."""

import numpy as np
from sklearn.gaussian_process import kernels as sk

import gpnotes as g
from gpnotes.ground.xp import to_numpy


def test_the_constant_kernel_is_constant(x, z, close):
    close(g.Constant(0.8)(x, z), np.full((7, 4), 0.8))
    close(g.Constant(0.8)(x), np.full((7, 7), 0.8))


def test_white_noise_is_that_of_scikit_learn(x, z, close):
    left, right = to_numpy(x).astype(float), to_numpy(z).astype(float)
    close(g.White(0.8)(x), sk.WhiteKernel(0.8)(left))
    close(g.White(0.8)(x, z), sk.WhiteKernel(0.8)(left, right))
    close(g.White(0.8).diag(x), np.full(7, 0.8))


def test_white_noise_is_not_shared(space, x, close):
    """Not between two sets of points, even the same one; not by equal points within a set."""
    close(g.White(0.8)(x, x), np.zeros((7, 7)))
    twice = space.asarray([[1.0], [1.0]])
    close(g.White(0.8)(twice), 0.8 * np.eye(2))


def test_white_noise_inside_sums_and_products_keeps_the_difference(x, close):
    kernel = 2.0 * (g.RBF() + g.White(0.5)) * g.Constant(3.0)
    rbf = to_numpy(g.RBF()(x))
    close(kernel(x), 6.0 * (rbf + 0.5 * np.eye(7)))
    close(kernel(x, x), 6.0 * rbf)


def test_its_gradient_is_the_trace(space, x, rng):
    K_bar = space.asarray(rng.normal(size=(7, 7)))
    bar, x_bar, _ = g.White(0.8).pullback(x, None, K_bar)
    np.testing.assert_allclose(bar.variance, np.trace(to_numpy(K_bar)), rtol=1e-5)
    assert (to_numpy(x_bar) == 0.0).all()
    assert g.White(0.8).pullback(x, x, K_bar)[0].variance == 0.0
