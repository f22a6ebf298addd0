"""What the README and the guide claim about this repository is so."""

from __future__ import annotations

import doctest
import importlib
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
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    before = set(sys.modules)
    yield importlib.import_module("kept")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("harness", "kept", "tasks"):
            sys.modules.pop(name)


def test_the_tables_of_speed_are_those_that_are_kept_and_mark_what_is_older_than_its_code(bench):
    kept = bench.read()
    assert len(bench.table(kept, front=True).splitlines()) == 2 + 8 + 2
    for mark, page in bench.PAGES.items():
        said = bench.between(mark).search(page.read_text("utf-8"))[0]
        assert said == bench.said(kept, mark), "run: python benchmarks/run.py --tables"


MACHINE = {"processor": "A chip", "cores": 2, "threads": 1}


def _report(bench: Any, ours: float, **others: float) -> dict[str, Any]:
    files = ["ground/lazy.py"]
    row = {"n": 2000, "code": bench.stamp(files), "files": files, "seconds": {"floor": [1.0]},
           "times": {"gpnotes": ours, **others}}  # fmt: skip
    return {"when": "2026-11-27", "machine": MACHINE, "rows": {"evidence": row}}


def test_a_ratio_that_grew_by_more_than_a_tenth_on_the_same_kind_of_processor_is_named(bench):
    kept = bench.updated({}, _report(bench, 1.2))
    assert bench.slower(_report(bench, 1.31), kept, 1.1) == ([], 1)
    (line,), _ = bench.slower(_report(bench, 1.33), kept, 1.1)
    assert line == "evidence: 1.33 times the floor, where 1.2 are kept"
    other = {**_report(bench, 9.0), "machine": {**MACHINE, "threads": 2}}
    assert bench.slower(other, kept, 1.1) == ([], 0)


def test_of_one_day_the_kind_of_machine_that_was_measured_last_is_in_the_table(bench):
    other = {**_report(bench, 1.8), "machine": {**MACHINE, "threads": 2}}
    kept: dict[str, Any] = {}
    for report, shown in ((_report(bench, 1.2), 1.2), (other, 1.8), (_report(bench, 1.3), 1.3)):
        kept = bench.updated(kept, report)
        assert f"**{shown}×**" in bench.table(kept, front=True)


def test_the_best_rival_is_printed_and_who_is_ahead_is_named(bench):
    kept = bench.updated({}, _report(bench, 1.5, GPy=3.3, GPyTorch=2.5))
    assert "| **1.5×** | 2.5×, GPyTorch | Cholesky, inverse |" in bench.table(kept, front=True)
    assert bench.ahead(kept) == []
    kept = bench.updated(kept, _report(bench, 1.5, GPyTorch=1.2))
    assert "| 1.5× | **1.2×, GPyTorch** | 3.3×, GPy |" in bench.table(kept, front=False)
    assert bench.ahead(kept) == ["- evidence and gradient, 2000 points: GPyTorch (1.25×)"]


def test_a_figure_is_marked_when_its_code_is_another_and_not_for_a_comment(
    bench, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys.modules["harness"], "SOURCE", tmp_path)
    stamp, code = bench.stamp, sys.modules["harness"]._code
    path = tmp_path / "a.py"
    path.write_text("def f(x):\n    return 2 * x\n")
    row = {"files": ["a.py"], "code": stamp(["a.py"])}
    code.cache_clear()
    path.write_text('"""Words."""\n\n\ndef f(x):\n    """More."""\n    # why\n    return 2 * x\n')
    assert not bench.is_older(row)
    code.cache_clear()
    path.write_text("def f(x):\n    return 3 * x\n")
    assert bench.is_older(row)


def test_a_page_without_a_place_for_the_table_is_an_error(bench, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no place for the table"):
        bench.write({}, {"speed": page})


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
