"""Draws that share what the statement does not say are noted, where it matters, and no others."""

import numpy as np
import pytest

from checked_equations import check_equation
from checked_equations.latex.parser import parse
from checked_papers.draw_notes import notes_on


def _positive(rng):
    return {"x": rng.uniform(0.5, 2.0)}


def _symmetric(rng):
    A = rng.normal(size=(3, 3))
    return {"A": A + A.T, "x": rng.normal(size=3), "y": rng.normal(size=3)}


NOTED = (
    (r"\sqrt{x^2} = x", _positive, "every draw of x is positive"),
    (r"\log x^2 = 2 \log x", _positive, "every draw of x is positive"),
    (r"x^\top A y = y^\top A x", _symmetric, "every draw of A is symmetric"),
)  # fmt: skip


@pytest.mark.parametrize(("latex", "draw", "note"), NOTED)
def test_what_hides_an_error_is_noted(latex, draw, note):
    record = check_equation(latex, draw)
    assert note in record.notes
    assert repr(record).endswith(note)


def test_a_sign_that_every_draw_takes_alike_is_noted():
    statement = parse("(-1)^n x = -x", {"n": "value", "x": "value"})
    assert notes_on(statement, [{"n": 3, "x": 1.0}, {"n": 5, "x": 2.0}]) == (
        "every draw of n is odd",
    )


def test_general_draws_and_single_ones_are_not():
    general = check_equation(r"(A x)^\top = x^\top A^\top", lambda rng: {
        "A": rng.normal(size=(3, 3)), "x": rng.normal(size=3)})  # fmt: skip
    assert general.notes == ()
    assert check_equation("a + b = c", {"a": 1.5, "b": 2.0, "c": 3.5}).notes == ()


def test_what_the_statement_says_is_not_noted():
    said = check_equation(r"\sqrt{x^2} = x \quad\text{for } x > 0", _positive)
    assert said.notes == ()


def test_a_positive_number_that_no_root_sees_is_not_noted():
    draw = lambda rng: {"a": rng.uniform(1, 2), "b": rng.uniform(3, 4)}  # noqa: E731
    assert check_equation("(a + b)^2 = a^2 + 2 a b + b^2", draw).notes == ()


def _covariance(rng):
    S = rng.normal(size=(3, 3))
    S = S @ S.T
    x, y = rng.normal(size=3), rng.normal(size=3)
    s = rng.uniform(1, 2)
    return {"S": S, "x": x, "y": y, "v": x @ S @ y, "I": np.eye(3), "s": s, "q": np.log(s),
            "M": np.linalg.inv(S)}  # fmt: skip


@pytest.mark.parametrize(
    "latex",
    [
        r"v = x^\top S y",  # v was found from S
        r"x^\top S x = (x^\top S x)^\top",  # of any S
        r"(S x)^\top I = x^\top S^\top I",  # the identity is symmetric
        r"\log(3 s) - \log s = \log 3",  # the logarithm says so
        r"\sqrt{s}^3 = s^{3/2}",
        r"|s x| = |s| |x|",
        r"\sqrt{s}^2 = s",  # the root says so
        r"S M S = S",  # M was found from S
        r"q \sqrt{s^2} = \sqrt{s^2} \log s",  # q was found from s
    ],
)
def test_what_changed_numbers_would_tell_as_well_is_not_noted(latex):
    drawn = [_covariance(np.random.default_rng(seed)) for seed in range(3)]
    assert notes_on(parse(latex, dict.fromkeys(drawn[0], "value")), drawn) == ()


def test_a_gradient_that_wants_a_symmetric_matrix_is_noted():
    drawn = [_covariance(np.random.default_rng(seed)) for seed in range(3)]
    statement = parse(r"\nabla_x (x^\top S x) = 2 S x", dict.fromkeys(drawn[0], "value"))
    assert notes_on(statement, drawn) == ("every draw of S is symmetric",)
