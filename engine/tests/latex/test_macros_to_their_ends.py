"""Options, limits and places of macros: what is taken, what is left, and what is refused."""

import pytest

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.macros import Expanded, expand, relocated

POWER = {
    "pow": [r"#2^{#1}", 2, "2"],
    "one": [r"<#1>", 1],
    "opt": ["(#1)", 1, "d"],
    "E": r"\mathbb E",
}


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\pow{x}", "x^{2}"),
        (r"\pow[3]{x}", "x^{3}"),
        (r"\pow[{]}]{x}", "x^{{]}}"),
        (r"\pow[a]b c", "b^{a} c"),
        (r"\opt y", "(d) y"),
        (r"\opt[] y", "() y"),
        (r"\opt[ab] y", "(ab) y"),
        (r"\opt [a]", "(d) [a]"),
        (r"\opt", "(d)"),
        (r"\opt[a", "(d)[a"),
        (r"\opt{]}", "(d){]}"),
        (r"\one\alpha\one2", r"<\alpha><2>"),
        (r"\one{{a}b}", "<{a}b>"),
        (r"\one  a b", "<a> b"),
        (r"\E x\E", r"\mathbb E x\mathbb E"),
    ],
)
def test_what_an_argument_is(latex, wanted):
    assert expand(latex, POWER).latex == wanted


def test_each_character_knows_where_it_was_written():
    made = expand(r"a \pow[3]{x} b", POWER)
    assert made.latex == "a x^{3} b"
    whole = (2, 12)
    assert [made.written[i] for i in (0, 2, 3, 5, 8)] == [(0, 1), (10, 11), whole, (7, 8), (13, 14)]
    assert made.place((0, 1)) == (0, 1)
    assert made.place((2, 7)) == whole
    assert made.place((3, 9)) == (2, 14)
    assert made.place((4, 4)) == (14, 14)
    assert Expanded("", ()).place((0, 0)) == (0, 0)


def test_a_letter_behind_a_command_is_kept_apart():
    made = expand(r"\Ex", {"Ex": r"\beta x", "b": r"\beta"})
    assert made.latex == r"\beta x"
    assert expand(r"\b x\b\b", {"b": r"\beta"}).latex == r"\beta x\beta\beta"
    assert expand(r"\b{}x", {"b": r"\beta"}).latex == r"\beta{}x"
    assert expand(r"\c", {"c": r"\d y", "d": r"\beta"}).latex == r"\beta y"
    assert expand(r"\c", {"c": r"\d", "d": r"\beta"}).latex == r"\beta"
    assert expand(r"\d{}\e", {"d": r"\beta", "e": "y"}).latex == r"\beta{}y"
    assert expand(r"\d\e", {"d": r"\beta", "e": "y"}).latex == r"\beta y"


@pytest.mark.parametrize(
    ("latex", "macros", "said", "span"),
    [
        (r"a \one", POWER, r"`\one` lacks an argument", (2, 6)),
        (r"a \one{b", POWER, "this brace is never closed", (6, 7)),
        (r"a \r", {"r": r"\r"}, r"the macros go round in a circle at `\r`", (2, 4)),
        (r"a \r", {"r": r"x\s", "s": r"\r"}, "the macros go round in a circle at", (2, 4)),
    ],
)
def test_what_is_refused_and_where(latex, macros, said, span):
    with pytest.raises(EquationError) as error:
        expand(latex, macros)
    assert said in error.value.problem
    assert error.value.span == span


def test_a_thousand_replacements_are_made_and_no_more():
    assert expand(r"\x" * 1000, {"x": "y"}).latex == "y" * 1000
    with pytest.raises(EquationError, match="go round in a circle"):
        expand(r"\x" * 1001, {"x": "y"})


@pytest.mark.parametrize("macro", [3, (), [3, "a"]])
def test_a_macro_is_latex(macro):
    with pytest.raises(TypeError, match="the macro m must be LaTeX, or LaTeX and a number; got"):
        expand("a", {"m": macro})


def test_what_was_one_object_stays_one():
    shared = t.Name("a", span=(1, 2))
    moved = relocated(t.Sum((shared, shared), (1, 1), span=(0, 3)), lambda span: (span[0] + 5, 9))
    assert moved.terms[0] is moved.terms[1]
    assert (moved.span, moved.terms[0].span) == ((5, 9), (6, 9))
