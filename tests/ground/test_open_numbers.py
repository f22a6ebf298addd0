"""Numbers that nobody chose are told from equal ones that somebody did."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace

from gpnotes.ground.open_numbers import Open, is_open, kept_open


@dataclass(frozen=True)
class Held:
    a: float = 1.5
    b: float = Open(2.5)
    _open: tuple[str, ...] = field(default=("b",), repr=False)

    def __post_init__(self):
        if type(self.b) is Open:
            object.__setattr__(self, "b", kept_open(self.b))


class Own:
    number = Open(1.0)

    def __setstate__(self, state):
        self.__dict__.update(state, mine=True)


def test_a_number_is_open_until_somebody_chooses_it():
    number = kept_open(Open(0.25))
    assert type(number) is float
    assert number == 0.25
    assert is_open(number)
    assert is_open(Open(0.25))
    assert kept_open(float("0.25")) is number
    assert [is_open(other) for other in (float("0.25"), float("0.125"), 0, "0.25", None)] == [0] * 5


def test_what_is_replaced_copied_and_pickled_stays_open():
    held = Held()
    assert (is_open(held.a), is_open(held.b)) == (False, True)
    for other in (replace(held, a=3.0), copy.copy(held), pickle.loads(pickle.dumps(held))):
        assert (other.b, is_open(other.a), is_open(other.b)) == (2.5, False, True)
    assert not is_open(pickle.loads(pickle.dumps(replace(held, b=2.5, _open=()))).b)


def test_a_class_keeps_its_own_way_out_of_a_pickle():
    own = Own()
    own.__dict__["a"] = 1
    assert vars(pickle.loads(pickle.dumps(own))) == {"a": 1, "mine": True}
