"""Odd inputs from the command line: ``make fuzz``."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from rich.progress import track

from .calls import CALLS
from .odd_inputs import found


def main() -> int:
    """Print each fault once, with the call that makes it again, and keep them in a file."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    today = datetime.datetime.now(datetime.UTC).date().toordinal()
    parser.add_argument("--seed", type=int, default=today, help="the day, unless it is given")
    parser.add_argument("--cases", type=int, default=60_000)
    parser.add_argument("--keep", type=Path, help="a file to which the faults are added")
    asked = parser.parse_args()
    rows = {row.called: row for row in CALLS}
    faults = {}
    for part in track(range(100), "calls"):
        for oddity in found(rows, asked.seed + part * 10**6, asked.cases // 100):
            faults.setdefault((oddity.called, oddity.argument, oddity.fault[:60]), str(oddity))
    print("\n".join(faults.values()) or "nothing was found")
    if asked.keep is not None and faults:
        with asked.keep.open("a", encoding="utf-8") as file:
            file.write("\n".join([*faults.values(), ""]))
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
