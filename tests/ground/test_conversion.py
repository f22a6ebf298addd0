"""The advice that stands behind an entry of a data frame that is no number."""

from datetime import date

import numpy as np
import pytest

from gpnotes.ground.conversion import _remedy

ADVICE = {
    "1.5": "make numbers of its text",
    "-3e2": "make numbers of its text",
    " 7 ": "make numbers of its text",
    "a": "one-hot encode it",
    "1,5": "one-hot encode it",
    "": "one-hot encode it",
    True: "make it 0 and 1",
    np.False_: "make it 0 and 1",
    None: "fill what is missing",
    date(2020, 1, 1): "date",
    np.datetime64("2020-01-01"): "date",
    1j: "turn it into a number",
}


@pytest.mark.parametrize("value", ADVICE, ids=repr)
def test_each_kind_of_entry_has_its_advice(value):
    assert ADVICE[value] in _remedy(value)
