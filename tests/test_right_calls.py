"""The right call of every public function is answered, and the answer is pickled and copied.

A copy has the same numbers to the last bit, and its methods give the same, whatever the original
had worked out before.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from misuse.answers import Call
from misuse.calls import CALLS

COPIES = {"a pickle": lambda one: pickle.loads(pickle.dumps(one)), "a deep copy": copy.deepcopy}
# Records of the engine keep what writes their page, which is a function.
NOT_COPIED = {"check_equation"}
# Models without inducing variables: derivatives, and a number of those to be chosen.
NOT_WORKED_OUT = {
    "log_evidence_and_gradient of a SparseGP through waves",
    "log_evidence_and_gradient of sums",
    "SparseGP of a number",
}


# of the evidence of a fit of six readings
@pytest.mark.filterwarnings("ignore::gpnotes.ground.linalg.RoundingWarning")
@pytest.mark.parametrize("called", CALLS, ids=lambda called: called.called)
def test_it_is_answered_and_a_copy_answers_as_the_original_does(called: Call) -> None:
    answer = called.function(**called.right())
    owner = getattr(called.function, "__self__", None)
    if inspect.ismethod(called.function) and not inspect.isclass(owner):
        copies = {how: make(owner) for how, make in COPIES.items()}
        answer = called.function(**called.right())  # once more, for a stream has gone on
        for how, one in copies.items():
            again = getattr(one, called.function.__name__)(**called.right())
            assert_same(again, answer, how)
    if called.called not in NOT_COPIED:
        for part in kept(answer):
            wanted = () if called.called in NOT_WORKED_OUT else worked_out(part)
            for how, make in COPIES.items():
                one = make(part)
                assert_same(one, part, how)
                if wanted:
                    assert_same(worked_out(one), wanted, how)


def kept(answer: Any) -> Iterator[Any]:
    """The parts of an answer that are no functions, as a pullback is, and no generator."""
    parts = answer if type(answer) is tuple else (answer,)
    return (part for part in parts if not (inspect.isfunction(part) or inspect.isgenerator(part)))


def worked_out(value: Any) -> tuple[Any, ...]:
    """All that it works out when it is first asked for."""
    return tuple(
        getattr(value, name)
        for kind in type(value).__mro__
        for name, member in vars(kind).items()
        if isinstance(member, cached_property)
    )


def assert_same(one: Any, other: Any, how: str) -> None:
    """The numbers of two answers are the same to the last bit."""
    assert type(one) is type(other), how
    found, wanted = list(numbers(one)), list(numbers(other))
    assert len(found) == len(wanted), how
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=how)


def numbers(value: Any, depth: int = 0) -> Iterator[Any]:
    """All numbers and arrays in the fields of an answer, and of these."""
    if isinstance(value, float | int | np.ndarray | np.number):
        yield value
    elif depth < 9:
        for part in parts_of(value):
            yield from numbers(part, depth + 1)


def parts_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple | list):
        return tuple(value)
    if isinstance(value, Mapping):
        return tuple(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, item.name) for item in fields(value))
    return ()
