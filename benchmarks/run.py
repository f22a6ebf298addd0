"""Time the tasks of `tasks/`, each with its floor and its rivals, in one run.

    python benchmarks/run.py                          # all of them; `make bench`
    python benchmarks/run.py evidence line --rounds 3 # some
    python benchmarks/run.py --threads 1 --busy       # one thread, and a neighbour that never rests
    python benchmarks/run.py --small                  # at the smallest size: whether all agree
    python benchmarks/run.py --speed                  # keep ratios in speed.json, write the tables
    python benchmarks/run.py --against benchmarks/speed.json  # fail if a ratio grew by a tenth
    python benchmarks/run.py --tables                 # the tables alone, from what is kept

It prints seconds (medians of rounds), ratios to the floor, and how far answers lie apart, writes
them as JSON, and ends in an error where answers differ. Rivals that are not installed are named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
GROWN = 1.1  # times the ratio that is kept: more is a failure


def main() -> int:
    """Measure, print, write; 1 if answers differ or a ratio grew."""
    asked = _arguments()
    if asked.threads:
        _with_threads(asked.threads)
    import kept
    from harness import machine
    from tasks import TASKS

    if asked.tables:
        kept.write(kept.read())
        return 0
    if wrong := [name for name in asked.tasks if name not in TASKS]:
        raise SystemExit(f"tasks must be of {sorted(TASKS)}; got {wrong}")
    report = {"when": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": {}}
    print(json.dumps(report["machine"]))
    with _neighbour(asked.busy):
        for name in asked.tasks or TASKS:
            report["rows"][name] = _row(name, asked)
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"written to {asked.json}")
    differ = [n for n, row in report["rows"].items() if not row["disagreement"] <= TASKS[n].close]
    slower = []
    if asked.against:
        slower, compared = kept.slower(report, kept.read(asked.against), GROWN)
        print(f"{compared} of {len(report['rows'])} compared with {kept.kind(report['machine'])}")
    if asked.speed and not differ:
        kept.keep(report)
    for problem in (*(f"{name}: answers differ" for name in differ), *slower):
        print(problem, file=sys.stderr)
    return int(bool(differ or slower))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="names; all if none")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="at the smallest size")
    parser.add_argument("--memory", action="store_true", help="and the peak of each, in a process")
    parser.add_argument("--threads", type=int, help="of BLAS and LAPACK")
    parser.add_argument("--busy", action="store_true", help="beside a process that never rests")
    parser.add_argument("--against", type=Path, help="kept ratios that may grow by a tenth")
    parser.add_argument("--speed", action="store_true", help="keep, and write the tables")
    parser.add_argument("--tables", action="store_true", help="write the tables, measure nothing")
    parser.add_argument("--json", type=Path, default=Path("build/benchmarks.json"))
    asked = parser.parse_args()
    if (asked.speed or asked.against) and (asked.small or asked.busy):
        parser.error("--speed and --against are for the usual sizes on a machine of one's own")
    return asked


def _with_threads(count: int) -> None:
    """Begin again with so many threads: libraries ask for them when they load."""
    if os.environ.get(_THREADS[0]) != str(count):
        os.environ.update(dict.fromkeys(_THREADS, str(count)))
        os.execv(sys.executable, [sys.executable, *sys.argv])


@contextmanager
def _neighbour(wanted: bool) -> Iterator[None]:
    """Keep a core busy with another process meanwhile, if `wanted`."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _row(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    from harness import measured, peak_bytes
    from tasks import TASKS

    task = TASKS[name]
    n = task.small if asked.small else task.size
    row = measured(task, n, asked.rounds)
    print(f"\n{name}: {task.said.format(n=n)}; answers differ by {row['disagreement']:.1e}")
    if asked.memory:
        row["peak_bytes"] = {way: peak_bytes(name, way, n) for way in row["seconds"]}
    for way, spent in row["seconds"].items():
        ratio = f"{row['times'][way]:10.3g} ×" if way in row["times"] else f"{'':12}"
        peak = row.get("peak_bytes", {}).get(way)
        held = "" if peak is None else f"{peak / 1e6:10.1f} MB"
        print(f"  {way:24}{median(spent):12.6f} s{ratio}{held}", flush=True)
    if row["missing"]:
        print(f"  not installed: {', '.join(row['missing'])}")
    return row


if __name__ == "__main__":
    sys.exit(main())
