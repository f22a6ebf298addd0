"""Bayesian linear regression against dense algebra, against itself in portions, against GPs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gpnotes import (
    GP,
    Linear,
    Normal,
    condition,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.infer.linear import BayesianLinear
from gpnotes.testing import check_posterior

R, N = 4, 9
NOISE_VAR = 0.3


@pytest.fixture
def numbers(rng):
    """Phi, y, Phi_s and a prior covariance, on the host."""
    half = rng.normal(size=(R, R))
    prior_cov = half @ half.T + 0.1 * np.eye(R)
    return rng.normal(size=(N, R)), rng.normal(size=N), rng.normal(size=(5, R)), prior_cov


def in_space(space, numbers):
    Phi, y, Phi_s, prior_cov = (space.asarray(a) for a in numbers)
    return BayesianLinear(prior_cov, NOISE_VAR), Phi, y, Phi_s


def tolerance(space):
    return {"rtol": 1e-9, "atol": 1e-11} if space.double else {"rtol": 1e-3, "atol": 1e-4}


def dense(numbers):
    """Mean and covariance of the weights by inverses of precisions, and ``log p(y)``."""
    Phi, y, _, prior_cov = numbers
    covariance = np.linalg.inv(Phi.T @ Phi / NOISE_VAR + np.linalg.inv(prior_cov))
    Ky = Phi @ prior_cov @ Phi.T + NOISE_VAR * np.eye(N)
    evidence = Normal.from_covariance(np.zeros(N), Ky).log_density(y)
    return covariance @ Phi.T @ y / NOISE_VAR, covariance, evidence


def test_the_posterior_is_that_of_dense_algebra(space, numbers):
    model, Phi, y, _ = in_space(space, numbers)
    posterior = condition(model, Phi, y)
    mean, covariance, evidence = dense(numbers)
    close = tolerance(space)
    np.testing.assert_allclose(to_numpy(posterior.weight_mean), mean, **close)
    np.testing.assert_allclose(to_numpy(posterior.weight_covariance), covariance, **close)
    np.testing.assert_allclose(posterior.log_evidence, evidence, **close)
    assert isinstance(posterior.log_evidence, float)
    assert space.holds(posterior.weight_mean)
    assert space.holds(posterior.weight_covariance)


def test_one_observation_at_a_time_gives_the_batch(space, numbers):
    model, Phi, y, _ = in_space(space, numbers)
    batch, posterior = condition(model, Phi, y), model.prior()
    for i in range(N):
        posterior = posterior.update(Phi[i, :], y[i])
    close = tolerance(space)
    np.testing.assert_allclose(
        to_numpy(posterior.weight_mean), to_numpy(batch.weight_mean), **close
    )
    pair = to_numpy(posterior.weight_covariance), to_numpy(batch.weight_covariance)
    np.testing.assert_allclose(*pair, **close)
    np.testing.assert_allclose(posterior.log_evidence, batch.log_evidence, **close)
    assert space.holds(posterior.root)


def solved(A, B):
    """``A⁻¹ B`` and the determinant of A, by elimination in fractions."""
    n, det, rows = len(A), Fraction(1), [[*a, *b] for a, b in zip(A, B, strict=True)]
    for k in range(n):
        det *= rows[k][k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in set(range(n)) - {k}:
            rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows], det


def in_fractions(Phi, y, noise_var):
    """Mean, covariance and evidence for a prior N(0, I): no digit is lost on the way."""
    P, targets = (
        [[Fraction(v) for v in row] for row in Phi.tolist()],
        [Fraction(v) for v in y.tolist()],
    )
    s, R = Fraction(noise_var), range(Phi.shape[1])
    precision = [[sum(p[a] * p[b] for p in P) / s + (a == b) for b in R] for a in R]
    h = [sum(p[a] * t for p, t in zip(P, targets, strict=True)) / s for a in R]
    right = [[Fraction(a == b) for b in R] + [h[a]] for a in R]
    solution, det = solved(precision, right)
    fit = sum(a * row[-1] for a, row in zip(h, solution, strict=True))
    squares = float(sum(t * t for t in targets) / s - fit)
    log_det = math.log(det.numerator) - math.log(det.denominator)
    evidence = -0.5 * (squares + log_det + len(P) * math.log(2.0 * math.pi * noise_var))
    numbers = np.asarray([[float(v) for v in row] for row in solution])
    return numbers[:, -1], numbers[:, :-1], evidence


def test_features_that_nearly_agree_leave_the_batch_its_digits(rng):
    """The condition number of ``I + VᵀV`` is the square of that of ``[V; I]``, here 1e16."""
    noise_var, shared = 1.8e-12, rng.normal(size=(300, 1))
    Phi = shared + 2e-8 * rng.normal(size=(300, R))
    y = Phi @ rng.normal(size=R) + math.sqrt(noise_var) * rng.normal(size=300)
    model = BayesianLinear(np.eye(R), noise_var)
    mean, covariance, evidence = in_fractions(Phi, y, noise_var)
    one = model.prior()
    for row, value in zip(Phi, y, strict=True):
        one = one.update(row, float(value))
    for posterior in (condition(model, Phi, y), one):
        np.testing.assert_allclose(posterior.weight_mean, mean, atol=1e-6 * abs(mean).max())
        error = abs(posterior.weight_covariance - covariance).max()
        assert error < 1e-7 * abs(covariance).max()
        assert posterior.log_evidence == pytest.approx(evidence, rel=1e-9)


def test_no_data_change_nothing(space, numbers):
    model, Phi, y, _ = in_space(space, numbers)
    before = condition(model, Phi, y)
    after = before.update(Phi[:0, :], y[:0])
    close = tolerance(space)
    np.testing.assert_allclose(to_numpy(after.weight_mean), to_numpy(before.weight_mean), **close)
    np.testing.assert_allclose(
        to_numpy(after.weight_covariance), to_numpy(before.weight_covariance), **close
    )
    assert after.log_evidence == pytest.approx(before.log_evidence, rel=1e-12)


def test_portions_in_any_order_give_the_batch(numbers, rng):
    Phi, y, _, prior_cov = numbers
    model = BayesianLinear(prior_cov, NOISE_VAR)
    batch, order = condition(model, Phi, y), rng.permutation(N)
    first, second = order[:5], order[5:]
    portions = condition(model, Phi[first], y[first]).update(Phi[second], y[second])
    np.testing.assert_allclose(portions.weight_mean, batch.weight_mean, rtol=1e-10)
    np.testing.assert_allclose(
        portions.weight_covariance, batch.weight_covariance, rtol=1e-9, atol=1e-13
    )
    assert portions.log_evidence == pytest.approx(batch.log_evidence, rel=1e-12)


def test_a_row_as_a_batch_of_one_is_that_row(numbers):
    Phi, y, _, prior_cov = numbers
    start = condition(BayesianLinear(prior_cov, NOISE_VAR), Phi[1:], y[1:])
    one, batch = start.update(Phi[0], float(y[0])), start.update(Phi[:1], y[:1])
    np.testing.assert_allclose(
        one.weight_covariance, batch.weight_covariance, rtol=1e-10, atol=1e-14
    )
    assert one.log_evidence == pytest.approx(batch.log_evidence, rel=1e-12)


def test_no_data_leave_the_prior(numbers):
    *_, prior_cov = numbers
    posterior = BayesianLinear(prior_cov, NOISE_VAR).prior()
    np.testing.assert_allclose(posterior.weight_covariance, prior_cov, rtol=1e-12)
    assert np.all(posterior.weight_mean == 0.0)
    assert posterior.log_evidence == 0.0


def test_the_kernel_form_is_the_weight_form(numbers):
    Phi, y, Phi_s, prior_cov = numbers
    posterior = condition(BayesianLinear(prior_cov, NOISE_VAR), Phi, y)
    Ky = Phi @ prior_cov @ Phi.T + NOISE_VAR * np.eye(N)
    cross = Phi_s @ prior_cov @ Phi.T
    mean, variance = posterior.predict(Phi_s)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(Ky, y), rtol=1e-9, atol=1e-12)
    covariance = Phi_s @ prior_cov @ Phi_s.T - cross @ np.linalg.solve(Ky, cross.T)
    np.testing.assert_allclose(posterior.covariance(Phi_s), covariance, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(covariance), rtol=1e-8, atol=1e-12)


def test_a_process_with_the_linear_kernel_predicts_the_same(space, numbers):
    variances = [0.5, 1.0, 2.0, 0.1]
    _, Phi, y, Phi_s = in_space(space, numbers)
    model = BayesianLinear(space.asarray(np.diag(variances)), NOISE_VAR)
    weights = condition(model, Phi, y)
    functions = condition(GP(Linear(space.asarray(variances)), NOISE_VAR), Phi, y)
    close = tolerance(space)
    for noise in (False, True):
        pairs = zip(
            weights.predict(Phi_s, noise=noise), functions.predict(Phi_s, noise=noise), strict=True
        )
        for ours, theirs in pairs:
            np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), **close)
    np.testing.assert_allclose(weights.log_evidence, functions.log_evidence, **close)


def test_the_posterior_keeps_the_contract_with_features_for_inputs(space, numbers):
    model, Phi, y, Phi_s = in_space(space, numbers)
    check_posterior(condition(model, Phi, y), Phi_s)


def test_noise_adds_its_variance(numbers):
    Phi, y, Phi_s, prior_cov = numbers
    posterior = condition(BayesianLinear(prior_cov, NOISE_VAR), Phi, y)
    grown = posterior.predict(Phi_s, noise=True)[1] - posterior.predict(Phi_s)[1]
    np.testing.assert_allclose(grown, NOISE_VAR, rtol=1e-12)
    added = posterior.covariance(Phi_s, noise=True) - posterior.covariance(Phi_s)
    np.testing.assert_allclose(added, NOISE_VAR * np.eye(5), atol=1e-14)


def test_the_cholesky_factor_is_lower_triangular_and_of_the_covariance(space, numbers):
    model, Phi, y, _ = in_space(space, numbers)
    posterior = condition(model, Phi, y)
    lower = to_numpy(posterior.cholesky.lower)
    assert np.all(np.diag(lower) > 0.0)
    np.testing.assert_allclose(np.triu(lower, 1), 0.0, atol=1e-12 if space.double else 1e-6)
    np.testing.assert_allclose(
        lower @ lower.T, to_numpy(posterior.weight_covariance), **tolerance(space)
    )


def test_samples_have_the_mean_and_the_covariance(numbers):
    Phi, y, _, prior_cov = numbers
    posterior = condition(BayesianLinear(prior_cov, NOISE_VAR), Phi, y)
    n = 20_000
    draws, covariance = posterior.sample_weights(n, rng=stream(2)), posterior.weight_covariance
    z = (draws.mean(axis=0) - posterior.weight_mean) / np.sqrt(np.diag(covariance) / n)
    assert np.max(np.abs(z)) < 4.0
    top = np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2
    assert np.max(np.abs(np.cov(draws.T) - covariance) / np.sqrt(top / n)) < 4.5


def test_the_same_stream_draws_the_same_weights_however_the_data_came(space, numbers):
    model, Phi, y, _ = in_space(space, numbers)
    batch, one_by_one = condition(model, Phi, y), model.prior()
    for i in range(N):
        one_by_one = one_by_one.update(Phi[i, :], y[i])
    pair = [to_numpy(p.sample_weights(3, rng=stream(4))) for p in (batch, one_by_one)]
    np.testing.assert_allclose(*pair, atol=1e-9 if space.double else 1e-3)


def test_a_thousand_near_exact_observations_keep_the_covariance_positive(rng):
    posterior = BayesianLinear(1e6 * np.eye(3), 1e-8).prior()
    for phi in rng.normal(size=(1000, 3)):
        posterior = posterior.update(phi, float(phi @ np.asarray([1.0, -2.0, 0.5])))
    assert np.all(np.linalg.eigvalsh(posterior.weight_covariance) > 0.0)
    np.testing.assert_allclose(posterior.weight_mean, [1.0, -2.0, 0.5], atol=1e-6)
    assert np.isfinite(posterior.log_evidence)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m, P, y: condition(m, P[:, :2], y), ValueError, r"X must have shape \(n, 4\)"),
        (lambda m, P, y: condition(m, P, y[:-1]), ValueError, r"y must have shape \(9,\)"),
        (lambda m, P, y: m.prior().update(P[0], y), ValueError, "y must be a number"),
        (lambda m, P, y: m.prior().update(P[0], np.inf), ValueError, "y must be finite"),
        (lambda m, P, y: m.prior().update(P[0, :2], 1.0), ValueError, r"phi must have shape"),
        (lambda m, P, y: m.prior().predict(P[0]), ValueError, r"Xs must have shape \(n, 4\)"),
        (lambda m, P, y: condition(m, P.astype(np.float32), y), TypeError, "X must have the dty"),
        (
            lambda m, P, y: m.prior().update(P[0], None),
            TypeError,
            "y must be a number; got NoneType",
        ),
        (lambda m, P, y: BayesianLinear(P, 0.1), ValueError, r"prior_cov must have shape"),
        (lambda m, P, y: BayesianLinear([[1.0]], 0.1), TypeError, "prior_cov must be an array"),
        (
            lambda m, P, y: BayesianLinear(np.tril(np.ones((4, 4))) + np.eye(4), 0.1),
            ValueError,
            "prior_cov must be symmetric",
        ),
        (lambda m, P, y: BayesianLinear(np.eye(4), 0.0), ValueError, "noise_var must be positive"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(numbers, call, error, words):
    Phi, y, _, prior_cov = numbers
    with pytest.raises(error, match=words):
        call(BayesianLinear(prior_cov, NOISE_VAR), Phi, y)


def test_a_prior_keeps_its_own_covariance(space):
    prior_cov = space.asarray(np.eye(2))
    model = BayesianLinear(prior_cov, 1.0)
    prior_cov[0, 0] = -5.0
    np.testing.assert_array_equal(to_numpy(model.prior_cov), np.eye(2))


@pytest.mark.parametrize("given", [None, "noise_var", "weights"])
def test_the_gradient_of_the_evidence_is_that_of_dense_algebra(space, numbers, given):
    """``½ (α αᵀ − K_y⁻¹)`` carried to the covariance of the weights and to the noise."""
    model, Phi, y, _ = in_space(space, numbers)
    known = np.linspace(0.2, 3.0, N)
    more = {} if given is None else {given: space.asarray(known)}
    value, bar = log_evidence_and_gradient(model, Phi, y, **more)
    Phi, y, _, prior_cov = numbers
    noise, share = NOISE_VAR + 0.0 * known, np.ones(N)
    if given == "noise_var":
        noise = NOISE_VAR + known
    elif given == "weights":
        noise, share = NOISE_VAR / known, 1.0 / known
    K = Phi @ prior_cov @ Phi.T + np.diag(noise)
    alpha, inverse = np.linalg.solve(K, y), np.linalg.inv(K)
    K_bar = 0.5 * (np.outer(alpha, alpha) - inverse)
    close = tolerance(space)
    assert value == pytest.approx(Normal.from_covariance(np.zeros(N), K).log_density(y), rel=1e-3)
    np.testing.assert_allclose(to_numpy(bar.prior_cov), Phi.T @ K_bar @ Phi, **close)
    np.testing.assert_allclose(bar.noise_var, np.diagonal(K_bar) @ share, **close)
