"""One environment, written in four places: the project files, two locks, the file for conda.

And the light package: what a plain ``pip install .`` brings works alone, and what needs more
says so.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "gpnotes"
LIGHT = {
    *("numpy", "scipy", "array-api-compat"),
    *("greenlet", "threadpoolctl"),
}
# the extras that the locks and conda serve
SERVED = (
    *("notebook", "book", "read", "test", "bench", "scale", "sklearn", "progress"),
    *("compiled", "studies", "dev"),
)
LOCKS = ("requirements.lock", "requirements-book.lock")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def _requirements(lines) -> list[Requirement]:
    return [Requirement(line) for line in lines]


def _lock_lines(lock: str) -> list[str]:
    return (ROOT / lock).read_text().splitlines()


def _locked(lock: str = LOCKS[0]) -> dict[str, str]:
    """Name to version, for this interpreter."""
    here = default_environment()
    pins = [
        requirement
        for requirement in _requirements(_lock_lines(lock))
        if not requirement.marker or requirement.marker.evaluate(here)
    ]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}


def _wanted(extras: tuple[str, ...] = SERVED) -> dict[str, str]:
    """Name to range, of the package and of the extras named."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    every = [
        requirement for requirement in _requirements(lines) if requirement.name != PROJECT["name"]
    ]
    ranges = {one.name: str(one.specifier) for one in every}
    assert all(ranges[one.name] == str(one.specifier) for one in every), "two ranges for one name"
    return ranges


def test_the_package_is_light_and_has_the_extras_that_it_names():
    assert {requirement.name for requirement in _requirements(PROJECT["dependencies"])} == LIGHT
    assert set(EXTRAS) == {*SERVED, "torch", "gpu-cuda12", "gpu-cuda13", "data"}


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_pins_exactly_and_holds_no_address(lock):
    for line in _lock_lines(lock):
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*==[0-9][\w.]*( ; .+)?", line), line


@pytest.mark.parametrize("name", sorted(_wanted()))
def test_the_lock_is_within_the_range_of(name):
    requirement = Requirement(name + _wanted()[name])
    assert requirement.specifier.contains(_locked()[canonicalize_name(name)])


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_is_complete(lock):
    """Everything that a pinned distribution asks for here is pinned, within what it asks for."""
    locked = _locked(lock)
    for name, version in locked.items():
        asked = _requirements(metadata.requires(name) or ())
        for one in asked:
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                pin = locked.get(canonicalize_name(one.name))
                assert pin, f"{name} {version} needs {one}, which the lock does not have"
                assert one.specifier.contains(pin, prereleases=True), f"{name} needs {one}"


def test_the_book_has_a_lock_of_its_own_without_what_only_tests_and_benchmarks_need():
    book, every = (set(_lock_lines(lock)) for lock in reversed(LOCKS))
    assert book < every, "run make lock"
    needed = {canonicalize_name(name) for name in _wanted(("notebook", "book", "read"))}
    locked = _locked(LOCKS[1]).keys()
    assert needed <= locked
    others = _wanted(("test", "bench", "scale", "compiled", "studies"))
    extra = {canonicalize_name(name) for name in others} - needed
    assert {"distributed", "jax", "playwright", "hypothesis", "numba", "optuna"} <= extra
    assert locked & extra <= {"nbclient", "pyyaml", "psutil"}  # what the book's tools bring


@pytest.mark.parametrize("place", ["engine", "editorial"])
def test_what_the_smaller_distributions_ask_for_the_book_asks_for_too(place):
    """So that the locks, which are made of the one project file, hold it."""
    project = tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"]
    asked = {one.name: str(one.specifier) for one in _requirements(project["dependencies"])}
    others = {"gpnotes", "checked-equations"}
    wanted = _wanted(("notebook", "book"))
    assert {name: wanted.get(name) for name in asked.keys() - others} == {
        name: asked[name] for name in asked.keys() - others
    }


def test_conda_asks_for_the_ranges_of_the_project_file():
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    plain = [line for line in lines if isinstance(line, str)]
    (by_pip,) = (line["pip"] for line in lines if isinstance(line, dict))
    assert f"python {PROJECT['requires-python']}" in plain
    assert {"--editable ./engine", "--editable .", "--editable ./editorial"} <= set(by_pip)
    named = _requirements(
        line
        for line in plain + by_pip
        if line != "pip" and "--editable" not in line and "python " not in line
    )
    assert {one.name: str(one.specifier) for one in named} == _wanted()


PLACES = {"checked-equations": ROOT / "engine", "gpnotes": ROOT, "gpnotes-book": ROOT / "editorial"}


def _project(place: Path) -> dict[str, Any]:
    return tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_distributions_are_of_one_version():
    """And so is what the recipe for conda makes, and what is cited."""
    recipe = yaml.safe_load((ROOT / "tools" / "conda" / "recipe.yaml").read_text("utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    versions = {_project(place)["version"] for place in PLACES.values()}
    assert versions == {recipe["context"]["version"]} == {cited["version"]}


@pytest.mark.parametrize("name", PLACES)
def test_the_recipe_for_conda_asks_for_what_the_project_file_asks(name):
    """A distribution of our own, and an extra, by what they ask for themselves."""
    recipe = yaml.safe_load((ROOT / "tools" / "conda" / "recipe.yaml").read_text("utf-8"))
    (output,) = (one for one in recipe["outputs"] if one["package"]["name"] == name)
    runs = [line for line in output["requirements"]["run"] if not line.startswith(("python ", "$"))]
    asked = {
        one.name: str(one.specifier)
        for one in _requirements(_project(PLACES[name])["dependencies"])
    }
    if name == "gpnotes-book":  # it asks for gpnotes[notebook]
        asked |= {one.name: str(one.specifier) for one in _requirements(EXTRAS["notebook"])}
    ours = {one for one in asked if one in PLACES}
    assert {one.name: str(one.specifier) for one in _requirements(runs)} == {
        one: asked[one] for one in asked.keys() - ours
    }
    pinned = {
        line.split('"')[1] for line in output["requirements"]["run"] if "pin_subpackage" in line
    }
    assert pinned == ours
    assert f">={recipe['context']['python_min']}" == _project(PLACES[name])["requires-python"]


def test_a_release_is_of_its_tag(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    dist = importlib.import_module("dist")
    assert dist.pythons() == ["3.11", "3.12", "3.13"]
    files = [Path("gpnotes-1.2.3-py3-none-any.whl"), Path("gpnotes_book-1.2.3.tar.gz")]
    dist.require_tag("v1.2.3", files)
    for wrong in ("1.2.3", "v1.2", "v1.2.30"):
        with pytest.raises(SystemExit, match="the tag must be v and the version of gpnotes-1"):
            dist.require_tag(wrong, files)


DISTRIBUTIONS = {
    "gpnotes": (ROOT, {"gpnotes/py.typed", "gpnotes/gpnotes.mplstyle", "gpnotes/colours.css"}),
    "gpnotes_book": (ROOT / "editorial", {"gpnotes_book/py.typed"}),
    "checked_equations": (ROOT / "engine", {"checked_equations/latex/grammar.lark"}),
}
LITTER = ignore_patterns("__pycache__", "*.egg-info", "build")


def _copy(home: Path, to: Path) -> Path:
    """What a clone has of a distribution, where a build leaves nothing behind in it."""
    copytree(home / "src", to / "src", ignore=LITTER)
    for file in filter(Path.is_file, home.glob("[!.]*")):
        (to / file.name).write_bytes(file.read_bytes())
    return to


def _wheel(folder: Path, to: Path) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation"]
    command += ["--quiet", "--wheel-dir", str(to)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (wheel,) = to.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="module")
def wheels(once: Any) -> dict[str, zipfile.ZipFile]:
    """The wheel of each package, built from a copy of the clone."""

    def build(folder: Path) -> Path:
        copytree(ROOT / "book", folder / "book", ignore=LITTER)
        for package, (home, _) in DISTRIBUTIONS.items():
            _wheel(_copy(home, folder / package), folder / "wheels" / package)
        return folder / "wheels"

    made = once("wheels", build)
    return {package: zipfile.ZipFile(*made.glob(f"{package}/*")) for package in DISTRIBUTIONS}


def _files(folder: Path, *patterns: str) -> set[str]:
    """The files of a folder, or of some patterns in it."""
    found = (path for pattern in patterns or ("**/*",) for path in folder.glob(pattern))
    return {path.relative_to(folder).as_posix() for path in found if path.is_file()}


CARRIED = ("equations.toml", "notation.yml", "sources/items.tsv", "_claims/**/*.json")


@pytest.mark.parametrize("package", DISTRIBUTIONS)
def test_a_wheel_holds_every_file_of_the_package(wheels, package):
    """Grammar, data, style and the files of the Sphinx extension travel with the code."""
    home, some = DISTRIBUTIONS[package]
    packed = {name for name in wheels[package].namelist() if name.startswith(f"{package}/")}
    source = {name for name in _files(home / "src" / package) if "__pycache__" not in name}
    if package == "gpnotes_book":
        carried = _files(ROOT / "book", *CARRIED, "*.md", "[!_]*/*.md")
        assert len(carried) > 80
        source |= {f"book/{name}" for name in carried}
    assert packed == {f"{package}/{name}" for name in source}
    assert some <= packed


def test_the_wheel_of_the_package_is_light(wheels):
    """At most 3.4 MB unpacked; of the book nothing is in it."""
    size = sum(file.file_size for file in wheels["gpnotes"].infolist())
    assert 1_000_000 < size <= 3_400_000


def test_a_source_distribution_carries_the_book(wheels, tmp_path):
    """A wheel that is built of it, with no book beside, is that of the clone."""
    copytree(ROOT / "book", tmp_path / "book", ignore=LITTER)
    home = _copy(ROOT / "editorial", tmp_path / "editorial")
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=home, check=True, capture_output=True)
    with tarfile.open(*tmp_path.glob("*.tar.gz")) as packed:
        packed.extractall(tmp_path / "away", filter="data")
    (alone,) = (tmp_path / "away").iterdir()
    assert sorted(_wheel(alone, tmp_path / "wheel").namelist()) == sorted(
        wheels["gpnotes_book"].namelist()
    )


SHORT = "gaussian-processes/weight-view"  # it runs in a few seconds


def test_a_chapter_runs_alone_on_the_three_wheels(wheels, tmp_path):
    """All of its checks, claims and verdicts, in a folder where nothing of the book lies."""
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    for wheel in wheels.values():
        wheel.extractall(site)
    program = """
import json, sys
from pathlib import Path
import checked_equations, gpnotes, gpnotes_book
from checked_equations.book.execution import cells, named
scope, page = {"__name__": "__main__"}, Path(sys.argv[1])
for cell in cells(page):
    above = "\\n" * (cell.line - 1)
    exec(compile(above + cell.code, named(cell, page), "exec"), scope)
ledger = scope["chapter"].ledger()
homes = [module.__file__ for module in (checked_equations, gpnotes, gpnotes_book)]
print(json.dumps([homes, ledger.text, ledger.totals, str(scope["chapter"].settings.file)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "book" / f"{SHORT}.md")], cwd=empty, text=True,
        env={**os.environ, "PYTHONPATH": str(site), "MPLBACKEND": "agg"}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    homes, text, totals, settings = json.loads(done.stdout.splitlines()[-1])
    assert all(Path(file).is_relative_to(site) for file in [*homes, settings])
    assert text == "as packaged, not as in this notebook"
    assert totals["sources_answered"] == totals["sources_total"] > 0
    assert totals["checked"] > 20


# A finder that answers for every module that no light distribution brings.
BARRIER = """
import importlib.abc, sys
class Barrier(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BARRED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
BARRED = set(%r)
sys.meta_path.insert(0, Barrier())
"""


def _barred() -> list[str]:
    """The top-level modules of every distribution here that the package does not need."""
    brought = metadata.packages_distributions()
    light = LIGHT | {PROJECT["name"]}
    needless = {
        m for m, homes in brought.items() if not {canonicalize_name(h) for h in homes} & light
    }
    return sorted({*needless, "cupy", "cupyx"} - set(sys.stdlib_module_names))


def _run_light(code: str) -> str:
    """What `code` prints in a process that has the light dependencies alone."""
    program = BARRIER % _barred() + code
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_light_package_predicts_and_needs_nothing_more():
    out = _run_light("""
import numpy as np
from gpnotes import GP, RBF, condition
X = np.linspace(0.0, 1.0, 5)[:, None]
mean, variance = condition(GP(RBF(1.0, 0.5), 0.01), X, np.sin(X[:, 0])).predict(X)
print(mean.shape, variance.shape)
""")
    assert out == "(5,) (5,)\n"


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("from gpnotes import plot; plot.figure()", "notebook"),
        ("from gpnotes import estimators", "sklearn"),
        ("import os; os.environ['GPNOTES_BACKEND'] = 'cupy'; "
         "import gpnotes; gpnotes.asarray([1.0])", "gpu-cuda12"),
    ],
)  # fmt: skip
def test_what_needs_an_extra_names_it(code, extra):
    attempt = f"""
try:
    {code}
except ImportError as problem:
    print(problem)
"""
    assert f"pip install '.[{extra}]'" in _run_light(attempt)


def test_every_module_imports_alone_or_names_its_extra():
    out = _run_light("""
import importlib, pkgutil, gpnotes
for module in pkgutil.walk_packages(gpnotes.__path__, "gpnotes.", onerror=lambda name: None):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as problem:
            print(f"{module.name}: {problem}")
""")
    silent = [line for line in out.splitlines() if "from a clone, pip install '.[" not in line]
    assert not silent
