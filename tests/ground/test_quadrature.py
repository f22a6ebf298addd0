"""Gauss-Hermite rules: exact for polynomials up to their degree, wrong one degree later."""

import math

import numpy as np
import pytest

from gpnotes import gauss_hermite
from gpnotes.ground.quadrature import expect
from gpnotes.ground.xp import to_numpy


def moment(k):
    """``E t^k`` of a standard normal."""
    return 0.0 if k % 2 else float(math.prod(range(1, k, 2)))


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_moments_up_to_the_degree_and_no_further(n):
    nodes, weights = gauss_hermite(n)
    for k in range(2 * n):
        # half the terms of an odd moment cancel the others: measure against their size
        size = weights @ np.abs(nodes) ** k
        assert weights @ nodes**k == pytest.approx(moment(k), abs=1e-12 * max(size, 1e-300))
    # one degree later it misses by n!, the squared norm of the n-th Hermite polynomial
    missed = moment(2 * n) - weights @ nodes ** (2 * n)
    assert missed == pytest.approx(math.factorial(n), rel=1e-6)


def test_the_rule_is_shared_and_cannot_be_changed():
    assert gauss_hermite(4)[0] is gauss_hermite(4)[0]
    with pytest.raises(ValueError, match="read-only"):
        gauss_hermite(4)[0][0] = 1.0


def test_a_rule_needs_a_node():
    with pytest.raises(ValueError, match="n must be a whole number from 1 to 350; got 0"):
        gauss_hermite(0)


def test_expectations_entry_by_entry(space):
    mean, variance = space.asarray([[0.0, 1.0]]), space.asarray([[0.5, 2.0]])
    expectation = expect(space.xp.exp, mean, variance, n=30)
    assert space.holds(expectation)
    assert expectation.shape == (1, 2)
    wanted = np.exp([[0.25, 2.0]])  # the mean of a log-normal: exp(mean + variance / 2)
    np.testing.assert_allclose(to_numpy(expectation), wanted, rtol=1e-10 if space.double else 1e-5)


def test_a_variance_is_not_negative_and_has_the_shape_of_the_mean(space):
    mean = space.asarray([0.0, 1.0])
    with pytest.raises(ValueError, match="variance must be non-negative and finite"):
        expect(space.xp.exp, mean, -mean)
    with pytest.raises(ValueError, match=r"variance must have the shape of mean, \(2,\)"):
        expect(space.xp.exp, mean, mean[:1])


def test_the_largest_rule_is_still_a_rule():
    nodes, weights = gauss_hermite(350)
    assert weights @ nodes**2 == pytest.approx(1.0)
    with pytest.raises(ValueError, match="n must be a whole number from 1 to 350; got 351"):
        gauss_hermite(351)


@pytest.mark.parametrize("n", [2.5, 2.0, True, "3", None, math.nan])
def test_the_size_of_a_rule_is_a_whole_number(n):
    gauss_hermite(2)  # what is in the cache is no excuse: 2.0 == 2 and True == 1
    gauss_hermite(1)
    with pytest.raises(TypeError, match="n must be a whole number from 1 to 350; got"):
        gauss_hermite(n)
    with pytest.raises(TypeError, match="n must be a whole number from 1 to 350; got"):
        expect(np.exp, np.zeros(1), np.ones(1), n)


def test_a_mean_of_whole_numbers_would_make_whole_nodes():
    for dtype in (int, bool):
        with pytest.raises(TypeError, match="mean must have a real floating dtype"):
            expect(np.exp, np.asarray([0, 1, 2]).astype(dtype), np.ones(3))
    with pytest.raises(TypeError, match="variance must have a real floating dtype"):
        expect(np.exp, np.zeros(3), np.ones(3, int))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: expect(np.exp, m * np.nan, m), ValueError, "mean must be finite; 2 of its"),
        (lambda m: expect(np.exp, m.tolist(), m), TypeError, "mean must be an array; got list"),
        (lambda m: expect(np.exp, m, 1.0), TypeError, "variance must be an array; got float"),
        (lambda m: expect(np.exp, m, m.astype("f4")), TypeError, "variance must have the dtype of"),
        (lambda m: expect("exp", m, m), TypeError, "f must be a function of arrays; got str"),
        (lambda m: expect(lambda t: 1.0, m, m), ValueError, "f must keep the shape of the nodes"),
        (lambda m: expect(lambda t: t[:, 0], m, m), ValueError, r"\(2, 20\); got \(2,\)"),
    ],
)
def test_what_cannot_be_averaged_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call(np.ones(2))
