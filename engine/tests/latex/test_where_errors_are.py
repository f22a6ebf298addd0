"""The place that is added to what goes wrong with an equation."""

import pytest

from checked_equations.errors import EquationError
from checked_equations.latex.equation import Equation, located

EQUATION = Equation("eq-a", "a = b + c", 7)


def inside(wrong):
    with located("part/page", EQUATION):
        raise wrong


def test_a_value_error_becomes_one_of_the_equation():
    with pytest.raises(EquationError) as caught:
        inside(ValueError("no such number"))
    error = caught.value
    assert (error.problem, error.span, error.mend) == ("no such number", (0, 0), None)
    assert (error.chapter, error.label, error.line, error.latex) == (
        "part/page", "eq-a", 7, "a = b + c")  # fmt: skip


def test_an_error_of_the_equation_keeps_its_place():
    with pytest.raises(EquationError) as caught:
        inside(EquationError("wrong", "a = b + c", (4, 5)))
    assert (caught.value.problem, caught.value.span) == ("wrong", (4, 5))
    with pytest.raises(EquationError) as caught:
        inside(EquationError("wrong", "", (4, 5)))
    assert (caught.value.problem, caught.value.span) == ("wrong", (4, 5))


def test_an_error_of_another_text_names_that():
    with pytest.raises(EquationError) as caught:
        inside(EquationError("wrong", "b + c", (4, 5), mend=lambda: "so"))
    assert (caught.value.problem, caught.value.span) == ("wrong in `b + c`", (0, 0))
    assert caught.value.mend() == "so"


def test_an_error_of_the_author_keeps_its_kind():
    with pytest.raises(ZeroDivisionError) as caught:
        inside(ZeroDivisionError("by nothing"))
    assert caught.value.__notes__ == ["part/page, eq-a, line 7"]
