"""Derivatives of predictions by the inputs, as sensitivities of an exact posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    LaplaceGP,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    SparseGP,
    StateSpaceGP,
    condition,
)
from gpnotes.decide.bayesopt import predict_and_pullback
from gpnotes.fast import point_predictions
from gpnotes.infer import input_gradients
from gpnotes.model.means import BasisMean, Powers

DRAW = np.random.default_rng(4)
X = DRAW.uniform(-2.0, 2.0, (15, 2))
Y = np.sin(X[:, 0]) * X[:, 1]
XS = DRAW.uniform(-2.0, 2.0, (6, 2))


class Bowl:
    """A mean that varies, ``x·x``."""

    def __call__(self, x):
        return np.sum(x * x, axis=1)

    def pullback(self, x, bar):
        return self, 2.0 * x * bar[:, None]


KERNELS = {
    "RBF": RBF(1.3, np.asarray([0.8, 1.4])),
    "Matern52": Matern52(0.7, 1.1),
    "Matern32": Matern32(0.7, 1.1),
    "Matern12": Matern12(0.7, 1.1),
    "sum of columns": RBF(1.0, 0.9).on(0) + Linear(0.5) * RBF(1.0, 2.0).on(1),
}


@pytest.mark.parametrize("known", [{}, {"noise_var": np.linspace(0.01, 0.3, 15)}], ids=str)
@pytest.mark.parametrize("mean", [ConstantMean(0.3), Bowl()], ids=["level", "bowl"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_they_are_those_of_differences(kernel, mean, known):
    posterior = condition(GP(kernel, 0.05, mean), X, Y, **known)
    step = 1e-5
    found = posterior.predict_gradient(XS)
    for k in range(2):
        move = step * np.eye(2)[k]
        above, below = posterior.predict(XS + move), posterior.predict(XS - move)
        for gradient, high, low in zip(found, above, below, strict=True):
            assert gradient.shape == XS.shape
            wanted = (high - low) / (2.0 * step)
            np.testing.assert_allclose(gradient[:, k], wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kernel", [KERNELS["RBF"], KERNELS["sum of columns"]], ids=["fast", "any"])
def test_both_have_one_solve_each_way(monkeypatch, kernel):
    solves = []

    def noted(was):
        def called(*given, **how):
            solves.append(given[0])
            return was(*given, **how)

        return called

    for module, name in ((point_predictions, "blas"), (input_gradients, "solve_triangular")):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))
    condition(GP(kernel, 0.05), X, Y).predict_gradient(XS)
    assert sum(not isinstance(one, str) or one == "trsm" for one in solves) == 2


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_they_are_finite_at_the_readings_and_those_of_the_pullback(kernel):
    posterior = condition(GP(kernel, 0.05), X, Y)
    by_mean, by_variance = posterior.predict_gradient(X)
    _, _, pull = predict_and_pullback(posterior, X)
    one, none = np.ones(15), np.zeros(15)
    np.testing.assert_array_equal(by_mean, pull(one, none))
    np.testing.assert_array_equal(by_variance, pull(none, one))
    assert np.all(np.isfinite(by_mean) & np.isfinite(by_variance))


def test_columns_of_a_frame_are_matched_by_name():
    frame = pd.DataFrame(X, columns=["a", "b"])
    posterior = condition(GP(KERNELS["RBF"], 0.05), frame, Y)
    for found, wanted in zip(
        posterior.predict_gradient(frame[["b", "a"]]), posterior.predict_gradient(X), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_there_are_none_of_no_inputs_and_of_a_mean_without_a_pullback():
    posterior = condition(GP(RBF(), 0.1), X, Y)
    assert [a.shape for a in posterior.predict_gradient(np.zeros((0, 2)))] == [(0, 2), (0, 2)]
    with pytest.raises(TypeError, match="pullback"):
        condition(GP(RBF(), 0.1, lambda x: x[:, 0]), X, Y).predict_gradient(XS)
    with pytest.raises(TypeError, match=r"gp\.mean must be known"):
        condition(GP(RBF(), 0.1, BasisMean(Powers(1))), X, Y).predict_gradient(XS)
    with pytest.raises(ValueError, match=r"Xs must have shape \(n, 2\); got \(2,\): give Xs\[None"):
        posterior.predict_gradient([1.0, 2.0])


def test_other_posteriors_say_which_has_them():
    others = [
        (condition(SparseGP(GP(RBF(), 0.1), X[:4]), X, Y), XS),
        (condition(StateSpaceGP(GP(Matern32(), 0.1)), X[:, :1], Y), XS[:, :1]),
        (condition(GP(RBF() + Linear(), 0.1), X, Y).part(0), XS),
        (condition(LaplaceGP(GP(RBF())), X, np.sign(Y)), XS),
    ]
    for posterior, at in others:
        said = f"{type(posterior).__name__}.predict_gradient: an ExactPosterior has it"
        with pytest.raises(TypeError, match=said):
            posterior.predict_gradient(at)
