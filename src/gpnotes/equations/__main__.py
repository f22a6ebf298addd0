"""Commands for the equations of a book.

``python -m gpnotes.equations pack book`` keeps them as package data, for lone notebooks;
``python -m gpnotes.equations flip book`` runs the flip test and keeps its result.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import flips, text


def _flip(book: Path) -> list[Path]:
    return [flips.write(book)]


COMMANDS = {"pack": text.pack, "flip": _flip}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gpnotes.equations", description=__doc__)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("book", type=Path, help="the folder of the chapters")
    given = parser.parse_args(arguments)
    if not given.book.is_dir():
        parser.error(f"book must be a folder; got {given.book}")
    try:
        for path in COMMANDS[given.command](given.book):
            print(path.name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
