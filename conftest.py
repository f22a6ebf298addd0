"""What the tests of both distributions share: one thread a worker, seeds, and array namespaces.

A test that takes the fixture ``space`` runs once in each space of the day: NumPy in two precisions,
and array-api-strict on a second device, which takes nothing for granted. ``--namespace jax`` runs
such tests alone, and in that namespace's spaces; the list is `gpnotes.testing.array_namespaces`',
and what a namespace cannot do stands in ``tests/support/namespaces.py``.
"""

from __future__ import annotations

import os

# Workers share the cores, so each takes one thread; this must precede the import of NumPy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import fcntl
import gc
import pickle
import re
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# With it, jsonschema compiles 38 grammars that nobody needs, in each process: 1.3 s of a processor.
sys.modules["rfc3987_syntax"] = None

# It looks for a dtype in a tuple of thirteen, twice an operation: half the time of its tests.
with suppress(ImportError, AttributeError):
    from array_api_strict import _array_object

    _array_object._all_dtypes = frozenset(_array_object._all_dtypes)
    for kind, dtypes in _array_object._dtype_categories.items():
        _array_object._dtype_categories[kind] = frozenset(dtypes)

# YAML's own parser in C, where it was built: the lists of which tests are made are read in a tenth.
with suppress(ImportError, AttributeError):
    import yaml

    yaml.SafeLoader = yaml.CSafeLoader

# Scripts that made a table in another environment; their programs are not installed here.
collect_ignore_glob = ["tests/data/make_*.py"]

_SKIPPED = pytest.StashKey[list[str]]()

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
    said = "run the tests of arrays alone, in this namespace, space (jax-float32) or run (night)"
    parser.addoption("--namespace", action="append", metavar="NAME", default=[], help=said)


def pytest_report_header(config: pytest.Config) -> str:
    from namespaces import wanted

    return "gpnotes: " + ", ".join(row.name for row in wanted(config.getoption("--namespace")))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays until the end: no search for garbage need look at it, in any worker.

    A million objects, and Python would look at all of them a dozen times: half of the collection.
    And a search after every seven hundred new objects is a twentieth of the time of the tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[Any]:
    """Of the workers one rewrites the asserts of a file; the next waits and reads what it wrote."""
    if not isinstance(collector, pytest.File) or "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with collector.path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """JAX keeps a program for each operation and shape; of a file that is done none is needed."""
    if "jax" in sys.modules and (nextitem is None or nextitem.path != item.path):
        sys.modules["jax"].clear_caches()


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what asks for the built book; the rest need not wait until there is one.

    Where a namespace is asked for, what takes no ``space`` is left out; where it is not, what is
    marked as a ``namespace``'s own.

    An id with an address in it is refused: each worker would have its own, and none could start.
    So is a mark of books elsewhere than in the folders where the Makefile looks for such tests.
    """
    of_books = tuple(Path(__file__).parent / place for place in _of_books())
    for item in items:
        if "book_html" in getattr(item, "fixturenames", ()):
            item.add_marker("site")
        if "read" in getattr(item, "fixturenames", ()):  # which opens a page once for a worker
            item.add_marker(pytest.mark.xdist_group("read"))
        marked = any(map(item.get_closest_marker, ("book", "browser", "site")))
        if marked and not any(map(item.path.is_relative_to, of_books)):
            raise pytest.UsageError(f"not where OF_BOOKS of the Makefile looks: {item.nodeid}")
    if named := [item.nodeid for item in items if re.search("0x[0-9a-fA-F]{6}", item.nodeid)]:
        raise pytest.UsageError(f"an id holds an address of this run; give it ids=: {named[0]}")
    _leave_half_to_the_night(items)
    _settle_spaces(config, items)
    if getattr(config.option, "loadgroup", False):
        _name_groups(items)


# Families of many cases with one code, dear together: every second case is taken by day.
_BY_HALVES = (
    "engine/tests/papers/test_marks_and_conditions.py",
    "engine/tests/papers/test_random_variables.py",
    "engine/tests/tried/test_dots.py", "engine/tests/tried/test_leading.py",
    "engine/tests/tried/test_special.py", "tests/decide/bayesopt/test_loop.py",
    "tests/decide/bayesopt/test_pending_points.py",
    "tests/decide/bayesopt/test_several_objectives.py", "tests/decide/design/test_greedy.py",
    "tests/draw/test_paths.py", "tests/fast/test_tiles.py", "tests/games/test_payoff_fit.py",
    "tests/games/test_posterior_variance.py", "tests/infer/sparse/test_regression.py",
    "tests/infer/state_space/test_line.py", "tests/infer/state_space/test_sums.py",
    "tests/infer/svgp/test_evidence_lower_bound.py", "tests/infer/svgp/test_natural_gradients.py",
    "tests/infer/test_expectation_propagation.py", "tests/infer/test_objective.py",
    "tests/infer/test_offset.py",
    "tests/model/kernels/test_base.py", "tests/model/kernels/test_derivatives.py",
    "tests/model/test_likelihoods.py", "tests/model/test_robust_max.py",
    "tests/samplers/test_sampling.py", "tests/samplers/test_steps.py",
    "tests/test_testing_mixtures.py",
)  # fmt: skip

# Files whose tests each drive a page that has its own script: every second test is taken by day.
_PAGES_BY_HALVES = tuple(
    f"tests/book/test_{name}.py"
    for name in (
        "beliefs_playground", "circle_playground", "design_playgrounds", "fast_playgrounds",
        "figure_states", "fingers", "folding", "formula_menu", "hills", "kernel_playgrounds",
        "ledger_page", "live", "playground", "rabbit_playground", "search", "site",
        "smoothing_playgrounds", "surface_playgrounds", "try_equation", "weight_playground",
    )
)  # fmt: skip


def _leave_half_to_the_night(items: list[pytest.Item]) -> None:
    """Mark every second of them `nightly`, the first of each family and file by day."""
    cases = {Path(__file__).parent / place for place in _BY_HALVES}
    tests = {Path(__file__).parent / place for place in _PAGES_BY_HALVES}
    seen: dict[str, int] = {}
    for item in items:
        if item.get_closest_marker("nightly"):
            continue
        if item.path in tests or (item.path in cases and hasattr(item, "callspec")):
            family = str(item.path) if item.path in tests else item.nodeid.partition("[")[0]
            seen[family] = seen.get(family, 0) + 1
            if seen[family] % 2 == 0:
                item.add_marker("nightly")


def _name_groups(items: list[pytest.Item]) -> None:
    """Name the group of a test in its id, by which xdist tells who shares a worker.

    pytest 9.2 keeps an id in parts, and xdist 3.8 would write the group where nobody reads it: each
    worker then opens every page anew.
    """
    for item in items:
        names = sorted({mark.args[0] for mark in item.iter_markers("xdist_group")})
        if names and hasattr(item, "_id"):
            item._id = type(item._id).parse(f"{item.nodeid}@{'_'.join(names)}")


def _settle_spaces(config: pytest.Config, items: list[pytest.Item]) -> None:
    from namespaces import limits

    there = [item for item in items if _space(item) is not None]
    for item in there:
        for mark in limits(_space(item), item.nodeid):
            item.add_marker(mark)
    asked = config.getoption("--namespace")
    left = [item for item in items if not _asked_for(item, asked)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if _asked_for(item, asked)]


def _asked_for(item: pytest.Item, names: list[str]) -> bool:
    from namespaces import wanted

    of_one = item.get_closest_marker("namespace")
    if of_one is not None:
        return any(of_one.args[0] in row.names for row in wanted(names))
    return not names or _space(item) is not None


def _space(item: pytest.Item) -> Any:
    return item.callspec.params.get("space") if hasattr(item, "callspec") else None


def _of_books() -> list[str]:
    text = (Path(__file__).parent / "Makefile").read_text(encoding="utf-8")
    return re.search(r"^OF_BOOKS := (.+)$", text, re.M)[1].split()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "space" in metafunc.fixturenames:
        from namespaces import parameters

        dear = metafunc.definition.get_closest_marker("strict_by_night") is not None
        names = metafunc.config.getoption("--namespace")
        spaces = parameters(names, dear, metafunc.definition.nodeid)
        metafunc.parametrize("space", spaces)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard, as in a terminal: what a shell runs beside itself begins by ignoring it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _in_space(request: pytest.FixtureRequest) -> Iterator[None]:
    """JAX has one switch for all that it makes, and each space its own position of it."""
    space = _space(request.node)
    with space.active() if space is not None else nullcontext():
        yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    """By day a skip that is not on the list of skips.toml fails a run of CI."""
    session.config.stash[_SKIPPED] = unknown = _skipped_for_no_known_reason(session.config)
    if unknown and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if unknown := config.stash.get(_SKIPPED, []):
        terminalreporter.section("skipped for a reason that is not in tests/support/skips.toml")
        terminalreporter.write_line("\n".join(unknown))


def _skipped_for_no_known_reason(config: pytest.Config) -> list[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")  # of workers, one hears of all
    by_day = "not nightly" in (config.getoption("markexpr") or "")
    if reporter is None or not by_day or os.environ.get("CI") != "true":
        return []
    from namespaces import CANNOT  # pytest finds it once it has begun
    from skips import unknown

    said = (report.longrepr[2] for report in reporter.stats.get("skipped", ()))
    reasons = {reason.removeprefix("Skipped: ") for reason in said}
    return unknown(reasons - {row.reason for row in CANNOT})


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


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Any]], Any]:
    """A function that has a folder made by one of the workers of a run, for all of them.

    ``once(name, make)`` is what ``make(folder)`` gave, or gave elsewhere: a small book takes ten
    seconds to build, and the tests of one file are often shared between workers.
    """
    place = tmp_path_factory.getbasetemp()
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place

    def made(name: str, make: Callable[[Path], Any]) -> Any:
        folder, note = place / f"once-{name}", place / f"once-{name}.pickle"
        with folder.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not note.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
                folder.mkdir()
                note.write_bytes(pickle.dumps(make(folder)))
            return pickle.loads(note.read_bytes())

    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser that may ask nobody; where there is none, only CI insists on it."""
    from system_browser import browser_path  # pytest finds it once it has begun

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
