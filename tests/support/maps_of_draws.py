"""Exact moments of draws that are linear maps of normal numbers, without drawing many.

Draws that are a mean and a matrix times independent standard normal numbers have the covariance of
that matrix with its transpose. The matrix is read off: each number in turn is one, all others zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpnotes.ground.random import Stream


class Given:
    """A generator that hands out a vector of numbers in order, and zeros where it has none."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.taken = numbers, 0

    def standard_normal(self, shape: Any = ()) -> np.ndarray:
        size, start = int(np.prod(shape)), self.taken
        self.taken += size
        there = self.numbers[start : self.taken]
        return np.concatenate([there, np.zeros(size - len(there))]).reshape(shape)


def mean_and_map(draw: Callable[[Stream], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (k,) of what is drawn, flattened, and its matrix (k, how many numbers)."""

    def drawn(numbers: np.ndarray) -> tuple[np.ndarray, int]:
        given: Any = Given(numbers)
        return np.ravel(np.asarray(draw(Stream(0, (), given)))), given.taken

    mean, count = drawn(np.zeros(0))
    return mean, np.stack([drawn(row)[0] - mean for row in np.eye(count)], axis=1)


def check_two_draws(
    draw: Callable[[Stream], Any], mean: Any, covariance: Any, near: float = 1e-8
) -> None:
    """Hold two draws to be independent, each with these moments, to a share of the largest."""
    found, root = mean_and_map(draw)
    top = near * max(1.0, float(np.max(np.abs(covariance))))
    np.testing.assert_allclose(found, np.tile(mean, 2), rtol=0.0, atol=top)
    wanted = np.kron(np.eye(2), covariance)
    np.testing.assert_allclose(root @ root.T, wanted, rtol=0.0, atol=top)
