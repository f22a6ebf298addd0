"""Two hundred slips of the pen, made in the characters of the LaTeX and apart from the mutants.

``slips.json`` holds them, spread over chapters and kinds: in the equation `label` of `chapter`,
`was` reads `reads` instead. Each of them makes the chapter's own check fail: because the numbers
then disagree, or because what it leaves cannot be read with the symbols that are bound.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_chapters

from checked_equations import EquationError
from checked_equations.book import markup
from checked_equations.check.statements import (
    BoundStatement,
    bind_statement,
    check_steps,
    refuse_unused,
)
from checked_equations.latex.equation import Equation

BOOK = Path(__file__).parents[2] / "book"
SLIPS = json.loads(Path(__file__).with_name("slips.json").read_text(encoding="utf-8"))
CHAPTERS = sorted({slip["chapter"] for slip in SLIPS})


def test_every_slip_has_a_place_in_its_equation() -> None:
    """Where a chapter has changed so that one has none, choose another slip there."""
    texts = {slug: markup.read(BOOK / f"{slug}.md") for slug in CHAPTERS}
    assert len(SLIPS) == 200
    homeless = [
        slip
        for slip in SLIPS
        if slip["label"] not in texts[slip["chapter"]]
        or texts[slip["chapter"]][slip["label"]].latex.count(slip["was"]) != 1
    ]
    assert homeless == []


@pytest.mark.parametrize("slug", CHAPTERS)
def test_every_slip_makes_the_check_of_its_chapter_fail(slug: str) -> None:
    import matplotlib.pyplot

    with matplotlib.rc_context():  # the chapter's style is not for the tests that follow
        chapter = run_chapters.run_chapter(BOOK / f"{slug}.md", slug)
    matplotlib.pyplot.close("all")
    checked = list(chapter.checked_statements())
    slips = [slip for slip in SLIPS if slip["chapter"] == slug]
    assert slips
    unnoticed = [slip for slip in slips if not any(noticed(slip, checked))]
    assert unnoticed == []


def noticed(slip: Any, checked: list[tuple[Equation, BoundStatement]]) -> Iterator[bool]:
    """For each check of the equation, whether it fails on the altered text."""
    for equation, bound in checked:
        if equation.label == slip["label"]:
            yield fails(equation, bound, equation.latex.replace(slip["was"], slip["reads"]))


def fails(equation: Equation, bound: BoundStatement, latex: str) -> bool:
    """Whether the text cannot be read on the numbers of the check, or does not hold on them."""
    numbers = [draw.bindings for draw in bound.draws]
    try:
        altered = bind_statement(latex, numbers, bound.allowed, tight=bound.tight)
        refuse_unused(numbers[0], latex, altered.statement)
        check_steps(altered, replace(equation, latex=latex))
    except EquationError:
        return True
    return False
