"""Sums and products of kernels on a line against dense algebra."""

from __future__ import annotations

import math
import signal
import warnings

import mpmath
import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Constant,
    ConstantMean,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    StateSpaceGP,
    White,
    condition,
    dataset,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    named,
    stream,
    to_numpy,
)
from gpnotes.ground.ascent import finite_or_none
from gpnotes.ground.check import NoValueError
from gpnotes.ground.interrupts import InterruptWarning
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.ground.params import flatten_gradient, names
from gpnotes.infer.objective import objective_of
from gpnotes.infer.state_space.as_terms import SHORTEST, harmonics, motion_of
from gpnotes.infer.state_space.parallel_scan import Lanes, lanes_of
from gpnotes.infer.state_space.prior_draws import prior_draw
from gpnotes.model.kernels import Cosine, IntegratedWiener, Wiener
from gpnotes.testing import gradcheck

M12, M32, M52 = Matern12(0.7, 2.0), Matern32(1.7, 1.3), Matern52(0.4, 3.1)
SEASON = Periodic(1.3, 0.9, 1.7)
SMOOTH = Periodic(1.3, 3.0, 1.7)  # of fewer waves, where each has a state of its own in a product
KERNELS = {
    "wave": Cosine(0.3),
    "season": SEASON,
    "level": Constant(2.0) + M12,
    "line": Linear(0.3) + M52,
    "white": M32 + White(0.2) + 0.5 * White(0.1),
    "sum": M12 + M32 + M52,
    "product": M32 * M52,
    "damped": M32 * Cosine(0.4),
    "quasi-periodic": M12 * SEASON,
    "growing": Linear(0.2) * M32 * SMOOTH + Constant(0.5),
    "of sums": (M12 + 0.3 * M32) * (Cosine(0.2) + Constant(0.7)) * Cosine(0.11),
    "power": (Constant(0.7) + 0.3 * M12) ** 2,
    "power of a product": (M12 * Cosine(0.2)) ** 3 + M32**1,
    "walk": Wiener(0.4, -2.0) + M12,
    "trend": IntegratedWiener(0.01, -3.0) + Linear() + Constant(4.0) + M12 * Wiener(0.2, -3.5),
    "trend and season": 3.0 * Matern52(1.0, 9.0) + 0.2 * (SEASON * M32).on(0) + White(0.01),
}
exact = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
TIGHT = 1e-13


def process(kernel):
    return GP(kernel, 0.05, ConstantMean(0.4))


def model(gp):
    return StateSpaceGP(gp, TIGHT)


def readings(rng, n=50, span=12.0):
    t = rng.uniform(0.5, span, n)
    t[n // 2 : n // 2 + 2] = t[0]
    return t[:, None], np.sin(2.0 * t) + 0.1 * t + 0.2 * rng.normal(size=n)


def asked(rng, X, span=12.0):
    return np.concatenate([rng.uniform(-2.0, span + 3.0, 30)[:, None], X[:4] + 1e-3])


@exact
def test_evidence_gradient_and_posterior_are_those_of_dense_algebra(kernel, rng):
    gp, (X, y) = process(kernel), readings(rng)
    Xs = asked(rng, X)
    value, bar = log_evidence_and_gradient(model(gp), X, y)
    other, wanted = log_evidence_and_gradient(gp, X, y)
    assert value == pytest.approx(other, rel=1e-9, abs=1e-9)
    got = flatten_gradient(gp, bar.gp)
    np.testing.assert_allclose(got, flatten_gradient(gp, wanted), rtol=1e-8, atol=1e-8)
    found, dense = condition(model(gp), X, y), condition(gp, X, y)
    for one, two in zip(found.predict(Xs), dense.predict(Xs), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.mean(Xs), dense.mean(Xs), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.fitted(), dense.mean(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.covariance(Xs[:5]), dense.covariance(Xs[:5]), atol=1e-9)


@pytest.mark.parametrize("kernel", [
    pytest.param(kernel, id=name) for name, kernel in KERNELS.items()
])  # fmt: skip
def test_the_gradient_is_that_of_differences(kernel, rng):
    X, y = readings(rng, 10, 6.0)  # near, else the step in a period is a long way there
    gradcheck(
        lambda gp: log_evidence(model(gp), X, y),
        lambda gp, bar: (log_evidence_and_gradient(model(gp), X, y)[1].gp,),
        GP(kernel, 0.5, ConstantMean(0.4)),
    )


def test_parts_are_those_of_dense_algebra(rng):
    twice = Matern32(1.0, 2.0)
    both = M12 + Cosine(0.05) + White(0.2)
    parts = {"trend": M52, "season": SEASON, "noise": White(0.1), "one": twice, "two": twice}
    gp = process(named(**parts, both=both))
    X, y = readings(rng)
    Xs = asked(rng, X)
    found, dense = condition(model(gp), X, y), condition(gp, X, y)
    wanted = (("trend",), (1,), ("noise",), ("season", "trend"), ("one", "two"), ("mean", "one"),
              ("both",), ("trend", "both"))  # fmt: skip
    for which in wanted:
        one, other = found.part(*which), dense.part(*which)
        for a, b in zip(one.predict(Xs), other.predict(Xs), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
        np.testing.assert_allclose(one.covariance(Xs[:4]), other.covariance(Xs[:4]), atol=1e-9)
    alone = condition(model(process(M52)), X, y)
    np.testing.assert_allclose(alone.part(0).mean(Xs) + 0.4, alone.mean(Xs), atol=1e-12)


def test_readings_may_come_one_at_a_time(rng):
    gp = process(named(trend=M52, season=SEASON, noise=White(0.1)))
    X, y = readings(rng, 60)
    X, v = np.sort(X, axis=0), 0.1 * rng.uniform(size=60)
    Xs = np.linspace(X[-1, 0], X[-1, 0] + 5.0, 9)[:, None]
    whole = condition(model(gp), X, y, noise_var=v)
    grown = condition(model(gp), X[:40], y[:40], noise_var=v[:40])
    for i in range(40, 57):
        grown = grown.extend(X[i : i + 1], y[i : i + 1], noise_var=v[i : i + 1])
    grown = grown.extend(X[:56:-1], y[:56:-1], noise_var=v[:56:-1])
    assert len(grown.pieces) < 8
    assert "smoothed" not in vars(grown)
    assert grown.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    for one, other in ((grown, whole), (grown.part("season"), whole.part("season")),
                       (grown.part("noise"), whole.part("noise"))):  # fmt: skip
        for a, b in zip(one.predict(Xs), other.predict(Xs), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
    assert "smoothed" not in vars(grown)
    for one, other in ((grown, whole), (grown.part("trend"), whole.part("trend"))):
        for a, b in zip(one.predict(X), other.predict(X), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(grown.covariance(Xs), whole.covariance(Xs), atol=1e-9)
    early = condition(model(gp), X[10:], y[10:], noise_var=v[10:])
    early = early.extend(X[:10], y[:10], noise_var=v[:10])
    assert early.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    np.testing.assert_allclose(early.mean(Xs), whole.mean(Xs), atol=1e-9)
    assert early.extend(X[:0], y[:0]) is early


def test_many_lanes_change_nothing(rng):
    gp = process(KERNELS["trend and season"])
    X, y = readings(rng, 900, 60.0)
    Xs = asked(rng, X, 60.0)
    found, dense = condition(model(gp), X, y), condition(gp, X, y)
    assert found.log_evidence == pytest.approx(dense.log_evidence, rel=1e-9)
    for one, two in zip(found.predict(Xs), dense.predict(Xs), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-9)


def test_it_holds_in_every_namespace(space, rng):
    gp, (X, y) = process(KERNELS["growing"] + KERNELS["white"]), readings(rng)
    Xs = asked(rng, X)
    tolerance = TIGHT if space.double else 1e-6
    found = condition(StateSpaceGP(gp, tolerance), *map(space.asarray, (X, y)))
    close = 1e-9 if space.double else 1e-2
    dense = condition(gp, X, y).predict(Xs)
    for one, other in zip(found.predict(space.asarray(Xs)), dense, strict=True):
        assert space.holds(one)
        np.testing.assert_allclose(to_numpy(one), other, rtol=close, atol=close)


def test_the_waves_of_a_season_are_as_close_as_they_say():
    tau = np.linspace(0.0, 1.0, 101)
    for length in (0.1, 0.5, 1.0, 30.0):
        for tolerance in (1e-3, 1e-6, 1e-12):
            shares, slopes = harmonics(length, tolerance)
            waves = np.cos(2.0 * math.pi * np.outer(tau, np.arange(len(shares))))
            error = np.exp(-2.0 * np.sin(math.pi * tau) ** 2 / length**2) - waves @ shares
            assert np.max(np.abs(error)) == pytest.approx(1.0 - sum(shares), abs=1e-14)
            assert np.max(np.abs(error)) <= tolerance + 1e-14
            ahead = harmonics(length * (1.0 + 1e-6), tolerance)[0]
            behind = harmonics(length * (1.0 - 1e-6), tolerance)[0]
            rise = (np.asarray(ahead) - np.asarray(behind)) / (2e-6 * length)
            np.testing.assert_allclose(rise, slopes, rtol=1e-6, atol=1e-8)


def test_draws_have_the_moments_of_dense_algebra(rng):
    gp, (X, y) = process(M12 + M32 * Cosine(0.3) + White(0.1)), readings(rng)
    Xs = asked(rng, X)[:20]
    draws = condition(model(gp), X, y).sample(Xs, 15, rng=stream(1))
    assert draws.shape == (15, 20)
    posterior = condition(model(gp), X, y)
    many = posterior.sample(Xs, 500, rng=stream(1))
    mean, variance = condition(gp, X, y).predict(Xs)
    assert np.max(np.abs(many.mean(0) - mean) / np.sqrt(variance / 500.0)) < 5.0
    assert np.max(np.abs(many.var(0) / variance - 1.0)) < 5.0 * math.sqrt(2.0 / 500.0)


def test_a_fit_climbs_the_same_hill(rng):
    gp, (X, y) = process(Matern32(1.0, 3.0) + Periodic(1.0, 1.0, 3.0)), readings(rng, 60)
    found, dense = fit(model(gp), X, y), fit(gp, X, y)
    assert found.log_evidence == pytest.approx(dense.log_evidence, abs=1e-3)


def carbon():
    """The last five years of monthly carbon dioxide over Mauna Loa, in years."""
    year, month, ppm, _ = dataset("co2-monthly")[-60:].T
    return (year + (month - 0.5) / 12.0)[:, None], ppm


OPEN = named(trend=Matern52(), season=Periodic(period=1.0), rest=Matern32())


def season_of(days):
    kernel = named(trend=Matern52(), season=Periodic(period=days), rest=Matern32())
    return GP(kernel, mean=ConstantMean())


@pytest.fixture(scope="module")
def exact_evidence():
    """That of the exact process where its fit ends, in years; the unit of time does not matter."""
    return fit(season_of(1.0), *carbon(), fixed=["kernel.season.period"]).log_evidence


@pytest.mark.parametrize("days", [1.0, 365.25])
def test_a_season_whose_numbers_are_open_ends_where_the_exact_process_ends(days, exact_evidence):
    """In years, and in days, where a step once asked for 7000 waves."""
    X, ppm = carbon()
    found = fit(StateSpaceGP(season_of(days)), days * X, ppm, fixed=["gp.kernel.season.period"])
    assert found.log_evidence == pytest.approx(exact_evidence, abs=1e-3)
    assert found.runs[0].converged


@pytest.mark.parametrize("noise", [1e-2, 1e-6, 1e-9])
def test_waves_that_are_left_out_are_nothing_beside_the_noise(noise, rng):
    kernel = named(season=Periodic(2.0, 1.1, 3.0), level=Constant(30.0), drift=M32 * Cosine(0.3))
    X = rng.uniform(0.0, 30.0, (80, 1))
    y = np.linalg.cholesky(kernel(X) + noise * np.eye(80)) @ rng.normal(size=80)
    dense = condition(GP(kernel, noise), X, y)
    found = condition(StateSpaceGP(dense.gp), X, y)
    assert found.log_evidence == pytest.approx(dense.log_evidence, abs=2e-3)
    Xs = asked(rng, X, 30.0)
    assert np.max(np.abs(found.mean(Xs) - dense.mean(Xs))) < 1e-2 * math.sqrt(noise)
    part, other = found.part("season"), dense.part("season")
    np.testing.assert_allclose(part.mean(Xs), other.mean(Xs), atol=1e-4)


def test_a_wave_more_is_no_jump(rng):
    """Where one more is taken the evidence moves as it does elsewhere."""
    X, y = readings(rng)
    lengths = np.linspace(0.5, 1.5, 4001)
    counts = [len(harmonics(length, 1e-3)[0]) for length in lengths]
    assert len(set(counts)) > 3

    def evidence(length):
        return log_evidence(StateSpaceGP(GP(Periodic(1.0, length, 1.7), 1.1), 1e-3), X, y)

    steps = np.flatnonzero(np.diff(counts))
    jumps = [evidence(lengths[i + 1]) - evidence(lengths[i]) for i in steps]
    beside = [evidence(lengths[i]) - evidence(lengths[i - 1]) for i in steps]
    np.testing.assert_allclose(jumps, beside, rtol=0.3, atol=1e-5)


def test_a_fit_stays_above_the_shortest_season_and_says_so(rng):
    X = rng.uniform(0.0, 20.0, (30, 1))
    y = np.where(np.mod(X[:, 0], 1.0) < 0.04, 5.0, 0.0) + rng.normal(size=30)
    model = StateSpaceGP(GP(Periodic(), 0.1), 1e-2)
    asked_for = []

    def hear(step):
        asked_for.append(step.objective)

    held = ["gp.kernel.period", "gp.noise_var"]
    found = fit(model, X, y, fixed=held, on_step=hear)
    assert np.min(asked_for) > -math.inf  # no evaluation met the wall
    assert found.model.gp.kernel.lengthscale == pytest.approx(SHORTEST)
    assert found.runs[0].at_bounds == ("gp.kernel.lengthscale",)
    twice = StateSpaceGP(GP(Periodic() + 0.3 * Periodic(period=0.3), 0.1), 1e-3)
    names = [f"gp.kernel.parts.{i}.period" for i in "01"]
    lengths = "gp.kernel.parts.0.lengthscale", "gp.kernel.parts.1.kernel.lengthscale"
    tied = fit(
        twice, X, y, fixed=["gp.noise_var", names[0], "gp.kernel.parts.1.kernel.period"],
        tied=[lengths], restarts=1, rng=1, restart_sd=9.0, max_steps=3,
    )  # fmt: skip
    assert all(run.model.gp.kernel.parts[0].lengthscale >= SHORTEST for run in tied.runs)
    within = {"gp.kernel.lengthscale": (0.2, 3.0)}
    assert fit(model, X, y, fixed=held, bounds=within).model.gp.kernel.lengthscale >= 0.2
    with pytest.raises(ValueError, match=r"Periodic\.lengthscale must be 0\.1 or more on a line"):
        fit(model, X, y, fixed=held, bounds={"gp.kernel.lengthscale": (0.01, 0.05)})


def test_a_state_that_no_step_can_carry_is_refused_and_a_fit_turns_back(rng):
    both = Periodic(1.0, 0.15, 1.0) * Periodic(1.0, 0.15, 3.0)
    with pytest.raises(ValueError, match=r"^gp must have a state of 600 numbers or fewer"):
        StateSpaceGP(GP(both, 0.1))
    X = rng.uniform(0.0, 20.0, (12, 1))
    wide = StateSpaceGP(GP(Periodic(1.0, 1.0, 1.0) * Periodic(1.0, 1.0, 3.0), 0.1), 0.1)
    objective = objective_of(wide, X, rng.normal(size=12))
    lengths = [name.endswith("lengthscale") for name in names(objective.model)]
    start = objective.vector(wide)
    assert finite_or_none(objective, start) is not None
    assert finite_or_none(objective, np.where(lengths, math.log(SHORTEST), start)) is None


@pytest.mark.usefixtures("interruptible")
def test_a_fit_ends_where_its_listener_or_an_interrupt_within_an_evaluation_ends_it(
    rng, monkeypatch
):
    X, y = readings(rng)
    model = StateSpaceGP(GP(OPEN))
    found = fit(model, X, y, on_step=lambda step: step.evaluation == 3)
    assert (found.runs[0].evaluations, found.runs[0].message) == (3, "on_step ended it")
    steps, at = [], Lanes.step

    def step(lanes, k):
        steps.append(k)
        if len(steps) == 100:
            signal.raise_signal(signal.SIGINT)
        return at(lanes, k)

    monkeypatch.setattr(Lanes, "step", step)
    with pytest.warns(InterruptWarning, match="best of 1 run"):
        found = fit(model, X, y)
    assert len(steps) == 100
    assert found.runs[0].message == "interrupted"


ORIGIN = -2.0
AT_ANY_PLACE = {
    "Matern12": lambda s, at: Matern12(0.7, 2.0 * s),
    "Matern32": lambda s, at: Matern32(1.7, 1.3 * s),
    "Matern52": lambda s, at: Matern52(0.4, 3.1 * s),
    "Cosine": lambda s, at: Cosine(0.3 / s),
    "Periodic": lambda s, at: Periodic(1.3, 0.9, 1.7 * s),
    "Constant": lambda s, at: Constant(2.0),
    "Linear": lambda s, at: Linear(0.3 / (at + s) ** 2),
    "Wiener": lambda s, at: Wiener(0.4 / s, at + ORIGIN * s),
    "IntegratedWiener": lambda s, at: IntegratedWiener(0.01 / s**3, at + ORIGIN * s),
    "White": lambda s, at: Matern32(1.0, s) + White(0.3),
    "Scaled": lambda s, at: 0.3 * Matern32(1.0, s).on(0),
    "Product": lambda s, at: Linear(0.1 / (at + s) ** 2) * Matern32(1.7, 1.3 * s),
    "Power": lambda s, at: (Constant(0.7) + 0.3 * Matern12(1.0, s)) ** 2,
    "Sum": lambda s, at: named(
        trend=IntegratedWiener(0.01 / s**3, at + ORIGIN * s), line=Linear(0.2 / (at + s) ** 2),
        level=Constant(0.4), season=Periodic(1.0, 0.9, 1.7 * s) * Matern12(1.0, 9.0 * s),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("scale", "origin"), [
    (1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (86400.0, 1.7e9), (1e3, -1.7e9), (1e6, 1.7e12),
])  # fmt: skip
@pytest.mark.parametrize("kernel", AT_ANY_PLACE.values(), ids=AT_ANY_PLACE)
def test_it_is_the_exact_process_wherever_it_lies_and_in_any_unit(kernel, scale, origin, rng):
    t = np.concatenate([rng.uniform(0.5, 9.0, 30), [0.5, 0.5, 9.0]])
    X = (origin + scale * t)[:, None]
    y = np.sin(2.0 * t) + 0.1 * t + 0.2 * rng.normal(size=33)
    Xs = origin + scale * rng.uniform(-1.5, 12.0, (12, 1))
    gp = GP(kernel(scale, origin), 0.05, ConstantMean(0.4))
    found, dense = condition(model(gp), X, y), condition(gp, X, y)
    close = 1e-9 if origin == 0.0 else 1e-6  # the exact process loses what the places have not
    assert found.log_evidence == pytest.approx(dense.log_evidence, rel=close)
    for one, two in zip(found.predict(Xs), dense.predict(Xs), strict=True):
        np.testing.assert_allclose(one, two, rtol=close, atol=close)
    few = Xs[:4]
    np.testing.assert_allclose(found.covariance(few), dense.covariance(few), rtol=1e-5, atol=close)
    (_, bar), (_, wanted) = (log_evidence_and_gradient(m, X, y) for m in (model(gp), gp))
    got, wanted = flatten_gradient(gp, bar.gp), flatten_gradient(gp, wanted)
    np.testing.assert_allclose(got, wanted, rtol=10.0 * close, atol=10.0 * close)
    later = found.extend(Xs[-1:] + 20.0 * scale, y[:1])
    again = dense.extend(Xs[-1:] + 20.0 * scale, y[:1])
    assert later.log_evidence == pytest.approx(again.log_evidence, rel=close)


def in_sixty_digits(covariance, noise, X, y, Xs, part=None, digits=60):
    """Log evidence, mean and variance of f, or of a part of it, by mpmath."""
    part = part or covariance
    with mpmath.workdps(digits):
        x, z = ([mpmath.mpf(float(value)) for value in column[:, 0]] for column in (X, Xs))
        n = len(x)
        K = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                K[i, j] = covariance(x[i], x[j]) + (noise if i == j else 0.0)
        r, L = mpmath.matrix([mpmath.mpf(float(value)) for value in y]), mpmath.cholesky(K)
        inverse = K**-1
        log_det = 2 * sum(mpmath.log(L[i, i]) for i in range(n))
        value = -((r.T * inverse * r)[0] + log_det + n * mpmath.log(2 * mpmath.pi)) / 2
        shared = [mpmath.matrix([part(a, b) for b in x]) for a in z]
        mean = [float((k.T * inverse * r)[0]) for k in shared]
        left = [part(a, a) - (k.T * inverse * k)[0] for a, k in zip(z, shared, strict=True)]
        return float(value), np.asarray(mean), np.asarray([float(v) for v in left])


@pytest.mark.parametrize("variance", [1e-18, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("other", ["nothing", "level", "drift"])
def test_a_straight_line_keeps_its_digits_at_epoch_seconds(variance, other, rng):
    """Where readings leave 1e-19 of its variance, or less, as no float64 matrix can show."""
    t = np.sort(rng.uniform(0.0, 9.0, 14))
    X, y = 1.7e9 + 86400.0 * t[:, None], np.sin(t)
    Xs = np.concatenate([X[:1] - 3e5, X[:1] - 1e3, X[:2], X[5:6] + 100.0, X[-1:] + 1e6])
    beside = {"nothing": None, "level": Constant(4.0), "drift": Matern12(1.0, 86400.0)}[other]
    kernel = Linear(variance) if beside is None else beside + Linear(variance)

    def covariance(a, b):
        own = {"nothing": 0, "level": 4, "drift": mpmath.exp(-abs(a - b) / 86400)}[other]
        return own + mpmath.mpf(variance) * a * b

    found = condition(StateSpaceGP(GP(kernel, 0.1)), X, y)
    value, mean, left = in_sixty_digits(covariance, 0.1, X, y, Xs)
    assert found.log_evidence == pytest.approx(value, abs=1e-7)
    np.testing.assert_allclose(found.mean(Xs), mean, atol=1e-7)
    np.testing.assert_allclose(found.variance(Xs), left, atol=1e-7)
    np.testing.assert_allclose(np.diag(found.covariance(Xs)), left, atol=1e-7)
    shifted = [in_sixty_digits(covariance, 0.1 * (1.0 + e), X, y, Xs)[0] for e in (1e-6, -1e-6)]
    _, bar = log_evidence_and_gradient(found_model := StateSpaceGP(GP(kernel, 0.1)), X, y)
    slope = (shifted[0] - shifted[1]) / 2e-7
    assert bar.gp.noise_var == pytest.approx(slope, rel=1e-6)
    gradcheck(
        lambda gp: log_evidence(StateSpaceGP(gp), X, y),
        lambda gp, bar: (log_evidence_and_gradient(StateSpaceGP(gp), X, y)[1].gp,),
        found_model.gp,
    )


@pytest.mark.parametrize("kind", [Wiener, IntegratedWiener], ids=lambda kind: kind.__name__)
def test_what_wanders_from_afar_keeps_its_digits(kind, rng):
    t = np.sort(rng.uniform(0.0, 9.0, 12))
    X, y = 1.7e9 + 86400.0 * t[:, None], np.sin(t)
    Xs = np.concatenate([X[:1] - 3e5, X[:1] - 1e3, X[:2], X[5:6] + 100.0, X[-1:] + 1e6])
    variance = {Wiener: 1e-5, IntegratedWiener: 1e-17}[kind]

    def covariance(a, b):
        low, high = min(a, b), max(a, b)
        grown = low if kind is Wiener else low**2 * (high - low) / 2 + low**3 / 3
        return mpmath.mpf(variance) * grown + mpmath.exp(-abs(a - b) / 86400)

    found = condition(StateSpaceGP(GP(Matern12(1.0, 86400.0) + kind(variance), 0.1)), X, y)
    value, mean, left = in_sixty_digits(covariance, 0.1, X, y, Xs)
    assert found.log_evidence == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(found.mean(Xs), mean, atol=1e-9)
    np.testing.assert_allclose(found.variance(Xs), left, rtol=1e-9)


def brownian(a, b):
    return max(min(a, b), 0)


def bent(a, b):
    low, high = min(a, b), max(a, b)
    return max(low, 0) ** 2 * (high - low) / 2 + max(low, 0) ** 3 / 3


def drift(s):
    return lambda a, b: mpmath.exp(-abs(a - b) / s)


AFAR = {  # parts that suit a spacing s, with the covariance of each
    "line and level": lambda s: (
        (Linear(s**-2), lambda a, b: a * b / s**2), (Constant(4.0), lambda a, b: 4)),
    "two lines": lambda s: (
        (Linear(s**-2), lambda a, b: a * b / s**2), (2.0 * Linear(), lambda a, b: 2 * a * b)),
    "bend, line and level": lambda s: (
        (Linear(s**-2), lambda a, b: a * b / s**2), (Constant(4.0), lambda a, b: 4),
        (IntegratedWiener(s**-3), lambda a, b: bent(a, b) / s**3)),
    "walk, bend and drift": lambda s: (
        (Wiener(1 / s), lambda a, b: brownian(a, b) / s), (Matern12(1.0, s), drift(s)),
        (IntegratedWiener(s**-3), lambda a, b: bent(a, b) / s**3)),
    "walk and line": lambda s: (
        (Wiener(1 / s), lambda a, b: brownian(a, b) / s),
        (Linear(s**-2), lambda a, b: a * b / s**2)),
    "square of a line": lambda s: (
        ((Linear(s**-2) + Constant(1.0)) ** 2, lambda a, b: (a * b / s**2 + 1) ** 2),
        (Constant(1.0), lambda a, b: 1)),
    "steep drift": lambda s: (
        (Linear() * Matern12(1.0, s), lambda a, b: a * b * drift(s)(a, b)),
        (Matern12(1.0, s), drift(s))),
    "steep drift and line": lambda s: (
        (Linear() * Matern12(1.0, s), lambda a, b: a * b * drift(s)(a, b)),
        (Linear(s**-2), lambda a, b: a * b / s**2)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("origin", "scale"), [(0.0, 1.0), (1e5, 60.0), (1.7e9, 1.0), (1.7e9, 3600.0)]
)
@pytest.mark.parametrize("parts", AFAR.values(), ids=AFAR)
def test_terms_that_grow_are_right_from_any_origin_or_warn(parts, origin, scale, rng):
    t = np.sort(rng.uniform(1.0, 9.0, 9))
    X, y = origin + scale * t[:, None], np.sin(t)
    Xs = np.concatenate([X[:1] - 0.5 * scale, X[:2], X[4:5] + 0.1 * scale, X[-1:] + scale])
    kernels, functions = zip(*parts(scale), strict=True)
    process = StateSpaceGP(GP(sum(kernels[1:], kernels[0]), 0.1))

    def covariance(a, b):
        return sum(function(a, b) for function in functions)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RoundingWarning)
        found = condition(process, X, y)
    value, mean, left = in_sixty_digits(covariance, 0.1, X, y, Xs, digits=110)
    assert found.log_evidence == pytest.approx(value, abs=1e-8)
    if said:
        assert origin > 0.0
        return
    np.testing.assert_allclose((found.mean(Xs) - mean) / left**0.5, 0.0, atol=1e-7)
    np.testing.assert_allclose(found.variance(Xs), left, rtol=1e-7)
    for which, function in enumerate(functions):
        _, mean, left = in_sixty_digits(covariance, 0.1, X, y, Xs, function, 110)
        part = found.part(which)
        np.testing.assert_allclose((part.mean(Xs) - mean) / left**0.5, 0.0, atol=1e-6)
        np.testing.assert_allclose(part.variance(Xs), left, rtol=1e-6)


@pytest.mark.parametrize("parts", AFAR.values(), ids=AFAR)
def test_gradients_and_draws_of_terms_that_others_carry(parts, rng):
    """Beside dense algebra, where that has its digits."""
    t = np.sort(rng.uniform(1.0, 9.0, 12))
    X, y = t[:, None], np.sin(t)
    kernels = [kernel for kernel, _ in parts(1.0)]
    gp = GP(sum(kernels[1:], kernels[0]), 0.1)
    (_, bar), (_, wanted) = (log_evidence_and_gradient(m, X, y) for m in (StateSpaceGP(gp), gp))
    got, wanted = flatten_gradient(gp, bar.gp), flatten_gradient(gp, wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)
    Xs = np.asarray([[0.5], [3.0], [3.1], [12.0]])
    posterior, dense = condition(StateSpaceGP(gp), X, y), condition(gp, X, y)
    lanes = lanes_of(motion_of(gp), t, 0.0 * t, 1.0)
    draws, shape = stream(3), (lanes.gaps.shape[0], lanes.motion.size, lanes.gaps.shape[1])
    f = np.stack([prior_draw(lanes, draws.normal(shape), lanes.motion.seen)[0] for _ in range(300)])
    K = gp.kernel(X) / posterior._variance
    spread = np.sqrt((np.outer(np.diag(K), np.diag(K)) + K**2) / 300.0)
    assert np.max(np.abs(f.T @ f / 300.0 - K) / spread) < 5.0
    later = posterior.extend([[9.5]], [0.3]), dense.extend(np.asarray([[9.5]]), np.asarray([0.3]))
    for one, other in zip(*(p.predict(Xs + 10.0) for p in later), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


def test_what_rounding_leaves_nothing_of_is_said(rng):
    """A first place of zero, which tells nothing of a line; two parts whose sum alone is seen."""
    X, y = np.linspace(0.0, 9.0, 14)[:, None], rng.normal(size=14)
    steep = StateSpaceGP(GP(Linear(1e18), 0.1))
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.warns(RoundingWarning, match="noise_var") as told:
            verb(steep, X, y)
        assert told[0].filename == __file__
    line = condition(StateSpaceGP(GP(Linear(1.0) + M12, 0.1)), 1.7e9 + X, y).part(0)
    with pytest.warns(RoundingWarning, match="the covariance of a part has lost its digits"):
        line.covariance(1.7e9 + X)
    two = StateSpaceGP(GP(Linear(1.0) + Constant(1e30), 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundingWarning)
        try:
            said, answers = "", condition(two, 1.7e9 + X, y).predict(1.7e9 + X)
        except NoValueError as problem:  # a processor may round so that a factor is singular
            said, answers = str(problem), ()
    assert np.all(np.isfinite(answers)) if answers else said.startswith("gp.noise_var must be")


@pytest.mark.parametrize("bend", [IntegratedWiener, lambda s: (Linear(s) + Constant(1.0)) ** 2])
def test_a_bend_at_epoch_seconds_is_said_where_readings_are_seconds_apart(bend, rng):
    """There 1.9e-7 of a variance was lost without a word; a minute apart it is 2e-9."""
    t, y = np.sort(rng.uniform(1.0, 9.0, 9)), rng.normal(size=9)
    gp, near = GP(bend(1.0), 0.1), GP(IntegratedWiener(1.0, origin=1.7e9), 0.1)
    for quiet, origin in (
        (gp, 0.0),
        (GP((Linear() + Constant(1.0)) ** 2, 0.1), 2.8e7),
        (near, 1.7e9),
    ):
        condition(StateSpaceGP(quiet), origin + t[:, None], y)
    with pytest.warns(RoundingWarning, match="predictions may be off by|variances of predictions"):
        condition(StateSpaceGP(gp), 1.7e9 + t[:, None], y)


@pytest.mark.parametrize("kernel", [
    Linear(0.1), Wiener(0.1), IntegratedWiener(0.1), Matern32() * Linear(0.1) + Constant(),
])  # fmt: skip
def test_places_whose_squares_overflow_are_named(kernel, rng):
    X, y = np.arange(4.0)[:, None], rng.normal(size=4)
    far = X.copy()
    far[2] = 1e32
    line = StateSpaceGP(GP(kernel, 0.1))
    for verb in (condition, log_evidence, log_evidence_and_gradient, fit):
        with pytest.raises(ValueError, match=r"^X must lie within 1e\+30 .* got 1e\+32 in row 2"):
            verb(line, far, y)
    posterior = condition(line, X, y)
    for one in (posterior, posterior.extend([[5.0]], [0.1])):
        with pytest.raises(ValueError, match=r"^Xs must lie within 1e\+30 .* in row 2"):
            one.predict(far)
        with pytest.raises(ValueError, match=r"^x must lie within 1e\+30 .* in row 2"):
            one.extend(far, y)


@pytest.mark.parametrize("kernel", [Linear(0.1), Matern32() * Linear(0.1) + Constant()])
def test_places_far_below_zero_are_named_too(kernel):
    with pytest.raises(ValueError, match=r"^X must lie within 1e\+30 .* got -1e\+32 in row 1"):
        condition(StateSpaceGP(GP(kernel, 0.1)), [[1.0], [-1e32], [0.0]], np.zeros(3))


@pytest.mark.parametrize("kernel", [Matern12, Matern32, Matern52])
def test_a_lengthscale_as_long_as_the_longest_gap_is_named_with_it(kernel):
    """A longer gap is taken for 1e30, which is no matter to what has forgotten by then."""
    X, y = np.asarray([[0.0], [1.0], [0.4], [0.7]]), np.asarray([0.1, 0.5, 0.2, 0.3])
    said = r"X must lie within 1e\+30 of zero on a line whose lengthscale is as long; got 1e\+40"
    far, gp = 1e40 * X, GP(kernel(1.0, 0.5e40), 0.01)
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.raises(ValueError, match=f"^{said} in row 1"):
            verb(model(gp), far, y)
    with pytest.raises(ValueError, match=said):
        fit(StateSpaceGP(GP(kernel())), far, y)
    near = 1e28 * X
    found = condition(model(GP(kernel(1.0, 0.5e28), 0.01)), near, y)
    beside = condition(GP(kernel(1.0, 0.5), 0.01), X, y)
    assert found.log_evidence == pytest.approx(beside.log_evidence, abs=1e-9)


@pytest.mark.parametrize("kernel", [
    Cosine(0.3), Periodic(1.0, 1.0, 2.0), M12 + Cosine(0.3), Constant(0.3) * Cosine(0.3),
])  # fmt: skip
def test_a_wave_that_never_ends_is_named_beyond_the_longest_gap(kernel):
    """It was answered as if the gap were 1e30, and a wave knows its phase after any."""
    far, y = np.asarray([[0.0], [1.0], [-1e31]]), np.zeros(3)
    said = r"within 1e\+30 .* a wave, of Cosine or Periodic, never ends; got -1e\+31 in row 2; meas"
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.raises(ValueError, match=f"^X must lie {said}"):
            verb(model(GP(kernel, 0.1)), far, y)
    with pytest.raises(ValueError, match=f"^Xs must lie {said}"):
        condition(model(GP(kernel, 0.1)), far[:2], y[:2]).predict(far)


@pytest.mark.parametrize("kernel", [M12 * Matern32(1.0, 1e40), M12 * Cosine(0.3), Constant(0.2)])
def test_what_has_forgotten_or_never_moves_is_at_hand_beyond_the_longest_gap(kernel):
    X, y = np.asarray([[0.0], [1.0], [1e31]]), np.asarray([0.2, -0.4, 0.3])
    found = log_evidence(model(GP(kernel + M12, 0.1)), X, y)
    assert found == pytest.approx(log_evidence(GP(kernel + M12, 0.1), X, y), abs=1e-9)


@pytest.mark.parametrize("far", [1e33, 1e160, 1e300])
def test_beyond_all_gaps_a_process_of_no_growth_has_its_prior(far, rng):
    X, y = np.asarray([[0.0], [1.0], [far]]), rng.normal(size=3)
    gp = GP(M32 + M12 * Cosine(0.3) + Constant(0.2), 0.1)
    found = condition(model(gp), X, y)
    answers = [found.log_evidence, *found.predict(np.asarray([[-far], [0.5], [far], [2.0 * far]]))]
    assert all(np.all(np.isfinite(answer)) for answer in answers)
    np.testing.assert_allclose(answers[2][0], answers[2][3], rtol=0.3)


def test_what_is_no_process_of_few_numbers_is_named(rng):
    for wrong in (RBF(), M12 + RBF(), M12 * White(), M12.on(1), Periodic(1.0, 1.0, np.ones(1))):
        with pytest.raises(TypeError, match="gp must"):
            StateSpaceGP(GP(wrong, 0.1))
    with pytest.raises(TypeError, match="more than noise"):
        StateSpaceGP(GP(White(), 0.1))
    with pytest.raises(ValueError, match="tolerance"):
        StateSpaceGP(GP(M12, 0.1), 0.0)
    with pytest.raises(ValueError, match=r"Periodic\.lengthscale"):
        StateSpaceGP(GP(Periodic(1.0, 1e-3), 0.1))
