"""Where a statement ends, behind a condition."""

import pytest

from checked_equations.latex.parser import parse, parse_free

NAMES = dict.fromkeys("abcxy", "value")


@pytest.mark.parametrize(
    "latex",
    [
        r"a = x \text{ for all } x, \quad b = c",
        r"a = x \text{ for all } x, \quad b = c \text{ for all } y",
        r"\text{for all } x, \quad a = x \quad b = c",
    ],
)
def test_a_wide_space_behind_the_comma_ends_a_condition(latex):
    for steps in (parse_free(latex).steps, parse(latex, NAMES).steps):
        assert [(s.left.key, s.right.key) for s in steps] == [("a", "x"), ("b", "c")]


def test_without_it_the_condition_goes_on():
    assert [s.left.key for s in parse_free(r"a = x \text{ for all } x, y").steps] == ["a"]


@pytest.mark.parametrize("words", [", where", "where", "and so", ", that is,"])
def test_a_clause_behind_a_condition_is_a_statement_of_its_own(words):
    latex = rf"a = x \text{{ if }} b > 0 \text{{{words} }} c = y"
    for steps in (parse_free(latex).steps, parse(latex, NAMES).steps):
        assert [(s.left.key, s.right.key) for s in steps] == [("a", "x"), ("c", "y")]
