"""Groups are whole numbers, and each other kind is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpnotes.assess.calibration import reliability_of_groups


def test_groups_that_are_no_whole_numbers_are_refused():
    y, p = np.asarray([1.0, -1.0, 1.0]), np.asarray([0.2, 0.4, 0.9])
    with pytest.raises(TypeError, match=r"^groups must be whole .*; got .* of float64$"):
        reliability_of_groups(y, p, np.asarray([0.0, 1.0, 1.0]))
    with pytest.raises(TypeError, match=r"^groups must be whole"):
        reliability_of_groups(y, p, np.asarray([False, True, True]))


def test_groups_may_be_a_column():
    y, p, groups = np.asarray([1.0, -1.0, 1.0]), np.asarray([0.2, 0.7, 0.4]), [0, 1, 1]
    wanted = reliability_of_groups(y, p, groups).frequency
    for column in (pd.Series(groups), pl.Series(groups)):
        np.testing.assert_array_equal(reliability_of_groups(y, p, column).frequency, wanted)
