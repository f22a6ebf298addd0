"""A page writes mutants of small statements as `mutants_to_the_letter.txt` has them."""

import pytest
from mutants_to_the_letter import STATEMENTS, mutants, stored, written

KNOWN = stored()


@pytest.mark.parametrize("latex", KNOWN)
def test_a_page_writes_them_so(latex):
    assert [written(latex, edit) for _, edit in mutants(latex)] == KNOWN[latex][1::2]


UNWRITTEN = {r"drop cos of $c + d$", r"drop indicator of $b \le c$"}


@pytest.mark.parametrize("latex", STATEMENTS)
def test_what_a_page_marks_can_be_seen_and_goes_with_what_was_put_in(latex):
    for mutant, edit in mutants(latex):
        if edit is None:
            assert mutant.said in UNWRITTEN
            continue
        start, end = edit.shown
        put_in = (edit.start, edit.start + len(edit.text))
        assert put_in[0] <= start <= end <= put_in[1] or (start <= put_in[0] < put_in[1] <= end)
        assert latex[slice(*edit.place)].strip()
        touches = edit.place[0] <= edit.end and edit.place[1] >= edit.start
        assert touches or mutant.said.endswith(("more", "less")), mutant.said  # an end of a range
