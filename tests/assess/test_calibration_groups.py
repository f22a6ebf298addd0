"""Groups are whole numbers, and each other kind is refused."""

import numpy as np
import pytest

from gpnotes.assess.calibration import reliability_of_groups


def test_groups_that_are_no_whole_numbers_are_refused():
    y, p = np.asarray([1.0, -1.0, 1.0]), np.asarray([0.2, 0.4, 0.9])
    with pytest.raises(TypeError, match=r"^groups must be whole .*; got .* of float64$"):
        reliability_of_groups(y, p, np.asarray([0.0, 1.0, 1.0]))
    with pytest.raises(TypeError, match=r"^groups must be whole"):
        reliability_of_groups(y, p, np.asarray([False, True, True]))
