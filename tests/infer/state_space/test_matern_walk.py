"""The walk of one Matérn process beside the lanes, whose maps are composed."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from gpnotes import GP, Matern12, Matern32, Matern52, StateSpaceGP, condition
from gpnotes.infer.state_space import matern_walk
from gpnotes.infer.state_space.as_terms import expansion_of
from gpnotes.infer.state_space.kalman import kalman_filter
from gpnotes.infer.state_space.matern_walk import Walked, is_walked, walked
from gpnotes.infer.state_space.parallel_scan import lanes_of
from gpnotes.model.kernels import Cosine

NUMBA = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="no Numba")
KERNELS = [Matern12(1.3, 0.8), Matern32(0.4, 1.1), Matern52(0.7, 2.0)]


def motion_of(kernel):
    return expansion_of(GP(kernel, 0.2), 1e-6).motion


@pytest.fixture(params=[1, 2, 40])
def line(request, rng):
    """Places, two alike and some after a gap that nothing outlasts, readings and their noise."""
    n = request.param
    t = np.sort(rng.uniform(-3.0, 8.0, n))
    t[n // 2 :] += 1e5 * (n > 2)
    t[n - 1] = t[n - 2] if n > 2 else t[n - 1]
    return t, rng.normal(size=n), rng.uniform(0.05, 0.6, n)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_walk_finds_what_the_lanes_find(kernel, line):
    assert_found(kernel, *line)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("stretch", [1, 7, 2**14])
def test_it_does_so_for_all_lengthscales_gaps_and_noises_over_many_stretches(
    stretch, compiled, rng, monkeypatch
):
    monkeypatch.setattr(matern_walk, "_STRETCH", stretch)
    monkeypatch.setattr(matern_walk, "_compiled", lambda: vars(matern_walk))
    for kind in (Matern12, Matern32, Matern52):
        for n in (2, 7, 8, 30):
            gaps, noise = 10.0 ** rng.uniform(-7.0, 4.0, n), 10.0 ** rng.uniform(-3.0, 2.0, n)
            kernel = kind(10.0 ** rng.uniform(-2.0, 2.0), 10.0 ** rng.uniform(-2.0, 3.0))
            assert_found(kernel, np.cumsum(gaps), rng.normal(size=n), noise, compiled)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_what_is_added_up_on_the_way_is_what_the_arrays_add_up_to(kernel, line, monkeypatch):
    monkeypatch.setattr(matern_walk, "_compiled", lambda: vars(matern_walk))
    monkeypatch.setattr(matern_walk, "_STRETCH", 16)
    found = walked(motion_of(kernel), *line, compiled=True)
    wanted = replace(found, sums=None)
    for part in ("fit", "log_det", "most_rounding", "rounding", "log_evidence"):
        assert getattr(found, part) == pytest.approx(getattr(wanted, part), rel=1e-13), part


@NUMBA
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_numba_finds_the_same(kernel, rng, monkeypatch):
    t, y, noise = np.sort(rng.uniform(-3.0, 8.0, 40)), *rng.uniform(0.05, 0.6, (2, 40))
    monkeypatch.setattr(matern_walk, "_STRETCH", 16)
    assert_found(kernel, t, y, noise, compiled=True)
    # gaps whose noise is a series, and a stretch of one reading
    assert_found(kernel, t[:17] / 40.0, y[:17], noise[:17], compiled=True)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be larger"):
        walked(motion_of(kernel), np.zeros(40), y, np.zeros(40), compiled=True)


@pytest.mark.parametrize("longest", [0.0, 1e-6, 1e-3, 0.1])
def test_the_compiled_noise_of_short_gaps_is_that_of_the_motion(longest, rng, monkeypatch):
    monkeypatch.setattr(matern_walk, "_compiled", lambda: vars(matern_walk))
    gaps = np.append(rng.uniform(0.0, longest, 20), longest)
    for kernel in KERNELS:
        step = motion_of(kernel).at(gaps, gaps, longest)
        whole = step.noise[0]
        size = max(len(whole), 2)
        # a process of one entry is walked as two, the second zero
        padded = np.zeros((size, size, len(gaps)))
        padded[: len(whole), : len(whole)] = whole
        wanted = [padded[i, j] for i in range(size) for j in range(i, size)]
        np.testing.assert_allclose(matern_walk._noise(step), wanted, rtol=1e-14)


def assert_found(kernel, t, y, noise, compiled=False):
    motion = motion_of(kernel)
    wanted = kalman_filter(lanes_of(motion, t, y, noise))
    found = walked(motion, t, y, noise, compiled)
    assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-12)

    def in_order(run, values):
        turned = np.moveaxis(values, -1, 0)
        return turned.reshape(-1, *values.shape[1:-1])[: run.lanes.count]

    for part in ("mean", "cov", "precision", "innovation"):
        one, other = (in_order(run, getattr(run, part)) for run in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=part)
    for way, parts in (("smoothed_means", ("adjoint", "alpha")),
                       ("smoothed_covariances", ("adjoint", "precision"))):  # fmt: skip
        for part in parts:
            one, other = (in_order(r, getattr(getattr(r, way), part)) for r in (found, wanted))
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10, err_msg=f"{way} {part}")


def test_it_serves_one_matern_process_of_a_few_readings_in_numpy(monkeypatch):
    places, strict = np.zeros(40), pytest.importorskip("array_api_strict")
    monkeypatch.setattr(matern_walk, "_MOST", 40)
    assert is_walked(motion_of(KERNELS[0]), places)
    assert not is_walked(motion_of(KERNELS[0]), np.zeros(41))
    assert is_walked(motion_of(KERNELS[2]), places)
    assert not is_walked(motion_of(KERNELS[0]), strict.asarray(places))
    for other in (KERNELS[0] + KERNELS[2], KERNELS[0] * Cosine(0.3), Cosine(0.3)):
        assert not is_walked(motion_of(other), places)
    model, y = StateSpaceGP(GP(KERNELS[2], 0.2)), np.sin(np.arange(30.0))
    assert type(condition(model, np.arange(30.0)[:, None], y).run) is Walked


def test_a_reading_that_is_left_no_variance_is_an_error_that_names_the_noise():
    with pytest.raises(ValueError, match=r"gp\.noise_var must be larger"):
        walked(motion_of(KERNELS[0]), np.zeros(3), np.arange(3.0), np.zeros(3))
