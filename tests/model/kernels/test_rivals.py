"""Kernels against those of GPflow, GPyTorch and GPy, matrices and derivatives, to ten digits.

`data/make_kernels.py` made the tables, in environments of their own. What scikit-learn has too is
held against it where each kernel is tested.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gpnotes.model import kernels
from gpnotes.model.kernels import WithGradients, gradients_at, spectral_mixture, values_at

DATA = Path(__file__).parents[2] / "data"
TABLES = {
    name: json.loads((DATA / f"kernels-{name}.json").read_text(encoding="utf-8"))
    for name in ("gpflow", "gpytorch", "gpy")
}
PROBLEMS = [problem for table in TABLES.values() for problem in table["problems"]]

near = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-10)


@pytest.fixture(params=range(len(PROBLEMS)), ids=lambda i: f"{i}-{PROBLEMS[i]['kernel']}")
def problem(request):
    return PROBLEMS[request.param]


def given(problem):
    return {
        name: np.asarray(value) if isinstance(value, list) else value
        for name, value in problem["given"].items()
    }


def kernel_of(problem):
    name = problem["kernel"]
    if name.startswith("WithGradients"):
        inner = getattr(kernels, name.removeprefix("WithGradients(").removesuffix(")"))
        return WithGradients(inner(1.0, **given(problem)))
    if name == "spectral_mixture":
        return spectral_mixture(*given(problem).values())
    return getattr(kernels, name)(**given(problem))


def inputs(problem):
    """X, Z and W; as rows of values and derivatives, point by point, where the kernel has them."""
    X, Z, W = (np.asarray(problem[name]) for name in ("X", "Z", "W"))
    if problem["kernel"].startswith("WithGradients"):
        return observed(X), observed(Z), W
    return X, Z, W


def observed(X):
    """For each point the row of its value, then those of its derivatives."""
    n, d = X.shape
    values, slopes = values_at(X), gradients_at(X).reshape(n, d, d + 1)
    return np.concatenate([values[:, None, :], slopes], axis=1).reshape(n * (d + 1), d + 1)


def bars(problem, kernel_bar):
    """Our derivatives by the names of the table."""
    if problem["kernel"] == "spectral_mixture":
        single = len(problem["given"]["variances"]) == 1
        return bands(problem, (kernel_bar,) if single else kernel_bar.parts)
    inner = getattr(kernel_bar, "kernel", kernel_bar)
    return {name: getattr(inner, name) for name in problem["slopes"] if name != "X"}


def bands(problem, parts):
    """From those of the lengthscales, ℓ = 1/2πs and dk/ds = −2πℓ² dk/dℓ, to the bandwidths."""
    rbfs, cosines = zip(*(part.parts for part in parts), strict=True)
    widths = np.asarray(problem["given"]["bandwidths"])
    lengths = np.asarray([one.lengthscale for one in rbfs])
    return {
        "variances": [one.variance for one in rbfs],
        "frequencies": [one.frequency for one in cosines],
        "bandwidths": -lengths / (2.0 * np.pi * widths**2),
    }


def test_the_tables_are_of_versions_that_are_named_and_of_kernels_that_differ():
    assert TABLES["gpflow"]["versions"]["gpflow"] == "2.11.2"
    assert TABLES["gpytorch"]["versions"]["gpytorch"] == "1.15.2"
    assert TABLES["gpy"]["versions"]["gpy"] == "1.15.0"
    assert {(p["kernel"], p["given"].get("order")) for p in PROBLEMS} == {
        ("ArcCosine", 0), ("ArcCosine", 1), ("ArcCosine", 2), ("Cosine", None),
        ("WithGradients(RBF)", None), ("WithGradients(Matern52)", None),
        ("spectral_mixture", None), ("Periodic", None),
    }  # fmt: skip


def test_matrices_agree(problem):
    X, Z, _ = inputs(problem)
    near(kernel_of(problem)(X, Z), problem["K"])


def test_derivatives_by_the_hyperparameters_agree(problem):
    X, Z, W = inputs(problem)
    ours = bars(problem, kernel_of(problem).pullback(X, Z, W)[0])
    assert len(ours) > 0
    for name, slope in ours.items():
        near(slope, problem["slopes"][name])


def test_derivatives_by_the_inputs_agree(problem):
    X, Z, W = inputs(problem)
    x_bar = kernel_of(problem).pullback(X, Z, W)[1]
    if problem["kernel"].startswith("WithGradients"):
        n, d = np.asarray(problem["X"]).shape
        x_bar = x_bar[:, :d].reshape(n, d + 1, d).sum(axis=1)
    near(x_bar, problem["slopes"]["X"])
