"""Cosines of turns in place, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.fast.cosines import cosines_of_turns, gram_and_cross, supports, waves


@pytest.mark.parametrize("amplitude", [1.0, -0.7])
def test_cosines_of_turns_are_right_to_rounding(rng, amplitude):
    turns = np.concatenate([np.linspace(-1.0, 1.0, 801), rng.uniform(-40.0, 40.0, size=500)])
    found = turns.copy()
    cosines_of_turns(found, amplitude)
    np.testing.assert_allclose(found, amplitude * np.cos(2.0 * np.pi * turns), rtol=0, atol=5e-14)


def test_waves_and_their_products_are_those_of_plain_operations(rng):
    X, omega, r = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), rng.normal(size=30)
    offset = rng.uniform(size=5)
    Phi = 0.6 * np.cos(2.0 * np.pi * (X @ omega.T + offset))
    np.testing.assert_allclose(waves(X, omega, offset, 0.6), Phi, rtol=0, atol=1e-13)
    products, sums = gram_and_cross(X, r, omega, offset, 0.6)
    np.testing.assert_allclose(products, Phi.T @ Phi, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sums, Phi.T @ r, rtol=0, atol=1e-12)


def test_arrays_of_numpy_in_float64_are_supported_if_there_are_any(space):
    plain = isinstance(space.asarray([1.0]), np.ndarray)
    for X in ([[1.0, 2.0]], [[1.0]]):
        assert supports(space.asarray(X)) == (plain and space.double)
    assert not supports(space.asarray(np.zeros((0, 2))))
    assert not supports(np.ones((2, 2), np.float32))


def test_products_are_summed_over_blocks_of_rows(rng, monkeypatch):
    X, omega, r = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), rng.normal(size=30)
    whole = gram_and_cross(X, r, omega, np.zeros(5), 0.6)
    monkeypatch.setattr("gpnotes.fast.cosines._ROWS", 35)  # seven rows at a time
    for found, wanted in zip(gram_and_cross(X, r, omega, np.zeros(5), 0.6), whole, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
