"""One equation without a chapter: the same verdicts, the same badge, the same errors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from checked_equations import EquationError, Nodes, check_equation

A = np.array([[2.0, 1.0], [0.5, 3.0]])
B = np.array([[1.0, 0.3], [-0.7, 2.0]])
PRODUCT = r"(A B)^{-1} = B^{-1} A^{-1}"


def test_it_finds_what_a_chapter_finds(small_chapter):
    options = {"oracle": "dense algebra", "spare": {}}
    alone = check_equation(PRODUCT, {"A": A, "B": B}, **options)
    in_chapter = small_chapter({"eq-a": PRODUCT}).check("eq-a", {"A": A, "B": B}, **options)
    for name in ("kind", "steps", "mutants", "residual", "digest", "route", "draws", "backend"):
        mine, theirs = getattr(alone, name), getattr(in_chapter, name)
        if name == "steps":
            mine, theirs = ([(s.latex, s.residual) for s in steps] for steps in (mine, theirs))
        assert mine == theirs, name


def test_it_shows_itself_as_in_a_chapter(small_chapter):
    alone = check_equation(PRODUCT, {"A": A, "B": B}, oracle="dense algebra")
    in_chapter = small_chapter({"eq-a": PRODUCT}).check(
        "eq-a", {"A": A, "B": B}, oracle="dense algebra"
    )
    assert f"eq-a: {alone!r} · small.md" == repr(in_chapter)
    badge = alone._repr_mimebundle_()["text/html"]
    assert "11 of 11 mutants caught" in badge
    assert "dense algebra" in badge
    assert "None" not in badge


def test_without_an_oracle_nothing_is_said_of_it():
    record = check_equation(PRODUCT, {"A": A, "B": B})
    assert repr(record) == "holds to 1e-09 · 1 step · 11 of 11 mutants caught"
    assert "evidence" not in record._repr_mimebundle_()["text/html"]


def test_numbers_may_be_drawn():
    record = check_equation("c = a + b", lambda draw: dict(_sum(*draw.uniform(1, 2, 2))))
    assert record.draws == 3


def _sum(a, b):
    return {"a": a, "b": b, "c": a + b}


@pytest.mark.parametrize(
    ("latex", "caret", "problem"),
    [
        (r"(A B)^{-1} = A^{-1} B^{-1}", (1, 14), "does not hold: relative residual"),
        ("A &= A \\\\\nA &= C", (2, 6), "unbound symbol `C`"),
        (r"A B = \lim A", (1, 7), "write where the limit is taken"),
        ("A B", (1, 3), "ends too early"),
    ],
)
def test_an_error_points_to_the_place(latex, caret, problem):
    with pytest.raises(EquationError) as caught:
        check_equation(latex, {"A": A, "B": B})
    said = str(caught.value).splitlines()
    assert said[0].startswith(f"line {caret[0]}, column {caret[1]}: "), said[0]
    assert problem in said[0]
    assert said[2].index("^") - 4 == caret[1] - 1


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        ("$$ a = b^2 $$", "`$` is not part of the language: give what stands between them alone"),
        (r"\[ a = b^2 \]", r"`\[` is not part of the language: give what stands between them"),
        ("a = b − b", "`−` is not part of the language: write -"),
        ("a = b²", "`²` is not part of the language: write ^2"),
        ("a ≤ b", r"`≤` is not part of the language: write \le"),
        ("a = \frac{b}{1}", r"a backslash was lost: write r before the string"),
        ("a = b \times b", r"a backslash was lost: write r before the string"),
    ],
)
def test_what_a_keyboard_or_a_display_adds_is_told(latex, problem):
    with pytest.raises(EquationError) as caught:
        check_equation(latex, {"a": 4.0, "b": 2.0})
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("2", "`a` is bound to what is no number: a str is no number or array"),
        (None, "`a` is bound to what is no number: a NoneType is"),
        (10**40, "`a` is bound to what is no number: an int is"),
        ([[1.0, 2.0], [3.0]], "`a` is bound to what is no number: a list is"),
        (np.zeros(0), "the left side has no entries, so that nothing is compared"),
    ],
    ids=["a string", "nothing", "beyond all floats", "ragged", "empty"],
)
def test_what_is_no_number_is_named(value, problem):
    b = np.zeros(0) if isinstance(value, np.ndarray) else 2.0
    with pytest.raises(EquationError, match=re.escape(problem)):
        check_equation("a = b + b", {"a": value, "b": b})


@pytest.mark.parametrize(
    ("bindings", "problem"),
    [
        ({1: 2.0}, "bindings must be named by the LaTeX of a symbol; got 1"),
        (lambda draw: None, "bindings must return a mapping from symbols to values; got a NoneTy"),
    ],
)
def test_bindings_that_are_none_are_told(bindings, problem):
    with pytest.raises(TypeError, match=problem):
        check_equation("a = b + b", bindings)


def test_what_a_slip_would_pass_is_told():
    with pytest.raises(EquationError, match=r"mutants survive: 'flip the sign of b'"):
        check_equation("c = a + b", {"a": 1.0, "b": 2e-10, "c": 1.0 + 2e-10})


def test_macros_of_ones_own():
    bound = {r"\vx": np.array([1.0, 2.0]), "d": 5.0}
    latex = r"d = \vx^\top \vx"
    macros = {"vx": r"\mathbf x"}
    record = check_equation(latex, {r"\mathbf x": bound[r"\vx"], "d": 5.0}, macros=macros)
    assert record.mutants.survived == 0
    with pytest.raises(EquationError, match=r"unbound symbol `\\vx`"):
        check_equation(latex, {"d": 5.0})


def test_averages_and_tolerances_are_those_of_a_chapter():
    x = Nodes([0.0, 1.0], [0.25, 0.75])
    assert check_equation(r"a = \mathbb E_x[x]", {"a": 0.75, "x": x}).kind == "identity"
    loose = check_equation(r"a \approx b^2", {"a": 4.001, "b": 2.0}, approx=1e-3)
    assert loose.approx == 1e-3
    with pytest.raises(ValueError, match="rtol must lie between"):
        check_equation("a = b", {"a": 1.0, "b": 1.1}, rtol=0.5)
