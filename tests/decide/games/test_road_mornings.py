"""The twelve draws of mornings: the truth is the simulator's average, and the table is whole."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from gpnotes import dataset, stream


@pytest.fixture
def roads(root, monkeypatch):
    """The script, which is in no package."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    yield importlib.import_module("road_mornings")
    sys.modules.pop("road_mornings")


def test_the_truth_is_what_the_simulator_pays_on_average(roads):
    rng, mixture = stream(3).generator, np.array([0.5, 0.3, 0.2, 0.6, 0.4])
    for s, truth in enumerate(roads.true_payoffs(mixture[None])[0]):
        cars = rng.multinomial(60 - (s < 3), mixture[:3], 20_000)
        lorries = rng.multinomial(20 - (s >= 3), mixture[3:], 20_000)
        played = np.hstack([cars, lorries]) + (np.arange(5) == s)
        paid = roads.simulate(played, rng)[:, s]
        assert abs(paid.mean() - truth) < 5.0 * paid.std() / np.sqrt(len(paid))


def test_a_road_that_nobody_takes_pays_nothing(roads):
    played = np.array([[60.0, 0.0, 0.0, 20.0, 0.0]])
    paid = roads.simulate(played, stream(0).generator)
    np.testing.assert_array_equal(np.isnan(paid), played == 0)


def test_the_table_has_each_draw_in_both_ways(roads):
    seed, by_role, *numbers = dataset("road-mornings").T
    assert {*zip(seed, by_role, strict=True)} == {(s, way) for s in roads.SEEDS for way in (0, 1)}
    assert len(seed) == 2 * len(roads.SEEDS)
    error, largest, regret, cars, lorries = numbers
    assert np.all((error > 0) & (largest > error) & (regret >= 0))
    assert np.isin(np.stack([cars, lorries]), (0, 1)).all()
