"""What the README and the guide claim about this repository is so."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]


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
    paths = [path.relative_to(ROOT) for path in _said() if PROMISED.search(path.read_text("utf-8"))]
    assert paths == []


@pytest.fixture
def picture(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield importlib.import_module("picture")
    sys.modules.pop("picture")


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_the_picture_shows_what_the_package_computes_today(picture, paper):
    """Numbers to what an eye can see; the script itself to the letter."""
    kept, now = picture.kept(paper), picture.facts()
    assert kept["script"] == now["script"], "run python tools/picture.py"
    assert kept["caught"] == now["caught"] > 20
    assert len(now["slips"]) == len(picture.SLIPS)
    assert kept["slips"] == pytest.approx(now["slips"], rel=1e-3)
    for name in ("mean", "sd"):
        assert kept[name] == pytest.approx(now[name], abs=1e-3)
    for one, other in zip(kept["draws"], now["draws"], strict=True):
        assert one == pytest.approx(other, abs=1e-3)


def test_the_readme_shows_the_picture_on_both_papers_and_says_how_many_slips(picture):
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert [ROOT / name for name in shown] == [picture._file("dark"), picture._file("light")]
    caught = picture.kept("light")["caught"]
    assert f"{caught} of {caught} slips caught" in text
