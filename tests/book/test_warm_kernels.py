"""A kernel that is forked with its imports finds what one that has just started finds."""

from __future__ import annotations

import importlib
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXT = Path(__file__).resolve().parents[2] / "book" / "_ext"
CELLS = (
    "import os, sys\nimported = 'gpnotes_book' in sys.modules\n"
    "own = os.getpgid(0) == os.getpid()\nprint(own, os.getcwd(), os.environ['MPLBACKEND'])",
    "import matplotlib, numpy\nprint(sorted(matplotlib.rcParams.items()), numpy.geterr())",
    "from gpnotes import plot\nfig, ax = plot.figure('single')",
)
HIDDEN = f"print({str(EXT)!r} in sys.path)"
pytestmark = pytest.mark.book


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXT)
    return importlib.import_module("warm_kernels").warm_kernels


def ran(folder: Path, *cells: str) -> list[Any]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, kernel_name="python3", resources=resources, coalesce_streams=True
    )  # a busy machine sends one line in several pieces
    client.execute()
    return [
        [(o.output_type, o.get("text"), *o.get("data", ())) for o in cell.outputs]
        for cell in notebook.cells
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no kernel is forked")
def test_a_forked_kernel_finds_what_another_finds(warm: Any, tmp_path: Path) -> None:
    found = {}
    for name, within in (("cold", nullcontext), ("warm", warm)):
        with within():
            found[name] = ran(tmp_path, *CELLS, "print(imported)", HIDDEN)
    *same, imported, hidden = found["warm"]
    assert same == found["cold"][:-2]
    assert same[0][0][1].startswith(f"True {tmp_path}")
    assert same[-1][-1][0] == "display_data"
    assert (imported, found["cold"][-2]) == ([("stream", "True\n")], [("stream", "False\n")])
    assert hidden == [("stream", "False\n")]
