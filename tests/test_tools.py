"""The commands of a developer: what they choose, run and say."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow]
pytest.importorskip("threadpoolctl")


@pytest.fixture
def tools(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripts, which are in no package."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    names = ("edits", "fast", "lite", "machines", "mutants", "stages", "versions")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name)


def test_this_machine_does_as_it_is_told(tools: Any) -> None:
    machines = tools["machines"]
    here = machines.probe(machines.environment())
    assert here.threads == 1
    for kind, _, said in machines.other(here):
        assert kind is None or machines.probe(kind.env).kernels == said != here.kernels
    names = machines.wide(here.loops)
    narrow = machines.environment(NPY_DISABLE_CPU_FEATURES=" ".join(names))
    assert not machines.wide(machines.probe(narrow).loops)


def test_the_fast_part_says_how_it_ended(tools: Any, tmp_path: Path, monkeypatch: Any) -> None:
    fast = tools["fast"]
    (tmp_path / "test_a.py").write_text(
        "import os, pytest\ndef test_a(): assert os.environ['A'] == '1'\ndef test_b(): assert 0\n"
        "@pytest.mark.slow\ndef test_c(): assert 0\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    monkeypatch.setattr(fast, "SELECTION", [str(tmp_path), "-m", "not slow"])
    result = fast.run({"A": "1"}, workers=1)
    assert (result.closing, result.fine) == ("1 failed, 1 passed", False)
    assert [test.rpartition("::")[2] for test in result.failed] == ["test_b"]
    without = fast.run({"A": "1"}, workers=1, but=["-k", "not test_b"])
    assert (without.closing, without.fine) == ("1 passed", True)


def test_oldest_and_newest_are_what_uv_calls_so(tools: Any) -> None:
    program = tools["versions"].uv()
    said = subprocess.run([program, "pip", "install", "--help"], capture_output=True, text=True)
    assert all(name in said.stdout for name in tools["versions"].RESOLUTIONS.values())


def test_notebooks_for_a_browser_install_the_wheels_and_carry_no_outputs(
    tools: Any, tmp_path: Path
) -> None:
    """Whether or not the page's own notebook installs from the repository: no browser can."""
    from nbformat import v4

    ran = v4.new_code_cell("1", outputs=[v4.new_output("stream", text="1")], execution_count=3)
    own = v4.new_code_cell('%pip install --quiet "git+https://dummy.example/notes@main"')
    for name, cells in {"with": [own, ran], "without": [ran]}.items():
        path = tmp_path / "html" / "_sources" / "part" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(v4.new_notebook(cells=cells)))
    assert tools["lite"].notebooks(tmp_path / "html", tmp_path / "served") == 2
    served = [json.loads(path.read_text()) for path in (tmp_path / "served" / "part").iterdir()]
    for cells in (notebook["cells"] for notebook in served):
        assert ["".join(cell["source"]) for cell in cells] == [tools["lite"].INSTALL, "1"]
        assert [cell["outputs"] for cell in cells] == [[], []]


def test_only_a_book_with_an_address_gets_jupyterlite(tools: Any, tmp_path: Path) -> None:
    config = tmp_path / "_config.yml"
    for pages, lite in (("", True), ("https://dummy.example/", False)):
        address = {"pages": pages, "lite": lite}
        config.write_text(json.dumps({"sphinx": {"config": {"site_address": address}}}))
        assert not tools["lite"].wanted(config)
    config.write_text(config.read_text().replace("false", "true"))
    assert tools["lite"].wanted(config)


def test_a_table_shows_each_stage_and_whether_it_failed(tools: Any) -> None:
    stages = tools["stages"]
    busy = "while process_time() < 0.4: pass"
    good = stages.run("good", sys.executable, "-c", f"from time import process_time\n{busy}")
    bad = stages.run("bad", sys.executable, "-c", "print('said'); raise SystemExit(3)", keep=True)
    assert (good.status, bad.status, bad.said) == (0, 3, "said\n")
    rows = [line.split() for line in stages.table([bad, good]).splitlines()]
    assert [(row[0], row[-1]) for row in rows[1:3]] == [("good", "ok"), ("bad", "failed")]
    assert good.cpu > 0.3
    assert rows[3][0] == "all"


def test_what_several_runs_counted_is_one_line(tools: Any) -> None:
    one = "x\n===== 2 failed, 40 passed, 1 skipped, 3 warnings in 61.20s (0:01:01) =====\n"
    other = "== 2 passed in 1s ==\n===== 1 error in 0.10s =====\n"
    counts = tools["stages"].counts
    assert counts([one, other]) == "2 failed, 42 passed, 1 skipped, 1 error"
    with pytest.raises(ValueError, match="did not end"):
        counts([one, "make: *** [pages] Terminated\n"])


@pytest.mark.parametrize(
    ("line", "slips"),
    [
        ("y = a + b", "y = a - b; y = a; y = b"),
        ("y = a * b", "y = a / b; y = a + b; y = a; y = b; y = -(a * b)"),
        ("y = x ** 2", "y = x * 2; y = x; y = x ** 3; y = x ** 1"),
        ("y = x[:n]", "y = x[:n - 1]"),
        ("y = xp.log(x)", "y = xp.exp(x); y = x"),
        ("y = f(a, b)", "y = f(b, a)"),
        ("y = np.add(a, b)", ""),
        ("gemv(0.0, overwrite_y=1)", "gemv(1.0, overwrite_y=1)"),
        ("y = reshape(x, (-1, n))", "y = reshape(x, (1, n))"),
        ("y = A.mT", "y = A"),
        ("y = p < q", "y = p <= q; y = p > q"),
        ("y = a if p else b", "y = b if p else a"),
        ("y = not p or q", "y = not p and q; y = q; y = not p; y = p or q"),
        ("raise ValueError(1 + x)", ""),
        ("rows: Literal[1] = f(strict=True)", ""),
        ("exact: bool = False", ""),
        ("_SEEDS = 2 ** 31 - 1", ""),
        ("blocks = memory.blocks(n + 1, 3)", ""),
        ("rows = blocks(n + 1, 3)", ""),
        ("y = x.astype(t, copy=False)", ""),
        ("Number: TypeAlias = float | Array", ""),
    ],
)  # fmt: skip
def test_a_line_has_its_slips(tools: Any, line: str, slips: str) -> None:
    edits, found = tools["edits"], []
    for place, node in enumerate(edits.find(ast.parse(line))):
        for i, _ in enumerate(edits.options(node)):
            tree = ast.parse(line)
            node = edits.find(tree)[place]
            found.append(edits.apply(tree, node, list(edits.options(node))[i]))
    assert found == slips.split("; ") * bool(slips)


def test_the_lines_that_an_edit_changes_are_found(tools: Any) -> None:
    was, becomes = "if p:\n    y = 1\n    z = 2", "if p:\n    y = 3\n    z = 2"
    assert tools["mutants"].changed(was, becomes) == ("y = 1", "y = 3")


SUMS = '''"""Sums."""


def total(a, b):
    return (
        a + b
    )


def other(a):
    return a - 1
'''


@pytest.fixture
def mutated(tools: Any, tmp_path: Path, monkeypatch: Any) -> Any:
    """`mutants`, on a repository whose sharp test stands in another wing."""
    files = {
        "src/gpnotes/__init__.py": "",
        "src/gpnotes/wing/__init__.py": "",
        "src/gpnotes/wing/sums.py": SUMS,
        "tests/wing/test_sums.py": "from gpnotes.wing.sums import total\n\n\n"
        "def test_nothing(): assert total(0, 0) == 0\n",
        "tests/rest/test_rest.py": "import pytest\nfrom gpnotes.wing.sums import other, total\n\n\n"
        "def test_other(): assert other(3) == 2\n"
        "@pytest.mark.parametrize('n', [0, pytest.param(2, id='|2|')])\n"
        "def test_total(n): assert total(1, n) == n + 1\n",
        "pytest.ini": "[pytest]\nmarkers =\n  site\n  browser\n  nightly\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run("git init -q && git add .", shell=True, cwd=tmp_path, check=True)
    monkeypatch.setattr(tools["mutants"], "ROOT", tmp_path)
    return tools["mutants"]


def test_what_lives_meets_the_tests_of_the_day_that_reach_it(mutated: Any, tmp_path: Path) -> None:
    at, text = "src/gpnotes/wing/sums.py:6", SUMS.replace("a + b", "a - b")
    row = {"at": at, "text": text, "fate": "LIVED"}
    mutated.try_all("room", [row], tmp_path / "results")
    assert row["fate"] == "LIVED"
    mutated.reach([row], 1)
    neighbours = [f"tests/rest/test_rest.py::test_total[{n}]" for n in (0, "|2|")]
    assert row["reached"] == ["tests/wing/test_sums.py::test_nothing", *neighbours]
    mutated.try_all("day", [row], tmp_path / "results")
    assert row["fate"] == "by day tests/rest/test_rest.py::test_total[|2|]"


def test_a_statement_has_its_lines_and_a_compound_one_its_head(tools: Any) -> None:
    tree = ast.parse("if a and (\n    b\n):\n    c = [\n        1,\n    ]\n    d = 2\n")
    lines = [list(tools["mutants"].statement(tree, line)) for line in (2, 5, 7)]
    assert lines == [[1, 2, 3], [4, 5, 6], [7]]
