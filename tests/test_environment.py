"""One environment, written in four places: the project files, two locks, the file for conda."""

from __future__ import annotations

import importlib
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
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
    book, every = ({line.partition(" ;")[0] for line in _lock_lines(lock)} for lock in LOCKS[::-1])
    assert book < every, "run make lock"
    needed = {canonicalize_name(name) for name in _wanted(("notebook", "book", "read"))}
    locked = _locked(LOCKS[1]).keys()
    assert needed <= locked
    others = _wanted(("test", "bench", "scale", "compiled", "studies"))
    extra = {canonicalize_name(name) for name in others} - needed
    assert {"distributed", "jax", "playwright", "hypothesis", "numba", "optuna"} <= extra
    assert locked & extra <= {"nbclient", "pyyaml", "psutil"}  # what the book's tools bring


@pytest.mark.parametrize("place", ["engine", "papers", "editorial"])
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
    assert {
        "--editable ./engine",
        "--editable ./papers",
        "--editable .",
        "--editable ./editorial",
    } <= set(by_pip)
    named = _requirements(
        line
        for line in plain + by_pip
        if line != "pip" and "--editable" not in line and "python " not in line
    )
    assert {one.name: str(one.specifier) for one in named} == _wanted()


PLACES = {
    "checked-equations": ROOT / "engine", "checked-papers": ROOT / "papers",
    "gpnotes": ROOT, "gpnotes-book": ROOT / "editorial",
}  # fmt: skip


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
