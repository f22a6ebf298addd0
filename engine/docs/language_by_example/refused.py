"""What is not read, or read and not believed: each with the words of its error."""

from __future__ import annotations

import numpy as np

from checked_equations.check.relations import CHECKED
from checked_equations.evaluate.values import Distribution, Nodes
from checked_equations.latex import vocabulary as v
from checked_equations.latex.lexer.terminals import DEFINING

from .example import Refusal

__all__ = ["REFUSALS"]

A = np.array([[2.0, 0.3, 0.1], [0.5, 3.0, 0.2], [0.4, 0.6, 2.5]])
x = np.array([0.6, 1.7, 2.9])
a, b, c = 1.3, 0.7, 2.4
_THREE = {"a": a, "b": b, "c": c}
_SUM = {"d": a + b, "a": a, "b": b}
_MATRIX = {"d": 1.0, "A": A, r"\mathbf x": x}
_NODES = Nodes([0.3, 1.1, 2.0, 4.5], [0.1, 0.4, 0.2, 0.3])

_AMBIGUOUS = (
    Refusal(r"d = [A]_{12}", {"d": A[0, 1], "A": A}),
    Refusal(r"d = a / b c", {"d": 1.0, **_THREE}),
    Refusal(r"d = \mathbb E_x x^2", {"d": 1.0, "x": _NODES}),
    Refusal(r"d = \langle a \rangle", {"d": a, "a": a}),
    Refusal(r"d = x^10", {"d": 1.0, "x": a}),
    Refusal(r"d = a \log f(a) b", {"d": 1.0, "a": a, "b": b, "f": np.exp}),
    Refusal(r"d = A^2_{12}", {"d": 1.0, "A": A}),
    Refusal(r"B = \exp(A)", {"B": A, "A": A}),
    Refusal(r"d = f(a \mid b) - f(a, b)", {"d": 0.0, "a": a, "b": b, "f": np.hypot}),
    Refusal(r"d = \|A\|", {"d": 1.0, "A": A}),
    Refusal(r"d = \log(a)^2", {"d": 1.0, "a": a}),
    Refusal(r"d = n!!!", {"d": 1.0, "n": 5}),
    Refusal(r"d = \mathop{a^n b}(c)", {"d": 1.0, "n": 2, **_THREE}),
    Refusal(r"d = KL", {"d": 1.0, "KL": 2.0, "K": a, "L": b}),
)
_UNFIT = (
    Refusal(r"d = A + \mathbf x", _MATRIX),
    Refusal(r"d = \mathbf x / A", _MATRIX),
    Refusal(r"d = \frac{a}{b - b}", {"d": 1.0, "a": a, "b": b}),
    Refusal(r"d = \frac{\partial f}{\partial b}(a + c)", {"d": 1.0, "f": np.sin, **_THREE}),
    Refusal(r"d = \sum_{i=1}^N A_{ij} x_i", {"d": 1.0, "A": A, "x": x, "N": 3}),
    Refusal(r"d = a + e_1", {"d": 1.0, "a": a}),
    Refusal("d = a + b", {**_SUM, "c": c}),
    Refusal(r"d = \int_{[0, 2]} x \,\mathrm d x", {"d": 1.0, "x": _NODES}),
    Refusal(r"d = \int x \,\mathrm d x", {"d": 1.0, "x": _NODES}),
    Refusal(r"d = a_1^2", {"d": a**2, "a": a}),
    Refusal(r"d = a^T + b", {"d": a + b, "a": a, "b": b}),
    Refusal(r"d = \frac{\partial}{\partial a} (a K_a)", {"d": b, "a": a, "K_a": b}),
    Refusal(
        r"d = \mathbb E_{q(x)}[x] + \mathbb E_{q(z)}[z]", {"d": 1.0, "q": Distribution(_NODES)}
    ),
    Refusal(r"d = \sum_{i=0}^N x_i", {"d": 1.0, "x": x, "N": 3}),
)
_FALSE = (
    Refusal("d = a - b", _SUM),
    Refusal(r"\cos(a \pm b) = \cos a \cos b \pm \sin a \sin b", {"a": a, "b": b}),
    Refusal(r"a = b \pm c", _THREE),
    Refusal(r"d \ne a + b", _SUM),
    Refusal(r"d = a + b \text{ if } a < b", _SUM),
    Refusal(r"d \approx a + b", _SUM),
    Refusal("d = a + b = a + b", _SUM),
    Refusal("d = a", {"d": a, "a": a}),
    Refusal("d = a b^2", {"d": a, "a": a, "b": 1.0}),
    Refusal(r"d \le a + b", {"d": 0.5, "a": a, "b": b}),
    Refusal("d = a + b", {"d": 0.0, "a": 0.0, "b": 0.0}),
)
_WORDY = (
    Refusal(r"d = a + b \text{ unless } a > b", _SUM),
    Refusal(r"d = a + b \text{ almost surely}", _SUM),
    Refusal(r"d = \underbrace{a}_{= b} + b", _SUM),
)


def _unread(word: str) -> Refusal:
    return Refusal(rf"a = b {word} c", _THREE)


def _defining(word: str) -> Refusal:
    return Refusal(f"a {word} b", {"a": a, "b": b})


_ONLY = sorted(word for word in v.RELATIONS if word not in CHECKED and word not in DEFINING)

REFUSALS = {
    "What can be read in two ways": _AMBIGUOUS,
    "What does not fit the numbers": _UNFIT,
    "What does not hold, or says nothing": _FALSE,
    "Other words": _WORDY,
    "Commands that are not read": tuple(map(_unread, sorted(v.UNREAD))),
    "Relations of definitions alone": tuple(map(_defining, _ONLY)),
}
