"""Each mutant is written into the text of its equation as `edits.json` says."""

import pytest
from corpus import EDITS, REWRITTEN, rewritten, stored

KNOWN = stored(EDITS)["rewritten"]


@pytest.mark.parametrize("example", REWRITTEN, ids=lambda example: example.latex)
def test_the_texts_of_the_mutants_are_as_before(example):
    assert rewritten(example) == KNOWN[example.latex]
