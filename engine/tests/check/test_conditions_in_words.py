"""Words inside an equation: conditions that the numbers meet, statements, or an error."""

from __future__ import annotations

import numpy as np
import pytest

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse, parse_free
from checked_equations.latex.printer import to_latex as printed

NAMES = dict.fromkeys("fabcijnNxyA", "value") | {"S": "set"}


def drawn(stream):
    a = stream.uniform(0.5, 2.0)
    return {"a": a, "f": a**2 + a}


def numbers(**more):
    return lambda stream: {**drawn(stream), **more}


HOLDS = [
    (r"f = a^2 + a \text{ if } a > 0", {}),
    (r"f = a^2 + a \quad \text{for } a \ge 0 \text{ and } a < 3", {}),
    (r"f = a^2 + a, \quad \text{whenever } 0 < a \le 2 .", {}),
    (r"f = a^2 + a \quad \text{for all } a \in (0, \infty)", {}),
    (r"f = a^2 + a \text{ for } i = 1, \dots, N", {"i": 3, "N": 4}),
    (r"f = a^2 + a \text{ for } i = 1, 2, \ldots, N", {"i": 3, "N": 4}),
    (r"f = a^2 + a \text{ for } i, j = 1, \dots, N", {"i": 3, "j": 1, "N": 4}),
    (r"f = a^2 + a \text{ for } i \in \{1, \dots, N\}", {"i": 3, "N": 4}),
    (r"f = a^2 + a \text{ for each } i \in S", {"i": 3, "S": {1, 3}}),
    (r"f = a^2 + a \quad \forall i \in \{1, 3\}", {"i": 3}),
    (r"f = a^2 + a \quad \forall a", {}),
    (r"f = a^2 + a \text{ for all } a, i", {"i": 3}),
    (r"f = a^2 + a \text{ if } i \ne j", {"i": 3, "j": 2}),
    (r"f = a^2 + a \text{ if } A \succeq 0", {"A": np.array([[2.0, 0.3], [0.3, 1.0]])}),
    (r"f = a^2 + a \text{ if } x > 0", {"x": np.array([0.2, 1.3])}),
    (r"f = a^2 + a \text{if $a > 0$}", {}),
    (r"f = a^2 + a \text{ for all } a \in \mathbb R", {}),
    (r"f = a^2 + a \text{ for all } a \in \mathbb{R}_+", {}),
    (
        r"f = a^2 + a \quad \forall x, y \in \mathbb R^n",
        {"x": np.ones(3), "y": np.zeros(3), "n": 3},
    ),
    (r"f = a^2 + a \quad \forall x \in \mathbb R^{2 n + 1}", {"x": np.ones(7), "n": 3}),
    (
        r"f = a^2 + a \quad \forall A \in \mathbb R^{n \times N}",
        {"A": np.ones((3, 2)), "n": 3, "N": 2},
    ),
    (r"f = a^2 + a \text{ for } n \in \mathbb N, \quad b = 2 i", {"n": 3, "i": 1.5, "b": 3.0}),
    (r"f = a^2 + a \text{ for } n \in \mathbb Z", {"n": -3}),
]


@pytest.mark.parametrize(("latex", "more"), HOLDS)
def test_a_condition_that_the_numbers_meet(checked, latex, more):
    record = checked(latex, numbers(**more))
    assert len(record.steps) == (2 if "b" in more else 1)
    assert record.mutants.caught > 0 == record.mutants.survived


BROKEN = [
    (r"f = a^2 + a \text{ if } a < 0", {}, r"a < 0"),
    (r"f = a^2 + a \text{ for } i \le 2 \text{ and } i > 3", {"i": 2}, r"i > 3"),
    (r"f = a^2 + a \text{ for } a \in [3, 4)", {}, "a"),
    (r"f = a^2 + a \text{ for } i = 1, \dots, N", {"i": 5, "N": 4}, r"i"),
    (r"f = a^2 + a \text{ for } i, j = 1, \dots, N", {"i": 1, "j": 0, "N": 4}, "j"),
    (r"f = a^2 + a \text{ for } i = 1, \dots, N", {"i": 1.5, "N": 4}, "i"),
    (r"f = a^2 + a \quad \forall i \in S", {"i": 2, "S": {1, 3}}, "i"),
    (r"f = a^2 + a \text{ if } i \ne j", {"i": 3, "j": 3}, r"i \ne j"),
    (r"f = a^2 + a \text{ if } A \succeq 0", {"A": -np.eye(2)}, r"A \succeq 0"),
    (r"f = a^2 + a \text{ if } x > 0", {"x": np.array([0.2, -1.3])}, "x > 0"),
    (r"f = a^2 + a \text{ for } x \in \mathbb R", {"x": np.ones(3)}, "x"),
    (r"f = a^2 + a \text{ for } x \in \mathbb R^n", {"x": np.ones(3), "n": 2}, "x"),
    (r"f = a^2 + a \text{ for } A \in \mathbb R^{n \times n}", {"A": np.ones((3, 2)), "n": 3}, "A"),
    (r"f = a^2 + a \text{ for } i \in \mathbb R_{>0}", {"i": -1.5}, "i"),
    (r"f = a^2 + a \text{ for } i \in \mathbb N", {"i": 1.5}, "i"),
    (r"f = a^2 + a \text{ for } i \in \mathbb N", {"i": -1}, "i"),
]


@pytest.mark.parametrize(("latex", "more", "place"), BROKEN)
def test_a_condition_that_a_draw_does_not_meet(checked, latex, more, place):
    with pytest.raises(EquationError, match=r"the numbers of draw 1 do not meet") as caught:
        checked(latex, numbers(**more))
    assert latex[slice(*caught.value.span)] == place


def test_one_draw_that_does_not_meet_it_is_enough(checked):
    values = iter([1.5, 0.7, -0.5])

    def varied(stream):
        a = next(values)
        return {"a": a, "f": a**2 + a}

    with pytest.raises(EquationError, match="draw 3 do not meet this condition"):
        checked(r"f = a^2 + a \text{ if } a > 0", varied)


def test_a_definition_has_conditions_too(small_chapter):
    chapter = small_chapter({"eq-a": r"f = 2 a \text{ if } a < 0"})
    with pytest.raises(EquationError, match="draw 1 do not meet"):
        chapter.define("eq-a", {"f": 1.0, "a": 0.5})


REFUSED = [
    (r"f = a^2 + a \text{ if } a > 0 \text{ else } 17", r"\text{ else }"),
    (r"f = a^2 + a \text{ plus a term}", r"\text{ plus a term}"),
    (r"f = a^2 + a \text{ for every likelihood}", r"\text{ for every likelihood}"),
    (r"f = a^2 + a \text{ (noise)}", r"\text{ (noise)}"),
    (r"f = a^2 + a \text{ and not } b = c", r"\text{ and not }"),
    (r"f = a^2 + a \text{ unless } a < 0", r"\text{ unless }"),
    (r"f = a^2 + a \text{ as } n \to \infty", r"\text{ as }"),
    (r"\text{mean:} \quad f = a^2 + a", r"\text{mean:}"),
    (r"f = a^2 \text{ or so}, \quad b = c", r"\text{ or so}"),
    (r"f = a^2 \text{ if } a > 0 \text{ or } b > 0", r"\text{ or }"),
    (r"f = a^2 \text{ if } a", None),
    (r"f = a^2 \text{ if } \text{ } ", None),
    (r"f = a \text{ for all } q", "q"),
    (r"f = a \text{ for } i = 1, \dots, q", "q"),
    (r"\text{if } a > 0", r"\text{if }"),
    (r"\forall a: f = a", r"\forall"),
    (r"f = a \text{ if } a \sim b", None),
]  # fmt: skip


@pytest.mark.parametrize("free", [False, True])
def test_other_words_are_refused(free):
    for latex, place in REFUSED:
        if free and place == "q":
            continue
        with pytest.raises(EquationError) as caught:
            parse(latex, {} if free else NAMES, free=free)
        if place:
            assert latex[slice(*caught.value.span)].strip() == place.strip(), latex


@pytest.mark.parametrize(
    ("latex", "hint"),
    [
        (r"f = a \text{ if } a > 0 \text{ else } 17", "write cases"),
        (r"f = a \text{ plus a term}", "words that are not read"),
        (r"f = a \text{ as } n \to \infty", "check the value at a large"),
        (r"f = a \text{ if } b", "a condition needs a relation"),
        (r"\text{if } a > 0", "behind the statement"),
    ],
)
def test_a_refusal_says_what_to_write(latex, hint):
    with pytest.raises(EquationError, match=hint):
        parse(latex, NAMES)


def test_a_condition_may_stand_before_its_statement():
    before, behind = r"\text{If } a > 0, f = a^2", r"f = a^2 \text{ if } a > 0"
    assert parse(before, NAMES) == parse(behind, NAMES)


def test_a_condition_is_no_step_and_has_no_mutants():
    statement = parse(r"a = b \text{ if } c > 0 \text{ and } n \ge 1, \quad f = x", NAMES)
    assert [step.relation for step in statement.steps] == ["=", "="]
    assert [step.relation for step in statement.conditions] == [">", r"\ge"]


@pytest.mark.parametrize("word", ["where", "with", "and", "so that", "since", "i.e."])
def test_what_follows_such_a_word_is_a_statement(word):
    statement = parse(rf"a = b \quad \text{{{word} }} c > 0", NAMES)
    assert len(statement.steps) == 2
    assert statement.conditions == ()


def test_a_statement_with_conditions_prints_and_parses_back():
    for latex, _ in HOLDS:
        statement = parse(latex, NAMES)
        assert parse(printed(statement), NAMES) == statement, latex


def test_words_before_a_bracket_are_the_name_of_a_function():
    (step,) = parse_free(r"y = \text{softmax}(W x)").steps
    assert step.right == t.Apply(r"\text{softmax}", (t.Product((t.Name("W"), t.Name("x"))),))


def test_words_are_the_name_of_a_bound_function(checked):
    W, x = np.array([[1.0, 0.3], [0.2, -0.4]]), np.array([0.7, -1.1])

    def softmax(z):
        return np.exp(z) / np.exp(z).sum()

    bindings = {"y": softmax(W @ x), r"\text{softmax}": softmax, "W": W, "x": x}
    assert checked(r"y = \text{softmax}(W x)", bindings).residual < 1e-12
    with pytest.raises(EquationError, match=r"unbound symbol `\\text\{softmin\}`"):
        checked(r"y = \text{softmin}(W x)", bindings)


def test_words_where_a_symbol_stands_are_a_symbol_of_a_definition():
    (step,) = parse_free(r"y = \text{signal} + \text{noise}").steps
    assert step.right == t.Sum((t.Name(r"\text{signal}"), t.Name(r"\text{noise}")), (1, 1))


@pytest.mark.parametrize(
    "mark", [r"\overset{?}{=}", r"\overset{d}{=}", r"\stackrel{n \to \infty}{=}"]
)
def test_what_stands_over_a_relation_is_not_dropped(mark):
    with pytest.raises(EquationError, match="stands over"):
        parse(f"a {mark} b", NAMES)
