"""``python -m gpnotes.equations pack book``: keep the equations of the book as package data."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import text


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gpnotes.equations", description=__doc__)
    parser.add_argument("command", choices=["pack"])
    parser.add_argument("book", type=Path, help="the folder of the chapters")
    given = parser.parse_args(arguments)
    if not given.book.is_dir():
        parser.error(f"book must be a folder; got {given.book}")
    try:
        for path in text.pack(given.book):
            print(path.name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
