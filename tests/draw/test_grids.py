"""Priors on regular grids: the covariance of the ring's waves is the kernel's, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    RBF,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    White,
    stream,
    to_numpy,
)
from gpnotes.draw.grids import _even_and_smooth, embed_circulant
from gpnotes.ground.random import Stream

ON_A_LINE = (
    Matern12(0.7, 3.0),
    Matern32(1.3, 2.0) + 0.5 * RBF(0.6, 1.5),
    RBF(1.2, 4.0) * Periodic(1.5, 1.1, 5.0),
    2.0 * Matern52(0.4, 1.7),
)


def covariance(prior):
    """Of a draw, from what `sample` makes of unit noise: no chance in it."""
    size = prior.eigenvalues.size
    columns = []
    for j in range(2 * size):
        noise = np.zeros(2 * size)
        noise[j] = 1.0
        columns.append(to_numpy(prior.sample(1, rng=Stream(0, (), _Given(noise)))).ravel())
    root = np.stack(columns, axis=1)
    return root @ root.T


class _Given:
    """A generator whose numbers are given."""

    def __init__(self, noise):
        self.noise = noise

    def standard_normal(self, shape):
        return self.noise.reshape(shape)


def grid(shape, step):
    axes = (h * np.arange(k) for k, h in zip(shape, step, strict=True))
    return np.stack([way.ravel() for way in np.meshgrid(*axes, indexing="ij")], axis=1)


@pytest.mark.parametrize("kernel", ON_A_LINE, ids=repr)
def test_on_a_line_the_covariance_is_the_kernels(kernel):
    prior = embed_circulant(kernel, 9, 0.8, error=1e-12)
    K = kernel(grid((9,), (0.8,)))
    np.testing.assert_allclose(covariance(prior), K, rtol=0, atol=1e-11)


def test_on_a_plane_too_with_a_step_and_a_length_for_each_dimension():
    kernel = Matern32(1.4, np.asarray([0.8, 2.1])) + Constant(1e-3) + 0.3 * Matern12(1.0, 1.0).on(1)
    prior = embed_circulant(kernel, (4, 3), (0.5, 0.9), error=1e-3)
    K = kernel(grid((4, 3), (0.5, 0.9)))
    np.testing.assert_allclose(covariance(prior), K, rtol=0, atol=prior.error + 1e-12)


def test_what_is_clipped_is_a_bound_on_the_error_and_the_variance_reaches_it():
    kernel = RBF(1.0, 30.0)
    prior = embed_circulant(kernel, 20, 1.0, error=0.5, doublings=0)
    gap = covariance(prior) - kernel(grid((20,), (1.0,)))
    assert prior.error > 1e-3
    np.testing.assert_allclose(np.diag(gap), prior.error, rtol=1e-6)
    assert np.max(np.abs(gap)) <= prior.error * (1 + 1e-9)


def test_the_error_that_is_allowed_is_a_share_of_the_variance():
    """As an absolute number it would take any kernel that is small, and none that is large."""
    with pytest.raises(ValueError, match="of the variance"):
        embed_circulant(RBF(1e-12, 30.0), 20, 1.0, doublings=0)
    assert embed_circulant(RBF(1e12, 2.0), 20, 1.0, doublings=0).error < 1e3


def test_the_ring_is_doubled_until_the_kernel_fits_and_no_further():
    sizes = [embed_circulant(RBF(1.0, ell), 100, 1.0).eigenvalues.size for ell in (10, 60, 200)]
    assert sizes == [200, 800, 3200]
    assert embed_circulant(Matern12(1.0, 1e4), 100, 1.0).eigenvalues.size == 200


def test_a_kernel_that_never_falls_to_zero_is_refused():
    cosine = Periodic(1.0, 1.0, 7.3)
    with pytest.raises(ValueError, match=r"ring of \(400,\) points, but .* error=1e-09"):
        embed_circulant(cosine, 50, 1.0, doublings=2, error=1e-9)
    # where the ring is a whole number of periods, it fits: 100 points of 7.3 periods do not
    assert embed_circulant(Periodic(1.0, 1.0, 10.0), 51, 1.0, doublings=0).error < 1e-12


@pytest.mark.parametrize("kernel", [Linear(), White(), RBF() + Linear(), RBF() * White()], ids=repr)
def test_a_kernel_of_more_than_differences_is_refused(kernel):
    with pytest.raises(TypeError, match="kernel must depend on differences only"):
        embed_circulant(kernel, 10, 1.0)


def test_lengths_that_do_not_fit_the_grid_are_refused():
    with pytest.raises(ValueError, match="2"):
        embed_circulant(RBF(1.0, np.asarray([1.0, 2.0])), 10, 1.0)
    with pytest.raises(ValueError, match="step must be one number or 2"):
        embed_circulant(RBF(), (10, 10), (1.0, 1.0, 1.0))


def test_far_lags_keep_their_digits():
    """A million points of a short kernel: differences of squares would make errors of 1e-6."""
    prior = embed_circulant(RationalQuadratic(1.0, 50.0, 2.0), 10**6, 1.0)
    assert prior.error < 1e-10


def test_draws_are_independent_and_have_the_covariance_of_the_kernel():
    """Of 20000 draws the covariances at 5 points are off by five standard errors: P < 1e-5."""
    kernel, n = Matern32(1.5, 2.0), 20_001
    f = embed_circulant(kernel, 5, 1.0).sample(n, rng=stream(1))
    K = kernel(grid((5,), (1.0,)))
    spread = np.sqrt((np.outer(np.diag(K), np.diag(K)) + K**2) / n)
    assert np.max(np.abs(f.T @ f / n - K) / spread) < 5.0
    following = f[:-1].T @ f[1:] / n  # real and imaginary parts, and one pair and the next
    assert np.max(np.abs(following) / np.sqrt(np.outer(np.diag(K), np.diag(K)) / n)) < 5.0


def test_antithetic_draws_come_in_pairs():
    prior = embed_circulant(RBF(), (4, 3), 0.5)
    f = prior.sample(5, antithetic=True, rng=stream(1))
    assert f.shape == (5, 4, 3)
    np.testing.assert_array_equal(f[1::2], -f[:-1:2])
    assert np.all(f[0] != f[2])
    assert prior.sample(0, antithetic=True, rng=stream(1)).shape == (0, 4, 3)
    sources = stream(1), stream(1)  # half as many are drawn, and no more
    prior.sample(5, antithetic=True, rng=sources[0])
    prior.sample(3, rng=sources[1])
    np.testing.assert_array_equal(*(source.normal(3) for source in sources))


def test_draws_do_not_depend_on_the_blocks(monkeypatch):
    prior = embed_circulant(RBF(), 6, 0.5)
    whole = prior.sample(7, rng=stream(1))
    monkeypatch.setattr("gpnotes.ground.memory.ENTRIES", 100)
    source = stream(1)
    np.testing.assert_allclose(prior.sample(7, rng=source), whole, rtol=1e-12)
    other = stream(1)
    other.normal((4, 2, *prior.eigenvalues.shape))
    np.testing.assert_array_equal(source.normal(3), other.normal(3))


def test_a_grid_of_one_point_and_no_error_are_allowed():
    prior = embed_circulant(Matern12(0.7, 3.0), (1, 5), 0.5, error=0.0)
    wanted = Matern12(0.7, 3.0)(grid((1, 5), (0.5, 0.5)))
    np.testing.assert_allclose(covariance(prior), wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="error must be non-negative"):
        embed_circulant(Matern12(), 5, 0.5, error=-1e-9)
    with pytest.raises(ValueError, match="shape must be a whole number from 1; got 0"):
        embed_circulant(Matern12(), (5, 0), 0.5)


def test_rings_are_even_and_have_small_factors_only():
    found = [_even_and_smooth(k) for k in range(400)]
    smooth = [m for m in range(2, 500, 2) if max(p for p in range(1, m + 1) if m % p == 0 and
              all(p % q for q in range(2, p))) <= 5]  # fmt: skip
    assert found == [min(m for m in smooth if m >= k) for k in range(400)]


def test_in_every_namespace(space):
    like = space.asarray(np.zeros(1))
    prior = embed_circulant(Matern32(1.2, 0.9), (5, 4), 0.5, like=like)
    f = prior.sample(3, rng=stream(3))
    assert space.holds(f)
    host = embed_circulant(Matern32(1.2, 0.9), (5, 4), 0.5).sample(3, rng=stream(3))
    np.testing.assert_allclose(to_numpy(f), host, rtol=0, atol=1e-12 if space.double else 2e-5)
