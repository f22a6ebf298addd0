"""Runs of a long script, kept line by line, so that one that is stopped goes on where it was.

And the tables that are written row by row.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import IO, Any

Row = dict[str, Any]


def kept(path: Path) -> list[Row]:
    """The runs that ended; a line that was cut short is none."""
    rows = []
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    for line in filter(None, lines):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"not a run: {line[:40]}", file=sys.stderr)
    return rows


def keep(path: Path, row: Row) -> None:
    """Write down a run that ended, in a line of its own, after one that was cut short too."""
    cut = path.exists() and path.read_text("utf-8")[-1:] not in ("", "\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * cut + json.dumps(row) + "\n")


def opened_table(path: Path) -> IO[str]:
    """Open a table to be written, packed if its name ends so."""
    packed = gzip.open if path.suffix == ".gz" else open
    return packed(path, "wt", newline="", encoding="utf-8")
