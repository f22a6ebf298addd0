"""What is added to the latent f of each reading, such as the logarithm of an exposure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Bernoulli,
    ConstantMean,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Poisson,
    RobustMax,
    SparseGP,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
    to_numpy,
)
from gpnotes.ground.chunks import Chunks
from gpnotes.ground.linalg import RoundingWarning
from gpnotes.infer.laplace import EPGP
from gpnotes.infer.objective import objective_of
from gpnotes.infer.svgp import Minibatches
from gpnotes.model.likelihoods import NegativeBinomial
from gpnotes.testing import gradcheck

DRAW = np.random.default_rng(12)
X = np.sort(DRAW.uniform(18.0, 80.0, (25, 1)), axis=0)
YEARS = DRAW.uniform(0.5, 40.0, 25)
OFFSET = np.log(YEARS)
Y = DRAW.poisson(YEARS * np.exp(-2.0 + np.sin(X[:, 0] / 12.0))).astype(float)
XS = np.linspace(20.0, 75.0, 7)[:, None]
COUNTED = LaplaceGP(GP(RBF(0.8, 9.0), 0.0, ConstantMean(-2.0)), Poisson())
LABELS = EPGP(GP(RBF(0.8, 9.0), 0.0, ConstantMean(-2.0)))
SIGNS = np.sign(Y - 2.5)
SPARSE = SVGP(COUNTED.gp, Poisson(), X[::3])
CASES = [(COUNTED, Y), (LABELS, SIGNS), (SPARSE, Y), (SVGP(COUNTED.gp, Bernoulli(), X[::3]), SIGNS)]


@dataclass(frozen=True)
class Exposed:
    """The mean that knows the offset of each input, as it was written before there was `offset`."""

    level: float

    def __call__(self, X: Any) -> Any:
        return self.level + np.interp(X[:, 0], _INPUTS, OFFSET)


_INPUTS = X[:, 0]


def detour(model: Any) -> Any:
    return replace(model, gp=GP(model.gp.kernel, 0.0, Exposed(-2.0)))


@pytest.mark.parametrize(("model", "y"), CASES)
def test_an_offset_is_a_mean_that_knows_it_and_f_is_without_it(model: Any, y: Any) -> None:
    one, other = condition(model, X, y, offset=OFFSET), condition(detour(model), X, y)
    value = log_evidence(model, X, y, offset=OFFSET)
    np.testing.assert_allclose(value, log_evidence(detour(model), X, y), rtol=1e-8)
    assert getattr(one, "log_evidence", value) == value
    assert abs(log_evidence(model, X, y) - value) > 0.1
    shift = np.interp(XS[:, 0], _INPUTS, OFFSET)
    np.testing.assert_allclose(one.mean(XS), other.mean(XS) - shift, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.variance(XS), other.variance(XS), rtol=1e-6)
    _same_predictions(one, other, shift, model.likelihood)


def _same_predictions(one: Any, other: Any, shift: Any, likelihood: Any) -> None:
    """What is said of new inputs with an offset is what is said by the mean that knows it."""
    ours = one.predict(XS, offset=shift, noise=True), one.predict(XS, offset=shift)
    for found, wanted in zip(ours, (other.predict(XS, noise=True), other.predict(XS)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    for noise in (False, True):
        mean, variance = one.predict(XS, offset=shift, noise=noise)
        np.testing.assert_array_equal(one.mean(XS, offset=shift, noise=noise), mean)
        np.testing.assert_array_equal(one.variance(XS, offset=shift, noise=noise), variance)
    new = np.ones(len(XS))
    density = one.log_density(XS, new, offset=shift)
    np.testing.assert_allclose(density, other.log_density(XS, new), rtol=1e-5)
    if isinstance(likelihood, Bernoulli):
        chance = one.probability(XS, offset=shift)
        np.testing.assert_allclose(chance, other.probability(XS), rtol=1e-5)


def test_the_mode_is_that_of_f_alone() -> None:
    posterior = condition(COUNTED, X, Y, offset=OFFSET)
    np.testing.assert_allclose(posterior.mode, posterior.mean(X), rtol=1e-7)
    slope = Y - np.exp(posterior.mode + OFFSET)
    np.testing.assert_allclose(posterior.gradient, slope, rtol=1e-9, atol=1e-12)


def test_a_constant_offset_is_a_constant_mean_less() -> None:
    lower = LaplaceGP(GP(RBF(0.8, 9.0), 0.0, ConstantMean(-3.5)), NegativeBinomial(0.3))
    higher = LaplaceGP(GP(RBF(0.8, 9.0), 0.0, ConstantMean(-2.0)), NegativeBinomial(0.3))
    shifted = condition(lower, X, Y, offset=np.full(25, 1.5))
    np.testing.assert_allclose(shifted.log_evidence, condition(higher, X, Y).log_evidence)
    np.testing.assert_allclose(shifted.mean(XS) + 1.5, condition(higher, X, Y).mean(XS))


def test_all_namespaces_agree(space: Any) -> None:
    given = {name: space.asarray(a) for name, a in (("X", X), ("y", Y), ("offset", OFFSET))}
    posterior = condition(COUNTED, **given)
    assert space.holds(posterior.mode)
    close = {"rtol": 1e-9} if space.double else {"rtol": 3e-3, "atol": 3e-3}
    wanted = condition(COUNTED, X, Y, offset=OFFSET)
    np.testing.assert_allclose(
        to_numpy(posterior.mean(space.asarray(XS))), wanted.mean(XS), **close
    )
    np.testing.assert_allclose(posterior.log_evidence, wanted.log_evidence, **close)


@pytest.mark.parametrize(("model", "y"), CASES)
def test_gradients_are_those_of_differences(model: Any, y: Any) -> None:
    def process(kernel: Any, mean: Any) -> Any:
        return replace(model, gp=GP(kernel, 0.0, mean))

    def value(kernel: Any, mean: Any) -> float:
        return log_evidence(process(kernel, mean), X, y, offset=OFFSET)

    def pullback(kernel: Any, mean: Any, bar: float) -> Any:
        assert bar == 1.0
        there, found = log_evidence_and_gradient(process(kernel, mean), X, y, offset=OFFSET)
        assert there == pytest.approx(value(kernel, mean))
        return found.gp.kernel, found.gp.mean

    # the sites of EP settle to the root of the precision, so that differences are rougher
    rtol = 1e-6 if isinstance(model, LaplaceGP) else 1e-4
    gradcheck(value, pullback, model.gp.kernel, model.gp.mean, rtol=rtol)


def test_the_noise_of_a_variational_process_is_fitted_beside_an_offset() -> None:
    y = 1.0 + np.sin(X[:, 0] / 9.0) + OFFSET
    for known in (None, np.full(25, 0.2)):
        found, plain = (
            log_evidence_and_gradient(SVGP(GP(RBF(), 0.0), Gaussian(0.3), X[::3]), X, readings,
                                      noise_var=known, offset=offset)
            for readings, offset in ((y, OFFSET), (y - OFFSET, None))
        )  # fmt: skip
        np.testing.assert_allclose(found[0], plain[0], rtol=1e-9)
        np.testing.assert_allclose(found[1].likelihood.variance, plain[1].likelihood.variance)
        np.testing.assert_allclose(found[1].gp.kernel.lengthscale, plain[1].gp.kernel.lengthscale)


@pytest.mark.parametrize("model", [COUNTED, SPARSE])
def test_a_fit_finds_the_rate_for_each_unit_of_exposure(model: Any) -> None:
    found = fit(model, X, Y, offset=OFFSET)
    assert found.log_evidence > log_evidence(model, X, Y, offset=OFFSET)
    again = condition(found.model, X, Y, offset=OFFSET)
    np.testing.assert_allclose(found.posterior.mean(XS), again.mean(XS))
    expected = float(np.sum(found.posterior.mean(X, offset=OFFSET, noise=True)))
    assert 0.8 < expected / float(np.sum(Y)) < 1.2


def test_batches_have_their_own_offsets() -> None:
    whole = fit(SPARSE, X, Y, offset=OFFSET, minibatches=Minibatches(25), max_steps=4, rng=0,
                fixed=["inducing"])  # fmt: skip
    q = condition(SPARSE, X, Y, offset=OFFSET)
    found = fit(SPARSE, X, Y, offset=OFFSET, max_steps=400, rng=0,
                minibatches=Minibatches(5, learning_rate=0.003))  # fmt: skip
    assert whole.log_evidence > log_evidence(SPARSE, X, Y) + 1.0
    away = np.abs(found.posterior.mean(XS) - q.mean(XS))
    assert np.all(away < 1.0)
    expected = float(np.sum(found.posterior.mean(X, offset=OFFSET, noise=True)))
    assert 0.7 < expected / float(np.sum(Y)) < 1.4


def test_an_objective_takes_an_offset() -> None:
    target = objective_of(COUNTED, X, Y, offset=OFFSET)
    value, _ = target(target.vector(COUNTED))
    assert value == pytest.approx(log_evidence(COUNTED, X, Y, offset=OFFSET))


def test_an_offset_may_be_a_column_of_a_frame() -> None:
    frame = pd.DataFrame({"age": X[:, 0], "log_years": OFFSET})
    wanted = condition(COUNTED, X, Y, offset=OFFSET)
    found = condition(COUNTED, frame, Y, offset="log_years")
    assert found.columns == ("age",)
    np.testing.assert_array_equal(found.mean(frame), wanted.mean(X, offset=OFFSET))
    moments = found.predict(frame, offset="log_years", noise=True)
    np.testing.assert_array_equal(moments, wanted.predict(X, offset=OFFSET, noise=True))
    density = found.log_density(frame, Y, offset="log_years")
    np.testing.assert_array_equal(density, wanted.log_density(X, Y, offset=OFFSET))
    best = fit(COUNTED, frame, Y, offset="log_years")
    assert best.posterior.columns == ("age",)
    assert best.log_evidence == fit(COUNTED, X, Y, offset=OFFSET).log_evidence
    value, _ = log_evidence_and_gradient(COUNTED, frame, Y, offset="log_years")
    assert value == wanted.log_evidence
    target = objective_of(COUNTED, frame, Y, offset="log_years")
    assert target(target.vector(COUNTED))[0] == pytest.approx(value)


def test_columns_that_are_not_there_are_named() -> None:
    frame = pd.DataFrame({"age": X[:, 0], "log_years": OFFSET})
    for verb in (condition, fit, log_evidence, objective_of):
        with pytest.raises(ValueError, match=r"offset must be a column of X, one of \['age'"):
            verb(COUNTED, frame, Y, offset="years")
        with pytest.raises(TypeError, match="offset must be a vector, where X has no names"):
            verb(COUNTED, X, Y, offset="years")
    with pytest.raises(TypeError, match=r"noise_var must be a vector with a number .* got 0.05"):
        fit(GP(RBF()), X, Y, noise_var=0.05)
    with pytest.raises(ValueError, match="offset must be a column of Xs"):
        condition(COUNTED, X, Y).predict(frame[["age"]], offset="years")
    with pytest.raises(TypeError, match="offset must be a vector, where Xs has no names"):
        condition(COUNTED, X, Y).predict(X, offset="years")


@pytest.mark.parametrize(
    ("offset", "kind", "says"),
    [
        (OFFSET[:-1], ValueError, r"offset must have shape \(25,\)"),
        (np.where(YEARS > 30.0, -np.inf, 0.0), ValueError, "offset"),
        (OFFSET.astype(complex), TypeError, "offset"),
    ],
)
@pytest.mark.parametrize("model", [COUNTED, LABELS])
def test_offsets_that_do_not_fit_are_named(model: Any, offset: Any, kind: Any, says: str) -> None:
    with pytest.raises(kind, match=says):
        condition(model, X, np.ones(25), offset=offset)


@pytest.mark.parametrize(
    "model",
    [
        GP(RBF(), 0.1),
        SparseGP(GP(RBF(), 0.1), X[::5]),
        HeteroscedasticGP(GP(RBF(), 0.1), RBF()),
    ],
)
def test_models_that_take_none_say_so(model: Any) -> None:
    for verb in (condition, log_evidence, log_evidence_and_gradient, fit):
        with pytest.raises(TypeError, match=r"offset must be None: a .* takes none"):
            verb(model, X, Y, offset=OFFSET)


def test_posteriors_that_take_none_say_so() -> None:
    exact = condition(GP(RBF(), 0.1), X, Y)
    for method in ("predict", "mean", "variance"):
        with pytest.raises(TypeError, match=rf"ExactPosterior\.{method}: offset must be None"):
            getattr(exact, method)(XS, offset=np.ones(7))
    with pytest.raises(TypeError, match=r"ExactPosterior\.log_density: offset must be None"):
        exact.log_density(XS, np.ones(7), offset=np.ones(7))
    for offset, kind in ((np.ones(6), ValueError), (np.full(7, np.nan), ValueError)):
        with pytest.raises(kind, match="offset must"):
            condition(COUNTED, X, Y).predict(XS, offset=offset)


def test_several_functions_have_no_offset() -> None:
    model = SVGP(GP(RBF(), 0.0), RobustMax(3, 0.1), X[::5])
    with pytest.raises(TypeError, match="offset must be None: there is one function a class"):
        condition(model, X, np.arange(25.0) % 3, offset=OFFSET)
    with pytest.raises(TypeError, match=r"ClassesPosterior\.probability: offset must be None"):
        condition(model, X, np.arange(25.0) % 3).probability(XS, offset=np.ones(7))


def test_chunks_take_none() -> None:
    model = SparseGP(GP(RBF(), 0.1), X[::5])
    with pytest.raises(TypeError, match=r"offset must be None where X is chunks: .* to an SVGP"):
        condition(model, Chunks([(X, Y)]), offset=OFFSET)


def _joint_mean(posterior: Any, Xs: Any, **known: Any) -> Any:
    return posterior.joint(Xs, **known).mean


@pytest.mark.parametrize(("model", "y"), CASES, ids=["Laplace", "EP", "SVGP", "SVGP of labels"])
def test_an_offset_that_was_a_column_is_taken_again(model: Any, y: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": X[:, 0], "log_years": OFFSET})
    found = condition(model, frame, y, offset="log_years")
    save(found, tmp_path / "posterior")
    fitted = fit(model, frame, y, offset="log_years", max_steps=2)
    save(fitted, tmp_path / "fit")
    zero, some = np.zeros(25), {"num_samples": 3, "rng": 1}
    for known in (found, load(tmp_path / "posterior"), fitted.posterior):
        turned = frame[["log_years", "age"]]
        for ask in (
            known.predict, partial(known.predict, noise=True), known.mean, known.variance,
            partial(known.log_density, y=y), partial(_joint_mean, known),
        ):  # fmt: skip
            for asked in (frame, turned):
                np.testing.assert_array_equal(ask(asked), ask(X, offset=OFFSET))
            np.testing.assert_array_equal(ask(frame, offset=zero), ask(X, offset=zero))
            with pytest.raises(ValueError, match=r"offset must be given .* column 'log_years'"):
                ask(frame[["age"]])
            with pytest.raises(ValueError, match=r"offset must be given .* column 'log_years'"):
                ask(X)
        drawn = known.sample(X, offset=zero, **some) + OFFSET
        np.testing.assert_allclose(known.sample(frame, **some), drawn, atol=1e-9)
        np.testing.assert_array_equal(known.covariance(frame), known.covariance(X))  # it has none
        np.testing.assert_array_equal(known.part(0).mean(frame), known.part(0).mean(X))
    again = load(tmp_path / "fit").posterior
    np.testing.assert_array_equal(again.mean(frame), fitted.posterior.mean(frame))


def test_the_probability_of_a_label_takes_its_column_again() -> None:
    frame = pd.DataFrame({"age": X[:, 0], "log_years": OFFSET})
    found = condition(LABELS, frame, SIGNS, offset="log_years")
    np.testing.assert_array_equal(found.probability(frame), found.probability(X, offset=OFFSET))
    with pytest.raises(ValueError, match="offset must be given to `probability`"):
        found.probability(X)


def test_a_joint_distribution_and_draws_take_an_offset() -> None:
    found = condition(COUNTED, X, Y, offset=OFFSET)
    shift = np.linspace(-1.0, 1.0, 7)
    joint, plain = found.joint(XS, offset=shift), found.joint(XS)
    np.testing.assert_allclose(joint.mean, found.mean(XS, offset=shift))
    np.testing.assert_array_equal(joint.root, plain.root)
    drawn = found.sample(XS, 2, offset=shift, rng=3) - found.sample(XS, 2, rng=3)
    np.testing.assert_allclose(drawn, np.stack([shift, shift]))


@pytest.mark.parametrize("offset", [6.0, np.log(1e6), 14.5])
def test_a_fit_far_from_its_rates_ends_where_one_near_them_does(offset):
    """From rates a million times too high it said that it was at a top, 2.8 nats below it."""
    X = np.linspace(0.0, 6.0, 40)[:, None]
    y = np.random.default_rng(0).poisson(np.exp(1.0 + np.sin(X[:, 0]))).astype(float)
    model = LaplaceGP(GP(RBF(), 0.0, ConstantMean(0.0)), Poisson())
    far, near = (fit(model, X, y, offset=np.full(40, off)) for off in (offset, 0.0))
    assert far.log_evidence == pytest.approx(near.log_evidence, abs=1e-5)


@pytest.mark.filterwarnings("ignore:q had not converged")
@pytest.mark.parametrize("make", [LaplaceGP, EPGP, lambda gp: SVGP(gp, Gaussian(0.1), 3)])
def test_an_offset_that_rounding_has_the_digits_of_is_no_secret(make: Any) -> None:
    """Against a mean of 1e8 float32 left f off by two deviations, in silence."""
    X = np.linspace(0.0, 5.0, 12)[:, None].astype(np.float32)
    y, model = np.where(np.sin(X[:, 0]) > 0.0, 1.0, -1.0).astype(np.float32), GP(RBF(), 0.0)
    for level, dtype in ((1e8, np.float32), (1e4, np.float32), (1e8, np.float64)):
        there = make(replace(model, mean=ConstantMean(level)))
        data = X.astype(dtype), y.astype(dtype)
        offset = np.full(12, -level, dtype)
        if level == 1e8 and dtype is np.float32:
            for verb in (condition, log_evidence, log_evidence_and_gradient):
                with pytest.warns(
                    RoundingWarning, match=r"offset is rounded by .* in float32"
                ) as told:
                    verb(there, *data, offset=offset)
                said = [one for one in told if "offset is" in str(one.message)]
                assert len(said) == 1
            continue
        near = condition(make(model), *data).predict(data[0])
        far = condition(there, *data, offset=offset).predict(data[0], offset=offset)
        np.testing.assert_allclose(far[0], near[0], atol=3e-3)
