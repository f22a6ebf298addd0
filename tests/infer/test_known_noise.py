"""Readings whose noise is known one by one, or which are means of several: the exact process."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from gpnotes import (
    GP,
    RBF,
    SVGP,
    ConstantMean,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Matern12,
    Matern32,
    Matern52,
    Poisson,
    SparseGP,
    StateSpaceGP,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
)
from gpnotes.assess.crossval import cross_validate
from gpnotes.assess.variograms import variogram
from gpnotes.draw.paths import sample_paths
from gpnotes.ground.chunks import ChunkError, Chunks
from gpnotes.ground.params import flatten, flatten_gradient
from gpnotes.infer import svgp
from gpnotes.infer.features import BoxSines, FeatureGP, draw_frequencies
from gpnotes.infer.linear import BayesianLinear
from gpnotes.infer.linear_smoother import (
    degrees_of_freedom,
    generalised_cross_validation,
    hat_matrix,
)
from gpnotes.model.means import BasisMean, Powers

DRAW = np.random.default_rng(7)
X = np.sort(DRAW.uniform(0.0, 6.0, (30, 1)), axis=0)
KNOWN = DRAW.uniform(0.01, 0.5, 30)
WEIGHTS = DRAW.integers(1, 6, 30).astype(float)
Y = np.sin(X[:, 0]) + np.sqrt(KNOWN) * DRAW.standard_normal(30)
BOTH = {"noise_var": KNOWN, "weights": WEIGHTS}
XS = np.linspace(-1.0, 7.0, 9)[:, None]
KERNELS = [RBF(1.2, 0.9), Matern52(0.7, 1.1) + RBF(0.5, 3.0)]


def covariance(gp: GP) -> np.ndarray:
    return np.asarray(gp.kernel(X)) + np.diag(gp.noise_var / WEIGHTS + KNOWN)


@pytest.mark.parametrize("kernel", KERNELS)
def test_evidence_and_predictions_are_those_of_the_definition(kernel: Any) -> None:
    gp = GP(kernel, 0.1, ConstantMean(0.3))
    Ky, mean = covariance(gp), np.full(30, 0.3)
    posterior = condition(gp, X, Y, **BOTH)
    wanted = multivariate_normal(mean, Ky).logpdf(Y)
    assert posterior.log_evidence == pytest.approx(wanted, abs=1e-9)
    assert log_evidence(gp, X, Y, **BOTH) == pytest.approx(wanted, abs=1e-9)
    cross = np.asarray(kernel(X, XS))
    moments = posterior.predict(XS, noise=True)
    weights = np.linalg.solve(Ky, cross)
    np.testing.assert_allclose(moments[0], 0.3 + weights.T @ (Y - 0.3), rtol=0, atol=1e-10)
    variance = np.diag(np.asarray(kernel(XS)) - cross.T @ weights) + gp.noise_var
    np.testing.assert_allclose(moments[1], variance, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mean", [ConstantMean(0.3), BasisMean(Powers(1))])
def test_the_gradient_is_that_of_differences(kernel: Any, mean: Any) -> None:
    step = 1e-5
    at = [log_evidence(GP(kernel, s, mean), X, Y, **BOTH) for s in (0.1 - step, 0.1 + step)]
    gp = GP(kernel, 0.1, mean)
    _, bar = log_evidence_and_gradient(gp, X, Y, **BOTH)
    assert bar.noise_var == pytest.approx((at[1] - at[0]) / (2.0 * step), rel=1e-6)
    by_factor = condition(gp, X, Y, **BOTH).evidence_gradient()[0]
    assert by_factor.noise_var == pytest.approx(bar.noise_var, rel=1e-9)


def test_a_mean_of_readings_says_what_they_say() -> None:
    """Three readings at a place, or their mean with weight three."""
    gp, places = GP(RBF(1.2, 0.9), 0.2), X[::3]
    each = np.sin(places) + 0.4 * DRAW.standard_normal((10, 3))
    whole = condition(gp, np.repeat(places, 3, axis=0), each.ravel())
    means = condition(gp, places, each.mean(axis=1), weights=np.full(10, 3.0))
    for one, other in zip(whole.predict(XS), means.predict(XS), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


def test_equal_variances_are_the_noise_of_the_model() -> None:
    split = condition(GP(RBF(), 0.04), X, Y, noise_var=np.full(30, 0.06))
    assert split.log_evidence == pytest.approx(log_evidence(GP(RBF(), 0.1), X, Y), abs=1e-10)


@pytest.mark.parametrize("cut", [1, 12])
@pytest.mark.parametrize("names", [("noise_var",), ("weights",), ("noise_var", "weights")])
def test_readings_that_come_later_bring_their_noise(cut: int, names: tuple[str, ...]) -> None:
    gp = GP(RBF(1.2, 0.9), 0.1)
    noise = {name: BOTH[name] for name in names}
    first, later = ({n: v[some] for n, v in noise.items()} for some in (np.s_[:cut], np.s_[cut:]))
    grown = condition(gp, X[:cut], Y[:cut], **first).extend(X[cut:], Y[cut:], **later)
    at_once = condition(gp, X, Y, **noise)
    assert grown.log_evidence == pytest.approx(at_once.log_evidence, abs=1e-9)
    bars = [p.evidence_gradient()[0].noise_var for p in (grown, at_once)]
    assert bars[0] == pytest.approx(bars[1], rel=1e-9)
    alone = condition(gp, X[:cut], Y[:cut]).extend(X[cut:], Y[cut:], **later)
    ones = {"noise_var": np.zeros(cut), "weights": np.ones(cut)}
    mixed = {n: np.concatenate([ones[n], v]) for n, v in later.items()}
    together = condition(gp, X, Y, **mixed)
    assert alone.log_evidence == pytest.approx(together.log_evidence, abs=1e-9)
    for ours, theirs in zip(alone.reading_noise, together.reading_noise, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    line = GP(Matern32(1.3, 0.8), 0.1)
    grown = condition(StateSpaceGP(line), X[:cut], Y[:cut]).extend(X[cut:], Y[cut:], **later)
    wanted = log_evidence(line, X, Y, **mixed)
    assert grown.log_evidence == pytest.approx(wanted, abs=1e-9)
    assert grown.smoothed.log_evidence == pytest.approx(wanted, abs=1e-9)


def test_leaving_out_leaves_the_noise_of_the_reading() -> None:
    gp = GP(RBF(1.2, 0.9), 0.1)
    left = condition(gp, X, Y, **BOTH).leave_one_out()
    rest = np.arange(30) != 4
    others = condition(gp, X[rest], Y[rest], **{n: v[rest] for n, v in BOTH.items()})
    mean, variance = others.predict(X[4:5])
    assert left.mean[4] == pytest.approx(mean[0], abs=1e-9)
    assert left.variance[4] == pytest.approx(variance[0] + 0.1 / WEIGHTS[4] + KNOWN[4], abs=1e-9)


def test_a_fit_climbs_with_known_variances_alone() -> None:
    """And its evidence is above that of a fit that takes all readings for equally good."""
    rng = np.random.default_rng(3)
    places = np.sort(rng.uniform(0.0, 6.0, (60, 1)), axis=0)
    known = np.where(np.arange(60) % 2, 0.0025, 1.0)
    values = np.sin(places[:, 0]) + np.sqrt(known) * rng.standard_normal(60)
    knowing = fit(GP(RBF(), 0.0), places, values, noise_var=known, fixed=["noise_var"])
    not_knowing = fit(GP(RBF(), 0.3), places, values)
    assert knowing.model.noise_var == 0.0
    assert knowing.log_evidence > not_knowing.log_evidence + 10.0
    assert "noise_var" not in str(knowing.report())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"noise_var": KNOWN[:3]}, r"noise_var must have shape \(30,\); got \(3,\)"),
        ({"noise_var": -KNOWN}, "noise_var must be"),
        ({"noise_var": np.where(KNOWN > 0.1, KNOWN, np.nan)}, "noise_var must be"),
        ({"weights": 0.0 * WEIGHTS}, "weights must be positive"),
        ({"weights": "all"}, "weights must be"),
    ],
)
def test_what_is_no_noise_is_refused(options: dict[str, Any], said: str) -> None:
    for verb in (condition, log_evidence, log_evidence_and_gradient, fit):
        with pytest.raises((ValueError, TypeError), match=said):
            verb(GP(RBF(), 0.1), X, Y, **options)
    first = condition(GP(RBF(), 0.1), X[:1], Y[:1])
    short = {n: v[1:] if len(v) == 30 else v for n, v in options.items()}
    with pytest.raises((ValueError, TypeError), match=said.replace("30", "29")):
        first.extend(X[1:], Y[1:], **short)


LINES = [Matern12(0.7, 1.1), Matern32(1.3, 0.8), Matern52(0.9, 1.7)]
SHUFFLED = np.random.default_rng(2).permutation(30)


@pytest.mark.parametrize("kernel", LINES)
@pytest.mark.parametrize(
    "order", [slice(None), SHUFFLED, slice(29)], ids=["in order", "in any order", "an odd number"]
)
def test_a_line_sees_the_noise_of_each_reading(kernel: Any, order: Any) -> None:
    """Evidence, gradient, predictions and fitted values are those of the exact process."""
    gp = GP(kernel, 0.1, ConstantMean(0.3))
    line, x, y = StateSpaceGP(gp), X[order], Y[order]
    noise = {name: given[order] for name, given in BOTH.items()}
    value, bar = log_evidence_and_gradient(line, x, y, **noise)
    wanted, exact = log_evidence_and_gradient(gp, x, y, **noise)
    assert value == pytest.approx(wanted, abs=1e-9)
    assert flatten_gradient(gp, bar.gp) == pytest.approx(flatten_gradient(gp, exact), rel=1e-7)
    posterior, other = condition(line, x, y, **noise), condition(gp, x, y, **noise)
    assert posterior.log_evidence == pytest.approx(wanted, abs=1e-9)
    for ours, theirs in zip(posterior.predict(XS), other.predict(XS), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(posterior.covariance(XS), other.covariance(XS), rtol=0, atol=1e-9)
    np.testing.assert_allclose(posterior.fitted(), other.mean(x), rtol=0, atol=1e-9)
    drawn = posterior.sample(XS[::3], 3, rng=1)
    assert drawn.shape == (3, 3)


def test_draws_on_a_line_see_the_noise_of_each_reading() -> None:
    """By Matheron's rule: a far more certain reading pulls the draws to it."""
    sure = np.where(np.arange(30) == 11, 1e-8, 1e4)
    posterior = condition(StateSpaceGP(GP(Matern32(), 1e-9)), X, Y, noise_var=sure)
    drawn = posterior.sample(np.concatenate([X[11:12], XS, XS, XS]), 20, rng=3)
    np.testing.assert_allclose(drawn[:, 0], Y[11], rtol=0, atol=1e-2)


def of_differences(model: Any, noise: dict[str, Any]) -> np.ndarray:
    """The gradient of the evidence by the vector of the model's parameters."""
    start, rebuilt = flatten(model)
    steps = 1e-5 * np.eye(start.size)
    ends = [[log_evidence(rebuilt(start + s * d), X, Y, **noise) for s in (1, -1)] for d in steps]
    return (np.asarray(ends) @ [1.0, -1.0]) / 2e-5


@pytest.mark.parametrize("sines", [False, True], ids=["cosines", "sines"])
def test_features_see_the_noise_of_each_reading(sines: bool) -> None:
    gp = GP(RBF(1.2, 0.9), 0.1, ConstantMean(0.3))
    drawn = draw_frequencies(gp.kernel, X, 10, rng=1)
    orders, low, high = np.arange(1.0, 13.0)[:, None], np.asarray([-3.0]), np.asarray([9.0])
    map_ = BoxSines(orders, low, high) if sines else drawn
    model = FeatureGP(gp, map_)
    Phi = np.asarray(map_.features(gp.kernel, X))
    lam = gp.noise_var / WEIGHTS + KNOWN
    wanted = multivariate_normal(np.full(30, 0.3), Phi @ Phi.T + np.diag(lam)).logpdf(Y)
    value, bar = log_evidence_and_gradient(model, X, Y, **BOTH)
    assert value == pytest.approx(wanted, abs=1e-8)
    np.testing.assert_allclose(
        flatten_gradient(model, bar), of_differences(model, BOTH), rtol=1e-5, atol=1e-6
    )
    posterior = condition(model, X, Y, **BOTH)
    seen = np.asarray(map_.features(gp.kernel, XS))
    weights = np.linalg.solve(Phi @ Phi.T + np.diag(lam), Phi @ seen.T)
    mean, variance = posterior.predict(XS)
    np.testing.assert_allclose(mean, 0.3 + weights.T @ (Y - 0.3), rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        variance, np.diag(seen @ seen.T - seen @ Phi.T @ weights), rtol=0, atol=1e-9
    )
    assert fit(model, X, Y, max_steps=20, **BOTH).log_evidence > value
    grown = condition(model, X[:9], Y[:9], **{n: v[:9] for n, v in BOTH.items()})
    grown = grown.extend(X[9:], Y[9:], **{n: v[9:] for n, v in BOTH.items()})
    assert grown.log_evidence == pytest.approx(value, abs=1e-8)


def test_weights_of_a_line_see_the_noise_of_each_reading() -> None:
    model = BayesianLinear(np.asarray([[1.0, 0.2], [0.2, 0.7]]), 0.1)
    Phi, lam = np.concatenate([np.ones_like(X), X], axis=1), 0.1 / WEIGHTS + KNOWN
    value, bar = log_evidence_and_gradient(model, Phi, Y, **BOTH)
    Ky = Phi @ model.prior_cov @ Phi.T + np.diag(lam)
    assert value == pytest.approx(multivariate_normal(np.zeros(30), Ky).logpdf(Y), abs=1e-9)
    posterior = condition(model, Phi, Y, **BOTH)
    wanted = model.prior_cov @ Phi.T @ np.linalg.solve(Ky, Y)
    np.testing.assert_allclose(posterior.weight_mean, wanted, rtol=0, atol=1e-10)
    step = 1e-6
    ends = [
        log_evidence(BayesianLinear(model.prior_cov, 0.1 + s), Phi, Y, **BOTH)
        for s in (step, -step)
    ]
    assert bar.noise_var == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-6)
    ends = [
        log_evidence(BayesianLinear(model.prior_cov + s * np.eye(2), 0.1), Phi, Y, **BOTH)
        for s in (step, -step)
    ]
    by_scale = (ends[0] - ends[1]) / (2.0 * step)
    assert np.trace(bar.prior_cov) == pytest.approx(by_scale, rel=1e-6)


def test_a_variational_process_sees_the_noise_of_each_reading() -> None:
    """Its highest bound, gradient and predictions are those of `SparseGP`."""
    noisy, gp = GP(RBF(1.2, 0.9), 0.1, ConstantMean(0.3)), GP(RBF(1.2, 0.9), 0.0, ConstantMean(0.3))
    model, other = SVGP(gp, Gaussian(0.1), Z), SparseGP(noisy, Z)
    value, bar = log_evidence_and_gradient(model, X, Y, **BOTH)
    wanted, other_bar = log_evidence_and_gradient(other, X, Y, **BOTH)
    assert value == pytest.approx(wanted, abs=1e-8)
    assert log_evidence(model, X, Y, **BOTH) == pytest.approx(wanted, abs=1e-8)
    assert bar.likelihood.variance == pytest.approx(other_bar.gp.noise_var, rel=1e-6)
    assert bar.gp.kernel.variance == pytest.approx(other_bar.gp.kernel.variance, rel=1e-6)
    moments = condition(model, X, Y, **BOTH).predict(XS)
    for ours, theirs in zip(moments, condition(other, X, Y, **BOTH).predict(XS), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8)


@pytest.mark.parametrize("batch", [30, 10])
def test_batches_carry_the_noise_of_their_readings(batch: int) -> None:
    """With hyperparameters held, steps on batches come near the q of all rows."""
    model = SVGP(GP(RBF(1.2, 0.9), 0.0), Gaussian(0.1), Z)
    held = ["gp", "likelihood", "inducing"]
    minibatches = svgp.Minibatches(batch, step_size=0.05)
    options = {"minibatches": minibatches, "max_steps": 300, "rng": 1, "fixed": held}
    found = fit(model, X, Y, **options, **BOTH)
    blind = condition(model, X, Y)
    if batch == 30:
        top = log_evidence(model, X, Y, **BOTH)
        assert found.log_evidence == pytest.approx(top, abs=1e-4)
    wanted = condition(model, X, Y, **BOTH).mean(XS[1:-1])
    miss = np.abs(found.posterior.mean(XS[1:-1]) - wanted).max()
    assert miss < 0.5 * np.abs(blind.mean(XS[1:-1]) - wanted).max()


def test_another_likelihood_has_no_noise_to_divide() -> None:
    model = SVGP(GP(RBF(), 0.0), Poisson(), Z)
    with pytest.raises(TypeError, match="weights must be None: Poisson has no noise of its own"):
        condition(model, X, np.abs(np.round(Y)), weights=WEIGHTS)


@pytest.mark.parametrize("name", ["noise_var", "weights"])
def test_who_cannot_hear_it_says_so(name: str) -> None:
    noise = {name: BOTH[name]}
    labels, sparse = LaplaceGP(GP(RBF(), 0.0), Poisson()), SparseGP(GP(RBF(), 0.1), 5)
    with pytest.raises(TypeError, match=f"{name} must be None: a LaplaceGP takes no noise"):
        fit(labels, X, np.abs(np.round(Y)), **noise)
    with pytest.raises(TypeError, match=f"{name} must be None where X is chunks"):
        condition(sparse, Chunks([(X, Y)]), **noise)
    told = r"a chunk may be Rows\(X, y, noise_var=..., weights=...\), which hold it"
    with pytest.raises(TypeError, match=told):
        fit(sparse, Chunks([(X, Y)]), **noise)
    with pytest.raises(ChunkError, match=rf"what is known of each row.* {told}"):
        condition(SparseGP(GP(RBF(), 0.1), X[:5]), Chunks([(X, Y, BOTH[name])]))


def test_the_estimator_takes_known_variances_as_scikit_learn_takes_alpha() -> None:
    pytest.importorskip("sklearn")
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process import kernels as theirs

    from gpnotes.estimators import GPRegressor

    kernel_of_ours = RBF(1.2, 0.9)
    ours = GPRegressor(kernel_of_ours, noise_var=0.0, mean="zero", optimise=False).fit(X, Y, KNOWN)
    kernel = theirs.ConstantKernel(1.2) * theirs.RBF(0.9)
    others = GaussianProcessRegressor(kernel, alpha=KNOWN, optimizer=None).fit(X, Y)
    wanted = others.predict(XS, return_std=True)
    for one, other in zip(ours.predict(XS, return_std=True), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    by_name = GPRegressor(kernel_of_ours, noise_var=0.0, alpha=KNOWN, mean="zero", optimise=False)
    np.testing.assert_allclose(by_name.fit(X, Y).predict(XS), wanted[0], rtol=0, atol=1e-9)
    halves = GPRegressor(kernel_of_ours, noise_var=0.0, alpha=0.25, mean="zero", optimise=False)
    one = others.set_params(alpha=KNOWN + 0.25).fit(X, Y).predict(XS)
    np.testing.assert_allclose(halves.fit(X, Y, KNOWN).predict(XS), one, rtol=0, atol=1e-9)
    for bad in (-1.0, KNOWN[:4], -KNOWN, "some"):
        with pytest.raises((ValueError, TypeError), match=r"alpha must (be|have shape)"):
            GPRegressor(alpha=bad).fit(X, Y)
    fitted = GPRegressor(noise_var=0.0).fit(X, Y, noise_var=KNOWN.tolist())
    assert fitted.gp_.noise_var == 0.0
    assert fitted.log_evidence_ >= ours.log_evidence_
    with pytest.raises(ValueError, match=r"noise_var must have shape \(30,\)"):
        GPRegressor().fit(X, Y, KNOWN[:4])
    of_few = GPRegressor(inducing=X.shape[0] // 2).fit(X, Y, KNOWN)
    assert of_few.log_evidence_ <= GPRegressor().fit(X, Y, KNOWN).log_evidence_ + 1e-6


def test_the_estimator_takes_means_with_their_counts() -> None:
    pytest.importorskip("sklearn")
    from gpnotes.estimators import GPRegressor

    options = {"noise_var": 0.2, "mean": "zero", "optimise": False}
    ours = GPRegressor(RBF(1.2, 0.9), **options).fit(X, Y, weights=WEIGHTS)
    wanted = condition(GP(RBF(1.2, 0.9), 0.2), X, Y, weights=WEIGHTS)
    np.testing.assert_allclose(ours.predict(XS), wanted.mean(XS), rtol=0, atol=1e-10)
    assert GPRegressor().fit(X, Y, weights=WEIGHTS).log_evidence_ > wanted.log_evidence
    with pytest.raises(ValueError, match="weights must be positive"):
        GPRegressor().fit(X, Y, weights=0.0 * WEIGHTS)


METHODS = ["sor", "dtc", "fitc", "vfe", "tight", "pep", "upper"]
Z = np.linspace(0.2, 5.8, 7)[:, None]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_inducing_points_see_the_noise_of_each_reading(method: Any, kernel: Any) -> None:
    """``log N(y; m, Q + Λ)`` and its correction; gradients are those of differences."""
    gp = GP(kernel, 0.1, ConstantMean(0.3))
    cross = np.asarray(kernel(Z, X))
    Q = cross.T @ np.linalg.solve(np.asarray(kernel(Z)), cross)
    lam, gap = gp.noise_var / WEIGHTS + KNOWN, np.diag(np.asarray(kernel(X))) - np.diag(Q)
    share = {"fitc": 1.0, "pep": 0.5}.get(method, 0.0)
    corrections = {
        "vfe": -0.5 * np.sum(gap / lam),
        "tight": -0.5 * np.sum(np.log1p(gap / lam)),
        "pep": -0.5 * np.sum(np.log1p(0.5 * gap / lam)),
    }
    normal = multivariate_normal(np.full(30, 0.3), Q + np.diag(lam + share * gap))
    wanted = normal.logpdf(Y) + corrections.get(method, 0.0)
    if method == "upper":
        r, more = Y - 0.3, np.diag(lam * (1.0 + np.sum(gap / lam)))
        wanted += 0.5 * r @ (np.linalg.solve(Q + np.diag(lam), r) - np.linalg.solve(Q + more, r))
    model = SparseGP(gp, Z, method)
    value, bar = log_evidence_and_gradient(model, X, Y, **BOTH)
    assert value == pytest.approx(wanted, abs=1e-7)
    step = 1e-5

    def moved(noise_var: float, places: np.ndarray) -> float:
        model = SparseGP(GP(kernel, noise_var, gp.mean), places, method)
        return log_evidence(model, X, Y, **BOTH)

    by_noise = (moved(0.1 + step, Z) - moved(0.1 - step, Z)) / (2.0 * step)
    assert bar.gp.noise_var == pytest.approx(by_noise, rel=1e-5)
    shift = step * np.eye(7)[:, 3:4]
    by_place = (moved(0.1, Z + shift) - moved(0.1, Z - shift)) / (2.0 * step)
    assert bar.inducing[3, 0] == pytest.approx(by_place, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_equal_variances_are_the_noise_of_a_sparse_model(method: Any) -> None:
    """The two ways through the rows, one noise for all and one for each, agree."""
    split = SparseGP(GP(RBF(1.2, 0.9), 0.04), Z, method)
    one = SparseGP(GP(RBF(1.2, 0.9), 0.1), Z, method)
    known = np.full(30, 0.06)
    values = log_evidence_and_gradient(split, X, Y, noise_var=known)
    others = log_evidence_and_gradient(one, X, Y)
    assert values[0] == pytest.approx(others[0], abs=1e-8)
    assert values[1].gp.noise_var == pytest.approx(others[1].gp.noise_var, rel=1e-7)
    assert values[1].gp.kernel.variance == pytest.approx(others[1].gp.kernel.variance, rel=1e-6)
    np.testing.assert_allclose(values[1].inducing, others[1].inducing, rtol=1e-6, atol=1e-8)
    if method == "upper":  # which has no posterior
        return
    moments = condition(split, X, Y, noise_var=known).predict(XS)
    for a, b in zip(moments, condition(one, X, Y).predict(XS), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


def test_the_bound_from_above_is_above_and_the_tighter_with_more_points() -> None:
    gp, below = GP(RBF(1.2, 0.9), 0.1), -np.inf
    exact = log_evidence(gp, X, Y, **BOTH)
    bounds = []
    for size in (4, 7, 15):
        places = np.linspace(0.0, 6.0, size)[:, None]
        model = SparseGP(gp, places, "upper")
        bounds.append(log_evidence(model, X, Y, **BOTH))
        below = max(below, log_evidence(SparseGP(gp, places), X, Y, **BOTH))
    assert below < exact + 1e-7
    assert bounds[0] > bounds[1] > bounds[2] > exact - 1e-7
    assert bounds[2] == pytest.approx(exact, abs=1e-2)


def test_as_many_points_as_readings_leave_nothing_out() -> None:
    gp = GP(Matern52(1.2, 0.9), 0.1)
    sparse = fit(SparseGP(gp, X[::2]), X, Y, max_steps=40, **BOTH)
    assert sparse.log_evidence <= fit(gp, X, Y, **BOTH).log_evidence + 1e-6
    at_all = log_evidence(SparseGP(gp, X), X, Y, **BOTH)
    assert at_all == pytest.approx(log_evidence(gp, X, Y, **BOTH), abs=1e-4)


def test_drawn_functions_see_the_noise_of_each_reading() -> None:
    """Matheron's rule: the draws have the mean and the variance of the posterior."""
    posterior = condition(GP(RBF(1.2, 0.9), 0.1), X, Y, **BOTH)
    drawn = sample_paths(posterior, 4000, rng=1, num_features=600)(XS)
    mean, variance = posterior.predict(XS)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, rtol=0, atol=0.06)
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.12, atol=0.003)
    blind = condition(GP(RBF(1.2, 0.9), 0.1), X, Y, noise_var=10.0 * KNOWN)
    spread = sample_paths(blind, 4000, rng=1, num_features=600)(XS).var(axis=0)
    np.testing.assert_allclose(spread, blind.variance(XS), rtol=0.12, atol=0.003)


@pytest.mark.parametrize(
    "of", [hat_matrix, degrees_of_freedom, generalised_cross_validation], ids=lambda of: of.__name__
)
def test_a_smoother_with_one_noise_does_not_take_many(of: Any) -> None:
    gp = GP(RBF(1.2, 0.9), 0.1)
    of(condition(gp, X, Y))
    with pytest.raises(ValueError, match="posterior must be one whose readings have one noise"):
        of(condition(gp, X, Y, weights=WEIGHTS))


def test_the_hat_matrix_at_other_places_takes_any_noise() -> None:
    posterior = condition(GP(RBF(1.2, 0.9), 0.1), X, Y, **BOTH)
    np.testing.assert_allclose(hat_matrix(posterior, XS) @ Y, posterior.mean(XS), atol=1e-9)


def test_noise_may_be_a_column_of_a_frame() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "error": KNOWN, "times": WEIGHTS})
    gp = GP(RBF(1.2, 0.9), 0.1)
    found = condition(gp, frame, Y, noise_var="error", weights="times")
    wanted = condition(gp, X, Y, **BOTH)
    assert found.columns == ("x",)
    np.testing.assert_array_equal(found.mean(frame), wanted.mean(X))
    one = fit(gp, frame, Y, noise_var="error", weights="times")
    assert one.log_evidence == fit(gp, X, Y, **BOTH).log_evidence
    with pytest.raises(ValueError, match=r"noise_var must be a column of X, one of \['x', 'error'"):
        fit(gp, frame, Y, noise_var="sd")


def test_readings_that_are_a_column_are_no_input() -> None:
    """Of the frame that all verbs are given, whose columns come after that of the readings."""
    frame = pd.DataFrame({"y": Y, "x": X[:, 0], "error": KNOWN})
    gp = GP(RBF(1.2, 0.9).on("x"), 0.1)
    found, wanted = condition(gp, frame, "y", noise_var="error"), condition(gp, frame[["x"]], Y)
    assert found.columns == ("x",)
    np.testing.assert_array_equal(found.y, Y)
    one = fit(gp, frame[["y", "x"]], "y")
    assert one.log_evidence == fit(gp, frame[["x"]], Y).log_evidence
    np.testing.assert_array_equal(
        wanted.log_density(frame[["y", "x"]], "y"), wanted.log_density(X, Y)
    )
    folds = cross_validate(partial(condition, gp), frame[["y", "x"]], "y", 3, rng=1)
    alone = cross_validate(partial(condition, gp), frame[["x"]], Y, 3, rng=1)
    np.testing.assert_allclose(folds.predicted_mean, alone.predicted_mean)
    far = variogram(frame[["y", "x"]], "y").distance
    np.testing.assert_array_equal(far, variogram(X, Y).distance)


def test_the_estimator_takes_columns_too() -> None:
    pytest.importorskip("sklearn")
    from gpnotes.estimators import GPRegressor

    frame = pd.DataFrame({"x": X[:, 0], "error": KNOWN, "times": WEIGHTS})
    named = GPRegressor().fit(frame, Y, noise_var="error", weights="times")
    given = GPRegressor().fit(X, Y, **BOTH)
    assert list(named.feature_names_in_) == ["x"]
    assert named.log_evidence_ == given.log_evidence_
    np.testing.assert_array_equal(named.predict(frame[["x"]]), given.predict(X))
    with pytest.raises(ValueError, match="weights must be a column of X"):
        GPRegressor().fit(frame, Y, weights="often")


@pytest.mark.parametrize("given", [KNOWN, list(KNOWN)])
def test_variances_in_the_place_of_the_one_are_told_where_they_go(given: Any) -> None:
    with pytest.raises(ValueError, match=r"GP\.noise_var must be a float; .* noise_var=\.\.\.\)"):
        GP(RBF(), noise_var=given)


FRAME = pd.DataFrame({"x": X[:, 0], "error": KNOWN, "times": WEIGHTS})
BARS = FRAME[["x", "error"]]
NOISY = GP(RBF(1.2, 0.9), 0.1, ConstantMean(0.3))
BY_READING = {
    "exact": NOISY,
    "vague mean": GP(RBF(1.2, 0.9), 0.1, BasisMean(Powers(1))),
    "sparse": SparseGP(NOISY, X[::4]),
    "features": FeatureGP(NOISY, draw_frequencies(RBF(), X, 24, rng=1)),
    "line": StateSpaceGP(GP(Matern32(1.2, 0.9), 0.1, ConstantMean(0.3))),
    "variational": SVGP(GP(RBF(1.2, 0.9), 0.0, ConstantMean(0.3)), Gaussian(0.1), X[::4]),
    "weights": BayesianLinear(np.eye(1), 0.1),
}


@pytest.mark.parametrize("name", BY_READING)
def test_noise_that_was_a_column_is_taken_again(name: str, tmp_path: Path) -> None:
    model, columns = BY_READING[name], {"noise_var": "error", "weights": "times"}
    found = condition(model, FRAME, Y, **columns)
    save(found, tmp_path / "posterior")
    noise = 0.1 / WEIGHTS + KNOWN
    for known in (found, load(tmp_path / "posterior")):
        mean, variance = known.predict(X)
        total = variance + noise
        moments = known.predict(FRAME[["times", "error", "x"]], noise=True)
        np.testing.assert_allclose(moments, [mean, total], rtol=1e-12)
        np.testing.assert_allclose(known.variance(FRAME, noise=True), total, rtol=1e-12)
        np.testing.assert_allclose(known.predict(X, noise=True, **BOTH), moments, rtol=1e-12)
        covariance = known.covariance(FRAME, noise=True) - known.covariance(X)
        np.testing.assert_allclose(covariance, np.diag(noise), atol=1e-12)
        joint = known.joint(FRAME, noise=True)
        np.testing.assert_allclose(np.diag(joint.covariance), total, rtol=1e-9)
        density = -0.5 * ((Y - mean) ** 2 / total + np.log(2.0 * np.pi * total))
        np.testing.assert_allclose(known.log_density(FRAME, Y), density, rtol=1e-10)
        drawn = known.sample(FRAME, 4000, noise=True, rng=1)
        np.testing.assert_allclose(np.var(drawn, axis=0) / total, 1.0, atol=0.2)


@pytest.mark.parametrize("name", BY_READING)
def test_noise_that_was_a_column_is_missed_by_its_name_where_y_is_asked_for(name: str) -> None:
    found = condition(BY_READING[name], BARS, Y, noise_var="error")
    wanted = r"noise_var must be given to `{}`: that of the data was the column 'error'"
    for Xs in (X, FRAME[["x"]]):
        for ask in ("predict", "variance", "covariance", "joint"):
            getattr(found, ask)(Xs)  # f has no noise
            with pytest.raises(ValueError, match=wanted.format(ask)):
                getattr(found, ask)(Xs, noise=True)
        with pytest.raises(ValueError, match=wanted.format("sample")):
            found.sample(Xs, noise=True, rng=1)
        with pytest.raises(ValueError, match=wanted.format("log_density")):
            found.log_density(Xs, Y)
        if hasattr(found, "extend"):
            with pytest.raises(ValueError, match=wanted.format("extend")):
                found.extend(Xs, Y)
    model_alone = found.predict(X, noise=True, noise_var=np.zeros(30))[1]
    np.testing.assert_allclose(model_alone, found.variance(X) + 0.1, rtol=1e-12)
    with pytest.raises(ValueError, match="noise_var must be None unless noise=True"):
        found.predict(FRAME, noise_var="error")


@pytest.mark.parametrize("name", ["exact", "features", "line"])
def test_an_extension_takes_the_column_again_and_knows_it(name: str) -> None:
    found = condition(BY_READING[name], BARS[:20], Y[:20], noise_var="error")
    grown = found.extend(FRAME[20:], Y[20:]).extend(FRAME[:0], Y[:0])
    whole = condition(BY_READING[name], BARS, Y, noise_var="error")
    for ask in (lambda p: p.predict(FRAME, noise=True), lambda p: p.log_density(FRAME, Y)):
        np.testing.assert_allclose(ask(grown), ask(whole), rtol=1e-6)


def test_weights_do_not_go_on_without_what_is_known_of_the_noise() -> None:
    found = condition(BY_READING["weights"], BARS, Y, noise_var="error")
    with pytest.raises(TypeError, match=r"WeightPosterior\.update: it knows the noise of each"):
        found.update(FRAME, Y)


@pytest.mark.parametrize(
    "of", [HeteroscedasticGP(NOISY, RBF(0.5, 2.0)), LaplaceGP(GP(RBF(), 0.0), Poisson())]
)
def test_a_model_that_takes_no_noise_of_each_reading_refuses_it_of_a_prediction(of: Any) -> None:
    found = condition(of, X, np.round(np.abs(Y)))
    for ask in ("predict", "sample"):
        with pytest.raises(TypeError, match=f"Posterior.{ask}"):
            getattr(found, ask)(
                XS, noise=True, noise_var=KNOWN[:9], **({"rng": 1} if ask == "sample" else {})
            )


def test_a_fit_and_its_file_know_the_column(tmp_path: Path) -> None:
    found = fit(GP(RBF()), BARS, Y, noise_var="error", max_steps=5)
    save(found, tmp_path / "fit")
    assert "kernel.lengthscale (x)" in str(found)
    for posterior in (found.posterior, load(tmp_path / "fit").posterior):
        assert posterior.known_columns == (("noise_var", "error"),)
        noise = posterior.variance(FRAME, noise=True) - posterior.variance(X)
        np.testing.assert_allclose(noise, found.model.noise_var + KNOWN, rtol=1e-9)
