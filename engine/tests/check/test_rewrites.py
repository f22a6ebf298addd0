"""The text of a mutant says what was evaluated: it is read again, and gives the same tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checked_equations import Nodes
from checked_equations.check import rewrites
from checked_equations.check.bindings import name_kinds, normalised, swap_groups
from checked_equations.check.mutants import Mutant, all_mutants
from checked_equations.check.rewrites import Rewrite, rewrite
from checked_equations.latex.balance import balanced
from checked_equations.latex.parser import parse

MATRIX = np.diag([2.0, 3.0])
SCALARS = dict.fromkeys("abcdxyz", 1.5)
MATRICES = dict.fromkeys(["A", "B", "K_y", "K_{ff}"], MATRIX) | {r"\mathbf y": np.ones(2)}
DENSITIES = dict.fromkeys("pq", lambda z: z) | {"z": Nodes(np.arange(3.0), np.ones(3))}


def rewritten(latex: str, bound: dict[str, Any]) -> dict[str, tuple[Mutant, Rewrite | None]]:
    """By its name each mutant, and how the text says it."""
    numbers = normalised({k: v for k, v in bound.items() if k in latex})
    kinds = name_kinds(numbers)
    statement = parse(latex, kinds)
    mutants = all_mutants(statement, swap_groups(numbers), lambda n: balanced(latex, n.span))
    return {m.edit: (m, rewrite(latex, statement, m, kinds)) for m in mutants}


EXAMPLES = [
    ("a = b - c", SCALARS),
    ("a = -b + c d", SCALARS),
    ("-b + c = a", SCALARS),
    (r"a = 2 \left( b + c \right) d", SCALARS),
    (r"a &= b c \\ &\quad - \frac{1}{2} d \\ &= c^2", SCALARS),
    (r"a = \sqrt{b + c} \, d", SCALARS),
    (r"a \le b + c", SCALARS),
    (r"a = \log(b + c) \exp\left( -\frac12 d^2 \right)", SCALARS),
    (r"\mathbf y^\top K_y^{-1} \mathbf y = a", MATRICES | SCALARS),
    (r"A = \left( K_y^{-1} + K_{ff} \right)^{-\top} B", MATRICES),
    (r"a = \log \lvert A \rvert - \operatorname{tr}(A B)", MATRICES | SCALARS),
    (r"a = \sum_{i=1}^{n} (x_i - b)^2", SCALARS | {"x": np.arange(3.0), "n": 3}),
    (r"A = \begin{bmatrix} a & b \\ c & -d \end{bmatrix}", MATRICES | SCALARS),
    (r"k(x, y) = a k(y, x)^2", SCALARS | {"k": lambda s, t: s + 2 * t}),
    (r"a = \mathbb E_z[z^2 + b]", SCALARS | {"z": Nodes(np.arange(3.0), np.ones(3) / 3)}),
    (r"A = B \odot K_y", MATRICES),
    (r"a = b / c + d^{b - 1}", SCALARS),
    (r"a = \int p(z) q(z) \, \mathrm d z", SCALARS | DENSITIES),
]


@pytest.mark.parametrize(("latex", "bound"), EXAMPLES)
def test_every_mutant_has_a_text_that_says_it(latex: str, bound: dict[str, Any]) -> None:
    found = rewritten(latex, bound)
    assert len(found) >= 3
    assert [name for name, (_, edit) in found.items() if edit is None] == []


@pytest.mark.parametrize(("latex", "bound"), EXAMPLES)
def test_no_two_mutants_of_a_tree_read_alike(latex: str, bound: dict[str, Any]) -> None:
    """Nor does one read as the equation does."""
    texts = [edit(latex) for _, edit in rewritten(latex, bound).values() if edit]
    trees = {str(m.steps) for m, _ in rewritten(latex, bound).values()}
    assert latex not in texts
    assert len(set(texts)) >= len(trees) - 1


@pytest.mark.parametrize(
    ("latex", "edit", "wanted"),
    [
        ("a = b - c", "flip the sign of c", "a = b + c"),
        ("a = b - c", "flip the sign of b", "a = -b - c"),
        ("a = -b + c d", "flip the sign of b", "a = b + c d"),
        ("a = b + c - d", "drop the term b", "a =   c - d"),
        ("a = b + c - d", "drop the term c", "a = b  - d"),
        (r"a = b \cdot c + d", "drop the factor b", "a = c + d"),
        (r"a = \left( b + c \right)^2", "drop the square of b + c", r"a = \left( b + c \right)"),
        (r"a = \sqrt{b + c} d", "drop the root of b + c", r"a = \left( b + c \right) d"),
        (r"a &= b \\ &\quad - c", "flip the sign of c", r"a &= b \\ &\quad + c"),
        (r"a \le b", r"\ge for \le", r"a \ge b"),
        (r"a = b \sin(c \cdot d)", "drop the factor b", r"a = \sin(c \cdot d)"),
        (r"a = \sin(c \cdot d) b", "drop the factor b", r"a = \sin(c \cdot d)"),
    ],
)
def test_as_much_as_can_stays_as_it_is_written(latex: str, edit: str, wanted: str) -> None:
    _, found = rewritten(latex, SCALARS)[edit]
    assert found is not None
    assert found(latex) == wanted


@pytest.mark.parametrize(
    ("edit", "place", "shown"),
    [
        ("drop the inverse of K_y", "-1", ""),
        (r"K_{ff} for K_y", "K", "K_{ff}"),
        (r"drop the factor K_y^{-1}", "K", ""),
        (r"flip the sign of a", "-", "+"),
    ],
)
def test_a_page_is_told_where_to_point(edit: str, place: str, shown: str) -> None:
    latex = r"b = \mathbf y^\top K_y^{-1} K_{ff} \mathbf y - a"
    _, found = rewritten(latex, MATRICES | SCALARS)[edit]
    assert found is not None
    assert latex[slice(*found.place)] == place
    assert found(latex)[slice(*found.shown)] == shown


def test_a_symbol_as_an_argument_keeps_its_braces() -> None:
    latex = r"a = b^c + \frac cd"
    bound = {"a": 1.5, "b": 1.5, "c": 1.5, "d": 1.5, r"\mathbf c": 1.5}
    found = rewritten(latex + r" + \mathbf c", bound)
    texts = [
        edit(latex) for name, (_, edit) in found.items() if edit and r"\mathbf c for c" in name
    ]
    assert texts == [r"a = b^{\mathbf c} + \frac cd", r"a = b^c + \frac {\mathbf c}d"]


@pytest.mark.parametrize("latex", ["a = b c + d", r"a \le b + c"])
def test_what_is_not_read_as_the_mutant_is_not_shown(
    latex: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every kind: a symbol for another and a relation for another are read again as well."""
    other = parse("x = y", name_kinds(SCALARS))
    monkeypatch.setattr(rewrites, "parse", lambda *given, **options: other, raising=False)
    monkeypatch.setattr(rewrites, "parse_expression", lambda *given, **options: other.steps[0].left)
    found = rewritten(latex, SCALARS)
    assert [name for name, (_, edit) in found.items() if edit is not None] == []
