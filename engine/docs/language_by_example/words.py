"""An example for each fixed word of the language, made from the registers of the vocabulary.

A word that a register gains has no example until it gets one here: its test and the page say so.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from checked_equations.check.relations import CHECKED
from checked_equations.evaluate.values import Nodes
from checked_equations.latex import vocabulary as v
from checked_equations.latex.lexer.calculus import LINES
from checked_equations.latex.lexer.terminals import DEFINING

from .averages import spoken_domain
from .example import Example, Missing

__all__ = ["WORDS"]

Bindings = Mapping[str, Any]
Rows = tuple[Example, ...]

a, b, c = 1.3, 0.7, 2.4
A = np.array([[2.0, 0.3, 0.1], [0.5, 3.0, 0.2], [0.4, 0.6, 2.5]])
B = np.array([[1.0, 0.2, 0.4], [0.1, 2.0, 0.3], [0.7, 0.5, 1.5]])
x, y = np.array([0.6, 1.7, 2.9]), np.array([1.2, 0.4, 2.3])
_TWO = {"d": a + b, "e": a - b, "a": a, "b": b}
_ONE = {"f": a**2 + a, "a": a}
_F = "f = a^2 + a"


def _ordered(words: Iterable[str]) -> list[str]:
    """The words of a register in an order that stays."""
    return sorted(word for word in words if word)


# Functions

_OF_NUMBERS: dict[str, tuple[Callable[..., Any], complex]] = {
    "log": (math.log, c), "exp": (math.exp, a), "cos": (math.cos, a), "sin": (math.sin, a),
    "tan": (math.tan, b), "tanh": (math.tanh, b), "sinh": (math.sinh, b), "cosh": (math.cosh, b),
    "arccos": (math.acos, b), "arcsin": (math.asin, b), "arctan": (math.atan, c),
    "sign": (lambda value: math.copysign(1.0, value), -c),
    "sec": (lambda value: 1 / math.cos(value), b), "csc": (lambda value: 1 / math.sin(value), b),
    "cot": (lambda value: 1 / math.tan(value), b), "sech": (lambda value: 1 / math.cosh(value), b),
    "csch": (lambda value: 1 / math.sinh(value), b),
    "coth": (lambda value: 1 / math.tanh(value), b),
    "arcsec": (lambda value: math.acos(1 / value), c),
    "arccsc": (lambda value: math.asin(1 / value), c),
    "arccot": (lambda value: math.atan(1 / value), c), "arcsinh": (math.asinh, c),
    "arccosh": (math.acosh, c), "arctanh": (math.atanh, b),
    "arcsech": (lambda value: math.acosh(1 / value), b),
    "arccsch": (lambda value: math.asinh(1 / value), b),
    "arccoth": (lambda value: math.atanh(1 / value), c),
    "Re": (lambda value: value.real, 1.3 - 0.7j), "Im": (lambda value: value.imag, 1.3 - 0.7j),
    "arg": (cmath.phase, 1.3 - 0.7j),
}  # fmt: skip
_OF_MATRICES: dict[str, Callable[..., Any]] = {
    "det": np.linalg.det,
    "tr": np.trace,
    "rank": np.linalg.matrix_rank,
}


def _function(word: str) -> Example:
    name = v.FUNCTIONS[word]
    if name in _OF_NUMBERS:
        of, value = _OF_NUMBERS[name]
        return Example(word, rf"d = {word}(a) + c", {"d": of(value) + c, "a": value, "c": c})
    if name in _OF_MATRICES:
        return Example(
            word, rf"d = {word}(A) + c", {"d": _OF_MATRICES[name](A) + c, "A": A, "c": c}
        )
    if name == "diag":
        bound = {"C": np.diag(x) + A, r"\mathbf x": x, "A": A}
        return Example(word, rf"C = {word}(\mathbf x) + A", bound)
    extreme = {"min": min, "max": max}[name]
    bound = {"d": extreme(x) + c, r"\mathbf x": x, "c": c}
    return Example(word, rf"d = {word}(\mathbf x) + c", bound)


# Signs between things

_NUMBERS, _MATRICES = {"a": a, "b": b}, {"A": A, "B": B}
_SIGNS: dict[str, tuple[str, Bindings]] = {
    "+": ("d = a + b", {"d": a + b, **_NUMBERS}),
    "-": ("d = a - b", {"d": a - b, **_NUMBERS}),
    r"\cdot": (r"d = a \cdot b", {"d": a * b, **_NUMBERS}),
    r"\times": (r"d = a \times b", {"d": a * b, **_NUMBERS}),
    "/": ("d = a / b", {"d": a / b, **_NUMBERS}),
    r"\odot": (r"C = A \odot B", {"C": A * B, **_MATRICES}),
    r"\circ": (r"C = A \circ B", {"C": A * B, **_MATRICES}),
    r"\otimes": (r"C = A \otimes B", {"C": np.kron(A, B), **_MATRICES}),
    "!": ("d = n! + a", {"d": 24 + a, "n": 4, "a": a}),
}


def _sign(word: str) -> Example:
    return Example(word, *_SIGNS[word])


# Relations

_SUM = {"a": a, "b": b}
_BELOW, _EQUAL, _ABOVE = ({"d": a + b + more, **_SUM} for more in (-0.1, 0.0, 0.1))
_MORE, _LESS = ({"C": A @ A.T + sign * (A + A.T), "A": A} for sign in (1.0, -1.0))
_TIGHT, _TIGHT_MATRIX = {"tight": _EQUAL}, {"tight": {"C": A @ A.T, "A": A}}
_RELATED: dict[str, tuple[str, Any, Mapping[str, Any]]] = {
    "=": ("d = a + b", _EQUAL, {}),
    ":=": ("d := a + b", _EQUAL, {}),
    r"\triangleq": (r"d \triangleq a + b", _EQUAL, {}),
    r"\equiv": (r"d \equiv a + b", _EQUAL, {}),
    r"\approx": (r"d \approx a + b", {"d": a + b + 1e-5, **_SUM}, {"approx": 1e-4}),
    r"\propto": (r"\mathbf y \propto A \mathbf x", {r"\mathbf y": 2.5 * A @ x, "A": A,
                                                     r"\mathbf x": x}, {}),
    r"\le": (r"d \le a + b", _BELOW, _TIGHT),
    r"\ge": (r"d \ge a + b", _ABOVE, _TIGHT),
    "<": ("b < a", _SUM, {}),
    ">": ("a > b", _SUM, {}),
    r"\ne": (r"d \ne a + b", _ABOVE, {}),
    r"\succeq": (r"C \succeq A A^\top", _MORE, _TIGHT_MATRIX),
    r"\preceq": (r"C \preceq A A^\top", _LESS, _TIGHT_MATRIX),
    r"\succ": (r"C \succ A A^\top", _MORE, {}),
    r"\prec": (r"C \prec A A^\top", _LESS, {}),
}  # fmt: skip


def _relation(word: str) -> Example:
    latex, bound, options = _RELATED[word]
    return Example(word, latex, bound, options)


# Words between formulas


def _condition(word: str) -> Example:
    return Example(word, rf"{_F} \text{{ {word} }} a > 0", _ONE)


def _connective(word: str) -> Example:
    return Example(word, rf"d = a + b \text{{ {word} }} e = a - b", _TWO)


many = np.array([0.2, 0.9, 1.1, 1.4, 2.0, 2.7, 5.3])
_SPLIT = {"d": np.sum(np.where(many > b, a * many, c)), "u": many, "a": a, "b": b, "c": c,
          "N": 7}  # fmt: skip
_LAST = ("otherwise", "else", "elsewhere")


def _case(word: str) -> Example:
    first, last = ("if", word) if word in _LAST else (word, "otherwise")
    rows = rf"a u_i & \text{{{first} }} u_i > b \\ c & \text{{{last}}}"
    return Example(word, rf"d = \sum_{{i=1}}^N \begin{{cases}} {rows} \end{{cases}}", _SPLIT)


# Signs with a range, averages, constants, spaces, marks

_REDUCED: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "inf": np.min, "sup": np.max,
    "argmin": lambda values: np.argmin(values) + 1,
    "argmax": lambda values: np.argmax(values) + 1,
}  # fmt: skip


def _big(word: str) -> Example:
    return Example(word, rf"d = {word}_{{i=1}}^N x_i + c",
                   {"d": _REDUCED[v.BIG[word]](x) + c, "x": x, "c": c, "N": 3})  # fmt: skip


_NODES = Nodes([0.3, 1.1, 2.0, 4.5], [0.1, 0.4, 0.2, 0.3])
_MEAN, _SQUARE, _CUBE = (float(_NODES.weights @ _NODES.points**k) for k in (1, 2, 3))
_AVERAGED: dict[str, tuple[str, float]] = {
    "EXPECT": ("[x^2]", _SQUARE),
    "VARIANCE": ("[x] + c", _SQUARE - _MEAN**2 + c),
    "COVARIANCE": ("(x, x^2) + c", _CUBE - _MEAN * _SQUARE + c),
}


def _average(word: str) -> Example:
    inside, value = _AVERAGED[v.EXPECTATIONS[word]]
    bound = {"a": value, "x": _NODES, **({"c": c} if "c" in inside else {})}
    return Example(word, f"a = {word}_x{inside}", bound)


def _constant(word: str) -> Example:
    if word == r"\infty":
        return Example(word, rf"{_F} \text{{ for }} a \in (0, \infty)", _ONE)
    if word == r"\pi":
        return Example(word, r"d = 2 \pi a", {"d": 2 * math.pi * a, "a": a})
    bound = {"d": math.exp(-a) + math.log(math.e + 1), "a": a}
    return Example(word, rf"d = {word}^{{-a}} + \log({word} + 1)", bound)


def _indicator(word: str) -> Example:
    bound = {"d": np.sum(many[many > b]), "u": many, "b": b, "N": 7}
    return Example(word, rf"d = \sum_{{i=1}}^N u_i {word}[u_i > b]", bound)


def _identity(word: str) -> Example:
    return Example(word, rf"C = A + {word}_{{n \times n}}", {"C": A + np.eye(3), "A": A, "n": 3})


def _space(word: str) -> Example:
    return Example(word, rf"d = 2 n \quad \forall n \in {word}", {"d": 8.0, "n": 4})


def _transpose(word: str) -> Example:
    return Example(word, f"C = A^{{{word}}} B", {"C": A.T @ B, "A": A, "B": B})


def _differential(word: str) -> Example:
    points, weights = np.polynomial.legendre.leggauss(8)
    nodes = Nodes((points + 1) / 2, weights / 2)
    return Example(word, rf"a = \int_0^1 x^2 \, {word} x", {"a": 1 / 3, "x": nodes})


# Environments


def _layout(name: str) -> Example:
    columns = "{2}" if name.startswith("alignat") else "{1}" if name == "alignedat" else ""
    inside = r"d &= a + b \\ e &= a - b" if "align" in name or name == "split" else (
        r"d = a + b, \quad e = a - b")  # fmt: skip
    return Example(name, rf"\begin{{{name}}}{columns} {inside} \end{{{name}}}", _TWO)


def _block(name: str) -> Example:
    kind = v.BLOCKS[name]
    if kind == "_CASES":
        row = _case("if")
        return Example(name, row.latex.replace("{cases}", f"{{{name}}}"), row.bindings)
    columns = "{cc}" if name == "array" else ""
    rows = rf"\begin{{{name}}}{columns} a & b \\ c & 2 \end{{{name}}}"
    if kind == "_DETBLOCK":
        return Example(name, f"d = {rows}", {"d": 2 * a - b * c, "a": a, "b": b, "c": c})
    bound = {"C": np.array([[a, b], [c, 2.0]]), "a": a, "b": b, "c": c}
    return Example(name, f"C = {rows}", bound)


# Sizes, brackets


def _bracket(word: str) -> Example:
    shut = v.OPEN[word]
    return Example(word, f"d = a {word} b + c {shut}", {"d": a * (b + c), "a": a, "b": b, "c": c})


def _made(words: Iterable[str], example: Callable[[str], Example]) -> Rows:
    return tuple(_example_or_none(word, example) for word in _ordered(words))


def _example_or_none(word: str, example: Callable[[str], Example]) -> Example:
    try:
        return example(word)
    except KeyError as unknown:
        return Missing(word, f"`{example.__name__}` knows no {unknown}")


# What is a relation in a definition alone is refused in a check, see `refused`.
_CHECKED = [word for word in v.RELATIONS if word in CHECKED or word in DEFINING]

WORDS: dict[str, Rows] = {
    "Function words": _made(v.FUNCTIONS, _function),
    "Signs": _made(v.OPERATORS, _sign),
    "Brackets": _made(v.OPEN, _bracket),
    "Relations": _made(_CHECKED, _relation),
    "Words before a condition": _made(v.CONDITIONS, _condition),
    "Words between statements": _made(v.CONNECTIVES | v.CLAUSES, _connective),
    "Words in cases": _made(v.CASES, _case),
    "Signs with a range": _made(v.BIG, _big),
    "Signs of averages": _made(v.EXPECTATIONS, _average),
    "Domains with a name": _made(LINES, spoken_domain),
    "Differentials": _made(v.DIFFERENTIALS, _differential),
    "Constants": _made(v.CONSTANTS, _constant),
    "Indicators": _made(v.INDICATORS, _indicator),
    "Identities": _made(v.IDENTITIES, _identity),
    "Spaces": _made(v.SPACES, _space),
    "Transposes": _made(v.TRANSPOSES, _transpose),
    "Environments for the layout": _made(v.LAYOUT_ENVIRONMENTS, _layout),
    "Environments for matrices and cases": _made(v.BLOCKS, _block),
}
