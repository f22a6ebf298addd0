"""Adam, uphill: steps by averages of the gradient and of its square, for gradients with noise."""

from __future__ import annotations

from .xp import Array, array_namespace

__all__ = ["Adam"]

_DECAYS = 0.9, 0.999  # of the averages of a gradient and of its square
_TINY = 1e-8  # that it adds to a root


class Adam:
    """Kingma & Ba (2015), algorithm 1, uphill.

    Parameters
    ----------
    rate : float
        The length of a step in each entry, as long as the gradient keeps its sign.
    like : Array
        An array of the shape and the kind of the gradients.
    """

    def __init__(self, rate: float, like: Array) -> None:
        self._rate = rate
        xp = array_namespace(like)
        self._mean, self._square = xp.zeros_like(like), xp.zeros_like(like)
        self._steps = 0

    def step(self, gradient: Array, scale: float = 1.0) -> Array:
        """By how much to move: `scale` times the step of Adam."""
        xp = array_namespace(gradient)
        of_mean, of_square = _DECAYS
        self._steps += 1
        self._mean *= of_mean
        self._mean += (1.0 - of_mean) * gradient
        self._square *= of_square
        self._square += (1.0 - of_square) * gradient**2
        length = self._rate * scale / (1.0 - of_mean**self._steps)
        root = (1.0 - of_square**self._steps) ** 0.5
        return length * self._mean / (xp.sqrt(self._square) / root + _TINY)
