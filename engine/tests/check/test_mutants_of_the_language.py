"""Each mutant of each form of the language is made, named and judged as `edits.json` says."""

import pytest
from corpus import CONSTRUCTS, EDITS, mutants_made, stored

KNOWN = stored(EDITS)["mutants"]


@pytest.mark.parametrize("example", CONSTRUCTS, ids=lambda example: example.latex)
def test_the_mutants_of_an_example_are_as_before(example):
    assert mutants_made(example) == KNOWN[example.latex]


def test_nothing_is_kept_that_is_not_asked_for():
    assert list(KNOWN) == [example.latex for example in CONSTRUCTS]
