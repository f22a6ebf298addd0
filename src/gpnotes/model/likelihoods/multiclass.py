"""Likelihoods of one of several classes, with a function for each: their base, and `RobustMax`.

`RobustMax` asks which function is the highest; `categorical` has the softmax.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.params import fixed
from ...ground.quadrature import MOST_NODES, gauss_hermite
from ...ground.xp import (
    LOG_2PI,
    Array,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    device,
    epsilon,
    to_numpy,
)
from ...ground.xp import log_normal_cdf as _log_cdf
from .counts import counted
from .hermite_averages import NODES, Expected

__all__ = ["MulticlassLikelihood", "RobustMax", "one_hot", "require_classes"]

_FAR = 1e4  # the |z| beyond which a normal tail is zero, its logarithm not yet −∞
_STEPS = 200  # of the rule for predictions, as for `Bernoulli`
_REACH = 9.0  # standard deviations
_DIGITS = 16.0  # nodes times log(1 + 2.5 s² / (c − 1)): measured, the averages then err by 1e-7
_CUTS = (-_REACH, -4.0, -2.0, 0.0, 2.0, 4.0, _REACH)  # standard deviations from a step
_PIECE = 10  # nodes between two cuts


class MulticlassLikelihood(ABC):
    """The base of likelihoods of one of several classes, which read a function for each.

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
        return self._expected(y, mean, variance, _check.whole(nodes, "nodes", 2, MOST_NODES))

    @abstractmethod
    def _expected(self, y: Vector, mean: Matrix, variance: Matrix, nodes: int) -> Expected:
        """The average of the log density (n,), or a bound on it, and its slopes (n, c)."""

    def _validate(self, mean: Matrix, variance: Matrix) -> None:
        _check.mean_and_variance(mean, variance)
        if mean.ndim != 2 or mean.shape[1] != self.classes:
            raise ValueError(f"mean must have shape (n, {self.classes}); got {tuple(mean.shape)}")


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
    the classes sum to one; O(n c²). An average takes the Gauss-Hermite rule of `nodes` where it
    sees the steps. Where functions are so much surer than others that a rule would not, a finer one
    stands in, so that both are right to 1e-6 for any variances; two classes have a closed form.
    Source: Hernández-Lobato, Hernández-Lobato & Dupont (2011).

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
        parts = []
        for rows in memory.blocks(mean.shape[0], _STEPS * self.classes, like=mean):
            m, v = mean[rows, :], variance[rows, :]
            each = [_highest(self._only(c, m), m, v, _FINE).value for c in range(self.classes)]
            parts.append(xp.stack(each, axis=1))
        highest = xp.concat(parts)
        highest = highest / xp.sum(highest, axis=1, keepdims=True)
        other = self.slip / (self.classes - 1)
        return other + (1.0 - self.slip - other) * highest

    def _only(self, c: int, like: Matrix) -> Matrix:
        """Return `one_hot` where all rows have the class c."""
        return one_hot(array_namespace(like).full_like(like[:, 0], float(c)), self.classes)

    def _expected(self, y: Vector, mean: Matrix, variance: Matrix, nodes: int) -> Expected:
        told = one_hot(y, self.classes)
        enough = math.sqrt(math.expm1(_DIGITS / nodes) * (self.classes - 1) / 2.5)
        rules = Rule(*gauss_hermite(nodes), enough), *_FINER
        value, by_mean, by_variance = _highest(told, mean, variance, rules)
        least = math.log(self.slip) - math.log(self.classes - 1)
        gap = math.log1p(-self.slip) - least
        return Expected(least + gap * value, gap * by_mean, gap * by_variance)


class Rule(NamedTuple):
    """A rule for averages over a standard normal value, and where it is fine enough.

    `narrowest` is the least standard deviation of another function, in those of the function that
    is integrated along, whose step the nodes t (k,) with the weights w (k,) still see.
    """

    t: HostVector
    w: HostVector
    narrowest: float


def _equidistant(steps: int, reach: float, narrowest: float) -> Rule:
    t = np.linspace(-reach, reach, steps)
    density = np.exp(-0.5 * t * t)
    return Rule(t, density / density.sum(), narrowest)


# For predictions, and for averages where Gauss-Hermite sees too little: right to 1e-9.
_FINE = (_equidistant(_STEPS, _REACH, 0.25),)
_FINER = (_equidistant(60, 6.5, 0.5),)


def _highest(told: Matrix, mean: Matrix, variance: Matrix, rules: tuple[Rule, ...]) -> Expected:
    """``P(f_y > all others)`` (n,), and its slopes by the moments (n, c).

    Two classes have a closed form. Of more, each row goes by the first rule that is fine enough,
    and if none is, by pieces cut to the steps.
    """
    if mean.shape[1] == 2:
        return _higher_of_two(told, mean, variance)
    xp = array_namespace(mean)
    sd = _deviations(variance)
    own, least = _own_and_least(told, sd)
    small = math.sqrt(epsilon(mean))  # of another, where a step is one to every digit
    sd = xp.maximum(sd, small * (told * least[:, None] + (1.0 - told) * own[:, None]))
    return _by_first(told, mean, sd, rules)


def _by_first(told: Matrix, mean: Matrix, sd: Matrix, rules: tuple[Rule, ...]) -> Expected:
    """The rows by the first rule if it is fine enough for them, the others by the next."""
    xp = array_namespace(mean)
    if not rules:
        size = len(_CUTS) * _PIECE * mean.shape[1] ** 2
        blocks = memory.blocks(mean.shape[0], size, like=mean)
        cut = [[a[r, :] for a in (told, mean, sd)] for r in blocks]
        done = [_in_pieces(*rows) for rows in cut]
        return Expected(*map(xp.concat, zip(*done, strict=True)))
    own, least = _own_and_least(told, sd)
    narrow = to_numpy(least < rules[0].narrowest * own)
    if not narrow.any():
        return _by_rule(told, mean, sd, rules[0])
    if narrow.all():
        return _by_first(told, mean, sd, rules[1:])
    order = np.argsort(narrow, kind="stable")
    at, back = (xp.asarray(i, device=device(mean)) for i in (order, np.argsort(order)))
    wide = narrow.size - int(narrow.sum())
    told, mean, sd = (xp.take(a, at, axis=0) for a in (told, mean, sd))
    some = _by_rule(told[:wide, :], mean[:wide, :], sd[:wide, :], rules[0])
    rest = _by_first(told[wide:, :], mean[wide:, :], sd[wide:, :], rules[1:])
    return Expected(*(xp.take(xp.concat(a), back, axis=0) for a in zip(some, rest, strict=True)))


def _higher_of_two(told: Matrix, mean: Matrix, variance: Matrix) -> Expected:
    """``Φ(d/s)``, d the lead of the class over the other and ``s² = v_0 + v_1``, and its slopes."""
    xp = array_namespace(mean)
    sign = 2.0 * told - 1.0
    s = _deviations(xp.sum(variance, axis=1))
    z = xp.clip(xp.sum(sign * mean, axis=1) / s, -_FAR, _FAR)
    by_lead = xp.exp(-0.5 * (z * z + LOG_2PI)) / s
    by_variance = xp.ones_like(told) * (-0.5 * by_lead * z / s)[:, None]
    return Expected(xp.exp(_log_cdf(z)), sign * by_lead[:, None], by_variance)


def _deviations(variance: Array) -> Array:
    """Standard deviations, none so small that it could not be divided by."""
    return array_namespace(variance).sqrt(
        array_namespace(variance).clip(variance, epsilon(variance) ** 2, None)
    )


def _own_and_least(told: Matrix, sd: Matrix) -> tuple[Vector, Vector]:
    """The standard deviation of the class of each row, and the least of the others."""
    xp = array_namespace(sd)
    widest = xp.max(sd, axis=1, keepdims=True)
    return xp.sum(told * sd, axis=1), xp.min(sd + told * widest, axis=1)


def _by_rule(told: Matrix, mean: Matrix, sd: Matrix, rule: Rule) -> Expected:
    """``P(f_y > all others)``, and the slopes of the sum that stands for it.

    With ``f = m_y + s_y t`` and ``z_c = (f − m_c) / s_c`` it is ``Σ w Π Φ(z_c)`` over the nodes t
    and the classes but y. With ``d_c = Π Φ φ(z_c) / (Φ(z_c) s_c)``, its slope by ``f − m_c``, the
    slopes by moments are ``Σ w d_c`` and ``Σ w d_c t / 2 s_y``, summed over c, for the class y, and
    ``−Σ w d_c`` and ``−Σ w d_c z_c / 2 s_c`` for the others.
    """
    xp = array_namespace(mean)
    t, weights = as_array(rule.t, mean), as_array(rule.w, mean)
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


def _in_pieces(told: Matrix, mean: Matrix, sd: Matrix) -> Expected:
    """Return `_by_rule`, by Gauss-Legendre rules between cuts around every step.

    With ``h_c = φ(z_c) / (Φ(z_c) s_c)`` and S their sum, the slope by the variance of another class
    is, in parts, ``−Σ w d_c (S − h_c − t / s_y) / 2``: where s_c is small, terms with z_c cancel.
    """
    xp = array_namespace(mean)
    own_sd = xp.sum(told * sd, axis=1)[:, None]
    lead = xp.sum(told * mean, axis=1)[:, None] - mean
    t, weights = _pieces(lead, sd, own_sd)
    others = 1.0 - told[:, None, :]
    z = (lead[:, None, :] + (own_sd * t)[:, :, None]) / sd[:, None, :]
    z = xp.clip(z, -_FAR, _FAR)
    logs = others * _log_cdf(z)
    product = xp.sum(logs, axis=2)
    hazard = others * xp.exp(-0.5 * (z * z + LOG_2PI) - logs) / sd[:, None, :]
    slope = hazard * (weights * xp.exp(product))[:, :, None]
    by_f = xp.sum(slope, axis=2)
    along = xp.sum(hazard, axis=2)[:, :, None] - hazard - (t / own_sd)[:, :, None]
    along = xp.where((sd < own_sd)[:, None, :], along, z / sd[:, None, :])
    return Expected(
        xp.sum(weights * xp.exp(product), axis=1),
        told * xp.sum(by_f, axis=1)[:, None] - xp.sum(slope, axis=1),
        0.5 * (told * xp.sum(by_f * t, axis=1)[:, None] / own_sd - xp.sum(slope * along, axis=1)),
    )


def _pieces(lead: Matrix, sd: Matrix, own_sd: Matrix) -> tuple[Matrix, Matrix]:
    """Nodes t (n, k), the weights among them the normal density: cuts where any factor changes."""
    xp = array_namespace(sd)
    n, c = sd.shape
    cuts = (as_array(_CUTS, sd) * sd[:, :, None] - lead[:, :, None]) / own_sd[:, :, None]
    cuts = xp.sort(xp.clip(xp.reshape(cuts, (n, len(_CUTS) * c)), -_REACH, _REACH), axis=1)
    x, w = (as_array(a, sd) for a in np.polynomial.legendre.leggauss(_PIECE))
    half = 0.5 * (cuts[:, 1:] - cuts[:, :-1])[:, :, None]
    t = cuts[:, :-1, None] + half * (1.0 + x)
    weights = half * w * xp.exp(-0.5 * (t * t + LOG_2PI))
    return xp.reshape(t, (n, -1)), xp.reshape(weights, (n, -1))


def one_hot(y: Vector, classes: int) -> Matrix:
    """Return a one at the class of each row, validated before, and zeros elsewhere: (n, c)."""
    xp = array_namespace(y)
    number = as_array(range(classes), y)
    equal = y[:, None] == number[None, :]
    one = xp.ones_like(y)[:, None]
    return xp.where(equal, one, xp.zeros_like(one))


def require_classes(y: Vector, classes: int) -> None:
    """Refuse labels that are none of so many classes."""
    counted(y, classes - 1, f"classes, whole numbers from 0 to {classes - 1}")
