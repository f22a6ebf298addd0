"""Words of frames as codes: the same code each time, and no word that was not there before."""

import numpy as np
import pandas as pd
import pytest

import gpnotes
from gpnotes import GP, RBF, Hamming, Levels, condition, fit

CARS = pd.DataFrame({
    "origin": ["usa", "japan", "usa", "europe"], "tons": [1.8, 0.9, 1.4, 1.1],
    "wheels": [4, 4, 4, 4], "new": [True, False, True, True],
})  # fmt: skip
CODED = [[2.0, 1.8, 4.0, 1.0], [1.0, 0.9, 4.0, 0.0], [2.0, 1.4, 4.0, 1.0], [0.0, 1.1, 4.0, 1.0]]


def test_words_and_truths_have_codes_by_their_order_and_numbers_stay():
    levels = Levels.of(CARS)
    assert levels.known == (("europe", "japan", "usa"), (), (), (False, True))
    assert (levels.words, levels.numbers) == ((0, 3), (1, 2))
    assert np.array_equal(levels.codes(CARS), CODED)


def test_of_another_frame_columns_are_matched_by_name():
    levels = Levels.of(CARS)
    other = CARS[["new", "wheels", "origin", "tons"]].assign(more=1).iloc[[1]]
    assert np.array_equal(levels.codes(other), CODED[1:2])
    with pytest.raises(ValueError, match="frame must have a column 'tons'"):
        levels.codes(CARS.drop(columns="tons"))


def test_categories_of_pandas_keep_their_order_and_those_that_do_not_occur():
    frame = pd.DataFrame({"size": pd.Categorical(["S", "L"], ["S", "M", "L"])})
    levels = Levels.of(frame)
    assert levels.known == (("S", "M", "L"),)
    assert levels.codes(frame).tolist() == [[0.0], [2.0]]
    assert levels.codes(pd.DataFrame({"size": ["M"]})).tolist() == [[1.0]]


def test_polars_is_read_alike():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(CARS.to_dict("list"))
    assert Levels.of(frame) == Levels.of(CARS)
    assert np.array_equal(Levels.of(CARS).codes(frame), CODED)


def test_as_a_frame_codes_keep_the_names_of_their_columns_and_the_labels_of_rows():
    levels, labelled = Levels.of(CARS), CARS.set_axis(["w", "x", "y", "z"])
    coded = levels.frame(labelled[["new", "wheels", "tons", "origin"]])
    pd.testing.assert_frame_equal(
        coded, pd.DataFrame(CODED, columns=list(CARS), index=labelled.index)
    )
    kernel = RBF().on("tons") * Hamming().on("origin")
    by_number = RBF().on(*levels.numbers[:1]) * Hamming().on(*levels.words[:1])
    posterior = condition(GP(kernel, 0.1), coded, labelled["tons"])
    same = condition(GP(by_number, 0.1), np.asarray(CODED), CARS["tons"])
    np.testing.assert_array_equal(posterior.mean(coded[["origin", "new", "tons", "wheels"]]),
                                  same.mean(np.asarray(CODED)))  # fmt: skip
    polars = pytest.importorskip("polars")
    frame = levels.frame(polars.DataFrame(CARS.to_dict("list")))
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == list(CARS)
    np.testing.assert_array_equal(frame.to_numpy(), CODED)


def test_a_level_that_was_not_there_is_named():
    said = r"\['europe', 'japan', 'usa'\] in column 'origin'; got 'mars' in row 1"
    with pytest.raises(ValueError, match=said):
        Levels.of(CARS).codes(CARS.assign(origin=["usa", "mars", "usa", "usa"]))


def test_what_is_missing_is_refused():
    gap = CARS.assign(origin=["usa", None, "usa", "usa"])
    with pytest.raises(TypeError, match="one kind of value in column 'origin'"):
        Levels.of(gap)
    with pytest.raises(ValueError, match="in column 'origin'; got"):
        Levels.of(CARS).codes(gap)
    with pytest.raises(ValueError, match=r"frame must be finite.*column 'tons'"):
        Levels.of(CARS).codes(CARS.assign(tons=[1.0, np.nan, 1.0, 1.0]))
    for what in (CARS.to_numpy(), [[1.0]], None):
        for verb in (Levels.of, Levels.of(CARS).codes):
            with pytest.raises(TypeError, match="frame must have columns with names"):
                verb(what)
    with pytest.raises(ValueError, match="frame must have each column once"):
        Levels.of(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_words_are_never_taken_for_numbers_unasked():
    with pytest.raises(TypeError, match=r"'usa' in column 'origin'.*gpnotes\.Levels.*Hamming"):
        condition(GP(RBF(), 0.1), CARS[["tons", "origin"]], CARS["tons"])


def test_it_is_saved_beside_the_fit_of_its_codes(tmp_path):
    levels = Levels.of(CARS)
    kernel = RBF().on(*levels.numbers) * Hamming().on(*levels.words)
    found = fit(GP(kernel, 0.1), levels.codes(CARS), CARS["tons"], max_steps=3)
    gpnotes.save(levels, tmp_path / "levels.gp")
    gpnotes.save(found, tmp_path / "cars.gp")
    again = gpnotes.load(tmp_path / "levels.gp")
    assert again == levels
    loaded = gpnotes.load(tmp_path / "cars.gp").posterior
    assert np.array_equal(loaded.mean(again.codes(CARS)), found.posterior.mean(levels.codes(CARS)))


def test_the_order_of_many_words_is_that_of_their_letters_whatever_a_set_makes_of_them():
    words = [f"{letter}{number}" for letter in "gcaehbfd" for number in (3, 1, 2)]
    assert Levels.of(pd.DataFrame({"seat": words})).known == (tuple(sorted(words)),)
