"""`make lab`: JupyterLab opens a chapter's text as a notebook."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = "book/gaussian-processes/weight-view.md"


@pytest.fixture
def server(tmp_path):
    """The address of a server with the options of the Makefile and a token; ends with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    recipe = (ROOT / "Makefile").read_text()
    options = re.search(r"jupyter lab (.*) \$\(LAB_OPTIONS\)", recipe)[1].split()
    command = [sys.executable, "-m", "jupyter", "lab", *options, "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--IdentityProvider.token=t", "--ServerApp.port_retries=0"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        yield f"http://127.0.0.1:{port}"
        process.terminate()
        process.wait(20)


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
    recipe = (ROOT / "Makefile").read_text()
    kinds = re.search(r"set-default-viewer (.*)", recipe)[1].split()
    target = tmp_path / "labconfig" / "default_setting_overrides.json"
    command = [str(Path(sys.executable).with_name("jupytext-config")), "--settings-file"]
    subprocess.run([*command, str(target), "set-default-viewer", *kinds], check=True)
    viewers = json.loads(target.read_text())["@jupyterlab/docmanager-extension:plugin"]
    assert viewers["defaultViewers"]["markdown"] == "Jupytext Notebook"
    assert re.search(r"^VIEWER := .*/labconfig/default_setting_overrides.json$", recipe, re.M)
