"""What the README and the guide claim about this repository is so."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import gpnotes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "EXTENDING.md"),
    *("benchmarks/README.md", "book/AUTHORING.md", "engine/ARCHITECTURE.md"),
]


def _targets() -> dict[str, str]:
    """Every target of the Makefile and what it says about itself."""
    return dict(re.findall(r"^([a-z]+):.*?##\s+(.+)$", (ROOT / "Makefile").read_text(), re.M))


def test_the_example_of_the_readme_runs():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_what_is_read_first_is_short(page):
    assert len((ROOT / page).read_text("utf-8").split()) <= 900


def test_five_commands_open_the_guide_and_one_of_them_runs_one_file():
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()[:10]
    commands = [line.split("  #")[0].split() for line in lines if line.startswith("    ")]
    assert len(commands) == 5
    (one,) = (words[-1] for words in commands if "pytest" in words)
    assert (ROOT / one).is_file()


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("speed_table")
    sys.modules.pop("speed_table")


def test_the_table_of_speed_is_the_one_that_the_benchmarks_keep(speed):
    kept = json.loads(speed.KEPT.read_text("utf-8"))
    assert len(kept["rows"]) == 8
    for page in speed.PAGES:
        assert speed.BETWEEN.search(page.read_text("utf-8"))[0] == speed.table(kept), page.name


REPORT = {
    "when": "2026-11-21T08:00:00+00:00",
    "machine": {"cores": 2, "processor": "A chip", "blas": [{"num_threads": 2}]},
    "rows": [{"task": "evidence", "n": 2000, "ratio": 1.234, "ratio_scikit_learn": 8.0}],
    "bound": {"seconds": {"floor": [1.0, 2.0, 3.0], "gpnotes": [2.2, 2.4, 2.6]}},
}


def test_a_run_puts_its_own_figures_there_and_says_where_each_was_measured(speed, tmp_path):
    kept = json.loads(speed.KEPT.read_text("utf-8"))
    now = speed.updated(kept, REPORT)
    evidence, *_ = now["rows"]
    assert evidence["here"] == [1.23, "b"]
    assert evidence["rival"] == kept["rows"][0]["rival"]  # GPy, which the run did not measure
    bound = next(row for row in now["rows"] if row["key"] == "bound")
    assert bound["here"] == [1.2, "b"]
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- speed: begin -->\nold\n<!-- speed: end -->\nb\n", encoding="utf-8")
    speed.write(now, (page,))
    text = page.read_text("utf-8")
    assert "| **1.23×<sup>b</sup>** | 3.3×<sup>a</sup>, GPy |" in text
    assert "<sup>b</sup>2 cores of A chip, BLAS on 2, 2026-11-21." in text
    assert "old" not in text


def test_a_machine_that_measured_nothing_any_more_goes(speed):
    machines = {"a": "one", "b": "another"}
    row = {"key": "evidence 2000", "here": [1.0, "a"], "rival": ["scikit-learn", 2.0, "b"]}
    now = speed.updated({"machines": machines, "rows": [row]}, REPORT)
    assert now["rows"][0]["rival"] == ["scikit-learn", 8.0, "c"]
    assert now["machines"].keys() == {"c"}


def test_a_page_without_a_place_for_the_table_is_an_error(speed, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no place for the table"):
        speed.write({"machines": {"a": ""}, "rows": []}, (page,))


@pytest.mark.parametrize("page", PAGES)
def test_every_command_named_is_a_target(page):
    named = set(re.findall(r"(?:`|^ {4})make ([a-z]+)", (ROOT / page).read_text(), re.M))
    assert named
    assert named <= _targets().keys()


WORKFLOWS = ROOT / ".github" / "workflows"


def _jobs(name: str) -> dict[str, Any]:
    """The jobs of a workflow."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))["jobs"]


def test_ci_runs_commands_of_the_makefile():
    here = set(re.findall(r'"make", "([a-z]+)"', (ROOT / "tools" / "ci.py").read_text()))
    steps = [step for job in _jobs("ci.yml").values() for step in job["steps"]]
    there = set(re.findall(r"\bmake ([a-z]+)", " ".join(step.get("run", "") for step in steps)))
    assert {"lint", "apart", "book", "pages"} == there - {"arrays"}
    assert here == there - {"arrays"} | {"environment", "nightly"}
    assert here | there <= _targets().keys()


def test_pages_and_releases_wait_for_ci_and_the_night_on_their_commit():
    wanted = {name: f"./.github/workflows/{name}.yml" for name in ("ci", "night")}
    for workflow, first in (("pages.yml", "deploy"), ("release.yml", "build")):
        jobs = _jobs(workflow)
        assert {jobs[need].get("uses") for need in jobs[first]["needs"]} == {*wanted.values()}
        assert not re.search(r"always|failure|cancelled", jobs[first].get("if", ""))
    assert _jobs("release.yml")["publish"]["needs"] == "build"


@pytest.mark.parametrize("page", PAGES)
def test_every_file_linked_exists(page):
    linked = re.findall(r"\]\(([^):]+)\)", (ROOT / page).read_text())
    assert all(((ROOT / page).parent / name).is_file() for name in linked), linked


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize(
    "form", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem
)
def test_a_form_for_issues_is_one_that_github_reads(form):
    yaml = pytest.importorskip("yaml")
    said = yaml.safe_load(form.read_text("utf-8"))
    assert {"name", "description", "body"} <= said.keys()
    fields = [part for part in said["body"] if part["type"] != "markdown"]
    names = [part["id"] for part in fields]
    assert len(names) == len(set(names)) >= 3
    assert {part["type"] for part in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert all(part["attributes"]["label"] for part in fields)
    assert any(part.get("validations", {}).get("required") for part in fields)


def test_the_form_for_a_slip_asks_for_what_the_guide_asks(root):
    guide = (root / "CONTRIBUTING.md").read_text("utf-8")
    guide = guide.split("<!-- report: begin -->")[1].split("<!-- report: end -->")[0]
    points = len(re.findall(r"^- ", guide, re.MULTILINE))
    form = (root / ".github" / "ISSUE_TEMPLATE" / "slip.yml").read_text("utf-8")
    assert form.count("    id: ") == points


def test_the_citation_is_whole_and_of_this_version():
    yaml = pytest.importorskip("yaml")
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    wanted = {
        "title",
        "type",
        "abstract",
        "authors",
        "version",
        "date-released",
        "license",
        "keywords",
    }
    assert wanted <= said.keys()
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    assert said["version"] == config["version"] == gpnotes.__version__
    date.fromisoformat(said["date-released"])


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
