"""The compiled walk agrees with the lanes and with dense algebra, with Numba and without it."""

from __future__ import annotations

import importlib.util
import pickle

import array_api_strict as strict
import numpy as np
import pytest

import gpnotes
from gpnotes import GP, Matern12, Matern32, Matern52, StateSpaceGP, condition, fit
from gpnotes import log_evidence_and_gradient as slope_of
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.state_space import compiled_walk, matern_walk
from gpnotes.infer.state_space.as_terms import expansion_of
from gpnotes.infer.state_space.compiled_walk import CompiledWalk, Loops, is_compiled, sum_walked
from gpnotes.infer.state_space.kalman import kalman_filter
from gpnotes.infer.state_space.matern_walk import Walked
from gpnotes.infer.state_space.parallel_scan import lanes_of
from gpnotes.model.kernels import Constant, Cosine, Linear, Periodic, White

PLAIN = Loops(compiled_walk.forward, compiled_walk.means_back, compiled_walk.covariances_back)
NUMBA = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="no Numba")
KERNELS = {
    "one term": Matern52(0.7, 2.0),
    "Matérns": Matern12(1.3, 0.8) + 0.4 * Matern32(0.7, 1.1) + Matern52(0.7, 2.0),
    "waves": Matern32(0.4, 1.1) + Cosine(0.3) + Periodic(0.5, 1.4, 2.0),
    "a level": Matern12(1.3, 0.8) + Constant(0.6) + White(0.1),
}


@pytest.fixture
def plain(monkeypatch):
    """The loops as they are: Numba takes ten seconds for them."""
    monkeypatch.setattr(compiled_walk, "compiled", lambda: PLAIN)
    monkeypatch.setattr(matern_walk, "_compiled", lambda: vars(matern_walk))


def process(kernel):
    return GP(kernel, 0.2, gpnotes.ConstantMean(0.3))


def readings(rng, n):
    """Places in no order, one of them twice, and readings."""
    x = rng.uniform(-3.0, 8.0, n)
    x[1:2] = x[:1]
    return x[:, None], np.sin(x) + 0.4 * rng.normal(size=n)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("n", [1, 2, 40])
def test_it_finds_what_the_lanes_find(n, rng):
    assert_found(n, rng)


@NUMBA
def test_numba_finds_the_same_and_names_the_noise_where_a_reading_is_left_no_variance(rng):
    assert_found(40, rng)
    motion = expansion_of(GP(KERNELS["one term"], 0.2), 1e-6).motion
    with pytest.raises(ValueError, match=r"gp\.noise_var must be larger"):
        sum_walked(motion, np.zeros(3), np.arange(3.0), np.zeros(3))


def assert_found(n, rng):
    t, y = np.sort(rng.uniform(-3.0, 8.0, n)), rng.normal(size=n)
    t[n // 2 :] += 1e5 * (n > 2)
    noise = rng.uniform(0.05, 0.6, n)
    for kernel in KERNELS.values():
        motion = expansion_of(GP(kernel, 0.2), 1e-6).motion
        wanted = kalman_filter(lanes_of(motion, t, y, noise))
        found = sum_walked(motion, t, y, noise)
        assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-11)
        for name in ("mean", "cov", "precision", "innovation"):
            same(found, wanted, getattr(found, name), getattr(wanted, name), name)
        for way, names in (("smoothed_means", ("adjoint", "alpha")),
                           ("smoothed_covariances", ("adjoint", "precision"))):  # fmt: skip
            one, other = getattr(found, way), getattr(wanted, way)
            for name in names:
                same(found, wanted, getattr(one, name), getattr(other, name), name)


def same(found, wanted, one, other, name):
    one, other = (
        np.moveaxis(a, -1, 0).reshape(-1, *a.shape[1:-1])[: run.lanes.count]
        for run, a in ((found, one), (wanted, other))
    )
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", KERNELS)
def test_it_finds_what_dense_algebra_finds(name, rng):
    gp, (X, y) = process(KERNELS[name]), readings(rng, 30)
    model, Xs = StateSpaceGP(gp, 1e-12, compiled=True), rng.uniform(-5.0, 11.0, (30, 1))
    found, dense = condition(model, X, y), condition(gp, X, y)
    assert type(found.run) is (Walked if name == "one term" else CompiledWalk)
    assert found.log_evidence == pytest.approx(dense.log_evidence, abs=1e-8)
    np.testing.assert_allclose(found.fitted(), dense.mean(X), atol=1e-8)
    for one, other in zip(found.predict(Xs), dense.predict(Xs), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    np.testing.assert_allclose(found.covariance(Xs[:3]), dense.covariance(Xs[:3]), atol=1e-8)
    (value, bar), (wanted, dense_bar) = slope_of(model, X, y), slope_of(gp, X, y)
    assert value == pytest.approx(wanted, abs=1e-8)
    ours, theirs = flatten_gradient(gp, bar.gp), flatten_gradient(gp, dense_bar)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("plain")
def test_what_follows_a_posterior_walks_on(rng, tmp_path):
    gp, (X, y) = process(KERNELS["Matérns"]), readings(rng, 20)
    model = StateSpaceGP(gp, compiled=True)
    found, lanes = condition(model, X, y), condition(StateSpaceGP(gp), X, y)
    gpnotes.save(found, tmp_path / "posterior")
    for one in (found, pickle.loads(pickle.dumps(found)), gpnotes.load(tmp_path / "posterior")):
        np.testing.assert_allclose(one.sample(X, 2, rng=1), lanes.sample(X, 2, rng=1), atol=1e-7)
    earlier = found.extend(X[:1] - 1.0, y[:1])
    assert type(earlier.smoothed.run) is CompiledWalk
    wanted = lanes.extend(X[:1] - 1.0, y[:1])
    np.testing.assert_allclose(earlier.mean(X), wanted.mean(X), atol=1e-8)
    climbed = fit(model, X, y, max_steps=3).posterior
    assert type(climbed.run) is CompiledWalk


def test_it_is_for_sums_of_processes_that_stay():
    for kernel in KERNELS.values():
        assert is_compiled(expansion_of(GP(kernel, 0.2), 1e-6).motion)
    for kernel in (Matern12() + Linear(), Matern12() * Cosine(0.3)):
        assert not is_compiled(expansion_of(GP(kernel, 0.2), 1e-6).motion)
        with pytest.raises(
            ValueError, match="compiled must be False here: the compiled walk is for"
        ):
            StateSpaceGP(GP(kernel, 0.2), compiled=True)
    with pytest.raises(TypeError, match="compiled must be True or False"):
        StateSpaceGP(GP(Matern12(), 0.2), compiled=1)


def test_arrays_of_another_library_are_refused():
    model, X = StateSpaceGP(GP(Matern12(), 0.2), compiled=True), strict.ones((3, 1))
    with pytest.raises(TypeError, match=r"compiled must be False for arrays .* got array_api_"):
        condition(model, X, X[:, 0])


def test_without_numba_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    for loops in (compiled_walk.compiled, matern_walk._compiled):
        with pytest.raises(ImportError, match=r"compiled needs Numba: from a clone"):
            loops.__wrapped__()
