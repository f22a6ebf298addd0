"""Inducing variables: their covariances by another route, and regression through them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Matern32,
    SparseGP,
    condition,
    log_evidence,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.interdomain import (
    GaussianWindows,
    Harmonics,
    InducingPoints,
    WeightedPoints,
    harmonics_within,
    leading_harmonics,
)
from gpnotes.model.kernels import CircularArcCosine, CircularMatern12, CircularMatern32, CircularRBF
from gpnotes.testing import check_inducing_variables, check_posterior, gradcheck

METHODS = ("sor", "dtc", "fitc", "vfe", "pep", "tight", "upper")
NOISE_VAR = 0.1


@pytest.fixture
def rows(rng):
    """Angles of more than a turn, and what is measured there."""
    X = rng.uniform(-4.0, 4.0, size=(23, 1))
    return X, np.sin(X[:, 0]) + 0.3 * np.cos(5.0 * X[:, 0]) + 0.1 * rng.normal(size=23)


def some_variables(asarray):
    """Each kind, with a kernel that goes with it."""
    Z = asarray([[-2.0], [-0.5], [0.4], [2.5]])
    W = asarray([[1.0, -1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    return {
        "points": (InducingPoints(Z), Matern32(1.3, asarray([0.8]))),
        "weighted": (WeightedPoints(Z, W), CircularMatern32(1.3, 0.8)),
        "weighted, in place": (WeightedPoints(Z, W), RBF(1.3, 0.8)),
        "windows": (GaussianWindows(Z, asarray([[0.5], [-1.0], [0.2], [0.7]])), RBF(1.3, 0.8)),
        "harmonics": (Harmonics(asarray([0.0, 1.0, 2.0, 5.0])), CircularRBF(1.3, 0.8)),
        "no mean": (Harmonics(asarray([1.0, 3.0])), CircularMatern32(1.3, 0.8)),
        "kinks": (Harmonics(asarray([0.0, 1.0, 3.0])), CircularArcCosine(1.3)),
    }


@pytest.mark.parametrize("kind", some_variables(np.asarray))
def test_they_keep_the_contract(space, rng, kind):
    """K_uf and K_uu by quadrature, the joint covariance, both pullbacks by differences."""
    variables, kernel = some_variables(space.asarray)[kind]
    X = space.asarray(rng.uniform(-4.0, 4.0, size=(5, 1)))
    # angles off the nodes of the rule: where a kernel has kinks its error is 1/nodes²
    check_inducing_variables(variables, kernel, X, rtol=1e-3 if kind == "kinks" else 1e-6)


@pytest.mark.parametrize(
    "kind", ["weighted", "weighted, in place", "windows", "harmonics", "kinks"]
)
@pytest.mark.parametrize("method", METHODS)
def test_the_evidence_is_that_of_dense_algebra(space, rows, kind, method):
    """Q = K_fu K_uu⁻¹ K_uf as a matrix."""
    X, y = rows
    variables, kernel = some_variables(np.asarray)[kind]
    K_uf = variables.cross(kernel, X)
    Q = K_uf.T @ np.linalg.solve(variables.gram(kernel), K_uf)
    gap, s = kernel.diag(X) - np.diag(Q), NOISE_VAR
    share = {"fitc": 1.0, "pep": 0.3}.get(method, 0.0)
    K_y = Q + np.diag(s + share * gap)
    r = y - 0.5
    quadratic = r @ np.linalg.solve(K_y, r)
    if method == "upper":
        quadratic = r @ np.linalg.solve(Q + (s + gap.sum()) * np.eye(23), r)
    wanted = -0.5 * (23 * math.log(2.0 * math.pi) + np.linalg.slogdet(K_y)[1] + quadratic)
    wanted += {
        "vfe": -gap.sum() / (2.0 * s),
        "tight": -0.5 * np.log1p(gap / s).sum(),
        "pep": -(0.7 / 0.6) * np.log1p(0.3 * gap / s).sum(),
    }.get(method, 0.0)
    there, _ = some_variables(space.asarray)[kind]
    gp = GP(kernel, s, ConstantMean(0.5))
    ours = log_evidence(SparseGP(gp, there, method, power=0.3), space.asarray(X), space.asarray(y))
    assert ours == pytest.approx(wanted, rel=1e-9 if space.double else 2e-3)


def bars(gp, Z, X, y, **method):
    """The derivatives by the process and by the inputs of Z, as `gradcheck` takes them."""
    model_bar = log_evidence_and_gradient(SparseGP(gp, Z, **method), X, y)[1]
    return model_bar.gp, model_bar.inducing


@pytest.mark.parametrize(
    "kind", ["points", "weighted", "weighted, in place", "windows", "harmonics"]
)
@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_of_sparse_regression_agrees_with_differences(rows, kind, method):
    X, y = rows
    variables, kernel = some_variables(np.asarray)[kind]
    at = variables.moved
    gradcheck(
        lambda gp, Z: log_evidence(SparseGP(gp, at(Z), method), X, y),
        lambda gp, Z, bar: bars(gp, at(Z), X, y, method=method),
        GP(kernel, NOISE_VAR, ConstantMean(0.5)),
        variables.inputs,
        names=("gp", "inputs"),
    )


@pytest.mark.parametrize("kernel", [RBF(1.3, 0.8), Matern32(1.3, 0.8) + RBF(0.2)])
def test_points_as_variables_are_points(space, rows, kernel):
    X, y = (space.asarray(a) for a in rows)
    gp, Z = GP(kernel, NOISE_VAR), X[:5, :]
    pair = [log_evidence_and_gradient(SparseGP(gp, z), X, y) for z in (Z, InducingPoints(Z))]
    assert pair[0][0] == pair[1][0]
    np.testing.assert_array_equal(*(to_numpy(bar.inducing) for _, bar in pair))
    np.testing.assert_array_equal(*(flatten_gradient(gp, bar.gp) for _, bar in pair))


@pytest.mark.parametrize("kind", ["weighted", "windows", "harmonics"])
def test_the_views_of_the_posterior_agree(space, rows, kind):
    X, y = (space.asarray(a) for a in rows)
    variables, kernel = some_variables(space.asarray)[kind]
    posterior = condition(SparseGP(GP(kernel, NOISE_VAR, ConstantMean(0.5)), variables), X, y)
    check_posterior(posterior, X[:4, :])
    u = posterior.inducing_values()
    assert space.holds(u.mean)
    assert u.mean.shape == (variables.size,)


def test_what_is_known_of_the_variables_is_what_they_are_of_the_posterior(rows):
    """E[u | y] is L of the posterior mean, and so is its covariance, by the trapezoidal rule."""
    X, y = rows
    variables, kernel = some_variables(np.asarray)["harmonics"]
    posterior = condition(SparseGP(GP(kernel, NOISE_VAR, ConstantMean(0.5)), variables), X, y)
    u = posterior.inducing_values()
    np.testing.assert_allclose(u.mean, variables.apply(posterior.mean), atol=1e-10)
    angles = 2.0 * math.pi / 256 * np.arange(256)[:, None]
    covariance = posterior.covariance(angles)
    once = [variables.apply(lambda _, j=j: covariance[:, j]) for j in range(256)]
    twice = [variables.apply(lambda _, m=m: np.stack(once)[:, m]) for m in range(variables.size)]
    np.testing.assert_allclose(u.covariance, np.stack(twice), atol=1e-10)


@pytest.mark.parametrize("kernel", [CircularRBF(1.3, 0.4), CircularMatern12(1.3, 0.8)])
def test_with_more_harmonics_it_becomes_the_exact_process(rows, kernel):
    X, y = rows
    gp = GP(kernel, NOISE_VAR)
    exact, angles = condition(gp, X, y), np.linspace(-3.0, 3.0, 9)[:, None]
    gaps, errors = [], []
    for n in (2, 4, 8, 16, 32, 64, 128):
        harmonics = leading_harmonics(kernel, X, n)
        posterior = condition(SparseGP(gp, harmonics), X, y)
        gaps.append(exact.log_evidence - posterior.log_evidence)
        errors.append(np.max(np.abs(posterior.mean(angles) - exact.mean(angles))))
        upper = log_evidence(SparseGP(gp, harmonics, "upper"), X, y)
        assert upper > exact.log_evidence - 1e-6
    assert min(gaps) > -1e-6
    assert np.all(np.diff(gaps) <= 1e-9), "each adds to those before it"
    if isinstance(kernel, CircularRBF):
        assert abs(gaps[4]) < 1e-7
        assert errors[4] < 1e-7
    else:  # what is left of the variance falls with 1/n
        assert gaps[-1] < 0.1 * gaps[2]
        assert errors[-1] < 0.1 * errors[1]


def test_what_harmonics_leave_of_the_variance_is_the_same_everywhere(space, rows):
    X = space.asarray(rows[0])
    kernel = CircularMatern32(1.3, 0.8)
    harmonics = leading_harmonics(kernel, X, 5)
    assert space.holds(harmonics.orders)
    K_uf = to_numpy(harmonics.cross(kernel, X)).astype(float)
    K_uu = to_numpy(harmonics.gram(kernel)).astype(float)
    gap = 1.3 - np.sum(K_uf * np.linalg.solve(K_uu, K_uf), axis=0)
    close = 1e-12 if space.double else 1e-5
    np.testing.assert_allclose(gap, harmonics.lost(kernel), atol=close)


@pytest.mark.parametrize("share", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("kernel", [CircularRBF(2.0, 0.3), CircularMatern32(2.0, 0.8)])
def test_a_truncation_takes_no_more_harmonics_than_it_needs(kernel, share):
    found = harmonics_within(kernel, np.zeros((1, 1)), share)
    assert found.lost(kernel) <= 2.0 * share * (1.0 + 1e-9)
    assert Harmonics(found.orders[:-1]).lost(kernel) > 2.0 * share


def test_even_harmonics_of_the_arc_cosine_kernel_are_left_out():
    kernel, X = CircularArcCosine(), np.zeros((1, 1))
    np.testing.assert_array_equal(leading_harmonics(kernel, X, 5).orders, [0, 1, 3, 5, 7])
    assert leading_harmonics(CircularRBF(1.0, 3.0), X, 50).orders.size < 10
    with pytest.raises(ValueError, match="share must be one that 16384 harmonics"):
        harmonics_within(kernel, X, 1e-7)


def test_a_harmonic_that_f_does_not_have_costs_a_jitter_and_changes_nothing(rows):
    X, y = rows
    gp = GP(CircularArcCosine(1.3), NOISE_VAR)
    with pytest.warns(JitterWarning, match="K_uu of CircularArcCosine"):
        more = log_evidence(SparseGP(gp, Harmonics(np.asarray([0.0, 1.0, 2.0, 3.0]))), X, y)
    less = log_evidence(SparseGP(gp, Harmonics(np.asarray([0.0, 1.0, 3.0]))), X, y)
    assert more == pytest.approx(less, rel=1e-9)


def test_a_kernel_that_is_not_of_the_circle_is_refused(rows):
    X, y = rows
    with pytest.raises(TypeError, match="kernel must be a kernel on the circle"):
        log_evidence(SparseGP(GP(RBF(), 0.1), Harmonics(np.asarray([0.0, 1.0]))), X, y)
    assert log_evidence(GP(CircularRBF(), 0.1), X, y) < 0.0


class _Wrong(InducingPoints):
    """Points, but for one method."""


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        ("gram", lambda self, kernel: 2.0 * kernel(self.Z), "K_uu and what apply makes of K_uf"),
        ("gram", lambda self, kernel: 0.1 * kernel(self.Z), "the covariance of u and f"),
        ("gram", lambda self, kernel: kernel(self.Z)[:1, :], "K_uu"),
        ("gram", lambda self, kernel: kernel(self.Z, 1.1 * self.Z), "K_uu is not symmetric"),
        ("cross", lambda self, kernel, X: 0.9 * kernel(self.Z, X), "K_uf and what apply makes"),
        ("apply", lambda self, function, kernel: 1.1 * function(self.Z),
         "K_uf and what apply makes"),
        ("gram_pullback", lambda self, kernel, bar: (kernel.pullback(self.Z, None, bar)[0], self.Z),
         "inputs.*gram_pullback says"),
        ("cross_pullback", lambda self, kernel, X, bar: (kernel.pullback(self.Z, X, 2.0 * bar)[:2]),
         "kernel.*cross_pullback says"),
    ],
)  # fmt: skip
def test_the_check_finds_variables_that_are_wrong(monkeypatch, name, method, message):
    X = np.asarray([[0.0], [0.5], [2.0]])
    variables = _Wrong(X[:2] + 0.1)
    check_inducing_variables(variables, RBF(), X)
    monkeypatch.setattr(_Wrong, name, method)
    with pytest.raises(AssertionError, match=message):
        check_inducing_variables(variables, RBF(), X)


def test_what_is_applied_to_gives_a_value_for_each_point(space):
    """A column would broadcast on the way."""
    Z = space.asarray([[0.0], [0.5], [2.0]])
    for variables in (InducingPoints(Z), WeightedPoints(Z, space.asarray(np.eye(3)[:2]))):
        assert space.holds(variables.apply(lambda x: x[:, 0]))
        with pytest.raises(ValueError, match=r"function\(Z\) must have shape \(3,\); got \(3, 1\)"):
            variables.apply(lambda x: x)
        with pytest.raises(TypeError, match=r"function\(Z\) must be an array; got float"):
            variables.apply(lambda x: 1.0)
