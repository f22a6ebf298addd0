"""The edits that might mend a small statement are those of `edits_tried.json`, kind by kind."""

import json

import pytest
from edits_tried import EDITS, TO_MEND, by_kind, mends_tried

KNOWN = json.loads(EDITS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("latex", TO_MEND)
def test_what_is_tried_is_as_before(latex):
    assert by_kind(mends_tried(latex)) == KNOWN[latex]
