"""The race on the cart: networks whose slopes are right, planners that plan, runs that are kept."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, dataset, gauss_hermite
from gpnotes.decide import pilco
from gpnotes.decide.moments import Moments
from gpnotes.decide.pilco.cartpole import FORCE, simulate, swing_up
from gpnotes.ground.params import flatten

NAMES = "cartpole_rivals", "cartpole_races", "cartpole_tuning"


@pytest.fixture
def races(root, monkeypatch):
    """The modules of the folder, which is no package."""
    monkeypatch.syspath_prepend(str(root / "benchmarks" / "races"))
    yield {name: importlib.import_module(name) for name in NAMES}
    for name in NAMES:
        sys.modules.pop(name)


@pytest.fixture
def seen():
    draws = np.random.default_rng(0)
    return simulate(lambda _: FORCE * (2.0 * draws.random(1) - 1.0), [0.0, 0.0, np.pi, 0.0], 25)


@pytest.mark.parametrize("certain", [False, True])
def test_slopes_of_the_networks_are_those_of_differences(races, certain):
    rivals, rng = races["cartpole_rivals"], np.random.default_rng(1)
    weights = [w.astype(float) for w in rivals._first(2, rng)]
    X, Y = rng.standard_normal((2, 9, 6)), rng.standard_normal((2, 9, 4))

    def loss(weights):
        mean, log_var, _ = rivals._through(weights, X)
        squares = (mean - Y) ** 2
        terms = squares if certain else squares * np.exp(-log_var) + log_var
        return 0.5 * terms.sum() / 9

    ways = [rng.standard_normal(w.shape) for w in weights]
    slope = sum(
        np.sum(s * w) for s, w in zip(rivals._slopes(weights, X, Y, certain), ways, strict=True)
    )
    up, down = (
        loss([w + sign * 1e-6 * way for w, way in zip(weights, ways, strict=True)])
        for sign in (1, -1)
    )
    np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-5)


@pytest.fixture
def squashed(races):
    """A line under the later squash, and a normal state."""
    rng = np.random.default_rng(5)
    line = pilco.LinearPolicy(rng.standard_normal((1, 3)), np.asarray([0.4]))
    root = 0.4 * rng.standard_normal((3, 3))
    return races["cartpole_races"].LaterSquash(line, 2.0), rng.standard_normal(3), root


def test_the_moments_of_the_later_squash_are_those_of_quadrature(squashed):
    policy, m, root = squashed
    t, w = gauss_hermite(16)
    steps = np.stack(np.meshgrid(t, t, t, indexing="ij"), -1).reshape(-1, 3)
    mass = np.prod(np.stack(np.meshgrid(w, w, w, indexing="ij"), -1).reshape(-1, 3), axis=1)
    off = steps @ root.T
    u = np.array([policy(m + step)[0] for step in off])
    found, _ = policy.moments_and_pullback(m, root @ root.T)
    np.testing.assert_allclose(found.mean[0], mass @ u, rtol=1e-7)
    np.testing.assert_allclose(found.covariance[0, 0], mass @ u**2 - (mass @ u) ** 2, rtol=1e-6)
    np.testing.assert_allclose(found.cross[:, 0], (mass * u) @ off, rtol=1e-6)


def test_the_pullback_of_the_later_squash_is_that_of_differences(squashed):
    policy, m, root = squashed
    S = root @ root.T + 0.1 * np.eye(3)
    rng = np.random.default_rng(6)
    bar = Moments(*map(rng.standard_normal, ((1,), (1, 1), (3, 1))))
    flat, rebuilt = flatten(policy)
    way, to_m, to_S = rng.standard_normal(len(flat)), rng.standard_normal(3), np.ones((3, 3))

    def sums(h):
        found, _ = rebuilt(flat + h * way).moments_and_pullback(m + h * to_m, S + h * to_S)
        return sum(float(np.sum(a * b)) for a, b in zip(found, bar, strict=True))

    policy_bar, m_bar, S_bar = policy.moments_and_pullback(m, S)[1](bar)
    slope = flatten(policy_bar)[0] @ way + m_bar @ to_m + np.sum(S_bar * to_S)
    np.testing.assert_allclose(slope, (sums(1e-6) - sums(-1e-6)) / 2e-6, rtol=1e-6)


def test_a_network_learns_what_it_was_shown(races, seen):
    rivals, rng = races["cartpole_rivals"], np.random.default_rng(2)
    setting = rivals.Setting(members=1, steps=600, horizon=4, plans=9, rounds=1, certain=True)
    model = rivals.train(seen, setting, rng)
    mean, sd = model.predict(seen.states[None].astype(np.float32), seen.actions[None])
    change = seen.next_states - seen.states
    assert np.mean((mean[0] - change) ** 2) < 0.02 * np.mean(change**2)
    assert not sd.any()


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_planner_pushes_towards_its_goal(races, rounds):
    """With a model in which the force moves the cart alone, and a pole that stands to the right."""

    class Pushed:
        certain, weights = True, [np.zeros(1)]

        def predict(self, x, u):
            change = np.zeros_like(x)
            change[..., 0] = 0.02 * u[..., 0]
            return change, np.zeros_like(x)

    rivals = races["cartpole_rivals"]
    setting = rivals.Setting(members=1, steps=1, horizon=4, plans=200, rounds=rounds)
    given = swing_up(np.zeros(1)), np.random.default_rng(3), setting
    planner = rivals.Planner(Pushed(), *given)
    assert planner.fresh()(np.asarray([0.5, 0.0, 0.0, 0.0, 0.0, 1.0]))[0] < -4.0
    assert planner.fresh()(np.asarray([-0.5, 0.0, 0.0, 0.0, 0.0, 1.0]))[0] > 4.0


def test_means_alone_have_no_variance_but_the_noise(races):
    X, y = np.linspace(-1.0, 1.0, 6)[:, None] * np.ones((1, 2)), np.linspace(-1.0, 1.0, 6) ** 3
    posterior = condition(GP(RBF(1.0, 0.7), 0.01), X, y)
    full, means = (
        kind((posterior,)) for kind in (pilco.Dynamics, races["cartpole_races"].MeansAlone)
    )
    policy = pilco.LinearPolicy(np.zeros((1, 1)), np.zeros(1))
    place = np.asarray([0.3]), np.zeros((1, 1))
    far = np.asarray([5.0]), np.zeros((1, 1))
    for m, S in (place, far):
        (mean, with_doubt), (same, alone) = (pilco.step(one, policy, m, S) for one in (full, means))
        np.testing.assert_allclose(mean, same, rtol=1e-12)
        np.testing.assert_allclose(alone, [[0.01]], rtol=1e-9)
        assert with_doubt[0, 0] > alone[0, 0]
    spread = pilco.step(means, policy, place[0], np.asarray([[0.1]]))[1]
    assert 0.01 < spread[0, 0] < pilco.step(full, policy, place[0], np.asarray([[0.1]]))[1][0, 0]


def test_a_run_is_kept_and_made_once(races, monkeypatch, tmp_path):
    script, made = races["cartpole_races"], []

    def run(method, seed):
        made.append((method, seed))
        rows = [[1, 0.5, 0.9, 0.8, 0.0], [2, 1.0, 0.7, 0.6 + 0.1 * seed, 1.0]]
        return rows, [1.0 + seed] if method == "pilco searched" else []

    monkeypatch.setattr(script, "run", run)
    options = ["--runs", str(tmp_path / "runs.jsonl"), "--folder", str(tmp_path)]
    for seeds in ("1", "2"):
        monkeypatch.setattr(sys, "argv", ["cartpole_races.py", "--seeds", seeds, *options])
        script.main()
    assert made == [(method, seed) for seed in (0, 1) for method in script.METHODS]
    assert len(json.loads((tmp_path / "runs.jsonl").read_text().splitlines()[0])["rows"]) == 2
    table = np.loadtxt(tmp_path / "cartpole-races.csv.gz", delimiter=",", skiprows=1)
    assert table.shape == (4 * len(script.METHODS), 7)
    assert gzip.decompress((tmp_path / "cartpole-policy.csv.gz").read_bytes()) == b"p0\n1\n"
    monkeypatch.setattr(
        sys, "argv", [*sys.argv[:1], "--seeds", "3", "--methods", "pilco", *options]
    )
    script.main()
    again = np.loadtxt(tmp_path / "cartpole-races.csv.gz", delimiter=",", skiprows=1)
    assert again[4:6, 1].tolist() == [2.0, 2.0]  # in order, after the other seeds of its method
    assert (np.delete(again, [4, 5], axis=0) == table).all()


def test_a_search_is_as_long_as_its_method_says(races, monkeypatch):
    """Policy, iterations and steps of a fit, of each method that searches for a policy."""
    script, asked = races["cartpole_races"], {}

    def learn(task, tried, propose, *, policy, max_steps, fit, num_proposals, **rest):
        asked["policy"] = len(policy.inner.weights), max_steps, num_proposals
        fit(tried(policy), (2,))
        return [
            SimpleNamespace(
                number=1,
                improvement=SimpleNamespace(cost=0.5, policy=policy),
                observed=tried(policy),
            )
        ]

    def fit_dynamics(data, angles, max_steps):
        asked["fit"] = max_steps
        return SimpleNamespace(posteriors=())

    monkeypatch.setattr(script, "learn", learn)
    monkeypatch.setattr(script, "fit_dynamics", fit_dynamics)
    searches = {
        "pilco": (20, 40, 0, 30),
        "pilco longer": (50, 120, 0, 60),
        "pilco searched": (50, 80, 3, 30),
    }
    for method, wanted in searches.items():
        rows, policy = script.run(method, 0)
        assert (*asked["policy"], asked["fit"]) == wanted
        assert len(rows) == 1
        assert len(policy) > wanted[0]


def test_settings_are_chosen_one_entry_after_the_other_within_the_seconds(
    races, monkeypatch, tmp_path
):
    """Cheapest at the longest horizon that is quick enough; then at the most plans."""
    script, made = races["cartpole_tuning"], []

    def with_plans(world, setting):
        made.append((world, setting))
        cost = 1.0 - 0.01 * setting.horizon - 0.0001 * setting.plans
        return [[trial, setting.horizon, None, cost, 0.0] for trial in range(1, 7)], []

    monkeypatch.setattr(script, "with_plans", with_plans)
    monkeypatch.setattr(script, "World", lambda seed: seed)
    monkeypatch.setattr(script, "SECONDS", 15.0)
    grid = ("horizon", (5, 15, 20)), ("plans", (80, 200))
    monkeypatch.setattr(script, "GRIDS", {"ensemble": grid})
    path = tmp_path / "tuning.jsonl"
    for again in range(2):
        *_, best = script.chosen("ensemble", path)
        assert (best.horizon, best.plans) == (15, 200), again
    assert {world for world, _ in made} == set(script.SEEDS)
    assert not set(script.SEEDS) & set(range(10))
    assert len(made) == len(set(made)) == 4 * len(script.SEEDS)


def test_the_race_is_run_with_what_was_chosen(races):
    """Nothing but what `cartpole_tuning` may choose; the means alone with the same search."""
    script = races["cartpole_races"]
    searched = script.SEARCHES["pilco searched"]
    assert replace(searched, certain=True) == script.SEARCHES["means searched"]
    raced = {**script.SETTINGS, "pilco": searched}
    for method, grids in races["cartpole_tuning"].GRIDS.items():
        for name in {entry for entry, _ in grids}:
            tried = [value for entry, values in grids if entry == name for value in values]
            assert getattr(raced[method], name) in tried


def test_the_stored_policy_does_what_the_table_says():
    """From rest, that of the run whose last trial was the cheapest, drives the pole up."""
    races, task = dataset("cartpole-races"), swing_up(np.zeros(1), horizon=25)
    last = races[(races[:, 0] == 9) & (races[:, 2] == 6)]
    given = pilco.initial_policy(
        task, FORCE, scale=np.asarray([1.0, 3.0, 6.0]), num_basis_functions=50, rng=0
    )
    policy = flatten(given)[1](dataset("cartpole-policy")[0])
    driven = simulate(policy, task.mean, 25)
    assert abs(task.observed_costs(driven).mean() - last[:, 5].min()) < 0.1


def test_a_search_that_goes_on_replaces_the_last_trial(races, monkeypatch):
    """The model of the last trial, its policy, and as many iterations as the method says."""
    script, asked = races["cartpole_races"], []

    def learn(task, tried, propose, *, policy, **rest):
        found = SimpleNamespace(cost=0.5, policy=policy)
        for number in (1, 2):
            yield SimpleNamespace(
                number=number, improvement=found, observed=tried(policy), dynamics=f"model {number}"
            )

    def improve_policy(policy, dynamics, task, *, max_steps):
        asked.append((dynamics, max_steps))
        return SimpleNamespace(cost=0.25, policy=policy, message="")

    monkeypatch.setattr(script, "learn", learn)
    monkeypatch.setattr(script, "improve_policy", improve_policy)
    ((trial, _, expected, _, _),), _ = script.run("pilco continued", 0)
    assert (trial, expected, asked) == (2, 0.25, [("model 2", 400)])
