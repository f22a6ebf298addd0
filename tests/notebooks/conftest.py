"""How nbval compares a chapter's outputs with its reference.

nbval compares text letter by letter, in every format that a cell emits. Here text is compared
alone, its decimals to a relative 1e-6 (another processor rounds differently), everything else
letter by letter; and a reference runs in the folder of its chapter, as in the book.

What fails names the chapter, its section and the line of the cell. After a cell that raised the
others of its chapter are skipped: they would only fail for want of it.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import pytest
from nbval import plugin
from printed_numbers import Numbers

from checked_equations.book import execution, markup

HERE = Path(__file__).resolve().parent
BOOK = HERE.parent.parent / "book"

# Run on request alone, by a test that expects the second of them to fail.
collect_ignore = ["proofs"]

_spec = importlib.util.spec_from_file_location("make_references", HERE / "make.py")
_make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_make)


class ChapterKernel(plugin.RunningKernel):
    """A kernel that runs a cell as the book does: in the chapter's folder, with a history.

    Without a history IPython shows the value of a line that ends in a semicolon.
    """

    def __init__(self, kernel_name: str, cwd: str, **options: Any) -> None:
        os.environ.pop("MPLBACKEND", None)  # the kernel chooses how it shows figures
        folder = BOOK / Path(cwd).resolve().relative_to(HERE)
        super().__init__(kernel_name, cwd=str(folder if folder.is_dir() else cwd), **options)

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin)


def places(notebook: Path) -> list[tuple[Path, int, str]]:
    """The chapter's file, the line and the section of each code cell of a stored notebook.

    None for a notebook of no chapter, or where the chapter has other cells by now.
    """
    stored = plugin.nbformat.read(notebook, as_version=4)
    if "chapter" not in stored.metadata:
        return []
    chapter = BOOK / f"{stored.metadata.chapter}.md"
    text = chapter.read_text(encoding="utf-8")
    cells = [(cell.line, cell.code) for cell in execution.cells(chapter)]
    if [source.strip() for _, source in cells] != [one.source.strip() for one in stored.cells]:
        return []
    prose = _without_code(text)
    return [(chapter, line, _section(prose, line)) for line, _ in cells]


def _without_code(text: str) -> list[str]:
    """The lines of a text, empty where they are code."""
    lines = text.splitlines()
    for fence, body in markup.blocks(lines):
        if fence.opaque:
            lines[fence.line : fence.line + len(body)] = [""] * len(body)
    return lines


def _section(prose: list[str], line: int) -> str:
    """The words of the last heading above a line."""
    above = (re.fullmatch(r"#+\s+(.*\S)\s*", one) for one in reversed(prose[: line - 1]))
    return next((heading[1] for heading in above if heading), "")


def _collect(self: plugin.IPyNbFile) -> Any:
    self.raised = ""
    self.places = places(Path(self.path))
    return _collect_cells(self)


def _init(
    self: plugin.IPyNbCell, name: str, parent: plugin.IPyNbFile, cell_num: int, **more: Any
) -> None:
    """A cell whose name says where it stands."""
    place = parent.places[cell_num] if parent.places else None
    if place:
        chapter, line, section = place
        name = f"{name}, {chapter.name} line {line}, {section}"
    _init_cell(self, name, parent, cell_num, **more)
    self.place = place


def _reportinfo(self: plugin.IPyNbCell) -> tuple[Any, int | None, str]:
    if not self.place:
        return _report(self)
    chapter, line, _ = self.place
    return chapter, line - 1, self.name


def _runtest(self: plugin.IPyNbCell) -> None:
    if self.parent.raised:
        pytest.skip(f"{self.parent.raised} raised, and the chapter cannot go on")
    try:
        _run_cell(self)
    except plugin.NbCellError:
        kinds = [output.output_type for output in self.test_outputs]
        self.parent.raised = self.name if "error" in kinds else ""
        raise


def _repr_failure(self: plugin.IPyNbCell, excinfo: Any) -> str:
    shown = _represent(self, excinfo)
    if not self.place:
        return shown
    chapter, line, section = self.place
    where = chapter.relative_to(BOOK.parent).as_posix()
    return f"{where}, line {line}, in the section {section!r}\n{shown}"


def _format(self: plugin.IPyNbCell, key: str, left: Any, right: Any) -> None:
    _format_compare(self, key, left, right)
    self.comparison_traceback.append("  ('+' is what is stored, '-' what it prints now)")


_collect_cells = plugin.IPyNbFile.collect
_init_cell = plugin.IPyNbCell.__init__
_report = plugin.IPyNbCell.reportinfo
_run_cell = plugin.IPyNbCell.runtest
_represent = plugin.IPyNbCell.repr_failure
_format_compare = plugin.IPyNbCell.format_output_compare
_sanitize = plugin.IPyNbCell.sanitize
_compare = plugin.IPyNbCell.compare_outputs


def _sanitize_numbers(self: plugin.IPyNbCell, text: Any) -> Any:
    clean = _sanitize(self, text)
    return Numbers(clean) if isinstance(clean, str) else clean


def _compare_text(self: plugin.IPyNbCell, test: Any, reference: Any, *rest: Any) -> bool:
    return _compare(self, [_make.text_only(output) for output in test], reference, *rest)


def _nothing(*_: Any) -> None:
    """Kernels are measured as every other child process is (`patch` in pyproject.toml)."""


plugin.IPyNbFile.collect = _collect
plugin.IPyNbCell.__init__ = _init
plugin.IPyNbCell.reportinfo = _reportinfo
plugin.IPyNbCell.runtest = _runtest
plugin.IPyNbCell.repr_failure = _repr_failure
plugin.IPyNbCell.format_output_compare = _format
plugin.IPyNbCell.sanitize = _sanitize_numbers
plugin.IPyNbCell.compare_outputs = _compare_text
plugin.RunningKernel = ChapterKernel
plugin.setup_coverage = plugin.teardown_coverage = _nothing
