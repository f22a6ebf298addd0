"""Ground sets, and what a design says computed by dense algebra on the host."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, Matern32, White, to_numpy

N = 12
LENGTHS = (0.9, 1.4)


class Dense:
    """The covariance of f at the candidates, and the noise: every quantity by NumPy's solvers."""

    def __init__(self, K, noise):
        self.K = np.asarray(K, float)
        self.noise = np.broadcast_to(np.asarray(noise, float), len(self.K))

    def information(self, S):
        """Half a log determinant, from the covariance of y and that of the noise."""
        S = list(S)
        Ky = self.K[np.ix_(S, S)] + np.diag(self.noise[S])
        return 0.5 * (np.linalg.slogdet(Ky)[1] - np.sum(np.log(self.noise[S])))

    def covariance(self, S):
        """Of f at all candidates, given y at S."""
        S = list(S)
        Ky = self.K[np.ix_(S, S)] + np.diag(self.noise[S])
        return self.K - self.K[:, S] @ np.linalg.solve(Ky, self.K[S, :])

    def mutual_information(self, S):
        """Entropy of the unchosen y, less what is left of it given the chosen."""
        S = list(S)
        rest = [j for j in range(len(self.K)) if j not in S]
        Ky = self.K + np.diag(self.noise)
        parts = [np.linalg.slogdet(Ky[np.ix_(T, T)])[1] for T in (S, rest)]
        return 0.5 * (sum(parts) - np.linalg.slogdet(Ky)[1])

    def value(self, criterion, S):
        """What a criterion adds up to for the set S."""
        if criterion == "integrated variance":
            return float(np.mean(np.diag(self.K) - np.diag(self.covariance(S))))
        return {"information": self.information, "mutual information": self.mutual_information}[
            criterion
        ](S)


@pytest.fixture
def dense():
    """The dense quantities of a prior at X, with one noise variance or one for each candidate."""

    def make(gp, X, noise):
        return Dense(to_numpy(gp.kernel(X)), noise)

    return make


@pytest.fixture
def inputs(rng):
    """Candidates (12, 2), on the host."""
    return rng.normal(size=(N, 2))


@pytest.fixture
def noises(rng):
    """A noise variance for each candidate, on the host."""
    return rng.uniform(0.05, 0.6, size=N)


@pytest.fixture(params=["rbf", "matern and white noise"])
def process(request):
    """A function that makes a process in the kind of an `asarray`."""
    if request.param == "rbf":
        return lambda asarray: GP(RBF(1.3, asarray(LENGTHS)), 0.2)
    return lambda asarray: GP(Matern32(0.8, asarray(LENGTHS)) + White(0.1), 0.2)
