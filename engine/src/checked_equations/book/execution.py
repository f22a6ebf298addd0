"""The code of pages, run outside a notebook, and the outcome of its checks: without a builder.

`cells` finds the code of a Markdown, Quarto, notebook or reStructuredText file; `run_page` runs
it, cell by cell in one namespace, and notes every check and every fault. `check_pages` runs each
page in a process of its own and prints one line a check, and one for each fault; GitHub shows these
next to the line of the page.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
import pickle
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from ..check.records import Record
from ..claims.claim import ClaimError
from ..errors import EquationError
from . import markup
from .chapter import Chapter
from .ledger import BASELINE, LedgerError, outgrown, waiting, write_baseline
from .manuscripts import read_manuscript
from .settings import nearest

_OPENS = ("Chapter(", "check_equation(")
_DIRECTIVE = re.compile(r"^\s*\.\. (?:jupyter-execute|code-cell)::")
_FOREIGN = re.compile(r"\s*%%(?!time|capture|prun)")
_QUARTO = {"eval:false": "skip-execution", "error:true": "raises-exception"}
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
        told = frozenset(re.findall(r"[\w-]+", "\n".join(body[:head])))
        tags = _quarto_tags(body) if path.suffix == ".qmd" else told
        found.append(Cell(line + head, dedent("\n".join(body[head:])), tags))
    return found


def _quarto_tags(body: Sequence[str]) -> frozenset[str]:
    """Return the tags of a notebook that mean the same as options of a cell in Quarto."""
    options = takewhile(lambda line: line.startswith("#|"), body)
    said = {re.sub(r"\s", "", line[2:]).lower() for line in options}
    return frozenset(tag for option, tag in _QUARTO.items() if option in said)


@dataclass(frozen=True)
class Fault:
    """A fault and its place: in an equation, or (`broken`) in the code of a cell."""

    file: str
    line: int
    column: int
    said: str
    label: str = ""
    broken: bool = False


class Held(NamedTuple):
    """A check that held: the file and the line of its equation, its plain line, its label."""

    file: str
    line: int
    said: str
    label: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Run:
    """The results of a page: the checks that held, faults, and labels."""

    checks: tuple[Held, ...] = ()
    faults: tuple[Fault, ...] = ()
    labels: dict[str, dict[str, int]] = field(default_factory=dict)  # of each text, their lines
    tried: dict[str, list[str]] = field(default_factory=dict)


def run_page(path: Path) -> Run:
    """Run the cells of a page: of all errors only a false equation or claim does not end it."""
    path = path.resolve()
    scope: dict[str, object] = {"__name__": "__main__"}
    scope |= {"display": lambda *things, **options: None, "get_ipython": lambda: None}
    faults: list[Fault] = []
    shown: list[object] = []
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


def _executed(cell: Cell, path: Path, scope: dict[str, object]) -> Any:
    """Return the value of a last line that is an expression, without the syntax of IPython."""
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


def _summed(path: Path, values: list[object], faults: tuple[Fault, ...]) -> Run:
    once = list({id(value): value for value in values}.values())
    run = Run(faults=faults)
    checks = []
    for chapter in (value for value in once if isinstance(value, Chapter)):
        file = str(chapter.file.resolve() if chapter.file else path)
        records = chapter.records()
        checks += [Held(file, one.line, repr(one), one.label, one.kind) for one in records]
        if chapter.file:
            run.labels[file] = {e.label: e.line for e in chapter.equations().values()}
            failed = (fault.label for fault in faults if fault.file == file)
            run.tried[file] = [*(record.label for record in records), *failed]
    alone = (value for value in once if isinstance(value, Record) and not value.chapter)
    others = (Held(str(path), 0, repr(one), kind=one.kind) for one in alone)
    return replace(run, checks=(*checks, *others))


def main() -> None:
    """Run the page that is named first, and leave its `Run` in the file named second."""
    Path(sys.argv[2]).write_bytes(pickle.dumps(run_page(Path(sys.argv[1]))))


def pages_of(paths: Sequence[Path]) -> list[Path]:
    """The pages to run, as named or found in folders; raises `ValueError` where there is none."""
    return gathered(paths, markup.KINDS, _pages_in, "a page with a check")


def gathered(
    paths: Sequence[Path],
    known: Sequence[str],
    within: Callable[[Path], Iterable[Path]],
    wanted: str,
) -> list[Path]:
    """The files that are named, of the `known` suffixes, or that `within` finds in a folder.

    Raises `ValueError` where there is none, in the `wanted` words.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += within(path)
        elif not path.is_file():
            raise ValueError(f"paths must be files or folders; there is no {path}")
        elif path.suffix not in known:
            raise ValueError(f"paths must end in {', '.join(known)}; got {path}")
        else:
            found.append(path)
    if not found:
        said = ", ".join(map(str, paths))
        raise ValueError(f"paths must hold {wanted}; {said} has none")
    return list(dict.fromkeys(found))


def _pages_in(folder: Path) -> Iterator[Path]:
    """The pages of a folder that open a chapter or check an equation."""
    for page in texts_in(folder):
        if page.suffix in markup.KINDS and has_checks(page):
            yield page


def texts_in(folder: Path) -> list[Path]:
    """The files of an author in a folder, in order."""
    return sorted(file for _, files in walked(folder) for file in files)


def walked(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """The folders of an author in `folder` and itself, with their files: nothing that is hidden."""
    for place, folders, files in os.walk(folder):
        folders[:] = filter(_is_shown, folders)
        yield Path(place), [Path(place, name) for name in filter(_is_shown, files)]


def _is_shown(name: str) -> bool:
    # what a build by Sphinx leaves among the sources is the same page again
    return not name.startswith(("_", ".")) and name != "jupyter_execute"


def has_checks(page: Path) -> bool:
    """Return whether a page opens a chapter or checks an equation."""
    return any(opens in cell.code for cell in cells(page) for opens in _OPENS)


def run_apart(page: Path) -> Run:
    """Run a page in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "run"
        code = f"from {main.__module__} import main; main()"
        command = [sys.executable, "-c", code, str(page), str(left)]
        shown = {"MPLBACKEND": "agg", **os.environ}  # figures open no windows
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=shown)
        if left.is_file():
            run: Run = pickle.loads(left.read_bytes())
            return run
    words = done.stderr.strip().splitlines()[-1:] or [f"it ended with the status {done.returncode}"]
    said = f"the page could not be run: {words[0]}"
    return Run(faults=(Fault(str(page.resolve()), 1, 1, said, broken=True),))


Runs = Callable[[Path], Run]


def run_pages(pages: Sequence[Path], jobs: int, run: Runs | None = None) -> Iterator[Run]:
    """Return the results of the pages, in order, by `run` or `run_apart`; `jobs` run at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run or run_apart, pages)


def bound_texts(paths: Sequence[Path]) -> list[Path]:
    """The papers that are named, and the pages with checks."""
    papers = [path for path in paths if path.suffix in markup.TEX and path.is_file()]
    pages = [path for path in paths if path not in papers]
    return [*papers, *(pages_of(pages) if pages else ())]


def check_bound(
    paths: Sequence[Path],
    *,
    annotate: bool = False,
    write: bool = False,
    jobs: int = 1,
    run: Runs | None = None,
    quiet: bool = False,
) -> int:
    """Run the pages of `paths`, whose papers they must check, as `check_pages` does."""
    every = bound_texts(paths)
    papers = [path for path in every if path.suffix in markup.TEX]
    pages = [path for path in every if path not in papers]
    return check_pages(
        pages, annotate=annotate, write=write, jobs=jobs, papers=papers, run=run, quiet=quiet
    )


def check_pages(
    pages: Sequence[Path],
    *,
    annotate: bool = False,
    write: bool = False,
    jobs: int = 1,
    papers: Sequence[Path] = (),
    run: Runs | None = None,
    quiet: bool = False,
) -> int:
    """Run `pages`, print the outcome of their checks, and return the exit status.

    That is 0 where all hold, 1 where an equation does not or is not checked, and 2 where a page
    could not be run. With `annotate` GitHub hears of each fault; with `write` the equations
    that nothing checks are written into the baseline first. The labelled equations of `papers`
    must be checked by pages, too. With `run` pages are run by it;
    checks that hold are not printed where it is `quiet`.
    """
    runs = [_of_paper(paper) for paper in papers]
    for left in run_pages(pages, jobs, run):
        runs.append(left)
        for held in () if quiet else left.checks:
            print(f"{place(held.file, held.line)}: {held.said}", flush=True)
    if write:
        listed = nearest(BASELINE, Path.cwd()) or Path.cwd() / BASELINE
        count = write_baseline(listed, {Path(text): labels for text, _, labels in _untried(runs)})
        print(f"{place(str(listed))}: {count} equations not yet checked")
    faults = [*(fault for one in runs for fault in one.faults), *_incomplete(runs)]
    for fault in faults:
        print(f"{place(fault.file, fault.line, fault.column)}: error: {fault.said}")
        if annotate:
            print(annotation(fault))
    checks = sum(len(one.checks) for one in runs)
    waits = sum(len(waiting(Path(text))) for text, *_ in _untried(runs))
    later = f", {waits} not yet checked" if waits else ""
    if faults or not quiet:
        print(f"{len(pages)} pages: {checks} checks hold, {len(faults)} errors{later}")
    return 2 if any(fault.broken for fault in faults) else int(bool(faults))


def _of_paper(paper: Path) -> Run:
    """The labels of a paper, which no cell of its own checks."""
    manuscript = read_manuscript(paper.stem, paper.parent, paper)
    lines = {label: one.line for label, one in manuscript.equations.items()}
    return Run(labels={str(paper.resolve()): lines})


def _untried(runs: Sequence[Run]) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Of each text whose pages ran to their end, the lines of its labels, and those not tried."""
    whole = [run for run in runs if not any(fault.broken for fault in run.faults)]
    for text in dict.fromkeys(text for run in whole for text in run.labels):
        lines = {label: line for run in runs for label, line in run.labels.get(text, {}).items()}
        tried = {label for run in runs for label in run.tried.get(text, ())}
        yield text, lines, [label for label in lines if label not in tried]


def _incomplete(runs: Sequence[Run]) -> Iterator[Fault]:
    """Yield equations that neither a check nor the baseline has, and those that must leave it."""
    for text, lines, untried in _untried(runs):
        listed = waiting(Path(text))
        for label in (label for label in untried if label not in listed):
            said = f"the equation {label} is numbered, but no cell checks it"
            yield Fault(text, lines[label], 1, said, label)
    yield from outlived(runs)


def outlived(runs: Sequence[Run]) -> Iterator[Fault]:
    """Yield each line that the baseline must list no longer."""
    for text, lines, untried in _untried(runs):
        for label, said in outgrown(waiting(Path(text)), lines, set(lines) - set(untried)):
            yield Fault(text, lines.get(label, 1), 1, said, label)


def place(file: str, *numbers: int) -> str:
    """``page.md:3:7``, as editors and terminals know it, seen from here."""
    shown = Path(os.path.relpath(file)).as_posix()
    return ":".join([shown, *(str(number) for number in numbers if number)])


def annotation(fault: Fault, level: str = "error") -> str:
    """The fault as GitHub reads it from a log: ``::error file=…,line=…::message``.

    >>> annotation(Fault("/book/a.md", 3, 7, "50 % off", "eq-a")).partition(",")[2]
    'line=3,col=7,title=eq-a::50 %25 off'
    """
    title = fault.label or "this cell failed"
    where = {"file": place(fault.file), "line": fault.line, "col": fault.column, "title": title}
    said = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in where.items())
    return f"::{level} {said}::{_escaped(fault.said)}"


def _escaped(text: str, others: str = "") -> str:
    for sign in "%\r\n" + others:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
