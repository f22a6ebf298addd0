"""Shapes of symbols that nobody declared, and equations that may be meant of arrays."""

from __future__ import annotations

import pytest
from displays import holds, holds_and_its_twin_does_not, tried

from checked_equations.evaluate.effort import SECOND, allowing
from checked_papers.declarations import declared
from checked_papers.shapes import fitting


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"(A B)^\top = B^\top A^\top", {"A": "matrix n × p", "B": "matrix p × q"}),
        (r"\operatorname{tr}(A B) = \operatorname{tr}(B A)",
         {"A": "matrix n × p", "B": "matrix p × n"}),
        (r"(A + U C V)^{-1} = A^{-1} - A^{-1} U (C^{-1} + V A^{-1} U)^{-1} V A^{-1}",
         {"A": "matrix n × n", "U": "matrix n × p", "C": "matrix p × p", "V": "matrix p × n"}),
        (r"x^\top A y = y^\top A^\top x", {"x": "vector n", "A": "matrix n × p", "y": "vector p"}),
        (r"\mathbf a^\top \mathbf b = \mathbf b^\top \mathbf a",
         {"\\mathbf a": "vector n", "\\mathbf b": "vector n"}),
        (r"A A^{-1} = I", {"A": "matrix n × n", "I": "identity n × n"}),
        (r"x^\top y = \sum_{i=1}^m x_i y_i", {"x": "vector m", "y": "vector m"}),
        (r"\hat\beta = (X^\top X)^{-1} X^\top y",
         {"\\hat\\beta": "vector n", "X": "matrix p × n", "y": "vector p"}),
    ],
)  # fmt: skip
def test_one_assignment_fits(latex: str, wanted: dict[str, str]) -> None:
    (found,) = fitting(latex, {}).shapes
    assert {key: str(kind) for key, kind in found.kinds.items()} == wanted


@pytest.mark.parametrize("latex", [r"(a + b)^2 = a^2 + 2 a b + b^2", "E = m c^2", r"f(A) = A"])
def test_where_none_does_nothing_is_inferred(latex: str) -> None:
    assert len(fitting(latex, {}).shapes) != 1


def test_what_is_declared_stays() -> None:
    (found,) = fitting(r"x^\top A y = y^\top A^\top x", declared("A be 3×5").kinds).shapes
    assert {key: str(kind) for key, kind in found.kinds.items()} == {
        "x": "vector 3", "y": "vector 5",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("latex", "outcome", "region"),
    [
        (r"(A B)^\top = B^\top A^\top", "holds", ""),
        (r"(A B)^\top = A^\top B^\top", "does not hold", ""),
        (r"(A B)^{-1} = A^{-1} B^{-1}", "holds if", "A, B are numbers, and not for arrays"),
        (r"(A + B)^2 = A^2 + 2 A B + B^2", "holds if", "A, B are numbers, and not for arrays"),
        (r"x^\top A y = y^\top A x", "holds if", "A is symmetric"),
        (r"U^\top = U^{-1}", "holds if", "U is orthogonal"),
        (r"\|x + y\|^2 = \|x\|^2 + 2 x^\top y + \|y\|^2", "holds", ""),
        (r"\|x + y\|^2 = \|x\|^2 + x^\top y + \|y\|^2", "does not hold", ""),
        (r"x^\top y = \sum_{i=1}^n x_i y_i", "holds", ""),
        (r"A A^{-1} = I", "holds", ""),
        (
            r"(A + U C V)^{-1} = A^{-1} - A^{-1} U (C + V A^{-1} U)^{-1} V A^{-1}",
            "does not hold",
            "",
        ),
        (r"\hat\beta = (X^\top X)^{-1} X^\top y", "", ""),
    ],
)
def test_arrays_and_numbers(latex: str, outcome: str, region: str) -> None:
    found = tried(latex)
    verdict = "tried" if outcome else "definition"
    assert (found.verdict, found.outcome, found.region) == (verdict, outcome, region), str(found)


def test_a_singular_matrix_lets_nothing_pass() -> None:
    """Its inverse is rounding, beside which any number is small: it passed once."""
    found = tried(r"b = (X^\top X)^{-1} X^\top y", declared("b in R^5; X in R^{3×5}; y in R^3"))
    assert found.outcome != "holds"


def test_what_is_drawn_is_shown() -> None:
    assert str(tried(r"(A B)^\top = B^\top A^\top")).endswith(" · A matrix n × p; B matrix p × q")


def test_an_edit_may_change_the_shape_of_what_is_hidden_in_a_call() -> None:
    # `\operatorname{rank}(A)` for that of the product: as large, and what is inside is not alike
    found = tried(r"\operatorname{rank}(A^T A) = \operatorname{rank}(A)")
    assert (found.verdict, found.outcome) == ("tried", "holds"), str(found)


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"\mathbf{1}^T \mathbf{x} = \sum_{i=1}^n x_i", ("= ", "= 2 ")),
        (r"\mathbf{1}^T A \mathbf{1} = \sum_{i,j} A_{ij}", ("A_{ij}", "A_{ii}")),
        (r"\mathbf 1 \mathbf 1^T \mathbf 1 - n \mathbf 1 = \mathbf 0", ("- n", "- 2 n")),
        (r"\mathbf{1}_n^T \mathbf{1}_n = n", ("= n", "= n^2")),
        (r"\nabla_x \|x\|^2 = 2 x", ("2 x", "3 x")),
        (r"\nabla_x \left\|x\right\| = \frac{x}{\|x\|}", (r"\frac{x}{\|x\|}", "x")),
        (r"\frac{1}{2} \nabla_x \|A x - b\|_2^2 = A^T (A x - b)", ("A^T", "2 A^T")),
    ],
)  # fmt: skip
def test_columns_of_ones_and_gradients_of_norms(latex: str, slip: tuple[str, str]) -> None:
    holds_and_its_twin_does_not(latex, slip)


def test_a_word_in_roman_letters_is_the_operator_that_it_names() -> None:
    assert holds(r"\mathrm{erf}(-x) = -\mathrm{erf}(x)")


def test_a_cost_summed_without_end_is_given_up_soon() -> None:
    """Its terms are new numbers each time and never die away, so that a million were summed."""
    cost = r"J = \sum_{k=0}^\infty \mathbf x_k^\top \mathbf Q \mathbf x_k"
    with allowing(SECOND):
        found = fitting(cost, {})
    assert not found.shapes
    assert not found.refuted
