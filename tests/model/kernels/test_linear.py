"""Kernels of the inner product against scikit-learn and against features written out."""

import itertools
import math

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import gpnotes as g
from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import Polynomial
from gpnotes.testing import check_kernel


def hosts(*arrays):
    return [to_numpy(a).astype(float) for a in arrays]


def test_with_an_offset_the_linear_kernel_is_that_of_scikit_learn(x, z, close):
    kernel = g.Linear(1.0) + g.Constant(0.49)
    close(kernel(x, z), sk.DotProduct(0.7)(*hosts(x, z)), scale=10.0)


def test_the_polynomial_kernel_is_that_of_scikit_learn(x, z, close):
    reference = (sk.DotProduct(0.7) ** 3)(*hosts(x, z))
    close(Polynomial(1.0, 0.49, 3)(x, z), reference, scale=100.0)


def test_a_variance_per_slope(space, x, z, close):
    v = [0.5, 2.0, 3.0]
    left, right = hosts(x, z)
    close(g.Linear(space.asarray(v))(x, z), left @ np.diag(v) @ right.T, scale=10.0)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_the_polynomial_kernel_is_the_product_of_its_monomials(x, z, close, degree):
    """``(v xᵀz + b)^p`` by the multinomial theorem, feature by feature."""
    kernel = Polynomial(0.4, 0.7, degree)

    def features(a):
        rows = []
        for powers in itertools.product(range(degree + 1), repeat=3):
            rest = degree - sum(powers)
            if rest >= 0:
                ways = math.factorial(degree) / math.prod(map(math.factorial, (*powers, rest)))
                weight = ways * 0.7**rest * 0.4 ** sum(powers)
                rows.append(math.sqrt(weight) * np.prod(a**powers, axis=1))
        return np.asarray(rows)

    left, right = hosts(x, z)
    close(kernel(x, z), features(left).T @ features(right), scale=100.0)


@pytest.mark.parametrize("degree", [0, -1, 2.0, "2", True])
def test_a_degree_is_a_whole_number_from_one(degree):
    error = ValueError if type(degree) is int else TypeError
    with pytest.raises(error, match=r"Polynomial\.degree must be a whole number from 1; got"):
        Polynomial(degree=degree)


@pytest.mark.parametrize(
    "kernel",
    [
        g.Linear(0.6),
        g.Linear(np.asarray([0.5, 2.0, 3.0])),
        Polynomial(0.4, 0.7, 1),
        Polynomial(0.4, 0.7, 3),
    ],
)
def test_it_keeps_the_contract_of_kernels(rng, kernel):
    check_kernel(kernel, rng.normal(size=(5, 3)) + 0.5)
