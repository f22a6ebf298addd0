"""A page writes each mutant of small statements as `mutants_to_the_letter.txt` has it."""

import pytest
from mutants_to_the_letter import STATEMENTS, mutants, stored, written

KNOWN = stored()


@pytest.mark.parametrize("latex", STATEMENTS)
def test_a_page_writes_them_so(latex):
    assert [written(latex, edit) for _, edit in mutants(latex)] == KNOWN[latex][1::2]
