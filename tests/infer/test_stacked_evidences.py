"""Evidences of a stack beside each by SciPy's normal density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gpnotes import GP, RBF, ConstantMean, Matern32, Normal, log_evidence_and_gradient
from gpnotes.ground.chunks import Rows
from gpnotes.infer.stacked_evidences import Asked, answers_to, is_stacked
from gpnotes.model.means import BasisMean, Powers


def _asked(rng, kernel, n):
    gp = GP(kernel, rng.uniform(0.05, 0.5), ConstantMean(rng.normal()))
    return Asked(gp, Rows(rng.normal(size=(n, 2)), rng.normal(size=n)), True)


def test_answers_stand_in_the_order_of_the_questions_and_are_right(rng):
    """Tables of several sizes and kernels of two forms are stacked apart."""
    kernels = [RBF(1.2, 0.7), Matern32(0.8, 1.1), RBF(0.5, 2.0), Matern32(1.4, 0.3)]
    asked = [_asked(rng, kernel, n) for n in (9, 12, 11) for kernel in kernels]
    for (gp, rows, _), (value, bar) in zip(asked, answers_to(asked), strict=True):
        X, y = rows.X, rows.y
        cov = gp.kernel(X, X) + gp.noise_var * np.eye(y.size)
        wanted = stats.multivariate_normal(np.full(y.size, gp.mean.value), cov).logpdf(y)
        assert value == pytest.approx(wanted, rel=1e-12)
        alone = log_evidence_and_gradient(gp, X, y)[1]
        assert bar.noise_var == pytest.approx(alone.noise_var, rel=1e-9)
        assert bar.mean.value == pytest.approx(alone.mean.value, rel=1e-9)
        assert bar.kernel.lengthscale == pytest.approx(alone.kernel.lengthscale, rel=1e-9)
        assert bar.kernel.variance == pytest.approx(alone.kernel.variance, rel=1e-9)


def test_one_alone_and_one_without_a_factor_are_left_to_the_asker(rng):
    one, other, third = (_asked(rng, RBF(1.0, 1.0), 8) for _ in range(3))
    assert answers_to([one]) == [None]
    X = np.zeros((8, 2))
    singular = Asked(GP(RBF(1.0, 1.0), 0.0), Rows(X, rng.normal(size=8)), True)
    found = answers_to([one, singular, other, third])
    assert found[1] is None
    assert found[2][0] == pytest.approx(answers_to([other, third])[0][0], rel=1e-13)


def test_a_mean_with_a_basis_is_no_part_of_a_stack(rng):
    gp, rows, _ = _asked(rng, RBF(1.0, 1.0), 8)
    assert is_stacked(gp, rows)
    assert not is_stacked(
        GP(RBF(1.0, 1.0), 0.1, BasisMean(Powers(1), Normal(np.zeros(3), np.eye(3)))), rows
    )
