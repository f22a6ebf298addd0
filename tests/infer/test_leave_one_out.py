"""Predictions of each observation from all others, against the conditional normal of each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from gpnotes.ground.xp import to_numpy
from gpnotes.infer.leave_one_out import predict_left_out


@pytest.mark.parametrize("n", [1, 2, 7])
def test_each_is_predicted_by_the_others_alone(space, rng, n):
    root = rng.normal(size=(n, n))
    K, y = root @ root.T + np.eye(n), rng.normal(size=n)
    inverse = np.linalg.inv(K)
    found = predict_left_out(*(space.asarray(a) for a in (y, inverse @ y, np.diag(inverse))))
    close = {"rtol": 1e-10, "atol": 1e-12} if space.double else {"rtol": 1e-3, "atol": 1e-4}
    for i in range(n):
        rest = np.arange(n) != i
        weights = np.linalg.solve(K[rest][:, rest], K[rest, i])
        mean, variance = weights @ y[rest], K[i, i] - weights @ K[rest, i]
        density = norm(mean, np.sqrt(variance)).logpdf(y[i])
        ours = [float(to_numpy(a)[i]) for a in (found.mean, found.variance, found.log_density)]
        np.testing.assert_allclose(ours, [mean, variance, density], **close)
