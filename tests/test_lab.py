"""`make lab`: JupyterLab opens a chapter's text as a notebook."""

from __future__ import annotations

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

pytest.importorskip("jupytext")

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = "book/gaussian-processes/weight-view.md"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("book/**/*.md"))
# Directives that jupyterlab-myst 2.7 showed in a notebook; others it folds into a red box.
VIEWERS = {"admonition", "code", "code-cell", "dropdown", "exercise", "index"}
VIEWERS |= {"literalinclude", "math", "raw", "solution-start", "solution-end"}
VIEWERS |= {"div", "grid", "grid-item-card"}  # by its documentation
VIEWERS |= {"python"}  # in an example for Quarto


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
    with (tmp_path_factory.mktemp("log") / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        yield f"http://127.0.0.1:{port}"
        os.killpg(process.pid, signal.SIGKILL)  # with its kernels
        process.wait()


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
        "codemirror_mode": {"name": "ipython", "version": 3},
    }
    return {**model, "nbformat": 4, "nbformat_minor": 5}


def _save(server: str, page: str, notebook: dict[str, Any]) -> dict[str, Any]:
    """Send a notebook as JupyterLab does on "Save"; what the server answers."""
    body = json.dumps({"type": "notebook", "format": "json", "content": notebook}).encode()
    request = urllib.request.Request(f"{server}/api/contents/{page}?token=t", body, method="PUT")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.fixture
def page(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """A page that is in the folder again what it is in the repository."""
    yield request.param
    shutil.copy(ROOT / request.param, folder / request.param)


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_opening_and_saving_changes_no_line(page, server, folder):
    """Nor does what the cells have shown."""
    notebook = _open(server, page)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            shown = {"output_type": "stream", "name": "stdout", "text": "shown\n"}
            cell.update(outputs=[shown], execution_count=1)
    answer = _save(server, page, notebook)
    assert (folder / page).read_text() == (ROOT / page).read_text()
    again = _get(f"{server}/api/contents/{page}?content=0&token=t")
    assert answer["last_modified"] == again["last_modified"]  # else JupyterLab asks who changed it


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
        ("eq-wv-observations\nOn the same", "eq-wv-observations\nOn other"),  # in evidence
    ],
)
def test_an_edit_changes_its_line_alone(page, server, folder, old, new):
    notebook = _open(server, page)
    cell = notebook["cells"][_cell(notebook, old)]
    cell["source"] = cell["source"].replace(old, new)
    _save(server, page, notebook)
    assert (folder / page).read_text() == (ROOT / page).read_text().replace(old, new)


def test_pages_open_by_directives_that_the_viewer_knows():
    import lab  # here, or each process of the tests imports JupyterLab for a second

    for page in PAGES:
        text = (ROOT / page).read_text()
        shown = lab.known(text)
        assert lab.ours(shown) == text, page
        if "{code-cell}" in text:
            assert set(re.findall(r"^[`:]{3,}\{([\w-]+)\}", shown, re.M)) <= VIEWERS, page


def test_evidence_opens_folded(server):
    cells = _open(server, CHAPTER)["cells"]
    for cell in cells:
        hidden = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert hidden == ("evidence" in cell["metadata"].get("tags", ()))
    everything = "\n\n".join(c["source"] for c in cells if c["cell_type"] == "markdown")
    assert not re.search(r"^(?:`{3,}|:{3,})\{(?:evidence|claim|equation-)", everything, re.M)
    assert len(re.findall(r"^```\{dropdown\} Evidence", everything, re.M)) > 20
