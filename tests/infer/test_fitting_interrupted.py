"""Ctrl-C ends a fit and keeps what was found; within a search it is the search that ends."""

import warnings

import numpy as np
import pytest

from gpnotes import GP, RBF, SVGP, StudentT, fit, log_evidence, stream
from gpnotes.decide.bayesopt import minimise
from gpnotes.ground.interrupts import InterruptWarning, raised_interrupts
from gpnotes.infer.svgp import Minibatches

MODEL = GP(RBF(), 0.1)


@pytest.fixture
def data(rng):
    X = rng.uniform(0.0, 6.0, (20, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=20)


def interrupt_at(run, evaluation):
    """A listener that presses Ctrl-C at an evaluation."""

    def pressed(step):
        if (step.run, step.evaluation) == (run, evaluation):
            raise KeyboardInterrupt

    return pressed


def test_an_interrupted_fit_is_the_best_so_far(data):
    with pytest.warns(InterruptWarning, match="fit keeps the best of 1 run") as told:
        found = fit(MODEL, *data, on_step=interrupt_at(0, 4), restarts=2, rng=1)
    assert told[0].filename == __file__
    (run,) = found.runs
    assert (run.evaluations, run.converged, run.message) == (4, False, "interrupted")
    assert found.log_evidence > log_evidence(MODEL, *data)
    assert abs(log_evidence(found.model, *data) - found.log_evidence) < 1e-9
    assert abs(found.posterior.log_evidence - found.log_evidence) < 1e-9


def test_runs_that_had_ended_are_kept_too(data):
    whole = fit(MODEL, *data, restarts=2, rng=1)
    with pytest.warns(InterruptWarning, match="best of 2 runs"):
        found = fit(MODEL, *data, on_step=interrupt_at(1, 2), restarts=2, rng=1)
    assert len(found.runs) == 2
    assert next(run for run in found.runs if run.message != "interrupted") in whole.runs

    def pressed(run):
        raise KeyboardInterrupt

    with pytest.warns(InterruptWarning, match="best of 1 run"):
        found = fit(MODEL, *data, callback=pressed, restarts=2, rng=1)
    assert found.runs[0] in whole.runs


def test_before_there_is_anything_to_keep_an_interrupt_is_raised(data):
    def pressed(function, pieces):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(MODEL, *data, jobs=pressed)
    with pytest.raises(KeyboardInterrupt), raised_interrupts():
        fit(MODEL, *data, on_step=interrupt_at(0, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptWarning)
        with pytest.raises(InterruptWarning):
            fit(MODEL, *data, on_step=interrupt_at(0, 4))


def test_a_fit_from_batches_keeps_its_q(data):
    X, y = data

    def pressed(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    model = SVGP(GP(RBF(), 0.0), StudentT(0.2, 4.0), X[:5])
    with pytest.warns(InterruptWarning, match="best of 3 steps") as told:
        found = fit(
            model, X, y, minibatches=Minibatches(7), max_steps=9, callback=pressed, rng=stream(1)
        )
    assert told[0].filename == __file__
    assert (found.runs[0].message, found.runs[0].evaluations) == ("interrupted", 3)
    same = fit(model, X, y, minibatches=Minibatches(7), max_steps=3, rng=stream(1))
    np.testing.assert_array_equal(found.posterior.mean(X), same.posterior.mean(X))


def test_an_interrupted_search_is_the_evaluations_so_far(data):
    seen = []

    def bowl(x):
        if len(seen) == 7:
            raise KeyboardInterrupt
        seen.append(float(x @ x))
        return seen[-1]

    with pytest.warns(InterruptWarning, match="the search keeps its 7 evaluations") as told:
        outcome = minimise(bowl, [(-1.0, 1.0)] * 2, 12, rng=1)
    assert told[0].filename == __file__
    assert [one.y for one in outcome.evaluations] == seen
    assert outcome.best.y == min(seen)


def test_an_interrupt_within_the_fit_of_a_search_ends_the_search(data):
    pressed = []

    def model(X, y, rng):
        if pressed:
            return fit(MODEL, X, y).posterior
        pressed.append(len(y))
        with pytest.raises(KeyboardInterrupt):
            fit(MODEL, X, y, on_step=interrupt_at(0, 2))
        raise KeyboardInterrupt

    with pytest.warns(InterruptWarning, match="the search keeps its 6") as told:
        minimise(lambda x: float(x @ x), [(-1.0, 1.0)] * 2, 12, model=model, rng=1)
    assert (len(told), pressed) == (1, [6])
