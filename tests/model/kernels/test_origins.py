"""Far from where a kernel starts, its matrix loses digits, and a warning says from where to go."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Bernoulli,
    Linear,
    SparseGP,
    condition,
    log_evidence_and_gradient,
)
from gpnotes.estimators import GPRegressor
from gpnotes.ground.linalg import JitterWarning
from gpnotes.infer.svgp.posterior import initial_posterior
from gpnotes.model.kernels import (
    ArcCosine,
    Constant,
    IntegratedWiener,
    Matern32,
    Polynomial,
    Wiener,
)
from gpnotes.model.kernels.origins import nearer_origin

DAY = 86400.0
T = np.sort(np.random.default_rng(0).uniform(0.0, 9.0, 14))
SECONDS = 1.7e9 + DAY * T[:, None]
Y = np.sin(T)
NEAR = RBF(1.0, DAY)
SAYS = r"Linear starts at zero, 2e\+03 times as far from column 0 .* X - X\[0\], and add Constant"

FACES = {
    "exact": lambda gp: condition(gp, SECONDS, Y),
    "evidence": lambda gp: log_evidence_and_gradient(gp, SECONDS, Y),
    "sparse": lambda gp: condition(SparseGP(gp, SECONDS.copy()), SECONDS, Y),
    "svgp": lambda gp: initial_posterior(
        SVGP(replace(gp, noise_var=0.0), Bernoulli(), SECONDS.copy())
    ),
    "estimator": lambda gp: GPRegressor(gp.kernel, noise_var=0.1, optimise=False).fit(SECONDS, Y),
}


@pytest.mark.parametrize("face", FACES)
def test_a_line_at_epoch_seconds_says_from_where_to_measure(face):
    with pytest.warns(JitterWarning, match=SAYS):
        FACES[face](GP(Linear(1.0) + NEAR, 0.1))


def test_what_it_says_keeps_the_digits():
    """To 60 digits the prediction at the first reading is 0.12710 with a variance of 0.04423."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitterWarning)
        mean, variance = condition(GP(Linear(1.0) + NEAR, 0.1), SECONDS, Y).predict(SECONDS[:1])
        assert abs(variance[0] - 0.04423) > 1.0
    near = GP(Linear(1e-12) + Constant(1e2) + NEAR, 0.1)
    mean, variance = condition(near, SECONDS - SECONDS[0], Y).predict(np.zeros((1, 1)))
    assert mean[0] == pytest.approx(0.1271, abs=0.01)
    assert variance[0] == pytest.approx(0.04423, abs=1e-3)


@pytest.mark.parametrize(
    ("kernel", "adds"),
    [
        (Wiener(), True),
        (IntegratedWiener(), True),
        (2.0 * Linear() * RBF(), True),
        (Polynomial(degree=2), False),
        (ArcCosine() + RBF(), False),
    ],
)
def test_all_that_start_at_zero_say_so_within_others(kernel, adds):
    said = nearer_origin(kernel, SECONDS)
    assert said.endswith("and add Constant() for the level there") == adds
    assert "X - X[0]" in said
    assert nearer_origin(kernel, SECONDS - SECONDS[0]) == ""


def test_a_column_counts_where_the_kernel_looks_at_it():
    X = np.column_stack([T, SECONDS[:, 0], np.full(14, 1e9)])
    assert nearer_origin(Linear().on(0) + RBF(), X) == ""
    assert nearer_origin(Linear().on(2) + RBF(), X) == ""  # constant: it is the level
    assert "column 1 of X" in nearer_origin(Linear().on(0, 1) + RBF(), X)
    assert nearer_origin(RBF() + Matern32(), X) == ""
