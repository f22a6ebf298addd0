"""A wave that the first run takes for noise is found by a start at shorter lengthscales."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    Periodic,
    SparseGP,
    StateSpaceGP,
    fit,
)
from gpnotes.estimators import GPRegressor
from gpnotes.infer.fit_checks import FitWarning


def eight_waves(x: np.ndarray) -> np.ndarray:
    return (1.0 + x[:, 0]) * np.sin(16.0 * math.pi * x[:, 0] + 1.0)


def readings(noise: float) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(8)
    x = draws.uniform(size=(80, 1))
    return x, eight_waves(x) + noise * draws.normal(size=80)


@pytest.mark.parametrize("noise", [1e-4, 0.1])
@pytest.mark.parametrize(
    "model", [GP(RBF(), mean=ConstantMean()), SparseGP(GP(RBF()), 36)], ids=["exact", "sparse"]
)
def test_a_short_wave_is_no_noise(model: GP | SparseGP, noise: float) -> None:
    x, y = readings(noise)
    heard: list[int] = []
    found = fit(model, x, y, on_step=lambda step: heard.append(step.run))
    first, second = (run.objective for run in found.runs)
    assert first > second + 3.0
    assert set(heard) == {0, 1}
    at = np.linspace(0.1, 0.9, 40)[:, None]
    error = found.posterior.mean(at) - eight_waves(at)
    assert np.sqrt(np.mean(np.square(error))) < 0.25  # where all is noise, 1.1


def test_an_estimator_finds_it() -> None:
    x, y = readings(0.1)
    assert GPRegressor().fit(x[:60], y[:60]).score(x[60:], y[60:]) > 0.8


def test_where_the_first_run_is_right_it_is_the_only_one() -> None:
    x = np.linspace(0.0, 3.0, 60)[:, None]
    y = np.sin(x[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=60)
    assert len(fit(GP(RBF()), x, y).runs) == 1


def test_noise_alone_has_no_further_start() -> None:
    for seed in range(8):
        draws = np.random.default_rng(seed)
        x, y = draws.uniform(size=(30, 1)), draws.normal(size=30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # that all is noise, which it is
            assert len(fit(GP(RBF()), x, y).runs) == 1


def test_a_caller_who_has_enough_gets_no_further_run() -> None:
    with pytest.warns(FitWarning, match="taken for noise"):
        found = fit(GP(RBF(), mean=ConstantMean()), *readings(0.1), callback=lambda run: True)
    assert len(found.runs) == 1


def test_a_start_without_an_evidence_is_passed_over() -> None:
    """On a line a periodic lengthscale of 0.03 takes too many waves; the fit goes on without."""
    draws = np.random.default_rng(3)
    x = np.sort(draws.uniform(0.0, 4.0, (16, 1)), axis=0)
    y = np.sin(2.0 * math.pi * x[:, 0]) + 0.5 * draws.normal(size=16)
    line = fit(StateSpaceGP(GP(Periodic(period=1.0))), x, y, fixed=["gp.kernel.period"])
    dense = fit(GP(Periodic(period=1.0)), x, y, fixed=["kernel.period"])
    assert line.log_evidence == pytest.approx(dense.log_evidence, abs=0.1)
