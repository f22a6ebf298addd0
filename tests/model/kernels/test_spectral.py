"""Kernels by their spectrum: against features, and against the integral over a density."""

import numpy as np
import pytest
from scipy import integrate, stats

from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import Cosine, spectral_mixture
from gpnotes.testing import check_kernel


def test_one_frequency_is_two_features(space, x, z, close):
    frequency = [0.3, -0.2, 0.5]

    def waves(a):
        turns = 2.0 * np.pi * to_numpy(a).astype(float) @ frequency
        return np.stack([np.cos(turns), np.sin(turns)], axis=1)

    close(Cosine(space.asarray(frequency))(x, z), waves(x) @ waves(z).T, scale=10.0)


def test_one_number_is_the_frequency_of_every_dimension(space, x, close):
    close(Cosine(0.3)(x), to_numpy(Cosine(space.asarray([0.3] * 3))(x)), scale=10.0)


@pytest.mark.parametrize("lag", [0.0, 0.4, 1.7])
def test_a_mixture_is_the_transform_of_its_density(lag):
    variances, frequencies, bandwidths = (0.7, 1.2), (0.1, 0.9), (0.2, 0.05)

    def density(omega):
        bands = zip(variances, frequencies, bandwidths, strict=True)
        return sum(v * stats.norm.pdf(omega, m, s) for v, m, s in bands)

    def wave(omega):
        return density(omega) * np.cos(2.0 * np.pi * omega * lag)

    wanted = sum(integrate.quad(wave, a, b, limit=200)[0] for a, b in [(-2, 0.5), (0.5, 2)])
    kernel = spectral_mixture(variances, frequencies, bandwidths)
    got = kernel(np.asarray([[lag + 3.0]]), np.asarray([[3.0]]))[0, 0]
    np.testing.assert_allclose(got, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0], [1.0, 2.0], [1.0]), "equally many, at least one; got 1, 2, 1"),
        (([], [], []), "equally many, at least one; got 0, 0, 0"),
        (([1.0], [1.0], [0.0]), "bandwidths must be positive"),
        (([-1.0], [1.0], [1.0]), r"RBF\.variance must be positive"),
    ],
)
def test_the_bands_are_checked(given, message):
    with pytest.raises(ValueError, match=message):
        spectral_mixture(*given)


@pytest.mark.parametrize("frequency", [0.3, np.asarray([0.3, -0.2, 0.5])], ids=["one", "each"])
def test_one_frequency_keeps_the_contract_of_kernels(rng, frequency):
    check_kernel(Cosine(frequency), rng.normal(size=(5, 3)) + 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inputs_far_from_zero_keep_their_differences(rng, dtype):
    """Whole numbers that a precision holds, and as many turns as would leave none of its digits."""
    near = np.arange(0.0, 60.0, 7.0)[:, None]
    far = (near + (1e7 if dtype == np.float32 else 1e15)).astype(dtype)
    kernel, bar = Cosine(0.3), rng.normal(size=(9, 9))
    np.testing.assert_allclose(kernel(far), kernel(near), atol=1e-4)
    np.testing.assert_allclose(kernel(far[:4], far), kernel(near[:4], near), atol=1e-4)
    found, wanted = (
        kernel.pullback(x, None, bar.astype(x.dtype))[0].frequency for x in (far, near)
    )
    assert found == pytest.approx(wanted, rel=1e-4)
