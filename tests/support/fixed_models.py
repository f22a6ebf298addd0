"""Models of searches whose hyperparameters stay as they are, for tests of the loop alone."""

from gpnotes import GP, RBF, condition


def quick(X, y, *, rng):
    """Condition a process of short lengthscale and little noise, without a fit."""
    return condition(GP(RBF(1.0, 0.3), 1e-4), X, y)
