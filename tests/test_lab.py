"""`make lab`: JupyterLab opens a chapter's text as a notebook."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = "book/gaussian-processes/weight-view.md"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("book/**/*.md"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the server supports, for the tests to save into."""
    copy = tmp_path_factory.mktemp("lab")
    for name in ("book", "tools"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the options of the Makefile and a token; ends with the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    recipe = (ROOT / "Makefile").read_text()
    options = re.search(r"/python (tools/lab.py .*) \$\(LAB_OPTIONS\)", recipe)[1].split()
    command = [sys.executable, *options, "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--IdentityProvider.token=t", "--ServerApp.port_retries=0"]
    place = tmp_path_factory.mktemp("config")
    _set_viewer(place / "labconfig" / "default_setting_overrides.json")
    env = {**os.environ, "JUPYTER_CONFIG_PATH": str(place)}
    with (tmp_path_factory.mktemp("log") / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env=env, start_new_session=True
        )
        yield f"http://127.0.0.1:{port}"
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end; one that lingers over its kernels is ended with them."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _set_viewer(target: Path) -> None:
    """What the recipe writes before it starts the server."""
    recipe = (ROOT / "Makefile").read_text()
    kinds = re.search(r"set-default-viewer (.*)", recipe)[1].split()
    command = [str(Path(sys.executable).with_name("jupytext-config")), "--settings-file"]
    subprocess.run([*command, str(target), "set-default-viewer", *kinds], check=True)


def test_the_lab_does_not_ask_whether_to_fetch_news() -> None:
    """In a project that asks nothing of the net; what the recipe switches off is there to be."""
    (name,) = re.findall(r'labextension disable "(.*?)"', (ROOT / "Makefile").read_text())
    scripts = (Path(sys.prefix) / "share" / "jupyter" / "lab" / "static").glob("*.js")
    assert any(f'"{name}"' in path.read_text("utf-8").replace("'", '"') for path in scripts)


def _get(address: str, seconds: float = 60.0) -> dict:
    """The JSON at an address of a server that may still be starting."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=seconds) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError) as problem:
            starting = not isinstance(problem, urllib.error.HTTPError)
            if not starting or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _open(server: str, page: str) -> dict[str, Any]:
    """A page as JupyterLab holds it once its kernel runs."""
    model = _get(f"{server}/api/contents/{page}?type=notebook&token=t")["content"]
    model["metadata"]["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    model["metadata"]["language_info"] = {
        "name": "python",
        "version": "3.11.7",
        "mimetype": "text/x-python",
        "codemirror_mode": {"name": "ipython", "version": 3},
        "pygments_lexer": "ipython3",
        "nbconvert_exporter": "python",
        "file_extension": ".py",
    }
    return {**model, "nbformat": 4, "nbformat_minor": 5}


def _save(server: str, page: str, notebook: dict[str, Any]) -> dict[str, Any]:
    """Send a notebook as JupyterLab does on "Save"; what the server answers."""
    body = json.dumps({"type": "notebook", "format": "json", "content": notebook}).encode()
    request = urllib.request.Request(f"{server}/api/contents/{page}?token=t", body, method="PUT")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _changes(page: str, folder: Path) -> list[str]:
    """The lines by which a page differs from the one in the repository, with their signs."""
    texts = [(place / page).read_text().splitlines() for place in (ROOT, folder)]
    return [line for line in difflib.ndiff(*texts) if line[0] in "+-"]


@pytest.fixture
def page(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """A page that is in the folder again what it is in the repository."""
    yield request.param
    shutil.copy(ROOT / request.param, folder / request.param)


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_opening_and_saving_changes_no_line(page, server, folder):
    answer = _save(server, page, _open(server, page))
    assert (folder / page).read_text() == (ROOT / page).read_text()
    again = _get(f"{server}/api/contents/{page}?content=0&token=t")
    assert answer["last_modified"] == again["last_modified"]  # else JupyterLab asks who changed it


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_what_the_cells_have_shown_is_not_written(page, server, folder):
    notebook = _open(server, page)
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] == "code":
            shown = {"output_type": "stream", "name": "stdout", "text": "shown\n"}
            cell.update(outputs=[shown], execution_count=number)
            cell["metadata"].update(execution={"shell.execute_reply": "2026-01-01T00:00:00Z"})
    _save(server, page, notebook)
    assert (folder / page).read_text() == (ROOT / page).read_text()


HEADS = ["---\nequations: true\n---\n", "---\nequations: true\n---\n\n", "---\ntitle: A\n---"]


@pytest.mark.parametrize("text", HEADS)
def test_a_page_that_is_only_front_matter_stays_as_it_is(text, server, folder):
    (folder / "book/head.md").write_text(text)
    _save(server, "book/head.md", _open(server, "book/head.md"))
    assert (folder / "book/head.md").read_text() == text


def _cell(notebook: dict[str, Any], words: str) -> int:
    """The place of the one cell that holds these words."""
    (place,) = (i for i, cell in enumerate(notebook["cells"]) if words in cell["source"])
    return place


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We came from features to a kernel.", "We went from features to one."),  # in a paragraph
        ('francs = dataset("engel")', 'francs = dataset("engels")'),  # in a cell
        ('left.set(xlabel="income, 1000', 'left.set(xlabel="salary, 1000'),  # below a caption
    ],
)
def test_an_edit_changes_its_line_alone(page, server, folder, old, new):
    notebook = _open(server, page)
    cell = notebook["cells"][_cell(notebook, old)]
    cell["source"] = cell["source"].replace(old, new)
    _save(server, page, notebook)
    assert (folder / page).read_text() == (ROOT / page).read_text().replace(old, new)


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_an_edited_caption_is_written_anew_and_no_other(page, server, folder):
    notebook = _open(server, page)
    cell = notebook["cells"][_cell(notebook, 'left.set(xlabel="income, 1000')]
    caption = cell["metadata"]["mystnb"]["figure"]["caption"]
    cell["metadata"]["mystnb"]["figure"]["caption"] = caption.replace("fans out", "widens")
    _save(server, page, notebook)
    changes = _changes(page, folder)
    assert any("widens" in line for line in changes)
    assert len(changes) < 16, changes


CELL = {"```{code-cell} ipython3", ":tags: [hide-input]", "```"}


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_a_cell_that_is_taken_out_takes_its_lines_alone(page, server, folder):
    notebook = _open(server, page)
    place = _cell(notebook, "ours = from_scratch(*map(")
    source = notebook["cells"].pop(place)["source"].splitlines()
    _save(server, page, notebook)
    gone = [line[2:] for line in _changes(page, folder) if line[0] == "-"]
    come = [line[2:] for line in _changes(page, folder) if line[0] == "+"]
    assert come == ["+++"]  # else the texts around it would be one cell
    assert set(source) - {""} <= set(gone) <= {*source, *CELL, ""}
    assert len(_open(server, page)["cells"]) == len(notebook["cells"])


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_a_cell_that_is_put_in_adds_its_lines_alone(page, server, folder):
    notebook = _open(server, page)
    place = _cell(notebook, 'francs = dataset("engel")') + 1
    cell = {"cell_type": "code", "source": "print(1)", "metadata": {}, "outputs": [], "id": "new"}
    notebook["cells"].insert(place, {**cell, "execution_count": None})
    _save(server, page, notebook)
    changes = _changes(page, folder)
    assert sorted(changes) == sorted(["+ ", "+ ```{code-cell} ipython3", "+ print(1)", "+ ```"]), (
        changes
    )


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_another_kernel_is_noted_in_the_header(page, server, folder):
    notebook = _open(server, page)
    notebook["metadata"]["kernelspec"]["name"] = "other"
    _save(server, page, notebook)
    assert "+   name: other" in _changes(page, folder)


def _hidden(cell: dict[str, Any]) -> bool | None:
    return cell["metadata"].get("jupyter", {}).get("source_hidden")


def test_evidence_opens_folded_and_nothing_else_does(server):
    code = [c for c in _open(server, CHAPTER)["cells"] if c["cell_type"] == "code"]
    evidence = [cell for cell in code if "evidence" in cell["metadata"].get("tags", ())]
    assert len(evidence) > 20
    assert all(_hidden(cell) is (True if cell in evidence else None) for cell in code)


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_how_evidence_is_folded_is_not_written(page, server, folder):
    notebook = _open(server, page)
    for cell in notebook["cells"][::2]:
        if "jupyter" in cell["metadata"]:
            cell["metadata"]["jupyter"]["source_hidden"] = False
    _save(server, page, notebook)
    assert (folder / page).read_text() == (ROOT / page).read_text()


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_what_else_is_said_of_a_cell_of_evidence_is_written(page, server, folder):
    notebook = _open(server, page)
    cell = next(c for c in notebook["cells"] if "evidence" in c["metadata"].get("tags", ()))
    cell["metadata"]["jupyter"]["outputs_hidden"] = True
    _save(server, page, notebook)
    changes = _changes(page, folder)
    assert any("outputs_hidden: true" in line for line in changes)
    assert not any("source_hidden" in line for line in changes)


def test_the_viewer_meets_no_directive_of_the_engine(server):
    texts = [c["source"] for c in _open(server, CHAPTER)["cells"] if c["cell_type"] == "markdown"]
    everything = "\n\n".join(texts)
    ours = r"^(?:`{3,}|:{3,})\{(?:evidence|claim|equation-)[^\n]*"
    assert re.findall(ours, everything, re.M) == []
    assert len(re.findall(r"^```\{dropdown\} Evidence(?: for eq-\S+)?$", everything, re.M)) > 20
    assert len(re.findall(r"^```\{admonition\} Claim cl-\S+$", everything, re.M)) == 2
    assert "% filled by the build: {equation-summary}" in everything


@pytest.mark.parametrize("page", [CHAPTER], indirect=True)
def test_an_edit_of_evidence_is_written_as_evidence(page, server, folder):
    notebook = _open(server, page)
    old, new = "{dropdown} Evidence for eq-wv-observations\nOn the same", "On other"
    cell = notebook["cells"][_cell(notebook, old)]
    cell["source"] = cell["source"].replace("On the same", new)
    _save(server, page, notebook)
    old = "{evidence} eq-wv-observations\nOn the same"
    changed = old.replace("On the same", new)
    assert (folder / page).read_text() == (ROOT / page).read_text().replace(old, changed)


SHORT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# A page

```{equation-summary}
```

A line.

```{evidence} eq-one
Because $a = b$, and *so* on.
```

```{claim} cl-two
It holds in {share} draws.
```

```{evidence}
More.
```
"""


@pytest.fixture
def looked(server, folder, browser):
    """A function that opens a page in the viewer: what it shows in red, and its folds."""
    page = browser.new_page()
    page.set_default_timeout(300_000)

    def look(text: str) -> Any:
        (folder / "book/short.md").write_text(text)
        _get(f"{server}/api/status?token=t")  # once it answers
        page.goto(f"{server}/lab/tree/book/short.md?token=t&reset", wait_until="commit")
        page.locator(".jp-MarkdownCell details").first.wait_for()
        return page

    yield look
    page.close()


def test_evidence_is_a_quiet_fold_in_the_viewer(looked):
    page = looked(SHORT)
    folds = page.locator(".jp-MarkdownCell details")
    assert folds.count() == 2
    assert [fold.get_attribute("open") for fold in folds.all()] == [None, None]
    titles = [title.strip() for title in folds.locator("summary").all_inner_texts()]
    assert titles == ["Evidence for eq-one", "Evidence"]
    shown = " ".join(page.locator(".jp-MarkdownCell").all_inner_texts())
    assert "A line." in shown
    assert "Unknown" not in shown
    assert "equation-summary" not in shown
    assert "Claim cl-two" in shown
    assert "{share}" in shown
    folds.first.locator("summary").click()
    assert folds.first.locator("em").inner_text() == "so"
    folds.first.locator(".katex, mjx-container, .MathJax").first.wait_for()


def test_a_chapter_opens_as_a_notebook(server):
    model = _get(f"{server}/api/contents/{CHAPTER}?type=notebook&token=t")
    assert model["type"] == "notebook"
    kinds = [cell["cell_type"] for cell in model["content"]["cells"]]
    code = [cell["source"] for cell in model["content"]["cells"] if cell["cell_type"] == "code"]
    assert "markdown" in kinds
    assert any("Chapter(" in source for source in code)
    assert not any("{code-cell}" in cell["source"] for cell in model["content"]["cells"])


def test_a_click_on_a_chapter_opens_the_notebook_editor(tmp_path):
    """The recipe writes this setting into the environment before it starts the server."""
    target = tmp_path / "labconfig" / "default_setting_overrides.json"
    _set_viewer(target)
    recipe = (ROOT / "Makefile").read_text()
    viewers = json.loads(target.read_text())["@jupyterlab/docmanager-extension:plugin"]
    assert viewers["defaultViewers"]["markdown"] == "Jupytext Notebook"
    assert re.search(r"^VIEWER := .*/labconfig/default_setting_overrides.json$", recipe, re.M)
