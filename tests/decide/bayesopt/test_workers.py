"""Several processes on one history: each place once, and what a killed one had is given again."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from gpnotes.decide.bayesopt import Integer, Optimiser, Real, Space, minimise
from gpnotes.decide.bayesopt.locks import Lock
from gpnotes.decide.bayesopt.workers import SharedHistory

BOX = [(-1.0, 2.0), (0.0, 3.0)]
FEW = Space({"n": Integer(0, 1)})


def bowl(x):
    return float((x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2)


WORKERS = """
import os, pathlib, signal, sys, time
from gpnotes import GP, RBF, condition
from gpnotes.decide.bayesopt import history, minimise

path, *whens = sys.argv[1:]
told, put, ended = 0, history.put, pathlib.Path(path + ".ended")

def quick(X, y, *, rng):
    return condition(GP(RBF(1.0, 0.3), 1e-4), X, y)

def end():
    ended.touch()
    os.kill(os.getpid(), signal.SIGKILL)

def bowl(x):
    global told
    told += 1
    if when == "evaluating" and told == 3:
        end()
    while when == "well" and told == 3 and not ended.exists():
        time.sleep(0.01)  # or a slow one of three might find nothing left to do
    return float((x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2)

def torn(path, line):
    if told == 4:
        with open(path, "ab", buffering=0) as file:
            file.write(line[: len(line) // 2])
        end()
    return put(path, line)

def search(budget, **options):
    options |= {"num_initial": budget - 2, "model": quick, "rng": 6}
    found = minimise(bowl, [(-1.0, 2.0), (0.0, 3.0)], budget, **options)
    return len(found.evaluations), found.best.y

when = "alone"
search(5)  # which loads all that a worker will need
told, workers = 0, []
for when in whens:
    workers.append(os.fork())
    if not workers[-1]:
        history.put = torn if when == "writing" else put
        print(*search(24, path=path, shared=True), flush=True)
        os._exit(0)
print(*[os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers])
"""


def records(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("when", ["evaluating", "writing"])
def test_three_workers_of_whom_one_is_killed_lose_nothing(tmp_path, when):
    """In an evaluation, and with half a line in the file."""
    path = tmp_path / "history.jsonl"
    command = [sys.executable, "-c", WORKERS, str(path), "well", "well", when]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    *said, codes = done.stdout.splitlines()
    assert codes == "0 0 -9"
    told = [record for record in records(path)[1:] if "y" in record]
    asked = [record for record in records(path)[1:] if "asked" in record]
    assert len(told) == 24
    assert len({tuple(record["x"]) for record in told}) == 24
    assert {tuple(r["x"]) for r in told} == {tuple(r["asked"]) for r in asked}
    assert len(asked) == 25  # the place of the killed worker twice
    by = [{r["by"] for r in asked if r["asked"] == one["asked"]} for one in asked]
    assert sorted(map(len, by)) == [1] * 23 + [2] * 2
    least = min(record["y"] for record in told)
    assert said == [f"24 {least}"] * 2
    # the first places are those of the sequence that one process goes through alone
    alone = Optimiser(BOX, num_initial=22, rng=6).ask_batch(22)
    assert {tuple(x) for x in alone} <= {tuple(record["x"]) for record in told}


def two(path, **options):
    return [
        Optimiser(BOX, path=path, shared=True, num_initial=4, rng=3, **options) for _ in range(2)
    ]


def test_a_worker_sees_what_the_other_has_told_and_asked(tmp_path):
    one, other = two(tmp_path / "history.jsonl")
    for _ in range(3):
        for worker in (one, other):
            x = worker.ask()
            worker.tell(x, bowl(x))
    a, b = one.ask(), other.ask()
    alone = Optimiser(BOX, num_initial=4, rng=3)
    for evaluation in other.evaluations:
        alone.tell(evaluation.x, evaluation.y)
    np.testing.assert_array_equal(a, alone.ask())
    np.testing.assert_array_equal(b, alone.ask_batch(1, a[None, :])[0])
    np.testing.assert_array_equal(a, one.ask())  # the same until something is told
    one.tell(a, bowl(a))
    assert [len(worker.evaluations) for worker in (one, other)] == [7, 6]
    other.tell(b, bowl(b))
    assert [e.y for e in other.evaluations[-2:]] == [bowl(a), bowl(b)]


def test_what_one_asked_for_and_left_is_asked_for_again(tmp_path):
    path = tmp_path / "history.jsonl"
    one, other = two(path)
    left = one.ask_batch(2)
    mine = other.ask()
    assert not any(np.array_equal(mine, x) for x in left)
    one.close()
    with pytest.raises(ValueError, match=r"the search recorded in .* was closed"):
        one.tell(left[0], 1.0)
    other.tell(mine, bowl(mine))
    np.testing.assert_array_equal(other.ask_batch(2), left)
    third = Optimiser(BOX, path=path, shared=True, num_initial=4, rng=3)
    assert not any(np.array_equal(third.ask(), x) for x in [*left, mine])
    other.close()
    third.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, f"{path.name}.lock"]


def test_a_worker_that_ends_in_the_turn_of_another_does_not_give_its_place_twice(
    tmp_path, monkeypatch
):
    """It was looked for twice: alive, its place was not taken over, and gone, it was not kept."""
    one, other = two(tmp_path / "history.jsonl")
    looks = []

    def ends_after_one_look(history, worker):
        looks.append(worker)
        return len(looks) > 1

    x = one.ask()
    monkeypatch.setattr(SharedHistory, "_is_gone", ends_after_one_look)
    assert not np.array_equal(other.ask(), x)


def test_what_nobody_asked_for_may_be_told_and_a_place_twice(tmp_path):
    """As by hand, or where a worker that was thought to be gone comes back."""
    one, other = two(tmp_path / "history.jsonl")
    x = one.ask()
    other.tell(x, 0.5)
    one.tell(x, 0.6)
    one.tell(np.zeros(2), 0.7)
    assert not np.array_equal(other.ask(), x)
    assert [e.y for e in other.evaluations] == [0.5, 0.6, 0.7]


def test_places_are_given_out_up_to_the_budget_and_no_further(tmp_path):
    one, other = two(tmp_path / "history.jsonl")
    a, b = one.ask_within(2), other.ask_within(2)
    one.tell(a, bowl(a))
    assert one.ask_within(2) is None
    assert one.count == 1  # the other is at the last
    other.close()
    np.testing.assert_array_equal(one.ask_within(2), b)
    one.tell(b, bowl(b))
    assert one.ask_within(2) is None
    assert one.count == 2
    alone = Optimiser(BOX, rng=3)
    assert alone.ask_within(1) is not None
    alone.tell(np.zeros(2), 0.0)
    assert alone.ask_within(1) is None


def test_two_workers_at_one_place_are_two_evaluations(tmp_path):
    """Where a space has few settings, or the best place is on a side."""
    path = tmp_path / "history.jsonl"
    workers = [Optimiser(FEW, path=path, shared=True, rng=1) for _ in range(3)]
    places = [worker.ask_within(3) for worker in workers]
    assert len({place["n"] for place in places}) == 2  # there are no more
    assert [worker.ask_within(4) for worker in workers] == places
    last = Optimiser(FEW, path=path, shared=True, rng=1)
    assert last.ask_within(3) is None
    for worker, place in zip(workers, places, strict=True):
        worker.tell(place, 1.0)
    assert last.ask_within(3) is None
    assert last.count == 3


@pytest.mark.parametrize("first", [0, 1])
def test_a_place_that_two_are_at_is_left_by_the_one_that_ends(tmp_path, first):
    path = tmp_path / "history.jsonl"
    one, other, third = (Optimiser(FEW, path=path, shared=True, rng=1) for _ in range(3))
    pair = one.ask_batch(2)
    left = other.ask_batch(2)  # the same
    done, ends = ((one, pair), (other, left))[:: 1 - 2 * first]
    for place in done[1]:
        done[0].tell(place, 1.0)
    assert third.ask_within(4) is None
    ends[0].close()
    assert third.ask_batch(2) == ends[1]
    fourth = Optimiser(FEW, path=path, shared=True, rng=1)
    assert fourth.ask_within(4) is None
    for place in ends[1]:
        third.tell(place, 1.0)
    assert fourth.count == 2  # what it has read
    assert fourth.ask_within(4) is None
    assert fourth.count == 4


def test_a_worker_that_goes_on_after_a_stop_is_at_the_same_place(tmp_path):
    path = tmp_path / "history.jsonl"
    one, other = (
        Optimiser(BOX, path=path, shared=True, on_failure="stop", rng=3) for _ in range(2)
    )
    places = one.ask_batch(2)
    one.tell(places[0], 1.0)
    with pytest.raises(ValueError, match="y must be finite"):
        one.tell(places[1], np.nan)
    np.testing.assert_array_equal(one.ask(), places[1])
    assert other.ask_within(2) is None
    one.tell(places[1], 1.0)
    assert other.ask_within(2) is None
    assert other.count == 2


def test_a_folder_that_is_not_there_is_said_as_for_any_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Optimiser(BOX, path=tmp_path / "none" / "history.jsonl", shared=True, rng=3)


def test_one_worker_finds_what_it_would_find_alone(tmp_path):
    path = tmp_path / "history.jsonl"
    space = Space({"rate": Real(1e-3, 1.0, log=True)})

    def loss(point):
        return float(np.log10(point["rate"] / 0.02) ** 2)

    short = minimise(loss, space, 6, path=path, shared=True, rng=1)
    further = minimise(loss, space, 9, path=path, shared=True, rng=1)
    alone = minimise(loss, space, 9, rng=1)
    assert [e.x for e in further.evaluations] == [e.x for e in alone.evaluations]
    assert [e.x for e in short.evaluations] == [e.x for e in alone.evaluations[:6]]


def test_what_stopped_a_worker_is_tried_again(tmp_path):
    path = tmp_path / "history.jsonl"

    def fails(x):
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        minimise(fails, BOX, 3, path=path, shared=True, on_failure="stop", rng=3)
    found = minimise(bowl, BOX, 3, path=path, shared=True, on_failure="stop", rng=3)
    np.testing.assert_array_equal(found.evaluations[1].x, found.evaluations[0].x)
    assert [bool(e.failure) for e in found.evaluations] == [True, False, False, False]


def test_a_shared_history_and_one_that_is_not_are_two_things(tmp_path):
    with pytest.raises(ValueError, match="path must be that of a file where shared is True"):
        Optimiser(BOX, shared=True, rng=3)
    path = tmp_path / "history.jsonl"
    worker = Optimiser(BOX, path=path, shared=True, rng=3)
    with pytest.raises(ValueError, match="must hold the history of"):
        Optimiser(BOX, path=path, rng=3)
    with pytest.raises(ValueError, match="pending must be None where shared is True"):
        worker.ask_batch(1, np.zeros((1, 2)))
    path.write_bytes(path.read_bytes() + b'{"asked": [0.0], "by": "a"}\n')
    with pytest.raises(ValueError, match=r"line 2 of .* must be an evaluation at 2 numbers"):
        worker.ask()


def test_a_bad_line_is_counted_after_those_of_this_worker(tmp_path):
    """The head, two places that it asked for and one that it told: the next line is the fifth."""
    path = tmp_path / "history.jsonl"
    worker = Optimiser(BOX, path=path, shared=True, rng=3)
    x, _ = worker.ask_batch(2)
    worker.tell(x, bowl(x))
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(ValueError, match="line 5 of"):
        worker.ask()


def test_a_lock_is_of_one_at_a_time(tmp_path):
    path = tmp_path / "lock"
    one, other = Lock(path, 0.0), Lock(path, 0.0)
    with one.held():
        assert not other.take()
        with pytest.raises(TimeoutError, match="was held by another"), other.held():
            pass
    assert other.take()
    other.close()
    with one.held():  # which has no patience, and would raise
        assert path.read_bytes() == b""
