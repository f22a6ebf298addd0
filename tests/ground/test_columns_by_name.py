"""Tables become arrays of floats, however an argument is given."""

import numpy as np
import pytest

from gpnotes.ground.conversion import takes


@takes("X", "y", "weights")
def _given(X, y="none", *, weights="none"):
    return X, y, weights


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (([[1, 2], [3, 4]], [5, 6]), {}),
        (([[1, 2], [3, 4]],), {"y": [5, 6]}),
        ((), {"y": [5, 6], "X": [[1, 2], [3, 4]]}),
    ],
    ids=["places", "one name", "names"],
)
def test_lists_become_arrays_by_place_and_by_name(args, named):
    X, y, weights = _given(*args, **named)
    for array, wanted in ((X, [[1.0, 2.0], [3.0, 4.0]]), (y, [5.0, 6.0])):
        assert isinstance(array, np.ndarray)
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, wanted)
    assert weights == "none"  # what is not given keeps its default


def test_a_table_becomes_like_the_array_that_is_there_already():
    X, y, weights = _given(np.ones((2, 1), np.float32), [5, 6], weights=[1, 2])
    assert X.dtype == y.dtype == weights.dtype == np.float32
    np.testing.assert_array_equal(weights, [1.0, 2.0])
