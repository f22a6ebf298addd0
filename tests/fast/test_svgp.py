"""The fast path of sparse variational processes against the readable one."""

from __future__ import annotations

import numpy as np
import pytest
from memory_use import peak

from gpnotes import GP, RBF, Bernoulli, Gaussian, Matern12, Matern32, Matern52, StudentT, condition
from gpnotes.fast import svgp as variational
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import deep, svgp
from gpnotes.infer.deep import evidence_lower_bound as deep_bound

KERNELS = [RBF, Matern12, Matern32, Matern52]
LIKELIHOODS = {
    "labels": Bernoulli("logit"),
    "noise": Gaussian(0.3),
    "outliers": StudentT(0.3, 2.0),
}


def outcome(model, X, y):
    """A step, the bound and its gradient, predictions: all that has two paths."""
    q = svgp.natural_gradient_step(svgp.initial_posterior(model), X, y, step_size=0.6)
    q = svgp.natural_gradient_step(q, X, y, step_size=0.6)
    value, bar = svgp.elbo_and_gradient(q, X, y, total=200)
    gradient = flatten_gradient(model, bar, fixed=("gp.noise_var",))
    return [
        q.weights,
        q.precision,
        np.asarray(value),
        gradient,
        bar.inducing,
        *q.predict(X[:7] + 0.1),
    ]


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_does_what_the_readable_path_does(monkeypatch, rng, kernel, likelihood, d, dtype):
    X = rng.normal(size=(60, d)).astype(dtype)
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=60) > 0.0, 1.0, -1.0).astype(dtype)
    lengths = np.linspace(1.0, 2.0, d).astype(dtype)
    for length in (1.3, lengths):
        gp = GP(kernel(1.7, length), 0.0)
        model = svgp.SVGP(gp, LIKELIHOODS[likelihood], X[:8] + dtype(0.05))
        assert variational.supports(gp.kernel, X)
        fast = outcome(model, X, y)
        with monkeypatch.context() as patch:
            patch.setattr(variational, "supports", lambda kernel, X: False)
            readable = outcome(model, X, y)
        close = {"rtol": 1e-9, "atol": 1e-10} if dtype is np.float64 else {"rtol": 2e-3}
        for one, other in zip(fast, readable, strict=True):
            assert one.dtype == other.dtype
            scale = np.max(np.abs(other)) if dtype is np.float32 else 0.0
            np.testing.assert_allclose(one, other, **{"atol": 1e-3 * scale, **close})


def test_no_matrix_is_larger_than_the_rows_and_the_inducing_points_ask(rng):
    """A pass over n rows holds blocks of M × n, whatever n is; nothing is n × n or n × M × p."""
    X = rng.normal(size=(20_000, 4))
    y = np.sign(X[:, 0])
    lengths = np.full(4, 1.5)
    q = svgp.initial_posterior(svgp.SVGP(GP(RBF(1.0, lengths), 0.0), Bernoulli("logit"), X[:50]))
    peaks = []
    for n in (5_000, 20_000):
        svgp.elbo_and_gradient(q, X[:100], y[:100])
        peaks.append(peak(lambda n=n: svgp.elbo_and_gradient(q, X[:n], y[:n], total=20_000)))
    assert peaks[1] < 4.5 * peaks[0]
    assert peaks[1] < 60 * 20_000 * 50 * 8 / 10


def deep_outcome(model, X, y):
    value, bar = deep.elbo_and_gradient(model, X, y, total=200)
    parts = [
        part
        for layer in bar.layers
        for unit in layer
        for part in (unit.Z, unit.weights, unit.scales, unit.couplings)
    ]
    kernels = [
        np.append(unit.gp.kernel.lengthscale, unit.gp.kernel.variance)
        for layer in bar.layers
        for unit in layer
    ]
    noise = [] if isinstance(model.likelihood, Bernoulli) else [bar.likelihood.variance]
    return [np.asarray(value), *map(np.asarray, noise), *kernels, *parts]


@pytest.mark.parametrize("likelihood", ["labels", "noise"])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("entries", [2**17, 200], ids=["one block", "blocks"])
def test_a_deep_bound_goes_back_to_inputs_as_the_readable_path_does(
    monkeypatch, rng, likelihood, d, entries
):
    X = rng.normal(size=(60, d))
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=60) > 0.0, 1.0, -1.0)
    gp = GP(RBF(1.7, np.linspace(1.0, 2.0, d)), 0.0)
    top = svgp.SVGP(gp, LIKELIHOODS[likelihood], X[:8] + 0.05)
    shallow = condition(top, X, y)
    model = deep.with_inner_layers(
        shallow, [Matern52(0.7, np.linspace(0.5, 1.0, d))], num_samples=3
    )
    with monkeypatch.context() as patch:
        patch.setattr(variational, "supports", lambda kernel, X: False)
        readable = deep_outcome(model, X, y)
    monkeypatch.setattr(deep_bound, "_BLOCK", entries)
    for one, other in zip(deep_outcome(model, X, y), readable, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
