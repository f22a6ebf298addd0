"""Moments of sines against quadrature, simulation-free, and at both ends of the scale."""

import numpy as np
import pytest

from gpnotes import gauss_hermite
from gpnotes.decide.pilco.trigonometric_moments import (
    Augmented,
    SineMoments,
    augment,
    augment_and_pullback,
    sine_moments,
    sine_moments_and_pullback,
)
from gpnotes.testing import gradcheck


@pytest.fixture
def gaussian(rng):
    factor = 0.6 * rng.normal(size=(3, 3))
    return rng.normal(size=3), factor @ factor.T


def cloud(m, S, n=30):
    """Points and weights of a product rule for N(m, S)."""
    nodes, weights = gauss_hermite(n)
    grid = np.stack(np.meshgrid(*[nodes] * len(m), indexing="ij"), axis=-1).reshape(-1, len(m))
    mass = np.prod(np.stack(np.meshgrid(*[weights] * len(m), indexing="ij")), axis=0).reshape(-1)
    return m + grid @ np.linalg.cholesky(S).T, mass


def weighted(values, mass):
    mean = mass @ values
    return mean, (values - mean).T @ ((values - mean) * mass[:, None])


def test_sines_are_those_of_quadrature(gaussian):
    points, mass = cloud(*gaussian)
    mean, covariance = weighted(np.sin(points), mass)
    sines = sine_moments(*gaussian)
    np.testing.assert_allclose(sines.mean, mean, rtol=1e-11)
    np.testing.assert_allclose(sines.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(sines.gain, mass @ np.cos(points), rtol=1e-11)


def test_the_gain_carries_covariances(gaussian):
    """cov[ψᵢ, sin ψⱼ] = Sᵢⱼ E cos ψⱼ."""
    points, mass = cloud(*gaussian)
    off = points - gaussian[0]
    cross = off.T @ (np.sin(points) * mass[:, None])
    np.testing.assert_allclose(
        gaussian[1] * sine_moments(*gaussian).gain, cross, rtol=1e-9, atol=1e-12
    )


def test_sines_live_where_their_arguments_do(space, gaussian):
    sines, pull = sine_moments_and_pullback(*(space.asarray(a) for a in gaussian))
    assert all(space.holds(part) for part in (*sines, *pull(sines)))


def test_small_and_large_variances(gaussian):
    m, S = gaussian
    small = sine_moments(m, 1e-14 * S).covariance
    slope = np.cos(m)
    np.testing.assert_allclose(small, 1e-14 * S * np.outer(slope, slope), rtol=1e-10)
    large = sine_moments(m, 1e4 * S)
    assert np.isfinite(large.covariance).all()
    np.testing.assert_allclose(np.diag(large.covariance), 0.5, rtol=1e-12)
    assert not sine_moments(m, 0.0 * S).covariance.any()


def test_the_pullback_of_sines(gaussian):
    for part in range(3):
        gradcheck(
            lambda m, S, part=part: sine_moments(m, 0.5 * (S + S.T))[part],
            lambda m, S, bar, part=part: _symmetric(
                sine_moments_and_pullback(m, S)[1](_only(part, bar))
            ),
            *gaussian,
        )


def _only(part, bar):
    parts = [np.zeros(3), np.zeros((3, 3)), np.zeros(3)]
    parts[part] = bar
    return SineMoments(*parts)


def _symmetric(bars):
    return bars[0], 0.5 * (bars[1] + bars[1].T)


def test_augmented_states_are_those_of_quadrature(gaussian):
    points, mass = cloud(*gaussian)
    a, b = points[:, 0], points[:, 2]
    wider = np.concatenate([points, np.stack([np.sin(b), np.sin(a)], 1)], 1)
    wider = np.concatenate([wider, np.stack([np.cos(b), np.cos(a)], 1)], 1)
    mean, covariance = weighted(wider, mass)
    augmented = augment(*gaussian, (2, 0))
    np.testing.assert_allclose(augmented.mean, mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(augmented.covariance, covariance, rtol=1e-9, atol=1e-12)


def test_a_known_angle_is_a_point_on_the_circle(space):
    augmented = augment(space.asarray([0.3, 2.0]), space.asarray([[0.0, 0.0], [0.0, 4.0]]), (0,))
    assert all(space.holds(part) for part in augmented)
    circle = [0.3, 2.0, np.sin(0.3), np.cos(0.3)]
    np.testing.assert_allclose(np.asarray([float(x) for x in augmented.mean]), circle, rtol=1e-6)


def test_without_angles_nothing_is_added(gaussian):
    augmented, pull = augment_and_pullback(*gaussian, ())
    assert augmented.mean is gaussian[0]
    np.testing.assert_allclose(augmented.covariance, gaussian[1], rtol=1e-15)
    assert pull(augmented)[1] is augmented.covariance


def test_the_pullback_of_augmenting(gaussian):
    def pulled(part):
        def pull(m, S, bar):
            parts = [np.zeros(5), np.zeros((5, 5))]
            parts[part] = bar
            return _symmetric(augment_and_pullback(m, S, (1,))[1](Augmented(*parts)))

        return pull

    for part in range(2):
        gradcheck(
            lambda m, S, part=part: augment(m, 0.5 * (S + S.T), (1,))[part], pulled(part), *gaussian
        )


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"S must have shape \(2, 2\)"):
        sine_moments(np.zeros(2), np.eye(3))
    with pytest.raises(ValueError, match=r"angles must be entries 0 to 1 of m; got \(2,\)"):
        augment(np.zeros(2), np.eye(2), (2,))
    with pytest.raises(ValueError, match="angles must name each entry once"):
        augment(np.zeros(2), np.eye(2), (1, 1))
    with pytest.raises(TypeError, match="angles must be whole numbers, entries of m; got 0"):
        augment(np.zeros(2), np.eye(2), 0)
    with pytest.raises(TypeError, match="S must have the dtype of m"):
        sine_moments(np.zeros(2, dtype=np.float32), np.eye(2))


@pytest.mark.parametrize("function", [sine_moments, lambda m, S: augment(m, S, (0,))])
def test_what_is_no_covariance_is_refused(function):
    """It would give negative variances."""
    with pytest.raises(ValueError, match="S must be positive semidefinite"):
        function(np.zeros(2), np.asarray([[1.0, 5.0], [5.0, 1.0]]))
    with pytest.raises(ValueError, match="S must be symmetric"):
        function(np.zeros(2), np.asarray([[1.0, 0.5], [0.0, 1.0]]))


def test_angles_may_be_a_list_or_an_array(gaussian):
    wanted = augment(*gaussian, (0, 2))
    for angles in ([0, 2], np.asarray([0, 2])):
        np.testing.assert_array_equal(augment(*gaussian, angles).covariance, wanted.covariance)
