"""Sparse variational processes through inducing variables other than values of f."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Bernoulli, Gaussian, condition, stream, to_numpy
from gpnotes.infer import laplace, sparse, svgp
from gpnotes.infer.interdomain import Harmonics, InducingPoints, WeightedPoints
from gpnotes.infer.svgp import SVGP
from gpnotes.model.kernels import CircularRBF
from gpnotes.testing import check_posterior, gradcheck

from .conftest import fit_from

WEIGHTS = [[1.0, -1.0, 0.0], [0.3, 0.3, 0.4]]


@pytest.fixture
def rows(rng):
    """Angles, numbers and labels at them, on the host."""
    X = rng.uniform(-3.0, 3.0, size=(25, 1))
    f = np.sin(X[:, 0]) + 0.2 * rng.normal(size=25)
    return X, f, np.where(f > 0.0, 1.0, -1.0)


def some_variables(asarray, points):
    return {
        "harmonics": (Harmonics(asarray([0.0, 1.0, 2.0])), CircularRBF(1.5, 0.9)),
        "weighted": (WeightedPoints(asarray(points), asarray(WEIGHTS)), RBF(1.5, 0.9)),
    }


@pytest.mark.parametrize("kind", ["harmonics", "weighted"])
def test_with_a_gaussian_likelihood_it_is_that_of_sparse_regression(space, rows, kind):
    X, y = (space.asarray(a) for a in rows[:2])
    variables, kernel = some_variables(space.asarray, rows[0][:3])[kind]
    posterior = condition(SVGP(GP(kernel, 0.0), Gaussian(0.1), variables), X, y)
    collapsed = condition(sparse.SparseGP(GP(kernel, 0.1), variables), X, y)
    close = {"rtol": 1e-8, "atol": 1e-9} if space.double else {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(svgp.elbo(posterior, X, y), collapsed.log_evidence, **close)
    for ours, theirs in zip(posterior.predict(X), collapsed.predict(X), strict=True):
        assert space.holds(ours)
        np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), **close)
    check_posterior(posterior, X[:4, :])


@pytest.mark.parametrize("kind", ["harmonics", "weighted"])
def test_the_gradient_of_the_bound_agrees_with_differences(rows, kind):
    X, _, y = rows
    variables, kernel = some_variables(np.asarray, X[:3])[kind]
    start = condition(SVGP(GP(kernel, 0.0), Bernoulli(), variables), X, y)

    def at(kernel, inputs):
        model = SVGP(GP(kernel, 0.0), Bernoulli(), variables.moved(inputs))
        return svgp.VariationalPosterior(
            model,
            svgp.initial_posterior(model).inducing,
            start.precision,
            start.cholesky,
            start.weights,
        )

    def pullback(kernel, inputs, bar):
        model_bar = svgp.elbo_and_gradient(at(kernel, inputs), X, y)[1]
        return bar * model_bar.gp.kernel.variance, bar * model_bar.inducing

    def by_variance(variance, inputs):
        return svgp.elbo(at(type(kernel)(variance, 0.9), inputs), X, y)

    gradcheck(
        by_variance, lambda v, inputs, bar: pullback(type(kernel)(v, 0.9), inputs, bar),
        1.5, variables.inputs, names=("variance", "inputs"),
    )  # fmt: skip


def test_points_as_variables_are_points(rows):
    X, _, y = rows
    gp = GP(RBF(1.5, 0.9), 0.0)
    pair = [condition(SVGP(gp, Bernoulli(), z), X, y) for z in (X[:4], InducingPoints(X[:4]))]
    np.testing.assert_array_equal(*(posterior.mean(X) for posterior in pair))
    assert isinstance(pair[1].model.inducing, np.ndarray)


@pytest.mark.parametrize("kind", ["harmonics", "weighted"])
def test_a_fit_raises_the_bound_and_moves_what_can_be_moved(rows, kind):
    X, _, y = rows
    variables, kernel = some_variables(np.asarray, X[:3])[kind]
    start = svgp.initial_posterior(SVGP(GP(kernel, 0.0), Bernoulli(), variables))
    found = fit_from(start, X, y, max_steps=20, step_size=0.5, learning_rate=0.02, rng=stream(0))
    assert found.log_evidence > found.runs[0].trace[0] + 1.0
    new = found.model.inducing
    assert type(new) is type(variables)
    assert kind == "harmonics" or np.all(new.Z != variables.Z)
    assert found.model.gp.kernel != kernel


def test_with_many_harmonics_it_is_the_labels_process_near_laplace_s(rows):
    X, _, y = rows
    gp = GP(CircularRBF(1.5, 0.9), 0.0)
    few, many = (
        condition(SVGP(gp, Bernoulli(), Harmonics(np.arange(float(n)))), X, y) for n in (3, 9)
    )
    round_the_circle = 2.0 * np.pi / 13 * np.arange(13)[:, None]
    whole = condition(SVGP(gp, Bernoulli(), round_the_circle), X, y)
    bounds = [svgp.elbo(posterior, X, y) for posterior in (few, many, whole)]
    assert bounds[0] < bounds[1]
    assert bounds[1] == pytest.approx(bounds[2], abs=1e-3)
    np.testing.assert_allclose(many.probability(X), whole.probability(X), atol=1e-3)
    rough = condition(laplace.LaplaceGP(gp), X, y)
    np.testing.assert_allclose(many.probability(X), rough.probability(X), atol=0.1)
