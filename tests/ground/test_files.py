"""Files of runs come back whole, and what is none of a run is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.ground import files


def test_arrays_come_back_by_name_and_their_run_is_no_array(tmp_path):
    place = tmp_path / "run.of.two"
    assert files.read(place, "one") == {}
    files.write(str(place), "one", {"a": np.arange(3.0), "run.b": np.asarray([True])})
    found = files.read(str(place), "one")
    assert list(found) == ["a", "run.b"]
    np.testing.assert_array_equal(found["a"], [0.0, 1.0, 2.0])
    assert [path.name for path in tmp_path.iterdir()] == ["run.of.two"]


def test_files_of_other_runs_and_of_none_are_refused(tmp_path):
    place = tmp_path / "run.npz"
    files.write(place, "one", {"a": np.zeros(1)})
    with pytest.raises(ValueError, match=r"file must be of this run, two; .*run\.npz is of one$"):
        files.read(place, "two")
    np.savez(place, a=np.zeros(1))
    with pytest.raises(ValueError, match=r"must be of this run, two; .*run\.npz is of nothing$"):
        files.read(place, "two")
    np.savez(place, run=np.asarray("two"), a=np.asarray([{}], dtype=object))
    with pytest.raises(ValueError, match=r"must be one that a run wrote; .* is not: .*pickle"):
        files.read(place, "two")
    place.write_text("a text", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be one that a run wrote; .*run\.npz is not: "):
        files.read(place, "two")


@pytest.mark.parametrize("wrong", [3, None, b"run.npz"])
def test_what_is_no_path_is_refused(wrong):
    for call in (lambda: files.read(wrong, "one"), lambda: files.write(wrong, "one", {})):
        with pytest.raises(TypeError, match=f"file must be a path; got {type(wrong).__name__}"):
            call()


# NumPy 2.1 leaves its own archive open there, and Python complains when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_file_stays_what_it_was_where_another_is_not_written_to_its_end(tmp_path):
    class Unwritten:
        def __array__(self, *_, **__):
            raise OSError("no space left")

    place = tmp_path / "run.npz"
    files.write(place, "one", {"a": np.ones(2)})
    with pytest.raises(OSError, match="no space left"):
        files.write(place, "one", {"a": Unwritten()})
    np.testing.assert_array_equal(files.read(place, "one")["a"], np.ones(2))
    assert list(tmp_path.iterdir()) == [place]


def test_two_that_write_a_file_at_a_time_do_not_meet(tmp_path):
    """The second is done while the first is under way, and the last one to end stays."""
    place = tmp_path / "run.npz"

    class Meanwhile:
        def __array__(self, *_, **__):
            files.write(place, "one", {"a": np.zeros(3)})
            return np.ones(2)

    files.write(place, "one", {"a": Meanwhile()})
    np.testing.assert_array_equal(files.read(place, "one")["a"], np.ones(2))
    assert list(tmp_path.iterdir()) == [place]
