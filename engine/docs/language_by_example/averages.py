"""Averages and integrals: which variables they run over, under what, and between which limits."""

from __future__ import annotations

import numpy as np

from checked_equations.evaluate.values import Distribution, Nodes

from .example import Example as Row

__all__ = ["AVERAGES", "DOMAINS", "spoken_domain"]

_POINTS = np.array([0.3, 1.1, 2.0, 4.5])
_Q, _P = np.array([0.1, 0.4, 0.2, 0.3]), np.array([0.35, 0.15, 0.3, 0.2])


def _of(weights: np.ndarray) -> Distribution:
    def mass(value: float) -> float:
        return float(weights[int(np.argmin(np.abs(_POINTS - value)))])

    return Distribution(Nodes(_POINTS, weights), mass)


def _given(value: float) -> Nodes:
    """Two values of y around a given x."""
    return Nodes([value - 1.0, 2.0 * value], [0.3, 0.7])


def _normal(mean: float, variance: float) -> Nodes:
    points, weights = np.polynomial.hermite_e.hermegauss(9)
    return Nodes(mean + np.sqrt(variance) * points, weights / np.sum(weights))


q, p = _of(_Q), _of(_P)
_PAIRS = np.random.default_rng(3).normal(size=(5, 2))
_UNEVEN = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
_JOINT, _OTHER = Nodes(_PAIRS, np.full(5, 0.2)), Nodes(_PAIRS, _UNEVEN)
_COVARIANCES = [
    float(np.cov(_PAIRS.T, ddof=0, aweights=weights)[0, 1]) for weights in (_JOINT.weights, _UNEVEN)
]
_MEAN = float(_Q @ _POINTS)
_SQUARE = float(_Q @ _POINTS**2)
_BACK = 0.3 * (_POINTS - 1) + 0.7 * 2 * _POINTS  # the mean of y given x
_MARGINAL = Nodes(_POINTS, _Q)
_BETWEEN = float(_Q @ _BACK**2 - (_Q @ _BACK) ** 2)

AVERAGES = (
    Row("a probability, of one of finitely many values", r"d = \mathbb E_x[\mathbb 1[x \le a]]",
        {"d": _Q[:3].sum(), "x": Nodes(_POINTS, _Q), "a": 2.5}),
    Row("the same as it is printed, of several events", r"d = \Pr_{s(x, z)}(x > a, z < b) + c",
        {"d": 4.45, "s(x, z)": _OTHER, "a": -1.0, "b": -0.1, "c": 4.0}),
    Row("given a value", r"d = \Pr(y > 2 \mid x = a) - c",
        {"d": 0.3, "a": 1.3, "c": 0.4, r"y \mid x": Distribution(_given)}),
    Row("over a variable with nodes of its own", r"a = \mathbb E_x[x^2] - \mathbb E[x]",
        {"a": _SQUARE - _MEAN, "x": _MARGINAL}),
    Row("under a distribution; its density in the formula",
        r"a = \mathbb E_{q(x)}[\log q(x) - \log p(x)]",
        {"a": _Q @ np.log(_Q / _P), "q": q, "p": p}),
    Row("drawn from it", r"a = \mathbb E_{x \sim q}[x^2] - \mathbb E_{x, x' \sim q}[x x']",
        {"a": _SQUARE - _MEAN**2, "q": q}),
    Row("under several, independent", r"a = \mathbb E_{q(x) p(z)}[x z^2]",
        {"a": _MEAN * (_P @ _POINTS**2), "q": q, "p": p}),
    Row("drawn together", r"a = \mathbb E_{s(x, z)}[x z^2]",
        {"a": np.mean(_PAIRS[:, 0] * _PAIRS[:, 1] ** 2), "s(x, z)": _JOINT}),
    Row("one given the other", r"a = \mathbb E_{q(x) p(y \mid x)}[x y]",
        {"a": _Q @ (_POINTS * _BACK), "q": q, "p": Distribution(_given)}),
    Row("conditional averages", r"a = \mathbb V_x\left[ \mathbb E[y \mid x] \right]",
        {"a": _BETWEEN, "x": _MARGINAL, r"y \mid x": Distribution(_given)}),
    Row("given a value", r"a = \mathbb E[y \mid x = 2] + \mathbb E[y^2 \mid x = b]",
        {"a": 3.1 + 0.3 * 0.25 + 0.7 * 9, "b": 1.5, r"y \mid x": Distribution(_given)}),
    Row("a family with its parameters", r"a = \mathbb E_{x \sim \mathcal N(m, v)}[x^3]",
        {"a": 1.3**3 + 3 * 1.3 * 0.49, r"\mathcal N": Distribution(_normal), "m": 1.3, "v": 0.49}),
    Row("variances", r"a = \mathbb V_{q(x)}[x^2]",
        {"a": _Q @ _POINTS**4 - _SQUARE**2, "q": q}),
    Row("covariances, under two joint distributions",
        r"a = \operatorname{Cov}_{s(x, z)}(x, z) - \operatorname{Cov}_{r(x, z)}(x, z)",
        {"a": _COVARIANCES[0] - _COVARIANCES[1], "s(x, z)": _JOINT, "r(x, z)": _OTHER}),
    Row("distributions as arguments", r"a = \operatorname{KL}(q \,\|\, p)",
        {"a": _Q @ np.log(_Q / _P), "q": Distribution(q.nodes, value=_Q),
         "p": Distribution(p.nodes, value=_P), r"\operatorname{KL}":
         lambda q, p: q @ np.log(q / p)}),
)  # fmt: skip


def _line(low: float, high: float, n: int = 60) -> Nodes:
    points, weights = np.polynomial.legendre.leggauss(n)
    return Nodes(low + (points + 1) * (high - low) / 2, weights * (high - low) / 2)


def _square(line: Nodes) -> Nodes:
    points = np.stack(np.meshgrid(line.points, line.points), axis=-1).reshape(-1, 2)
    return Nodes(points, np.outer(line.weights, line.weights).ravel())


_HALF = r"e^{-x^2} \,\mathrm d x"
_HALVES = np.sqrt(np.pi) / 2

_UNIT = {"a": 1 / 3, "x": _line(0.0, 1.0, 5)}
_UP = {"a": _HALVES, "x": _line(0.0, 9.0, 60)}
_BOTH = {"a": 2 * _HALVES, "x": _line(-9.0, 9.0, 90)}
_PLANE = {"a": np.pi, r"\mathbf x": _square(_line(-6.0, 6.0, 34))}
_BOX = {"a": 2 / 3, r"\mathbf x": _square(_line(0.0, 1.0, 4)), "d": 2}

DOMAINS = (
    Row("between two limits", rf"a = \int_0^\infty {_HALF}", _UP),
    Row("an interval, open or closed", r"a = \int_{[0, 1)} x^2 \,\mathrm d x", _UNIT),
    Row("with its variable", r"a = \int_{x \in [0, 1]} x^2 \,\mathrm d x", _UNIT),
    Row("inequalities", rf"a = \int_{{x > 0}} {_HALF}", _UP),
    Row("two of them", r"a = \int_{0 < x < 1} x^2 \,\mathrm d x", _UNIT),
    Row("a box", r"a = \int_{[0, 1]^d} |\mathbf x|^2 \,\mathrm d \mathbf x", _BOX),
    Row("a space", r"a = \int_{\mathbb R^2} e^{-|\mathbf x|^2} \,\mathrm d \mathbf x", _PLANE),
)  # fmt: skip


def spoken_domain(word: str) -> Row:
    """An integral over a line that has a name."""
    bound = _BOTH if word == r"\mathbb R" else _UP
    return Row("the whole line" if bound is _BOTH else "half a line",
               rf"a = \int_{{{word}}} {_HALF}", bound)  # fmt: skip
