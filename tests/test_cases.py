"""Many cases in one test: which are tried, and which are said to fail."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cases import each


class Failures(dict[str, BaseException]):
    """What stands for ``subtests``: the failure of each case by its name."""

    @contextmanager
    def test(self, said: str) -> Iterator[None]:
        with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)) as caught:
            yield
        self[said] = caught.value


def test_every_case_that_fails_is_told_by_its_name() -> None:
    tried, failures = [], Failures()

    @each("x", [1, 2, 3, 4], ids=lambda x: f"x is {x}")
    def no_two_and_no_three(x: int) -> None:
        tried.append(x)
        assert x != 2
        if x == 3:
            raise ValueError("three")
        if x == 4:
            pytest.fail("four")

    no_two_and_no_three(failures)
    assert tried == [1, 2, 3, 4]
    assert list(failures) == ["x is 2", "x is 3", "x is 4"]
    assert str(failures["x is 3"]) == "three"


def test_two_above_each_other_try_all_pairs_and_ask_for_the_fixtures_alone() -> None:
    tried, failures = [], Failures()

    @each("word, number", [("a", 1), ("b", 2)])
    @each("kind", [int, float])
    def all_pairs(kind: type, word: str, number: int, rng: str) -> None:
        tried.append((kind, word, number, rng))
        assert (kind, word) != (float, "b")

    assert list(inspect.signature(all_pairs).parameters) == ["subtests", "rng"]
    all_pairs(failures, rng="a fixture")
    assert len(set(tried)) == 4
    assert list(failures) == ["float-b-2"]


def test_what_is_skipped_is_skipped_and_no_cases_are_none() -> None:
    @each("x", [1])
    def skipped(x: int) -> None:
        pytest.skip("no library")

    with pytest.raises(pytest.skip.Exception, match="no library"):
        skipped(Failures())
    with pytest.raises(AssertionError, match="no cases"):
        each("x", [])
