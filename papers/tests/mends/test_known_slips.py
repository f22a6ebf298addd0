"""What would mend an equality that does not hold is found, said once, and never forced."""

import json

import numpy as np
import pytest

from checked_equations import EquationError, check_equation
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.latex.parser import parse
from checked_papers import mend_equation
from checked_papers.mends import (
    holds_on,
    in_words,
    mends_of,
    mends_of_equation,
    same_claim,
)

_STREAM = np.random.default_rng(3)
A, B = _STREAM.normal(size=(2, 4, 4))
F = _STREAM.normal(size=(3, 5))
x, y = _STREAM.normal(size=(2, 4))
C = _STREAM.normal(size=(4, 4))
inv = np.linalg.inv
a, b, c, d = 1.1, 0.7, 2.3, 0.45


def square(u):
    return np.asarray(u) ** 2 + 0.3


MENDED = [
    # what is printed, what mends it, what is bound
    ("c = a + b", "c = a - b", {"c": a - b, "a": a, "b": b}),
    ("d = c (a + b)", "d = c a + b", {"d": c * a + b, "a": a, "b": b, "c": c}),
    ("v = x A^{-1} y", r"v = x^\top A^{-1} y", {"v": x @ inv(A) @ y, "x": x, "A": A, "y": y}),
    ("X = A B", "X = A^{-1} B", {"X": inv(A) @ B, "A": A, "B": B}),
    (r"\nu_j = \sum_{j=1}^J f_{ij}", r"\nu_{j} = \sum_{i=1}^{3} f_{i,j}",
     {r"\nu": F.sum(0), "f": F, "j": 2, "J": 5}),
    ("d = (b - a) c", "d = (b - a) c + b", {"d": (b - a) * c + b, "a": a, "b": b, "c": c}),
    (r"d = \frac{a}{b}", r"d = -\frac{a}{b}", {"d": -a / b, "a": a, "b": b}),
    ("c = a b + d", "c = a b + a d", {"c": a * b + a * d, "a": a, "b": b, "d": d}),
    ("X = B A y", "X = A B y", {"X": A @ B @ y, "A": A, "B": B, "y": y}),
    (r"c = \phi_t b", r"c = \phi^{t} b", {"c": a**3 * b, r"\phi": a, "t": 3, "b": b}),
    (r"c = \frac{\pi}{a}", r"c = \frac{\pi}{2 a}", {"c": np.pi / 2 / a, "a": a}),
    ("d = u(a) + b c", "d = u(a) + b u(c)", {"d": square(a) + b * square(c), "a": a, "b": b,
     "c": c, "u": square}),
    ("d - c = a b + a", "d - c = c b + c", {"d": c * b + 2 * c, "a": a, "b": b, "c": c}),
    ("d = a + c", "d = a^2 + c^2", {"d": a**2 + c**2, "a": a, "c": c}),
    (r"d = (1 - a) b", r"d = \frac{(1 - a) b}{1 - a b}",
     {"d": (1 - a) * b / (1 - a * b), "a": a, "b": b}),
    (r"d = b^a", "d = a^{b}", {"d": a**b, "a": a, "b": b}),
    (r"c = \sum_{i=1}^{4} x_i y_1", r"c = \sum_{i=1}^{4} x_{i} y_{i}",
     {"c": x @ y, "x": x, "y": y}),
    (r"c = \frac{b}{a}", r"c = \frac{a}{b}", {"c": a / b, "a": a, "b": b}),
    ("X = A + B", r"X = B^\top B A + B", {"X": B.T @ B @ A + B, "A": A, "B": B}),
    ("X = A + B", r"X = A B^\top B + B", {"X": A @ B.T @ B + B, "A": A, "B": B}),
    ("X = A C + B", r"X = A B^\top B C + B", {"X": A @ B.T @ B @ C + B, "A": A, "B": B, "C": C}),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "mended", "bound"), MENDED)
def test_a_lost_piece_is_put_back(latex, mended, bound):
    drawn = draw_bindings(bound, "seed")
    found = mends_of_equation(latex, drawn).found
    wanted = parse(mended, name_kinds(drawn[0]))
    assert any(same_claim(mend.statement, wanted, drawn) for mend in found)


def said_of(latex, bound):
    drawn = draw_bindings(bound, "seed")
    return in_words(mends_of_equation(latex, drawn), latex, name_kinds(drawn[0]))


def test_a_single_mend_is_said_in_the_letters_of_the_page():
    assert said_of("c=a+b", {"c": a - b, "a": a, "b": b}) == "it does with `-` for `+`: c=a-b"
    said = said_of(r"v = x A^{-1} y", {"v": x @ inv(A) @ y, "x": x, "A": A, "y": y})
    assert said == r"it does with `x^\top` for `x`: v = x^\top A^{-1} y"


def test_several_mends_are_told_to_be_several():
    said = said_of("(A B)^{-1} = A^{-1} B^{-1}", {"A": A, "B": B})
    assert said.startswith("2 single edits would mend it, ")
    assert "(A B)^{-1} = B^{-1} A^{-1}" in said
    assert "(B A)^{-1} = A^{-1} B^{-1}" in said


def test_spellings_of_one_claim_are_one_mend():
    # a minus before either factor, or before the product, and on either side
    (mend,) = mends_of_equation("c = a b", [{"c": -a * b, "a": a, "b": b}]).found
    assert mend.others > 0


def test_an_inequality_is_never_mended():
    mends = mends_of_equation(r"c \le a + b", [{"c": a - b + 5, "a": a, "b": b}])
    assert mends.tried == 0
    both = "c = a + b \\le d"  # the edit of a side that an inequality shares must leave it true
    assert said_of(both, {"c": a - b, "a": a, "b": b, "d": a - b - 1}) == ""


def test_what_no_single_edit_mends_is_silent():
    assert said_of("c = a + b", {"c": 17.3, "a": a, "b": b}) == ""
    assert said_of("c = a + b", {"c": a + b, "a": a, "b": b}) == ""


def test_a_form_that_is_merely_nearer_is_no_mend():
    bound = {"c": a - b + 1e-4, "a": a, "b": b}
    assert said_of("c=a+b", bound) == ""
    with pytest.raises(EquationError) as caught:  # without b it is off by 5e-4, with it by 1.5e-3
        check_equation("c=a+b", {"c": 1.0005 * a, "a": a, "b": 0.002 * a}, rtol=1e-3)
    assert caught.value.suggested == ""


def test_no_symbol_is_taken_that_the_printed_form_does_not_name():
    bound = {"c": a * b * d, "a": a, "b": b, "d": d}
    assert said_of("c = a b", bound) == ""
    assert said_of("c = a b + 0 d", bound) != ""


def test_the_mended_form_is_evaluated_where_the_printed_one_has_no_value():
    bound = {"c": np.log(a), "a": a}
    assert said_of(r"c = \log(-a)", bound).endswith(r"c = \log(a)")


def test_a_search_that_was_cut_short_suggests_nothing():
    bound = {"c": a - b, "a": a, "b": b}
    statement = parse("c = a + b", dict.fromkeys(bound, "value"))
    cut = mends_of(statement, holds_on([bound]), [bound], most=3)
    assert (cut.tried, cut.whole, cut.only) == (3, False, None)
    assert in_words(cut, "c = a + b", {}) == ""
    assert not mends_of(statement, holds_on([bound]), [bound], effort=-1).found


def test_an_error_looks_for_a_mend_when_it_is_shown():
    with pytest.raises(EquationError) as caught:
        check_equation("c = a + b", {"c": a - b, "a": a, "b": b})
    assert "it does with `-` for `+`: c = a - b\n    c = a + b\n" in str(caught.value)
    with pytest.raises(EquationError) as caught:  # a survivor: the equation itself holds
        check_equation("c = a^2", {"a": 1.0, "c": 1.0})
    assert caught.value.suggested == ""
    free = {r"\nu": F.sum(0), "f": F, "j": 2, "J": 5}
    with pytest.raises(EquationError, match=r"sum over `i` for `j`"):
        check_equation(r"\nu_j = \sum_{j=1}^J f_{ij}", free)


class TestMendEquation:
    def test_the_record_shows_itself_with_its_edits(self):
        record = mend_equation("X = A B", {"X": inv(A) @ B, "A": A, "B": B})
        assert record.found == (("with `A^{-1}` for `A`", "X = A^{-1} B"),)
        shown = record._repr_mimebundle_()
        assert shown["text/plain"] == "does not hold; it does with `A^{-1}` for `A`: X = A^{-1} B"
        assert "A mend is a suggestion" in shown["text/html"]
        assert json.loads(json.dumps(record.to_json()))["kind"] == "mended"

    def test_what_nothing_mends_says_so(self):
        record = mend_equation("c = a + b", {"c": 17.3, "a": a, "b": b})
        assert repr(record) == "does not hold; no single edit that was tried mends it"
        assert record.tried > 50

    def test_what_holds_has_nothing_to_mend(self):
        with pytest.raises(EquationError, match="it holds: there is nothing to mend"):
            mend_equation("c = a + b", {"c": a + b, "a": a, "b": b})

    def test_macros_are_those_of_the_page(self):
        bound = {r"\mathbf w": inv(A) @ x, "A": A, "x": x}
        record = mend_equation(r"\w = A x", bound, macros={"w": r"\mathbf w"})
        assert record.found[0][1] == r"\mathbf w = A^{-1} x"

    def test_bad_input_is_named(self):
        with pytest.raises(TypeError, match="bindings must map symbols to values"):
            mend_equation("c = a + b", 3)
        with pytest.raises(TypeError, match="latex must be a string; got 3"):
            mend_equation(3, {})
        with pytest.raises(EquationError, match="a backslash was lost"):
            mend_equation("c = \frac{a}{2}", {"c": 1.2, "a": 1.3})
        with pytest.raises(EquationError, match="cannot stand here"):
            mend_equation("c = + + a", {"c": 1.2, "a": 1.3})
        with pytest.raises(ValueError, match="rtol must lie between"):
            mend_equation("c = a", {"c": 1.2, "a": 1.3}, rtol=0.5)
