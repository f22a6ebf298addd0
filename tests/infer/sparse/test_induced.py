"""Inducing inputs by their number: those of a choice by hand, and where no number will do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Chunks,
    Gaussian,
    Linear,
    Matern12,
    Periodic,
    SparseGP,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
    stream,
    to_numpy,
)
from gpnotes.ground.linalg import JitterWarning
from gpnotes.infer import interdomain, sparse, svgp
from gpnotes.infer.sparse import induced
from gpnotes.model.bounds import lengths_of
from gpnotes.model.likelihoods import Categorical

MODELS = {
    "regression": lambda inducing: SparseGP(GP(RBF(1.0, 0.8), 0.2), inducing, "fitc"),
    "variational": lambda inducing: svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.2), inducing),
    "labels": lambda inducing: svgp.SVGP(GP(RBF(), 0.0), Bernoulli(), inducing),
    "classes": lambda inducing: svgp.SVGP(GP(RBF(), 0.0), Categorical(2), inducing),
}
GIVEN = {
    "labels": lambda y: np.where(y > 0.0, 1.0, -1.0),
    "classes": lambda y: np.where(y > 0.0, 1.0, 0.0),
}


def rows(seed: int = 0, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    draw = stream(seed)
    X = np.asarray(draw.uniform((n, 2))) * np.asarray([5.0, 0.1])
    return X, np.sin(X[:, 0]) + 20.0 * (X[:, 1] - 0.05)


def by_hand(X: np.ndarray, n: int) -> np.ndarray:
    return sparse.greedy_points(Matern12(1.0, lengths_of(X)), X, n)


@pytest.mark.parametrize("name", MODELS)
def test_a_number_is_the_inputs_that_are_chosen_by_hand(name):
    X, y = rows()
    y = GIVEN.get(name, lambda y: y)(y)
    of_number, of_inputs = MODELS[name](7), MODELS[name](by_hand(X, 7))
    assert log_evidence(of_number, X, y) == log_evidence(of_inputs, X, y)
    ours, wanted = (log_evidence_and_gradient(model, X, y) for model in (of_number, of_inputs))
    assert ours[0] == wanted[0]
    np.testing.assert_array_equal(ours[1].inducing, wanted[1].inducing)
    assert ours[1].gp.kernel == wanted[1].gp.kernel
    for ask in (condition, lambda *of: fit(*of, max_steps=3).posterior):
        ours, wanted = (ask(model, X, y).predict(X[:5]) for model in (of_number, of_inputs))
        np.testing.assert_array_equal(ours, wanted)


def test_a_fit_gives_the_inputs_that_it_has_chosen_and_moved():
    X, y = rows()
    start = GP(RBF(1.0, 1.0), 0.1)
    found = fit(SparseGP(start, inducing=6), X, y, max_steps=4)
    still = fit(SparseGP(start, inducing=6), X, y, max_steps=4, fixed=("inducing",))
    np.testing.assert_array_equal(still.model.inducing, by_hand(X, 6))
    assert np.abs(found.model.inducing - by_hand(X, 6)).max() > 1e-3
    later = condition(found.model, *rows(1))
    np.testing.assert_array_equal(later.Z, found.model.inducing)
    assert found.objective.model.gp == start
    assert "by 6 inducing variables" in str(found)


def test_batches_go_on_from_the_model_that_has_chosen():
    X, y = rows()
    options = {"max_steps": 3, "rng": 0}
    begun = fit(MODELS["variational"](5), X, y, minibatches=svgp.Minibatches(10), **options)
    assert begun.model.inducing.shape == (5, 2)
    on = svgp.Minibatches(10, start=begun.posterior)
    again = fit(begun.model, X, y, minibatches=on, **options)
    assert again.log_evidence > begun.log_evidence


def test_rows_of_any_kind_are_chosen_as_they_are(space):
    X, y = rows()
    posterior = condition(SparseGP(GP(RBF(), 0.1), 6), space.asarray(X), space.asarray(y))
    assert space.holds(posterior.Z)
    np.testing.assert_array_equal(to_numpy(posterior.Z), to_numpy(space.asarray(by_hand(X, 6))))


def test_no_more_are_chosen_than_there_are_different_rows():
    X, y = rows(n=4)
    twice = np.vstack([X, X]), np.append(y, y)
    assert condition(SparseGP(GP(RBF(), 0.1), 10**12), *twice).Z.shape == (4, 2)


SMOOTH = {"RBF": RBF(1.0, 2.0), "linear": Linear(0.5), "periodic": Periodic(1.0, 1.0, 3.0)}


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("name", MODELS)
def test_of_points_on_a_line_those_stay_that_the_kernel_tells_apart(name, kernel):
    """All of forty, far apart for a rough kernel, would need jitter, which is an error here."""
    X = np.asarray(stream(0).uniform((50, 1))) * 5.0
    y = GIVEN.get(name, lambda y: y)(np.sin(X[:, 0]))
    model = MODELS[name](40)
    model = replace(model, gp=replace(model.gp, kernel=SMOOTH[kernel]))
    q = condition(model, X, y)
    few = q.Z if isinstance(model, SparseGP) else q.model.inducing
    assert 1 <= few.shape[0] < 30
    assert np.isin(few, X).all()
    with pytest.warns(JitterWarning):
        every = condition(replace(model, inducing=by_hand(X, 40)), X, y)
    at = np.linspace(0.0, 5.0, 7)[:, None]
    np.testing.assert_allclose(q.mean(at), every.mean(at), atol=1e-4)
    assert log_evidence(model, X, y) == pytest.approx(log_evidence_of(q, X, y), rel=1e-12)
    assert log_evidence_and_gradient(model, X, y)[1].inducing.shape == few.shape


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_ends_with_the_points_that_its_kernel_tells_apart(name):
    draw = stream(0)
    X = np.asarray(draw.uniform((60, 1))) * 5.0
    y = GIVEN.get(name, lambda y: y)(np.sin(X[:, 0]) + 0.2 * np.asarray(draw.normal(60)))
    found = fit(MODELS[name](40), X, y, fixed=["inducing"], max_steps=3)
    assert found.model.inducing.shape == (40, 1)
    q = found.posterior
    few = q.Z if isinstance(found.model, SparseGP) else q.model.inducing
    assert few.shape[0] < 40
    assert log_evidence_of(q, X, y) == pytest.approx(found.log_evidence, abs=1e-3)


def log_evidence_of(q, X, y):
    return q.log_evidence if hasattr(q, "log_evidence") else svgp.elbo(q, X, y)


def test_of_very_many_rows_some_are_looked_at(monkeypatch):
    X, y = rows()
    monkeypatch.setattr(induced, "_CANDIDATES", 13)
    Z = condition(SparseGP(GP(RBF(), 0.1), 6), X, y).Z
    looked_at = np.sort(np.random.default_rng(0).permutation(len(X))[:13])
    np.testing.assert_array_equal(Z, by_hand(X[looked_at], 6))
    many = condition(SparseGP(GP(RBF(), 0.1), 25), X, y).Z
    assert many.shape == (25, 2), "as many as are asked for"


def test_of_very_many_rows_in_turns_all_have_some(monkeypatch):
    """Every second row is of one of two sensors, as in a table that is sorted by time."""
    monkeypatch.setattr(induced, "_CANDIDATES", 60)
    X = np.stack([np.linspace(0.0, 9.0, 240), np.arange(240) % 2.0], axis=1)
    Z = condition(SparseGP(GP(RBF(), 0.1), 30), X, np.zeros(240)).Z
    assert 5 < np.sum(Z[:, 1]) < 25


def test_a_number_is_printed_saved_and_loaded(tmp_path):
    model = SparseGP(GP(RBF(), 0.1), inducing=np.int64(6))
    assert "inducing=6," in repr(model)
    save(model, tmp_path / "model")
    assert repr(load(tmp_path / "model")) == repr(model)
    X, y = rows()
    found = fit(model, X, y, max_steps=2)
    save(found, tmp_path / "found")
    np.testing.assert_array_equal(load(tmp_path / "found").model.inducing, found.model.inducing)


def test_lists_do_for_inputs_too():
    at = MODELS["labels"]([[0, 1], [2, 3]])
    np.testing.assert_array_equal(at.inducing, [[0.0, 1.0], [2.0, 3.0]])


WAVES = interdomain.Harmonics(np.asarray([0.0, 1.0]))
NUMBERED = SparseGP(GP(RBF(), 0.1), 6)


@pytest.mark.parametrize(
    ("ask", "kind", "said"),
    [
        (lambda X, y: SparseGP(GP(RBF(), 0.1), 0), ValueError, "a whole number from 1; got 0"),
        (lambda X, y: SparseGP(GP(RBF(), 0.1), 6.0), TypeError, "inducing must be a whole number"),
        (lambda X, y: SparseGP(GP(RBF(), 0.1), True), TypeError, "inducing must be a whole"),
        (lambda X, y: condition(NUMBERED, Chunks([(X, y)])), TypeError,
         r"inducing must be inputs, as of sparse.greedy_points\(kernel, rows, 6\), where X is ch"),
        (lambda X, y: fit(NUMBERED, Chunks([(X, y)])), TypeError, "where X is chunks; got 6"),
        (lambda X, y: condition(NUMBERED, interdomain.wave_sums(WAVES, X[:, :1], y)), ValueError,
         "inducing must be inputs or variables"),
        (lambda X, y: svgp.initial_posterior(MODELS["labels"](6)), ValueError,
         "inducing must be inputs or variables: `condition` and `fit` choose them from X"),
        (lambda X, y: NUMBERED.variables, ValueError, "inducing must be inputs or .* got 6"),
    ],
)  # fmt: skip
def test_what_a_number_is_not(ask, kind, said):
    with pytest.raises(kind, match=said):
        ask(*rows())


@pytest.mark.parametrize("name", ["regression", "variational"])
def test_inducing_inputs_of_a_frame_have_the_columns_of_x_in_their_order(name, tmp_path):
    X = pd.DataFrame(stream(1).uniform((12, 2)), columns=["wind", "temp"])
    y, Z = np.sin(4.0 * X["temp"]), X[:5]
    save(MODELS[name](Z), tmp_path / "model")
    found = fit(MODELS[name](Z), X, y, max_steps=2)
    value = log_evidence(MODELS[name](Z.to_numpy()), X, y)
    for one in (MODELS[name](Z), load(tmp_path / "model")):
        assert one.inducing_columns == ("wind", "temp")
        assert log_evidence(one, X, y) == log_evidence(one, X.to_numpy(), y) == value
    match = r"inducing must have the columns of X in their order, \['temp', 'wind'\]; got \['wind"
    turned = X[["temp", "wind"]]
    assert log_evidence(found.model, turned, y) == log_evidence(found.model, X, y)
    for one in (MODELS[name](Z), load(tmp_path / "model")):
        for call in (condition, log_evidence, log_evidence_and_gradient, fit):
            with pytest.raises(ValueError, match=match):
                call(one, turned, y)
    with pytest.raises(ValueError, match=r"inducing must .*; got \['wind', 'temp', 'more'\]"):
        log_evidence(MODELS[name](Z.assign(more=0.0)), X, y)


def test_names_of_inducing_columns_are_as_many_as_there_are():
    with pytest.raises(ValueError, match="inducing_columns must be the names of the 2 columns"):
        SparseGP(GP(RBF(), 0.1), np.ones((3, 2)), inducing_columns=("wind",))
    assert SparseGP(GP(RBF(), 0.1), 3, inducing_columns=("wind",)).inducing_columns == ()
