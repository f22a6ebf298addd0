"""How much a device is asked to do, whatever n is: operations launched, and reads that wait.

The stand-in for CuPy counts both. A device is done with a small problem before the host has
launched the next operation, so these counts are its time; each bound is what is reached.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import Counts, counting

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Constant,
    FeatureGP,
    Gaussian,
    LaplaceGP,
    Linear,
    Periodic,
    Poisson,
    RationalQuadratic,
    SoftmaxGP,
    StudentT,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground import late_reads
from gpnotes.infer.features import draw_frequencies, leading_sines
from gpnotes.infer.laplace import EPGP
from gpnotes.infer.objective import objective_of
from gpnotes.infer.stacks import evidences_and_gradients
from gpnotes.infer.svgp import Minibatches

D = 8


@pytest.fixture
def cp() -> Iterator[ModuleType]:
    late_reads._doubt.learn(held=True)  # whatever was in vain before
    with cupy_stand_in.installed() as module:
        yield module


def problem(cp: ModuleType, n: int) -> tuple[GP, Any, Any]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    gp = GP(RBF(1.3, cp.asarray(np.linspace(1.5, 3.0, D))), 0.1)
    return gp, cp.asarray(X), cp.asarray(np.sin(X.sum(axis=1)))


def counted(call: Callable[[], Any]) -> Counts:
    call()  # what is looked at once for each library
    with counting() as counts:
        call()
    return counts


@pytest.mark.parametrize("n", [20, 300])
def test_an_evidence_with_all_gradients(cp: ModuleType, n: int) -> None:
    gp, X, y = problem(cp, n)
    counts = counted(lambda: log_evidence_and_gradient(gp, X, y))
    assert counts.launches <= 40
    assert counts.crossings <= 2


@pytest.mark.parametrize("many", [2, 50])
def test_many_evidences_with_all_gradients(cp: ModuleType, many: int) -> None:
    """As many launches for fifty models as for two, but for their lengths, which are stacked."""
    gp, X, y = problem(cp, 20)
    lengths = [gp.kernel.lengthscale * scale for scale in np.linspace(0.5, 2.0, many)]
    gps = [GP(RBF(1.3, length), 0.1) for length in lengths]
    counts = counted(lambda: evidences_and_gradients(gps, X, y))
    assert counts.launches <= 59
    assert counts.crossings <= 3


@pytest.mark.parametrize("many", [2, 50])
@pytest.mark.parametrize(
    ("kernel", "launches"),
    [
        (lambda s: RationalQuadratic(1.3, s, 1.5 * s), 91),
        (lambda s: Periodic(1.3, s, 2.0 * s), 66),
        (lambda s: Linear(s) + Constant(0.1 * s), 46),
    ],
)
def test_many_evidences_of_other_kernels(
    cp: ModuleType, kernel: Any, launches: int, many: int
) -> None:
    _, X, y = problem(cp, 20)
    gps = [GP(kernel(scale), 0.1) for scale in np.linspace(0.5, 2.0, many)]
    counts = counted(lambda: evidences_and_gradients(gps, X, y))
    assert counts.launches <= launches
    assert counts.crossings <= 3


def test_a_posterior(cp: ModuleType) -> None:
    gp, X, y = problem(cp, 300)
    counts = counted(lambda: condition(gp, X, y))
    assert counts.launches <= 19
    assert counts.crossings <= 4  # two for the inputs, before there is a model to ask


@pytest.mark.parametrize("m", [1, 200])
def test_a_prediction(cp: ModuleType, m: int) -> None:
    gp, X, y = problem(cp, 300)
    posterior = condition(gp, X, y)
    counts = counted(lambda: posterior.predict(X[:m, :]))
    assert counts.launches <= 18
    assert counts.crossings <= 1


def test_a_step_of_variational_inference_by_batches(cp: ModuleType) -> None:
    gp, X, y = problem(cp, 300)
    model = SVGP(GP(gp.kernel, 0.0), Gaussian(0.1), X[:50, :])

    def steps(most: int) -> Callable[[], Any]:
        return lambda: fit(model, X, y, minibatches=Minibatches(100), max_steps=most, rng=0)

    few, more = (counted(steps(most)) for most in (5, 10))
    assert (more.launches - few.launches) / 5 <= 125
    assert (more.crossings - few.crossings) / 5 <= 2


def seen_through(cp: ModuleType, which: str) -> tuple[Any, Any, Any]:
    """A model of labels, counts, readings or classes, and its data."""
    X = np.random.default_rng(7).normal(size=(40, 2))
    f, gp = np.sin(2.0 * X.sum(axis=1)), GP(RBF(4.0, cp.asarray([1.0, 1.5])), 0.0)
    model, y = {
        "labels": (LaplaceGP(gp), np.sign(f)),
        "counts": (LaplaceGP(gp, Poisson()), np.exp(f).round()),
        "heavy tails": (LaplaceGP(gp, StudentT(0.5)), f),
        "classes": (SoftmaxGP(gp, 3), np.digitize(f, [-0.5, 0.5]).astype(float)),
        "sites": (EPGP(gp), np.sign(f)),
        "wide": (EPGP(GP(RBF(1e5, 2.0), 0.0)), np.sign(f)),
    }[which]
    return model, cp.asarray(X), cp.asarray(y)


@pytest.mark.parametrize(
    ("which", "launches", "reads"),
    [
        ("labels", 58, 2),
        ("counts", 93, 2),
        ("heavy tails", 102, 2),
        ("classes", 127, 3),
        ("sites", 52, 2),
        ("wide", 55, 2),
    ],
)
def test_a_step_to_a_mode_or_a_sweep_over_sites(
    cp: ModuleType, which: str, launches: int, reads: int
) -> None:
    """Two reads each, of the factor and of its end; of classes one more, for that of their sum.

    Where steps are short one more asks if the curvature rests.
    """
    model, X, y = seen_through(cp, which)
    posterior = condition(model, X, y)
    steps = getattr(posterior, "sweeps", None) or posterior.steps
    counts = counted(lambda: condition(model, X, y))
    assert counts.launches <= launches * steps
    assert counts.crossings <= reads * steps + 8
    with_gradient = counted(lambda: log_evidence_and_gradient(model, X, y))
    assert with_gradient.launches <= launches * steps + 185
    assert with_gradient.crossings <= reads * steps + 7


@pytest.mark.parametrize("which", ["drawn", "sines"])
def test_an_evidence_by_features_with_its_gradient(cp: ModuleType, which: str) -> None:
    """As a fit asks for it, so that sines are summed before."""
    _, X, y = problem(cp, 40)
    X, kernel = X[:, :2], RBF(1.3, cp.asarray([1.5, 3.0]))
    drawn = draw_frequencies(kernel, X, 10, rng=1)
    frequencies = drawn if which == "drawn" else leading_sines(kernel, X, 10)
    model = FeatureGP(GP(kernel, 0.1), frequencies)
    objective = objective_of(model, X, y)
    vector = objective.vector(model)
    counts = counted(lambda: objective(vector))
    assert counts.launches <= 101
    assert counts.crossings <= 2


def test_one_number_says_whether_inputs_may_be_taken_as_they_are(cp: ModuleType) -> None:
    gp, X, _ = problem(cp, 300)
    assert counted(lambda: gp.kernel._gram(X, None)).crossings == 1
    far = 1e9 * X
    assert counted(lambda: gp.kernel._gram(far, None)).crossings > 1


def test_a_second_read_waits_for_nothing(cp: ModuleType) -> None:
    a = cp.ones(3)
    with counting() as counts:
        total, largest = a.sum(), a.max()
        float(total), float(largest), a.T, a[:2], cp.reshape(a, (3, 1))
    assert (counts.launches, counts.crossings) == (2, 1)
    with counting() as counts:
        a[a > 0.0], a[cp.asarray([0])]
    assert (counts.launches, counts.crossings) == (4, 1)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda X, y: (X.__setitem__((2, 1), np.nan), None), "X must be finite; 1 of its entries"),
        (lambda X, y: (y.__setitem__(3, np.inf), None), "y must be finite; 1 of its entries"),
        (lambda X, y: (y.__setitem__(3, 1e200), None), "y must be smaller .*: squares overflow"),
    ],
)
def test_what_is_read_at_the_end_is_refused_as_ever(cp: ModuleType, spoil: Any, said: str) -> None:
    gp, X, y = problem(cp, 30)
    spoil(X, y)
    with pytest.raises(ValueError, match=said):
        log_evidence_and_gradient(gp, X, y)
    with pytest.raises(ValueError, match=said):
        log_evidence(gp, X, y)


def test_a_prediction_at_inputs_that_are_not_finite_is_refused(cp: ModuleType) -> None:
    gp, X, y = problem(cp, 30)
    posterior = condition(gp, X, y)
    wrong = X.copy()
    wrong[4, 2] = np.nan
    with pytest.raises(ValueError, match=r"Xs must be finite; 1 of .*, the first in row 4"):
        posterior.predict(wrong)


@pytest.mark.parametrize("case", ["far", "twice", "rough"])
def test_what_is_not_as_expected_is_computed_with_care(cp: ModuleType, case: str) -> None:
    """With the numbers, and the warnings, that NumPy's arrays get."""
    _, X, y = problem(cp, 30)
    X, y, noise = X.get(), y.get(), 0.1
    if case == "far":
        X[0] = 1e9
    elif case == "twice":
        X[1], noise = X[0], 0.0
    else:
        X, noise = 1e-3 * X, 1e-13
    found = []
    for asarray in (np.asarray, cp.asarray):
        gp = GP(RBF(1.3, asarray(np.linspace(1.5, 3.0, D))), noise)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            value, bar = log_evidence_and_gradient(gp, asarray(X), asarray(y))
        found.append((value, bar.noise_var, bar.kernel.variance, [w.category for w in told]))
    host, there = found
    assert there[-1] == host[-1]
    assert len(host[-1]) == (case != "far")
    if case == "far":
        np.testing.assert_allclose(there[:3], host[:3], rtol=1e-9)
