"""One of several classes, told by as many functions: what such likelihoods share, and one of them.

`RobustMax` asks which function is the highest; `categorical` has the softmax.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.params import fixed
from ...ground.quadrature import gauss_hermite
from ...ground.xp import (
    LOG_2PI,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    epsilon,
)
from ...ground.xp import log_normal_cdf as _log_cdf
from .hermite_averages import NODES, Expected

__all__ = ["MulticlassLikelihood", "RobustMax", "one_hot", "require_classes"]

_FAR = 1e4  # the |z| beyond which a normal tail is zero, its logarithm not yet −∞
_STEPS = 200  # of the rule for predictions, as for `Bernoulli`
_REACH = 9.0  # standard deviations


class MulticlassLikelihood(ABC):
    """A likelihood of one of several classes, which reads a function for each: what they share.

    A subclass is a frozen dataclass with the field `classes`, and brings ``_probability`` and
    ``_expected``, which check nothing.
    """

    classes: int

    def probability(self, mean: Matrix, variance: Matrix) -> Matrix:
        """Evaluate the probability of each class for independent normal functions.

        Parameters
        ----------
        mean, variance : Matrix, shape (n, c)
            The moments of the functions, a column a class.

        Returns
        -------
        Matrix, shape (n, c)
            The probabilities; each row sums to one.
        """
        self._validate(mean, variance)
        return self._probability(mean, variance)

    @abstractmethod
    def _probability(self, mean: Matrix, variance: Matrix) -> Matrix:
        """The hook behind `probability`."""

    def expected_log_density(
        self, y: Vector, mean: Matrix, variance: Matrix, nodes: int = NODES
    ) -> Vector:
        """Average ``log p(y | f)`` over independent normal functions.

        Parameters
        ----------
        y : Vector, shape (n,)
            The classes, whole numbers from 0.
        mean, variance : Matrix, shape (n, c)
            The moments of the functions, a column a class.
        nodes : int, default 20
            The nodes of the Gauss-Hermite rule, from 2 to 350.
        """
        return self.expected(y, mean, variance, nodes).value

    def expected_derivatives(
        self, y: Vector, mean: Matrix, variance: Matrix, nodes: int = NODES
    ) -> tuple[Matrix, Matrix]:
        """Differentiate `expected_log_density` by means and variances.

        Parameters
        ----------
        y, mean, variance, nodes
            As in `expected_log_density`.

        Returns
        -------
        by_mean, by_variance : Matrix, shape (n, c)
            The derivatives of the very sum that stands for the average.
        """
        _, by_mean, by_variance = self.expected(y, mean, variance, nodes)
        return by_mean, by_variance

    def expected(self, y: Vector, mean: Matrix, variance: Matrix, nodes: int = NODES) -> Expected:
        """Evaluate `expected_log_density` and `expected_derivatives` at once, by one rule."""
        self._validate(mean, variance)
        _check.alike(_check.vector(y, "y", size=mean.shape[0]), "y", mean, "mean")
        require_classes(y, self.classes)
        return self._expected(y, mean, variance, _check.whole(nodes, "nodes", 2))

    @abstractmethod
    def _expected(self, y: Vector, mean: Matrix, variance: Matrix, nodes: int) -> Expected:
        """The average of the log density (n,), or a bound on it, and its slopes (n, c)."""

    def _validate(self, mean: Matrix, variance: Matrix) -> None:
        _check.mean_and_variance(mean, variance)
        if mean.ndim != 2 or mean.shape[1] != self.classes:
            raise ValueError(f"mean must have shape (n, {self.classes}); got {mean.shape}")


@dataclass(frozen=True)
class RobustMax(MulticlassLikelihood):
    """The class of the highest function is observed, but for a slip: any other, all alike.

    ``p(y | f)`` is ``1 − slip`` for the class of the highest of the values f (n, c), and
    ``slip / (c − 1)`` for each of the others, [eq-la-robust]. A label that is wrong costs a
    logarithm of that and no more, however far away it is. The likelihood is the same for f and for
    f times any number: the unit of f cannot be learnt, and the variance of a kernel is best held.

    Parameters
    ----------
    classes : int
        The number c of classes, two or more.
    slip : float, default 1e-3
        The probability of a slip, between 0 and 1.

    Notes
    -----
    It has no slope in f, so that it is a likelihood for `svgp`, which asks for averages over f
    alone, [eq-la-expected]. For predictions, that a function is the highest is an integral
    along its own values, [eq-la-highest], here a rule of 200 equidistant nodes, scaled so that
    the classes sum to one; O(n c²). Source: Hernández-Lobato, Hernández-Lobato & Dupont (2011).

    Examples
    --------
    >>> import numpy as np
    >>> likelihood = RobustMax(3, 0.1)
    >>> mean, variance = np.asarray([[1.0, 0.0, -1.0]]), np.ones((1, 3))
    >>> likelihood.probability(mean, variance).round(4)
    array([[0.6694, 0.2405, 0.0901]])
    """

    classes: int = fixed()
    slip: float = fixed(1e-3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _check.whole(self.classes, "classes", 2))
        slip = _check.number(self.slip, "slip")
        if not 0.0 < slip < 1.0:
            raise ValueError(f"slip must be between 0 and 1; got {slip}")
        object.__setattr__(self, "slip", slip)

    def _probability(self, mean: Matrix, variance: Matrix) -> Matrix:
        xp = array_namespace(mean)
        steps = np.linspace(-_REACH, _REACH, _STEPS)
        density = np.exp(-0.5 * steps * steps)
        rule = steps, density / density.sum()
        parts = []
        for rows in memory.blocks(mean.shape[0], _STEPS * self.classes):
            m, v = mean[rows, :], variance[rows, :]
            each = [_highest(self._only(c, m), m, v, rule).value for c in range(self.classes)]
            parts.append(xp.stack(each, axis=1))
        highest = xp.concat(parts)
        highest = highest / xp.sum(highest, axis=1, keepdims=True)
        other = self.slip / (self.classes - 1)
        return other + (1.0 - self.slip - other) * highest

    def _only(self, c: int, like: Matrix) -> Matrix:
        """What `one_hot` gives where all rows have the class c."""
        return one_hot(array_namespace(like).full_like(like[:, 0], float(c)), self.classes)

    def _expected(self, y: Vector, mean: Matrix, variance: Matrix, nodes: int) -> Expected:
        told = one_hot(y, self.classes)
        value, by_mean, by_variance = _highest(told, mean, variance, gauss_hermite(nodes))
        least = math.log(self.slip) - math.log(self.classes - 1)
        gap = math.log1p(-self.slip) - least
        return Expected(least + gap * value, gap * by_mean, gap * by_variance)


def _highest(
    told: Matrix, mean: Matrix, variance: Matrix, rule: tuple[HostVector, HostVector]
) -> Expected:
    """``P(f_y > all others)`` (n,), and the slopes of the sum that stands for it (n, c).

    With ``f = m_y + s_y t`` and ``z_c = (f − m_c) / s_c`` it is ``Σ w Π Φ(z_c)`` over the nodes t
    and the classes but y. With ``d_c = Π Φ φ(z_c) / (Φ(z_c) s_c)``, its slope by ``f − m_c``, the
    slopes by moments are ``Σ w d_c`` and ``Σ w d_c t / 2 s_y``, summed over c, for the class y, and
    ``−Σ w d_c`` and ``−Σ w d_c z_c / 2 s_c`` for the others.
    """
    xp = array_namespace(mean)
    t, weights = (as_array(a, mean) for a in rule)
    sd = xp.sqrt(xp.clip(variance, epsilon(mean) ** 2, None))
    own_sd = xp.sum(told * sd, axis=1)[:, None]
    f = xp.sum(told * mean, axis=1)[:, None] + own_sd * t
    others = 1.0 - told[:, None, :]
    z = xp.clip((f[:, :, None] - mean[:, None, :]) / sd[:, None, :], -_FAR, _FAR)
    logs = others * _log_cdf(z)
    product = xp.sum(logs, axis=2)
    rest = product[:, :, None] - logs - 0.5 * (z * z + LOG_2PI)
    slope = others * xp.exp(rest) * (weights[:, None] / sd[:, None, :])
    by_f = xp.sum(slope, axis=2)
    own_mean = xp.sum(by_f, axis=1)[:, None]
    own_variance = 0.5 * xp.sum(by_f * t, axis=1)[:, None] / own_sd
    return Expected(
        xp.sum(weights * xp.exp(product), axis=1),
        told * own_mean - xp.sum(slope, axis=1),
        told * own_variance - 0.5 * xp.sum(slope * z, axis=1) / sd,
    )


def one_hot(y: Vector, classes: int) -> Matrix:
    """Return a one at the class of each row, validated before, and zeros elsewhere: (n, c)."""
    xp = array_namespace(y)
    number = as_array(range(classes), y)
    equal = y[:, None] == number[None, :]
    one = xp.ones_like(y)[:, None]
    return xp.where(equal, one, xp.zeros_like(one))


def require_classes(y: Vector, classes: int) -> None:
    """Refuse labels that are none of so many classes."""
    xp = array_namespace(y)
    if not bool(xp.all((y >= 0.0) & (y < classes) & (y == xp.round(y)))):
        raise ValueError(
            f"y must hold classes, whole numbers from 0 to {classes - 1}; got other numbers"
        )
