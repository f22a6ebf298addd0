"""Parameters of likelihoods under Laplace's method: their gradient, and fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Gaussian,
    LaplaceGP,
    Poisson,
    StudentT,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground.params import cotangent, positive
from gpnotes.model.likelihoods import NegativeBinomial
from gpnotes.testing import gradcheck

DRAW = np.random.default_rng(7)
X = np.sort(DRAW.uniform(0.0, 6.0, (24, 1)), axis=0)
F = 1.5 + np.sin(X[:, 0])
COUNTS = DRAW.negative_binomial(2.0, 2.0 / (2.0 + np.exp(F))).astype(float)
READINGS = F + 0.2 * DRAW.standard_t(5.0, 24)
OFFSET = 0.3 * np.cos(3.0 * X[:, 0])


@dataclass(frozen=True)
class Scaled:
    """Normal noise from outside, by its precision; it says how it bends."""

    precision: float = positive(1.0)

    def log_density(self, y: Any, f: Any) -> Any:
        return 0.5 * (np.log(self.precision / (2.0 * np.pi)) - self.precision * (y - f) ** 2)

    def derivatives(self, y: Any, f: Any) -> Any:
        return self.precision * (y - f), np.full_like(f, -self.precision), np.zeros_like(f)

    def derivatives_bar(self, y: Any, f: Any, bar: Any, first_bar: Any, second_bar: Any) -> Any:
        by_value = 0.5 / self.precision - 0.5 * (y - f) ** 2
        total = np.sum(bar * by_value + first_bar * (y - f) - second_bar)
        return cotangent(self, precision=float(total))


@dataclass(frozen=True)
class Stiff:
    """The same without a word on how it bends."""

    precision: float = positive(1.0)
    log_density = Scaled.log_density
    derivatives = Scaled.derivatives


CASES = {
    "negative binomial": (NegativeBinomial(1.3), COUNTS),
    "normal": (Gaussian(0.3), READINGS),
    "t": (StudentT(1.5, 3.0), READINGS),
    "of one's own": (Scaled(4.0), READINGS),
}


def model(likelihood: Any, lengthscale: float = 1.2, level: float = 1.0) -> LaplaceGP:
    return LaplaceGP(GP(RBF(0.8, lengthscale), 0.0, ConstantMean(level)), likelihood)


@pytest.mark.parametrize(("likelihood", "y"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("offset", [None, OFFSET], ids=["plain", "offset"])
def test_the_gradient_is_that_of_differences(likelihood: Any, y: Any, offset: Any) -> None:
    def pullback(likelihood: Any, bar: float) -> Any:
        _, found = log_evidence_and_gradient(model(likelihood), X, y, offset=offset)
        return (found.likelihood,)

    gradcheck(
        lambda likelihood: log_evidence(model(likelihood), X, y, offset=offset),
        pullback, likelihood, names=("likelihood",), rtol=1e-5,
    )  # fmt: skip


def test_the_gradient_is_the_same_in_every_space(space: Any) -> None:
    given = [space.asarray(a) for a in (X, COUNTS)]
    posterior = condition(model(NegativeBinomial(1.3)), *given)
    wanted = condition(model(NegativeBinomial(1.3)), X, COUNTS).likelihood_gradient()
    rtol = 1e-8 if space.double else 1e-2
    assert posterior.likelihood_gradient().shape == pytest.approx(wanted.shape, rel=rtol)
    assert space.holds(posterior.mode)


def test_for_normal_noise_it_is_the_gradient_of_regression() -> None:
    exact = GP(RBF(0.8, 1.2), 0.3, ConstantMean(1.0))
    found = condition(model(Gaussian(0.3)), X, READINGS).likelihood_gradient()
    wanted = log_evidence_and_gradient(exact, X, READINGS)[1].noise_var
    assert found.variance == pytest.approx(wanted, rel=1e-9)


def test_a_likelihood_without_parameters_is_its_own_gradient() -> None:
    posterior = condition(model(Poisson()), X, COUNTS)
    assert posterior.likelihood_gradient() is posterior.likelihood


@pytest.mark.parametrize(("likelihood", "y"), [CASES["negative binomial"], CASES["normal"]])
def test_a_fit_ends_where_the_gradient_is_zero(likelihood: Any, y: Any) -> None:
    found = fit(model(likelihood), X, y)
    _, gradient = log_evidence_and_gradient(found.model, X, y)
    name = "shape" if isinstance(likelihood, NegativeBinomial) else "variance"
    value = getattr(found.model.likelihood, name)
    assert value != getattr(likelihood, name)
    assert abs(getattr(gradient.likelihood, name) * value) < 1e-3
    assert f"likelihood.{name}" in str(found)
    held = fit(model(likelihood), X, y, fixed=["likelihood"])
    assert held.model.likelihood == likelihood
    assert held.log_evidence < found.log_evidence


def test_normal_noise_is_fitted_as_regression_fits_it() -> None:
    found = fit(model(Gaussian(0.3)), X, READINGS)
    wanted = fit(GP(RBF(0.8, 1.2), 0.3, ConstantMean(1.0)), X, READINGS)
    assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-6)
    assert found.model.likelihood.variance == pytest.approx(wanted.model.noise_var, rel=1e-2)


def test_the_shape_that_counts_were_drawn_with_is_found() -> None:
    X = np.linspace(0.0, 10.0, 250)[:, None]
    rate = np.exp(1.5 + np.sin(X[:, 0]))
    counts = np.random.default_rng(3).negative_binomial(3.0, 3.0 / (3.0 + rate)).astype(float)
    found = fit(model(NegativeBinomial(1.0)), X, counts)
    assert 1.8 < found.model.likelihood.shape < 5.0


def test_one_of_ones_own_that_does_not_say_how_it_bends_stays() -> None:
    found = fit(model(Stiff(4.0)), X, READINGS)
    assert found.model.likelihood.precision == 4.0
    moved = fit(model(Scaled(4.0)), X, READINGS)
    assert moved.model.likelihood.precision != 4.0
    assert moved.log_evidence > found.log_evidence
