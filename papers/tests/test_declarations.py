"""What a paper declares of its symbols."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checked_papers.declarations import (
    DeclarationError,
    Declared,
    declared_all,
    declared_in,
)


def told(text: str) -> tuple[dict[str, str], tuple[str, ...], dict[str, str]]:
    found = declared_in(text)
    assert found is not None
    kinds = {key: str(kind) for key, kind in found.kinds.items()}
    return kinds, found.conditions, dict(found.stands_for)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("let A, B be positive definite n×n", {"A": "positive definite n × n"} | {
            "B": "positive definite n × n"}),
        ("Let $A$ be an SPD n x n matrix", {"A": "positive definite n × n"}),
        ("let S be a symmetric matrix of size 3", {"S": "symmetric 3 × 3"}),
        ("let A be a real m \\times n matrix", {"A": "matrix m × n"}),
        ("let A be nxn", {"A": "matrix n × n"}),
        ("let U be orthogonal n×n", {"U": "orthogonal n × n"}),
        ("let A be invertible n×n", {"A": "matrix n × n"}),
        ("let x, y be vectors of length n", {"x": "vector n", "y": "vector n"}),
        ("let \\mathbf x be a vector n", {"\\mathbf x": "vector n"}),
        ("let p be a probability vector of length 4", {"p": "probability vector 4"}),
        ("let n and m be whole numbers", {"n": "whole", "m": "whole"}),
        ("let σ be positive; z is complex", {"\\sigma": "positive", "z": "complex"}),
        ("let x in R^n; A in R^{m×n}", {"x": "vector n", "A": "matrix m × n"}),
        ("let x \\in \\mathbb{R}^n, n \\in \\mathbb N", {"x": "vector n"}),
        ("let a ∈ ℝ; k ∈ ℕ; z in C", {"a": "real", "k": "natural", "z": "complex"}),
        ("let t in R_+", {"t": "positive"}),
        ("let f(x) = \\exp(-x^2)", {"f": "the function of x that is \\exp(-x^2)"}),
    ],
)  # fmt: skip
def test_kinds(text: str, kinds: dict[str, str]) -> None:
    if ", n \\in" in text:
        with pytest.raises(DeclarationError, match="no kind and no size"):
            told(text)  # clauses are parted by semicolons
    else:
        assert told(text)[0] == kinds


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("let λ > 0", ("\\lambda > 0",)),
        ("let 0 < x < 1; x ≠ y", ("0 < x < 1", "x \\ne y")),
        ("let a, b > 0; c ≤ a < 1", ("a > 0", "b > 0", "c \\le a < 1")),
        ("let p in (0, 1)", ("p > 0", "p < 1")),
        ("let t in [0, \\infty)", ("t \\ge 0",)),
        ("let n = 0, 1, 2, \\dots", ("n = 0, 1, 2, \\dots",)),
    ],
)
def test_conditions(text: str, conditions: tuple[str, ...]) -> None:
    assert told(text)[1] == conditions


def test_what_a_symbol_stands_for() -> None:
    assert told("let K_y = K + σ² I")[2] == {"K_y": "K + \\sigma^2 I"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("let A be blue", "`blue` is no kind and no size"),
        ("let A be symmetric m×n", "is no kind: write `symmetric n×n`"),
        ("let A be complex n×n", "is no kind"),
        ("let x in Q", "`Q` is no set that is known"),
        ("let the matrix A be symmetric n×n", "must be symbols with commas between them"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        declared_in(text)


@pytest.mark.parametrize(
    "text", ["let it go", "we let A be symmetric n×n", "TODO", "lettuce be green", ""]
)
def test_other_comments_declare_nothing(text: str) -> None:
    assert declared_in(text) is None


def test_what_is_newer_counts() -> None:
    known = declared_all(["let a be whole; b = 2 a", "b be real", "a > 0"])
    assert {key: kind.name for key, kind in known.kinds.items()} == {"a": "whole", "b": "real"}
    assert (known.stands_for, known.conditions) == ({}, ("a > 0",))
    assert Declared().and_then(known) == known


PAGE = Path(__file__).parents[2] / "book" / "api" / "verdicts.md"


def test_the_page_shows_what_can_be_declared() -> None:
    rows = re.findall(r"^\| (`.+?) \| .* \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    clauses = [one for row in rows for one in re.findall(r"`([^`]+)`", row)]
    assert len(clauses) >= 10
    for clause in clauses:
        declared_all([clause])
