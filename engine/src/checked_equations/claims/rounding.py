"""Random numbers whose last digits are changed, to ask whether rounding decides an experiment.

Processors round differently. Most experiments forget it; one that climbs a rough hill, or takes the
largest of numbers that are equal, finds something else, though no line of code has changed. The
last digits decide on this processor as they do on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

_REAL = [
    "beta",
    "chisquare",
    "dirichlet",
    "exponential",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "noncentral_chisquare",
    "normal",
    "pareto",
    "power",
    "random",
    "rayleigh",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
]


NUDGES = 2.0**-40, 2.0**-33, 2.0**-27  # from 1e-12 to 1e-8


class Nudged(np.random.Generator):
    """The numbers of another generator, each smaller by a `part`; whole numbers and orders stay.

    >>> same, nudged = np.random.default_rng(0), Nudged(np.random.default_rng(0).bit_generator)
    >>> bool(0 < 1 - nudged.random() / same.random() < 1e-11)
    True
    """

    def __init__(self, bits: np.random.BitGenerator, part: float = NUDGES[0]) -> None:
        super().__init__(bits)
        self.part = part


def _nudging(name: str) -> Callable[..., object]:
    drawn = getattr(np.random.Generator, name)

    def smaller(self: Nudged, *args: object, **options: object) -> object:
        return drawn(self, *args, **options) * (1 - self.part)

    return smaller


for _name in _REAL:
    setattr(Nudged, _name, _nudging(_name))


@contextmanager
def nudged(part: float) -> Iterator[None]:
    """Nudge the generators that `numpy.random.default_rng` makes here, also of drawn seeds."""
    plain = np.random.default_rng
    np.random.default_rng = lambda seed=None: Nudged(plain(seed).bit_generator, part)
    try:
        yield
    finally:
        np.random.default_rng = plain
