"""Fits by inducing points: a bound that rises, against the exact fit, and what stays fixed."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    SparseGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
)
from gpnotes.ground.linalg import JitterWarning
from gpnotes.infer import interdomain
from gpnotes.model.kernels import CircularRBF
from gpnotes.model.means import ConstantOfValues

N = 60


@pytest.fixture
def readings(rng):
    """Inputs, readings of a wave with noise, and a process to start from."""
    X = 6.0 * rng.random((N, 1))
    y = np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(N)
    return X, y, GP(RBF(1.0, 1.0), 0.1)


@pytest.mark.parametrize("method", ["sor", "dtc", "fitc", "vfe", "pep", "tight"])
def test_no_fit_is_worse_than_its_start(readings, method):
    X, y, gp = readings
    found = fit(SparseGP(gp, X[:6], method), X, y, max_steps=15)
    assert found.log_evidence > log_evidence(SparseGP(gp, X[:6], method), X, y)
    again = log_evidence(SparseGP(found.model.gp, found.model.inducing, method), X, y)
    np.testing.assert_allclose(found.log_evidence, again, rtol=1e-8)


def test_at_the_top_no_direction_leads_uphill(readings):
    X, y, gp = readings
    found = fit(SparseGP(gp, X[:5]), X, y, max_steps=400)
    _, model_bar = log_evidence_and_gradient(SparseGP(found.model.gp, found.model.inducing), X, y)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    assert found.runs[0].converged
    assert abs(gp_bar.noise_var * found.model.gp.noise_var) < 0.05
    assert np.max(np.abs(Z_bar)) < 0.05


def test_with_points_enough_the_exact_fit_comes_back(readings):
    X, y, gp = readings
    exact = fit(gp, X, y)
    found = fit(SparseGP(gp, np.linspace(0.0, 6.0, 20)[:, None]), X, y, fixed=("inducing",))
    np.testing.assert_allclose(found.log_evidence, exact.log_evidence, atol=0.01)
    np.testing.assert_allclose(found.model.gp.noise_var, exact.model.noise_var, rtol=0.01)


def test_what_is_fixed_stays(readings):
    X, y, gp = readings
    still = fit(SparseGP(gp, X[:5]), X, y, fixed=("inducing", "gp.noise_var"), max_steps=5)
    np.testing.assert_array_equal(still.model.inducing, X[:5])
    assert still.model.gp.noise_var == gp.noise_var
    assert still.model.gp.kernel != gp.kernel
    moved = fit(SparseGP(gp, X[:5]), X, y, fixed=("gp.kernel", "gp.noise_var"), max_steps=5)
    assert moved.model.gp == gp
    assert np.max(np.abs(moved.model.inducing - X[:5])) > 0.01
    nothing = fit(SparseGP(gp, X[:5]), X, y, fixed=("gp.kernel", "gp.noise_var", "inducing"))
    assert (nothing.runs[0].evaluations, nothing.runs[0].converged) == (1, True)


def test_a_bound_is_kept_and_named(readings):
    X, y, gp = readings
    found = fit(SparseGP(gp, X[:8]), X, y, bounds={"gp.noise_var": (0.5, 1.0)})
    np.testing.assert_allclose(found.model.gp.noise_var, 0.5)
    assert found.runs[0].at_bounds == ("gp.noise_var",)


def test_units_of_the_inputs_do_not_matter(readings):
    X, y, gp = readings
    start = np.linspace(0.5, 5.5, 6)[:, None]
    small = GP(RBF(1.0, 1e-3), 0.1)
    here = fit(SparseGP(gp, start), X, y)
    there = fit(SparseGP(small, 1e-3 * start), 1e-3 * X, y)
    np.testing.assert_allclose(there.log_evidence, here.log_evidence, rtol=1e-4)


def test_other_variables_keep_their_kind(rng):
    X = 2.0 * np.pi * rng.random((N, 1))
    y = np.cos(X[:, 0]) + 0.1 * rng.standard_normal(N) + 2.0
    gp = GP(CircularRBF(), 0.1, ConstantMean(1.0))
    waves = interdomain.Harmonics(np.asarray([0.0, 1.0, 2.0, 3.0]))
    found = fit(SparseGP(gp, waves), X, y, max_steps=20)
    np.testing.assert_array_equal(found.model.inducing.orders, waves.orders)
    assert found.log_evidence > log_evidence(SparseGP(gp, waves), X, y)


def test_points_that_coincide_warn_with_the_posterior_and_not_at_each_step(readings):
    X, y, gp = readings
    twice = np.concatenate([X[:4], X[:4]])
    found = fit(SparseGP(gp, twice), X, y, fixed=("inducing",), max_steps=5)
    with pytest.warns(JitterWarning) as heard:
        assert found.posterior is found.posterior
    assert len(heard) == 1


def test_a_bound_from_above_is_not_raised(readings):
    X, y, gp = readings
    with pytest.raises(ValueError, match="method must not be 'upper'"):
        fit(SparseGP(gp, X[:4], "upper"), X, y)
    with pytest.raises(TypeError, match="fixed must be a collection"):
        fit(SparseGP(gp, X[:4]), X, y, fixed="inducing")


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_the_same_in_each_namespace(seed):
    strict = pytest.importorskip("array_api_strict")
    draw = stream(seed)
    X = np.asarray(draw.uniform((30, 2)))
    y = np.sin(5.0 * X[:, 0])
    gp = GP(RBF(1.0, 0.5), 0.05)
    ours = fit(SparseGP(gp, X[:5]), X, y, max_steps=8)
    Z, X, y = (strict.asarray(a) for a in (X[:5], X, y))
    theirs = fit(SparseGP(gp, Z), X, y, max_steps=8)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence, rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "said"), [("vfe", "a lower bound"), ("tight", "a lower"), ("fitc", "an approx")]
)
def test_a_model_says_what_a_fit_maximises(readings, method, said):
    X, _, gp = readings
    words = SparseGP(gp, X[:7], method).stands_for
    assert words.startswith(f"by 7 inducing variables, {method!r}: {said}")


def test_of_sums_of_waves_value_and_fit_are_those_of_the_rows(readings):
    X, y, _ = readings
    u, gp = interdomain.Harmonics(np.asarray([0.0, 1.0, 2.0])), GP(CircularRBF(1.3, 0.8), 0.3)
    sums = interdomain.wave_sums(u, X, y)
    assert log_evidence(SparseGP(gp, u), sums) == pytest.approx(log_evidence(SparseGP(gp, u), X, y))
    found, wanted = (fit(SparseGP(gp, u), *data, max_steps=4) for data in ((sums,), (X, y)))
    assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-9)
    for mean in (ConstantMean(0.2), ConstantOfValues(0.0)):
        model = SparseGP(GP(gp.kernel, 0.3, mean), u)
        if isinstance(mean, ConstantMean):
            assert log_evidence(model, sums) == pytest.approx(log_evidence(model, X, y))
            continue
        with pytest.raises(TypeError, match=r"gp\.mean must be a ZeroMean or a ConstantMean"):
            log_evidence(model, sums)
    with pytest.raises(ValueError, match="method must be 'sor', 'dtc', 'vfe' or 'upper'"):
        log_evidence(SparseGP(gp, u, "fitc"), sums)
    with pytest.raises(ValueError, match="orders up to 2, a turn from"):
        log_evidence(SparseGP(gp, interdomain.Harmonics(np.asarray([3.0]))), sums)
    with pytest.raises(TypeError, match=r"model\.inducing must be a gpnotes WaveVariables"):
        log_evidence(SparseGP(GP(RBF(), 0.1), X[:2]), sums)


def test_a_bound_from_above_has_a_value_and_no_posterior(readings):
    X, y, gp = readings
    above, below = (log_evidence(SparseGP(gp, X[:6], name), X, y) for name in ("upper", "vfe"))
    assert below <= log_evidence(gp, X, y) <= above
    with pytest.raises(ValueError, match="method must have a posterior; 'upper' is only a bound"):
        condition(SparseGP(gp, X[:6], "upper"), X, y)


def test_nobody_writes_into_the_inducing_inputs_of_a_model_or_posterior():
    """Predictions changed silently, and in part: the factor stayed that of the inputs before."""
    Z = np.asarray([[0.0], [1.0]])
    model = SparseGP(GP(RBF(), 0.1), Z)
    posterior = condition(model, Z, np.ones(2))
    for held in (model.inducing, posterior.Z):
        with pytest.raises(ValueError, match="read-only"):
            held[0, 0] = 5.0
    Z[0, 0] = 5.0  # the caller's own stays writable, and changes nothing
    assert posterior.Z[0, 0] == 0.0
