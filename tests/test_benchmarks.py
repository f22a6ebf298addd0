"""The benchmarks start, compare what they time, and see the memory that they report."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow
NOTHING = "--sizes= --predict= --summed=0 --mixtures=0 --steps=0 --drawn-at=0 --featured=0"
NOTHING += " --bounded=0 --labelled=0 --peers=0"


@pytest.fixture
def script(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """A function that imports a script of the folder, which is no package, for one test."""
    for name in ("sklearn", "threadpoolctl", "jax"):
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    before = set(sys.modules)
    yield importlib.import_module
    ours = {path.stem for path in (root / "benchmarks").glob("*.py")}
    for name in (set(sys.modules) - before) & ours:
        sys.modules.pop(name)


@pytest.fixture
def ran(script: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int | None]:
    """A function that runs a script with options, and returns its status."""

    def run(name: str, options: str) -> int | None:
        monkeypatch.setattr(sys, "argv", [name, *options.split()])
        return script(name).main()

    return run


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("approximations_table", {"task": "features", "n": 300, "size": 40}),
        ("approximations_table", {"task": "bound", "n": 300, "size": 40}),
        ("approximations_table", {"task": "epoch", "n": 300, "size": 40}),
        ("games_table", {"profiles": 6, "mixtures": 3}),
        ("moments_table", {"n": 11, "steps": 3}),
        ("paths_table", {"n": 40, "points": 30}),
        ("pendulum_table", {"n": 30, "horizon": 4, "bumps": 6}),
        ("samples_table", {"n": 40, "points": 30}),
        ("sums_table", {"task": "sum", "n": 120}),
        ("sums_table", {"task": "product", "n": 120}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())),
)
def test_those_who_are_timed_give_the_same_answer(script: Any, name: str, size: Any) -> None:
    row = script(name).row(**size, rounds=1)
    assert row["disagreement"] < (1e-6 if name == "pendulum_table" else 1e-8)
    assert len(row["seconds"]) > 1


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ellipse", {"n": 30, "draws": 400}),
        ("no-u-turn", {"n": 40}),
        ("network", {"n": 30, "width": 5, "steps": 20}),
        ("deep", {"n": 40, "points": 7}),
    ],
)
def test_ways_to_infer_without_a_formula_agree(script: Any, name: str, size: Any) -> None:
    table = script("inference_table")
    assert table.agreed(table.row(name, rounds=1, chain=60, **size))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("import_time", "--rounds 1"),
        ("kernels_table", "--rows 30 --rounds 1"),
        ("learning_table", "--runs 20 --steps 200 --rounds 1"),
        ("one_row", "--readings 40 --calls 1 --rounds 1"),
        ("peers_table", "--readings 4000 --rounds 1"),
        ("processes_table", "--states 200 --rounds 1"),
        ("which_approximation", "--seeds 1 --sizes 600 --to table.csv"),
    ],
)
def test_a_table_is_printed(ran: Any, tmp_path: Path, monkeypatch: Any, name: str, options: str):
    monkeypatch.chdir(tmp_path)
    assert not ran(name, options)


@pytest.mark.parametrize(("error", "code"), [(0.0, 0), (1e-6, 1), (float("nan"), 1)])
def test_answers_that_differ_end_in_an_error(
    script: Any, ran: Any, monkeypatch: Any, tmp_path: Path, error: float, code: int
) -> None:
    """And what was measured is written as JSON."""
    contestants = script("contestants")

    def prepared(problem: Any) -> Callable[[], Any]:
        call = contestants.our_evidence(problem)
        return lambda: call() + error * np.max(np.abs(call()))

    floor, _, theirs = contestants.TASKS["evidence"]
    ours = contestants.Contestant("gpnotes", prepared)
    monkeypatch.setitem(contestants.TASKS, "evidence", (floor, ours, theirs))
    monkeypatch.setattr(script("run"), "peak_bytes", lambda *_: 8 * 40**2)
    target = tmp_path / "b.json"
    options = NOTHING.replace("--sizes=", "--sizes=40")
    assert ran("run", f"{options} --rounds 1 --json {target}") == code
    (row,) = json.loads(target.read_text())["rows"]
    assert (row["task"], row["n"]) == ("evidence", 40)


def test_the_memory_of_the_gradient_is_seen_and_is_one_matrix_and_a_few_tiles(script: Any) -> None:
    n = 1500
    peak = script("measure").peak_bytes("evidence", "gpnotes", n, 10)
    if peak is None:
        pytest.skip("this system does not tell a process its memory")
    assert 1.0 < peak / (8 * n**2) < 1.6


@pytest.mark.parametrize(("method", "n", "few"), [("gaussian", 400, 1000), ("exact", 60, 300)])
def test_memory_for_a_game_is_bounded_by_chunks_and_not_by_the_batch(
    script: Any, method: str, n: int, few: int
) -> None:
    peaks = [script("measure").peak_bytes("games", method, n, k) for k in (few, 6 * few)]
    if peaks[0] is None:
        pytest.skip("this system does not tell a process its memory")
    assert peaks[1] < 1.3 * peaks[0] + 15e6
