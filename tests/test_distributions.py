"""The four wheels hold what they must, and a plain ``pip install .`` works without the extras."""

from __future__ import annotations

import json
import os
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
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LIGHT = {canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]}
TABLES = {f"checked_papers/sources/{table}.toml" for table in ("packages", "units")}
DISTRIBUTIONS = {
    "gpnotes": (ROOT, {"gpnotes/py.typed", "gpnotes/gpnotes.mplstyle", "gpnotes/colours.css"}),
    "gpnotes_book": (ROOT / "editorial", {"gpnotes_book/py.typed"}),
    "checked_papers": (ROOT / "papers", {"checked_papers/py.typed", *TABLES}),
    "checked_equations": (ROOT / "engine", {"checked_equations/latex/grammar.lark"}),
}
LITTER = ignore_patterns("__pycache__", "*.egg-info", "build")


def _copy(home: Path, to: Path) -> Path:
    """What a clone has of a distribution, where a build leaves nothing behind in it."""
    copytree(home / "src", to / "src", ignore=LITTER)
    for file in filter(Path.is_file, home.glob("[!.]*")):
        (to / file.name).write_bytes(file.read_bytes())
    return to


# Several of pip's processes would each import pip, and ask for the requirements first.
BUILD = """
import os, sys
from setuptools import build_meta
for folder, to in zip(sys.argv[1::2], sys.argv[2::2]):
    if not (child := os.fork()):
        os.chdir(folder)
        os.makedirs(to)
        build_meta.build_wheel(to)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("no wheel of " + folder)
"""


def _wheels(*of: tuple[Path, Path]) -> list[zipfile.ZipFile]:
    """Build a wheel of each folder into another, in copies of one process."""
    places = [str(place) for pair in of for place in pair]
    subprocess.run([sys.executable, "-c", BUILD, *places], check=True, capture_output=True)
    return [zipfile.ZipFile(*to.glob("*.whl")) for _, to in of]


@pytest.fixture(scope="module")
def wheels(once: Any) -> dict[str, zipfile.ZipFile]:
    """The wheel of each package, built from a copy of the clone."""

    def build(folder: Path) -> dict[str, zipfile.ZipFile]:
        copytree(ROOT / "book", folder / "book", ignore=LITTER)
        copies = {one: _copy(home, folder / one) for one, (home, _) in DISTRIBUTIONS.items()}
        made = _wheels(*((copy, folder / "wheels" / one) for one, copy in copies.items()))
        return dict(zip(copies, made, strict=True))

    return once("wheels", build)


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
    (wheel,) = _wheels((alone, tmp_path / "wheel"))
    assert sorted(wheel.namelist()) == sorted(wheels["gpnotes_book"].namelist())


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
