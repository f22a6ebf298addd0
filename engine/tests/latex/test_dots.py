"""Dots in sums and products: read where what is printed around them determines the pattern."""

from __future__ import annotations

import math

import numpy as np
import pytest
from problems import says

from checked_equations import EquationError, check_equation
from checked_equations.latex.parser import parse_expression, parse_free
from checked_equations.latex.tree import Name, walk

KINDS = dict.fromkeys(["a", "b", "c", "x", "z", "n", "m", "N"], "value")
READ = [
    (r"x_1 + \dots + x_N", r"\sum_{k=1}^N x_k"),
    (r"x_1 + x_2 + \cdots + x_N", r"\sum_{k=1}^N x_k"),
    (r"x_0 + x_1 z + \cdots + x_n z^n", r"x_0 + \sum_{k=1}^n x_k z^k"),
    (r"1 + 2 + \cdots + n", r"\sum_{k=1}^n k"),
    (r"1^2 + 3^2 + \cdots + (2 n - 1)^2", r"\sum_{k=1}^n (2 k - 1)^2"),
    (r"1 + x + x^2 + \cdots + x^n", r"1 + \sum_{k=1}^n x^k"),
    (r"1 + \frac{z}{1!} + \frac{z^2}{2!} + \cdots", r"1 + \sum_{k=1}^\infty \frac{z^k}{k!}"),
    (r"1 - z + z^2 - \cdots", r"1 - \sum_{k=1}^\infty (-1)^{k - 1} z^k"),
    (r"1 + 2 + \cdots + 2 n", r"\sum_{k=1}^{2 n} k"),
    (r"x_1 + x_2 + \cdots + x_{2 n}", r"\sum_{k=1}^{2 n} x_k"),
    (r"x_1 x_2 \cdots x_n", r"\prod_{k=1}^n x_k"),
    (r"z (z + 1) \cdots (z + n - 1)", r"\prod_{k=0}^{n - 1} (z + k)"),
    (r"1 \cdot 2 \cdots n", r"\prod_{k=1}^n k"),
]
OPEN = [
    r"a + \cdots",
    r"z + z^2 + \cdots",
    r"z + \frac{z^3}{3} + \frac{2}{15} z^5 + \frac{17}{315} z^7 + \cdots",
    r"x_1 + x_2 + \cdots + a_N",
    r"x_1 + x_2 - \cdots",
    r"x_1 + \cdots + x_n + \cdots",
    r"1 + z^3 + \cdots + n^2",
    r"x_1 \cdots",
    r"a + b + c + \cdots",
]


@pytest.mark.parametrize(("latex", "wanted"), READ)
def test_what_is_determined_is_read(latex, wanted):
    assert parse_expression(latex, KINDS) == parse_expression(wanted, KINDS)


@pytest.mark.parametrize("latex", OPEN)
def test_what_is_not_determined_is_refused(latex):
    with pytest.raises(EquationError, match="does not determine: write the sum with"):
        parse_expression(latex, KINDS)


def test_in_a_definition_what_is_open_stays_a_name():
    (step,) = parse_free(r"s = a + \cdots + b").steps
    assert Name("\\dots") in [part for _, part in walk(step)]


_NESTED = r"d = \cfrac{z}{%s\cfrac{z^2}{3 - \cfrac{z^2}{%s\cfrac{z^2}{7 - \cdots}}}}"
_SQUARES = (
    r"d = \cfrac{z}{1 + \cfrac{z^2}{3 + \cfrac{4 z^2}{5 + \cfrac{9 z^2}{7 + "
    r"\cfrac{16 z^2}{9 + \dots}}}}}"
)
TRUE = [
    (r"d = 1 + \frac{z}{1!} + \frac{z^2}{2!} + \cdots", math.exp(0.7)),
    (r"d = z - \frac{z^3}{3!} + \frac{z^5}{5!} - \cdots", math.sin(0.7)),
    (r"d = z - \frac{1}{2} z^2 + \frac{1}{3} z^3 - \cdots", math.log(1.7)),
    (r"d = z (z + 1) (z + 2) \cdots (z + n - 1)", 0.7 * 1.7 * 2.7 * 3.7 * 4.7),
    (r"d = n (n - 1) \cdots (n - m + 1)", 60.0),
    (r"d = 1 + \cfrac{1}{1 + \cfrac{1}{1 + \cfrac{1}{1 + \cdots}}}", (1 + math.sqrt(5)) / 2),
    (_NESTED % ("1 - ", "5 - "), math.tan(0.7)),
    (_SQUARES, math.atan(0.7)),
]
FALSE = [
    (r"d = 1 + \frac{z}{1!} + \frac{z^2}{2!} + \cdots", math.cosh(0.7)),
    (r"d = z + \frac{z^3}{3!} + \frac{z^5}{5!} + \cdots", math.sin(0.7)),
    (r"d = z - \frac{z^3}{3!} + \frac{z^5}{4!} - \cdots", math.sin(0.7)),
    (r"d = z (z + 1) (z + 2) \cdots (z + n)", 0.7 * 1.7 * 2.7 * 3.7 * 4.7),
    (_NESTED % ("1 + ", "5 - "), math.tan(0.7)),
    (_NESTED % ("1 - ", "5 - "), math.tanh(0.7)),
]


def numbers(latex, d):
    return {"d": d, **{k: v for k, v in {"z": 0.7, "n": 5, "m": 3}.items() if k in latex}}


@pytest.mark.parametrize(("latex", "d"), TRUE)
def test_a_true_statement_holds(latex, d):
    assert check_equation(latex, numbers(latex, d)).mutants.survived == 0


@pytest.mark.parametrize(("latex", "d"), FALSE)
def test_a_false_statement_does_not_hold(latex, d):
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, numbers(latex, d))


@pytest.mark.parametrize(
    "latex",
    [
        r"d = \cfrac{z}{1 - \cfrac{z^2}{3 - \cdots}}",
        _NESTED % ("1 - ", "6 - "),
        r"d = \cfrac{z}{1 - \cfrac{z^2}{3 - \cfrac{z^2}{5 - \cfrac{z^2}{\cdots}}}}",
        r"d = 2 + \cfrac{1}{1 + \cfrac{1}{2 + \cfrac{1}{1 + \cfrac{1}{1 + "
        r"\cfrac{1}{4 + \cdots}}}}}",
        r"d = \cfrac{z}{1 + \cfrac{z}{3 + \cfrac{z}{7 + \cfrac{z}{8 + \cfrac{z}{20 + \cdots}}}}}",
    ],
)
def test_a_continued_fraction_without_a_pattern_has_no_value(latex):
    with pytest.raises(EquationError, match="no pattern that the printed terms determine"):
        check_equation(latex, numbers(latex, math.tan(0.7)))


def test_the_letter_that_runs_stands_for_nothing_else():
    x = np.array([0.4, 1.3, 2.6])
    latex = r"d = k x_1 + k x_2 + \cdots + k x_N"
    assert check_equation(latex, {"d": 1.7 * x.sum(), "k": 1.7, "x": x, "N": 3}).mutants.caught
