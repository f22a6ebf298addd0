"""The code of a page, run outside a notebook: for whoever has no builder.

`cells` finds the code of a Markdown, Quarto, notebook or reStructuredText file; `run_page` runs
it, cell by cell in one namespace, and notes every check and every fault.
"""

from __future__ import annotations

import ast
import io
import linecache
import pickle
import re
import sys
import traceback
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import dedent
from typing import Any

from ..claims.claim import ClaimError
from ..errors import EquationError
from . import markup
from .chapter import Chapter
from .ledger import LedgerError
from .records import Record

_DIRECTIVE = re.compile(r"^\s*\.\. (?:jupyter-execute|code-cell)::")
_FOREIGN = re.compile(r"\s*%%(?!time|capture|prun)")
_MAGIC = re.compile(r"^\s*[%!]|^[^#'\"=(]*\?\s*$")


@dataclass(frozen=True)
class Cell:
    """A cell of code: the line of the file on which the code begins, the code, and its tags."""

    line: int
    code: str
    tags: frozenset[str] = frozenset()


def cells(path: Path) -> list[Cell]:
    """The code cells of the page at `path`, in reading order."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if path.suffix == ".ipynb":
        code = markup.notebook_cells(text, "code")
        return [Cell(lines[0], told, tags) for told, lines, tags in code if told.strip()]
    if path.suffix == ".rst":
        at = (i for i, line in enumerate(lines) if _DIRECTIVE.match(line))
        bodies = [(i + 2, lines[i + 1 : markup.block_end(lines, i)]) for i in at]
    else:
        name = "python" if path.suffix == ".qmd" else "code-cell"
        fences = (one for one in markup.blocks(lines) if one[0].directive.split(",")[0] == name)
        bodies = sorted((fence.line + 1, body) for fence, body in fences)
    found = []
    for line, body in bodies:
        head = 0 if path.suffix == ".qmd" else markup.options(body)
        tags = frozenset(re.findall(r"[\w-]+", "\n".join(body[:head])))
        found.append(Cell(line + head, dedent("\n".join(body[head:])), tags))
    return found


@dataclass(frozen=True)
class Fault:
    """What went wrong, and where: in an equation, or (`broken`) in the code of a cell."""

    file: str
    line: int
    column: int
    said: str
    label: str = ""
    broken: bool = False


@dataclass(frozen=True)
class Run:
    """What a page has left: the checks that held (file, line, plain line), faults, and labels."""

    checks: tuple[tuple[str, int, str], ...] = ()
    faults: tuple[Fault, ...] = ()
    labels: dict[str, dict[str, int]] = field(default_factory=dict)  # of each text, their lines
    tried: dict[str, list[str]] = field(default_factory=dict)


def run_page(path: Path) -> Run:
    """Run the cells of a page: of all errors only a false equation or claim does not end it."""
    path = path.resolve()
    scope: dict[str, Any] = {"__name__": "__main__"}
    scope |= {"display": lambda *things, **options: None, "get_ipython": lambda: None}
    faults: list[Fault] = []
    shown: list[Any] = []
    with chdir(path.parent), redirect_stdout(io.StringIO()):
        for cell in cells(path):
            if "skip-execution" in cell.tags:
                continue
            try:
                shown.append(_executed(cell, path, scope))
            except Exception as error:  # noqa: BLE001 - whatever a cell raises is told with its line
                fault = _fault(error, path, cell)
                if not (fault.broken and "raises-exception" in cell.tags):
                    faults.append(fault)
                    if fault.broken:
                        break
    told = tuple(fault for fault in faults if fault.said)
    return _summed(path, [*scope.values(), *shown], told)


def _executed(cell: Cell, path: Path, scope: dict[str, Any]) -> Any:
    """The value of a last line that is an expression; what only IPython understands is left out."""
    lines = [] if _FOREIGN.match(cell.code) else cell.code.split("\n")
    name = named(cell, path)
    above = "\n" * (cell.line - 1)
    try:
        tree = ast.parse(above + "\n".join(lines), name)
    except SyntaxError:
        bare = "\n".join("" if _MAGIC.match(line) else line for line in lines)
        tree = ast.parse(above + bare, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return exec(compile(tree, name, "exec"), scope)
    exec(compile(ast.Module(tree.body[:-1], []), name, "exec"), scope)
    return eval(compile(ast.Expression(last.value), name, "eval"), scope)


def named(cell: Cell, path: Path) -> str:
    """A name for the cell as a file, under which Python finds its source, as in a notebook."""
    name = f"{path.name}#{cell.line}"
    lines = ["\n"] * (cell.line - 1) + [f"{line}\n" for line in cell.code.split("\n")]
    linecache.cache[name] = (len(lines), None, lines, name)
    return name


def _fault(error: Exception, path: Path, cell: Cell) -> Fault:
    """At the equation where that stands in a file, else at the line of the code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = (f.lineno for f in frames if f.filename.startswith(f"{path.name}#") and f.lineno)
    line = (error.lineno if isinstance(error, SyntaxError) else None) or next(own, cell.line)
    if isinstance(error, ClaimError | LedgerError):
        return Fault(str(path), line, 1, getattr(error, "beside", str(error)))
    if not isinstance(error, EquationError):
        said = "".join(traceback.format_exception_only(error)).strip()
        return Fault(str(path), line, 1, said, broken=True)
    file = path.parent / error.chapter.rsplit("/", 1)[-1] if error.chapter else path
    said = str(error).removeprefix(f"{error.chapter}, ") if error.chapter else str(error)
    if error.chapter and file.is_file():
        return Fault(str(file), error.line, error.column, said, error.label)
    return Fault(str(path), line, 1, said, error.label)


def _summed(path: Path, values: list[Any], faults: tuple[Fault, ...]) -> Run:
    once = list({id(value): value for value in values}.values())
    run = Run(faults=faults)
    checks = []
    for chapter in (value for value in once if isinstance(value, Chapter)):
        file = str(chapter.file.resolve() if chapter.file else path)
        records = chapter.records()
        checks += [(file, record.line, repr(record)) for record in records]
        if chapter.file:
            run.labels[file] = {e.label: e.line for e in chapter.equations().values()}
            failed = (fault.label for fault in faults if fault.file == file)
            run.tried[file] = [*(record.label for record in records), *failed]
    alone = (value for value in once if isinstance(value, Record) and not value.chapter)
    return replace(run, checks=(*checks, *((str(path), 0, repr(one)) for one in alone)))


def main() -> None:
    """Run the page that is named first, and leave its `Run` in the file named second."""
    Path(sys.argv[2]).write_bytes(pickle.dumps(run_page(Path(sys.argv[1]))))
