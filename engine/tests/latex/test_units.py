"""What a page can mark in a formula: whole units, and nothing that would change the rest."""

from __future__ import annotations

import pytest

from checked_equations.latex.balance import anchor, cover, is_argument, pieces, read_units


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"a + b", ["a", "+", "b"]),
        (r"K_{*f} K_y^{-1} \mathbf y", ["K_{*f}", "K_y^{-1}", r"\mathbf y"]),
        (r"\frac12 x'", [r"\frac12", "x'"]),
        (r"\left( a + b \right)^\top c", [r"\left( a + b \right)^\top", "c"]),
        (r"\sum_{i=1}^N x_i", [r"\sum_{i=1}^N", "x_i"]),
        (r"a &= b \\ &\quad - c", ["a", "=", "b", "-", "c"]),
        (r"\begin{bmatrix} a & b \end{bmatrix} = \sqrt[3]{x}",
         [r"\begin{bmatrix} a & b \end{bmatrix}", "=", r"\sqrt[3]{x}"]),
        (r"\operatorname{tr}(A)", [r"\operatorname{tr}", "(", "A", ")"]),
    ],
)  # fmt: skip
def test_the_units_of_a_formula(latex: str, wanted: list[str]) -> None:
    assert [latex[slice(*unit.span)] for unit in read_units(latex).units] == wanted


@pytest.mark.parametrize("latex", [r"a {", r"\frac", r"x_", r"\left( a", r"} b", ""])
def test_broken_latex_ends_as_well(latex: str) -> None:
    assert read_units(latex).span == (0, len(latex))


@pytest.mark.parametrize(
    ("latex", "part", "wanted"),
    [
        (r"a - b c + d", "b c", "b c"),
        (r"K_y^{-1} b", "^{-1} b", "K_y^{-1} b"),  # not from the middle of a unit
        (r"K_y^{-2} b", "-2", "-2"),
        (r"\frac{a + b}{c}", "b", "b"),
        (r"\frac{a + b}{c}", "b}{c", r"\frac{a + b}{c}"),
        (r"x_i^2", "x", "x"),
        (r"a \\ &= b c", r"a \\ &= b", "a"),  # as far as the break
        (r"\left( a + b \right) c", r"\right) c", r"\left( a + b \right) c"),
    ],
)
def test_what_is_marked_can_be_wrapped(latex: str, part: str, wanted: str) -> None:
    start = latex.index(part)
    found = cover(latex, start, start + len(part))
    assert found is not None
    assert latex[slice(*found)] == wanted


@pytest.mark.parametrize(
    ("latex", "part", "wanted"),
    [
        (r"a - b", "-", "-"),
        (r"K_y^{-1} b", "^{-1}", "-1"),
        (r"A^\top b", r"^\top", r"\top"),
        (r"K_{ff} b", "K_{ff}", "K"),
        (r"K_{ff}^{-1} b", "K_{ff}", "K"),
        (r"k(x, z)", ", z", "z"),
        (r"\sqrt{a + b} c", "+", "+"),
    ],
)
def test_an_edit_is_pointed_at_where_it_begins(latex: str, part: str, wanted: str) -> None:
    start = latex.index(part)
    found = anchor(latex, start, start + len(part))
    assert found is not None
    assert latex[slice(*found)] == wanted


def test_what_is_put_in_is_pointed_at_by_what_follows() -> None:
    assert anchor("a + b", 0, 0) == (0, 1)
    assert anchor("a + b", 5, 5) == (4, 5)
    assert anchor("  ", 0, 0) is None


def test_one_digit_is_an_argument() -> None:
    latex = r"\frac12 + 12"
    assert [latex[slice(*g.span)] for g in read_units(latex).units[0].inside] == ["1", "2"]
    assert is_argument(latex, 5)
    assert not is_argument(latex, 10)
    assert latex[slice(*pieces(latex)[-1])] == "12"
