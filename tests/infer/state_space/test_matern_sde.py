"""The state of a Matérn process: its steps against exponentials of a matrix and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

from gpnotes.infer.state_space import matern_sde
from gpnotes.infer.state_space.matern_sde import FAR, MaternMotion

SIZES = pytest.mark.parametrize("size", [1, 2, 3])
GAPS = np.asarray([1e-9, 1e-3, 0.03, 0.1, 0.2, 0.2499])


def shift(size):
    return np.eye(size, k=1)


def noise_by_quadrature(size, s):
    """``q ∫ e^{−2u} Φ(u)ᵢ Φ(u)ⱼ du`` with Φ the last column of the exponential."""
    f = math.factorial
    motion = MaternMotion(size)

    def entry(i, j):
        k = 2 * size - 2 - i - j
        weight = motion.drive / (f(size - 1 - i) * f(size - 1 - j))
        return weight * quad(lambda u: u**k * math.exp(-2.0 * u), 0.0, s, epsabs=0.0)[0]

    return [[entry(i, j) for j in range(size)] for i in range(size)]


@SIZES
def test_steps_are_exponentials_of_a_shift(size, rng):
    s, M = np.asarray([0.0, 0.3, 7.0]), rng.normal(size=(size, 2, 3))
    up, down = M.copy(), M.copy()
    MaternMotion(size).up(s, up)
    MaternMotion(size).down(s, down)
    for k in range(3):
        F = expm(s[k] * shift(size))
        np.testing.assert_allclose(up[..., k], F @ M[..., k], rtol=1e-12)
        np.testing.assert_allclose(down[..., k], F.T @ M[..., k], rtol=1e-12)


@SIZES
@pytest.mark.parametrize("longest", ["own", 0.25, 9.0])
def test_noise_is_an_integral_to_the_last_digits_of_short_gaps(size, longest):
    """By series where all are short; by parts else, which loses digits of short ones."""
    s = GAPS if longest == "own" else np.concatenate([GAPS[-2:], [0.25, 1.7, 6.0]])
    end = float(s.max()) if longest == "own" else longest
    found = MaternMotion(size).noise(s, np.exp(-2.0 * s), end)
    for k, gap in enumerate(s):
        wanted = noise_by_quadrature(size, gap)
        rtol = 1e-13 if longest == "own" else 1e-9
        np.testing.assert_allclose(found[:, :, k], wanted, rtol=rtol)


@SIZES
@pytest.mark.parametrize("longest", [np.nextafter(0.25, 0.0), 0.25])
def test_a_gap_of_a_quarter_is_the_first_that_goes_by_parts(monkeypatch, size, longest):
    asked = []
    plain = matern_sde._series
    monkeypatch.setattr(
        matern_sde, "_series", lambda *given: asked.append(given[1:]) or plain(*given)
    )
    MaternMotion(size).noise(np.asarray([0.1]), np.exp([-0.2]), longest)
    assert asked == ([] if longest == 0.25 else [(2 * size - 1, 2.0 * longest)])


@pytest.mark.parametrize("start", [1, 3, 5])
@pytest.mark.parametrize("largest", [0.0, 0.01, 0.5])
def test_a_series_has_as_many_terms_as_its_largest_asks_for(start, largest):
    z = np.asarray([0.0, 0.3 * largest, largest])
    terms = [z**k / math.prod(range(start + 1, start + k + 1)) for k in range(40)]
    found = matern_sde._series(z, start, largest)
    np.testing.assert_allclose(found, sum(terms), rtol=1e-15)


def test_a_series_ends_with_the_first_term_that_no_longer_counts():
    """Ones for it and all before: of a z that is far too large each term adds to the sum."""
    for largest, count in ((0.5, 15), (0.01, 7), (1e-18, 1)):
        terms = [largest**k / math.factorial(k + 1) for k in range(count + 1)]
        assert terms[-1] <= 1e-17 < terms[-2]
        z = np.asarray([1e3])
        wanted = sum(1e3**k / math.factorial(k + 1) for k in range(count + 1))
        np.testing.assert_allclose(matern_sde._series(z, 1, largest), wanted, rtol=1e-12)


@SIZES
def test_the_prior_is_where_noise_and_decay_are_even(size):
    """And the process itself has the variance one."""
    motion = MaternMotion(size)
    P, G = np.asarray(motion.prior), shift(size) - np.eye(size)
    L = np.zeros((size, size))
    L[-1, -1] = motion.drive
    np.testing.assert_allclose(G @ P + P @ G.T, -L, atol=1e-14)
    assert P[0, 0] == 1.0
    far = motion.noise(np.asarray([60.0]), np.exp([-120.0]), 60.0)[:, :, 0]
    np.testing.assert_allclose(far, P, rtol=1e-14)
    assert math.exp(-FAR) == 0.0
