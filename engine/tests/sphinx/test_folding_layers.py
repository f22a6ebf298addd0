"""Which evidence is at home with which equation."""

from __future__ import annotations

import pytest

from checked_equations.sphinx.folding import Code, Piece, layers_of, names_of, strings_of


def cell(source: str, *labels: str, run: int = 1, apart: bool = False) -> Piece:
    return Piece(run, labels, names_of(source), apart)


HELPER = "def problem(draw):\n    return draw"
CHECK = "def numbers(draw):\n    s = problem(draw)\n    return {'s': s}\n\ncheck(numbers)"


@pytest.mark.parametrize(
    ("source", "defines", "uses"),
    [
        ("x = a + b", ("x",), {"a", "b"}),
        ("def f(x, y=c):\n    z = x + d\n    return lambda q: q + e", ("f",), {"c", "d", "e"}),
        ("import numpy as np\nfrom a.b import c as d, e", ("np", "d", "e"), set()),
        ("class A(B):\n    x = 1\n\ny = A()", ("A", "y"), {"B"}),
        ("b, a = 1, 2\n[a for i in range(n)]", ("b", "a"), {"range", "n"}),
        ("c = {i: a for i in n}, {j for j in n}, [k for k in [m for m in n]]", ("c",), {"a", "n"}),
        ("x = 1\nprint(x);", ("x",), {"print"}),
        ("%matplotlib inline", (), set()),
    ],
)
def test_a_cell_gives_and_takes_names(source: str, defines: tuple[str, ...], uses: set) -> None:
    assert names_of(source) == Code(defines, frozenset(uses))


def test_the_strings_of_a_cell() -> None:
    assert strings_of('chapter.check("eq-a", {"x": 1})') == ["eq-a", "x"]
    assert strings_of("%load me") == []


def test_a_helper_of_one_equation_is_at_home_there() -> None:
    made = layers_of([cell(HELPER, run=1), cell(CHECK, "eq-b", run=2)])
    assert made.homes == ("eq-b", "eq-b")
    assert made.borrowed == {"eq-b": {}}


def test_a_helper_of_several_belongs_to_the_page_and_is_named_by_each() -> None:
    pieces = [cell(HELPER), cell(CHECK, "eq-a"), cell(CHECK, "eq-b", run=2)]
    made = layers_of(pieces)
    assert made.homes == ("", "eq-a", "eq-b")
    assert made.borrowed == {"eq-a": {"problem": 0}, "eq-b": {"problem": 0}}


def test_what_helps_a_shared_helper_is_shared() -> None:
    inner = cell("def noise(draw):\n    return draw")
    outer = cell("def problem(draw):\n    return noise(draw)")
    made = layers_of([inner, outer, cell(CHECK, "eq-a"), cell(CHECK, "eq-b", run=2)])
    assert made.homes == ("", "", "eq-a", "eq-b")
    assert made.borrowed["eq-a"] == {"problem": 1}


def test_a_name_is_taken_from_the_cell_that_gave_it_last() -> None:
    pieces = [cell(HELPER), cell(CHECK, "eq-a"), cell(HELPER, run=2), cell(CHECK, "eq-b", run=3)]
    assert layers_of(pieces).homes == ("eq-a", "eq-a", "eq-b", "eq-b")


def test_a_cell_that_checks_stays_although_others_use_what_it_defines() -> None:
    pieces = [cell(CHECK, "eq-a"), cell("numbers(0)", "eq-b", run=2)]
    made = layers_of(pieces)
    assert made.homes == ("eq-a", "eq-b")
    assert made.borrowed["eq-b"] == {"numbers": 0}


def test_what_nobody_uses_goes_with_the_next_check_of_its_run_or_the_last() -> None:
    pieces = [
        cell("print(1)"), cell("1", "eq-a"), cell("print(2)"), cell("1", "eq-b"),
        cell("print(3)"), cell("print(4)", run=2),
    ]  # fmt: skip
    assert layers_of(pieces).homes == ("eq-a", "eq-a", "eq-b", "eq-b", "eq-b", "")


def test_what_is_apart_has_no_home() -> None:
    pieces = [cell("1", "eq-a"), cell("chapter.ledger()", apart=True)]
    assert layers_of(pieces).homes == ("eq-a", "")


def test_prose_goes_with_the_cell_below_it_and_at_the_end_with_the_one_above() -> None:
    shared = [cell(CHECK, "eq-a", run=2), cell(CHECK, "eq-b", run=3)]
    pieces = [Piece(1), cell(HELPER), Piece(1), *shared, Piece(3), Piece(4), Piece(5, ("eq-a",))]
    homes = ("", "", "", "eq-a", "eq-b", "eq-b", "", "eq-a")
    assert layers_of(pieces).homes == homes


def test_a_cell_that_checks_two_is_at_home_with_the_first_and_the_other_is_told() -> None:
    made = layers_of([cell(HELPER), cell(CHECK, "eq-a", "eq-b"), cell(CHECK, "eq-c", run=2)])
    assert made.homes == ("", "eq-a", "eq-c")
    assert made.elsewhere == {"eq-b": 1}
    assert made.borrowed["eq-b"] == {"problem": 0}
