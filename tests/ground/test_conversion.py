"""The advice that stands behind an entry of a data frame that is no number."""

from datetime import date

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpnotes import EPGP, GP, RBF, GPClassifier, GPRegressor, condition
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


NUMBERS = [10, 20, 20, 40]


def _categories(ordered):
    """Every kind of column in which pandas has categories that are numbers."""
    held = pd.Categorical(NUMBERS, ordered=ordered)
    frames = [
        pd.DataFrame({"a": held}),
        pd.DataFrame({"b": 1.5, "a": held}),
        pd.DataFrame({0: held}),
    ]
    return [held, pd.CategoricalIndex(held), pd.Series(held), *frames]


@pytest.mark.parametrize("name", ["X", "y", "noise_var"])
@pytest.mark.parametrize("kind", range(6))
def test_numbers_of_categories_without_an_order_are_names_and_refused(name, kind):
    """As amounts they would be as near as their names are, without a word."""
    names = "GPClassifier" if name == "y" else r"gpnotes\.Levels"
    found = "categories in column" if kind > 2 else "categories"
    with pytest.raises(TypeError, match=rf"{name} must hold real numbers; got {found}.*{names}"):
        floats(_categories(False)[kind], name)
    assert np.asarray(floats(_categories(True)[kind], name)).ravel()[-1] == 40.0


def test_estimators_refuse_them_too_but_for_labels():
    X, y = np.arange(4.0)[:, None], pd.Series(NUMBERS, dtype="category")
    model = GPRegressor(optimise=False)
    for rows, seen in ((pd.DataFrame({"a": y}), X[:, 0]), (X, y)):
        with pytest.raises(TypeError, match="got categories"):
            model.fit(rows, seen)
    assert model.fit(X, y.astype(float)).predict(X).shape == (4,)
    ordered = y.cat.as_ordered()
    np.testing.assert_array_equal(
        model.fit(X, ordered).predict(X), model.fit(X, NUMBERS).predict(X)
    )
    assert list(GPClassifier(optimise=False).fit(X, y).classes_) == [10, 20, 40]


NANOSECONDS = 1_700_000_000_000_000_000


def _stamps(stamps):
    """Whole numbers in every kind of table, alone and together with fractions."""
    whole = np.asarray(stamps, dtype=np.int64)
    mixed = {"at": whole, "b": np.full(len(whole), 1.5)}
    return [
        whole[:, None], whole.astype(np.uint64)[:, None], whole[:, None].astype(object),
        [[one] for one in stamps], [[one, 1.5] for one in stamps],
        pd.DataFrame({"at": whole}), pd.DataFrame(mixed), pl.DataFrame({"at": whole}),
        pl.DataFrame(mixed), pd.DataFrame({"at": pd.array(whole, "Int64")}),
        array_api_strict.asarray(whole[:, None]),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", range(11))
def test_whole_numbers_that_floats_would_round_are_refused(kind):
    """Four nanoseconds that follow each other became one."""
    lost = _stamps([NANOSECONDS, NANOSECONDS + 7, NANOSECONDS + 256])
    said = "1 of its whole numbers lose up to 3 digits in .*, the first in row 1, 17000000000000000"
    with pytest.raises(
        ValueError, match=f"X must be near enough to zero; {said}07: .* dates by gpnotes.days"
    ):
        floats(lost[kind], "X")
    # floats of this size are 256 apart, and whole seconds are multiples of 512 nanoseconds
    seconds = floats(_stamps([NANOSECONDS + second * 10**9 for second in range(3)])[kind], "X")
    assert [float(seconds[row, 0]) - NANOSECONDS for row in range(3)] == [0.0, 1e9, 2e9]
    with pytest.raises(ValueError, match="X must be finite in float64"):
        floats([[10**400]], "X")


def test_whole_numbers_are_as_near_as_the_precision_of_what_they_join():
    like, counts = np.zeros(3, np.float32), np.asarray([38_000_001, 5, 2**24 + 1])
    with pytest.raises(
        ValueError, match=r"^X must be near .*lose up to 1 digits in float32, the fir"
    ):
        floats(counts[:, None], "X", like)
    # observations are rounded in float32 as any number is
    np.testing.assert_array_equal(floats(counts, "y", like), counts.astype(np.float32))
    with pytest.raises(ValueError, match=r"^y must be near enough to zero; 3 of"):
        floats(counts + NANOSECONDS + 1, "y", like)


def test_estimators_refuse_them_too():
    X = pd.DataFrame({"at": NANOSECONDS + 7 * np.arange(4), "b": 1.5})
    with pytest.raises(ValueError, match="X must be near enough to zero; 3 of its whole numbers"):
        GPRegressor().fit(X, np.arange(4.0))
    with pytest.raises(ValueError, match="y must be near enough to zero"):
        GPRegressor().fit(X[["b"]], X["at"])
