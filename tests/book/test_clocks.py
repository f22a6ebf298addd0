"""Nothing that a chapter prints or pastes was read from a clock: it would differ the next day.

Seconds belong into figures, which nobody compares; a power fitted to seconds is one of them.
"""

from __future__ import annotations

import ast

import pytest
from claim_words import BOOK, chapters

from checked_equations.book.execution import cells

SAYS = {"print", "glue"}
OF_CLOCKS = {"time.process_time", "time.perf_counter", "timeit.repeat", "timeit.timeit"}
WORDS = [name.partition(".")[2] for name in OF_CLOCKS]  # of which a cell has one, if it reads one


def told_by_a_clock(code: str) -> list[str]:
    """What a cell prints or pastes that hangs, in this cell, on the reading of a clock."""
    if not any(word in code for word in WORDS):
        return []
    tree = ast.parse(code)
    late: set[str] = {"perf_counter"}
    for _ in tree.body:  # a name may be used above the line that makes another late
        for statement in tree.body:
            if _reads(statement, late):
                late |= _named(statement)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    said = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in SAYS]
    return [ast.unparse(call) for call in said if _reads(call, late)]


def _reads(node: ast.AST, late: set[str]) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    found = list(ast.walk(node))
    clocks = {ast.unparse(one) for one in found if isinstance(one, ast.Attribute)}
    return bool(clocks & OF_CLOCKS or {n.id for n in found if isinstance(n, ast.Name)} & late)


def _named(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize("slug", [*chapters(), "which-approximation"])
def test_no_cell_says_what_a_clock_said(slug: str) -> None:
    found = [told_by_a_clock(cell.code) for cell in cells(BOOK / f"{slug}.md")]
    assert [one for some in found for one in some] == []


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("s = time.process_time()\nprint(s)", 1),
        ("def seconds(N):\n    return timeit.repeat(f)\nglue('x', f'{seconds(3):.0f}')", 1),
        ("ax.plot(timeit.repeat(f))\nprint(3)", 0),
        ("from time import perf_counter\nprint(f'{perf_counter() - a}')", 1),
    ],
)
def test_a_clock_is_found(code: str, count: int) -> None:
    assert len(told_by_a_clock(code)) == count
