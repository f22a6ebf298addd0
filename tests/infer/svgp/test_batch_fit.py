"""Fits of a sparse process from batches: which of their points is kept."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Gaussian, condition, fit, stream
from gpnotes.infer import svgp

N = 40
X = np.linspace(0.0, 6.0, N)[:, None]
Y = 3.0 + np.sin(2.0 * X[:, 0]) + 0.2 * np.random.default_rng(1).standard_normal(N)


@pytest.mark.parametrize("batch", [N, 10])
def test_a_fit_from_batches_that_goes_wrong_ends_no_lower_than_it_began(batch):
    model = svgp.SVGP(GP(RBF(1.0, 1.0), 0.0, ConstantMean(0.0)), Gaussian(0.1), X[2::6])
    top = fit(condition(model, X, Y).model, X, Y).posterior
    batches = svgp.Minibatches(batch, learning_rate=1.5, start=top)
    ended = fit(top.model, X, Y, minibatches=batches, max_steps=5, rng=stream(1))
    assert svgp.elbo(ended.posterior, X, Y) >= svgp.elbo(top, X, Y) - 1e-9
    assert ended.model is ended.posterior.model
    assert ended.log_evidence == pytest.approx(svgp.elbo(ended.posterior, X, Y))
    assert min(ended.runs[0].trace) < svgp.elbo(top, X, Y) - 10.0
