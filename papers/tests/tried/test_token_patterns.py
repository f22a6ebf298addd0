"""Patterns over tokens, what they exchange, and that formulas are read by them alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import checked_papers
from checked_papers.tried.token_patterns import (
    Pattern,
    exchanged,
    function_head,
    is_variable,
    letters_of,
    occurrences,
    pieces_of,
    put_for,
    row_of,
    source,
)

SOURCE = Path(checked_papers.__file__).parent
MANUSCRIPTS = ("sources/", "command.py", "declarations.py", "document_formats.py", "findings.py",
               "surrounding_text.py", "tried_badges.py")  # fmt: skip
MOST = 25  # uses of expressions on the text of a formula


def test_formulas_are_read_by_tokens() -> None:
    use = re.compile(r"\bre\.(?:sub|compile|match|search|findall|finditer|fullmatch|split)\b")
    uses = {
        name: len(use.findall(file.read_text(encoding="utf-8")))
        for file in SOURCE.rglob("*.py")
        if not (name := file.relative_to(SOURCE).as_posix()).startswith(MANUSCRIPTS)
    }
    assert sum(uses.values()) <= MOST, {name: count for name, count in uses.items() if count}


@pytest.mark.parametrize(
    ("latex", "is_one"),
    [
        ("x", True),
        (r"\alpha_{ij}", True),
        (r"\mathbf x_0", True),
        ("x^2", False),
        ("xy", False),
        ("", False),
    ],
)
def test_a_variable_is_one_symbol_with_an_index_or_without(latex: str, is_one: bool) -> None:
    assert is_variable(row_of(latex)) is is_one


@pytest.mark.parametrize("latex", [r"\sum_i x_i", r"\sum_{i} x_i", r"\sum\limits_{i}x_i"])
def test_spellings_that_print_the_same_match_alike(latex: str) -> None:
    bare = Pattern("<sum:sign> _ <group:index> !^", sum={r"\sum"})
    found = bare.first(latex)
    assert found is not None
    assert (found["sign"], found["index"]) == (r"\sum", "i")
    assert bare.first(r"\sum_i^n x_i") is None


def test_what_may_be_missing() -> None:
    signed = Pattern("<symbol:what> \\to ?- <digit:goal>")
    assert [match["goal"] for match in signed.every(r"x \to 0, y \to -1")] == ["0", "1"]
    assert signed.whole(r"x \to -1") is not None
    assert signed.whole(r"x \to -1 + y") is None


def test_the_text_around_stays_as_it_is_written() -> None:
    bars = Pattern("<bar> <group:inside>", bar={r"\bar"})
    latex = r"\left( \bar{ a  b }  \, c \right)"
    assert bars.put(latex, lambda found: f"<{found['inside']}>") == r"\left( <a  b>  \, c \right)"
    assert exchanged("abc", [((0, 2), "x"), ((1, 3), "y")]) == "xc"


@pytest.mark.parametrize(
    ("latex", "key", "wanted"),
    [
        (r"x + 2x", "x", "y + 2y"),
        (r"\bar x + \exp x + \mathrm{max}", "x", r"\bar x + \exp y + \mathrm{max}"),
        (r"\bar{x} + x", "x", r"\bar{x} + y"),
        (r"x_1 + x' + x", "x", "x_1 + x' + y"),
        (r"K_y^{-1} + K_{y}", "K_y", "y^{-1} + y"),
        (r"K^{-1}_y", "K_y", r"K^{-1}_y"),  # another script stands in between
    ],
)
def test_a_symbol_is_exchanged_where_it_stands_alone(latex: str, key: str, wanted: str) -> None:
    assert put_for(latex, key, "y", unless="_'") == wanted


def test_letters_of_words_are_no_symbols() -> None:
    row = row_of(r"\operatorname{tr} a + \alpha r")
    assert list(letters_of(row)) == ["a", "r"]
    assert occurrences(row, "t") == []


@pytest.mark.parametrize("latex", ["f(x, y) = x", r"f\left(x,y\right):=x"])
def test_the_head_of_a_definition(latex: str) -> None:
    found = function_head(row_of(latex))
    assert found is not None
    name, of, end = found
    assert (name, of, source(latex, row_of(latex)[end:])) == ("f", ("x", "y"), "x")
    assert function_head(row_of("f(2) = x")) is None


def test_what_is_amiss_has_pieces_and_no_tokens() -> None:
    assert row_of("a_{b") == ()
    assert [piece.text for piece in pieces_of("a_{b")] == ["a", "_", "{", "b"]
