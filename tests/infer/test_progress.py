"""While one waits: steps are told, a bar moves, and either may end the fit."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import GP, RBF, SVGP, StudentT, fit, stream
from gpnotes.infer.svgp import Minibatches


@pytest.fixture
def data(rng):
    X = rng.uniform(0.0, 6.0, (20, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=20)


@pytest.fixture
def bars(monkeypatch):
    """The bars that were made, in the place of tqdm's."""
    made = []

    class Bar:
        def __init__(self, total, **others):
            self.total, self.done, self.closed, self.words = total, 0, False, []
            made.append(self)

        def update(self, n):
            self.done += n

        def set_postfix_str(self, words):
            self.words.append(words)

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    return made


def settings(**others):
    return {"restarts": 2, "rng": stream(0), "max_steps": 3, **others}


def test_each_evaluation_is_told_with_the_best_so_far(data):
    heard = []
    found = fit(GP(RBF(), 0.1), *data, on_step=heard.append, **settings())
    assert found.runs == fit(GP(RBF(), 0.1), *data, **settings()).runs
    assert sorted({step.run for step in heard}) == [0, 1, 2]
    for number in range(3):
        steps = [step for step in heard if step.run == number]
        assert [step.evaluation for step in steps] == list(range(1, len(steps) + 1))
        best = np.maximum.accumulate([step.objective for step in steps])
        np.testing.assert_array_equal([step.best for step in steps], best)
    assert sum(run.evaluations for run in found.runs) == len(heard)


def test_a_listener_may_end_the_fit_and_the_best_so_far_comes_back(data):
    heard = []

    def enough(step):
        heard.append(step)
        return step.evaluation == 4

    found = fit(GP(RBF(), 0.1), *data, on_step=enough, restarts=2, rng=stream(0))
    (run,) = found.runs
    assert (run.evaluations, run.converged, run.message) == (4, False, "on_step ended it")
    assert run.log_evidence == max(step.objective for step in heard)
    with pytest.raises(TypeError, match=r"on_step\(step\) must be True or False; got 1"):
        fit(GP(RBF(), 0.1), *data, on_step=lambda step: 1)
    with pytest.raises(ValueError, match="on_step must not be given with jobs"):
        fit(GP(RBF(), 0.1), *data, on_step=enough, jobs=map)


def test_a_step_without_an_evidence_is_told_as_minus_infinity(data):
    heard = []
    fit(GP(RBF(), 0.1), *data, on_step=heard.append, **settings(restart_sd=1e5))
    assert -np.inf in [step.objective for step in heard if step.run]


def test_a_bar_has_a_tick_for_each_evaluation_and_is_closed_after_an_error_too(data, bars):
    found = fit(GP(RBF(), 0.1), *data, progress=True, **settings())
    (bar,) = bars
    assert (bar.total, bar.closed) == (None, True)
    assert bar.done == sum(run.evaluations for run in found.runs)
    assert bar.words[0].startswith("run 1 of 3, objective -")
    assert bar.words[-1].startswith("run 3 of 3, objective ")

    def stumble(run):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fit(GP(RBF(), 0.1), *data, progress=True, callback=stumble, **settings())
    assert bars[1].closed
    assert bars[1].done < bar.done


def test_a_bar_of_other_jobs_counts_the_runs(data, bars):
    fit(GP(RBF(), 0.1), *data, progress=True, jobs=map, **settings())
    assert (bars[0].total, bars[0].done, bars[0].closed) == (3, 3, True)


def test_a_bar_of_batches_counts_the_steps(data, bars):
    X, y = data
    model = SVGP(GP(RBF(), 0.0), StudentT(0.2, 4.0), X[:5])
    fit(model, X, y, minibatches=Minibatches(7), max_steps=4, progress=True, rng=stream(1))
    assert (bars[0].total, bars[0].done, bars[0].closed) == (4, 4, True)
    assert bars[0].words[-1].startswith("bound ")


def test_the_bar_of_tqdm_counts_the_evaluations(data, capsys):
    pytest.importorskip("tqdm", reason="the extra `progress` brings it")
    fit(GP(RBF(), 0.1), *data, progress=True, **settings())
    assert "evaluation" in capsys.readouterr().err
