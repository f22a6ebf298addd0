"""``checked-equations check``: the checks of pages, without the build of a book.

Each page runs in a process of its own. What is said of it is one line a check, and one for each
fault; GitHub shows these beside the line of the page.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import markup
from .execution import Fault, Run, cells, main
from .ledger import BASELINE, outgrown, waiting, write_baseline
from .settings import nearest

_OPENS = ("Chapter(", "check_equation(")


def pages_of(paths: Sequence[Path]) -> list[Path]:
    """The pages to run, as named or found in folders; raises `ValueError` where there is none."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += (page for page in sorted(path.rglob("*")) if _checks(page, path))
        elif not path.is_file():
            raise ValueError(f"paths must be files or folders; there is no {path}")
        elif path.suffix not in markup.KINDS:
            raise ValueError(f"paths must end in {', '.join(markup.KINDS)}; got {path}")
        else:
            found.append(path)
    if not found:
        said = ", ".join(map(str, paths))
        raise ValueError(f"paths must hold a page with a check; {said} has none")
    return list(dict.fromkeys(found))


def _checks(page: Path, folder: Path) -> bool:
    """Whether a page in a folder opens a chapter or checks an equation."""
    hidden = any(part.startswith(("_", ".")) for part in page.relative_to(folder).parts)
    if hidden or page.suffix not in markup.KINDS or not page.is_file():
        return False
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


def check_pages(
    pages: Sequence[Path], *, annotate: bool = False, write: bool = False, jobs: int = 1
) -> int:
    """Run `pages`, print what became of their checks, and return the exit status.

    That is 0 where all hold, 1 where an equation does not or is not checked, and 2 where a page
    could not be run. With `annotate` GitHub is told of each fault; with `write` the equations
    that nothing checks are written into the baseline first.
    """
    with ThreadPoolExecutor(jobs) as pool:
        runs = []
        for run in pool.map(run_apart, pages):
            runs.append(run)
            for file, line, said in run.checks:
                print(f"{_place(file, line)}: {said}", flush=True)
    if write:
        listed = nearest(BASELINE, Path.cwd()) or Path.cwd() / BASELINE
        count = write_baseline(listed, {Path(text): labels for text, _, labels in _untried(runs)})
        print(f"{_place(str(listed))}: {count} equations not yet checked")
    faults = [*(fault for run in runs for fault in run.faults), *_incomplete(runs)]
    for fault in faults:
        print(f"{_place(fault.file, fault.line, fault.column)}: error: {fault.said}")
        if annotate:
            print(annotation(fault))
    checks = sum(len(run.checks) for run in runs)
    left = sum(len(waiting(Path(text))) for text, *_ in _untried(runs))
    later = f", {left} not yet checked" if left else ""
    print(f"{len(pages)} pages: {checks} checks hold, {len(faults)} errors{later}")
    return 2 if any(fault.broken for fault in faults) else int(bool(faults))


def _untried(runs: Sequence[Run]) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """Of each text whose pages ran to their end, the lines of its labels, and those not tried."""
    whole = [run for run in runs if not any(fault.broken for fault in run.faults)]
    for text in dict.fromkeys(text for run in whole for text in run.labels):
        lines = {label: line for run in runs for label, line in run.labels.get(text, {}).items()}
        tried = {label for run in runs for label in run.tried.get(text, ())}
        yield text, lines, [label for label in lines if label not in tried]


def _incomplete(runs: Sequence[Run]) -> Iterator[Fault]:
    """What no check has tried and the baseline does not list, and what it must list no longer."""
    for text, lines, untried in _untried(runs):
        listed = waiting(Path(text))
        for label in (label for label in untried if label not in listed):
            said = f"the equation {label} is numbered, but no cell checks it"
            yield Fault(text, lines[label], 1, said, label)
        for label, said in outgrown(listed, lines, set(lines) - set(untried)):
            yield Fault(text, lines.get(label, 1), 1, said, label)


def _place(file: str, *numbers: int) -> str:
    """``page.md:3:7``, as editors and terminals know it, seen from here."""
    shown = Path(os.path.relpath(file)).as_posix()
    return ":".join([shown, *(str(number) for number in numbers if number)])


def annotation(fault: Fault) -> str:
    """The fault as GitHub reads it from a log: ``::error file=…,line=…::message``.

    >>> annotation(Fault("/book/a.md", 3, 7, "50 % off", "eq-a")).partition(",")[2]
    'line=3,col=7,title=eq-a::50 %25 off'
    """
    title = fault.label or "this cell failed"
    where = {"file": _place(fault.file), "line": fault.line, "col": fault.column, "title": title}
    said = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in where.items())
    return f"::error {said}::{_escaped(fault.said)}"


def _escaped(text: str, others: str = "") -> str:
    for sign in "%\r\n" + others:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
