"""Sparse regression against dense algebra, differences, the exact process, and itself in chunks."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Chunks,
    ConstantMean,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Normal,
    Periodic,
    SparseGP,
    White,
    condition,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.fast import sparse as in_place
from gpnotes.ground import memory
from gpnotes.ground.chunks import ChunkError
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.sparse import projection, row_sums
from gpnotes.testing import check_posterior, gradcheck

N, D, M = 19, 2, 5
NOISE_VAR = 0.2
METHODS = ("sor", "dtc", "fitc", "vfe", "pep", "tight", "upper")


@pytest.fixture
def numbers(rng):
    """X, y, Xs and Z on the host."""
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(M, D))
    return X, rng.normal(size=N), rng.normal(size=(7, D)), Z


def process(asarray, which="in place"):
    lengths = asarray([0.8, 1.5])
    kernels = {
        "in place": RBF(1.3, lengths),
        "general": Matern32(0.9, lengths) * Periodic(0.5, 1.0, 1.7) + Linear(0.3) + White(0.05),
    }
    return GP(kernels[which], NOISE_VAR, ConstantMean(0.5))


@pytest.fixture(params=["in place", "general"])
def which(request):
    return request.param


def tolerance(space):
    """Of float32 only the data are rounded: the sums are in float64, where the device has it."""
    if space.double:
        return {"rtol": 1e-9, "atol": 1e-10}
    return (
        {"rtol": 5e-3, "atol": 1e-3} if "no_float64" in space.name else {"rtol": 1e-4, "atol": 1e-4}
    )


def parts(numbers, which):
    X, y, Xs, Z = numbers
    gp = process(np.asarray, which)
    k = gp.kernel
    gain = np.linalg.solve(k(Z), k(Z, X))
    Q = k(X, Z) @ gain
    return gp, k, X, y, Xs, Z, Q, k.diag(X) - np.diag(Q)


def dense_evidence(numbers, which, method, power):
    """The formulas of the docstring, with matrices of n × n."""
    gp, _, X, y, _, _, Q, gap = parts(numbers, which)
    s, eye = NOISE_VAR, np.eye(N)
    share = {"fitc": 1.0, "pep": power}.get(method, 0.0)
    correction = {
        "vfe": -np.sum(gap) / (2 * s),
        "tight": -0.5 * np.sum(np.log(1 + gap / s)),
        "pep": -(1 - power) / (2 * power) * np.sum(np.log(1 + power * gap / s)),
    }.get(method, 0.0)
    if method == "upper":
        r = y - gp.mean(X)
        quadratic = r @ np.linalg.solve(Q + (s + np.sum(gap)) * eye, r)
        return -0.5 * (N * np.log(2 * np.pi) + np.linalg.slogdet(Q + s * eye)[1] + quadratic)
    noise = np.diag(s + share * gap)
    return Normal.from_covariance(gp.mean(X), Q + noise).log_density(y) + correction


@pytest.mark.parametrize("method", METHODS)
def test_the_evidence_is_that_of_dense_algebra(space, numbers, which, method):
    X, y, _, Z = (space.asarray(a) for a in numbers)
    gp = process(space.asarray, which)
    ours = log_evidence(SparseGP(gp, Z, method, power=0.3), X, y)
    np.testing.assert_allclose(
        ours, dense_evidence(numbers, which, method, 0.3), **tolerance(space)
    )
    assert isinstance(ours, float)


@pytest.mark.parametrize("method", METHODS[:-1])
def test_the_posterior_is_that_of_dense_algebra(space, numbers, which, method):
    _, k, X, y, Xs, Z, Q, gap = parts(numbers, which)
    share = {"fitc": 1.0, "pep": 0.5}.get(method, 0.0)
    Ky = Q + np.diag(NOISE_VAR + share * gap)
    Q_s = k(Xs, Z) @ np.linalg.solve(k(Z), k(Z, X))
    Q_ss = k(Xs, Z) @ np.linalg.solve(k(Z), k(Z, Xs))
    mean = 0.5 + Q_s @ np.linalg.solve(Ky, y - 0.5)
    covariance = (Q_ss if method == "sor" else k(Xs)) - Q_s @ np.linalg.solve(Ky, Q_s.T)
    Z, X, y = (space.asarray(a) for a in (Z, X, y))
    posterior = condition(SparseGP(process(space.asarray, which), Z, method), X, y)
    close = tolerance(space)
    new = space.asarray(Xs)
    np.testing.assert_allclose(to_numpy(posterior.mean(new)), mean, **close)
    np.testing.assert_allclose(to_numpy(posterior.variance(new)), np.diag(covariance), **close)
    np.testing.assert_allclose(to_numpy(posterior.covariance(new)), covariance, **close)
    check_posterior(posterior, new)
    draws = posterior.sample(new, 2, noise=True, rng=stream(1))
    u = posterior.inducing_values()
    assert all(map(space.holds, (draws, u.mean, u.root)))


def bars(gp, Z, X, y, **method):
    """The derivatives by the process and by the inputs of Z, as `gradcheck` takes them."""
    model_bar = log_evidence_and_gradient(SparseGP(gp, Z, **method), X, y)[1]
    return model_bar.gp, model_bar.inducing


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_agrees_with_differences(numbers, which, method):
    X, y, _, Z = numbers
    gp = process(np.asarray, which)
    gradcheck(
        lambda gp, Z: log_evidence(SparseGP(gp, Z, method, power=0.3), X, y),
        lambda gp, Z, bar: bars(gp, Z, X, y, method=method, power=0.3),
        gp,
        Z,
        names=("gp", "Z"),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel_class", [Matern12, Matern32, Matern52])
def test_the_gradient_of_other_kernels_agrees_with_differences(numbers, kernel_class, method):
    X, y, _, Z = numbers
    gp = GP(kernel_class(1.3, 0.9), NOISE_VAR)
    gradcheck(
        lambda gp, Z: log_evidence(SparseGP(gp, Z, method), X, y),
        lambda gp, Z, bar: bars(gp, Z, X, y, method=method),
        gp,
        Z,
        names=("gp", "Z"),
    )


@pytest.mark.parametrize("method", ["vfe", "fitc", "upper"])
def test_value_and_gradient_are_the_same_in_every_space(space, numbers, which, method):
    X, y, _, Z = numbers
    Zs, *there = (space.asarray(a) for a in (Z, X, y))
    gp, host = process(space.asarray, which), process(np.asarray, which)
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Zs, method), *there)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    wanted, model_bar = log_evidence_and_gradient(SparseGP(host, Z, method), X, y)
    host_bar, host_Z_bar = model_bar.gp, model_bar.inducing
    close = tolerance(space)
    np.testing.assert_allclose(value, wanted, **close)
    np.testing.assert_allclose(to_numpy(Z_bar), host_Z_bar, **close)
    pair = flatten_gradient(gp, gp_bar), flatten_gradient(host, host_bar)
    np.testing.assert_allclose(*pair, **close)
    assert space.holds(Z_bar)
    if which == "in place":
        assert space.holds(gp_bar.kernel.lengthscale)


def test_the_bounds_enclose_the_evidence():
    gains = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        n, m = int(draw.integers(10, 80)), int(draw.integers(2, 10))
        X = draw.uniform(0.0, 5.0, size=(n, 2))
        gp = GP(RBF(draw.uniform(0.5, 3.0), draw.uniform(0.3, 3.0)), float(draw.uniform(0.01, 1.0)))
        y = np.sin(X.sum(axis=1)) + 0.3 * draw.normal(size=n)
        Z = X[draw.permutation(n)[:m]]
        names = ("vfe", "tight", "upper")
        vfe, tight, upper = (log_evidence(SparseGP(gp, Z, name), X, y) for name in names)
        exact = log_evidence(gp, X, y)
        assert vfe <= tight <= exact + 1e-6 * abs(exact)
        assert exact - 1e-6 * abs(exact) <= upper
        gains.append(tight - vfe)
    assert min(gains) > 0.0


@pytest.mark.parametrize("method", METHODS)
def test_noise_of_each_reading_that_is_alike_is_the_noise_of_all(space, numbers, method):
    """One quadratic form of the upper bound has the noise σ² + Σ g, the other σ² (1 + Σ g/σ²)."""
    X, y, _, Z = (space.asarray(a) for a in numbers)
    gp = process(space.asarray)
    model, apart = (
        SparseGP(gp, Z, method),
        SparseGP(dataclasses.replace(gp, noise_var=0.05), Z, method),
    )
    value, bar = log_evidence_and_gradient(model, X, y)
    each = space.asarray(np.full(N, NOISE_VAR - 0.05))
    found, found_bar = log_evidence_and_gradient(apart, X, y, noise_var=each)
    np.testing.assert_allclose(found, value, **tolerance(space))
    pair = flatten_gradient(gp, found_bar.gp), flatten_gradient(gp, bar.gp)
    np.testing.assert_allclose(*pair, **tolerance(space))
    np.testing.assert_allclose(
        to_numpy(found_bar.inducing), to_numpy(bar.inducing), **tolerance(space)
    )


@pytest.mark.parametrize("method", METHODS)
def test_with_inducing_points_at_the_data_all_is_exact(numbers, method):
    X, y, Xs, _ = numbers
    gp = process(np.asarray, "in place")
    exact = condition(gp, X, y)
    more = np.concatenate([X, Xs])
    for Z in (X, more):  # and with more points than data
        ours = log_evidence(SparseGP(gp, Z, method), X, y)
        assert ours == pytest.approx(exact.log_evidence, rel=1e-7)
    if method != "upper":
        posterior = condition(SparseGP(gp, X, method), X, y)
        np.testing.assert_allclose(posterior.mean(Xs), exact.mean(Xs), rtol=1e-6, atol=1e-8)
        if method != "sor":
            pair = posterior.covariance(Xs), exact.covariance(Xs)
            np.testing.assert_allclose(*pair, rtol=1e-6, atol=1e-7)


def test_power_ep_lies_between_the_two(numbers):
    X, y, _, Z = numbers
    gp = process(np.asarray)

    def value(method, power=0.5):
        return log_evidence(SparseGP(gp, Z, method, power=power), X, y)

    assert value("pep", 0.0) == value("vfe")
    assert value("pep", 1.0) == value("fitc")
    assert value("pep", 1e-6) == pytest.approx(value("vfe"), rel=1e-4)


def test_points_that_coincide_add_nothing(numbers):
    X, y, Xs, Z = numbers
    gp = process(np.asarray)
    twice = np.concatenate([Z, Z[:2]])
    for method in METHODS[:-1]:
        alone = condition(SparseGP(gp, Z, method), X, y)
        with pytest.warns(JitterWarning, match="K_uu of RBF"):
            double = condition(SparseGP(gp, twice, method), X, y)
        assert double.log_evidence == pytest.approx(alone.log_evidence, rel=1e-6)
        for a, b in zip(double.predict(Xs), alone.predict(Xs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_far_from_its_points_the_degenerate_variance_vanishes_and_the_full_one_is_the_prior(
    numbers,
):
    X, y, _, Z = numbers
    gp, far = process(np.asarray), np.full((1, D), 50.0)
    sor, dtc = (condition(SparseGP(gp, Z, name), X, y) for name in ("sor", "dtc"))
    assert sor.log_evidence == dtc.log_evidence
    assert sor.variance(far)[0] < 1e-12
    assert dtc.variance(far)[0] == pytest.approx(1.3)
    assert dataclasses.replace(dtc, degenerate=True).variance(far)[0] < 1e-12


def test_what_is_known_at_the_points_is_what_is_predicted_there(numbers):
    X, y, _, Z = numbers
    posterior = condition(SparseGP(process(np.asarray), Z, "fitc"), X, y)
    u, joint = posterior.inducing_values(), posterior.joint(Z)
    np.testing.assert_allclose(u.mean, joint.mean, rtol=1e-9)
    np.testing.assert_allclose(u.covariance, joint.covariance, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_of_rows_change_nothing(monkeypatch, numbers, which, method):
    X, y, _, Z = numbers
    gp = process(np.asarray, which)
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Z, method), X, y)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    monkeypatch.setattr(memory, "ENTRIES", M * 3)
    again, model_bar = log_evidence_and_gradient(SparseGP(gp, Z, method), X, y)
    again_bar, Z_again = model_bar.gp, model_bar.inducing
    assert again == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(Z_again, Z_bar, rtol=1e-8, atol=1e-10)
    pair = flatten_gradient(gp, again_bar), flatten_gradient(gp, gp_bar)
    np.testing.assert_allclose(*pair, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("method", ["vfe", "fitc"])
@pytest.mark.parametrize("room", [2**23, 2 * 4 * M, 0])
def test_rows_are_whitened_once_where_there_is_room(monkeypatch, numbers, which, method, room):
    """The second pass takes what the first one kept, and gives what it gives without."""
    X, y, _, Z = numbers
    model = SparseGP(process(np.asarray, which), Z, method)
    monkeypatch.setattr(memory, "ENTRIES", 4 * M)  # five blocks of at most four rows
    monkeypatch.setattr(row_sums, "_KEPT", 0)
    value, bar = log_evidence_and_gradient(model, X, y)
    monkeypatch.setattr(row_sums, "_KEPT", room)
    owner = in_place if which == "in place" else projection.Inducing
    whiten, solved = owner.whiten, []

    def counted(*args):
        solved.append(args)
        return whiten(*args)

    monkeypatch.setattr(owner, "whiten", counted)
    again, same = log_evidence_and_gradient(model, X, y)
    assert again == value
    np.testing.assert_array_equal(flatten_gradient(model, same), flatten_gradient(model, bar))
    np.testing.assert_array_equal(same.inducing, bar.inducing)
    blocks, kept = 5, {2**23: 5, 2 * 4 * M: 2, 0: 0}[room]
    assert len(solved) == 2 * blocks - kept


@pytest.mark.parametrize("method", ["vfe", "fitc", "upper"])
def test_chunks_give_what_all_rows_give(space, numbers, method):
    X, y, Xs, Z = (space.asarray(a) for a in numbers)
    gp = process(space.asarray)
    chunks = [(X[:5, :], y[:5]), lambda: (X[5:6, :], y[5:6]), (X[6:, :], y[6:])]
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Z, method), Chunks(chunks))
    bar, Z_bar = model_bar.gp, model_bar.inducing
    wanted, model_bar = log_evidence_and_gradient(SparseGP(gp, Z, method), X, y)
    wanted_bar, Z_wanted = model_bar.gp, model_bar.inducing
    close = tolerance(space)
    np.testing.assert_allclose(value, wanted, **close)
    np.testing.assert_allclose(to_numpy(Z_bar), to_numpy(Z_wanted), **close)
    pair = flatten_gradient(gp, bar), flatten_gradient(gp, wanted_bar)
    np.testing.assert_allclose(*pair, **close)
    if method != "upper":
        ours = condition(SparseGP(gp, Z, method), Chunks(chunks))
        whole = condition(SparseGP(gp, Z, method), X, y)
        for a, b in zip(ours.predict(Xs), whole.predict(Xs), strict=True):
            np.testing.assert_allclose(to_numpy(a), to_numpy(b), **close)


def test_work_for_other_processes_can_be_pickled(numbers):
    X, y, _, Z = numbers
    gp = process(np.asarray, "general")

    def far(function, iterable):
        there = pickle.loads(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(there(one))) for one in iterable]

    chunks = [(X[:9], y[:9]), (X[9:], y[9:])]
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Z), Chunks(chunks, map=far))
    bar = model_bar.gp
    wanted, model_bar = log_evidence_and_gradient(SparseGP(gp, Z), X, y)
    wanted_bar = model_bar.gp
    assert value == pytest.approx(wanted, rel=1e-11)
    pair = flatten_gradient(gp, bar), flatten_gradient(gp, wanted_bar)
    np.testing.assert_allclose(*pair, rtol=1e-8, atol=1e-10)


def test_a_chunk_with_bad_rows_is_named(numbers):
    X, y, _, Z = numbers
    gp = process(np.asarray)
    spoilt = y.copy()
    spoilt[3] = np.inf
    words = "chunk 1 of chunks failed: .* y must be finite; 1 .*, the first in row 3"
    with pytest.raises(ChunkError, match=words):
        condition(SparseGP(gp, Z), Chunks([(X, y), (X, spoilt)]))


def test_the_gradient_leads_to_better_points(numbers):
    """One small step along it, from points that are nowhere near the data."""
    X, y, _, Z = numbers
    gp = process(np.asarray)
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Z + 1.0), X, y)
    Z_bar = model_bar.inducing
    step = 1e-3 / np.max(np.abs(Z_bar))
    assert log_evidence(SparseGP(gp, Z + 1.0 + step * Z_bar), X, y) > value


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda g, Z, X, y: SparseGP(g, Z[:0]), ValueError, "inducing must have at least"),
        (lambda g, Z, X, y: SparseGP(g, Z[:, :1]), ValueError, "inducing must have shape"),
        (lambda g, Z, X, y: condition(SparseGP(g, Z), X, y[:-1]), ValueError, "y must have shape"),
        (lambda g, Z, X, y: SparseGP(GP(RBF(), 0.0), Z), ValueError, "noise_var mus"),
        (
            lambda g, Z, X, y: condition(SparseGP(g, Z, "upper"), X, y),
            ValueError,
            "method must have a posterior",
        ),
        (
            lambda g, Z, X, y: log_evidence(SparseGP(g, Z, "nystrom"), X, y),
            ValueError,
            "method must be one of",
        ),
        (
            lambda g, Z, X, y: log_evidence(SparseGP(g, Z, "pep", power=1.5), X, y),
            ValueError,
            "power must be from 0 to 1",
        ),
        (
            lambda g, Z, X, y: log_evidence(SparseGP(GP(RBF(), 0.1), Z.astype(np.float32)), X, y),
            TypeError,
            "X must have the dtype of inducing",
        ),
        (
            lambda g, Z, X, y: log_evidence_and_gradient(
                SparseGP(GP(RBF(), 0.1, lambda x: x[:, 0]), Z), X, y
            ),
            TypeError,
            "gp.mean must be",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(numbers, call, error, words):
    X, y, _, Z = numbers
    with pytest.raises(error, match=words):
        call(process(np.asarray), Z, X, y)


@pytest.mark.parametrize("method", METHODS)
def test_readings_whose_squares_overflow_are_refused(numbers, which, method):
    """The evidence was NaN."""
    X, y, _, Z = numbers
    gp = process(np.asarray, which)
    for call in (log_evidence, log_evidence_and_gradient):
        with pytest.raises(ValueError, match=r"y − m\(X\) must be smaller than 2e\+123 in size"):
            call(SparseGP(gp, Z, method), X, 1e160 * y)
