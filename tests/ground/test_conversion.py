"""The advice that stands behind an entry of a data frame that is no number."""

from datetime import date

import array_api_strict
import numpy as np
import pandas as pd
import pytest

from gpnotes import EPGP, GP, RBF, condition
from gpnotes.ground.conversion import _remedy, floats, together

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
    assert ADVICE[value] in _remedy(value, "X")


LABELS = [True, False, True]
WORDS = ["sick", "well", "sick"]


def _observed(y):
    """Every kind of table in which labels come."""
    return [y, np.asarray(y), np.asarray(y, dtype=object), pd.Series(y), pd.DataFrame({"seen": y})]


@pytest.mark.parametrize("y", _observed(LABELS), ids=lambda y: type(y).__name__)
def test_booleans_that_are_observed_are_refused_with_the_models_that_take_them(y):
    with pytest.raises(TypeError, match=r"^y must hold real numbers; got .*GPClassifier") as raised:
        together(None, X=np.zeros((3, 1)), y=y)
    for call in ("`numpy.where(y, 1.0, -1.0)` for `EPGP`", "`y.astype(float)` for a regression"):
        assert call in str(raised.value)


@pytest.mark.parametrize("y", _observed(WORDS), ids=lambda y: type(y).__name__)
def test_words_that_are_observed_are_refused_with_the_models_that_take_them(y):
    with pytest.raises(TypeError, match=r"y must hold real numbers; got .*GPClassifier") as raised:
        together(None, X=np.zeros((3, 1)), y=y)
    assert "`numpy.where(y == 'sick', 1.0, -1.0)` for `EPGP`" in str(raised.value)


def test_the_labels_that_the_advice_makes_are_taken():
    X = np.asarray([[0.0], [1.0], [2.0]])
    for y in (np.asarray(LABELS), np.asarray(WORDS) == "sick"):
        assert condition(EPGP(GP(RBF(1.0, 1.0))), X, np.where(y, 1.0, -1.0)).y[1] == -1.0


def test_booleans_of_another_library_are_refused_with_advice_too():
    y = array_api_strict.asarray(LABELS)
    with pytest.raises(TypeError, match=r"y must hold real numbers; got .*GPClassifier"):
        floats(y, "y")
    with pytest.raises(TypeError, match=r"X must hold real numbers; .* by `astype\(float\)`"):
        floats(y, "X")
