"""The forms of the language read as `readings.json` says, or are refused in those words.

The file holds, for a few examples of the page about the language and displays of the two lists of
printed ones, the canonical form, or the error with the stretch that it points at. Where a change of
it is meant, ``python engine/tests/data/corpus.py`` writes it anew, and its difference is read.
"""

import pytest
from corpus import EXAMPLES, READINGS, displays, reading_of, stored

from checked_equations.latex.names import normal
from language_by_example.sections import ALIKE

KNOWN = stored(READINGS)
SPELLINGS = [spelling for section in ALIKE.values() for spelling in section]


@pytest.mark.parametrize("latex", KNOWN)
def test_it_reads_as_before(latex):
    assert reading_of(latex) == KNOWN[latex]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.written)
def test_another_spelling_is_read_alike(spelling):
    assert normal(spelling.written) == normal(spelling.read)


def test_nothing_is_kept_that_is_not_asked_for():
    assert KNOWN.keys() <= {*(one.latex for one in EXAMPLES), *displays()}
