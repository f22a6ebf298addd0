"""What a computation on a device asks on its way is read at its end; on the host at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import counting

from gpnotes.ground import check, late_reads


@pytest.fixture
def cp() -> Iterator[ModuleType]:
    late_reads._doubt.learn(held=True)  # whatever was in vain before
    with cupy_stand_in.installed() as module:
        yield module


def halved(a: Any, seen: list[bool]) -> Any:
    """Half of a number that is below 2."""
    for trial in late_reads.trials(a):
        with trial:
            seen.append(late_reads.on_trial())
            if not late_reads.expect(lambda: a, 2.0) and float(a) >= 2.0:
                raise ValueError("a is too large")
            half = 0.5 * a
    return half


def test_a_trial_that_holds_is_all_there_is_and_reads_once(cp: ModuleType) -> None:
    a, seen = cp.asarray(1.0), []
    with counting() as counts:
        assert float(halved(a + 0.0, seen)) == 0.5
    assert seen == [True]
    assert counts.crossings == 1


@pytest.mark.parametrize("value", [2.0, math.inf, math.nan])
def test_what_does_not_hold_is_asked_again_in_its_place(cp: ModuleType, value: float) -> None:
    seen: list[bool] = []
    if value >= 2.0:
        with pytest.raises(ValueError, match="too large"):
            halved(cp.asarray(value), seen)
    else:
        assert math.isnan(float(halved(cp.asarray(value), seen)))
    assert seen == [True, False]


def test_the_host_is_asked_at_once() -> None:
    seen: list[bool] = []
    assert halved(np.asarray(1.0), seen) == 0.5
    assert seen == [False]


@pytest.mark.parametrize("holds", [True, False])
def test_an_error_is_real_where_all_is_as_expected(cp: ModuleType, holds: bool) -> None:
    a, seen = cp.asarray(1.0 if holds else 9.0), []

    def compute() -> None:
        for trial in late_reads.trials(a):
            with trial:
                seen.append(late_reads.on_trial())
                if late_reads.expect(lambda: a, 2.0):
                    raise LookupError("of numbers that nothing has looked at")
                raise ArithmeticError("the error in its place")

    with pytest.raises(LookupError if holds else ArithmeticError):
        compute()
    assert seen == ([True] if holds else [True, False])


def test_what_needs_to_ask_ends_a_trial(cp: ModuleType) -> None:
    seen = []
    for trial in late_reads.trials(cp.asarray(1.0)):
        with trial:
            seen.append(late_reads.on_trial())
            late_reads.unforeseen()
            seen.append(late_reads.on_trial())
    assert seen == [True, False, False]


def test_a_trial_within_another_is_a_part_of_it(cp: ModuleType) -> None:
    a = cp.asarray(1.0)
    for trial in late_reads.trials(a):
        with trial:
            inner = list(late_reads.trials(a))
            assert len(inner) == 1
            with inner[0]:
                assert late_reads.on_trial()
    assert not late_reads.on_trial()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_checks_wait_for_the_end_of_a_trial_and_raise_there(cp: ModuleType, bad: float) -> None:
    good, wrong = cp.asarray([[1.0]]), cp.asarray([[1.0], [bad]])

    def compute() -> None:
        for trial in late_reads.trials(good):
            with trial:
                check.matrix(good, "Z")
                check.matrix(wrong, "X")

    with pytest.raises(check.NoValueError, match=r"X must be finite; 1 of .* first in row 1"):
        compute()


def test_trials_in_vain_become_rare_and_are_taken_up_again(cp: ModuleType) -> None:
    def tried(value: float) -> bool:
        seen = []
        for trial in late_reads.trials(cp.asarray(1.0)):
            with trial:
                seen.append(late_reads.on_trial())
                late_reads.expect(lambda: cp.asarray(value), 2.0)
        return seen[0]

    in_vain = [tried(9.0) for _ in range(12)]
    assert in_vain == [True, False, True, False, False, True] + 4 * [False] + [True, False]
    assert [tried(1.0) for _ in range(9)] == 7 * [False] + [True, True]


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("value", [2.0, 1e-300, 0.0, -2.0, math.inf, -math.inf, math.nan])
def test_a_trial_holds_where_the_host_finds_signs_right(
    cp: ModuleType, value: float, zero: bool
) -> None:
    with late_reads.Trial() as trial:
        check.positive(cp.asarray([1.0, value]), "noise_var", zero=zero)
    assert trial.held is (0.0 < value < math.inf or (zero and value == 0.0))


@pytest.mark.parametrize("size", [2.0, 1e140])
def test_squares_that_overflow_are_found_at_the_end_of_a_trial(cp: ModuleType, size: float) -> None:
    a, seen, read = cp.asarray([1.0, size]), [], []

    def compute() -> None:
        for trial in late_reads.trials(a):
            with trial, counting() as counts:
                seen.append(late_reads.on_trial())
                assert check.squarable(a, "a") is a
                read.append(counts.crossings)

    if size == 2.0:
        compute()
        assert (seen, read) == ([True], [0])
    else:
        with pytest.raises(ValueError, match=r"a must be smaller than .* squares overflow"):
            compute()
        assert seen == [True, False]
