"""The benchmarks run, compare what they time, and see the memory that they report."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from gpnotes.decide import moments
from gpnotes.model import kernels
from gpnotes.testing import gradcheck

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def rivals():
    """What they compare with; whoever leaves the nightly tests out need not import it."""
    for name in ("sklearn", "threadpoolctl", "jax"):
        pytest.importorskip(name)


@pytest.fixture
def bench(root, monkeypatch):
    """The modules of the folder, which is no package: they are scripts that sit together."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    names = (
        "in_jax", "in_sklearn", "sum_contestants", "game_contestants", "rollout_contestants",
        "sample_contestants", "contestants", "sums_table",
        "measure", "floor_rows", "games_table", "moments_table", "samples_table", "run",
        "pendulum_contestants", "pendulum_table", "feature_contestants", "bound_contestants",
        "epoch_contestants", "approximations_table", "which_approximation", "path_contestants",
        "paths_table", "whole_fit", "kernels_table", "gradients_table",
        "processes_table", "learning_table", "processor_time", "line_table", "peers_table",
        "chain_contestants", "network_contestants", "deep_contestants", "inference_table",
        "one_row",
    )  # fmt: skip
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name)


def test_one_command_prints_a_table_and_writes_a_json(root, tmp_path):
    target = tmp_path / "new" / "benchmarks.json"
    options = ["--sizes", "60", "--predict", "40", "--points", "30", "--rounds", "2"]
    options += ["--summed", "0", "--mixtures", "0", "--steps", "0", "--drawn-at", "0"]
    options += ["--featured", "0", "--bounded", "0", "--labelled", "0", "--peers", "0"]
    shown = subprocess.run(
        [sys.executable, root / "benchmarks" / "run.py", *options, "--json", target],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    ).stdout
    report = json.loads(target.read_text())
    assert [(row["task"], row["n"]) for row in report["rows"]] == [
        ("evidence", 60),
        ("prediction", 40),
    ]
    for row in report["rows"]:
        assert f"{row['task']:<14}{row['n']:>6}" in shown
        assert row["seconds"].keys() == row["peak_bytes"].keys()
        assert len(row["seconds"]["gpnotes"]) == len(row["seconds"]["floor"]) == 2
        assert row["disagreement"] < 1e-10
    assert report["machine"]["packages"].keys() >= {"numpy", "scipy", "scikit-learn"}


def test_figures_of_small_problems_do_not_come_into_the_readme(root, tmp_path):
    command = [sys.executable, root / "benchmarks" / "run.py", "--speed", "--drawn-at", "200"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "--speed is for the usual sizes; leave out --drawn-at" in done.stderr


@pytest.mark.parametrize("task", ["evidence", "prediction"])
def test_both_packages_give_the_same_answer(bench, task):
    timings = bench["measure"].times(task, 80, 50, rounds=1, seldom=1)
    assert bench["measure"].disagreement(timings) < 1e-10
    size = 1 + 1 + 8 + 1 if task == "evidence" else 2 * 50
    assert timings["gpnotes"]["answer"].shape == (size,)


def test_the_floor_does_the_work_that_it_stands_for(bench):
    problem = bench["contestants"].Problem(50, 20)
    Ky = problem.Ky.copy()
    found = {}
    for name, prepare in (
        ("inverse", bench["contestants"].floor_of_evidence),
        ("half", bench["contestants"].floor_of_prediction),
    ):
        call = prepare(problem)
        call()
        found[name] = {
            k: c.cell_contents
            for k, c in zip(call.__code__.co_freevars, call.__closure__, strict=True)
        }
    lower = np.tril(found["inverse"]["matrix"])
    np.testing.assert_allclose(lower, np.tril(np.linalg.inv(Ky)), rtol=1e-8, atol=1e-10)
    cross = problem.gp.kernel(problem.data[0], problem.data[2])
    half = np.linalg.solve(np.linalg.cholesky(Ky), cross)
    np.testing.assert_allclose(found["half"]["cross"], half, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(problem.Ky, Ky)


@pytest.mark.parametrize(("error", "shown"), [(1e-6, "1.0e-06"), (float("nan"), "nan")])
def test_answers_that_differ_end_in_an_error(bench, monkeypatch, tmp_path, capsys, error, shown):
    ours = bench["contestants"].our_evidence

    def wrong(problem):
        call = ours(problem)
        return lambda: call() + error * np.max(np.abs(call()))

    other = bench["contestants"].Contestant("gpnotes", wrong)
    floor, _, theirs = bench["contestants"].TASKS["evidence"]
    monkeypatch.setitem(bench["contestants"].TASKS, "evidence", (floor, other, theirs))
    monkeypatch.setattr(bench["run"], "peak_bytes", lambda *_: 8 * 40**2)
    options = ["--sizes", "40", "--predict", "", "--rounds", "1", "--json", str(tmp_path / "b")]
    options += ["--summed", "0", "--mixtures", "0", "--steps", "0", "--drawn-at", "0"]
    options += ["--featured", "0", "--bounded", "0", "--labelled", "0", "--peers", "0"]
    monkeypatch.setattr(sys, "argv", ["run.py", *options])
    assert bench["run"].main() == 1
    assert f"differ by at most {shown}" in capsys.readouterr().out


def test_ways_to_approximate_agree_and_a_gap_ends_in_an_error(bench, monkeypatch, tmp_path, capsys):
    table = bench["approximations_table"]
    for task in ("features", "bound", "epoch"):
        row = table.row(task, 300, 40, rounds=1)
        assert (row["n"], row["size"]) == (300, 40)
        assert row["disagreement"] < 1e-8
        assert row["peak_bytes"].keys() == {"floor", "gpnotes"}
        wrong = {**row, "disagreement": 1e-6}
        monkeypatch.setattr(table, "row", lambda *_, wrong=wrong: wrong)
        monkeypatch.setattr(sys, "argv", ["approximations_table.py"])
        assert table.main() == 1
        options = ["--sizes", "", "--predict", "", "--summed", "0", "--mixtures", "0"]
        options += ["--steps", "0", "--peers", "0"]
        options += ["--drawn-at", "0", "--json", str(tmp_path / "b")]
        monkeypatch.setattr(sys, "argv", ["run.py", *options])
        assert bench["run"].main() == 1
        assert json.loads((tmp_path / "b").read_text()).keys() >= {"features", "bound", "epoch"}
        monkeypatch.undo()
    shown = capsys.readouterr().out
    assert "features: 40 random features of 300 rows" in shown
    assert "bound: VFE of 300 rows, 40 inducing points" in shown
    assert "differ by at most 1.0e-06" in shown


def test_what_users_would_take_instead_gives_the_same_answer(bench, monkeypatch, tmp_path, capsys):
    table = bench["peers_table"]
    monkeypatch.setattr(sys, "argv", ["peers_table.py", "--readings", "4000", "--rounds", "1"])
    assert table.main() == 0
    shown = capsys.readouterr().out
    assert all(task in shown for task in table.TASKS)
    wrong = {"task": "x", "n": 1, "seconds": {"gpnotes": 1.0, "y": 2.0}, "disagreement": 1e-6}
    monkeypatch.setattr(table, "row", lambda *_: wrong)
    assert table.main() == 1
    options = ["--sizes", "", "--predict", "", "--summed", "0", "--mixtures", "0", "--steps", "0"]
    options += ["--drawn-at", "0", "--featured", "0", "--bounded", "0", "--labelled", "0"]
    monkeypatch.setattr(sys, "argv", ["run.py", *options, "--json", str(tmp_path / "b")])
    assert bench["run"].main() == 1
    assert "y 2.0000" in capsys.readouterr().out


def test_a_row_is_predicted_as_by_scikit_learn(bench, monkeypatch, capsys):
    one_row = bench["one_row"]
    options = ["x", "--readings", "40", "--calls", "1", "--rounds", "1"]
    monkeypatch.setattr(sys, "argv", options)
    assert one_row.main() == 0
    assert capsys.readouterr().out.count("µs") == 16
    wrong = dict(one_row.sides(40), mean=(lambda rows: rows[:, 0], lambda rows: rows[:, 1]))
    monkeypatch.setattr(one_row, "sides", lambda n: wrong)
    assert one_row.main() == 1


def test_runs_at_once_learn_what_a_plain_loop_learns(bench, monkeypatch, capsys):
    table = bench["learning_table"]
    monkeypatch.setattr(sys, "argv", ["x", "--runs", "20", "--steps", "200", "--rounds", "1"])
    assert table.main() == 0
    assert "ahead of a plain loop by" in capsys.readouterr().out
    wrong = table.with_lists
    monkeypatch.setattr(table, "with_lists", lambda *given: wrong(*given) + 1.0)
    assert table.main() == 1
    assert "with lists has learnt something else" in capsys.readouterr().out


def test_a_sum_and_a_product_stand_beside_one_kernel(bench, monkeypatch, tmp_path, capsys):
    table = bench["sums_table"]
    options = ["--sizes", "", "--predict", "", "--mixtures", "0", "--steps", "0"]
    options += ["--drawn-at", "0", "--featured", "0", "--bounded", "0", "--labelled", "0"]
    options += ["--peers", "0"]
    for task in ("sum", "product"):
        row = table.row(task, 120, rounds=2)
        assert [len(spent) for spent in row["seconds"].values()] == [2, 2, 2, 1, 1]
        assert row["peak_bytes"].keys() == {"floor", "alone", "gpnotes", "general"}
        assert row["disagreement"] < 1e-8
        for gap, code in ((1e-6, 1), (1e-9, 0)):
            given = {**row, "disagreement": gap}
            monkeypatch.setattr(table, "row", lambda *_, given=given: given)
            monkeypatch.setattr(sys, "argv", ["sums_table.py"])
            assert table.main() == code
            monkeypatch.setattr(sys, "argv", ["run.py", *options, "--json", str(tmp_path / "b")])
            assert bench["run"].main() == code
            assert json.loads((tmp_path / "b").read_text()).keys() >= {"sum", "product"}
        monkeypatch.undo()
    shown = capsys.readouterr().out
    assert "product: the evidence of 120 rows with its gradient by all parameters" in shown
    assert "× one kernel alone (median" in shown


def test_libraries_load_before_the_clock_starts(bench, monkeypatch):
    seen = []

    def prepare(problem):
        return lambda: seen.append(problem.n)

    task = [bench["contestants"].Contestant(name, prepare) for name in ("floor", "gpnotes")]
    monkeypatch.setitem(bench["contestants"].TASKS, "evidence", task)
    timings = bench["measure"].times("evidence", 80, 50, rounds=2, seldom=1)
    assert seen == [50, 50] + 8 * [80]  # each round calls twice and times the second
    assert [len(value["seconds"]) for value in timings.values()] == [2, 2]


def test_memory_that_cannot_be_reset_is_not_guessed(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(bench["measure"], "_CLEAR", tmp_path / "none" / "clear_refs")
    one = bench["contestants"].TASKS["evidence"][1]
    assert bench["measure"]._rise(one, bench["contestants"].Problem(60, 10)) is None


def test_growth_is_read_off_the_two_largest_sizes(bench):
    rows = [
        {
            "task": "evidence",
            "n": n,
            "seconds": {"gpnotes": [1e-9 * n**3, 2e-9 * n**3, 3e-9 * n**3]},
            "peak_bytes": {"gpnotes": 16 * n**2},
        }
        for n in (5000, 10, 2000)
    ]
    rows[1]["seconds"]["gpnotes"] = [1.0]  # the smallest: mostly overhead
    growth = bench["run"].growth(rows)["gpnotes"]
    assert growth == pytest.approx({"time": 3.0, "memory": 2.0})


def test_the_memory_of_the_gradient_is_seen_and_is_one_matrix_and_a_few_tiles(bench):
    n = 1500
    peak = bench["measure"].peak_bytes("evidence", "gpnotes", n, 10)
    if peak is None:
        pytest.skip("this system does not tell a process its memory")
    assert 1.0 < peak / (8 * n**2) < 1.6


def test_the_table_of_approximations_can_be_made_again(bench, monkeypatch, tmp_path):
    target = tmp_path / "table.csv"
    options = ["--seeds", "1", "--sizes", "600", "--to", str(target)]
    monkeypatch.setattr(sys, "argv", ["which_approximation.py", *options])
    assert bench["which_approximation"].main() == 0
    table = np.loadtxt(target, delimiter=",", skiprows=1)
    assert table[:, :4].tolist() == [
        [circle, method, 600, 0] for circle, method in [(0, k) for k in (0, 1, 2, 3, 5)]
        + [(1, k) for k in (0, 2, 4)]
    ]  # fmt: skip
    errors = table[:, 6]
    assert np.all(errors < 0.5)
    assert errors[2] == pytest.approx(errors[3], rel=0.2)  # all rows, and batches of them


def test_ways_to_evaluate_a_game_that_differ_end_in_an_error(bench, monkeypatch, tmp_path, capsys):
    row = bench["games_table"].row(6, 3, rounds=1)
    assert (row["mixtures"], row["profiles"]) == (3, 6)
    assert row["seconds"].keys() == row["peak_bytes"].keys()
    assert len(row["seconds"]["gaussian"]) == len(row["seconds"]["floor"]) == 1
    assert row["disagreement"] < 1e-10
    wrong = {**row, "disagreement": 1e-6}
    monkeypatch.setattr(bench["run"].games_table, "row", lambda *_: wrong)
    options = ["--sizes", "", "--predict", "", "--steps", "0", "--json", str(tmp_path / "b")]
    options += ["--summed", "0", "--drawn-at", "0"]
    options += ["--featured", "0", "--bounded", "0", "--labelled", "0", "--peers", "0"]
    monkeypatch.setattr(sys, "argv", ["run.py", *options])
    assert bench["run"].main() == 1
    shown = capsys.readouterr().out
    assert "games: 3 mixtures of 4 + 4 strategies" in shown
    assert "one by one" in shown


def test_ways_to_roll_out_agree(bench):
    """By themselves, for jax compiles for seconds."""
    row = bench["moments_table"].row(11, 3, rounds=2)
    assert (row["steps"], row["points"]) == (3, 11)
    assert [len(spent) for spent in row["seconds"].values()] == [2, 2, 1]
    assert row["disagreement"] < 1e-10
    assert row["peak_bytes"].keys() == {"floor", "gpnotes"}


def test_ways_to_roll_out_a_pendulum_agree(bench, monkeypatch, capsys):
    """With sines, a network and the saturating cost, as far as the textbook's digits go."""
    row = bench["pendulum_table"].row(30, horizon=4, bumps=6, rounds=2)
    assert row["disagreement"] < 1e-6
    assert all(seconds > 0.0 for seconds in row["seconds"].values())
    monkeypatch.setattr(bench["pendulum_table"], "row", lambda n, rounds: {**row, "n": n})
    monkeypatch.setattr(sys, "argv", ["pendulum_table.py", "--sizes", "70", "200"])
    bench["pendulum_table"].main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["70", "200"]
    assert "at most 3 wanted" in lines[2]


SMALL = {
    "ellipse": {"n": 30, "draws": 400}, "no-u-turn": {"n": 40},
    "network": {"n": 30, "width": 5, "steps": 20}, "deep": {"n": 40, "points": 7},
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_ways_to_infer_without_a_formula_agree(bench, monkeypatch, capsys, name):
    table = bench["inference_table"]
    row = table.row(name, rounds=1, chain=60, **SMALL[name])
    assert table.agreed(row)
    assert row["figures"]["gpnotes"] > 0.0
    assert ("chain" in row) == (name == "no-u-turn")
    key, gap = ("off", 6.0) if name == "ellipse" else ("disagreement", float("nan"))
    for given, code in ((row, 0), ({**row, key: gap}, 1)):
        monkeypatch.setattr(table, "row", lambda *_, given=given: given)
        monkeypatch.setattr(sys, "argv", ["inference_table.py", "--only", name])
        assert table.main() == code
    shown = capsys.readouterr().out
    assert "reached" in shown or "MISSED" in shown


@pytest.mark.parametrize(("last", "gap"), [(1.0, "0.0e+00"), (1.1, "9.1e-02")])
def test_ways_to_roll_out_that_differ_end_in_an_error(
    bench, monkeypatch, tmp_path, capsys, last, gap
):
    times = {name: [0.2, 0.1] for name in ("floor", "gpnotes", "jax")}
    answers = {"floor": None, "gpnotes": np.ones(4), "jax": np.asarray([1.0, 1.0, last, 1.0])}
    found = {name: {"seconds": times[name], "answer": answers[name]} for name in times}
    monkeypatch.setattr(bench["floor_rows"], "times", lambda *_, **__: found)
    monkeypatch.setattr(bench["floor_rows"], "peak_bytes", lambda *_: None)
    options = ["--sizes", "", "--predict", "", "--mixtures", "0", "--json", str(tmp_path / "b")]
    options += ["--summed", "0", "--drawn-at", "0"]
    options += ["--featured", "0", "--bounded", "0", "--labelled", "0", "--peers", "0"]
    monkeypatch.setattr(sys, "argv", ["run.py", *options])
    assert bench["run"].main() == int(last != 1.0)
    shown = capsys.readouterr().out
    assert "moments: a rollout of 40 steps and its gradient" in shown
    assert f"differ by at most {gap}" in shown
    assert json.loads((tmp_path / "b").read_text())["moments"]["seconds"] == times


def test_the_gradient_of_the_rollout_agrees_with_differences(bench):
    """So that the contestant and ours, which share their data, are not wrong alike."""
    problem = bench["rollout_contestants"].RolloutProblem(15, 4)
    posteriors, policy, m, S = problem.data
    model = moments.predictor(posteriors)

    def cost(gain, offset):
        moved = bench["rollout_contestants"].Policy(gain, offset)
        return bench["rollout_contestants"].rollout(model, moved, m, S, 4)[0]

    def pullback(gain, offset, bar):
        moved = bench["rollout_contestants"].Policy(gain, offset)
        return tuple(
            bar * one for one in bench["rollout_contestants"].rollout(model, moved, m, S, 4)[1:]
        )

    gradcheck(cost, pullback, policy.gain, policy.offset)


def test_ways_to_draw_samples_agree_and_a_gap_ends_in_an_error(
    bench, monkeypatch, tmp_path, capsys
):
    row = bench["samples_table"].row(40, 30, rounds=2)
    assert (row["observations"], row["points"], row["draws"]) == (40, 30, 100)
    assert [len(spent) for spent in row["seconds"].values()] == [2, 2, 1]
    assert row["disagreement"] < 1e-8
    wrong = {**row, "disagreement": 1e-6}
    monkeypatch.setattr(bench["run"].samples_table, "row", lambda *_: wrong)
    paths = bench["paths_table"].row(40, 30, rounds=1)
    monkeypatch.setattr(bench["run"].paths_table, "row", lambda *_: paths)
    options = ["--sizes", "", "--predict", "", "--summed", "0", "--mixtures", "0"]
    options += ["--steps", "0"]
    options += ["--featured", "0", "--bounded", "0", "--labelled", "0", "--peers", "0"]
    monkeypatch.setattr(sys, "argv", ["run.py", *options, "--json", str(tmp_path / "b")])
    assert bench["run"].main() == 1
    shown = capsys.readouterr().out
    assert "samples: 100 draws of f at 30 points in 8 dimensions, 40 observations" in shown
    assert "differ by at most 1.0e-06" in shown


def test_ways_to_draw_paths_agree(bench):
    row = bench["paths_table"].row(40, 30, rounds=2)
    assert (row["observations"], row["points"], row["draws"], row["features"]) == (
        40,
        30,
        100,
        1024,
    )
    assert [len(spent) for spent in row["seconds"].values()] == [2, 2, 1, 1]
    assert row["disagreement"] < 1e-9
    assert "× the floor of joint draws, target 2.3" in bench["paths_table"].shown(row)


@pytest.mark.parametrize("name", ["gpnotes", "scikit-learn"])
def test_a_whole_fit_is_watched_from_its_start_to_its_end(bench, name):
    whole_fit = bench["whole_fit"]
    X, y = whole_fit.data()
    taken = whole_fit.round_of(whole_fit.CONTESTANTS[name], X[:200], y[:200])
    values = [value for _, value in taken.seen]
    assert max(values) == pytest.approx(taken.reached, abs=1e-6)
    assert values[0] < taken.reached - 1.0
    assert 0.0 < taken.until(values[0]) < taken.until(taken.reached - 1e-3) <= taken.seconds
    assert np.isnan(taken.until(taken.reached + 1.0))


def test_the_floor_of_samples_ends_with_their_deviations_from_the_mean(bench):
    contestants = bench["sample_contestants"]
    problem = contestants.SampleProblem(40, 30)
    posterior, Xs = problem.data
    call = contestants.floor(problem)
    call()
    cells = zip(call.__code__.co_freevars, call.__closure__, strict=True)
    z = {name: cell.cell_contents for name, cell in cells}["z"]
    draws = contestants.ours(problem)() - posterior.mean(Xs)
    np.testing.assert_allclose(z.T, draws, rtol=1e-6, atol=1e-9)


def test_every_kernel_is_measured_and_one_that_differs_ends_in_an_error(bench, monkeypatch, capsys):
    table = bench["kernels_table"]
    monkeypatch.setattr(sys, "argv", ["kernels_table", "--rows", "30", "--rounds", "1"])
    assert table.main() == 0
    shown = capsys.readouterr().out
    assert all(f"\n{task.name}" in shown for task in table.tasks())
    wrong = [replace(table.tasks()[0], kernel=kernels.RBF(1.01, 2.0))]
    monkeypatch.setattr(table, "tasks", lambda: wrong)
    assert table.main() == 1


def test_those_who_are_told_gradients_are_told_the_right_ones(bench):
    """And a descent counts what it asks for."""
    table = bench["gradients_table"]
    both = table.with_gradient(lambda u: float(np.sin(3.0 * u[0]) * u[1]))
    value, slope = both(np.asarray([0.3, 0.7]))
    assert value == pytest.approx(np.sin(0.9) * 0.7)
    np.testing.assert_allclose(slope, [2.1 * np.cos(0.9), np.sin(0.9)], rtol=1e-8)
    asked = []

    def bowl(u):
        asked.append(u)
        return float(np.sum((u - 0.5) ** 2)), 2.0 * (u - 0.5)

    assert table.climbed(bowl, [np.zeros(2), np.ones(2) * 0.9], 6) < 1e-12
    assert len(asked) <= 6


def test_the_gap_of_two_answers_sees_payoffs_and_slopes_along_the_simplex(bench):
    games = bench["game_contestants"]
    model, mixtures = games.GameProblem(5, 4).data
    payoffs, slopes = model.deviation_payoffs_and_jacobian(mixtures, method="gaussian")
    across = slopes + 3.0  # the same for every strategy of a role: nothing along the simplex
    assert games.largest_gap(model.game, (payoffs, slopes), (payoffs, across)) < 1e-12
    bent = slopes.copy()
    bent[1, 2, 3] += 1e-3 * np.max(np.abs(slopes))
    assert games.largest_gap(model.game, (payoffs, slopes), (payoffs, bent)) > 1e-4
    assert games.largest_gap(model.game, (payoffs, slopes), (payoffs * 1.001, slopes)) > 1e-4


@pytest.mark.parametrize(("method", "n", "few"), [("gaussian", 400, 1000), ("exact", 60, 300)])
def test_memory_for_a_game_is_bounded_by_chunks_and_not_by_the_batch(bench, method, n, few):
    small, large = (bench["measure"].peak_bytes("games", method, n, k) for k in (few, 6 * few))
    if small is None:
        pytest.skip("this system does not tell a process its memory")
    assert large < 1.3 * small + 15e6


def test_processes_are_solved_alike_and_beside_their_products(bench):
    table = bench["processes_table"]
    row = table.row(200, 3, 1e-8, rounds=2)
    assert row["apart"] <= 2e-8
    assert {"floor", "gpnotes", "plain SciPy"} <= row["seconds"].keys()
    assert all(len(spent) == 2 for spent in row["seconds"].values())
    assert "times the floor" in table.shown(row)
    mdp = table.process(200, 3)
    counted = table.products(mdp, 1e-8)
    assert counted[600] >= 3
    assert counted[200] >= counted[600]
