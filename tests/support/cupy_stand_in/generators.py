"""Random numbers on the device, by the methods of CuPy's generator: no `normal`, no `choice`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import up

__all__ = ["NAMES", "Generator"]

_METHODS = (
    "beta binomial chisquare dirichlet exponential f gamma geometric hypergeometric integers "
    "logseries poisson power random standard_exponential standard_gamma standard_normal uniform"
)


class Generator:
    """What it draws is on the current device."""

    def __init__(self, bit_generator: Any) -> None:
        self._host = np.random.default_rng(bit_generator)


def _method(name: str) -> Any:
    def draw(self: Generator, *args: Any, **kwargs: Any) -> Any:
        return up(np.asarray(getattr(self._host, name)(*args, **kwargs)))

    return draw


for _name in _METHODS.split():
    setattr(Generator, _name, _method(_name))
Generator.__module__ = "cupy.random"

NAMES = {"Generator": Generator, "default_rng": lambda seed=None: Generator(seed)}
