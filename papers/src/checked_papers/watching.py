"""Checks that run again when a file changes.

A round reads the files of `files_behind`; the library watchfiles watches their folders, and a round
begins if one of them has changed. An equation that has not changed keeps its verdict, and a page
that is run keeps its results while its sources stay the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from checked_equations.book import execution
from checked_equations.book.execution import Run
from checked_equations.book.ledger import BASELINE
from checked_equations.book.markup import TEX
from checked_equations.book.settings import NAME, find_settings, nearest
from checked_equations.check.phrases import counted

from .display_trials import Task, try_all
from .findings import Finding
from .sources import paper as papers

NEEDS = "--watch needs the package watchfiles: pip install 'checked-papers[watch]'"
BEGINS, ENDS = "--- checking", "--- waiting"  # what editors look for
_SIDECARS = (NAME, BASELINE, "_config.yml")
_CLEAR = "\x1b[2J\x1b[H"  # of the screen, with what the round before has said
_TOGETHER = 400  # milliseconds: changes of one stroke are one change
_ANYWAY = 1000  # after so many the files are looked at: not every disk tells what happens on it

State = Mapping[Path, tuple[int, int] | None]


class Memory:
    """The findings of earlier rounds."""

    def __init__(self) -> None:
        self.runs: dict[Path, tuple[Sequence[Path], State, Run]] = {}
        self.findings: dict[str, list[tuple[Task, Finding]]] = {}

    def run(self, page: Path) -> Run:
        """Return the outcome of a page, which runs again if its sources changed."""
        opened, then, left = self.runs.get(page, ((), {}, Run()))
        now = states(_of_page(page, opened))
        if now != then:
            left = execution.run_apart(page)
            opened = tuple(map(Path, left.labels))
            behind = states(_of_page(page, opened))
            self.runs[page] = opened, {file: now.get(file, behind[file]) for file in behind}, left
        return left

    @property
    def sources(self) -> set[Path]:
        """The files that pages depend on, as their last runs have shown."""
        return {file for _, then, _ in self.runs.values() for file in then}

    def try_all(self, tasks: Iterable[Task], jobs: int) -> Iterator[Finding]:
        """The finding of each task; nothing is tried that was tried before."""
        every, known = [*tasks], self.findings
        self.findings = {}
        fresh = try_all([task for task in every if _found(known, task) is None], jobs)
        for task in every:
            found = _found(known, task) or next(fresh)
            found = _at(task, found)
            self.findings.setdefault(task.latex, []).append((task, found))
            yield found


def _found(known: Mapping[str, Sequence[tuple[Task, Finding]]], task: Task) -> Finding | None:
    """The finding of an equation that was printed so, with the same around it, wherever it was."""
    same = (found for one, found in known.get(task.latex, ()) if _nowhere(one) == _nowhere(task))
    return next(same, None)


def _nowhere(task: Task) -> Task:
    return replace(task, place=("", 0, 0), number="")


def _at(task: Task, found: Finding) -> Finding:
    file, line, column = task.place
    return replace(found, file=file, line=line, column=column, number=task.number)


def files_behind(texts: Iterable[Path], opened: Iterable[Path] = ()) -> set[Path]:
    """Return the files that decide the findings on `texts`, including those that do not exist yet.

    A paper has the files that it takes in, a page the modules in its folder, both have settings;
    `opened` are papers whose equations the cells of a page check.
    """
    found: set[Path] = set()
    for text in chain(texts, opened):
        found.update(_of_paper(text) if text.suffix in TEX else _of_page(text, ()))
    return found


def _of_paper(paper: Path) -> set[Path]:
    paper = paper.resolve()
    found = {paper, *_sidecars(paper.parent)}
    with suppress(OSError):
        read = papers.read(paper)
        found.update(file.resolve() for file in read.joined.written)
        for lack in read.lacks:
            folders = {paper.parent, read.place(lack.at).file.parent}
            found.update(folder / f"{lack.text}{end}" for folder in folders for end in (".tex", ""))
    return found


def _of_page(page: Path, opened: Iterable[Path]) -> set[Path]:
    page = page.resolve()
    return {page, *_sidecars(page.parent), *page.parent.glob("*.py"), *files_behind(opened)}


def _sidecars(folder: Path) -> Iterator[Path]:
    for name in _SIDECARS:
        yield nearest(name, folder) or folder / name
    with suppress(ValueError):
        if notation := find_settings(folder, installed=False).notation_file:
            yield notation.resolve()


def states(files: Iterable[Path]) -> State:
    """When each file was written, and its size; None for a file that is not there."""
    return {file: _state(file) for file in files}


def _state(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def watch(
    paths: Sequence[Path],
    texts: Callable[[], Sequence[Path]],
    check: Callable[[], object],
    memory: Memory,
) -> int:
    """Call `check` now, and after each change of the files behind `texts`, until Ctrl-C: then 0.

    A `ValueError` or an `OSError` of `check` is printed, and does not end the watch.
    """
    texts()  # what is wrong with the paths is no matter of waiting

    def files() -> set[Path]:
        try:
            return files_behind(texts()) | memory.sources
        except (ValueError, OSError):  # while the texts cannot be listed, what is named
            return {path.resolve() for path in paths}

    said = ""
    with suppress(KeyboardInterrupt):
        while True:
            before = states(files())
            _begin(said)
            _round(check)
            before = {**states(memory.sources), **before}  # more is known of them now
            there = sum(state is not None for state in before.values())
            print(f"{ENDS} for a change of {counted(there, 'file')}; Ctrl-C ends", flush=True)
            said = _waited(before, files, _folders(paths))
    return 0


def _begin(said: str) -> None:
    if sys.stdout.isatty():
        print(_CLEAR)
    print(f"{BEGINS} at {datetime.now():%H:%M:%S}{said}", flush=True)


def _round(check: Callable[[], object]) -> None:
    try:
        check()
    except (ValueError, OSError) as error:  # a file in the middle of being written, for one
        print(error, file=sys.stderr, flush=True)


def _waited(before: State, files: Callable[[], set[Path]], folders: Iterable[Path]) -> str:
    """Wait for a change, and return the files that changed."""
    import watchfiles

    there = {file.parent for file in before if file.parent.is_dir()} | set(folders)
    events = watchfiles.watch(
        *there, recursive=False, watch_filter=None, ignore_permission_denied=True,
        debounce=_TOGETHER, rust_timeout=_ANYWAY, yield_on_timeout=True,
    )  # fmt: skip
    for event in chain([True], events):  # at once: what came during the round counts, too
        now = states(files() if event else before)
        both = sorted({**before, **now})
        changed = [file for file in both if now.get(file) != before.get(file)]
        if changed:
            more = f" and {len(changed) - 1} more" if changed[1:] else ""
            return f": {changed[0].name}{more} changed"
    raise KeyboardInterrupt


def _folders(paths: Sequence[Path]) -> Iterator[Path]:
    """The folders that are named, and those inside that an author made."""
    for folder in (path for path in paths if path.is_dir()):
        yield from (place for place, _ in execution.walked(folder))
