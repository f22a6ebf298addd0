"""Checks at the end of a fit, against plain loops, and on both sides of each of their bounds."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Chunks,
    Constant,
    ConstantMean,
    LaplaceGP,
    Linear,
    SparseGP,
    StateSpaceGP,
    condition,
)
from gpnotes.ground.chunks import Rows
from gpnotes.ground.xp import epsilon
from gpnotes.infer.evidence import evidence_of
from gpnotes.infer.fit_checks import (
    ALL_NOISE,
    TOO_HIGH,
    FitWarning,
    LeftOut,
    far_from_zero,
    is_all_noise,
    left_out,
    left_out_size,
    may_be_noise,
    may_be_precise,
)
from gpnotes.model.bounds import Spread, spread
from gpnotes.model.kernels import IntegratedWiener, Matern32, WithGradients


def of_y(mean, deviation, count=30, low=-9.0, high=9.0, latent=False):
    """The spread of two columns and of y."""
    sides = (np.asarray([0.0, 1e-3, side]) for side in (low, high, mean, deviation))
    return Spread(count, *sides, 1e-16, latent)


OF = of_y(0.0, 1.0)


def edge_of_noise(kernel, X):
    """The noise at which the covariances differ by just a hundredth, pair by pair."""
    K, n = kernel(X), len(X)
    others = [K[i, j] for i in range(n) for j in range(n) if i != j]
    least = min(others)
    return 100.0 * (max(others) - least) - max(np.diag(K)) + least


@pytest.mark.parametrize("n", [3, 4, 9])
@pytest.mark.parametrize(
    "kernel", [RBF(0.7, 0.4), RBF(0.7, 0.4) + Constant(3.0), Linear(0.3), Matern32(2.0, 5.0)]
)
def test_all_is_noise_where_covariances_differ_by_less_than_a_hundredth(rng, kernel, n):
    X = rng.uniform(0.5, 4.0, size=(n, 1))
    noise, rows = edge_of_noise(kernel, X), Rows(X, np.zeros(n))
    assert noise > 0.0
    for share, found in ((1.0 - 1e-9, False), (1.0 + 1e-9, True)):
        gp = GP(kernel, share * noise)
        assert is_all_noise(gp, rows, OF) is found
        assert is_all_noise(SparseGP(gp, X[:2]), rows, OF) is found


@pytest.mark.parametrize(("n", "found"), [(200, False), (201, True), (400, True), (401, True)])
def test_of_more_than_two_hundred_rows_some_are_compared_with_all_others(n, found):
    """Of two that alone are near each other, neither of which is an even row."""
    X = 100.0 * np.arange(n)[:, None]
    X[5] = X[7] + 0.1
    gp = GP(RBF(), 0.1)
    assert is_all_noise(gp, Rows(X, np.zeros(n)), OF) is found
    X[2 * (1 + (n > 400))] = X[7]  # a row that is taken, at its third place or its second
    X[6] = X[7]
    assert not is_all_noise(gp, Rows(X, np.zeros(n)), OF)


def test_the_last_row_is_compared_as_well():
    X = 100.0 * np.arange(5.0)[:, None]
    X[4] = X[1] + 0.1
    assert not is_all_noise(GP(RBF(), 0.1), Rows(X, np.zeros(5)), OF)


def test_what_is_no_matter_of_noise_is_never_taken_for_it():
    X = 100.0 * np.arange(6.0)[:, None]
    gp, rows = GP(RBF(), 0.1), Rows(X, np.zeros(6))
    assert is_all_noise(gp, rows, OF)
    assert is_all_noise(gp, Rows(X[:3], np.zeros(3)), OF)
    assert not is_all_noise(gp, Rows(X[:2], np.zeros(2)), OF)
    assert not is_all_noise(gp, rows, of_y(0.0, 1.0, latent=True))
    assert not is_all_noise(gp, Chunks([(X, np.zeros(6))]), OF)
    assert not is_all_noise(ConstantMean(0.0), rows, OF)
    assert is_all_noise(GP(Constant(), 1e-9), rows, OF)
    assert not is_all_noise(GP(Constant(), 0.0), rows, OF)  # there is none
    labelled = Rows(np.hstack([X, np.zeros((6, 1))]), np.zeros(6))
    assert not is_all_noise(GP(WithGradients(RBF()), 0.1), labelled, OF)


@pytest.fixture
def table(rng):
    X = rng.uniform(0.0, 5.0, size=(23, 1))
    return np.sort(X, axis=0), 40.0 + 2.0 * np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=23)


def each_left_out(gp, rows):
    """Errors and variances of readings, each predicted by a process that was not given it."""
    found = []
    noise = np.full(len(rows.y), gp.noise_var)
    noise = noise if rows.weights is None else noise / rows.weights
    noise = noise if rows.noise_var is None else noise + rows.noise_var
    for i in range(len(rows.y)):
        k, mean = gp.kernel(rows.X, rows.X[i : i + 1])[:, 0], gp.mean(rows.X)
        rest = np.arange(len(rows.y)) != i
        K = gp.kernel(rows.X[rest]) + np.diag(noise[rest])
        by = np.linalg.solve(K, k[rest])
        error = rows.y[i] - mean[i] - by @ (rows.y - mean)[rest]
        found.append((error, k[i] + noise[i] - by @ k[rest]))
    return np.asarray(found).T


def test_of_two_readings_and_of_chunks_nothing_is_left_out(table):
    X, y = table
    gp, rows = GP(RBF(), 0.1), Rows(X, y)
    assert left_out(evidence_of(gp, rows), gp, Rows(X[:3], y[:3])) is not None
    for data in (Rows(X[:2], y[:2]), Chunks([(X, y)])):
        assert left_out(evidence_of(gp, rows), gp, data) is None
        assert left_out_size(evidence_of(gp, rows), GP(RBF(), 1e-9), data, OF) == 0.0


def density_of(error, variance):
    return np.mean(-0.5 * (error**2 / variance + np.log(2.0 * np.pi * variance)))


@pytest.mark.parametrize("known", ["", "noise_var", "weights", "both"])
@pytest.mark.parametrize("on_a_line", [False, True])
def test_errors_of_readings_are_those_of_processes_not_given_them(table, rng, known, on_a_line):
    X, y = table
    given = {"noise_var": rng.uniform(0.1, 0.9, 23), "weights": rng.uniform(0.5, 4.0, 23)}
    chosen = {name: one for name, one in given.items() if known in (name, "both")}
    rows = Rows(X, y, **chosen)
    gp = GP(Matern32(4.0, 1.5), 0.2, ConstantMean(39.0))
    model = StateSpaceGP(gp) if on_a_line else gp
    found = left_out(evidence_of(model, rows), model, rows)
    error, variance = each_left_out(gp, rows)
    assert found.size == pytest.approx(np.sqrt(np.mean(error**2 / variance)), rel=1e-9)
    assert found.density == pytest.approx(density_of(error, variance), rel=1e-9)
    assert found.readings == 23


@pytest.mark.parametrize(("n", "step"), [(200, 1), (201, 2), (401, 3)])
def test_moments_are_taken_of_two_hundred_readings_at_most(rng, n, step):
    X = np.sort(rng.uniform(0.0, 50.0, size=(n, 1)), axis=0)
    rows = Rows(X, rng.normal(size=n), rng.uniform(0.1, 0.9, n), rng.uniform(0.5, 4.0, n))
    gp = GP(Matern32(1.5, 1.5), 0.2)
    found = left_out(evidence_of(StateSpaceGP(gp), rows), StateSpaceGP(gp), rows)
    K = gp.kernel(X) + np.diag(rows.noise_var + 0.2 / rows.weights)
    inverse = np.linalg.inv(K)
    error, variance = (
        ((inverse @ rows.y) / np.diag(inverse))[::step],
        1.0 / np.diag(inverse)[::step],
    )
    assert found.readings == len(error) == -(-n // step)
    assert found.size == pytest.approx(np.sqrt(np.mean(error**2 / variance)), rel=1e-8)
    assert found.density == pytest.approx(density_of(error, variance), rel=1e-8)


@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_the_rounding_of_an_exact_process_is_that_of_its_evidence(table, noise):
    X, y = table
    gp, rows = GP(3.0 * Linear(0.5), noise), Rows(X, y)
    wanted = condition(gp, X, y).evidence_error / 23
    assert wanted > epsilon(y) * np.max(gp.kernel.diag(X)) / noise
    assert left_out(evidence_of(gp, rows), gp, rows).rounding == pytest.approx(
        wanted, rel=1e-12, abs=0.0
    )


def test_the_rounding_of_a_precise_process_is_no_less_than_that_of_its_variances():
    X, y = 100.0 * np.arange(1.0, 7.0)[:, None], np.zeros(6)
    gp, rows = GP(Linear(1.0) + RBF(1.0, 1e-3), 1e-2), Rows(X, y)
    posterior = condition(gp, X, y)
    of_variance = epsilon(y) * (600.0**2 + 1.0) / 1e-2
    assert posterior.evidence_error / 6 < of_variance
    assert left_out(evidence_of(gp, rows), gp, rows).rounding == pytest.approx(
        of_variance, rel=1e-12, abs=0.0
    )


def test_the_rounding_of_other_models_is_a_bound_by_the_variances_of_two_hundred_rows(rng):
    X = np.sort(rng.uniform(1.0, 50.0, size=(201, 1)), axis=0)
    y = rng.normal(size=201)
    gp = GP(IntegratedWiener(0.5), 0.2)
    model, rows = StateSpaceGP(gp), Rows(X, y)
    found = left_out(evidence_of(model, rows), model, rows)
    wanted = 201 * epsilon(y) * gp.kernel.diag(X[199:200])[0] / 0.2
    assert found.rounding == pytest.approx(wanted, rel=1e-12, abs=0.0)


def test_where_a_gram_matrix_needed_jitter_nothing_is_known_of_rounding():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    gp, rows = GP(RBF(1.0, 5.0), 1e-18), Rows(X, np.sin(X[:, 0]))
    found = left_out(evidence_of(gp, rows), gp, rows)
    assert found.rounding == math.inf


@pytest.mark.parametrize(("readings", "edge"), [(2, 0.0), (8, 0.5), (50, 0.8), (200, 0.9)])
def test_errors_are_far_within_two_of_their_deviations_below_one(readings, edge):
    below, at = (LeftOut(size, 0.0, 0.0, readings) for size in (np.nextafter(edge, -1.0), edge))
    assert below.is_far_within
    assert not at.is_far_within


def test_a_tenth_is_enough_of_many():
    assert LeftOut(0.8999, 0.0, 0.0, 10_000).is_far_within
    assert not LeftOut(0.9001, 0.0, 0.0, 10_000).is_far_within


def size_of(model, X, y, of=None, **known):
    rows = Rows(X, y, **known)
    return left_out_size(evidence_of(model, rows), model, rows, of or spread(X, y))


def test_a_size_is_told_of_a_process_with_little_noise_alone(table):
    X, y = table
    unit = spread(X, y).unit
    edge = 1e-3 * unit * unit
    gp = GP(Matern32(4.0, 1.5), edge, ConstantMean(39.0))
    error, variance = each_left_out(gp, Rows(X, y))
    assert size_of(gp, X, y) == pytest.approx(np.sqrt(np.mean(error**2 / variance)), rel=1e-6)
    more = GP(gp.kernel, np.nextafter(edge, 1.0), gp.mean)
    assert size_of(more, X, y) == 0.0
    assert size_of(gp, X, y, noise_var=np.full(23, 1e-9)) == 0.0
    assert size_of(gp, X, y, of_y(0.0, 2.0, low=3.0, high=3.0)) == 0.0
    assert size_of(gp, X[:3], y[:3], spread(X, y)) > 0.0
    assert size_of(gp, X[:2], y[:2], spread(X, y)) == 0.0
    assert size_of(SparseGP(gp, X[:2]), X, y) == 0.0


def test_moments_by_which_a_reading_tells_more_than_all_are_no_moments(table, monkeypatch):
    """An h above 1, as an approximation may have, makes a variance negative and a size NaN."""
    X, y = table
    model, rows = SparseGP(GP(RBF(), 0.1), X[:2]), Rows(X, y)
    posterior = type(condition(model, X, y))
    monkeypatch.setattr(
        posterior, "predict", lambda self, at, noise=False: (y, np.full(23, 0.3 if noise else 0.2))
    )
    assert left_out(evidence_of(model, rows), model, rows) is None
    exact = GP(RBF(), 0.1)
    found = condition(exact, X, y).leave_one_out()
    monkeypatch.setattr(
        type(condition(exact, X, y)),
        "leave_one_out",
        lambda self: type(found)(found.mean, -found.variance, found.log_density),
    )
    assert left_out(evidence_of(exact, rows), exact, rows) is None
    assert left_out_size(evidence_of(exact, rows), GP(RBF(), 1e-9), rows, OF) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_readings_far_from_zero_are_those_whose_mean_is_beyond_their_deviation(sign):
    gp = GP(RBF(), 0.1)
    beyond = sign * np.nextafter(2.0, 3.0)
    for model in (gp, SparseGP(gp, 5), LaplaceGP(GP(RBF(), 0.0), Bernoulli())):
        assert far_from_zero(model, of_y(beyond, 2.0)) == (beyond, 2.0)
        assert far_from_zero(model, of_y(sign * 2.0, 2.0)) == ()
    assert far_from_zero(gp, of_y(beyond, 2.0, count=2)) == (beyond, 2.0)
    assert far_from_zero(gp, of_y(beyond, 2.0, count=1)) == ()
    assert far_from_zero(gp, of_y(beyond, 2.0, latent=True)) == ()
    assert far_from_zero(gp, of_y(beyond, 0.0, low=beyond, high=beyond)) == ()
    assert far_from_zero(ConstantMean(0.0), of_y(beyond, 2.0)) == ()


@pytest.mark.parametrize(
    ("gp", "far"),
    [
        (GP(RBF() + Linear(), 0.1), True),
        (GP(RBF() * Constant(), 0.1), True),
        (GP(RBF() + Constant(), 0.1), False),
        (GP(Constant(), 0.1), False),
        (GP(RBF(), 0.1, ConstantMean(0.0)), False),
        (GP(WithGradients(RBF()), 0.1), False),
    ],
)
def test_a_level_of_a_mean_or_of_a_kernel_may_be_as_far_as_it_likes(gp, far):
    assert far_from_zero(gp, of_y(50.0, 2.0)) == ((50.0, 2.0) if far else ())


@pytest.mark.parametrize(
    ("quiet", "said"),
    [
        (may_be_noise, ALL_NOISE),
        (may_be_noise, "the start given ended with all of y taken for noise"),
        (may_be_precise, TOO_HIGH),
    ],
)
def test_one_warning_is_silent_within_and_every_other_heard(quiet, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet():
            warnings.warn(said, FitWarning, stacklevel=1)
            with pytest.raises(FitWarning, match="another"):
                warnings.warn("another", FitWarning, stacklevel=1)
            with pytest.raises(UserWarning, match="of y"):
                warnings.warn(f"of y: {said}"[-60:] + " of y", UserWarning, stacklevel=1)
        with pytest.raises(FitWarning):
            warnings.warn(said, FitWarning, stacklevel=1)
