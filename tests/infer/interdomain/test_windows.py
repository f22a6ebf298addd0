"""Averages of f under Gaussian windows: in several dimensions, without width, in fits."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Gaussian,
    Matern32,
    SparseGP,
    condition,
    fit,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.infer import svgp
from gpnotes.infer.interdomain import GaussianWindows, InducingPoints
from gpnotes.testing import check_inducing_variables


@pytest.fixture
def rows(rng):
    X = rng.uniform(-3.0, 3.0, size=(80, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=80)


def test_they_keep_the_contract_in_two_dimensions(space, rng):
    Z, X = (space.asarray(a) for a in rng.normal(size=(2, 4, 2)))
    widths = space.asarray(rng.uniform(0.2, 1.0, size=(4, 2)))  # the rule of `apply` has 20 nodes
    kernel = RBF(1.3, space.asarray([1.8, 1.1]))
    check_inducing_variables(GaussianWindows(Z, widths), kernel, X, rtol=1e-4)


def test_without_widths_they_are_values(space, rows):
    X, y = (space.asarray(a) for a in rows)
    gp, Z = GP(RBF(1.3, 1.5), 0.1), X[:9, :]
    windows = GaussianWindows(Z, 0.0 * Z)
    ours, wanted = (
        log_evidence_and_gradient(SparseGP(gp, u), X, y) for u in (windows, InducingPoints(Z))
    )
    close = {"rtol": 1e-6} if space.double else {"rtol": 1e-2, "atol": 1e-2}
    assert ours[0] == pytest.approx(wanted[0], rel=1e-9 if space.double else 1e-4)
    np.testing.assert_allclose(
        to_numpy(ours[1].inducing)[:9], to_numpy(wanted[1].inducing), **close
    )
    np.testing.assert_array_equal(to_numpy(ours[1].inducing)[9:], 0.0)


def test_a_fit_finds_widths_that_points_have_not(rows):
    """Where f is smoother than its prior says, few averages know more than as many values."""
    X, y = rows
    gp, Z = GP(RBF(1.0, 0.8), 0.05), X[:6]
    held = ("gp",)
    points = fit(SparseGP(gp, Z), X, y, fixed=held, max_steps=60)
    begun = GaussianWindows(points.model.inducing, np.full((6, 2), 0.3))
    windows = fit(SparseGP(gp, begun), X, y, fixed=held, max_steps=60)
    assert windows.log_evidence > points.log_evidence + 10.0
    assert np.max(np.abs(windows.model.inducing.widths)) > 0.8
    whole = fit(SparseGP(gp, begun), X, y, max_steps=10)
    assert whole.posterior.predict(X)[0].shape == (80,)


def test_they_serve_in_batches(rows):
    X, y = rows
    begun = GaussianWindows(X[:8], np.full((8, 2), 0.5))
    model = svgp.SVGP(GP(RBF(1.0, 1.5), 0.0), Gaussian(0.1), begun)
    found = fit(model, X, y, max_steps=60, minibatches=svgp.Minibatches(40), rng=stream(0))
    assert np.any(found.model.inducing.widths != begun.widths)
    error = found.posterior.predict(X)[0] - y
    assert np.sqrt(np.mean(error**2)) < 0.5 * np.std(y)


def test_what_does_not_fit_is_named(rows):
    X, y = rows
    u = GaussianWindows(X[:3], X[:3])
    with pytest.raises(TypeError, match="kernel must be an RBF for averages under windows"):
        condition(SparseGP(GP(Matern32(), 0.1), u), X, y)
    with pytest.raises(ValueError, match=r"widths must have shape \(3, 2\)"):
        GaussianWindows(X[:3], X[:2])
    with pytest.raises(ValueError, match=r"inputs must have shape \(6, 2\)"):
        u.moved(X[:3])
    with pytest.raises(ValueError, match="Z must have at least one row"):
        GaussianWindows(X[:0], X[:0])
