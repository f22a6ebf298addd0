"""Values for the sentences of a page: the outputs are MyST-NB's, and MyST-NB is not needed."""

from __future__ import annotations

import sys

import nbformat
import pytest
from nbclient import NotebookClient

from gpnotes_book import glue

THINGS = "values = [1.25, 'words', {'a': (1, 2)}]"


def outputs(*cells):
    """What each cell shows, in one kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, timeout=120).execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.slow
def test_a_notebook_gets_the_outputs_that_the_page_looks_for():
    call = "for shown in (True, False):\n    for i, v in enumerate(values):\n        "
    call += "glue(f'{i} {shown}', v, display=shown)"
    *_, theirs, _, ours = outputs(
        THINGS, "from myst_nb import glue", call, "from gpnotes_book import glue", call
    )
    assert len(ours) == 6
    assert ours == theirs


def test_a_plain_python_prints_what_is_to_be_shown(capsys, monkeypatch):
    for name in ("IPython", "myst_nb"):
        monkeypatch.setitem(sys.modules, name, None)
    glue("shown", 1.25)
    glue("kept", 2.5, display=False)
    assert capsys.readouterr().out == "1.25\n"
