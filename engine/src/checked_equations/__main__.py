"""Commands for the equations of a book.

``python -m checked_equations pack book`` keeps them as data in the book's own folder
``_equations``, for notebooks that leave their page (``--to`` names another folder).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .book import packing


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="keep the equations as data")
    packing.add_argument("book", type=Path, help="the folder of the chapters")
    packing.add_argument("--to", type=Path, help="where the data go, instead of book/_equations")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if not given.book.is_dir():
        parser.error(f"book must be a folder; got {given.book}")
    try:
        for path in packing.pack(given.book, given.to):
            print(path)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
