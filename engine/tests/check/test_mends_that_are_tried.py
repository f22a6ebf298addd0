"""The edits that might mend a small statement are those of `edits.json`, in their order."""

import pytest
from corpus import EDITS, TO_MEND, mends_tried, stored

KNOWN = stored(EDITS)["mends"]


@pytest.mark.parametrize("latex", TO_MEND)
def test_what_is_tried_is_as_before(latex):
    assert mends_tried(latex) == KNOWN[latex]
