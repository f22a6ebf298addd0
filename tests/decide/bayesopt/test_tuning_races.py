"""The races on tuning problems: their objectives, and what the table says of kept runs."""

from __future__ import annotations

import importlib
import sys

import pytest

from gpnotes import stream


@pytest.fixture
def races(root, monkeypatch):
    """The modules of the folder, which is no package: they are scripts that sit together."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    names = "tuning_objectives", "tuning_races"
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name)


def test_the_support_vector_machine_has_corners_far_off(races):
    _, objective = races["tuning_objectives"].TUNING["svr"]
    point = {"C": 10.0, "epsilon": 1.0, "gamma": 0.01, "degree": 3, "kernel": "rbf", "scaled": True}
    good = objective(point)
    assert 50.0 < good < 80.0
    assert objective({**point, "C": 1e4, "gamma": 10.0, "kernel": "sigmoid"}) > 5.0 * good


@pytest.mark.parametrize("name", ["kernel ridge", "classifier"])
def test_the_others_have_a_value_at_any_point(races, name):
    space, objective = races["tuning_objectives"].TUNING[name]
    for point in space.from_units(stream(1).uniform((2, space.columns))):
        assert objective(point) > 0.0


def test_the_table_counts_who_was_lower_after_the_budget(races):
    def row(method, seed, *values):
        return {"problem": "svr", "method": method, "seed": seed, "values": list(values),
                "seconds": 2.0}  # fmt: skip

    rows = [row("gpnotes", 0, 3.0, 1.0), row("tpe", 0, 2.0, 2.0),
            row("gpnotes", 1, 3.0, 3.0), row("tpe", 1, 4.0, 2.0)]  # fmt: skip
    lines = races["tuning_races"].table(rows, 2)
    assert lines[2] == "| svr | gpnotes | 2 | 3 | 2 |  | 2.0 |"
    assert lines[3] == "| svr | tpe | 2 | 3 | 2 | 1 of 2 | 2.0 |"
