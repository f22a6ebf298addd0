"""What the tests of both distributions share: one thread a worker, seeds, and array namespaces.

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

import fcntl
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Scripts that made a table in another environment; their programs are not installed here.
collect_ignore_glob = ["tests/data/make_*.py"]

# Random examples, but the same ones every day: a red test stays red until it is mended.
# `--hypothesis-profile=full` takes twenty times as many (`make properties`).
always = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("book", max_examples=50, **always)
settings.register_profile("full", max_examples=1000, **always)
settings.load_profile("book")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gpu", action="store_true", help="run the array tests on CuPy as well")
    parser.addoption("--flips", action="store_true", help="try all slips of all chapters again")


def pytest_report_header(config: pytest.Config) -> str:
    return f"gpnotes: {'with' if config.getoption('--gpu') else 'without'} --gpu"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse an id with an address in it: each worker would have its own, and none could start."""
    if named := [item.nodeid for item in items if re.search("0x[0-9a-fA-F]{6}", item.nodeid)]:
        raise pytest.UsageError(f"an id holds an address of this run; give it ids=: {named[0]}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "space" in metafunc.fixturenames:
        from gpnotes.testing import namespaces

        wanted = metafunc.config.getoption("--gpu")
        metafunc.parametrize("space", [_parameter(namespace, wanted) for namespace in namespaces()])


def _parameter(space: Any, gpu_wanted: bool) -> Any:
    """One space as a parameter; where it cannot be used, the test is skipped with the reason."""
    on_gpu = space.name.startswith("cupy")
    if on_gpu and gpu_wanted and space.reason:
        raise pytest.UsageError(f"--gpu was given, but there is {space.reason}")
    unasked = "a device is here; --gpu runs this test on it" if on_gpu and not gpu_wanted else None
    reason = space.reason or unasked
    marks = [pytest.mark.gpu] if on_gpu else []
    skip = [pytest.mark.skip(reason=reason)] if reason else []
    return pytest.param(space, id=space.name, marks=marks + skip)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A NumPy generator whose seed is the name of the test: the same numbers in any order."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def book_html(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built pages; an incremental build sees to it that they are today's.

    `BOOK_HTML` names a site that was built elsewhere, to test that one.
    """
    if "BOOK_HTML" in os.environ:
        return Path(os.environ["BOOK_HTML"])
    place = tmp_path_factory.getbasetemp().parent
    built = place / f"built-{os.environ.get('PYTEST_XDIST_TESTRUNUID')}"
    with (place / "book.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # of the workers of a parallel run, one builds
        if not built.exists():
            command = [sys.executable, str(root / "book" / "_ext" / "build.py")]  # as make book
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"the book does not build:\n{done.stdout}\n{done.stderr}"
            if "PYTEST_XDIST_TESTRUNUID" in os.environ:
                built.touch()
    return root / "_build" / "html"


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser that may ask nobody; where there is none, only CI insists on it."""
    path = _chromium()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must have a chromium")
        pytest.skip("no chromium on this machine")
    api = pytest.importorskip("playwright.sync_api")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with api.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()
