"""How much a device is asked to do, whatever n is: operations launched, and reads that wait.

The stand-in for CuPy counts both. A device is done with a small problem before the host has
launched the next operation, so these counts are its time; each bound is what is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import Counts, counting

from gpnotes import GP, RBF, SVGP, Gaussian, condition, fit, log_evidence_and_gradient

D = 8


@pytest.fixture
def cp() -> Iterator[ModuleType]:
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
    assert counts.launches <= 91
    assert counts.crossings <= 11


@pytest.mark.parametrize("m", [1, 200])
def test_a_prediction(cp: ModuleType, m: int) -> None:
    gp, X, y = problem(cp, 300)
    posterior = condition(gp, X, y)
    counts = counted(lambda: posterior.predict(X[:m, :]))
    assert counts.launches <= 33
    assert counts.crossings <= 2


def test_a_step_of_variational_inference_by_batches(cp: ModuleType) -> None:
    gp, X, y = problem(cp, 300)
    model = SVGP(GP(gp.kernel, 0.0), Gaussian(0.1), X[:50, :])

    def steps(most: int) -> Callable[[], Any]:
        return lambda: fit(model, X, y, batch=100, max_steps=most, rng=0)

    few, more = (counted(steps(most)) for most in (5, 10))
    assert (more.launches - few.launches) / 5 <= 242
    assert (more.crossings - few.crossings) / 5 <= 23


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
