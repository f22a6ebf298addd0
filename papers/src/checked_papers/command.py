"""The command that goes over papers and pages: checks are run, and unbound displays are tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from checked_equations.book import execution, markup
from checked_equations.book.execution import Fault, Run
from checked_equations.book.markup import TEX
from checked_equations.book.settings import find_settings

from .declarations import DeclarationError, Declared, declared_all
from .display_trials import Task, tasks, try_all
from .document_formats import Read, read
from .reports import FORMATS, Report, as_text, sarif_of
from .sources import paper as papers
from .sources.paper_files import text_of
from .watching import Memory

_WHOLE = re.compile(r"^[^%\n]*\\documentclass", re.MULTILINE)


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    form: str = "text"
    annotate: bool = False
    jobs: int = 1
    let: tuple[str, ...] = ()
    quiet: bool = False
    sarif: Path | None = None
    notation: str = ""
    every: bool = False


def check_papers(paths: Sequence[Path], options: Options, memory: Memory | None = None) -> int:
    """Check and try the equations of `paths`, report on them, and return the exit status.

    The status is 0 where nothing that was evaluated fails, 1 where an equation does not hold, and 2
    where a page could not be run or a declaration in the settings not be read. An equation that has
    not changed since `memory` kept its verdict is not tried again.
    """
    texts = texts_of(paths)
    form = FORMATS[options.form](options.annotate, options.quiet, options.every)
    pages = [text for text in texts if _runs(text)]
    report = Report(form, len(texts), _numbers(texts) if pages else {})
    runs = _run(pages, options.jobs, report, memory)
    every = [_to_try(text, runs, options, report) for text in texts]
    for found in (memory.try_all if memory else try_all)(chain(*every), options.jobs):
        report.add(found)
    for fault in execution.outlived(runs):
        report.fault(fault)
    report.close()
    if options.sarif:
        options.sarif.write_text(as_text(report, sarif_of), encoding="utf-8")
    return report.status


def _numbers(texts: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The numbers in print, by file and label, of the papers' equations that pages may check."""
    numbers = {}
    for text in (text for text in texts if text.suffix in TEX):
        for one in papers.read(text).equations:
            if one.label and one.number:
                numbers[str(text.resolve()), one.label] = one.number
    return numbers


def texts_of(paths: Sequence[Path]) -> list[Path]:
    """The papers and pages that are named or lie in folders; `ValueError` where there is none."""
    known = (*markup.KINDS, *TEX)
    return execution.gathered(paths, known, _in_folder, "a text with an equation")


def _in_folder(folder: Path) -> Iterator[Path]:
    """Pages with a check or a display, and papers that begin by themselves."""
    every = execution.texts_in(folder)
    sources = [one for one in every if one.suffix in TEX]
    wholes = [one for one in sources if _WHOLE.search(text_of(one))]
    yield from wholes or sources
    for page in (one for one in every if one.suffix in markup.KINDS):
        try:
            wanted = execution.has_checks(page) or bool(read(page).paper.equations)
        except ValueError:  # which is reported: it may hold what does not hold
            wanted = True
        if wanted:
            yield page


def _runs(text: Path) -> bool:
    try:
        return text.suffix in markup.KINDS and execution.has_checks(text)
    except ValueError:  # reported where its displays are read
        return False


def _run(pages: Sequence[Path], jobs: int, report: Report, memory: Memory | None) -> list[Run]:
    runs = []
    for run in execution.run_pages(pages, jobs, memory.run if memory else None):
        runs.append(run)
        for held in run.checks:
            report.held(held)
        for fault in run.faults:
            report.fault(fault)
    return runs


def _to_try(text: Path, runs: Sequence[Run], options: Options, report: Report) -> Iterable[Task]:
    """Read a text, report on it, and return the displays that no check has tried, one by one."""
    try:
        found = read(text)
    except ValueError as wrong:
        report.fault(Fault(str(text.resolve()), 1, 1, str(wrong), broken=True))
        return []
    _tell(text, found, report)
    try:
        first, own = settled(text, options.let)
    except DeclarationError as wrong:
        report.fault(Fault(str(text.resolve()), 1, 1, str(wrong), broken=True))
        return []
    bound = {label for run in runs for label in run.tried.get(str(text.resolve()), ())}
    every = tasks(found, first, own, options.notation)
    return (one for one in every if not (one.label and one.label in bound))


def _tell(text: Path, found: Read, report: Report) -> None:
    """Warn of missing files, and of comments that may be meant as declarations."""
    for place, said in found.unclear:
        report.note(str(place.file), place.line, f"this comment declares nothing: {said}")
    if (why := found.paper.uncounted) and text.suffix in TEX:
        report.note(str(text), 1, f"the numbers of its equations in print are not known: {why}")
    for lack in found.paper.lacks:
        place = found.paper.place(lack.at)
        report.note(str(place.file), place.line, f"the file {lack.text} is not there")


def settled(text: Path, let: Sequence[str] = ()) -> tuple[Declared, Mapping[str, Declared]]:
    """Return the declarations of the settings and of `let`: for all, and by label."""
    settings = find_settings(text.resolve().parent, installed=False)
    first = declared_all([*settings.let, *let])
    own = {label: declared_all(clauses) for label, clauses in settings.let_for.items()}
    return first, own
