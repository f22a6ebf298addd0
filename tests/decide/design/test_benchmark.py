"""The benchmark of greedy designs runs, and its four ways pick the same."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(root, monkeypatch):
    """The script, which is no package."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    yield importlib.import_module("greedy_designs")
    sys.modules.pop("greedy_designs")


def test_four_ways_to_one_design(bench):
    row = bench.row(80, 6, rounds=2)
    assert row["agree"]
    assert row["seconds"].keys() == {"lazy", "eager", "refit", "anew"}
    assert len(row["seconds"]["lazy"]) == 2
    assert (
        row["evaluations"]["eager"] == row["evaluations"]["anew"] == sum(80 - t for t in range(6))
    )


def test_growth_is_read_off_the_two_largest(bench):
    rows = [{"n": n, "seconds": {"lazy": [n**1.5]}} for n in (400, 10, 100)]
    rows[1]["seconds"]["lazy"] = [1e9]
    assert bench.growth(rows, "n", "lazy") == pytest.approx(1.5)


def test_ways_that_pick_differently_end_in_an_error(bench, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "SIZES", [(60, 4)])
    monkeypatch.setattr(bench, "BUDGETS", [(60, 2)])
    target = tmp_path / "new" / "design.json"
    monkeypatch.setattr(sys, "argv", ["greedy_designs.py", "--rounds", "1", "--json", str(target)])
    assert bench.main() == 0
    assert [row["budget"] for row in json.loads(target.read_text())] == [4, 2]
    wrong = {**bench.WAYS, "refit": lambda gp, X, k: (list(range(k)), 0)}
    monkeypatch.setattr(bench, "WAYS", wrong)
    assert bench.main() == 1
    assert "DIFFERENT PICKS" in capsys.readouterr().out
