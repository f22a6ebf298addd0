"""Data and models that the tests of sparse variational processes share."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Bernoulli, ConstantMean, Gaussian, Poisson, StudentT, White, fit
from gpnotes.infer.svgp import SVGP, Minibatches

LIKELIHOODS = {
    "gaussian": Gaussian(0.3),
    "probit": Bernoulli("probit"),
    "logit": Bernoulli("logit"),
    "poisson": Poisson(),
    "student": StudentT(0.4, 3.0),
}


def observed(name, f, draws):
    """Something that could be observed at f, of each likelihood."""
    noisy = f + 0.5 * draws
    return {
        "gaussian": noisy, "student": noisy + 6.0 * (np.arange(f.size) % 7 == 3),
        "probit": np.where(noisy > 0.0, 1.0, -1.0), "logit": np.where(noisy > 0.0, 1.0, -1.0),
        "poisson": np.floor(np.exp(np.clip(noisy, None, 2.0))),
    }[name]  # fmt: skip


@pytest.fixture
def numbers(rng):
    """X (30, 2), f-like numbers, noise, Z (6, 2) and Xs (5, 2) on the host."""
    X = rng.normal(size=(30, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1], rng.normal(size=30), X[:6] + 0.1, X[-5:] + 0.3


def process(asarray=np.asarray):
    return GP(RBF(1.6, asarray([0.8, 1.5])) + White(0.02), 0.0, ConstantMean(0.2))


def model_of(name, Z, asarray=np.asarray, nodes=20):
    return SVGP(process(asarray), LIKELIHOODS[name], asarray(Z), nodes)


def fit_from(start, X, y, **options):
    """A fit from batches that begins at a q; of all rows where no batch is named."""
    how = {name: options.pop(name) for name in ("step_size", "learning_rate") if name in options}
    batches = Minibatches(options.pop("batch", X.shape[0]), start=start, **how)
    return fit(start.model, X, y, minibatches=batches, **options)
