"""Random posteriors, uncertain inputs and quadrature for the tests of `gpnotes.decide.pilco`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, gauss_hermite


@pytest.fixture
def make_posterior(rng):
    """A function that makes a posterior of n random points in D dimensions, in any space."""

    def make(asarray=np.asarray, n=7, d=2, noise_var=0.05, parts=1):
        kernels = [
            RBF(float(rng.uniform(0.5, 2.0)), asarray(rng.uniform(0.6, 1.8, d)))
            for _ in range(parts)
        ]
        kernel = sum(kernels[1:], start=kernels[0])
        X, y = asarray(rng.normal(size=(n, d))), asarray(rng.normal(size=n))
        return condition(GP(kernel, noise_var), X, y)

    return make


@pytest.fixture
def make_state(rng):
    """A function that draws a mean (d,) and a covariance (d, d) of the rank asked for.

    Not so wide that a rule of 40 nodes would miss a digit of what it averages.
    """

    def make(d=2, rank=None):
        directions = np.linalg.qr(rng.normal(size=(d, d)))[0][:, : d if rank is None else rank]
        spread = rng.uniform(0.05, 0.4, size=directions.shape[1])
        return rng.normal(size=d), (directions * spread) @ directions.T

    return make


@pytest.fixture
def nodes():
    """A function that returns a rule's points (k, d) and weights (k,) for N(m, S)."""

    def rule(m, S, n=40):
        values, vectors = np.linalg.eigh(S)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
        t, w = gauss_hermite(n)
        grid = np.array(list(itertools.product(t, repeat=len(m))))
        weights = np.prod(np.array(list(itertools.product(w, repeat=len(m)))), axis=1)
        return m + grid @ root.T, weights

    return rule


@pytest.fixture
def variance_of(nodes):
    """A function: E_x of the variance of f, V_x of its mean, by quadrature over x ~ N(m, S)."""

    def parts(posterior, m, S, n=40):
        x, w = nodes(m, S, n)
        mean, variance = posterior.predict(x)
        return float(w @ variance), float(w @ mean**2 - (w @ mean) ** 2)

    return parts


@pytest.fixture
def refitted(variance_of):
    """A function: both parts of E_ŷ V[f(x) | ŷ], by a fit for every value of the fantasies."""

    def parts(posterior, m, S, batch, order=3):
        # the mean is linear in ŷ, so its variance is quadratic: three nodes are exact
        batch = np.atleast_2d(batch)
        mean, covariance = posterior.mean(batch), posterior.covariance(batch, noise=True)
        t, w = gauss_hermite(order)
        variances = np.zeros(2)
        for ids in itertools.product(range(order), repeat=len(batch)):
            y_hat = mean + np.linalg.cholesky(covariance) @ t[list(ids)]
            X, y = np.vstack([posterior.X, batch]), np.concatenate([posterior.y, y_hat])
            again = condition(posterior.gp, X, y)
            variances += np.prod(w[list(ids)]) * np.array(variance_of(again, m, S))
        return variances

    return parts
