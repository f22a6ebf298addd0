"""Sums that waves ask of readings: formed once, added, and enough for regression."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    SparseGP,
    condition,
    fit,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground.chunks import Chunks
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import features
from gpnotes.infer.interdomain import Harmonics, InducingPoints, IntervalHarmonics, wave_sums
from gpnotes.model.kernels import CircularArcCosine, CircularMatern32, CircularRBF

METHODS = ("sor", "dtc", "vfe", "upper")
CASES = {
    "smooth": (CircularRBF(1.3, 0.8), [0.0, 1.0, 2.0, 5.0]),
    "no mean": (CircularMatern32(1.3, 0.8), [1.0, 3.0]),
    "kinks": (CircularArcCosine(1.3), [3.0, 0.0, 1.0]),
}


@pytest.fixture
def rows(rng):
    """Angles of more than a turn, and readings far from zero."""
    X = rng.uniform(-4.0, 4.0, size=(57, 1))
    return X, 40.0 + np.sin(X[:, 0]) + 0.3 * np.cos(5.0 * X[:, 0]) + 0.1 * rng.normal(size=57)


def moments(variables, X, y):
    """``HHᵀ``, ``H 1`` and ``H ỹ`` as they are written."""
    H = variables.waves(X)
    return H @ H.T, H.sum(axis=1), H @ (y - y.mean())


@pytest.mark.parametrize("orders", [[0.0], [2.0], [7.0, 0.0, 3.0, 4.0]])
def test_the_sums_hold_the_products_of_all_waves(monkeypatch, rows, orders):
    monkeypatch.setattr("gpnotes.infer.interdomain.waves._BLOCK", 100)  # several blocks of rows
    u = Harmonics(np.asarray(orders))
    sums = wave_sums(u, *rows)
    for ours, wanted in zip(sums.moments(u), moments(u, *rows), strict=True):
        np.testing.assert_allclose(ours, wanted, atol=1e-11)
    assert sums.count == 57
    assert sums.squares == pytest.approx(57 * rows[1].var(), rel=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_evidence_and_gradient_are_those_of_the_readings(space, rows, case, method):
    kernel, orders = CASES[case]
    X, y = (space.asarray(a) for a in rows)
    u, gp = Harmonics(space.asarray(orders)), GP(kernel, 0.3, ConstantMean(39.0))
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, u, method), wave_sums(u, X, y))
    gp_bar = model_bar.gp
    wanted, model_bar = log_evidence_and_gradient(SparseGP(gp, u, method), X, y)
    wanted_bar = model_bar.gp
    close = 1e-10 if space.double else 1e-4
    assert value == pytest.approx(wanted, rel=close)
    ours, theirs = (flatten_gradient(gp, bar) for bar in (gp_bar, wanted_bar))
    np.testing.assert_allclose(ours, theirs, rtol=close, atol=close * np.max(np.abs(theirs)))


@pytest.mark.parametrize("method", ["sor", "dtc", "vfe"])
def test_the_posterior_is_that_of_the_readings(space, rows, method):
    kernel, orders = CASES["smooth"]
    X, y = (space.asarray(a) for a in rows)
    u, gp = Harmonics(space.asarray(orders)), GP(kernel, 0.3, ConstantMean(39.0))
    ours = condition(SparseGP(gp, u, method), wave_sums(u, X, y))
    wanted = condition(SparseGP(gp, u, method), X, y)
    close = 1e-10 if space.double else 1e-4
    for one, other in zip(ours.predict(X), wanted.predict(X), strict=True):
        assert space.holds(one)
        np.testing.assert_allclose(to_numpy(one), to_numpy(other), rtol=close, atol=close)


def test_sums_of_parts_add_to_those_of_all_and_do_for_lower_orders(rows):
    X, y = rows
    y = y + 100.0 * (X[:, 0] > 1.0)  # parts whose means lie apart
    order = np.argsort(X[:, 0])
    u = Harmonics(np.arange(8.0))
    parts = [wave_sums(u, X[some], y[some]) for some in np.array_split(order, [3, 30])]
    some = Harmonics(np.asarray([6.0, 1.0]))
    total = parts[0] + parts[1] + parts[2]
    for ours, wanted in zip(total.moments(some), moments(some, X, y), strict=True):
        np.testing.assert_allclose(ours, wanted, atol=1e-10)
    assert total.mean == pytest.approx(y.mean(), rel=1e-13)
    assert total.squares == pytest.approx(57 * y.var(), rel=1e-12)
    assert total.spread.count == 57


def test_a_fit_goes_through_the_readings_once(rows):
    X, y = rows
    passes = []

    def part(some):
        def fetch():
            passes.append(some)
            return X[some], y[some]

        return fetch

    u = Harmonics(np.asarray([0.0, 1.0, 2.0, 5.0]))
    model = SparseGP(GP(CircularRBF(1.3, 0.8), 0.3, ConstantMean(39.0)), u)
    chunks = Chunks([part(slice(0, 20)), part(slice(20, 57))])
    found = [fit(model, chunks), fit(model, wave_sums(u, X, y)), fit(model, X, y)]
    assert len(passes) == 4, "once for the spread, once for the sums"
    for one in found:
        assert one.log_evidence == pytest.approx(found[0].log_evidence, rel=1e-10)
        np.testing.assert_allclose(one.posterior.mean(X), found[0].posterior.mean(X), rtol=1e-6)
        assert str(one).startswith("Fit of 57 readings")
    tight = fit(SparseGP(model.gp, u, "tight"), X, y, max_steps=3)
    assert np.isfinite(tight.log_evidence)


def test_sums_can_be_pickled_and_shown(rows):
    u = Harmonics(np.asarray([0.0, 1.0]))
    sums = wave_sums(u, *rows)
    again = pickle.loads(pickle.dumps(sums))
    np.testing.assert_array_equal(again.cosines, sums.cosines)
    assert "array" not in repr(sums)
    assert "with_sines=<2 float64>" in repr(sums)


def test_orders_whose_bytes_are_alike_are_not_taken_for_each_other(rows):
    """2 in double precision is 0 and 2 in single precision."""
    sums = wave_sums(Harmonics(np.arange(3.0)), *rows)
    one, two = Harmonics(np.asarray([2.0])), Harmonics(np.asarray([0.0, 2.0], dtype=np.float32))
    assert one.orders.tobytes() == two.orders.tobytes()
    assert sums.moments(one).gram.shape == (2, 2)
    assert sums.moments(two).gram.shape == (3, 3)


def test_two_fits_at_once_may_ask_the_same_sums(rows, monkeypatch):
    """What one has worked out is its own, whatever the other clears meanwhile."""
    sums = wave_sums(Harmonics(np.arange(3.0)), *rows)
    one, other = Harmonics(np.asarray([1.0])), Harmonics(np.asarray([0.0, 1.0]))

    class Cleared(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            self.clear()

    monkeypatch.setitem(vars(sums), "_kept", Cleared())
    assert sums.moments(one).gram.shape == (2, 2)
    assert sums.moments(other).gram.shape == (3, 3)


def test_readings_that_are_not_there_are_asked_for_by_name(rows):
    X, y = rows
    u = Harmonics(np.asarray([0.0, 1.0]))
    sums, gp = wave_sums(u, X, y), GP(CircularRBF(), 0.1)
    with pytest.raises(ValueError, match="orders up to 1, a turn from"):
        condition(SparseGP(gp, Harmonics(np.asarray([2.0]))), sums)
    with pytest.raises(ValueError, match="method must be 'sor', 'dtc', 'vfe' or 'upper' where"):
        condition(SparseGP(gp, u, "fitc"), sums)
    with pytest.raises(TypeError, match=r"gp\.mean must be a ZeroMean or a ConstantMean"):
        log_evidence_and_gradient(SparseGP(GP(gp.kernel, 0.1, _Slope()), u), sums)
    with pytest.raises(TypeError, match=r"model\.inducing must be a gpnotes WaveVariables"):
        condition(SparseGP(GP(RBF(), 0.1), InducingPoints(X[:2])), sums)
    with pytest.raises(TypeError, match="X must be rows or chunks"):
        fit(features.FeatureGP(GP(RBF(), 0.1), _frequencies(X)), sums)
    with pytest.raises(TypeError, match="X must be a matrix"):
        fit(gp, sums)
    with pytest.raises(TypeError, match="y must be None where X is sums"):
        fit(SparseGP(gp, u), sums, y)
    with pytest.raises(ValueError, match="X must have at least one row"):
        wave_sums(u, X[:0], y[:0])
    with pytest.raises(ValueError, match="sums must be of the same waves"):
        _ = sums + wave_sums(Harmonics(np.asarray([2.0])), X, y)


def _frequencies(X):
    return features.draw_frequencies(RBF(), X, 4, rng=stream(1))


class _Slope:
    """A mean that is not the same everywhere."""

    def __call__(self, x):
        return x[:, 0]

    def pullback(self, x, bar):
        raise NotImplementedError


def test_waves_have_no_inputs_to_move_and_their_own_circle(rows):
    X, y = rows
    u = Harmonics(np.asarray([0.0, 1.0, 3.0]))
    assert u.moved(np.zeros((0, 1))) is u
    for wrong in (np.zeros((1, 1)), np.zeros((0, 2))):
        with pytest.raises(ValueError, match="inputs must have"):
            u.moved(wrong)
    np.testing.assert_array_equal(u.angles(X), X)
    line = IntervalHarmonics(np.asarray([0.0, 1.0, 3.0]), -5.0, 6.0)
    np.testing.assert_allclose(line.angles(X), (X + 5.0) * (2.0 * np.pi / 11.0))
    wanted = np.concatenate([np.cos(k * line.angles(X).T) for k in (0, 1, 3)])
    np.testing.assert_allclose(line.waves(X)[:3], wanted)
    with pytest.raises(ValueError, match="orders up to 3, a turn from"):
        wave_sums(line, X, y).require_for(u)
    for orders in ([], [1.0, 0.0, 1.0]):
        with pytest.raises(ValueError, match="orders must be at least one, all distinct"):
            Harmonics(np.asarray(orders))
