"""Categories: against matrices of pairs written by hand, and against differences."""

import numpy as np
import pytest

import gpnotes as g
from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import Coregion, Hamming
from gpnotes.testing import check_kernel

CODES = np.asarray([[0, 2], [1, 2], [0, 0], [3, 1], [0, 2], [1, 0]], float)
LENGTHS = np.asarray([0.7, 2.0])


@pytest.mark.parametrize("ard", [False, True])
def test_it_conforms(space, rng, ard):
    both = np.concatenate([rng.normal(size=(4, 2)), CODES[:4, :1]], axis=1)
    lengths = space.asarray(LENGTHS[:1]) if ard else 0.7
    kernel = g.RBF().on(0, 1) * Hamming(1.3, lengths).on(2) + Hamming(0.4, 2.0).on(2)
    check_kernel(kernel, space.asarray(both), labels=True)


def test_an_entry_counts_the_columns_that_differ(space, close):
    x = space.asarray(CODES)
    differs = CODES[:, None, :] != CODES[None, :, :]
    close(Hamming(1.3, space.asarray(LENGTHS))(x), 1.3 * np.exp(-(differs / LENGTHS).sum(axis=2)))
    close(Hamming(1.3, 0.7)(x, x[:2, :]), 1.3 * np.exp(-differs[:, :2].sum(axis=2) / 0.7))


def test_the_pullback_of_several_lengths_is_that_of_differences(rng):
    kernel, K_bar, step = Hamming(1.3, LENGTHS), rng.normal(size=(6, 4)), 1e-6
    bar, x_bar, z_bar = kernel.pullback(CODES, CODES[:4], K_bar)
    assert not x_bar.any()
    assert not z_bar.any()

    def value(variance, lengths):
        return float(np.sum(K_bar * Hamming(variance, lengths)(CODES, CODES[:4])))

    slope = (value(1.3 + step, LENGTHS) - value(1.3 - step, LENGTHS)) / (2.0 * step)
    assert bar.variance == pytest.approx(slope, abs=1e-7)
    for d, unit in enumerate(np.eye(2) * step):
        slope = (value(1.3, LENGTHS + unit) - value(1.3, LENGTHS - unit)) / (2.0 * step)
        assert bar.lengthscale[d] == pytest.approx(slope, abs=1e-7)
    shared, _, _ = Hamming(1.3, 0.9).pullback(CODES, None, K_bar @ K_bar.T)
    each, _, _ = Hamming(1.3, np.full(2, 0.9)).pullback(CODES, None, K_bar @ K_bar.T)
    assert shared.lengthscale == pytest.approx(each.lengthscale.sum())


def test_of_one_column_it_is_a_coregionalisation_with_one_correlation(close, space):
    rho = np.exp(-1.0 / 0.8)
    same = Coregion(space.asarray(np.full((4, 1), rho**0.5)), space.asarray(np.full(4, 1.0 - rho)))
    x = space.asarray(CODES[:, :1])
    close(Hamming(1.0, 0.8)(x), to_numpy(same(x)))


def test_a_column_that_does_not_matter_gets_a_long_length(rng):
    codes = rng.integers(0, 3, size=(60, 2)).astype(float)
    y = np.asarray([-1.0, 0.3, 2.0])[codes[:, 0].astype(int)] + 0.1 * rng.normal(size=60)
    found = g.fit(g.GP(Hamming(1.0, np.ones(2)), 0.1), codes, y)
    lengths = found.model.kernel.lengthscale
    assert lengths[1] > 100.0 * lengths[0]
    assert found.posterior.mean(np.asarray([[2.0, 1.0]]))[0] == pytest.approx(2.0, abs=0.1)


def test_what_is_no_code_is_refused():
    with pytest.raises(ValueError, match=r"x must hold codes .* got fractions in row 1"):
        Hamming()(np.asarray([[1.0], [0.5]]))
    with pytest.raises(ValueError, match=r"X must hold codes of categories.*in row 0"):
        g.condition(g.GP(Hamming(), 0.1), np.asarray([[0.5], [0.5]]), np.zeros(2))


def test_unasked_variance_and_length_are_one(space, close):
    close(Hamming()(space.asarray(CODES)), to_numpy(Hamming(1.0, 1.0)(space.asarray(CODES))))


@pytest.mark.parametrize("length", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("ard", [False, True])
def test_lengths_whose_squares_overflow_have_no_derivative(length, ard):
    kernel = Hamming(1.0, np.full(2, length) if ard else length)
    bar = kernel.pullback(CODES, None, np.ones((6, 6)))[0]
    np.testing.assert_allclose(bar.lengthscale, 0.0, rtol=0, atol=1e-300)
