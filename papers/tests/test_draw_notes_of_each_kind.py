"""What every draw of a symbol is, on the smallest statement in which it matters."""

import numpy as np
import pytest

from checked_equations import Estimate
from checked_equations.check.relations import Tolerance
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse, parse_expression
from checked_papers.draw_notes import (
    _below,
    _lopsided,
    _numbers,
    _parity,
    _positive,
    _symmetric,
    _wider,
    notes_on,
)


def notes(latex, *drawn, allowed=None):
    kinds = {k: "callable" if callable(v) else "value" for k, v in drawn[0].items()}
    return notes_on(parse(latex, kinds), drawn, allowed or Tolerance())


POSITIVE = ({"x": 1.3}, {"x": 0.4})


@pytest.mark.parametrize(
    ("latex", "noted"),
    [
        (r"|x| = x", True),
        (r"\sqrt{x^2} = x", True),
        (r"(x^2)^{1/2} = x", True),
        (r"(x^2)^{0.5} = x", True),
        (r"(x^4)^{0.25} (x^2)^2 = x^5", True),
        (r"x^2 x = x^3", False),
        (r"\max(x, -x) = x", True),
        (r"\operatorname{sign}(x) x = x^2 / x", True),
        (r"\frac{1}{2} \log x^2 = \log x", True),
        (r"|2 x| = 2 x", True),
        (r"|x| + x = 2 x, x = x + 0", True),
        (r"\sin(x)^2 = 1 - \cos(x)^2", False),
    ],
)
def test_a_sign_that_every_draw_shares(latex, noted):
    assert notes(latex, *POSITIVE) == (("every draw of x is positive",) if noted else ())


def test_what_is_not_positive_or_not_a_number_shares_no_sign():
    assert notes(r"|x| = x", {"x": 1.3}) == ()
    assert notes(r"|x|^2 = x^2", {"x": 1.3}, {"x": -0.4}) == ()
    assert notes(r"|x| = x", {"x": 1.3}, {"x": 0.0}) == ()
    assert notes(r"|x| = x", {"x": Estimate(1.3, 0.1, n=9)}, {"x": Estimate(1.3, 0.1, n=9)}) == ()
    assert notes(r"|x| = x", {"x": 1.3 + 0j}, {"x": 1.4 + 0j}) == ()


def test_what_another_number_of_the_kind_would_tell_is_not_noted():
    fixed = [{"x": 1.3, "y": 1.3}, {"x": 0.4, "y": 0.4}]
    assert notes("|x| = y", *fixed) == ()
    assert notes("|x| y = x y", *fixed) == ("every draw of x is positive",)
    assert notes("|x| x = y x", *fixed) == ()


def test_an_error_that_a_tolerance_allows_is_none():
    assert notes("|x| + 100 = x + 100", *POSITIVE) == ("every draw of x is positive",)
    assert notes("|x| + 100 = x + 100", *POSITIVE, allowed=Tolerance(rtol=0.1)) == ()


@pytest.mark.parametrize(("first", "second", "word"), [(3, 5, "odd"), (2, 4, "even")])
def test_a_power_of_minus_one(first, second, word):
    sign = (-1) ** first
    drawn = ({"n": first, "x": 1.0, "y": sign * 1.0}, {"n": second, "x": 2.0, "y": sign * 2.0})
    assert notes("(-1)^n x = y", *drawn) == (f"every draw of n is {word}",)
    assert notes("(-1)^n x = y", drawn[0], {**drawn[1], "n": second + 1}) == ()


def test_a_symmetric_matrix_beside_its_transpose():
    A = np.array([[2.0, 0.3], [0.3, 1.0]])
    noted = ("every draw of A is symmetric",)
    assert notes(r"A^\top B = A B", {"A": A, "B": A @ A}, {"A": 2 * A, "B": A}) == noted
    for other in (np.eye(2), 3.0 * np.eye(2), np.array([[2.0, 0.3], [0.4, 1.0]])):
        assert notes(r"A^\top A = A^\top A + 0 A", {"A": A}, {"A": other}) == ()


def test_the_kinds_of_numbers():
    A = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert _symmetric(A)
    assert not _symmetric(A + np.array([[0.0, 1e-9], [0.0, 0.0]]))
    assert not _symmetric(2.0 * np.eye(2))
    assert not _symmetric(np.array([[2.0]]))
    assert not _symmetric(np.ones((2, 3)))
    assert not _symmetric(np.ones(2))
    assert _symmetric(np.ones((2, 2)))
    assert [bool(_positive(np.array(v))) for v in (0.1, 0.0, -1.0, 1j)] == [True, False, False,
                                                                           False]  # fmt: skip
    assert not _positive(np.ones(2))
    assert np.allclose(_lopsided(-A), [[-2.0, -0.1], [-0.3, -1.0]])
    assert np.allclose(_wider(-A), [[-1.8, -0.3], [-0.3, -0.8]])
    assert [_parity(np.array(v)) for v in (4.0, 3.0, 2.5)] == [0.0, 1.0, 0.5]
    assert _parity(np.ones(2)) == -1.0
    assert _numbers(None) is _numbers(Estimate(1.0, 0.1)) is _numbers(np.sin) is None
    assert _numbers([1, 2]).tolist() == [1.0, 2.0]


def test_what_is_right_below_a_place():
    kinds = dict.fromkeys("abcdef", "value")
    node = parse_expression(r"\sqrt{a^b}", kinds)
    assert _below(node, True) == ["a", "b"]
    assert _below(node, False) == []
    assert _below(parse_expression(r"|a b + c|", kinds), True) == []
    assert _below(parse_expression(r"\max(a, b c, \sin d)", kinds), True) == ["a", "b", "c"]
    assert _below(t.Root(t.Transpose(t.Name("a"))), True) == ["a"]


def test_a_function_that_takes_no_other_number_tells_nothing():
    def fussy(x):
        if x < 0:
            raise ValueError("no negative number")
        return x

    assert notes("f(x) |x| = x x", *({**one, "f": fussy} for one in POSITIVE)) == ()
    assert notes(r"\log(x) = \log(|x|)", *POSITIVE) == ("every draw of x is positive",)
    assert notes(r"\log(x) x = \log(x) |x|", *POSITIVE) == ()
