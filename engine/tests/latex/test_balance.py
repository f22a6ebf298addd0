"""What is typeset of a mutant is whole: each bracket has its partner, each command its argument."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from run_chapters import chapters

from checked_equations import EquationError
from checked_equations.book import markup
from checked_equations.check.bindings import names_in
from checked_equations.check.mutants import all_mutants
from checked_equations.latex.balance import anchor, balanced, is_balanced
from checked_equations.latex.equation import Equation
from checked_equations.latex.lexer.terminals import lex
from checked_equations.latex.names import Names
from checked_equations.latex.parser import parse, symbols
from checked_equations.latex.printer import to_latex as printed
from checked_equations.latex.tree import Statement, walk

BOOK = Path(__file__).parents[3] / "book"
SLUGS = chapters(BOOK)
PARTNERS = [
    (r"\\left(?![A-Za-z])", r"\\right(?![A-Za-z])"),
    (r"(?<!\\)\{", r"(?<!\\)\}"),
    (r"(?<!left)(?<!right)\\\{", r"(?<!left)(?<!right)\\\}"),
    (r"(?<!\\)[(\[]", r"(?<!\\)[)\]]"),
    (r"\\[bB]igg?l", r"\\[bB]igg?r"),
    (r"\\l[vV]ert", r"\\r[vV]ert"),
    (r"\\begin\{", r"\\end\{"),
]
EMPTY = re.compile(
    r"(?:[_^]|\\(?:math(?:bf|bb|cal|rm)|boldsymbol|operatorname\*?|bar|hat|tilde|text|sqrt"
    r"|[dt]?frac(?:\s*\w|\s*\{[^{}]*\})?|left|right))\s*(?:$|[}&])"
)


def flaws(latex: str) -> list[str]:
    """What MathJax would refuse, or a reader would miss, found apart from the package's own way."""
    found = [f"{opens} {shuts}" for opens, shuts in PARTNERS if _unmatched(latex, opens, shuts)]
    return found + ([f"nothing after {EMPTY.search(latex)[0]}"] if EMPTY.search(latex) else [])


def _unmatched(latex: str, opens: str, shuts: str) -> bool:
    depth = 0
    for mark in re.finditer(f"({opens})|{shuts}", latex):
        depth += 1 if mark[1] else -1
        if depth < 0:
            return True
    return depth > 0


Way = tuple[dict[str, str], bool]


def ways(equation: Equation) -> list[Way]:
    """The ways to read an equation without its bindings: `A (b + c)` is a call, and a product."""
    limit = ["T"] if "}^{T}" in equation.latex else []  # of a sum, and no transpose
    kinds = dict.fromkeys([*symbols(equation.latex), *limit], "value")
    called = {str(w) for w in lex(equation.latex, Names({}), free=True) if w.type == "CALL"}
    functions = {key: "callable" if key in called else "value" for key in kinds}
    apart = [(functions, False)] if called else []  # else the same way twice
    return [({}, True), (kinds, True), (kinds, False), *apart]


def readings(equation: Equation) -> list[tuple[Statement, Way]]:
    """The statements that the equation is, in each way in which it can be read."""
    made = []
    for names, free in ways(equation):
        with suppress(EquationError):
            made.append((parse(equation.latex, names, free=free), (names, free)))
    return made


def shown(equation: Equation, statement: Statement) -> set[str]:
    """All mathematics in the badge of an equation: the steps, the names, and how they then read.

    Every symbol may be taken for every other, which is more than bindings would allow; and
    every part of the equation, not only those that some edit of today names.
    """
    alike = dict.fromkeys(names_in(statement), "alike")
    made = all_mutants(statement, alike, lambda node: balanced(equation.latex, node.span))
    names = [piece for mutant in made for piece in mutant.said.split("$")[1::2]]
    spans = {node.span for _, node in walk(statement) if node.span != (0, 0)}
    parts = [balanced(equation.latex, span) for span in spans]
    return {*names, *parts, *(printed(mutant.after) for mutant in made)}


@pytest.mark.parametrize(
    "slug",
    SLUGS,
)
def test_every_mutant_and_every_step_of_the_book_can_be_typeset(slug: str) -> None:
    """And what the badge shows of a step reads as that step and nothing else."""
    equations = markup.read(BOOK / f"{slug}.md")
    read = {equation: readings(equation) for equation in equations.values()}
    assert sum(map(bool, read.values())) >= 0.8 * len(equations)
    for equation, statements in read.items():
        apart = {statement for statement, _ in statements}  # most read alike in every way
        pieces = set().union(*(shown(equation, statement) for statement in apart))
        assert {piece: flaws(piece) for piece in pieces if flaws(piece)} == {}, equation.label
        assert [piece for piece in pieces if not is_balanced(piece)] == [], equation.label
        for statement, (names, free) in statements:
            for step in statement.steps:
                piece = balanced(equation.latex, step.span)
                assert is_balanced(piece), piece
                # with free letters it is the rest of the equation that says what runs
                assert free or parse(piece, names).steps == (step,), piece


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"a_1(\nu) = p_1^\nu h_1(\nu)", r"a_1(\nu) = p_1^\nu h_1(\nu)"),
        (r"x = K^{-1}_{y}, \quad b = c", r"x = K^{-1}_{y}"),
        (r"x = \sigma^2_n", r"x = \sigma^2_n"),
        (r"x = f_i(x)^2, \quad b = c", r"x = f_i(x)^2"),
        (r"x = {K^{-1}_y}, \quad b = c", r"x = {K^{-1}_y}"),
        (r"x = {a + b}, \quad b = c", r"x = {a + b}"),
        (r"x = \left(a + b\right), \quad b = c", r"x = \left(a + b\right)"),
        (r"x = \textcolor{red}{a}, \quad b = c", r"x = \textcolor{red}{a}"),
    ],
)  # fmt: skip
def test_a_step_keeps_what_was_put_in_order(latex: str, shown: str) -> None:
    kinds = dict.fromkeys(["x", "a", "b", "c", "p", "K_y", r"\sigma_n", r"\nu"], "value")
    kinds |= {"f": "callable", "h": "callable", "a_1": "callable", "i": "value"}
    step = parse(latex, kinds).steps[0]
    assert balanced(latex, step.span) == shown
    assert parse(shown, kinds).steps == (step,)


@pytest.mark.parametrize(
    ("latex", "part", "made"),
    [
        (r"a \left( b + c \right)", r"a \left( b", r"a \left( b + c \right)"),
        (r"\left( a + b \right) c", r"a + b \right) c", r"\left( a + b \right) c"),
        (r"\bigl[ a \bigl( b \bigr) \bigr] c", r"b \bigr) \bigr] c", None),
        (r"((a) + b) c", "b) c", "((a) + b) c"),
        (r"\frac{a}{b c}", "b c", "b c"),
        (r"\sqrt{a} + x_{i j} y", "j} y", r"{i j} y"),
        (r"\left\{ a \right\} b", r"a \right\} b", r"\left\{ a \right\} b"),
        ("[a, b) c", "b) c", "[a, b) c"),
        (r"\left. a \right| b", r"\left. a", r"\left. a \right|"),
        (r"a &= b \\[4pt] &+ c", None, "a = b + c"),
        (r"a &= b \\ &\qquad {}+ c \quad d", None, r"a = b {}+ c \quad d"),
        (r"\begin{cases} a & b \\ c & d \end{cases} e", r"c & d \end{cases} e", None),
    ],
)
def test_a_stretch_is_made_whole(latex: str, part: str | None, made: str | None) -> None:
    start = latex.index(part or latex)
    assert balanced(latex, (start, start + len(part or latex))) == (made or latex)


@pytest.mark.parametrize(
    "latex",
    [r"\mathbf", r"\mathbf {", r"\left( a", r"a \right)", r"\left", "a_", "^2^3", "{a", "a}",
     r"\frac{a}", r"\begin{cases} a", r"a \end{cases}", r"\bigl( a", r"a \rvert", "(a", "a]",
     r"\left( a \right", r"\text{if a", r"{ \left( } \right)"],
)  # fmt: skip
def test_what_is_not_whole_is_known(latex: str) -> None:
    assert not is_balanced(latex)


@pytest.mark.parametrize(
    "latex",
    [r"\mathbf a", r"\left( a \right]", r"\left\{ a \right.", "[0, 1)", r"\lvert a \rvert_2",
     r"\ge", r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", r"\bigl( a \bigr)^{-1}",
     r"\text{if } a", r"\sqrt[3]{a}", r"\frac12 x_{i}'", r"\log \{ a \}", "|a|"],
)  # fmt: skip
def test_what_is_whole_is_known(latex: str) -> None:
    assert is_balanced(latex)
    assert flaws(latex) == []


def test_what_is_put_in_points_at_what_follows_or_at_what_ends() -> None:
    latex = "K_{ij} x"
    letter, both, x = (0, 1), (3, 5), (7, 8)
    places = [letter, both, both, (3, 4), (4, 5), letter, x, x, x]
    assert [anchor(latex, i, i) for i in range(len(latex) + 1)] == places
