"""The references are those of the chapters as they stand, and comparing with them can fail."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from headers import MYST
from nbformat import v4

pytestmark = pytest.mark.slow
pytest.importorskip("jupytext")

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "tests" / "notebooks"


def _load_make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_references", NOTEBOOKS / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _load_make()
SLUGS = make.slugs()

PAGE = (
    MYST
    + """\

# A chapter

```{{code-cell}}
:tags: [hide-input]
import os
print(os.path.basename(os.getcwd()), 1 / 3)
```

```{{code-cell}}
{code}
```
"""
)


@pytest.fixture
def small_book(tmp_path):
    """A function that writes a book of one chapter, with the code given in its second cell."""

    def write(code: str) -> Path:
        (tmp_path / "book" / "part").mkdir(parents=True)
        (tmp_path / "book" / "index.md").write_text("# A page without code\n")
        (tmp_path / "book" / "part" / "chapter.md").write_text(PAGE.format(code=code))
        (tmp_path / "_toc.yml").write_text(
            "format: jb-book\nroot: book/index\nparts:\n"
            "  - chapters:\n      - file: book/part/chapter\n      - url: none\n"
        )
        return tmp_path

    return write


def test_the_book_has_chapters_and_each_has_its_reference():
    stored = {
        path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in NOTEBOOKS.rglob("*.json")
    }
    assert SLUGS
    assert stored == set(SLUGS), "run make references"


@pytest.mark.parametrize(
    ("was", "now", "found"),
    [
        ("x = 1", "x = 2", r"\['cell 1: x = 2'\] changed"),
        (":tags: [hide-input]\n", "", r"\['cell 0: import os'\] changed"),
        ("x = 1\n```", "x = 1\n```\n\n```{code-cell}\ny\n```", "2 cells are stored, 3 in the"),
    ],
)
def test_outputs_of_other_cells_are_stale(small_book, was, now, found):
    root = small_book("x = 1")
    path = make.reference("part/chapter", root)
    path.parent.mkdir(parents=True)
    path.write_text(make.stored_outputs.dump(make.code_cells("part/chapter", root)))
    assert [len(cell.outputs) for cell in make.stored("part/chapter", root).cells] == [0, 0]
    chapter = make.source("part/chapter", root)
    chapter.write_text(chapter.read_text().replace(was, now))
    with pytest.raises(make.StaleOutputError, match=found):
        make.stored("part/chapter", root)


def test_outputs_come_back_as_they_were():
    cell = v4.new_code_cell("x", metadata={"tags": ["a"]})
    cell.outputs = [
        v4.new_output("stream", name="stdout", text="é = 1\n"),
        v4.new_output("execute_result", data={"text/plain": "1"}),
        v4.new_output("error", ename="ValueError", evalue="no", traceback=[]),
    ]
    assert make.stored_outputs.outputs(make.stored_outputs.dump([cell])) == [
        (make.stored_outputs.digest(cell), cell.outputs)
    ]


# The places at which a search looks hang on how a climb is rounded, as do the end of a training, a
# chain in the neck of a funnel, and a difference that has lost its digits: on another processor
# these cells print others. What is said of them stands in an `assert`, or in a claim.
ROUNDED = {
    "api/searching": 14,
    "api/recipes": 2,
    "api/priors": 1,
    "fast/deep-gaussian-processes": 2,
    "inference/bayesian-neural-networks": 2,
    "inference/mcmc": 1,
}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_cell_of_a_reference_is_compared(slug, monkeypatch):
    # a notebook is validated as one: by itself each cell takes the way that is slower by ten
    monkeypatch.setattr("nbformat.v4.nbbase.validate", lambda *args, **kwargs: None)
    notebook = make.stored(slug)
    nbformat.validate(notebook)
    cells = notebook.cells
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [cell.id for cell in cells] == [f"cell-{i:03d}" for i in range(len(cells))]
    for cell in cells:
        may_raise = "raises-exception" in cell.metadata.get("tags", [])
        other = [tag for tag in cell.metadata.get("tags", []) if tag != "nbval-ignore-output"]
        assert not re.search(r"NBVAL_|nbval-", f"{cell.source} {other}"), cell.source
        for output in cell.outputs:
            assert output.output_type != "error" or may_raise, cell.source
            assert all(key.endswith("text/plain") for key in output.get("data", {}))
    free = ["nbval-ignore-output" in cell.metadata.get("tags", []) for cell in cells]
    assert sum(free) == ROUNDED.get(slug, 0)


def test_a_reference_written_again_is_the_same_to_the_byte(small_book):
    root = small_book(
        "import matplotlib.pyplot as plt\nfrom myst_nb import glue\n"
        "print('one', flush=True); print('text')\n"  # comes in two pieces
        "figure, axis = plt.subplots()\naxis.plot([1, 2])\nglue('number', 1.25, display=False)\n"
        "{'pi': 3.14}"
    )
    once = make.build("part/chapter", root)
    assert once == make.build("part/chapter", root)
    assert "part 0.3333333333333333" in once  # it ran in the folder of the chapter
    assert "<Figure size" in once
    assert "image/" not in once
    assert "1.25" in once
    assert once.count('"stream"') == 2
    assert "{'pi': 3.14}" in once


UNFIT = {
    "object()": "0x[0-9a-f]+' differs between machines",
    "import os; print(os.path.abspath(os.sep + 'usr/lib'))": "'/usr/' differs",
    "import sys; print('late', file=sys.stderr)": "writes to the error stream: late",
}


def test_what_no_reference_can_hold_is_refused(small_book):
    codes = "\n```\n\n```{code-cell}\n".join(UNFIT)
    first, *cells = make.ran("part/chapter", small_book(codes)).cells
    assert make.settled("part/chapter", first).outputs
    for cell, message in zip(cells, UNFIT.values(), strict=True):
        with pytest.raises(make.UnfitOutput, match=message):
            make.settled("part/chapter", cell)


PROOFS = {  # of three notebooks the cells that agree with what is stored, and that do not
    "noise": ([0, 1, 2], []),
    "wrong": ([0], [*range(1, 8)]),
    "raised": ([0], [1]),
}


def test_a_wrong_reference_fails_in_each_of_its_wrong_cells_and_noise_passes():
    """As `make replay` compares; after a cell that raises the others are skipped."""
    command = [sys.executable, "-m", "pytest", "-rA", "--nbval", "--nbval-current-env"]
    paths = [str(NOTEBOOKS / "proofs" / f"{name}.ipynb") for name in PROOFS]
    options = ["--color=no", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *options, *paths], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    for name, wanted in PROOFS.items():
        found = (
            [int(n) for n in re.findall(rf"^{how} .*/{name}\.ipynb::Cell (\d+)", done.stdout, re.M)]
            for how in ("PASSED", "FAILED")
        )
        assert tuple(found) == wanted
    assert re.search(r"^=+ 8 failed, 5 passed, 2 skipped in ", done.stdout, re.M)
    assert "Cell 1 raised, and the chapter cannot go on" in done.stdout
    assert "('+' is what is stored, '-' what it prints now)" in done.stdout


def _checks_before_the_end(code: str) -> list[str]:
    """The checks of equations that do not end their cell, so that the page does not see them."""
    lines = [line.value for line in ast.parse(code).body[:-1] if isinstance(line, ast.Expr)]
    calls = [line for line in lines if isinstance(line, ast.Call)]
    return [ast.unparse(c.args[0]) for c in calls if ast.unparse(c.func) == "chapter.check"]


@pytest.mark.parametrize("slug", SLUGS)
def test_each_check_of_an_equation_ends_its_cell(slug: str) -> None:
    """The build finds a badge by a cell's last value, and stops without one, after minutes."""
    cells = [cell.source for cell in make.code_cells(slug)]
    assert [eq for code in cells for eq in _checks_before_the_end(code)] == []


def test_a_check_before_the_end_of_a_cell_is_seen() -> None:
    assert _checks_before_the_end('chapter.check("eq-a", f)\nassert 1') == ["'eq-a'"]
    assert _checks_before_the_end('assert 1\nchapter.check("eq-a", f)') == []
