"""What the README and the guide claim about this repository is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md"]


def _targets() -> dict[str, str]:
    """Every target of the Makefile and what it says about itself."""
    return dict(re.findall(r"^([a-z]+):.*?##\s+(.+)$", (ROOT / "Makefile").read_text(), re.M))


def test_the_example_of_the_readme_runs():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_every_command_named_is_a_target(page):
    named = set(re.findall(r"(?:`|^ {4})make ([a-z]+)", (ROOT / page).read_text(), re.M))
    assert named
    assert named <= _targets().keys()


@pytest.mark.parametrize("page", PAGES)
def test_every_file_linked_exists(page):
    linked = re.findall(r"\]\(([^):]+)\)", (ROOT / page).read_text())
    assert all((ROOT / name).is_file() for name in linked), linked


def test_the_targets_are_all_there_and_need_no_file_of_their_name():
    wanted = {"book", "test", "lab", "references", "bench", "lint", "serve", "clean"}
    phony = set(re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.M)[1].split())
    assert wanted <= _targets().keys()
    assert _targets().keys() <= phony


def _said() -> list[Path]:
    """Every file in which an instruction to install could stand."""
    kinds = (".md", ".py", ".yml", ".toml", ".js")
    tops = [ROOT / top for top in ("src", "book", "benchmarks")]
    inner = [path for top in tops for path in top.rglob("*") if path.suffix in kinds]
    outer = [path for path in ROOT.iterdir() if path.suffix in kinds or path.name == "Makefile"]
    return inner + outer


PROMISED = re.compile(r"(?:pip|uv|pipx|conda) (?:\w+ )?(?:install|add)\s[^\n`]*(?<![\w./-])gpnotes")


def test_nothing_promises_a_name_on_an_index_of_packages():
    """The package is installed from a clone; under its name an index may hold anything."""
    assert PROMISED.search("pip install 'gpnotes[book]'")
    assert PROMISED.search("`pip install gpnotes`")
    assert not PROMISED.search("from a clone, pip install '.[book]'")
    found = [path.relative_to(ROOT) for path in _said() if PROMISED.search(path.read_text("utf-8"))]
    assert found == []
