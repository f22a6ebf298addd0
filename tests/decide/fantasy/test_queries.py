"""The experiment on queries: what it asks is physics, what it writes is the same every time."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from gpnotes import GP, RBF, dataset

pytest.importorskip("gymnasium")


@pytest.fixture
def queries(root, monkeypatch):
    """The script, which is in no package."""
    monkeypatch.syspath_prepend(str(root / "benchmarks" / "races"))
    yield importlib.import_module("pilco_queries")
    sys.modules.pop("pilco_queries")


def test_the_simulator_answers_with_the_equations_of_motion(queries, rng):
    high = np.array([np.pi, 8.0, 2.0])
    places = rng.uniform(-high, high, size=(20, 3))
    theta, speed, torque = places.T
    for _ in range(queries.HELD):  # a rod of 1 m and 1 kg, g = 10 m/s², steps of 0.05 s
        speed = np.clip(speed + 0.05 * (15.0 * np.sin(theta) + 3.0 * torque), -8.0, 8.0)
        theta = theta + 0.05 * speed
    expected = np.stack([theta, speed], axis=1) - places[:, :2]
    np.testing.assert_allclose(queries.ask(places), expected, rtol=1e-10, atol=1e-12)


def test_a_swing_up_is_the_simulators_and_ends_upright(queries):
    ends = []
    for seed in range(10):
        places = queries.swing(seed)
        moved = queries.ask(places)[:-1] + places[:-1, :2] - places[1:, :2]
        moved[:, 0] = np.remainder(moved[:, 0] + np.pi, 2.0 * np.pi) - np.pi
        np.testing.assert_allclose(moved, 0.0, atol=1e-9)
        ends.append(abs(places[-1, 0]))
    assert np.mean(np.asarray(ends) < 1.0) >= 0.5
    np.testing.assert_array_equal(places, queries.swing(9))


def test_uncertain_places_have_the_covariance_that_slopes_give(queries):
    places = queries.swing(3)[:4]
    means, covariances = queries.uncertain(places)
    for place, mean, covariance in zip(places, means, covariances, strict=True):
        step, eye = 1e-6, np.eye(3)
        slope = np.stack(
            [(queries.features((place + step * e)[None, :])[0] - mean) / step for e in eye],
            axis=1,
        )
        np.testing.assert_allclose(covariance, slope @ queries.UNSURE @ slope.T, atol=1e-6)
        assert np.linalg.matrix_rank(covariance) == 3


def test_integrated_asks_what_lowers_the_variances_at_known_places_most(queries, monkeypatch):
    monkeypatch.setattr(queries, "UNSURE", 9.0 * np.eye(3))  # so that the criterion asks elsewhere
    one = queries.problem(0)
    one = one._replace(known=one.known[:2])
    gps = [GP(RBF(scale, np.array([1.0, 1.0, 5.0, 3.0])), 0.01) for scale in (1.0, 4.0)]
    given = queries.models(gps, one.start, queries.ask(one.start))
    weights, left = np.array([1.0, 0.3]), list(range(5, 300))
    rows, fall = queries.features(one.candidates[left]), np.zeros(len(left))
    known = queries.features(one.known)
    for weight, posterior in zip(weights, given, strict=True):
        joint = posterior.covariance(np.concatenate([rows, known]))
        cross, own = joint[: len(left), len(left) :], np.diag(joint)[: len(left)]
        fall += weight * np.sum(cross**2, axis=1) / (own + posterior.gp.noise_var)
    picked = queries.choose("integrated", given, one, left, weights)
    assert picked == left[int(np.argmax(fall))]
    assert picked != queries.choose("criterion", given, one, left, weights)
    ahead = np.sort(fall)
    assert ahead[-1] > 1.001 * ahead[-2]  # no tie: rounding does not decide


def test_everybody_starts_alike_and_a_second_run_is_the_same(queries, monkeypatch):
    monkeypatch.setattr(queries, "REPORTED", (0, 2))
    monkeypatch.setattr(queries, "REFIT", 1)
    monkeypatch.setattr(queries, "TESTED", 2)
    monkeypatch.setattr(queries, "CANDIDATES", 25)
    lines = queries.table(1)
    assert lines == queries.table(1)
    rows = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    assert rows.shape == (2 * len(queries.STRATEGIES) * 2, len(lines[0].split(",")))
    for refit in (0, 1):
        start = rows[(rows[:, 0] == refit) & (rows[:, 3] == 0)]
        np.testing.assert_array_equal(
            start[:, 4:], np.tile(start[0, 4:], (len(queries.STRATEGIES), 1))
        )


def test_the_table_of_the_book_is_complete():
    rows = dataset("pilco-queries")
    keys = {tuple(row) for row in rows[:, :4].astype(int)}
    seeds = {key[2] for key in keys}
    assert len(seeds) >= 10
    assert len(keys) == len(rows) == 2 * 6 * len(seeds) * 5
    assert np.all(np.isfinite(rows))
    assert np.all(rows[:, 4] > 0.0)
    assert np.all((rows[:, 5] >= 0.0) & (rows[:, 5] <= 1.0))
