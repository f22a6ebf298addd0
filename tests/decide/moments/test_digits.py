"""Relative accuracy at tiny covariances, against sixty digits of the published formula.

The published formula is a second moment less a product of means: here in `decimal`, where so many
digits are there that the cancellation costs nothing that matters, and in floats, where the terms
are not even known to that. What a difference of floats happens to give, each processor rounds in
its own way; how far two neighbouring floats are from each other is the same everywhere.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from gpnotes import GP, RBF, condition
from gpnotes.decide import moments
from gpnotes.decide.moments.input_covariance import _log1p_less_linear

DIGITS = 60


def exact(a):
    """Nested lists of decimals that are exactly the floats of an array."""
    return [exact(one) for one in a] if np.ndim(a) else Decimal(float(a))


def solve(M, v):
    """``M⁻¹ v`` for a 2 × 2 matrix, by Cramer's rule."""
    (a, b), (c, d) = M
    det = a * d - b * c
    return [(d * v[0] - b * v[1]) / det, (a * v[1] - c * v[0]) / det], det


def product(rows, columns):
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in rows]


def mean_of(x, m, S, lengths):
    """``|I + SΛ⁻¹|^−½ exp(−½ νᵀ(S + Λ)⁻¹ν)``."""
    nu = [p - q for p, q in zip(x, m, strict=True)]
    widened = [[S[i][j] + (lengths[i] ** 2 if i == j else 0) for j in range(2)] for i in range(2)]
    solved, det = solve(widened, nu)
    front = (lengths[0] * lengths[1]) / det.sqrt()
    return front * (-(nu[0] * solved[0] + nu[1] * solved[1]) / 2).exp()


def outer_of(x, z, m, S, first, second):
    """The published ``Q``: ``R = S(Λ_a⁻¹ + Λ_b⁻¹) + I`` and ``z = Λ_a⁻¹ν + Λ_b⁻¹ν'``."""
    nu, mu = ([p - q for p, q in zip(y, m, strict=True)] for y in (x, z))
    u = [n / length**2 for n, length in zip(nu, first, strict=True)]
    v = [n / length**2 for n, length in zip(mu, second, strict=True)]
    both = [p + q for p, q in zip(u, v, strict=True)]
    d = [1 / p**2 + 1 / q**2 for p, q in zip(first, second, strict=True)]
    R = [[S[i][j] * d[j] + (1 if i == j else 0) for j in range(2)] for i in range(2)]
    moved, det = solve(R, [row[0] for row in product(S, [both])])
    plain = sum(p * q for p, q in zip(nu, u, strict=True))
    plain += sum(p * q for p, q in zip(mu, v, strict=True))
    return ((both[0] * moved[0] + both[1] * moved[1] - plain) / 2).exp() / det.sqrt()


def published(kernels, X, Z, m, S):
    """``Cov[k_a(X, x), k_b(Z, x)]`` as ``Q − q qᵀ``, in decimals."""
    lengths = [exact(kernel.lengthscale) for kernel in kernels]
    X, Z, m, S = (exact(one) for one in (X, Z, m, S))
    scale = Decimal(kernels[0].variance) * Decimal(kernels[1].variance)
    means = [mean_of(x, m, S, lengths[0]) for x in X], [mean_of(z, m, S, lengths[1]) for z in Z]
    return [
        [scale * (outer_of(x, z, m, S, *lengths) - p * q) for z, q in zip(Z, means[1], strict=True)]
        for x, p in zip(X, means[0], strict=True)
    ]


@pytest.fixture
def case(rng):
    """Two kernels, two sets of points, a mean, and a root of a covariance of rank two."""
    kernels = RBF(1.3, np.asarray([0.7, 1.9])), RBF(0.6, np.asarray([1.1, 0.8]))
    return kernels, rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6, 1e-12, 1e-24])
@pytest.mark.parametrize("rank", [1, 2])
def test_every_digit_of_the_kernels_covariance_is_there(case, covariance, scale, rank):
    (a, b), X, Z, m = case
    S = covariance(2, scale, rank)
    with localcontext() as context:
        context.prec = DIGITS
        wanted = np.asarray(published((a, b), X, Z, m, S), dtype=float)
    covariances = moments.kernel_covariance(a, b, X, Z, m, S)
    size = np.max(np.abs(wanted))
    assert np.max(np.abs(covariances - wanted)) < 4e-15 * size
    # and entry by entry where the slopes are not at right angles with respect to S
    np.testing.assert_allclose(covariances, wanted, rtol=1e-12)
    if scale <= 1e-12:
        second = moments.kernel_outer(a, b, X, Z, m, S)
        assert np.max(last_digit(second)) > 1e-6 * size


def test_a_logarithm_without_its_linear_term_has_all_digits():
    """``log(1 + w) − w`` up to the largest eigenvalue it is asked for, and far below one digit."""
    w = np.asarray([0.0999, 0.07, 0.03, 1e-4, 1e-9, 1e-30])
    with localcontext() as context:
        context.prec = DIGITS + 20
        wanted = [float((1 + share).ln() - share) for share in exact(w)]
    np.testing.assert_allclose(_log1p_less_linear(w), wanted, rtol=2e-15)


def last_digit(a):
    """What the last binary digit of a float is worth."""
    return np.spacing(np.abs(a))


def test_the_published_difference_cannot_have_the_digits_that_ours_has(case, rng):
    """The covariance between two outputs: the last digit of ``S`` in ``S − M Mᵀ`` is twice it."""
    (a, b), X, _, m = case
    posteriors = [condition(GP(k, 0.1), X, rng.normal(size=4)) for k in (a, b)]
    S = 1e-15 * np.asarray([[1.0, 0.4], [0.4, 0.5]])
    weights = [posterior.alpha for posterior in posteriors]
    with localcontext() as context:
        context.prec = DIGITS
        every = published((a, b), X, X, m, S)
        wanted = float(sum(
            p * q * every[i][j]
            for i, p in enumerate(exact(weights[0]))
            for j, q in enumerate(exact(weights[1]))
        ))  # fmt: skip
    model = moments.predictor(posteriors)
    prediction = moments.predict(model, m, S)
    second = weights[0] @ moments.kernel_outer(a, b, X, X, m, S) @ weights[1]
    assert abs(prediction.covariance[0, 1] - wanted) < 4e-14 * abs(wanted)
    assert last_digit(second) > 1.5 * abs(wanted)
