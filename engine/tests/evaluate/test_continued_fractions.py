"""Continued fractions that go on with dots: each has its value, or says why it has none."""

import cmath
import math

import pytest

from checked_equations import EquationError
from checked_equations.errors import OperationError
from checked_equations.evaluate import continued_fractions as fractions
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex.builder.dots import fractions_marked
from checked_equations.latex.parser import parse_free

BOUND = {"z": 0.4, "w": 0.5j}
TRIED = object()  # what a plug-in gives in place of None: then a pattern may be guessed
OPEN = "no pattern that the printed terms determine"
Z, R = 0.4, math.sqrt(2.0) - 1.0


def continued(tops, bottoms, signs=""):
    """A continued fraction of these numbers in LaTeX, which goes on with dots."""
    signs = signs or "+" * len(tops)
    latex = "\\dots"
    for top, bottom, sign in reversed(list(zip(tops, bottoms, signs, strict=True))):
        latex = rf"\cfrac{{{top}}}{{{bottom} {sign} {latex}}}"
    return latex


FRACTIONS = [
    (continued([1] * 4, [1] * 4), (math.sqrt(5) - 1) / 2),
    (continued([1] * 4, [3] * 4, "----"), (3 - math.sqrt(5)) / 2),
    (continued([4, 1, 4, 9, 16], [1, 3, 5, 7, 9]), math.pi),
    (continued(["z", *["z^2"] * 4], [1, 3, 5, 7, 9], "-" * 5), math.tan(Z)),
    (continued(["w", *["w^2"] * 4], [1, 3, 5, 7, 9], "-" * 5), 1j * math.tanh(0.5)),
    (continued(["2 w", *["w"] * 4], [1] * 5), cmath.sqrt(1 + 2j) - 1),
    (continued([1] * 4, [2, 3, 2, 3]), (math.sqrt(60) - 6) / 4),
    (continued([1] * 5, [3] * 5, "+-+-+"), (11 - math.sqrt(85)) / 6),
    (continued([5, 7, 1, 1, 1], [2] * 5), 5 / (2 + 7 / (2 + R))),
    (continued([1] * 5, [2, 9, 2, 2, 2]), 1 / (2 + 1 / (9 + R))),
]
UNSETTLED = [
    continued([1] * 4, [1] * 4, "----"),
    continued([1] * 4, [f"{math.sqrt(2)}"] * 4, "-" * 4),
]
UNKNOWN = [
    continued([1] * 4, [1, 2, 4, 9]),
    continued([1, 2, 7, 8, 30], [1] * 5),
    continued([1] * 2, [1] * 2),
    continued([1] * 5, [3] * 5, "----+"),
]


def fraction(latex, beyond=None):
    (step,) = parse_free(f"d = {latex}").steps
    return Evaluator(BOUND, beyond=beyond).value(fractions_marked(step.right))


@pytest.mark.parametrize("far", [None, TRIED])
@pytest.mark.parametrize(("latex", "wanted"), FRACTIONS)
def test_a_continued_fraction_has_its_value(latex, wanted, far):
    found = fraction(latex, far)
    assert found == pytest.approx(wanted, rel=1e-10)
    assert found.dtype == (complex if isinstance(wanted, complex) else float)


@pytest.mark.parametrize("latex", UNSETTLED)
def test_a_continued_fraction_that_does_not_settle_says_so(latex):
    with pytest.raises(EquationError, match="does not settle"):
        fraction(latex, TRIED)


@pytest.mark.parametrize("latex", UNKNOWN)
def test_a_continued_fraction_without_a_pattern_has_no_value(latex):
    with pytest.raises(EquationError, match=OPEN):
        fraction(latex)


def test_what_no_printed_level_confirms_is_guessed_beyond_what_is_checked_alone():
    latex, wanted = continued([1] * 3, [1, 2, 4]), 0.0
    for k in range(60, 0, -1):
        wanted = 1 / ((k * k - k + 2) / 2 + wanted)
    assert fraction(latex, TRIED) == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(EquationError, match=OPEN):
        fraction(latex)


def test_how_a_row_of_numbers_goes_on():
    at = fractions._continued([1.0, 4.0, 9.0, 16.0], (1,))
    assert [at(k) for k in range(1, 8)] == pytest.approx([1, 4, 9, 16, 25, 36, 49])
    odd = fractions._continued([1.0, 5.0, 2.0, 5.0, 3.0, 5.0], (1,))
    assert [odd(k) for k in range(1, 10)] == pytest.approx([1, 5, 2, 5, 3, 5, 4, 5, 5])
    late = fractions._continued([9.0, 3.0, 3.0, 3.0], (1,))
    assert [late(k) for k in range(1, 7)] == pytest.approx([9, 3, 3, 3, 3, 3])
    later = fractions._continued([9.0, 8.0, 3.0, 4.0, 5.0], (1,))
    assert [later(k) for k in range(1, 8)] == pytest.approx([9, 8, 3, 4, 5, 6, 7])
    assert fractions._continued([0.0, 0.0, 0.0], (1,))(9) == pytest.approx(0.0)
    with pytest.raises(OperationError, match=OPEN):
        fractions._continued([1.0, 2.0, 4.0, 9.0], (1,))
    guessed = fractions._continued([1.0, 2.0, 4.0], (1, 0))
    assert [guessed(k) for k in range(1, 6)] == pytest.approx([1, 2, 4, 7, 11])


@pytest.mark.parametrize(
    ("values", "spare", "wanted"),
    [
        ([3.0], 0, None), ([3.0, 3.0], 0, 0), ([3.0], 1, None), ([3.0, 3.0], 1, 0),
        ([3.0, 4.0], 0, 1), ([3.0, 4.0], 1, None), ([3.0, 4.0, 5.0], 1, 1),
        ([3.0, 4.0, 6.0], 0, 2), ([3.0, 4.0, 6.0], 1, None), ([3.0, 4.0, 6.0, 9.0], 1, 2),
        ([3.0, 4.0, 6.0, 10.0], 0, None),
    ],
)  # fmt: skip
def test_the_degree_that_values_follow(values, spare, wanted):
    assert fractions._degree(values, 10.0, spare) == wanted


def test_a_convergent_is_reckoned_from_below():
    tops, bottoms = (lambda k: float(k)), (lambda k: k + 1.0)
    assert fractions._convergent(tops, bottoms, 1) == 0.5
    assert fractions._convergent(tops, bottoms, 2) == pytest.approx(1 / (2 + 2 / 3))
    assert fractions._convergent(tops, bottoms, 3) == pytest.approx(1 / (2 + 2 / (3 + 3 / 4)))
    with pytest.raises(OperationError, match="does not settle"):
        fractions._convergent(tops, lambda k: 0.0, 2)
