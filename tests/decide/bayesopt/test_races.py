"""The races of optimisers: what they minimise, and what the stored table says of them."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from gpnotes import dataset, stream
from gpnotes.decide.bayesopt import dim_scaled_model
from gpnotes.model.priors import LogNormalPrior

REGRETS = slice(6, 16)


@pytest.fixture(scope="module")
def races(root):
    """The modules of the folder, which is no package: they are scripts that sit together."""
    names = "race_objectives", "race_contestants", "optimisation_races", "search_races"
    names += "noisy_objectives", "noisy_contestants", "noisy_searches"
    names += ("kept_runs",)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks" / "races"))
        yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name)


@pytest.fixture
def objectives(races):
    return races["race_objectives"]


def slopes(function, u, step=1e-5):
    ends = [(function(u + step * e), function(u - step * e)) for e in np.eye(len(u))]
    return np.asarray([(above - below) / (2.0 * step) for above, below in ends])


@pytest.mark.parametrize("place", [(-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475)])
def test_branin_has_three_minima_that_are_equal(objectives, place):
    u = np.asarray([place[0] + 5.0, place[1]]) / 15.0
    assert objectives.branin(u) == pytest.approx(5.0 / (4.0 * np.pi), abs=1e-12)
    np.testing.assert_allclose(slopes(objectives.branin, u), 0.0, atol=1e-4)


def test_branin_is_nowhere_below_them(objectives):
    lines = np.linspace(0.0, 1.0, 201)
    values = [objectives.branin(np.asarray([a, b])) for a in lines for b in lines]
    assert min(values) >= 5.0 / (4.0 * np.pi)
    # by hand: the square at the corner is (0 - 5.1 * 25 / 4 pi^2 - 25 / pi - 6)^2
    corner = (5.1 * 25.0 / (4.0 * np.pi**2) + 25.0 / np.pi + 6.0) ** 2
    corner += 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(5.0) + 10.0
    assert objectives.branin(np.zeros(2)) == pytest.approx(corner, rel=1e-12)


def test_hartmann_has_the_minimum_that_the_literature_gives(objectives):
    u = np.asarray([0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054])
    least = objectives.PROBLEMS[1].least
    assert objectives.hartmann(u) == pytest.approx(least, abs=1e-12)
    np.testing.assert_allclose(slopes(objectives.hartmann, u), 0.0, atol=1e-5)
    places = np.random.default_rng(1).random((2000, 6))
    assert min(objectives.hartmann(place) for place in places) > least


def test_the_model_is_tuned_on_rows_that_are_not_those_it_is_judged_by(objectives):
    pytest.importorskip("sklearn")
    X, y, Xs, ys = objectives._diabetes(3)
    assert (len(y), len(ys)) == (309, 133)
    assert not set(map(bytes, X)) & set(map(bytes, Xs))
    loss = objectives.tuning(3)
    narrow = np.asarray([0.5, 1.0, 0.0])  # a kernel so narrow that it predicts one number
    wide = np.asarray([0.6, 0.4, 0.7])
    assert loss(narrow) == pytest.approx(float(np.std(y)), rel=0.05)
    assert loss(wide) < 0.8 * loss(narrow)


def test_the_table_is_whole(objectives):
    table = dataset("optimisation-races")
    keys = [tuple(map(int, row)) for row in table[:, :3]]
    assert keys == [(p, m, s) for p in range(3) for m in range(10) for s in range(20)]
    assert np.isfinite(table[:, [3, *range(5, 16)]]).all()
    assert np.array_equal(np.isfinite(table[:, 4]), table[:, 0] == 2)  # what was held out


def test_regret_is_never_negative_and_never_grows():
    regrets = dataset("optimisation-races")[:, REGRETS]
    assert (regrets >= 0.0).all()
    assert (np.diff(regrets, axis=1) <= 0.0).all()


def test_the_table_has_the_minima_of_the_test_functions(objectives):
    table = dataset("optimisation-races")
    for number, problem in enumerate(objectives.PROBLEMS[:2]):
        least = table[table[:, 0] == number, 3]
        np.testing.assert_allclose(least, problem.least, rtol=1e-6)


def test_races_that_no_ascent_takes_part_in_can_be_run_again(objectives, races):
    """The points of a seed are the same on every machine, and so are their regrets."""
    table = dataset("optimisation-races")
    for number, problem in enumerate(objectives.PROBLEMS[:2]):
        for method, name in enumerate(("random", "sobol")):
            row = races["optimisation_races"].run(problem, name, 4)
            best = np.minimum.accumulate(row["values"])
            counts = [problem.budget * part // 10 - 1 for part in range(1, 11)]
            stored = table[(table[:, :3] == [number, method, 4]).all(axis=1)][0]
            np.testing.assert_allclose(best[counts] - problem.least, stored[REGRETS], rtol=0.01)


def test_a_race_that_is_killed_goes_on_where_it_was(races, tmp_path, monkeypatch, capsys):
    script = races["optimisation_races"]
    short = replace(script.PROBLEMS[0], budget=20)
    monkeypatch.setattr(script, "PROBLEMS", (short, *script.PROBLEMS[1:]))
    runs, target = tmp_path / "runs.jsonl", tmp_path / "table.csv"
    options = ["--problems", "branin", "--methods", "random", "log_ei", "--seeds", "1"]
    options += ["--runs", str(runs), "--to", str(target)]
    monkeypatch.setattr(sys, "argv", ["optimisation_races.py", *options])
    assert script.main() == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in shown] == [
        ["branin", "random", "0"], ["branin", "log_ei", "0"],
    ]  # fmt: skip
    runs.write_text(runs.read_text()[: runs.read_text().index('"log_ei"')])
    assert script.main() == 0
    out, err = capsys.readouterr()
    assert [line.split()[1] for line in out.splitlines()] == ["log_ei"]
    assert err.startswith("not a run")
    rows = np.genfromtxt(target, delimiter=",", skip_header=1)
    assert rows[:, :3].tolist() == [[0, 0, 0], [0, 2, 0]]
    assert rows[1, 15] < rows[0, 15]  # the model is better than chance


def test_all_but_chance_begin_with_the_same_points(races):
    race = races["race_contestants"]
    problem = replace(races["race_objectives"].PROBLEMS[0], budget=9)
    found = {}
    for name in ("sobol", "log_ei"):
        found[name] = race.Race(problem, 5)
        race.CONTESTANTS[name](found[name])
    starts = [np.stack(run.points[: problem.initial]) for run in found.values()]
    np.testing.assert_array_equal(*starts)
    with pytest.raises(RuntimeError, match="budget"):
        found["sobol"](np.zeros(2))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("hartmann 3", [0.11458887, 0.5556489, 0.85254698]),
        ("rosenbrock 4", [0.4] * 4),
        ("ackley 5", [1.0 / 3.0] * 5),
        ("styblinski 10", [0.2096465955] * 10),
        ("levy 20", [0.55] * 20),
    ],
)
def test_each_of_the_wider_functions_is_least_where_the_literature_says(objectives, name, place):
    problem = next(one for one in objectives.WIDER if one.name == name)
    function, u = problem.objective(0), np.asarray(place)
    assert function(u) == pytest.approx(problem.least, abs=1e-9)
    rng = np.random.default_rng(1)
    near = u + 1e-3 * rng.standard_normal((50, len(u)))
    assert min(map(function, [*near, *rng.random((500, len(u)))])) > problem.least


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("goldstein-price", [0.5, 0.25]),
        ("six-hump camel", [0.5149736695, 0.3218359036]),
        ("shekel 4", [0.400074653, 0.400059291, 0.399966338, 0.39995098]),
        ("michalewicz 5", [0.7012066, 0.5, 0.40902552, 0.61212852, 0.54764254]),
        ("griewank 6", [1.0 / 3.0] * 6),
        ("cosine mixture 8", [0.35] * 8),
    ],
)
def test_each_of_the_unseen_functions_is_least_where_the_literature_says(objectives, name, place):
    problem = next(one for one in objectives.UNSEEN if one.name == name)
    function, u = problem.objective(0), np.asarray(place)
    assert len(u) == problem.dimensions
    assert function(u) == pytest.approx(problem.least, abs=1e-8)
    rng = np.random.default_rng(1)
    near = u + 1e-3 * rng.standard_normal((50, len(u)))
    assert min(map(function, [*near, *rng.random((500, len(u)))])) > problem.least
    assert not np.allclose(u, 0.5)  # whoever begins in the middle has no advantage


def test_a_simplex_spends_the_budget_from_the_points_that_all_begin_with(races):
    objectives, contestants = races["race_objectives"], races["race_contestants"]
    race = contestants.Race(replace(objectives.UNSEEN[0], budget=30), 1)
    contestants.UNSEEN_CONTESTANTS["simplex"](race)
    assert len(race.values) == 30
    np.testing.assert_array_equal(race.points[:10], race.first())
    assert min(race.values[10:]) < min(race.values[:10])


def test_noise_is_on_readings_and_not_on_what_they_are_judged_by(races):
    objectives, contestants = races["race_objectives"], races["race_contestants"]
    problem = next(one for one in objectives.WIDER if one.name == "hartmann 6 noisy")
    race = contestants.Race(problem, 3)
    contestants.WIDER_CONTESTANTS["random"](race)
    assert race.values == [objectives.hartmann(u) for u in race.points]
    off = np.asarray(race.readings) - race.values
    assert 0.7 * problem.noise < np.std(off) < 1.4 * problem.noise
    row = {"readings": [2.0, 1.0, 3.0] + [9.0] * 7, "values": [1.0, 1.5, 0.5] + [9.0] * 7}
    assert races["search_races"].regrets(row, 0.25)[0] == 1.25  # of the luckiest reading


def test_wider_races_can_be_run_again_and_never_grow(races):
    """Without noise; and those that no ascent takes part in are the same on every machine."""
    objectives, script = races["race_objectives"], races["search_races"]
    table = dataset("search-races")
    keys = [tuple(map(int, row)) for row in table[:, :3]]
    assert keys == sorted(set(keys))
    exact = table[[not objectives.WIDER[problem].noise for problem, _, _ in keys]]
    steps = np.diff(exact[:, 4:], axis=1)
    assert (steps[np.isfinite(steps)] <= 0.0).all()
    assert (table[:, 4] >= 0.0).all()
    for number in (0, 4, 7, 8):
        problem = replace(objectives.WIDER[number], budget=20)
        row = script.run(problem, "random", 0)
        stored = table[(table[:, :3] == [number, 0, 0]).all(axis=1)][0]
        np.testing.assert_allclose(script.regrets(row, problem.least)[:2], stored[4:6], rtol=0.01)


def test_unseen_races_are_whole_and_can_be_run_again(races):
    """Every start of every method is in the table; without an ascent it is so on every machine."""
    objectives, script = races["race_objectives"], races["search_races"]
    table = dataset("unseen-races")
    methods = (0, 1, 2, 3, 4, 6, 7)
    wanted = [(i, method, seed) for i in range(6) for method in methods for seed in range(20)]
    np.testing.assert_array_equal(table[:, :3], wanted)
    assert (np.diff(table[:, 4:9], axis=1) <= 0.0).all()
    assert (table[:, 4:9] >= 0.0).all()
    for number, problem in enumerate(objectives.UNSEEN):
        row = script.run(problem, "random", 3)
        stored = table[(table[:, :3] == [number, 0, 3]).all(axis=1)][0]
        np.testing.assert_allclose(script.regrets(row, problem.least)[:5], stored[4:9], rtol=0.01)


def test_a_short_race_is_run_again_to_a_later_end(races, tmp_path, monkeypatch, capsys):
    script = races["search_races"]
    runs, target = tmp_path / "runs.jsonl", tmp_path / "table.csv"
    options = ["--problems", "branin", "--methods", "random", "gpnotes", "--seeds", "1"]
    options += ["--runs", str(runs), "--to", str(target), "--until"]
    shown = []
    for until in ("10", "20", "20"):
        monkeypatch.setattr(sys, "argv", ["search_races.py", *options, until])
        assert script.main() == 0
        shown.append(len(capsys.readouterr().out.splitlines()))
    assert shown == [2, 2, 0]
    rows = np.genfromtxt(target, delimiter=",", skip_header=1)
    assert rows[:, :3].tolist() == [[0, 0, 0], [0, 1, 0]]
    assert np.isfinite(rows[:, 5]).all()
    assert np.isnan(rows[:, 6:]).all()


LEAST_AT = (
    [0.0242817], [0.7024814], [0.7584543], [0.1732368, 0.2075432], [0.6, 0.4],
    [1.0 / 3.0, 2.0 / 3.0], [0.6869753, 0.7565935], [1.0 / 3.0] * 6, [0.4] * 6,
    [(i * (7 - i) + 36) / 72 for i in range(1, 7)], [0.5095282], [0.8050715], [0.7978666],
    [0.5 + 0.1 * (1.0 + math.sqrt(2.0))], [0.3001285], [0.8, 0.7], [0.55, 0.65],
    [0.2650593, 0.5349407], [4.0 / 11.0] * 2, [0.4] * 6,
    [0.4 + 0.2 * 2.0 ** (2.0 ** (1 - i) - 1.0) for i in range(1, 7)],
    [math.sqrt(i) / 4.0 for i in range(1, 7)], [1.0 / 3.0] * 6, [0.9209687] * 6,
)  # fmt: skip


@pytest.mark.parametrize("number", range(24))
def test_each_function_of_the_races_under_noise_is_least_where_the_literature_says(races, number):
    objectives = races["noisy_objectives"]
    function, u = objectives.FUNCTIONS[number], np.asarray(LEAST_AT[number])
    problem = objectives.problems(0.3)[number]
    assert function(u) == pytest.approx(function.least, abs=1e-6)
    objective = problem.objective(0)
    assert objective(u) == pytest.approx(0.0, abs=1e-6)
    assert (problem.dimensions, problem.noise) == (len(u), 0.3)
    rng = np.random.default_rng(1)
    values = [objective(point) for point in rng.random((2000, len(u)))]
    assert min(values) > 0.0
    assert 0.8 < np.std(values) < 1.25  # in its own deviations
    assert not np.allclose(u, 0.5)


def test_races_under_noise_go_on_where_they_were(races, tmp_path, monkeypatch, capsys):
    script = races["noisy_searches"]
    runs = tmp_path / "runs.jsonl"
    options = ["--methods", "light thompson", "light bound, 4", "--noise", "0.3", "--inputs", "1"]
    options += ["--seeds", "1", "--runs", str(runs)]
    monkeypatch.setattr(sys, "argv", ["noisy_searches.py", *options])
    monkeypatch.setattr(script, "FUNCTIONS", script.FUNCTIONS[:2])
    assert script.main() == 0
    first = capsys.readouterr().out
    lines = runs.read_text().splitlines(keepends=True)
    assert len(lines) == 4
    runs.write_text("".join(lines[:3]) + lines[3][:20])
    assert script.main() == 0
    out, err = capsys.readouterr()
    assert out == first
    assert err.startswith("not a run")
    assert len(out.splitlines()) == 10  # a head of two, two methods in four fields
    assert "| 0.3 | 1 | light thompson | 2 | 2 |" in out


def test_runs_that_were_joined_are_the_same(races, tmp_path):
    script, joined = races["noisy_searches"], tmp_path / "joined.jsonl"
    race = {"method": "one", "inputs": 2, "problem": "a", "noise": 0.3}
    rows = [race | {"seed": seed, "missing": seed / 3.0} for seed in (2, 0, 1)]
    script.join([*rows, race | {"problem": "b", "seed": 0, "missing": 1.0}], joined)
    assert len(joined.read_text("utf-8").splitlines()) == 2
    assert script.runs_of(joined)[:3] == sorted(rows, key=lambda row: row["seed"])
    with pytest.raises(KeyError):  # a seed that is not there
        script.join(rows[:2], joined)


def test_the_error_of_a_race_under_noise_is_that_of_a_mean_over_functions(races):
    field = {"noise": 0.3, "inputs": 1}
    rows = [
        {"problem": name, "method": method, "seed": seed, "missing": left, **field}
        for name, method, seed, left in [
            ("a", "one", 0, 1.0), ("a", "one", 1, 3.0), ("b", "one", 0, 1.0), ("b", "one", 1, 1.0),
            ("a", "two", 0, 0.0), ("a", "two", 1, 2.0), ("b", "two", 0, 4.0),
        ]
    ]  # fmt: skip
    lines = races["noisy_searches"].standings(rows, ["one", "two"])
    # ahead by 1 on a and by -3 on b: -1 in the mean, deviation sqrt(8), over sqrt(2)
    assert lines[3] == "| 0.3 | 1 | two | 2 | 3 | 2.500 | -1.000 ± 2.000 | 1 of 2 |"


def test_the_printed_standings_under_noise_are_those_of_the_kept_runs(races, root):
    script = races["noisy_searches"]
    rows = script.runs_of(root / "benchmarks" / "races" / "noisy-searches.jsonl")
    others = sorted({row["method"] for row in rows} - {"light improvement"})
    found = script.standings(rows, ["light improvement", *others])
    text = (root / "benchmarks" / "quality.md").read_text("utf-8")
    _, _, text = text.partition("## Searches under noise")
    printed = [line for line in text.splitlines() if line.startswith("|")]
    assert len(printed) > 10
    assert not set(printed) - set(found)


def test_light_rules_are_those_of_which_the_answer_is_known(races):
    """Draws have the moments of the belief; the knowledge gradient is that of draws."""
    light = races["noisy_contestants"]
    rng = np.random.default_rng(2)
    X = rng.random((6, 1))
    y, at = np.sin(6.0 * X[:, 0]), np.linspace(0.05, 0.95, 7)[:, None]
    belief = light.Belief(np.log([1.0, 0.1, 0.3]), X, y)
    mean, variance = belief.at(at)
    drawn = light._draws(belief, at, 20_000, rng)
    assert np.all(np.abs(np.mean(drawn, axis=0) - mean) < 5.0 * np.sqrt(variance / 20_000))
    np.testing.assert_allclose(np.var(drawn, axis=0), variance, rtol=0.05)
    level, slope = belief.at(X)[0], belief.covariance(at, X)
    spread, z = np.sqrt(variance + belief.noise)[:, None], rng.standard_normal(40_000)
    tops = [np.max(level + slope[i] / spread[i] * z[:, None], axis=1) for i in range(7)]
    tops = [np.maximum(top, mean[i] + variance[i] / spread[i] * z) for i, top in enumerate(tops)]
    found = light.knowledge_gradient(belief, at, rng)
    np.testing.assert_allclose(found, np.mean(tops, axis=1), atol=0.01)


@pytest.mark.parametrize("d", [1, 6])
def test_the_light_model_is_that_of_the_package(races, d):
    light = races["noisy_contestants"]
    rng = np.random.default_rng(d)
    X = rng.random((20, d))
    y = np.sin(6.0 * X[:, 0]) + 0.3 * rng.standard_normal(20)
    y = (y - np.mean(y)) / np.std(y)
    posterior = dim_scaled_model(X, y, rng=stream(1))
    gp, (location, scale) = posterior.gp, light.scaled(d)
    lengths = np.broadcast_to(gp.kernel.lengthscale, (d,))
    prior = LogNormalPrior(location, scale).log_density(lengths)
    prior += d * (math.log(scale) + 0.5 * math.log(2.0 * math.pi))  # which the light one leaves out
    start = np.log([gp.kernel.variance, gp.noise_var, *lengths])
    logs, top = light.fitted_numbers(X, y, (location, scale), [start])
    assert top == pytest.approx(posterior.log_evidence + prior, abs=1e-4)
    np.testing.assert_allclose(logs[:2], start[:2], atol=0.02)
    Xs = rng.random((5, d))
    mean, variance = light.Belief(start, X, y).at(Xs)
    np.testing.assert_allclose(mean, posterior.mean(Xs), atol=1e-4)
    np.testing.assert_allclose(variance, posterior.predict(Xs)[1], atol=1e-6)
