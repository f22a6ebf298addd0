"""What the tests of both distributions share: threads, seeds, the built book and a browser.

Four plugins in ``tests/support`` each do one thing more: `namespaces` runs the tests that take the
fixture ``space`` in several libraries of arrays, `night` leaves the tests listed in ``night.toml``
to the night, `skips` fails a run of CI that skips for an unknown reason, and `frozen_tests` leaves
what was collected out of the searches for garbage.
"""

from __future__ import annotations

import os

# Workers share the cores, so each takes one thread; this must precede the import of NumPy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import signal
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["namespaces", "night", "skips", "frozen_tests"]

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


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for the built book; the rest need not wait until there is one."""
    for item in items:
        if "book_html" in getattr(item, "fixturenames", ()):
            item.add_marker("site")
            if not item.nodeid.startswith(("tests/book/", "tests/notebooks/")):
                raise pytest.UsageError(f"not where `make pages` looks: {item.nodeid}")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be heard, as in a terminal; a shell's background jobs begin by ignoring it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A NumPy generator whose seed is the name of the test: the same numbers in any order."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def book_html(root: Path) -> Path:
    """The folder of the built pages; `BOOK_HTML` names a site that was built elsewhere."""
    built = Path(os.environ.get("BOOK_HTML", root / "_build" / "html"))
    if not (built / "index.html").is_file():
        pytest.fail(f"there is no book in {built}; `make book` builds it")
    return built


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Any]], Any]:
    """A function that makes something in a folder of its own, once in each worker.

    ``once(name, make)`` is what ``make(folder)`` returned when the name was first asked for: a
    small book takes ten seconds to build, and several tests look at the same one.
    """
    made: dict[str, Any] = {}

    def make_once(name: str, make: Callable[[Path], Any]) -> Any:
        if name not in made:
            made[name] = make(tmp_path_factory.mktemp(name))
        return made[name]

    return make_once


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a network; where none is installed, only CI insists on it."""
    from system_browser import browser_path

    path = browser_path()
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
