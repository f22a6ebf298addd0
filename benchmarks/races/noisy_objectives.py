"""What the races under noise minimise: eight functions each of one, two, three and six inputs.

They are used nowhere else. Those of three inputs are of the kinds of six.

Each takes a point u (d,) of the unit cube. Boxes are shifted where the least value would lie in
their middle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from race_objectives import Objective, Problem

__all__ = ["FUNCTIONS", "LEVELS", "deviation", "problems"]

LEVELS = (0.0, 0.1, 0.3, 0.5)  # deviations of a reading, in those of the function over its box


@dataclass(frozen=True)
class Function:
    """A function of x (d,) over a box, and its least value there."""

    name: str
    ends: tuple[tuple[float, float], ...]
    of: Callable[[np.ndarray], float]
    least: float

    def __call__(self, u: np.ndarray) -> float:
        """The value at a point of the unit cube."""
        low, high = np.asarray(self.ends).T
        return float(self.of(low + (high - low) * u))


def _waves_on_a_wall(x: np.ndarray) -> float:
    """Source: Gramacy & Lee (2012)."""
    return np.sin(10.0 * np.pi * x[0]) / (2.0 * x[0]) + (x[0] - 1.0) ** 4


def _two_waves(x: np.ndarray) -> float:
    """Source: Higdon (2002)."""
    return np.sin(0.2 * np.pi * x[0]) + 0.2 * np.sin(0.8 * np.pi * x[0])


def _shubert(x: np.ndarray) -> float:
    """Source: Shubert (1972), of one input."""
    order = np.arange(1, 6)
    return float(np.sum(order * np.sin((order + 1) * x[0] + order)))


def _mccormick(x: np.ndarray) -> float:
    """Source: McCormick (1976)."""
    return np.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1.0


def _three_humps(x: np.ndarray) -> float:
    """Source: Dixon & Szegö (1978)."""
    return 2.0 * x[0] ** 2 - 1.05 * x[0] ** 4 + x[0] ** 6 / 6.0 + x[0] * x[1] + x[1] ** 2


def _drop_in_water(x: np.ndarray) -> float:
    """Rings about the origin that fade."""
    square = x[0] ** 2 + x[1] ** 2
    return -(1.0 + np.cos(12.0 * np.sqrt(square))) / (0.5 * square + 2.0)


def _bird(x: np.ndarray) -> float:
    """Source: Mishra (2006), without the constraint."""
    first = np.sin(x[1]) * np.exp((1.0 - np.cos(x[0])) ** 2)
    return first + np.cos(x[0]) * np.exp((1.0 - np.sin(x[1])) ** 2) + (x[0] - x[1]) ** 2


def _dents(x: np.ndarray) -> float:
    """Source: Rastrigin (1974)."""
    return float(np.sum(x**2 - 10.0 * np.cos(2.0 * np.pi * x) + 10.0))


def _alpine(x: np.ndarray) -> float:
    """Source: Rahnamayan, Tizhoosh & Salama (2007)."""
    return float(np.sum(np.abs(x * np.sin(x) + 0.1 * x)))


def _trid(x: np.ndarray) -> float:
    """A bowl whose inputs hang together; least where xᵢ = i (d + 1 − i)."""
    return float(np.sum((x - 1.0) ** 2) - np.sum(x[1:] * x[:-1]))


def _sum_of_waves(x: np.ndarray) -> float:
    """Two waves that do not fit."""
    return np.sin(x[0]) + np.sin(10.0 * x[0] / 3.0)


def _growing_waves(x: np.ndarray) -> float:
    """Source: Hansen (1979)."""
    return -(1.4 - 3.0 * x[0]) * np.sin(18.0 * x[0])


def _wave_and_line(x: np.ndarray) -> float:
    """Swings that grow with x."""
    return -x[0] * np.sin(x[0])


def _ratio(x: np.ndarray) -> float:
    """A smooth valley next to a hill."""
    return (x[0] ** 2 - 5.0 * x[0] + 6.0) / (x[0] ** 2 + 1.0)


def _narrow_and_wide(x: np.ndarray) -> float:
    """A narrow valley that is twice as deep as a wide one."""
    return -np.exp(-(((x[0] - 0.3) / 0.06) ** 2)) - 0.5 * np.exp(-(((x[0] - 0.75) / 0.2) ** 2))


def _four_valleys(x: np.ndarray) -> float:
    """Source: Himmelblau (1972)."""
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def _booth(x: np.ndarray) -> float:
    """An oblique bowl."""
    return (x[0] + 2.0 * x[1] - 7.0) ** 2 + (2.0 * x[0] + x[1] - 5.0) ** 2


def _cross_in_a_tray(x: np.ndarray) -> float:
    """Source: Mishra (2006)."""
    size = np.exp(np.abs(100.0 - np.sqrt(x @ x) / np.pi))
    return -1e-4 * (np.abs(np.sin(x[0]) * np.sin(x[1]) * size) + 1.0) ** 0.1


def _egg_crate(x: np.ndarray) -> float:
    """A bowl with pits."""
    return float(np.sum(x**2 + 25.0 * np.sin(x) ** 2))


def _zakharov(x: np.ndarray) -> float:
    """A bowl in a plane, steep across it."""
    across = 0.5 * np.arange(1, len(x) + 1) @ x
    return float(np.sum(x**2) + across**2 + across**4)


def _dixon_price(x: np.ndarray) -> float:
    """Source: Dixon & Price (1989)."""
    order = np.arange(2, len(x) + 1)
    return float((x[0] - 1.0) ** 2 + np.sum(order * (2.0 * x[1:] ** 2 - x[:-1]) ** 2))


def _qing(x: np.ndarray) -> float:
    """Source: Qing (2006)."""
    return float(np.sum((x**2 - np.arange(1, len(x) + 1)) ** 2))


def _bell(x: np.ndarray) -> float:
    """A smooth valley."""
    return -np.exp(-0.5 * np.sum(x**2))


def _schwefel(x: np.ndarray) -> float:
    """Source: Schwefel (1981)."""
    return -float(np.sum(x * np.sin(np.sqrt(np.abs(x)))))


FUNCTIONS = (
    Function("waves on a wall", ((0.5, 2.5),), _waves_on_a_wall, -0.869011134989500),
    Function("two waves", ((0.0, 10.0),), _two_waves, -1.141748338808672),
    Function("shubert", ((-10.0, 10.0),), _shubert, -14.837950025710181),
    Function("mccormick", ((-1.5, 4.0), (-3.0, 4.0)), _mccormick, -1.9132229549810367),
    Function("three humps", ((-3.0, 2.0), (-2.0, 3.0)), _three_humps, 0.0),
    Function("drop in water", ((-1.0, 2.0), (-2.0, 1.0)), _drop_in_water, -1.0),
    Function("bird", ((-10.0, 0.0), (-6.5, 0.0)), _bird, -106.76453674926465),
    Function("dents", ((-1.0, 2.0),) * 6, _dents, 0.0),
    Function("alpine", ((-4.0, 6.0),) * 6, _alpine, 0.0),
    Function("trid", ((-36.0, 36.0),) * 6, _trid, -50.0),
    Function("sum of waves", ((2.7, 7.5),), _sum_of_waves, -1.8995993491521137),
    Function("growing waves", ((0.0, 1.2),), _growing_waves, -1.4890725386896044),
    Function("wave and line", ((0.0, 10.0),), _wave_and_line, -7.916727371587783),
    Function("ratio", ((-5.0, 5.0),), _ratio, -0.035533905932737815),
    Function("narrow and wide", ((0.0, 1.0),), _narrow_and_wide, -1.0031694333135956),
    Function("four valleys", ((-5.0, 5.0),) * 2, _four_valleys, 0.0),
    Function("booth", ((-10.0, 10.0),) * 2, _booth, 0.0),
    Function("cross in a tray", ((-4.0, 6.0),) * 2, _cross_in_a_tray, -2.0626118708227397),
    Function("egg crate", ((-4.0, 7.0),) * 2, _egg_crate, 0.0),
    Function("zakharov", ((-2.0, 3.0),) * 6, _zakharov, 0.0),
    Function("dixon and price", ((-2.0, 3.0),) * 6, _dixon_price, 0.0),
    Function("qing", ((0.0, 4.0),) * 6, _qing, 0.0),
    Function("bell", ((-1.0, 2.0),) * 6, _bell, -1.0),
    Function("schwefel", ((-500.0, 500.0),) * 6, _schwefel, -2513.897323634602),
    Function("dents, 3", ((-1.0, 2.0),) * 3, _dents, 0.0),
    Function("alpine, 3", ((-4.0, 6.0),) * 3, _alpine, 0.0),
    Function("trid, 3", ((-9.0, 9.0),) * 3, _trid, -7.0),
    Function("zakharov, 3", ((-2.0, 3.0),) * 3, _zakharov, 0.0),
    Function("dixon and price, 3", ((-2.0, 3.0),) * 3, _dixon_price, 0.0),
    Function("qing, 3", ((0.0, 4.0),) * 3, _qing, 0.0),
    Function("bell, 3", ((-1.0, 2.0),) * 3, _bell, -1.0),
    Function("schwefel, 3", ((-500.0, 500.0),) * 3, _schwefel, -1256.948661817301),
)


@cache
def deviation(function: Function) -> float:
    """The standard deviation of the values over the box, by 4096 points of a Sobol sequence."""
    from scipy.stats import qmc

    points = qmc.Sobol(len(function.ends), scramble=False).random(4096)
    return float(np.std([function(u) for u in points]))


def problems(level: float) -> tuple[Problem, ...]:
    """The functions in units of their standard deviations, and noise of `level` in these."""

    def of(function: Function) -> Callable[[int], Objective]:
        unit = deviation(function)
        return lambda seed: lambda u: (function(u) - function.least) / unit

    budgets = {1: 20, 2: 40, 3: 50, 6: 60}
    found = []
    for one in FUNCTIONS:
        d = len(one.ends)
        begin = min(2 * d + 2, 10)
        found.append(Problem(one.name, d, budgets[d], of(one), 0.0, noise=level, begin=begin))
    return tuple(found)
