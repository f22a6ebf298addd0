"""The mutants of small statements are those that `mutants_to_the_letter.txt` names, in order."""

import pytest
from mutants_to_the_letter import STATEMENTS, mutants, read, stored

KNOWN = stored()


@pytest.mark.parametrize("latex", KNOWN)
def test_the_mutants_are_these(latex):
    assert [read(one) for one, _ in mutants(latex)] == KNOWN[latex][::2]


def test_nothing_else_is_kept():
    assert {*KNOWN} <= {*STATEMENTS}
