"""Exact, sparse and sparse variational regression against GPflow, to eight digits.

`data/gpflow.json` holds 20 random problems with the program's answers and its version;
`data/make_gpflow.py` made it in an environment of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gpnotes
import gpnotes.ground.linalg
import gpnotes.infer.exact
from gpnotes import (
    GP,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Poisson,
    StudentT,
    condition,
    log_evidence_and_gradient,
)
from gpnotes.ground.linalg import cholesky
from gpnotes.infer import sparse, svgp
from gpnotes.model import kernels

TABLE = json.loads((Path(__file__).parents[1] / "data" / "gpflow.json").read_text(encoding="utf-8"))
PROBLEMS = TABLE["problems"]
LIKELIHOODS = {
    "gaussian": lambda problem: Gaussian(problem["noise_var"]),
    "probit": lambda problem: Bernoulli("probit"),
    "logit": lambda problem: Bernoulli("logit"),
    "poisson": lambda problem: Poisson(),
    "student": lambda problem: StudentT(problem["noise_var"] ** 0.5, 4.0),
}
TRAINED = {"gaussian": "variance", "student": "scale"}


@pytest.fixture(params=range(len(PROBLEMS)))
def problem(request):
    return PROBLEMS[request.param]


def array(problem, name):
    return np.asarray(problem[name])


def process(problem, noise_var):
    kernel = getattr(kernels, problem["kernel"])
    gp = kernel(problem["variance"], array(problem, "lengthscale"))
    return GP(gp, noise_var, ConstantMean(problem["mean"]))


def near(ours, theirs):
    """Within 1e-8 of the largest entry, or of 1 where all are smaller."""
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-8 * max(1.0, abs(theirs).max()))


def near_slopes(gp_bar, slopes):
    near(gp_bar.kernel.variance, slopes["variance"])
    near(gp_bar.kernel.lengthscale, slopes["lengthscale"])
    near(gp_bar.mean.value, slopes["mean"])


def test_the_table_is_of_twenty_problems_that_differ():
    assert TABLE["versions"]["gpflow"] == "2.11.2"
    assert len(PROBLEMS) == 20
    assert {one["kernel"] for one in PROBLEMS} == {"RBF", "Matern12", "Matern32", "Matern52"}
    assert {one["likelihood"] for one in PROBLEMS} == set(LIKELIHOODS)
    assert {len(one["lengthscale"]) for one in PROBLEMS} == {1, 2, 3, 4}


def test_exact_regression(problem):
    gp, told = process(problem, problem["noise_var"]), problem["answers"]["exact"]
    X, y, Xs = (array(problem, name) for name in ("X", "y", "Xs"))
    value, gp_bar = log_evidence_and_gradient(gp, X, y)
    near(value, told["value"])
    near_slopes(gp_bar, told["slopes"])
    near(gp_bar.noise_var, told["slopes"]["likelihood"])
    posterior = gpnotes.condition(gp, X, y)
    near(posterior.mean(Xs), told["mean"])
    near(posterior.covariance(Xs), told["covariance"])


@pytest.mark.parametrize("method", ["fitc", "vfe", "upper"])
def test_sparse_regression(problem, method):
    gp, told = process(problem, problem["noise_var"]), problem["answers"][method]
    X, y, Z, Xs = (array(problem, name) for name in ("X", "y", "Z", "Xs"))
    value, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z, method=method), X, y)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    near(value, told["value"])
    near_slopes(gp_bar, told["slopes"])
    near(gp_bar.noise_var, told["slopes"]["likelihood"])
    near(Z_bar, told["slopes"]["Z"])
    if method != "upper":
        posterior = condition(sparse.SparseGP(gp, Z, method=method), X, y)
        near(posterior.mean(Xs), told["mean"])
        near(posterior.variance(Xs), np.diagonal(told["covariance"]))
        near(posterior.covariance(Xs), told["covariance"])


def variational(problem):
    """q with the moments of the table: P is the inverse of a covariance ``R Rᵀ``."""
    likelihood = LIKELIHOODS[problem["likelihood"]](problem)
    model = svgp.SVGP(process(problem, 0.0), likelihood, array(problem, "Z"))
    inverse = np.linalg.inv(array(problem, "q_root"))
    precision = inverse.T @ inverse
    start = svgp.initial_posterior(model)
    return svgp.VariationalPosterior(
        model, start.inducing, precision, cholesky(precision), array(problem, "q_mean")
    )


def test_sparse_variational_processes(problem):
    q, told = variational(problem), problem["answers"]["svgp"]
    X, y, Xs = (array(problem, name) for name in ("X", "observed", "Xs"))
    total = problem["total"]
    near(svgp.elbo(q, X, y, total=total), told["value"])
    value, model_bar = svgp.elbo_and_gradient(q, X, y, total=total)
    near(value, told["value"])
    near_slopes(model_bar.gp, told["slopes"])
    near(model_bar.inducing, told["slopes"]["Z"])
    if name := TRAINED.get(problem["likelihood"]):
        near(getattr(model_bar.likelihood, name), told["slopes"]["likelihood"])
    near(q.mean(Xs), told["mean"])
    near(q.variance(Xs), np.diagonal(told["covariance"]))
    near(q.covariance(Xs), told["covariance"])


@pytest.mark.parametrize("problem", [one for one in PROBLEMS if one["likelihood"] != "student"])
def test_natural_gradient_steps(problem):
    """Not Student's t: where it is not log-concave, ours is another step."""
    q, told = variational(problem), problem["answers"]["svgp"]
    X, y = array(problem, "X"), array(problem, "observed")
    q = svgp.natural_gradient_step(q, X, y, step_size=TABLE["step"], total=problem["total"])
    near(q.weights, told["stepped_mean"])
    near(q.root.T @ q.root, told["stepped_covariance"])
