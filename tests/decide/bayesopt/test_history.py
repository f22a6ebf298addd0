"""The file of an optimisation: cut at every byte, killed at any moment, it goes on the same way."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import (
    Evaluation,
    Integer,
    Optimiser,
    Real,
    Space,
    minimise,
    minimise_several,
)
from gpnotes.decide.bayesopt.history import NUMBERS, History, as_line, last_problem
from gpnotes.decide.bayesopt.search_region import region_of
from gpnotes.model.kernels import WithGradients

BOX = [(-1.0, 2.0), (0.0, 3.0)]
BUDGET = 9


def bowl(x):
    """A bowl that has no value in a corner."""
    return np.nan if np.all(x > 1.2) else float((x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2)


def points(outcome):
    return np.stack([evaluation.x for evaluation in outcome.evaluations])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of a loop that nobody disturbed, and the points that it asked for."""
    path = tmp_path_factory.mktemp("whole") / "history.jsonl"
    outcome = minimise(bowl, BOX, BUDGET, path=path, rng=stream(4))
    return path.read_bytes(), points(outcome)


def test_the_file_has_a_line_for_each_evaluation(whole):
    data, asked = whole
    head, *records = [json.loads(line) for line in data.splitlines()]
    assert head["box"] == [list(pair) for pair in BOX]
    assert (head["goal"], head["seed"], head["num_initial"]) == ("minimise", 4, 6)
    np.testing.assert_array_equal([record["x"] for record in records], asked)
    for record in records:
        value = bowl(np.asarray(record["x"]))
        assert record["y"] == (None if np.isnan(value) else value)


def test_without_a_file_the_points_are_the_same(whole):
    np.testing.assert_array_equal(points(minimise(bowl, BOX, BUDGET, rng=stream(4))), whole[1])


def test_a_file_that_is_cut_at_any_byte_has_all_that_was_whole(whole, tmp_path):
    """A line counts from its last brace: what was written whole is not lost for want of an end."""
    data, asked = whole
    path = tmp_path / "history.jsonl"
    head = data.index(b"\n") + 1
    ends = [i for i, byte in enumerate(data) if byte in b"{}\n"]  # and a few places in between
    near = {end + by for end in ends for by in range(-2, 4) if 0 <= end + by <= len(data)}
    for length in sorted({*near, *range(0, len(data), 11)}):
        path.write_bytes(data[:length])
        optimiser = Optimiser(BOX, path=path, rng=stream(4))
        done = data[head : max(length, head)]
        complete = done.count(b"\n") + done.endswith(b"}")
        np.testing.assert_array_equal(
            [e.x for e in optimiser.evaluations], asked[:complete].tolist()
        )
        kept = data[:head] + b"".join(data[head:].splitlines(keepends=True)[:complete])
        assert path.read_bytes() == kept


@pytest.mark.parametrize("extra", [0, 1, 40])
def test_a_loop_goes_on_to_the_same_points(whole, tmp_path, extra):
    """From the end of each line, from a byte further on, and from its middle."""
    data, asked = whole
    path = tmp_path / "history.jsonl"
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for end in ends[2:-1:3]:
        path.write_bytes(data[: end + extra])
        outcome = minimise(bowl, BOX, BUDGET, path=path, rng=stream(4))
        np.testing.assert_array_equal(points(outcome), asked)
        assert path.read_bytes() == data


SCRIPT = """
import os, signal, sys, time
from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import minimise

def quick(X, y, *, rng):
    return condition(GP(RBF(1.0, 0.5), 1e-4), X, y)

def slow(x):
    time.sleep(0.02)
    return float((x[0] - 0.3) ** 2)

def search(path):
    minimise(slow, [(-1.0, 2.0)], 12, path=path, model=quick, rng=stream(6))

def lines(path):
    return open(path, "rb").read().count(b"\\n") if os.path.exists(path) else 0

killed, whole, *counts = sys.argv[1:]
search(whole)  # which loads all that a process of the others will need
for count in map(int, counts):
    process = os.fork()
    if not process:
        search(killed)
        os._exit(0)
    while lines(killed) < count and os.waitpid(process, os.WNOHANG) == (0, 0):
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), lines(killed) >= count)
search(killed)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing(tmp_path, rng):
    """SIGKILL after some lines, twice, and then to the end; as if nothing had been."""
    path, other = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    counts = ["3", str(rng.integers(5, 11))]
    command = [sys.executable, "-c", SCRIPT, str(path), str(other), *counts]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "-9 True\n-9 True\n"
    assert path.read_bytes() == other.read_bytes()
    assert _lines(path) == 13


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_what_is_told_is_in_the_file_before_tell_returns(tmp_path):
    path = tmp_path / "history.jsonl"
    optimiser = Optimiser(BOX, path=path, rng=stream(1))
    for count in range(1, 4):
        optimiser.tell(optimiser.ask(), 0.1 * count)
        assert _lines(path) == 1 + count
    assert json.loads(path.read_text().splitlines()[-1])["y"] == 0.1 * 3


def test_each_line_is_on_the_disk_and_not_only_under_way_to_it(tmp_path, monkeypatch):
    """A loss of power spares what has been synced: each line is, whole, and so is a cut."""
    path = tmp_path / "history.jsonl"
    synced = []
    sync = os.fsync

    def watched(descriptor):
        synced.append(path.read_bytes())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    optimiser = Optimiser(BOX, path=path, rng=stream(1))
    assert path.read_bytes() in synced
    for count in range(1, 4):
        optimiser.tell(optimiser.ask(), 0.1 * count)
        assert synced[-1] == path.read_bytes()
        assert synced[-1].count(b"\n") == 1 + count
    before = len(synced)
    path.write_bytes(path.read_bytes() + b'{"x": [')
    Optimiser(BOX, path=path, rng=stream(1))
    assert synced[before:] == [path.read_bytes()]


FULL = """
import os, resource, signal, sys
from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import Optimiser

path = sys.argv[1]
room = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, -1))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
optimiser = Optimiser([(0.0, 1.0)], path=path, num_initial=50, rng=stream(1))
optimiser.tell(optimiser.ask(), 1.0)
before = open(path, "rb").read()
for left in (0, 20):
    room(len(before) + left)
    try:
        optimiser.tell(optimiser.ask(), 2.0)
    except OSError as problem:
        print(type(problem).__name__, open(path, "rb").read() == before)
    room(-1)
optimiser.tell(optimiser.ask(), 3.0)
print([e.y for e in Optimiser([(0.0, 1.0)], path=path, num_initial=50, rng=stream(1)).evaluations])
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX")
def test_a_full_disk_leaves_no_half_line_behind(tmp_path):
    """Neither a line that cannot begin nor one that breaks off; with room, the loop goes on."""
    command = [sys.executable, "-c", FULL, str(tmp_path / "history.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "OSError True\nOSError True\n[1.0, 3.0]\n", done.stderr


def test_numbers_come_back_bit_by_bit(tmp_path, rng):
    path = tmp_path / "history.jsonl"
    optimiser = Optimiser(BOX, path=path, rng=stream(1))
    x = rng.uniform((-1.0, 0.0), (2.0, 3.0), (20, 2))
    y = rng.standard_normal(20) * 10.0 ** rng.integers(-300, 300, 20)
    for place, value in zip(x, y, strict=True):
        optimiser.tell(place, value)
    again = Optimiser(BOX, path=path, rng=stream(1)).evaluations
    np.testing.assert_array_equal([e.x for e in again], x)
    np.testing.assert_array_equal([e.y for e in again], y)


@pytest.mark.parametrize(
    "changed",
    [
        {"box": [(-1.0, 2.0), (0.0, 3.5)]},
        {"rng": stream(5)},
        {"rng": stream(4).spawn("a")},
        {"goal": "maximise"},
        {"num_initial": 7},
    ],
    ids=["box", "seed", "child of the stream", "goal", "initial"],
)
def test_the_file_of_something_else_is_refused_and_left_alone(whole, tmp_path, changed):
    path = tmp_path / "history.jsonl"
    path.write_bytes(whole[0])
    arguments = {"box": BOX, "rng": stream(4), "path": path, **changed}
    with pytest.raises(ValueError, match=r"path: .* must hold the history of .*; it begins with"):
        Optimiser(**arguments)
    assert path.read_bytes() == whole[0]


@pytest.mark.parametrize("content", [b"hello", b"a,b\n1,2\n", b"{", b'{"x": 1}\n', b"\n"])
def test_a_file_that_is_no_history_is_left_alone(tmp_path, content):
    """An opening brace is how a torn history begins, too: that one is taken for it."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    if content == b"{":
        Optimiser(BOX, path=path, rng=stream(4))
        assert _lines(path) == 1
        return
    with pytest.raises(ValueError, match="it begins with"):
        Optimiser(BOX, path=path, rng=stream(4))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "spoilt",
    [
        b"nonsense",
        b"{}",
        b'{"x": [0.0], "y": 1.0}',
        b"",
        b"7",
        b'{"x": [0.0, 1.0], "y": null}',
        b'{"x": [0.0, 1.0], "y": NaN, "failure": "lost"}',
        b'{"x": [0.0, 1.0], "y": Infinity}',
        b'{"x": [0.0, NaN], "y": 1.0}',
    ],
)
def test_a_line_in_the_middle_that_is_none_of_ours_is_named(whole, tmp_path, spoilt):
    path = tmp_path / "history.jsonl"
    lines = whole[0].split(b"\n")
    lines[3] = spoilt
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match=r"path: line 4 of .* must be an evaluation at 2 numbers"):
        Optimiser(BOX, path=path, rng=stream(4))
    assert path.read_bytes() == b"\n".join(lines)


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match="path must be a path of a file; got int"):
        Optimiser(BOX, path=3, rng=stream(4))


def valley(x):
    """A valley on the diagonal of the box, with the derivatives by x."""
    across = x[0] - x[1]
    value = across * across + 0.1 * x[0] ** 2
    return value, np.asarray([2.0 * across + 0.2 * x[0], -2.0 * across])


def sloped(X, y, *, rng):
    """A model of values and gradients without a fit."""
    return condition(GP(WithGradients(RBF(1.0, 0.3)), 1e-4), X, y)


def test_a_loop_goes_on_from_its_file_with_its_gradients(tmp_path):
    path = tmp_path / "history.jsonl"
    options = {"model": sloped, "num_initial": 3, "gradients": True}
    whole = minimise(valley, BOX, 8, rng=stream(1), **options)
    minimise(valley, BOX, 5, path=path, rng=stream(1), **options)
    again = minimise(valley, BOX, 8, path=path, rng=stream(1), **options)
    for one, other in zip(whole.evaluations, again.evaluations, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.gradient, other.gradient)
    lines = path.read_text("utf-8").splitlines()
    assert json.loads(lines[0])["gradients"] is True
    assert json.loads(lines[3])["gradient"] == whole.evaluations[2].gradient.tolist()


@pytest.mark.parametrize("spoilt", [[1.0], [1.0, None], "no", [1.0, 1e999]])
def test_a_gradient_that_is_none_of_ours_spoils_its_line(tmp_path, spoilt):
    path = tmp_path / "history.jsonl"
    options = {"model": sloped, "num_initial": 3, "gradients": True}
    minimise(valley, BOX, 3, path=path, rng=stream(1), **options)
    lines = path.read_text("utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "gradient": spoilt})
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(ValueError, match=r"line 3 .* must be an evaluation at 2 numbers"):
        Optimiser(BOX, path=path, num_initial=3, gradients=True, rng=stream(1))


def test_a_file_without_gradients_is_another(tmp_path):
    path = tmp_path / "history.jsonl"
    Optimiser(BOX, path=path, rng=stream(1))
    with pytest.raises(ValueError, match="must hold the history of"):
        Optimiser(BOX, path=path, gradients=True, rng=stream(1))


@pytest.mark.parametrize("spoilt", [[[1.0]], "no", [None], [1e999], 3.0])
def test_constraints_that_are_none_of_ours_spoil_their_line(tmp_path, spoilt):
    def limited(x):
        return float(x[0]), [float(x[1] - 1.0)]

    path = tmp_path / "history.jsonl"
    whole = minimise(limited, BOX, 3, path=path, num_constraints=1, num_initial=3, rng=stream(1))
    again = Optimiser(BOX, path=path, num_constraints=1, num_initial=3, rng=stream(1))
    for one, other in zip(whole.evaluations, again.evaluations, strict=True):
        np.testing.assert_array_equal(one.constraints, other.constraints)
        assert one.is_feasible == (one.x[1] <= 1.0)
    lines = path.read_text("utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "constraints": spoilt})
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(ValueError, match=r"line 3 .* must be an evaluation"):
        Optimiser(BOX, path=path, num_constraints=1, num_initial=3, rng=stream(1))


def test_the_last_that_failed_is_told_in_its_first_line():
    at = np.zeros(1)
    told = [Evaluation(at, math.nan, f"{word}\nmore", "record") for word in ("first", "last")]
    assert last_problem([told[0], told[1], Evaluation(at, 1.0)]) == ["The last that failed: last"]
    assert last_problem([Evaluation(at, 1.0)]) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_line_holds_numbers_of_json_alone(value):
    assert as_line({"y": 0.5, "x": [1.0]}) == b'{"y": 0.5, "x": [1.0]}\n'
    with pytest.raises(ValueError, match="JSON compliant"):
        as_line({"y": value})


@pytest.mark.parametrize("tail", ["", "whole", "torn"])
def test_a_history_knows_where_its_file_ends_and_how_many_lines_it_has(tmp_path, tail):
    """Another process reads on from there, and an error names the number of the wrong line."""
    region, head, path = region_of(BOX, (), None), {"box": 1}, tmp_path / "history.jsonl"
    told = [Evaluation(np.asarray([0.5, k / 4.0]), float(k)) for k in range(3)]
    lines = [as_line(NUMBERS.write(one, region)) for one in told]
    ends = {"": b"", "whole": lines[2][:-1], "torn": lines[2][:-5]}
    path.write_bytes(as_line(head) + lines[0] + lines[1] + ends[tail])
    found = History(path, head, region, NUMBERS)
    count = 3 if tail == "whole" else 2
    assert [one.y for one in found.evaluations] == [0.0, 1.0, 2.0][:count]
    assert path.read_bytes() == as_line(head) + b"".join(lines[:count])
    for more in range(2):
        assert found._lines == 1 + count + more
        assert found._end == path.stat().st_size
        found.add(Evaluation(np.asarray([1.0, 2.0]), 7.0 + more))
    with path.open("ab") as file:
        file.write(b"[]\n")
    with pytest.raises(ValueError, match=f"path: line {4 + count} of .* must be an evaluation"):
        History(path, head, region, NUMBERS)
    new = tmp_path / "new.jsonl"
    beside = History(new, head, region, NUMBERS)
    assert (beside._lines, beside._end, new.read_bytes()) == (1, len(as_line(head)), as_line(head))
    without = History(None, head, region, NUMBERS)
    without.add(told[0])
    assert (without._lines, without.evaluations) == (1, [told[0]])


def test_what_a_caller_writes_changes_no_evaluation():
    """Places and constraints of an evaluation are its own: a buffer may be used again."""
    buffer = np.zeros(1)

    def objective(x):
        buffer[0] = 0.5 - x[0]
        return float(x[0]), buffer

    outcome = minimise(objective, [(0.0, 1.0)], 5, num_constraints=1, rng=1)
    assert [float(one.constraints[0]) for one in outcome.evaluations] == [
        0.5 - one.x[0] for one in outcome.evaluations
    ]
    with pytest.raises(ValueError, match="read-only"):
        outcome.best.x[0] = 9.0
    front = minimise_several(lambda x: (x[0], 1.0 - x[0]), [(0.0, 1.0)], 3, rng=1)
    with pytest.raises(ValueError, match="read-only"):
        front.front[0].y[0] = 9.0


def test_settings_that_a_caller_changes_change_no_search():
    space = Space({"depth": Integer(1, 8), "rate": Real(0.0, 1.0)})
    searches = [Optimiser(space, num_initial=2, rng=1) for _ in range(2)]
    for _ in range(4):
        for search in searches:
            place = search.ask()
            search.tell(place, place["depth"] + place["rate"])
        searches[0].best.x["depth"] = 8
        searches[0].evaluations[-1].x["jobs"] = -1
    assert searches[0].ask() == searches[1].ask()
    assert searches[0].recommend().x == searches[1].recommend().x
