"""The options that papers add to the command ``check``, and their effects."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from checked_equations.book import execution

from .command import Options, check_papers, texts_of
from .reports import FORMATS
from .tried.nist import NOTATIONS
from .watching import NEEDS, Memory, watch


def add_options(check: argparse.ArgumentParser) -> None:
    """Add the options that are not the engine's."""
    check.add_argument(
        "--format", choices=tuple(FORMATS), default="text", help="lines, JSON, or SARIF 2.1.0"
    )
    check.add_argument(
        "--all", action="store_true",
        help="say a line of each equation, and not of errors and notes alone",
    )  # fmt: skip
    check.add_argument(
        "--sarif", type=Path, help="a file to write SARIF into, besides what is said"
    )
    check.add_argument(
        "--let", action="append", default=[], metavar="DECLARATION",
        help="what symbols are, as 'A be symmetric n×n; x in R^n; λ > 0'; may be repeated",
    )  # fmt: skip
    check.add_argument(
        "--notation", choices=tuple(NOTATIONS), default="",
        help="functions by the letters of a reference work: J_a(z), P_n(x), (a)_n as in nist",
    )  # fmt: skip
    check.add_argument(
        "--watch", action="store_true",
        help="check again whenever a file changes, until Ctrl-C (needs the extra `watch`)",
    )  # fmt: skip


def refusal(given: argparse.Namespace) -> str:
    """Return why the options do not go together, or nothing."""
    bound = given.strict or given.write_baseline
    if bound and (given.format != "text" or given.sarif):
        return "--strict and --write-baseline say lines: they go with neither --format nor --sarif"
    if given.watch and (given.format != "text" or given.write_baseline):
        return "--watch says lines for people: it goes with neither --write-baseline nor --format"
    if given.all and (given.quiet or bound):
        return "--all says each line: it goes with neither --quiet nor --strict"
    return NEEDS if given.watch and not find_spec("watchfiles") else ""


def run(given: argparse.Namespace) -> int:
    """Go over the paths, once or whenever a file changes, and return the exit status."""
    if not given.watch:
        return _checked(given)
    memory = Memory()
    listed = execution.bound_texts if given.strict else texts_of
    return watch(given.paths, lambda: listed(given.paths), lambda: _checked(given, memory), memory)


def _checked(given: argparse.Namespace, memory: Memory | None = None) -> int:
    jobs = max(given.jobs, 1)
    if given.strict or given.write_baseline:
        return execution.check_bound(
            given.paths, annotate=given.annotate, write=given.write_baseline, jobs=jobs,
            run=memory.run if memory else None, quiet=given.quiet,
        )  # fmt: skip
    options = Options(
        given.format,
        given.annotate,
        jobs,
        tuple(given.let),
        given.quiet,
        given.sarif,
        given.notation,
        given.all,
    )
    return check_papers(given.paths, options, memory)
