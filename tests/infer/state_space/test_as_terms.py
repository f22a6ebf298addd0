"""Kernels as sums of terms: their covariances, their derivatives, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from gpnotes import (
    GP,
    RBF,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    White,
)
from gpnotes.ground.params import flatten, flatten_gradient
from gpnotes.infer.state_space import as_terms
from gpnotes.infer.state_space.as_terms import (
    TermBar,
    expansion,
    expansion_of,
    harmonics,
    motion_of,
    seen_of,
)
from gpnotes.model.kernels import Cosine, IntegratedWiener, Product, Sum, Wiener
from gpnotes.model.means import BasisMean, Powers

TIGHT = 1e-12
SEASON = Periodic(1.3, 0.9, 1.7)
M12, M32, M52 = Matern12(0.7, 2.0), Matern32(1.7, 1.3), Matern52(0.4, 3.1)
KERNELS = {
    "rough": M12, "once": M32, "twice": M52, "wave": Cosine(0.3), "level": Constant(2.0),
    "line": Linear(0.3), "walk": Wiener(0.4, -2.0), "bend": IntegratedWiener(0.3, -3.0),
    "season": SEASON, "slow season": Periodic(0.6, 4.0, 2.3),
    "sum with noise": M32 + White(0.2) + 0.5 * (White(0.1) + M12),
    "column": 3.0 * (M52 + White(0.3)).on(0),
    "product": M32 * Cosine(0.4),
    "of sums": (M12 + 0.3 * M32) * (Cosine(0.2) + Constant(0.7)) * (Linear(0.1) + M52),
    "of three seasons": M12 * SEASON * (Cosine(0.11) + Constant(0.5)),
    "power": (Constant(0.7) + 0.3 * M12 * Cosine(0.3)) ** 3,
    "first power": M32**1 + 2.0 * M12,
    "of one part": Product((M32,)),
}  # fmt: skip
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def covariance_of(leaf, x, z):
    """That of a process of variance one, by its own formula."""
    d = np.abs(x - z.T)
    s = leaf.rate * d
    match type(leaf).__name__:
        case "MaternLeaf":
            return (1.0 + s * (leaf.entries > 1) + s * s / 3.0 * (leaf.entries > 2)) * np.exp(-s)
        case "Wave":
            return np.cos(s)
    assert leaf.rate == 0.0  # it has no time of its own
    match type(leaf).__name__:
        case "Level":
            return np.ones_like(d)
        case "Line":
            return x * z.T
        case "Walk":
            return np.minimum(x, z.T) - leaf.origin
    least, most = np.minimum(x, z.T) - leaf.origin, np.maximum(x, z.T) - leaf.origin
    return least * least * (most / 2.0 - least / 6.0)


@kernels
def test_the_terms_of_a_kernel_add_up_to_it(kernel, rng):
    x, z = rng.uniform(0.1, 4.0, (6, 1)), rng.uniform(0.1, 4.0, (5, 1))
    found = expansion(kernel, TIGHT)
    terms = [
        term.variance * math.prod(covariance_of(leaf, x, z) for leaf in term.factors)
        for term in found.terms
    ]
    np.testing.assert_allclose(sum(terms), kernel(x, z), rtol=1e-10, atol=1e-10)
    same = kernel(x)[0, 0] - kernel(x[:1], x[:1])[0, 0]
    assert found.white == pytest.approx(same, abs=1e-12)
    assert found.unit == pytest.approx(math.fsum(term.variance for term in found.terms))
    shares = [term.variance for term in found.motion.terms]
    np.testing.assert_allclose(shares, [term.variance / found.unit for term in found.terms])


@kernels
def test_derivatives_by_terms_are_carried_back_to_the_kernel(kernel, rng):
    """Of a sum of their variances, their rates and the noise, each with a weight of its own."""
    found = expansion(kernel, TIGHT)
    weights = [(rng.normal(), rng.normal(size=len(term.factors))) for term in found.terms]
    of_white = rng.normal()

    def weighted(kernel):
        one = expansion(kernel, TIGHT)
        assert len(one.terms) == len(weights)
        value = of_white * one.white
        for term, (w, rates) in zip(one.terms, weights, strict=True):
            value += w * term.variance + sum(
                r * leaf.rate for r, leaf in zip(rates, term.factors, strict=True)
            )
        return value

    bars = [TermBar(w, tuple(rates)) for w, rates in weights]
    bar = found.pull(bars, of_white)
    start, rebuilt = flatten(kernel)
    steps = 1e-5 * np.eye(start.size)
    slopes = [(weighted(rebuilt(start + h)) - weighted(rebuilt(start - h))) / 2e-5 for h in steps]
    np.testing.assert_allclose(flatten_gradient(kernel, bar), slopes, rtol=2e-6, atol=2e-7)


def remainders(lengthscale, most=120):
    z = lengthscale**-2
    q = 2.0 * special.ive(np.arange(most), z)
    q[0] *= 0.5
    return q, np.asarray([q[k + 1 :].sum() for k in range(most)])


@pytest.mark.parametrize("lengthscale", [0.1, 0.3, 0.9, 1.0, 2.7])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_waves_have_the_shares_of_bessel_functions(lengthscale, tolerance):
    """And as few are taken as leave out no more than the tolerance."""
    q, left = remainders(lengthscale)
    shares, slopes = harmonics(lengthscale, tolerance)
    count = len(shares)
    assert left[count - 1] <= tolerance < left[count - 2]
    np.testing.assert_allclose(shares, q[:count], rtol=1e-12)
    h = 1e-5
    up, down = (remainders(lengthscale + s)[0][:count] for s in (h, -h))
    np.testing.assert_allclose(slopes, (up - down) / (2.0 * h), rtol=1e-6, atol=1e-9)


def test_a_remainder_that_is_the_tolerance_is_left_out_and_less_than_rounding_is_refused():
    for k in (0, 2, 5):
        rest = math.fsum(harmonics(0.9, 1e-100)[0][k + 1 :])
        assert len(harmonics(0.9, rest)[0]) == k + 1
        assert len(harmonics(0.9, np.nextafter(rest, 0.0))[0]) == k + 2
    with pytest.raises(ValueError, match=r"tolerance must be larger than rounding, .*; got -1"):
        harmonics(0.9, -1.0)


@pytest.mark.parametrize("lengthscale", [0.5, 0.9, 3.0])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_the_last_wave_of_a_season_brings_the_rest_to_the_tolerance(lengthscale, tolerance):
    found = expansion(Periodic(2.0, lengthscale, 1.7), tolerance)
    shares = [term.variance / 2.0 for term in found.terms]
    whole, _ = harmonics(lengthscale, tolerance)
    np.testing.assert_allclose(shares[:-1], whole[:-1])
    assert sum(shares) == pytest.approx(1.0 - tolerance, abs=1e-15)
    assert 0.0 < shares[-1] < whole[-1]
    rates = [leaf.rate for term in found.terms for leaf in term.factors]
    np.testing.assert_allclose(rates, 2.0 * np.pi / 1.7 * np.arange(len(shares)))


@pytest.mark.parametrize(
    ("shares", "tolerance", "last"),
    [
        ([0.5, 0.25], 0.3, 0.2),
        ([0.5, 0.1, 0.25], 0.2, 0.2),
        ([0.5, 0.25], 0.25, 0.25),  # as it is
        ([0.5, 0.25], 0.5, 0.25),  # nothing is left for it
        ([0.5, 0.25], 0.1, 0.25),  # more than it has
        ([0.75], 0.5, 0.75),  # a level alone
    ],
)
def test_a_last_wave_is_never_larger_than_it_was_nor_nothing(shares, tolerance, last):
    slopes = [0.7, -0.2, 0.4][: len(shares)]
    found, by_length = as_terms._smoothly(shares, slopes, tolerance)
    np.testing.assert_allclose(found, [*shares[:-1], last])
    np.testing.assert_allclose(by_length[:-1], slopes[:-1])
    assert by_length[-1] == pytest.approx(-sum(slopes[:-1]) if last == 0.2 else slopes[-1])


def count_of(kernel, noise, tolerance):
    return len(expansion_of(GP(kernel, noise), tolerance).terms)


@pytest.mark.parametrize("variance", [0.2, 1.0, 5.0])
def test_waves_are_left_out_that_are_far_less_than_the_noise_and_the_variance(variance):
    """Down to a millionth of the tolerance, each summand by itself."""
    season = Periodic(variance, 0.4, 1.7)
    for noise in (1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 10.0):
        found = count_of(season, noise * variance, 1e-3)
        assert found == len(harmonics(0.4, 1e-3 * min(1.0, max(noise, 1e-6)))[0])
        assert count_of(season + Matern12(100.0 * variance), noise * variance, 1e-3) == found + 1
        product = season * Matern12(10.0)
        by_product = len(harmonics(0.4, 1e-3 * min(1.0, max(noise / 10.0, 1e-6)))[0])
        assert count_of(product, noise * variance, 1e-3) == by_product


def test_one_who_has_no_waves_is_expanded_once(monkeypatch):
    asked = []
    plain = as_terms.expansion
    monkeypatch.setattr(
        as_terms, "expansion", lambda kernel, tol: asked.append(tol) or plain(kernel, tol)
    )
    expansion_of(GP(M12, 1e-3), 1e-4)
    assert asked == [1e-4]
    with pytest.raises(TypeError, match="more than noise"):
        expansion_of(GP(White(0.1), 1e-3), 1e-4)


def test_a_part_is_seen_by_its_own_entries_and_noise():
    one, two, three = M12, M32 + White(0.3), Cosine(0.2) + White(0.4)
    whole = Sum((one, two, three, one))
    gp = GP(whole, 0.1)
    motion = motion_of(gp, TIGHT)
    for kernel, numbers, white in (
        (whole, [0, 1, 2, 3], 0.7),
        (one, [0], 0.0),
        (two, [1], 0.3),
        (three, [2], 0.4),
        (Sum((three, one)), [0, 2], 0.4),
        (Sum((one, one)), [0, 3], 0.0),
        (Sum((two, three, one)), [0, 1, 2], 0.7),
    ):
        seen, noise = seen_of(kernel, gp, TIGHT, motion)
        assert seen == motion.sum_of(numbers)
        assert noise == pytest.approx(white)
    alone = GP(M32, 0.1)
    assert seen_of(alone.kernel, alone, TIGHT, motion_of(alone))[0] == (0,)


class Own(Matern32):
    """A kernel of its own, which may have another profile."""


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (RBF(), TypeError, "gp must have the kernel one of Matern12"),
        (M12 + RBF(), TypeError, "gp must have the kernel one of Matern12"),
        (Own(), TypeError, "gp must have the kernel one of Matern12"),
        (M12 * White(), TypeError, "gp must have no White as a factor"),
        ((M12 + White()) ** 2, TypeError, "gp must have no White as a factor"),
        (M12.on(1), TypeError, "gp must look at column 0"),
        (M12.on(0, 1), TypeError, "gp must look at column 0"),
        (M12.on("a", "b"), TypeError, "gp must look at column 0"),
        (Matern12(1.0, np.ones(1)), TypeError, "gp must have one lengthscale, as a line"),
        (Cosine(np.ones(1)), TypeError, "gp must have one frequency"),
        (Linear(np.ones(1)), TypeError, "gp must have one variance"),
        (Periodic(1.0, np.ones(1)), TypeError, "gp must have one lengthscale"),
        (Periodic(1.0, 1.0, np.ones(1)), TypeError, "gp must have one period"),
        (White(0.3), TypeError, "gp must have a kernel that is more than noise"),
        (Periodic(1.0, 0.1 * (1.0 - 2e-9)), ValueError, r"Periodic\.lengthscale must be 0\.1 or"),
        (Sum((M52,) * 200 + (M12,)), ValueError, "state of 600 numbers or fewer.*got 601"),
    ],
)
def test_what_is_no_process_of_a_few_numbers_is_refused(kernel, error, message):
    with pytest.raises(error, match=message):
        expansion_of(GP(kernel, 0.1), 1e-6)


def test_what_is_just_within_is_taken():
    for length in (0.1 * (1.0 - 5e-10), 0.1 * (1.0 - 1e-9)):
        assert expansion_of(GP(Periodic(1.0, length), 0.1), 1e-6).terms
    assert expansion_of(GP(M12.on("a"), 0.1), 1e-6).terms  # a name that is not found yet
    assert len(expansion_of(GP(Sum((M52,) * 200), 0.1), 1e-6).terms) == 200
    assert expansion_of(GP(M12 + White(0.3), 0.0), 1e-6).white == 0.3
    assert expansion_of(GP(M12), 1e-6).terms  # a noise that is open
    with pytest.raises(ValueError, match=r"gp\.noise_var must be positive on a line; got 0\.0"):
        expansion_of(GP(M12, 0.0), 1e-6)
    with pytest.raises(TypeError, match=r"gp\.mean"):
        expansion_of(GP(M12, 0.1, BasisMean(Powers(1))), 1e-6)
