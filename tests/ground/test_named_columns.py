"""What names columns learns their numbers from a frame, and nothing else is made anew."""

from dataclasses import dataclass, field

import pytest

from gpnotes import GP, RBF, Linear
from gpnotes.ground.named_columns import at_columns

COLUMNS = ("wind", "temp", "time")


@dataclass(frozen=True)
class _Pair:
    parts: tuple[object, ...]
    other: object = None
    twice: int = field(init=False, default=2)


def test_what_names_no_column_comes_back_itself():
    for one in (GP(RBF() + Linear().on(1)), _Pair((1, "temp")), (RBF(), 2.0), RBF, "temp", None):
        assert at_columns(one, COLUMNS) is one


def test_names_are_found_in_any_part_and_what_is_open_stays_open():
    gp = GP(2.0 * RBF().on("temp"), 0.1)
    found = at_columns(_Pair((gp, 3), RBF().on("time", "wind")), COLUMNS)
    assert found.parts[0].kernel.kernel.places == (1,)
    assert found.other.places == (2, 0)
    assert at_columns(gp, COLUMNS).kernel.kernel.kernel._open == RBF()._open


def test_inputs_without_names_leave_the_names_to_be_found():
    kernel = RBF().on("temp")
    assert at_columns(kernel, ()) is kernel


@pytest.mark.parametrize(
    ("columns", "got"), [(COLUMNS, r"\['wind', 'temp', 'time'\]"), (("rain", "rain"), "it twice")]
)
def test_a_column_that_is_not_there_once_is_named_with_what_there_is(columns, got):
    with pytest.raises(ValueError, match=rf"Xs must have a column 'rain', .*on\('rain'\).*{got}"):
        at_columns(GP(RBF().on("rain")), columns, "Xs")
