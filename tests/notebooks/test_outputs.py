"""What the chapters printed when the book was built is what is stored.

The build has run them already, so its outputs are compared, by nbval's own comparison as the
conftest beside this file has it. `make replay` runs the chapters again.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbval import plugin

HERE = Path(__file__).resolve().parent


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _load(HERE / "make.py")


def differences(ran: Path, stored: Path, session: pytest.Session) -> list[str]:
    """The cells of a stored notebook that an executed one disagrees with, and in what."""
    fresh = make.code(ran)
    kept = list(plugin.IPyNbFile.from_parent(session, path=stored).collect())
    assert [cell.source for cell in fresh] == [cell.cell.source for cell in kept], "other code"
    return [
        f"{cell.name}: {''.join(cell.comparison_traceback)}"
        for cell, now in zip(kept, fresh, strict=True)
        if not _agree(cell, now)
    ]


def _agree(cell: Any, now: Any) -> bool:
    """Whether a cell prints what it did; one whose words hang on rounding is tagged."""
    if not cell.options["check"]:
        return True
    outputs = (plugin.coalesce_streams(one.outputs) for one in (now, cell.cell))
    return cell.compare_outputs(*outputs)


@pytest.fixture(autouse=True)
def options(request: Any, monkeypatch: Any) -> None:
    """What nbval asks for where its plugin is not loaded, as in `make unit`."""
    for name, value in {"nbval_lax": False, "nbdime": False, "nbval_sanitize_with": None}.items():
        monkeypatch.setattr(request.config.option, name, value, raising=False)


@pytest.mark.book
@pytest.mark.parametrize("slug", make.slugs())
def test_the_book_prints_what_is_stored(
    slug: str, book_html: Path, tmp_path: Path, request: Any
) -> None:
    ran = make.executed(slug, book_html.parent)
    assert ran, f"the build has not run {slug}"
    stored = tmp_path / "stored.ipynb"
    nbformat.write(make.stored(slug), stored)
    found = differences(ran, stored, request.session)
    assert not found, "\n".join(found)


@pytest.fixture
def edited(tmp_path: Path) -> Any:
    """A function that writes two notebooks with one cell, which print the texts given."""

    def write(*printed: str) -> list[Path]:
        paths = [tmp_path / f"{i}.ipynb" for i in range(len(printed))]
        for path, text in zip(paths, printed, strict=True):
            stream = nbformat.v4.new_output("stream", name="stdout", text=text)
            cell = nbformat.v4.new_code_cell("print(x)", id="a", outputs=[stream])
            nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
        return paths

    return write


@pytest.mark.parametrize(
    ("now", "count"),
    [("x = 1.25\n", 0), ("x = 1.25000001\n", 0), ("x = 1.2501\n", 1), ("y = 1.25\n", 1), ("", 1)],
)
def test_decimals_are_near_and_words_the_same(
    edited: Any, now: str, count: int, request: Any
) -> None:
    ran, stored = edited(now, "x = 1.25\n")
    assert len(differences(ran, stored, request.session)) == count


def test_other_code_is_no_evidence(edited: Any, request: Any) -> None:
    ran, stored = edited("1", "1")
    ran.write_text(ran.read_text().replace("print(x)", "print(y)"))
    with pytest.raises(AssertionError, match="other code"):
        differences(ran, stored, request.session)


def test_a_cell_whose_words_hang_on_rounding_is_tagged(edited: Any, request: Any) -> None:
    ran, stored = edited("place 20\n", "place 24\n")
    assert len(differences(ran, stored, request.session)) == 1
    for path in (ran, stored):
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[0].metadata["tags"] = ["nbval-ignore-output"]
        nbformat.write(notebook, path)
    assert differences(ran, stored, request.session) == []
