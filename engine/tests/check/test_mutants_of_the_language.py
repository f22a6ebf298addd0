"""The mutants of each form of the language are another statement each, and all are told apart."""

import pytest
from corpus import CONSTRUCTS


@pytest.mark.parametrize("example", CONSTRUCTS, ids=lambda example: example.latex)
def test_the_mutants_of_an_example_are_many_and_none_survives(example):
    mutants = example.record().mutants
    named = [(mutant.edit, mutant.latex) for mutant in mutants.list]
    assert len(named) == len(set(named)) >= mutants.caught > 0
    assert {mutant.outcome for mutant in mutants.list} <= {"caught", "indistinct", "spared"}
