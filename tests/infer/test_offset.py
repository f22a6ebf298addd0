"""What is added to the latent f of each reading, such as the logarithm of an exposure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    ConstantMean,
    LaplaceGP,
    Poisson,
    SparseGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    to_numpy,
)
from gpnotes.ground.chunks import Chunks
from gpnotes.infer.laplace import EPGP
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


@dataclass(frozen=True)
class Exposed:
    """The mean that knows the offset of each input, as it was written before there was `offset`."""

    level: float

    def __call__(self, X: Any) -> Any:
        return self.level + np.interp(X[:, 0], _INPUTS, OFFSET)


_INPUTS = X[:, 0]


def detour(model: Any) -> Any:
    return type(model)(GP(model.gp.kernel, 0.0, Exposed(-2.0)), model.likelihood)


@pytest.mark.parametrize(("model", "y"), [(COUNTED, Y), (LABELS, np.sign(Y - 2.5))])
def test_an_offset_is_a_mean_that_knows_it_and_f_is_without_it(model: Any, y: Any) -> None:
    one, other = condition(model, X, y, offset=OFFSET), condition(detour(model), X, y)
    np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=1e-9)
    assert log_evidence(model, X, y, offset=OFFSET) == one.log_evidence
    assert abs(log_evidence(model, X, y) - one.log_evidence) > 0.1
    shift = np.interp(XS[:, 0], _INPUTS, OFFSET)
    np.testing.assert_allclose(one.mean(XS), other.mean(XS) - shift, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(one.variance(XS), other.variance(XS), rtol=1e-7)


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


@pytest.mark.parametrize(("model", "y"), [(COUNTED, Y), (LABELS, np.sign(Y - 2.5))])
def test_gradients_are_those_of_differences(model: Any, y: Any) -> None:
    def process(kernel: Any, mean: Any) -> Any:
        return type(model)(GP(kernel, 0.0, mean), model.likelihood)

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


def test_a_fit_finds_the_rate_for_each_unit_of_exposure() -> None:
    found = fit(COUNTED, X, Y, offset=OFFSET)
    assert found.log_evidence > log_evidence(COUNTED, X, Y, offset=OFFSET)
    again = condition(found.model, X, Y, offset=OFFSET)
    np.testing.assert_allclose(found.posterior.mean(XS), again.mean(XS))
    expected = float(np.sum(YEARS * np.exp(found.posterior.mean(X))))
    assert 0.8 < expected / float(np.sum(Y)) < 1.2


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
        SVGP(GP(RBF(), 0.0), Poisson(), X[::5]),
    ],
)
def test_models_that_take_none_say_so(model: Any) -> None:
    for verb in (condition, log_evidence, log_evidence_and_gradient, fit):
        with pytest.raises(TypeError, match=r"offset must be None: a .* takes none"):
            verb(model, X, Y, offset=OFFSET)


def test_chunks_take_none() -> None:
    model = SparseGP(GP(RBF(), 0.1), X[::5])
    with pytest.raises(TypeError, match="offset must be None where X is chunks"):
        condition(model, Chunks([(X, Y)]), offset=OFFSET)
