"""Commands for the equations of a book.

``checked-equations check --strict PATHS…`` goes over pages (Markdown, notebooks, Quarto,
reStructuredText) without a build: it runs the checks that they have, and an equation without a
check fails. It ends with 0 where nothing fails, 1 where an equation does not hold, 2 where a page
cannot be run.
Without ``--strict`` it goes over papers in LaTeX as well, and tries unbound equations, where the
package checked-papers is installed. With ``--watch`` that does so again whenever a file changes,
until Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Protocol

from . import plugins
from .book import execution


class Command(Protocol):
    """The part of a plug-in that extends the command ``check``: its options, and how to run it."""

    def add_options(self, check: argparse.ArgumentParser) -> None:
        """Add the options that are not the engine's."""

    def refusal(self, given: argparse.Namespace) -> str:
        """Return why the options do not go together, or nothing."""

    def run(self, given: argparse.Namespace) -> int:
        """Go over the paths and return the exit status, with ``--strict`` as without it."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="checked-equations", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check and try the equations of papers and pages")
    _add_options(check)
    papers: Command | None = plugins.load("command")
    if papers:
        papers.add_options(check)
    given, unknown = parser.parse_known_args(arguments)
    if why := _refusal(given, papers, unknown):
        check.error(why)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        return papers.run(given) if papers else _checked(given)
    except (ValueError, OSError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2


def _add_options(check: argparse.ArgumentParser) -> None:
    """Add the options of ``check`` that need no plug-in."""
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
    check.add_argument("--quiet", action="store_true", help="say only what fails")
    check.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="how many pages run at a time"
    )


def _refusal(given: argparse.Namespace, papers: Command | None, unknown: list[str]) -> str:
    """Return the reason why ``check`` cannot run with these options; empty if it can."""
    if papers:
        return papers.refusal(given)
    if unknown:
        return f"{unknown[0].partition('=')[0]} needs another package: {plugins.INSTALL}"
    if given.strict or given.write_baseline:
        return ""
    return f"trying equations without a check needs another package: {plugins.INSTALL}; or --strict"


def _checked(given: argparse.Namespace) -> int:
    return execution.check_bound(
        given.paths, annotate=given.annotate, write=given.write_baseline,
        jobs=max(given.jobs, 1), quiet=given.quiet,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
