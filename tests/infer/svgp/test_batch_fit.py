"""Fits of a sparse process from batches: which of their points is kept."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Gaussian, condition, fit, stream
from gpnotes.infer import svgp

N = 40
X = np.linspace(0.0, 6.0, N)[:, None]
Y = 3.0 + np.sin(2.0 * X[:, 0]) + 0.2 * np.random.default_rng(1).standard_normal(N)


@pytest.mark.parametrize("batch", [N, 10])
def test_a_fit_from_batches_that_goes_wrong_ends_no_lower_than_it_began(batch):
    model = svgp.SVGP(GP(RBF(1.0, 1.0), 0.0, ConstantMean(0.0)), Gaussian(0.1), X[2::6])
    top = fit(condition(model, X, Y).model, X, Y).posterior
    batches = svgp.Minibatches(batch, learning_rate=1.5, start=top)
    ended = fit(top.model, X, Y, minibatches=batches, max_steps=5, rng=stream(1))
    assert svgp.elbo(ended.posterior, X, Y) >= svgp.elbo(top, X, Y) - 1e-9
    assert ended.model is ended.posterior.model
    assert ended.log_evidence == pytest.approx(svgp.elbo(ended.posterior, X, Y))
    assert min(ended.runs[0].trace) < svgp.elbo(top, X, Y) - 10.0


KNOWN = {
    "noise_var": np.linspace(0.0, 0.5, N)[::-1] ** 2,
    "weights": np.linspace(0.5, 3.0, N),
    "offset": np.cos(3.0 * X[:, 0]),
}


@pytest.mark.parametrize("given", [(), ("noise_var",), ("weights",), ("offset",), tuple(KNOWN)])
def test_each_batch_is_a_share_of_the_sites_of_its_own_rows(given):
    """By dense algebra: ``P ← (1 − r) P + r (I + s A Λ⁻¹ Aᵀ)``, and likewise its shift.

    Each row stands for s of all, more in the last batch of an epoch, which is smaller; what is
    known of a row is taken with it. The trace has the bounds that the batches estimated.
    """
    known, rate, size, steps = {name: KNOWN[name] for name in given}, 0.3, 9, 12
    kernel, mean, noise, Z = RBF(1.4, 0.9), 2.5, 0.1, X[2::6]
    model = svgp.SVGP(GP(kernel, 0.0, ConstantMean(mean)), Gaussian(noise), Z)
    held = {"fixed": ["gp", "likelihood", "inducing"], "max_steps": steps, "rng": stream(1)}
    found = fit(model, X, Y, minibatches=svgp.Minibatches(size, step_size=rate), **held, **known)
    scatter = noise / known.get("weights", np.ones(N)) + known.get("noise_var", 0.0)
    residual = Y - mean - known.get("offset", 0.0)
    A = np.linalg.solve(np.linalg.cholesky(kernel(Z)), kernel(Z, X))
    one, spare = np.eye(len(Z)), kernel.diag(X) - np.sum(A * A, axis=0)
    P, t, bounds = one, np.zeros(len(Z)), []
    for _, rows in zip(range(steps), svgp.batches(N, size, rng=stream(1)), strict=False):
        a, spread, scale = A[:, rows], scatter[rows], N / len(rows)
        w, S = np.linalg.solve(P, t), np.linalg.inv(P)
        off = (residual[rows] - a.T @ w) ** 2 + spare[rows] + np.sum(a * (S @ a), axis=0)
        likely = -0.5 * np.sum(off / spread + np.log(2.0 * np.pi * spread))
        divergence = np.trace(S) + w @ w - len(Z) + np.linalg.slogdet(P)[1]
        bounds.append(scale * likely - 0.5 * divergence)
        P = (1.0 - rate) * P + rate * (one + scale * (a / spread) @ a.T)
        t = (1.0 - rate) * t + rate * scale * a @ (residual[rows] / spread)
    np.testing.assert_allclose(found.runs[0].trace, bounds, rtol=1e-7)
    np.testing.assert_allclose(found.posterior.precision, P, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.posterior.weights, np.linalg.solve(P, t), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_steps_of_all_parameters_have_their_units(unit):
    """Of inputs and outputs in another unit, inducing inputs and the mean take the same steps."""
    ends = []
    for by in (1.0, unit):
        gp = GP(RBF(1.4 * by**2, 0.9 * by), 0.0, ConstantMean(2.5 * by))
        model = svgp.SVGP(gp, Gaussian(0.1 * by**2), by * X[2::6])
        batches = svgp.Minibatches(9, learning_rate=0.02)
        found = fit(model, by * X, by * Y, minibatches=batches, max_steps=6, rng=stream(1)).model
        likely = found.likelihood.variance / by**2, found.gp.kernel.variance / by**2
        ends.append([*found.inducing[:, 0] / by, found.gp.mean.value / by, *likely])
    np.testing.assert_allclose(*ends, rtol=1e-5)
