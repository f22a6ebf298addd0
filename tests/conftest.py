"""What all tests share: one thread a worker, seeds, and the array namespaces.

A test that takes the fixture ``space`` runs once in each namespace that
``gpnotes.testing.namespaces()`` lists: NumPy in two precisions, array-api-strict on its own
device, on a second device and on one without float64, and CuPy where ``--gpu`` asks for it.
"""

from __future__ import annotations

import os

# Workers share the cores, so each takes one thread; this must precede the import of NumPy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Random examples, but the same ones every day: a red test stays red until it is mended.
settings.register_profile(
    "book",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gpu", action="store_true", help="run the array tests on CuPy as well")


def pytest_report_header(config: pytest.Config) -> str:
    return f"gpnotes: {'with' if config.getoption('--gpu') else 'without'} --gpu"


@dataclass(frozen=True)
class Space:
    """A namespace with the dtype and the device on which a test puts its arrays."""

    id: str
    xp: Any
    dtype: Any
    device: Any

    @property
    def eps(self) -> float:
        """The machine epsilon of the dtype."""
        return float(self.xp.finfo(self.dtype).eps)

    def array(self, values: Any) -> Any:
        """`values` (a sequence or a NumPy array) in this namespace, dtype and device."""
        host = np.asarray(values, dtype=np.float32 if self.eps > 1e-10 else np.float64)
        return self.xp.asarray(host, dtype=self.dtype, device=self.device)

    def host(self, array: Any) -> np.ndarray:
        """A float64 NumPy copy of `array`, for comparing numbers."""
        from gpnotes._xp import to_numpy

        return np.asarray(to_numpy(array), dtype=np.float64)

    def check(self, *arrays: Any) -> None:
        """Fail unless every array lives in this namespace, dtype and device."""
        from array_api_compat import array_namespace, device

        for a in arrays:
            assert array_namespace(a) is array_namespace(self.array([0.0]))
            assert a.dtype == self.dtype
            assert device(a) == device(self.array([0.0]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "space" in metafunc.fixturenames:
        from gpnotes.testing import namespaces

        wanted = metafunc.config.getoption("--gpu")
        metafunc.parametrize("space", [_parameter(one, wanted) for one in namespaces()])


def _parameter(one: Any, gpu_wanted: bool) -> Any:
    """A pytest parameter from one entry (id, xp, dtype, device, reason) of the list."""
    if not one.id.startswith("cupy"):
        return pytest.param(Space(*one[:4]), id=one.id)
    if gpu_wanted and one.reason:
        raise pytest.UsageError(f"--gpu was given, but {one.reason}")
    reason = one.reason or "a device is here; --gpu runs the same tests on it"
    skip = pytest.mark.skipif(not gpu_wanted, reason=reason)
    return pytest.param(Space(*one[:4]), id=one.id, marks=[pytest.mark.gpu, skip])


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A NumPy generator whose seed is the name of the test: the same numbers in any order."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent
