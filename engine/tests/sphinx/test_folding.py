"""Evidence that belongs to no equation says which section it comes from."""

from __future__ import annotations

from docutils import nodes
from docutils.utils import new_document

from checked_equations.sphinx.book_ledger import Named
from checked_equations.sphinx.directives import EVIDENCE
from checked_equations.sphinx.folding import fold


def test_in_a_solution_which_has_no_title_it_is_the_section_around_it() -> None:
    document = new_document("page")
    section = nodes.section("", nodes.title("", "Exercises"), ids=["exercises"])
    solution = nodes.section("", ids=["solution-content"])
    solution += nodes.container("", nodes.paragraph("", "why"), classes=[EVIDENCE])
    section += solution
    document += section
    folded = fold(document, {}, lambda record: Named())
    assert "#exercises" in folded.rest[0].astext()
    assert not list(document.findall(nodes.container))
