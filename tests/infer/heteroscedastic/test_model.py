"""A process whose noise varies with x: its bound, its gradient, its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    HeteroscedasticGP,
    Linear,
    Matern52,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
)
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.ground.params import flatten, flatten_gradient
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.heteroscedastic.noise_belief import Problem, believe

DRAW = np.random.default_rng(5)
X = np.sort(DRAW.uniform(0.0, 4.0, (40, 1)), axis=0)
LOG_SD = -1.5 + 1.2 * np.sin(1.5 * X[:, 0])
Y = np.sin(2.0 * X[:, 0]) + np.exp(LOG_SD) * DRAW.standard_normal(40)
XS = np.linspace(-1.0, 5.0, 7)[:, None]
MODEL = HeteroscedasticGP(GP(RBF(1.1, 0.8), 0.06, ConstantMean(0.2)), Matern52(1.4, 0.9))


def bound_of(mean: np.ndarray, Sigma: np.ndarray, model: HeteroscedasticGP = MODEL) -> float:
    """The bound of any Gaussian q, term by term."""
    gp, K_g = model.gp, np.asarray(model.noise_kernel(X))
    r = gp.noise_var * np.exp(mean - 0.5 * np.diag(Sigma))
    normal = multivariate_normal(np.full(40, 0.2), np.asarray(gp.kernel(X)) + np.diag(r))
    logs = np.linalg.slogdet(K_g)[1] - np.linalg.slogdet(Sigma)[1]
    inner = np.trace(np.linalg.solve(K_g, Sigma)) + mean @ np.linalg.solve(K_g, mean) - 40 + logs
    return float(normal.logpdf(Y)) - 0.25 * np.trace(Sigma) - 0.5 * inner


def q_of(model: HeteroscedasticGP = MODEL) -> tuple[np.ndarray, np.ndarray, Any]:
    """The q that is found, by the definition of its sites."""
    found = condition(model, X, Y).believed
    K_g = np.asarray(model.noise_kernel(X))
    Sigma = np.linalg.inv(np.linalg.inv(K_g) + np.diag(found.precision))
    return K_g @ (found.precision - 0.5), Sigma, found


def test_the_bound_is_that_of_its_terms_and_of_the_best_q() -> None:
    mean, Sigma, found = q_of()
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.variance, np.diag(Sigma), rtol=0, atol=1e-6)
    top = bound_of(mean, Sigma)
    assert log_evidence(MODEL, X, Y) == pytest.approx(top, abs=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = np.linalg.cholesky(Sigma) @ (np.eye(40) + 0.03 * rng.standard_normal((40, 40)))
        assert bound_of(mean + 0.1 * root @ rng.standard_normal(40), root @ root.T) < top


def test_it_starts_from_no_knowledge_and_never_falls() -> None:
    K, K_g = np.asarray(MODEL.gp.kernel(X)), np.asarray(MODEL.noise_kernel(X))
    prior = np.linalg.inv(np.linalg.inv(K_g) + 0.5 * np.eye(40))
    found = believe(Problem(K, K_g, 0.06, Y - 0.2))
    assert found.bound > bound_of(np.zeros(40), prior) + 1.0
    assert float(np.min(found.precision)) >= 0.0


def test_without_variance_of_the_noise_it_is_the_process() -> None:
    model = HeteroscedasticGP(MODEL.gp, RBF(1e-12, 0.9))
    value, bar = log_evidence_and_gradient(model, X, Y)
    wanted, gp_bar = log_evidence_and_gradient(MODEL.gp, X, Y)
    assert value == pytest.approx(wanted, abs=1e-9)
    ours, theirs = (flatten_gradient(MODEL.gp, b) for b in (bar.gp, gp_bar))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8)
    posterior, exact = condition(model, X, Y), condition(MODEL.gp, X, Y)
    for one, other in zip(
        posterior.predict(XS, noise=True), exact.predict(XS, noise=True), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    y = np.linspace(-1.0, 1.0, 7)
    np.testing.assert_allclose(
        posterior.log_density(XS, y), exact.log_density(XS, y), rtol=0, atol=1e-9
    )


def test_the_gradient_is_that_of_differences() -> None:
    start, rebuilt = flatten(MODEL)
    _, bar = log_evidence_and_gradient(MODEL, X, Y)
    steps = 1e-4 * np.eye(start.size)
    ends = [[log_evidence(rebuilt(start + s * d), X, Y) for s in (1.0, -1.0)] for d in steps]
    by_differences = (np.asarray(ends) @ [1.0, -1.0]) / 2e-4
    np.testing.assert_allclose(flatten_gradient(MODEL, bar), by_differences, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [1, 3])
def test_the_bound_is_below_the_evidence(n: int) -> None:
    """Which is an average over logarithms of the noise that are drawn."""
    rows, y = X[::13][:n], Y[::13][:n]
    rng, gp = np.random.default_rng(1), MODEL.gp
    K = np.asarray(gp.kernel(rows))
    g = rng.multivariate_normal(np.zeros(n), np.asarray(MODEL.noise_kernel(rows)), 40_000)
    totals = K + (0.06 * np.exp(g))[:, :, None] * np.eye(n)
    left = (y - 0.2)[None, :]
    fits = np.einsum("si,si->s", left, np.linalg.solve(totals, left[..., None])[..., 0])
    logs = -0.5 * (fits + np.linalg.slogdet(totals)[1] + n * np.log(2.0 * np.pi))
    evidence = logsumexp(logs) - np.log(logs.size)
    assert evidence - 0.3 * n < log_evidence(MODEL, rows, y) < evidence + 0.01


def test_a_new_reading_is_normal_given_its_noise() -> None:
    """Moments and densities of y are averages over the Gaussian of g, here by simulation."""
    posterior = condition(MODEL, X, Y)
    mean, variance = posterior.predict(XS)
    log_mean, log_variance = posterior.log_noise_var(XS)
    rng = np.random.default_rng(2)
    g = log_mean + np.sqrt(log_variance) * rng.standard_normal((200_000, 7))
    seen = posterior.predict(XS, noise=True)
    np.testing.assert_allclose(seen[0], mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(posterior.noise_var(XS), np.exp(g).mean(0), rtol=0.05)
    np.testing.assert_allclose(seen[1], variance + posterior.noise_var(XS), rtol=1e-12)
    y = np.linspace(-1.0, 1.0, 7)
    densities = norm(mean, np.sqrt(variance + np.exp(g))).pdf(y).mean(0)
    np.testing.assert_allclose(posterior.log_density(XS, y), np.log(densities), atol=0.01)
    far = posterior.log_density(XS, np.full(7, 1e4))
    assert np.all(np.isfinite(far))


def test_draws_have_the_moments_of_a_new_reading() -> None:
    posterior = condition(MODEL, X, Y)
    drawn = posterior.sample(X[::8], 20_000, noise=True, rng=3)
    mean, variance = posterior.predict(X[::8], noise=True)
    np.testing.assert_allclose(drawn.mean(0), mean, rtol=0, atol=0.05)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.2)
    assert posterior.sample(XS, 2, rng=1).shape == (2, 7)


def test_a_draw_of_y_has_a_noise_drawn_along_the_line() -> None:
    """Two y at one place share f and g, so the moments of g enter the logarithm of their gap.

    Given g the gap is ``√(2 exp g) |ε|``, and ``log |ε|`` has the mean ``−(γ + log 2)/2`` and the
    variance π²/8. Five standard errors; a g for each y, or its average for both, are off by more.
    """
    posterior = condition(HeteroscedasticGP(GP(RBF(1.2, 0.8), 0.1), RBF(4.0, 0.9)), X, Y)
    xs = np.repeat([[-9.0], [1.0]], 2, axis=0)
    m, v = (a[::2] for a in posterior.log_noise_var(xs))
    y = posterior.sample(xs, 8000, noise=True, rng=4)
    gaps = np.log(np.abs(y[:, ::2] - y[:, 1::2]))
    mean, variance = 0.5 * (m - np.euler_gamma), 0.25 * v + np.pi**2 / 8.0
    off = (gaps.mean(axis=0) - mean) / np.sqrt(variance / len(y))
    spread = gaps.var(axis=0) / variance - 1.0
    assert np.max(np.abs(off)) < 5.0
    assert np.max(np.abs(spread)) < 5.0 * np.sqrt(6.0 / len(y))


def test_the_log_noise_is_a_regression_on_its_sites() -> None:
    """Its mean and variance anywhere, by the definition: readings of g with the noise Λ⁻¹."""
    mean, Sigma, _ = q_of()
    K_g, cross = np.asarray(MODEL.noise_kernel(X)), np.asarray(MODEL.noise_kernel(X, XS))
    weights = np.linalg.solve(K_g, cross)
    log_mean, log_variance = condition(MODEL, X, Y).log_noise_var(XS)
    np.testing.assert_allclose(log_mean, np.log(0.06) + weights.T @ mean, rtol=0, atol=1e-5)
    wanted = 1.4 - np.sum(weights * cross, 0) + np.sum(weights * (Sigma @ weights), 0)
    np.testing.assert_allclose(log_variance, wanted, rtol=0, atol=1e-6)


def test_a_fit_finds_where_the_noise_is() -> None:
    rng = np.random.default_rng(8)
    places = np.sort(rng.uniform(0.0, 6.0, (150, 1)), axis=0)
    sd = np.exp(-2.0 + 1.5 * np.sin(places[:, 0]))
    y = np.cos(places[:, 0]) + sd * rng.standard_normal(150)
    found = fit(HeteroscedasticGP(GP(RBF(), 0.1), RBF()), places, y)
    assert found.runs[0].converged
    log_mean, log_variance = found.posterior.log_noise_var(places)
    off = (log_mean - 2.0 * np.log(sd)) / np.sqrt(log_variance)
    assert float(np.sqrt(np.mean(off**2))) < 1.5
    assert found.log_evidence > fit(GP(RBF(), 0.1), places, y).log_evidence + 20.0
    assert "noise_kernel.lengthscale" in str(found.report())


def test_units_change_nothing() -> None:
    """A fit of readings in other units is the same fit."""
    one = fit(MODEL, X, Y, max_steps=100)
    gp = GP(RBF(1.1e6, 8.0), 6e4, ConstantMean(200.0))
    other = fit(HeteroscedasticGP(gp, Matern52(1.4, 9.0)), 10.0 * X, 1e3 * Y, max_steps=100)
    assert other.log_evidence == pytest.approx(one.log_evidence - 40 * np.log(1e3), abs=1e-4)


def test_any_library_gives_the_same(space: Any) -> None:
    inputs, y, xs = (space.asarray(a) for a in (X, Y, XS))
    gp = GP(RBF(1.1, 0.8), 0.06)
    model = HeteroscedasticGP(gp, RBF(1.4, 0.9))
    posterior = condition(model, inputs, y)
    mean, variance = posterior.predict(xs, noise=True)
    density = posterior.log_density(xs, mean)
    drawn = posterior.sample(xs, 2, noise=True, rng=1)
    assert all(map(space.holds, (mean, variance, density, posterior.noise_var(xs), drawn)))
    wanted = condition(model, X, Y)
    tolerance = {"rtol": 0, "atol": 1e-6 if space.double else 5e-3}
    np.testing.assert_allclose(to_numpy(mean), wanted.mean(XS), **tolerance)
    np.testing.assert_allclose(to_numpy(variance), wanted.variance(XS, noise=True), **tolerance)
    assert posterior.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-2)


def test_what_it_cannot_do_it_says() -> None:
    posterior = condition(MODEL, X, Y)
    with pytest.raises(TypeError, match=r"HeteroscedasticPosterior\.joint: a new y is not normal"):
        posterior.joint(XS, noise=True)
    with pytest.raises(TypeError, match=r"HeteroscedasticPosterior\.probability: its noise varies"):
        posterior.probability(XS)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be positive"):
        HeteroscedasticGP(GP(RBF(), 0.0), RBF())
    with pytest.raises(TypeError, match="noise_var must be None: a HeteroscedasticGP takes no"):
        condition(MODEL, X, Y, noise_var=np.ones(40))
    assert not posterior.has_normal_noise


def test_to_a_file_and_back(tmp_path: Any) -> None:
    found = fit(MODEL, X, Y, max_steps=3)
    save(found, tmp_path / "varying.gp")
    again = load(tmp_path / "varying.gp")
    np.testing.assert_array_equal(again.posterior.noise_var(XS), found.posterior.noise_var(XS))


def test_a_prior_too_wide_for_rounding_is_said() -> None:
    """Under a trend 1e12 times the noise the mean was off by a seventh of its deviation."""
    X = np.linspace(0.0, 10.0, 40)[:, None]
    y = 3.0 * X[:, 0] + np.sin(X[:, 0]) + np.cos(7.0 * X[:, 0])
    model = HeteroscedasticGP(GP(RBF() + Linear(1e12), 1.0), RBF())
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.warns(RoundingWarning, match=r"variances of f .* too wide beside what y says"):
            verb(model, X, y)
    condition(HeteroscedasticGP(GP(RBF() + Linear(1e6), 1.0), RBF()), X, y)
