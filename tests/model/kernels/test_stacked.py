"""Kernels in a stack have the matrices and pullbacks that each has alone."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import Matern32, Matern52, Periodic, RationalQuadratic
from gpnotes.ground.params import leaves
from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import RBF, Constant, Linear, Polynomial, White
from gpnotes.model.kernels.stacked import Gaps, form, matrices


def _kernels(rng, asarray):
    """Some kernels of each form, whose numbers differ."""
    a = lambda: float(rng.uniform(0.5, 2.0))  # noqa: E731
    pair = lambda: asarray(rng.uniform(0.5, 2.0, 2))  # noqa: E731
    makers = {
        "one length": lambda: Matern32(a(), a()),
        "two lengths": lambda: RBF(a(), pair()),
        "rational quadratic": lambda: RationalQuadratic(a(), pair(), a()),
        "periodic": lambda: Periodic(a(), pair(), a()),
        "linear": lambda: Linear(pair()),
        "polynomial": lambda: Polynomial(a(), a(), 3),
        "constant": lambda: Constant(a()),
        "white": lambda: White(a()) + RBF(a(), a()),
        "a sum of products": lambda: RBF(a(), a()) * Linear(a()) + 0.5 * Matern52(a(), a()),
        "a power": lambda: RBF(a(), a()) ** 2,
        "of one column": lambda: RBF(a(), a()).on(1) + Constant(a()),
    }
    return {name: [make() for _ in range(3)] for name, make in makers.items()}


NAMES = list(_kernels(np.random.default_rng(0), np.asarray))


@pytest.mark.parametrize("shared", [True, False], ids=["of one table", "of a table each"])
@pytest.mark.parametrize("name", NAMES)
def test_a_stack_is_each_kernel_alone(space, rng, name, shared):
    kernels = _kernels(rng, space.asarray)[name]
    assert len({form(kernel) for kernel in kernels}) == 1
    X = rng.normal(size=(5, 2) if shared else (3, 5, 2))
    K_bar = rng.normal(size=(3, 5, 5))
    K, pull = matrices(kernels, Gaps(space.asarray(X)))
    bars = leaves(pull(space.asarray(K_bar)))
    stacked, tol = np.broadcast_to(to_numpy(K), (3, 5, 5)), 1e-10 if space.double else 1e-3
    for i, kernel in enumerate(kernels):
        x = space.asarray(X if shared else X[i])
        np.testing.assert_allclose(stacked[i], to_numpy(kernel(x)), rtol=tol, atol=tol)
        alone = leaves(kernel.pullback(x, None, space.asarray(K_bar[i]))[0])
        assert [leaf.path for leaf in bars] == [leaf.path for leaf in alone]
        for bar, one in zip(bars, alone, strict=True):
            wanted = one.value if isinstance(one.value, float) else to_numpy(one.value)
            np.testing.assert_allclose(to_numpy(bar.value)[i], wanted, rtol=tol, atol=tol)
