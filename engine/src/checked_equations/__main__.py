"""Commands for the equations of a book.

``checked-equations check PATHS…`` goes over papers in LaTeX and over pages (Markdown, notebooks,
Quarto, reStructuredText) without a build: it runs the checks that they have, tries what nobody
bound, and ends with 0 where nothing fails, 1 where an equation does not hold, 2 where a page cannot
be run. With ``--strict`` nothing is tried, and an equation without a check fails.
With ``--watch`` it does so again whenever a file changes, until Ctrl-C.
``checked-equations pack book`` keeps the equations as data in the book's own folder ``_equations``,
for notebooks that leave their page.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from .book import execution, packing
from .papers.command import Options, check_papers, texts_of
from .papers.reports import FORMATS
from .papers.watching import NEEDS, Memory, watch
from .sources.paper import TEX


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="checked-equations", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check and try the equations of papers and pages")
    check.add_argument("paths", type=Path, nargs="+", help="papers (.tex), pages, or folders")
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    check.add_argument(
        "--annotate", action="store_true", default=on_github,
        help="tell GitHub the line of each error; the default in its actions",
    )  # fmt: skip
    check.add_argument(
        "--write-baseline", action="store_true",
        help="list what is not checked yet in equations-baseline.toml; if that exists, shorten it",
    )  # fmt: skip
    check.add_argument(
        "--strict", action="store_true",
        help="for a book that binds everything: each numbered equation must have a check",
    )  # fmt: skip
    check.add_argument(
        "--format", choices=tuple(FORMATS), default="text", help="lines, JSON, or SARIF 2.1.0"
    )
    check.add_argument(
        "--sarif", type=Path, help="a file to write SARIF into, besides what is said"
    )
    check.add_argument("--quiet", action="store_true", help="say only what fails")
    check.add_argument(
        "--let", action="append", default=[], metavar="DECLARATION",
        help="what symbols are, as 'A be symmetric n×n; x in R^n; λ > 0'; may be repeated",
    )  # fmt: skip
    check.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="how many pages run at a time"
    )
    check.add_argument(
        "--watch", action="store_true",
        help="check again whenever a file changes, until Ctrl-C (needs the extra `watch`)",
    )  # fmt: skip
    pack = commands.add_parser("pack", help="keep the equations as data")
    pack.add_argument("book", type=Path, help="the folder of the chapters")
    pack.add_argument("--to", type=Path, help="where the data go, instead of book/_equations")
    given = parser.parse_args(arguments)
    if given.command == "pack" and not given.book.is_dir():
        parser.error(f"book must be a folder; got {given.book}")
    if given.command == "check" and (why := _not_together(given)):
        check.error(why)
    try:
        if given.command == "pack":
            for path in packing.pack(given.book, given.to):
                print(path)
            return 0
        return _check(given)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1 if given.command == "pack" else 2


def _not_together(given: argparse.Namespace) -> str:
    """Why the options do not go together, or nothing."""
    bound = given.strict or given.write_baseline
    if bound and (given.format != "text" or given.sarif):
        return "--strict and --write-baseline say lines: they go with neither --format nor --sarif"
    if given.watch and (given.format != "text" or given.write_baseline):
        return "--watch says lines for people: it goes with neither --write-baseline nor --format"
    return NEEDS if given.watch and not find_spec("watchfiles") else ""


def _check(given: argparse.Namespace) -> int:
    if not given.watch:
        return _checked(given)
    memory = Memory()
    listed = _pages if given.strict else texts_of
    return watch(given.paths, lambda: listed(given.paths), lambda: _checked(given, memory), memory)


def _checked(given: argparse.Namespace, memory: Memory | None = None) -> int:
    jobs = max(given.jobs, 1)
    if given.strict or given.write_baseline:
        every = _pages(given.paths)
        papers = [path for path in every if path.suffix in TEX]
        return execution.check_pages(
            [path for path in every if path not in papers],
            annotate=given.annotate, write=given.write_baseline, jobs=jobs, papers=papers,
            run=memory.run if memory else None, quiet=given.quiet,
        )  # fmt: skip
    options = Options(
        given.format, given.annotate, jobs, tuple(given.let), given.quiet, given.sarif
    )
    return check_papers(given.paths, options, memory)


def _pages(paths: Sequence[Path]) -> list[Path]:
    """The papers that are named, and the pages with checks."""
    papers = [path for path in paths if path.suffix in TEX and path.is_file()]
    pages = [path for path in paths if path not in papers]
    return [*papers, *(execution.pages_of(pages) if pages else ())]


if __name__ == "__main__":
    sys.exit(main())
