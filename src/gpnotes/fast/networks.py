"""The in-place work behind `networks` for NumPy arrays: a network's pass forth, and the one back.

The formulas are those of `networks.layers`, which stay the reference: a test holds both to each
other. An ascent makes the same passes hundreds of times; fresh memory for each of their arrays
would cost as much as the products. So they are made once, in a `Workspace`, and written over.

Rows of data stand side by side, (…, neurons, n), so that elementwise work goes along them, and
below the values of a layer stands a row of ones: with it the product of matrices adds the offsets,
which stand below the weights in ``theta``, and the product of the way back sums their derivatives.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..ground.memory import blocks
from ..ground.xp import HostArray, HostMatrix
from .polynomials import Workspace

_BLOCK = 2**16  # entries: 512 KiB in float64, so that a few blocks fit a core's cache

__all__ = ["Workspace", "forth", "pulled"]


def forth(
    sizes: tuple[int, ...], relu: bool, theta: HostArray, X: HostMatrix, work: Workspace
) -> HostArray:
    """The outputs (…, k, n) of networks with weights theta (…, p), until `work` is used again."""
    n = X.shape[0]
    below: HostArray = work.array("0", (sizes[0] + 1, n), theta.dtype)
    below[:-1] = X.T
    below[-1] = 1.0
    for number, W in enumerate(_matrices(sizes, theta), start=1):
        hidden, width = number < len(sizes) - 1, sizes[number]
        shape = (*theta.shape[:-1], width + hidden, n)
        values = work.array(str(number), shape, theta.dtype)
        sums = values[..., :width, :]
        np.matmul(W.mT, below, out=sums)
        if hidden:
            _ = np.maximum(sums, 0.0, out=sums) if relu else np.tanh(sums, out=sums)
            values[..., width, :] = 1.0
        below = values
    return below


def pulled(
    sizes: tuple[int, ...], relu: bool, theta: HostArray, F_bar: HostArray, work: Workspace
) -> HostArray:
    """The derivatives by theta, in an array of their own, from those by the outputs of `forth`."""
    lead, n, dtype = theta.shape[:-1], F_bar.shape[-1], theta.dtype
    theta_bar = np.empty(theta.shape, dtype)
    matrices, bars = _matrices(sizes, theta), _matrices(sizes, theta_bar)
    bar = F_bar
    for number in reversed(range(len(matrices))):
        width = sizes[number]
        shape = (*lead, width + 1, n) if number else (width + 1, n)
        below = work.array(str(number), shape, dtype)
        np.matmul(below, bar.mT, out=bars[number])
        if number:
            above, bar = bar, work.array(f"bar {number}", (*lead, width, n), dtype)
            np.matmul(matrices[number][..., :width, :], above, out=bar)
            _through(relu, bar, below[..., :width, :], work)
    return theta_bar


def _through(relu: bool, bar: HostArray, values: HostArray, work: Workspace) -> None:
    """Derivatives by the values into those by the sums, in place; zero at a kink."""
    width, around = bar.shape[-2], bar.size // bar.shape[-2]
    for some in blocks(width, around, _BLOCK):
        part, value = bar[..., some, :], values[..., some, :]
        slope = work.array(f"slope {part.shape[-2]}", part.shape, part.dtype)
        if relu:
            np.greater(value, 0.0, out=slope)
        else:
            np.square(value, out=slope)
            np.subtract(1.0, slope, out=slope)
        part *= slope


def _matrices(sizes: tuple[int, ...], theta: HostArray) -> list[HostArray]:
    """The weights of each layer with its offsets as the last row, (…, inputs + 1, outputs)."""
    found, start = [], 0
    for inputs, outputs in pairwise(sizes):
        stop = start + (inputs + 1) * outputs
        part = theta[..., start:stop]
        found.append(part.reshape(*theta.shape[:-1], inputs + 1, outputs))
        start = stop
    return found
