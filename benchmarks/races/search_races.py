"""Searches of up to twenty inputs, with noise and without, beside the defaults of the peers.

It runs in the environment of `optimisation_races.py`. Every run is kept in ``search-races.jsonl``
as soon as it ends, so that a script that is killed goes on where it was; from the runs of the file
it writes `src/gpnotes/data/search-races.csv.gz`:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/races/search_races.py --seeds 5

Name methods and problems to run a part of it, and say ``--until 50`` to end runs before their
budget: a longer run takes the place of a shorter one. At each count of evaluations a row has the
regret of the place that was read best so far, by the value that the objective truly has there.

With ``--unseen`` it runs functions on which no default of this package was chosen, keeps them in
``unseen-races.jsonl`` and writes `src/gpnotes/data/unseen-races.csv.gz`. It asks Optuna alone of
the peers:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/races/search_races.py --unseen --seeds 20
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kept_runs import Row, kept
from optimisation_races import ended, key
from race_contestants import UNSEEN_CONTESTANTS, WIDER_CONTESTANTS, Race
from race_objectives import UNSEEN, WIDER, Problem

DATA = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
COUNTS = tuple(range(10, 101, 10))
HEAD = ("problem", "method", "seed", "seconds", *(f"regret_{count}" for count in COUNTS))


@dataclass(frozen=True)
class Field:
    """What is raced, by whom, and the name of its files."""

    name: str
    problems: tuple[Problem, ...]
    contestants: dict[str, Callable[[Race], None]]

    def numbers(self, row: Row) -> tuple[int, int, int]:
        """Problem, method and seed, as the table has them."""
        names = [problem.name for problem in self.problems]
        return names.index(row["problem"]), list(self.contestants).index(row["method"]), row["seed"]


SEARCH = Field("search-races", WIDER, WIDER_CONTESTANTS)
UNSEEN_FIELD = Field("unseen-races", UNSEEN, UNSEEN_CONTESTANTS)


def run(problem: Problem, method: str, seed: int) -> Row:
    """Readings and values in their order, and the seconds that it took to choose points."""
    race = Race(problem, seed)
    began = time.process_time()
    (WIDER_CONTESTANTS | UNSEEN_CONTESTANTS)[method](race)
    seconds = time.process_time() - began - race.seconds
    return {
        "problem": problem.name, "method": method, "seed": seed, "seconds": seconds,
        "values": race.values, "readings": race.readings,
    }  # fmt: skip


def longest(path: Path) -> dict[tuple[str, str, int], Row]:
    """The runs that ended, of each the longest."""
    rows = sorted(kept(path), key=lambda row: len(row["values"]))
    return {key(row): row for row in rows}


def race_all(path: Path, problems: list[Problem], methods: list[str], seeds: int) -> None:
    """Run the missing races seed by seed, so that every method has equally many."""
    have = {name: len(row["values"]) for name, row in longest(path).items()}
    for seed in range(seeds):
        for problem in problems:
            for method in methods:
                if have.get((problem.name, method, seed), 0) < problem.budget:
                    ended(path, run(problem, method, seed))


def floor_of(problem: Problem, rows: list[Row], seed: int) -> float:
    """The minimum; where nobody knows it, the least that any run of this seed has come to."""
    ours = [row for row in rows if (row["problem"], row["seed"]) == (problem.name, seed)]
    found = min(min(row["values"]) for row in ours)
    return found if problem.least is None else problem.least


def regrets(row: Row, floor: float) -> list[float]:
    """The regret at each of the counts, NaN beyond the budget."""
    luckiest, best = [], 0
    for i, reading in enumerate(row["readings"]):
        best = i if reading < row["readings"][best] else best
        luckiest.append(max(row["values"][best] - floor, 0.0))
    return [luckiest[n - 1] if n <= len(luckiest) else float("nan") for n in COUNTS]


def table(field: Field, rows: list[Row]) -> Iterator[list[str]]:
    """A line for each run, with three digits."""
    for row in sorted(rows, key=field.numbers):
        which = field.numbers(row)
        floor = floor_of(field.problems[which[0]], rows, row["seed"])
        cells = (row["seconds"], *regrets(row, floor))
        yield [*map(str, which), *(f"{cell:.3g}" for cell in cells)]


def main() -> int:
    """Race, then write the table of all runs that are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--methods", nargs="*", choices={*WIDER_CONTESTANTS, *UNSEEN_CONTESTANTS})
    parser.add_argument("--problems", nargs="*", choices=[p.name for p in (*WIDER, *UNSEEN)])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--until", type=int, default=COUNTS[-1])
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--to", type=Path)
    chosen = parser.parse_args()
    field = UNSEEN_FIELD if chosen.unseen else SEARCH
    problems = [
        replace(problem, budget=min(problem.budget, chosen.until))
        for problem in field.problems
        if chosen.problems is None or problem.name in chosen.problems
    ]
    runs = chosen.runs or Path(f"{field.name}.jsonl")
    race_all(runs, problems, chosen.methods or list(field.contestants), chosen.seeds)
    target = chosen.to or next(DATA.glob(f"{field.name}.csv*"))
    rows = [HEAD, *table(field, list(longest(runs).values()))]
    cells = [["" if str(cell) == "nan" else str(cell) for cell in row] for row in rows]
    text = "".join(f"{','.join(row)}\n" for row in cells).encode()
    target.write_bytes(gzip.compress(text, mtime=0) if target.suffix == ".gz" else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
