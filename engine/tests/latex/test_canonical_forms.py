"""Each form of the language reads as `readings.json` says, or is refused in those words.

The file holds, for each example of the page about the language and each display of the two lists
of printed ones, its canonical form, or the error with the stretch that it points at. Where a change
of it is meant, ``python engine/tests/data/corpus.py`` writes it anew, and its difference is read.
"""

import pytest
from corpus import EXAMPLES, READINGS, displays, reading, stored

from checked_equations.latex.names import normal
from language_by_example.sections import ALIKE

KNOWN = stored(READINGS)
SPELLINGS = [spelling for section in ALIKE.values() for spelling in section]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.latex)
def test_an_example_reads_as_before(example):
    assert reading(example.latex, example.bindings or {}, example.options) == KNOWN[example.latex]


@pytest.mark.parametrize("start", range(0, len(displays()), 50))
def test_a_printed_display_reads_as_before(start):
    for latex in displays()[start : start + 50]:
        assert reading(latex, {}) == KNOWN[latex]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.written)
def test_another_spelling_is_read_alike(spelling):
    assert normal(spelling.written) == normal(spelling.read)


def test_nothing_is_kept_that_is_not_asked_for():
    assert KNOWN.keys() == {*(one.latex for one in EXAMPLES), *displays()}
