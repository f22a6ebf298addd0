"""Sums over chunks: any map, any order, and whatever fails has a number."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from gpnotes.ground.chunks import ChunkError, Rows, add_up, repeatable


def work(X, y):
    if not np.all(np.isfinite(y)):
        raise ValueError("y must be finite")
    return np.append(X.sum(axis=0), y.sum())


def fetch(chunk):
    return chunk


@pytest.fixture
def chunks(rng):
    return [(rng.normal(size=(n, 2)), rng.normal(size=n)) for n in (3, 1, 4, 2)]


def whole(chunks):
    return work(np.concatenate([X for X, _ in chunks]), np.concatenate([y for _, y in chunks]))


def backwards(function, iterable):
    return [function(one) for one in reversed(list(iterable))]


@pytest.mark.parametrize("mapper", [map, backwards], ids=["builtin", "backwards"])
def test_the_sum_over_chunks_is_that_over_all_rows(chunks, mapper):
    np.testing.assert_allclose(add_up(work, chunks, mapper), whole(chunks), rtol=1e-12)


def test_threads_and_functions_that_fetch_give_the_same(chunks):
    later = [partial(fetch, chunk) for chunk in chunks]
    with ThreadPoolExecutor(2) as pool:
        found = add_up(work, later, pool.map)
    np.testing.assert_allclose(found, whole(chunks), rtol=1e-12)


def test_chunks_are_fetched_one_at_a_time(chunks):
    alive = []

    def one_by_one():
        for chunk in chunks:
            alive.append(len(alive))
            yield chunk

    given = []

    def watched(X, y):
        given.append(len(alive))
        return work(X, y)

    add_up(watched, one_by_one())
    assert given == [1, 2, 3, 4]


def test_a_chunk_that_fails_is_named_with_what_went_wrong(chunks):
    chunks[2][1][0] = np.nan
    with pytest.raises(ChunkError, match="chunk 2 of chunks failed: ValueError: y must") as caught:
        add_up(work, chunks)
    assert caught.value.number == 2
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_chunk_that_cannot_be_had_is_named(chunks):
    def broken():
        yield from chunks[:2]
        raise OSError("no such file")

    with pytest.raises(ChunkError, match="chunk 2 of chunks failed: OSError: no such file"):
        add_up(work, broken())


@pytest.mark.parametrize("wrong", [None, (1, 2, 3), np.ones((2, 2)), "xy"])
def test_what_is_no_pair_is_refused_with_its_number(chunks, wrong):
    with pytest.raises(ChunkError, match=r"chunk 1 of chunks failed: TypeError: it must be a pair"):
        add_up(work, [chunks[0], wrong])


def test_a_map_that_drops_a_chunk_is_found_out(chunks):
    def careless(function, iterable):
        return [function(one) for one in list(iterable) if one[0] != 1]

    with pytest.raises(ChunkError, match="chunk 1 of chunks failed: map gave no answer"):
        add_up(work, chunks, careless)


def test_a_map_that_stops_early_is_found_out(chunks):
    """It never asked for the second: what was not asked for has no answer either."""

    def tired(function, iterable):
        return map(function, itertools.islice(iterable, 1))

    with pytest.raises(ChunkError, match="chunk 1 of chunks failed: map gave no answer"):
        add_up(work, chunks, tired)
    with pytest.raises(ChunkError, match="chunk 0 of chunks failed: map gave no answer"):
        add_up(work, chunks, lambda function, iterable: [])


def test_a_map_that_answers_twice_is_found_out(chunks):
    def eager(function, iterable):
        return [function(one) for one in list(iterable) for _ in range(2)]

    with pytest.raises(ChunkError, match="chunk 0 of chunks failed: map answered twice"):
        add_up(work, chunks, eager)


def test_a_map_that_tries_again_loses_nothing(chunks):
    tries = []

    def unsteady(X, y):
        tries.append(1)
        if len(tries) == 2:
            raise OSError("a worker was lost")
        return work(X, y)

    def again(function, iterable):
        for one in iterable:
            try:
                yield function(one)
            except ChunkError:
                yield function(one)

    np.testing.assert_allclose(add_up(unsteady, chunks, again), whole(chunks), rtol=1e-12)
    assert len(tries) == 5


def test_the_error_comes_whole_from_another_process():
    error = pickle.loads(pickle.dumps(ChunkError(3, "no rows")))
    assert (error.number, str(error)) == (3, "chunk 3 of chunks failed: no rows")


@pytest.mark.parametrize("given", [None, 3, [3], [None], [(1, 2, 3)]])
def test_a_map_that_gives_something_else_is_named(chunks, given):
    with pytest.raises(TypeError, match=r"map must return .* its function returned; got"):
        add_up(work, chunks, lambda function, iterable: given)


def test_no_chunks_and_no_iterable_are_refused():
    with pytest.raises(ValueError, match="chunks must hold at least one pair"):
        add_up(work, [])
    with pytest.raises(TypeError, match="chunks must be an iterable of pairs"):
        add_up(work, 3)
    with pytest.raises(TypeError, match="map must be a function"):
        add_up(work, [], None)


def test_what_can_be_had_once_is_told_from_a_list(chunks):
    assert repeatable(chunks) is chunks
    with pytest.raises(TypeError, match="gone through twice; got generator"):
        repeatable(chunk for chunk in chunks)


@pytest.mark.parametrize("lazy", [False, True], ids=["pairs", "fetched"])
def test_a_chunk_without_rows_adds_nothing(lazy):
    empty = (np.zeros((0, 1)), np.zeros(0))
    halves = [
        (np.ones((2, 1)), np.asarray([1.0, 2.0])),
        empty,
        (np.ones((1, 1)), np.ones(1)),
        empty,
    ]
    chunks = [(lambda one=one: one) for one in halves] if lazy else halves
    assert add_up(_total, chunks) == 4.0
    assert add_up(_total, [Rows(*empty), *chunks]) == 4.0
    with pytest.raises(
        ValueError, match=r"chunks must hold at least one pair .* got 2 without rows"
    ):
        add_up(_total, [empty, empty])


def _total(X, y):
    if not len(y):
        raise ValueError("no rows")
    return float(y.sum())


def test_rows_know_if_anything_is_known_of_their_noise(rng):
    X, y = rng.normal(size=(3, 2)), np.asarray([1.0, 2.0, 3.0])
    known = [Rows(X, y), Rows(X, y, noise_var=y), Rows(X, y, weights=y), Rows(X, y, offset=y)]
    assert [rows.knows_noise for rows in known] == [False, True, True, False]
    assert known[0].over(lambda X, y: (X.shape, float(y.sum()))) == ((3, 2), 6.0)
    for rows, name in ((known[1], "noise_var"), (known[2], "weights")):
        with pytest.raises(ChunkError, match="chunk 0 of chunks failed") as caught:
            add_up(work, [rows])
        assert f"{name} must be None in it, unless Chunks" in str(caught.value.__cause__)
    with pytest.raises(ChunkError) as caught:
        add_up(work, [known[3]])
    assert "offset must be None in a chunk" in str(caught.value.__cause__)


class Knowing:
    """Work that also takes the known quantities of each row."""

    def __call__(self, X, y):
        return np.asarray(1.0)

    def of_chunk(self, rows):
        return np.asarray(10.0)


@pytest.mark.parametrize(("by_reading", "found"), [(False, 4.0), (True, 40.0)])
def test_what_is_known_of_rows_is_asked_for_where_it_may_be_there(chunks, by_reading, found):
    assert add_up(Knowing(), chunks, by_reading=by_reading) == found
    assert add_up(Knowing().__call__, chunks, by_reading=by_reading) == 4.0
