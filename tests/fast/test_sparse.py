"""The in-place work on inducing points against the general one, which it must equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Matern12, Matern32, Matern52, log_evidence_and_gradient
from gpnotes.fast import sparse as in_place
from gpnotes.fast.stationary_evidence import HostPairs
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import sparse
from gpnotes.infer.sparse import row_sums as passes

M = 60  # more than a panel of the triangular solve


def general(kernel_class):
    """The same kernel without the path in place."""

    @dataclass(frozen=True)
    class General(kernel_class):
        pass

    assert kernel_class.in_place
    assert not General.in_place
    return General


@pytest.mark.parametrize("d", [2, 5])  # distances by differences, and expanded
@pytest.mark.parametrize("kernel_class", [RBF, Matern12, Matern32, Matern52])
@pytest.mark.parametrize("method", ["vfe", "dtc", "upper", "fitc"])
def test_bound_and_gradient_are_those_of_the_general_path(rng, kernel_class, d, method):
    wide = 8.0 if d == 2 else 1.5  # so far apart that K_uu is not nearly singular
    X, Z = wide * rng.normal(size=(150, d)), wide * rng.normal(size=(M, d))
    X[:3] = Z[:3]  # a distance of zero
    y, lengths = rng.normal(size=150), rng.uniform(0.5, 2.0, size=d)
    found = []
    for kind in (kernel_class, general(kernel_class)):
        gp = GP(kind(1.3, lengths), 0.2, ConstantMean(0.5))
        value, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z, method=method), X, y)
        gp_bar, Z_bar = model_bar.gp, model_bar.inducing
        found.append((value, flatten_gradient(gp, gp_bar), Z_bar))
    for ours, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-8, atol=1e-8)


def test_blocks_that_are_not_kept_are_made_again(monkeypatch, rng):
    X, Z, y = rng.normal(size=(90, 4)), rng.normal(size=(M, 4)), rng.normal(size=90)
    gp = GP(RBF(1.3, 1.1), 0.2)
    value, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z), X, y)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    monkeypatch.setattr("gpnotes.ground.memory.ENTRIES", M * 20)
    made = []
    whiten = in_place.whiten
    monkeypatch.setattr(in_place, "whiten", lambda *args: made.append(1) or whiten(*args))
    for kept, times in ((2**23, 5), (M * 45, 8), (0, 10)):
        made.clear()
        monkeypatch.setattr(passes, "_KEPT", kept)
        again, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z), X, y)
        again_bar, Z_again = model_bar.gp, model_bar.inducing
        assert len(made) == times
        assert again == pytest.approx(value, rel=1e-11)
        np.testing.assert_allclose(Z_again, Z_bar, rtol=1e-8, atol=1e-9)
        pair = flatten_gradient(gp, again_bar), flatten_gradient(gp, gp_bar)
        np.testing.assert_allclose(*pair, rtol=1e-8, atol=1e-9)


def test_a_block_is_what_its_names_say(rng):
    X, Z = rng.normal(size=(9, 4)), rng.normal(size=(M, 4))
    kernel = Matern32(1.3, 0.9)
    lower = np.linalg.cholesky(kernel(Z))
    block = in_place.whiten(kernel, Z, lower, X)
    Phi = np.linalg.solve(lower, kernel(Z, X)).T
    np.testing.assert_allclose(block.Phi, Phi, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(block.gap, 1.3 - np.sum(Phi * Phi, axis=1), rtol=1e-8)
    u, v = Z / 0.9, X / 0.9
    q = np.sum((v[:, None, :] - u[None, :, :]) ** 2, axis=2)
    np.testing.assert_allclose(block.slope, kernel._slope(q), rtol=1e-8)


def test_derivatives_by_both_sides_are_those_of_each_alone(rng):
    """W holds the derivatives by the squared distances, whose differences are taken here."""
    kernel, (X, Z) = RBF(1.3, np.asarray([0.5, 2.0])), rng.normal(size=(2, 6, 2))
    X, W = X[:4], np.asfortranarray(rng.normal(size=(4, 6)))
    pairs = HostPairs(Z / kernel.lengthscale, X / kernel.lengthscale)

    def value(X, Z, lengths):
        return np.sum(W * np.sum(((X[:, None] - Z[None]) / lengths) ** 2, axis=2))

    by_lengths, by_Z, by_X = in_place.pull_to_both(kernel, pairs, W)
    alone = in_place.pull_of_distances(kernel, pairs, W)
    for found, other in zip((by_lengths, by_Z), alone, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-12)
    step = 1e-6 * np.eye(2)[0]
    at = (X, Z, kernel.lengthscale)
    for place, found in ((0, by_X[2]), (1, by_Z[3]), (2, by_lengths)):
        ends = []
        for sign in (1.0, -1.0):
            moved = [np.array(a) for a in at]
            row = moved[place] if place == 2 else moved[place][(2, 3)[place]]
            row += sign * step
            ends.append(value(*moved))
        assert found[0] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_with_itself_are_whole_and_symmetric(rng, dtype):
    Phi, r = np.asfortranarray(rng.normal(size=(40, 7)).astype(dtype)), rng.normal(size=40)
    S, by_r = in_place.products(Phi, r.astype(dtype))
    np.testing.assert_allclose(S, Phi.T @ Phi, rtol=0, atol=1e-4 if dtype is np.float32 else 1e-12)
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_allclose(by_r, Phi.T @ r, rtol=0, atol=1e-4)
