"""The doubly stochastic bound by brute force, and its derivatives by differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from gpnotes import Bernoulli, Gaussian, StudentT, stream, to_numpy
from gpnotes.ground.chunks import Chunks, Rows
from gpnotes.infer import deep, svgp
from gpnotes.infer.deep.evidence_lower_bound import part_and_gradient, posteriors, with_divergence
from gpnotes.infer.deep.model import posterior_of, root_of
from gpnotes.infer.deep.noise import own_noise
from gpnotes.infer.objective import objective_of
from gpnotes.testing import check_mean, gradcheck

from .conftest import narrow, two_layers


def moments(unit, h):
    """Mean and covariance of f at h and its divergence, without whitening: by q(u) itself."""
    gp = unit.gp
    Kuu, Kuh = gp.kernel(unit.Z), gp.kernel(unit.Z, h)
    lower = np.linalg.cholesky(Kuu)
    root = np.tril(root_of(unit))
    m, S = lower @ unit.weights, lower @ root.T @ root @ lower.T
    a = np.linalg.solve(Kuu, Kuh)
    mean = gp.mean(h) + a.T @ m
    covariance = gp.kernel(h) - a.T @ Kuh + a.T @ S @ a
    inverse = np.linalg.inv(Kuu)
    logs = np.linalg.slogdet(Kuu)[1] - np.linalg.slogdet(S)[1]
    kl = 0.5 * (np.trace(inverse @ S) + m @ inverse @ m - len(m) + logs)
    return mean, covariance, kl


def test_the_bound_is_that_of_brute_force(rows):
    """Two layers: the inner value on a fine grid, the likelihood's average on another."""
    X, y = rows[0][:3, :1], rows[1][:3]
    model = narrow()
    (inner,), (last,) = model.layers
    mean, covariance, kl = moments(inner, X)
    z = np.linspace(-8.0, 8.0, 801)
    weights = norm.pdf(z) * (z[1] - z[0])
    wanted = -kl - moments(last, X)[2]
    for i in range(3):
        h = (mean[i] + np.sqrt(covariance[i, i]) * z)[:, None]
        m, C, _ = moments(last, h)
        f = m[:, None] + np.sqrt(np.diag(C))[:, None] * z
        wanted += weights @ (norm.logpdf(y[i], f, np.sqrt(0.3)) @ weights)
    found = deep.elbo(model, X, y, deep.quadrature_noise(model, 60))
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_below_the_evidence_of_two_layers_and_two_points(seed):
    """The evidence by a grid over both inner values, right to 4e-5: no inducing inputs, no q."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2, 1)), rng.normal(size=2)
    model = narrow(seed)
    (inner,), (last,) = model.layers
    z, w = np.polynomial.hermite_e.hermegauss(16)
    w = w / w.sum()
    lower = np.linalg.cholesky(inner.gp.kernel(X))
    evidence = 0.0
    for a, wa in zip(z, w, strict=True):
        for b, wb in zip(z, w, strict=True):
            h = (X[:, 0] + lower @ [a, b])[:, None]
            covariance = last.gp.kernel(h) + 0.3 * np.eye(2)
            density = multivariate_normal(last.gp.mean(h), covariance).pdf(y)
            evidence += wa * wb * density
    top = objective_of(model, Rows(X, y)).run(objective_of(model, Rows(X, y)).vector(model), 60)
    for at in (model, top.model):
        at = replace(at, likelihood=Gaussian(0.3))
        at = replace(at, layers=tuple(
            (replace(new, gp=old.gp),)
            for (new,), (old,) in zip(at.layers, model.layers, strict=True)
        ))  # fmt: skip
        assert deep.elbo(at, X, y, deep.quadrature_noise(at, 40)) < np.log(evidence)


LIKELIHOODS = {
    "gaussian": Gaussian(0.3), "student": StudentT(0.4, 3.0), "probit": Bernoulli("probit")
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "wide"),
    [
        ("student", True),
        ("gaussian", True),
        ("probit", True),
        ("student", False),
    ],
)
def test_the_gradient_agrees_with_differences(rows, name, wide):
    """Of layers of one kind with each likelihood, and of narrow ones with one."""
    X, y = rows
    y = np.sign(y) if name == "probit" else y
    if wide:
        model = two_layers(likelihood=LIKELIHOODS[name], sizes=(3, 2, 3))
    else:
        X, model = X[:, :1], narrow(1, (3, 2, 4), likelihood=LIKELIHOODS[name])
    objective = objective_of(model, Rows(X, y))
    gradcheck(
        lambda v: objective(v)[0], lambda v, bar: (bar * objective(v)[1],), objective.vector(model)
    )


def test_the_gradient_with_quadrature_and_of_a_batch(rows):
    X, y = rows
    model = two_layers()
    noise = deep.quadrature_noise(model, 4)

    def bound(weights):
        last = replace(model.layers[1][0], weights=weights)
        changed = replace(model, layers=(model.layers[0], (last,)))
        return deep.elbo(changed, X, y, noise, total=20)

    _, bar = deep.elbo_and_gradient(model, X, y, noise, total=20)
    weights = model.layers[1][0].weights
    gradcheck(bound, lambda w, by: (by * bar.layers[1][0].weights,), weights)


def test_draws_agree_with_quadrature(rows):
    X, y = rows
    model = two_layers()
    exact = deep.elbo(model, X, y, deep.quadrature_noise(model, 12))
    draws = [
        deep.elbo(model, X, y, deep.draw_noise(model, 7, 50, rng=stream(s))) for s in range(40)
    ]
    error = np.std(draws) / np.sqrt(40)
    assert abs(np.mean(draws) - exact) < 4 * error
    assert error < 0.05 * abs(exact)


def test_one_layer_is_the_sparse_variational_process(space, rows):
    X, y = (space.asarray(a) for a in rows)
    last = two_layers(asarray=space.asarray).layers[1]
    model = deep.DeepGP((last,), Gaussian(0.3))
    q = posterior_of(last[0], model.likelihood)
    close = {"rel": 1e-10 if space.double else 1e-4}
    assert deep.elbo(model, X, y) == pytest.approx(svgp.elbo(q, X, y), **close)
    _, bar = deep.elbo_and_gradient(model, X, y, total=30)
    _, wanted = svgp.elbo_and_gradient(q, X, y, total=30)
    assert to_numpy(bar.layers[0][0].Z) == pytest.approx(
        to_numpy(wanted.inducing), abs=1e-9 if space.double else 2e-3
    )
    kernels = bar.layers[0][0].gp.kernel, wanted.gp.kernel
    assert kernels[0].lengthscale == pytest.approx(
        kernels[1].lengthscale, rel=1e-9 if space.double else 1e-3
    )


def test_a_bound_asks_for_no_precision_and_finds_it_when_asked(space, rows):
    X, y = (space.asarray(a) for a in rows)
    model = two_layers(asarray=space.asarray)
    units = posteriors(model)
    part = part_and_gradient(model, units, X, y, own_noise(model, 7), 1.0)
    with_divergence(model, units, part)
    q = units[1][0]
    assert not {"precision", "cholesky"} & vars(q).keys()
    root = to_numpy(root_of(model.layers[1][0]))
    close = {"rtol": 1e-9 if space.double else 1e-3}
    np.testing.assert_allclose(to_numpy(q.precision), np.linalg.inv(root.T @ root), **close)
    log_det = -2.0 * np.sum(np.log(np.diag(root)))
    assert q.cholesky.log_det == pytest.approx(log_det, rel=1e-9 if space.double else 1e-4)


def test_every_namespace_gives_the_same(space, rows):
    X, y = (space.asarray(a) for a in rows)
    model = two_layers(asarray=space.asarray)
    value, bar = deep.elbo_and_gradient(model, X, y)
    wanted, wanted_bar = deep.elbo_and_gradient(two_layers(), *rows)
    assert value == pytest.approx(wanted, rel=1e-9 if space.double else 1e-3)
    for name in ("Z", "weights", "scales", "couplings"):
        got = getattr(bar.layers[0][1], name)
        assert space.holds(got)
        near = to_numpy(got) - getattr(wanted_bar.layers[0][1], name)
        assert np.max(np.abs(near)) < (1e-8 if space.double else 3e-2)


def test_a_sum_over_chunks_is_the_sum_of_batches(rows):
    """Each chunk has the draws of its own places, so that a batch by itself says the same."""
    X, y = rows
    model = two_layers()
    parts = [(X[:4], y[:4]), (X[4:], y[4:])]

    objective = objective_of(model, Chunks(parts))
    value, _ = objective(objective.vector(model))
    kl = sum(posterior_of(u, model.likelihood).kl for layer in model.layers for u in layer)
    assert value == pytest.approx(sum(deep.elbo(model, *part) + kl for part in parts) - kl)


def test_batches_are_the_whole_on_average(rows):
    X, y = rows
    model = two_layers()
    noise = deep.quadrature_noise(model, 8)
    batches = [deep.elbo(model, X[i : i + 1], y[i : i + 1], noise, total=7) for i in range(7)]
    assert np.mean(batches) == pytest.approx(deep.elbo(model, X, y, noise))


def test_the_coordinate_is_a_mean(space, rows):
    check_mean(deep.Coordinate(1), space.asarray(rows[0]))
