"""Behind the door nothing is checked again: what a call looks over, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpnotes as gp
from gpnotes.ground import check as _check
from gpnotes.ground import memory
from gpnotes.infer import exact

KERNELS = {"RBF": gp.RBF(), "RBF + Periodic": gp.RBF() + gp.Periodic()}
X = np.linspace(0.0, 5.0, 20)[:, None]
Y = np.sin(X[:, 0])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often what was looked over for finiteness, what was compared, and memory asked for."""
    seen: Counter[str] = Counter()

    def counting(module: Any, name: str, label: Callable[..., str]) -> None:
        done = getattr(module, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            seen[label(*args, **kwargs)] += 1
            return done(*args, **kwargs)

        monkeypatch.setattr(module, name, count)

    counting(_check, "_finite", lambda a, name: f"finite {name}")
    counting(_check, "alike", lambda a, name, other, other_name: f"alike {name}, {other_name}")
    counting(memory, "available", lambda *like: "memory")
    return seen


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_looks_once_over_each_argument(kernel: gp.Kernel, counted: Counter[str]) -> None:
    kernel(X)
    assert counted == {"finite x": 1}
    counted.clear()
    kernel(X, X + 1.0)
    assert counted == {"finite x": 1, "finite z": 1, "alike z, x": 1}


@pytest.mark.parametrize("mean", [gp.ZeroMean(), gp.ConstantMean(0.5)], ids=repr)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_regression_looks_once_over_each_argument(
    kernel: gp.Kernel, mean: Any, counted: Counter[str]
) -> None:
    process = gp.GP(kernel, 0.1, mean)
    data = {"finite X": 1, "finite y": 1, "alike y, X": 1}
    posterior = gp.condition(process, X, Y)
    assert counted == data
    counted.clear()
    exact.log_evidence_and_gradient(process, X, Y)
    assert counted == data
    new = {"finite Xs": 1, "alike Xs, X": 1}
    for view in (posterior.predict, posterior.mean, posterior.covariance):
        counted.clear()
        view(X + 0.1)
        assert counted == new
    counted.clear()
    assert posterior.log_evidence < 0.0
    assert posterior.leave_one_out().mean.shape == (20,)
    assert posterior.evidence_gradient()[1].shape == (20, 1)
    assert not counted


def test_memory_is_asked_for_where_a_matrix_is_not_small(counted: Counter[str]) -> None:
    for columns, asked in ((1024, 0), (1025, 1)):  # 16 MiB, and more
        memory.require(1024, columns, copies=2, like=X, what="K")
        assert counted["memory"] == asked
