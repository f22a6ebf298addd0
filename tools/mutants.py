"""Mutants of the packages' own arithmetic: how many do the tests of their rooms kill?

``python tools/mutants.py --each 12 --seed 1`` draws twelve places of a wing by lot and an edit of
each; ``make mutants ROOM=infer/exact SAMPLE=40`` forty of a room. Each runs in a copy of the
tracked files against the tests that `rooms` finds for its module, those first that name most of it,
until one fails, which must pass without the edit. With ``--day``, what lives runs against the tests
that reach its line, of all that need no built book and no browser: one run of these without an edit
finds them by coverage. A line for each goes to the file of results when it is done, and what is
there is not run again; a table ends it all.

``--known`` tries the breaks of ``tools/known_breaks.toml`` instead, all of which must be noticed.
Edits of which `tools/indistinct.toml` says why no caller can tell them from the original are
counted apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath
from typing import Any

import coverage
import edits
import rooms

ROOT = Path(__file__).resolve().parents[1]
_GPNOTES = "assess decide draw estimators fast games ground infer mdp model networks samplers"
_WINGS = [f"src/gpnotes/{wing}" for wing in _GPNOTES.split()]
_WINGS += [f"engine/src/checked_equations/{stage}" for stage in ("latex", "evaluate", "check")]
_WINGS += [f"papers/src/checked_papers/{room}" for room in ("mends", "numerics")]
_DAY = ["-m", "not site and not browser and not nightly"]
_HANGS = ["faulthandler_timeout=180", "-o", "faulthandler_exit_on_timeout=true"]
_INDISTINCT = ROOT / "tools" / "indistinct.toml"
_KNOWN = ROOT / "tools" / "known_breaks.toml"
_ENOUGH = 0.92
Row = dict[str, Any]


def draw(name: str, each: int, seed: int) -> Iterator[Row]:
    """Draw places of a wing or room by lot, all alike, and an edit at each."""
    room = rooms.find(name)
    paths = sorted((ROOT / room).rglob("*.py")) or [ROOT / room]
    places = [(path, i) for path in paths for i in range(len(edits.find(_tree(path))))]
    random.Random(f"{seed} {room}").shuffle(places)
    for path, place in places[:each]:
        tree, module = _tree(path), path.relative_to(ROOT).as_posix()
        before, node = ast.unparse(tree), edits.find(tree)[place]
        slips = list(edits.options(node))
        after = edits.apply(tree, node, random.Random(f"{seed} {module} {place}").choice(slips))
        was, becomes = changed(before, after)
        same = was == becomes or (was, becomes) in known()  # two alike exchanged are no edit
        fate = "indistinct" if same else "LIVED"
        row = {"wing": room, "at": f"{module}:{node.lineno}", "was": was, "becomes": becomes}
        yield row | {"fate": fate, "text": after}


def known_breaks() -> Iterator[Row]:
    """Yield the breaks that were once let through, each of a text that its file has once."""
    for row in tomllib.loads(_KNOWN.read_text(encoding="utf-8"))["break"]:
        text = (ROOT / row["file"]).read_text(encoding="utf-8")
        before, was, after = text.partition(row["was"])
        if not was or was in after:
            raise SystemExit(f"{row['file']} must have once: {row['was']}")
        at = f"{row['file']}:{before.count(chr(10)) + 1}"
        edit = {"at": at, "was": was, "becomes": row["becomes"], "fate": "LIVED"}
        yield edit | {"wing": row["file"], "text": before + row["becomes"] + after}


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def changed(*texts: str) -> tuple[str, str]:
    """Return the lines that differ, those of each text as one."""
    one, other = ([line.strip() for line in text.splitlines()] for text in texts)
    for end in (0, -1):
        while one and other and one[end] == other[end]:
            del one[end], other[end]
    return " ".join(one), " ".join(other)


def try_all(kind: str, mutants: list[Row], results: Path) -> None:
    """Run the tests with each mutant in turn, in a copy of the tracked files."""
    with copied() as tree:
        for row in mutants:
            module, start = tree / row["at"].partition(":")[0], time.monotonic()
            tests = row.get("reached") or _ordered(tree, module)
            before = module.read_bytes()
            _put(module, row["text"].encode())
            killed = _first_failure(tree, tests)
            fate = "by day " * (kind == "day") + (killed or "LIVED")
            row |= {"fate": fate, kind: round(time.monotonic() - start, 1)}
            _put(module, before)
            again = [killed] if "::" in killed else ["--collect-only", *tests]
            if killed and _first_failure(tree, again):
                raise SystemExit(f"{killed}: without a mutant as well")
            with results.open("a", encoding="utf-8") as file:
                kept = {name: row[name] for name in row if name not in ("text", "reached")}
                file.write(json.dumps(kept, ensure_ascii=False) + "\n")


def _put(module: Path, text: bytes) -> None:
    """Write a module, without what was compiled of it: a text of the same second looks the same."""
    module.write_bytes(text)
    Path(cache_from_source(str(module))).unlink(missing_ok=True)


@contextmanager
def copied() -> Iterator[Path]:
    """Give a folder with copies of the tracked files."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
        for name in listed.stdout.decode().splitlines():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        yield tree


def reach(mutants: list[Row], jobs: int) -> None:
    """Note for each mutant the tests of the day that reach its line, its own wing's first.

    A line that coverage does not see, of a compiled loop or of an import, keeps its room's tests.
    """
    with copied() as tree:
        paths = sorted({row["at"].partition(":")[0] for row in mutants})
        settings, data = tree / "coverage.toml", tree / "coverage.data"
        lines = [f"data_file = '{data}'", f"include = {[str(tree / path) for path in paths]}"]
        settings.write_text("\n".join(["[tool.coverage.run]", *lines]), encoding="utf-8")
        options = [*_DAY, "-n", str(jobs), "--cov", f"--cov-config={settings}"]
        _pytest(tree, [*options, "--cov-context=test", "--cov-report="])
        seen = coverage.CoverageData(str(data))
        seen.read()
        for row in mutants:
            path, _, line = row["at"].partition(":")
            contexts = seen.contexts_by_lineno(str(tree / path))
            span = statement(_tree(tree / path), int(line))
            tests = {name.rpartition("|")[0] for at in span for name in contexts.get(at, ())}
            near = rooms.find_tests(str(PurePosixPath(path).parent), tree)[0]
            order = lambda test, near=near: (not test.startswith(near), test)  # noqa: E731
            row["reached"] = sorted(tests - {""}, key=order)


def statement(tree: ast.Module, line: int) -> range:
    """Return the lines of the innermost statement there: of a compound one those of its head."""
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    around = [node for node in around if node.lineno <= line <= (node.end_lineno or node.lineno)]
    node: Any = max(around, key=lambda node: node.lineno)
    end = node.body[0].lineno if getattr(node, "body", None) else node.end_lineno + 1
    return range(node.lineno, max(end, node.lineno + 1))


def _ordered(tree: Path, module: Path) -> list[str]:
    """Return the tests of a module, those first that name most of it, and its doctests."""
    tests = [tree / name for name in rooms.find_tests(str(module.relative_to(tree)), tree)]
    files = {file for path in tests for file in sorted(path.rglob("test_*.py")) or [path]}
    names = {getattr(node, "name", module.stem) for node in _tree(module).body} | {module.stem}
    known = re.compile(rf"\b({'|'.join(names)})\b")
    named = {file: len(known.findall(file.read_text(encoding="utf-8"))) for file in files}
    own = sorted(files, key=lambda file: (file.stem != f"test_{module.stem}", -named[file], file))
    return [path.relative_to(tree).as_posix() for path in (*own, module)]


def _first_failure(tree: Path, tests: list[str]) -> str:
    """Return the test that fails, or hangs, if one does."""
    (tree / "asked.txt").write_text("\n".join(tests), encoding="utf-8")
    done = _pytest(tree, ["-x", "@asked.txt"])
    failed = re.search(
        r"^(?:FAILED|ERROR) ([^\[\n ]+(?:\[.*?\])?)(?: - .*)?$", done.stdout, re.MULTILINE
    )
    ended = done.stdout.strip()[-60:] or "no test starts"  # for an import failed, says stderr
    stopped = "time-out" if "Timeout (" in done.stderr else ended
    return (failed[1] if failed else stopped) if done.returncode else ""


def _pytest(tree: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(
        f"{tree}/{folder}src" for folder in ("", "engine/", "papers/", "editorial/")
    )
    env = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of runs compile the tests once
    plain = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-o", *_HANGS]
    command = [sys.executable, "-m", "pytest", *plain, *arguments]
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)


def known() -> set[tuple[str, str]]:
    """Return the edits that no caller can tell from the original."""
    rows = tomllib.loads(_INDISTINCT.read_text(encoding="utf-8"))["edit"]
    return {(row["was"], row["becomes"]) for row in rows}


def report(rows: list[Row], enough: float) -> int:
    """Print a table of all, and how many of those that change a value were killed."""
    print("| wing | place | edit | killed by | s |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        pairs = enumerate(zip(row["was"], row["becomes"], strict=False))
        first = max(0, next((i for i, (a, b) in pairs if a != b), 0) - 25)
        edit = " → ".join(f"`{row[name][first:][:60]}`" for name in ("was", "becomes"))
        at = row["at"].split("/", 3)[-1]
        cells = (Path(row["wing"]).stem, at, edit, row["fate"], row.get("room", 0))
        print("|", " | ".join(str(cell).replace("|", "\\|") for cell in cells), "|")
    able = [row["fate"] for row in rows if row["fate"] != "indistinct"]
    killed = sum(not re.match("LIVED|by day", fate) for fate in able)
    print(f"\n{killed} of {len(able)} killed by their rooms, {len(rows) - len(able)} indistinct")
    return int(killed < enough * len(able))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", default=_WINGS, help="such as games; else all wings")
    parser.add_argument("--each", type=int, default=12, help="how many mutants of each")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--jobs", type=int, default=1, help="how many at the same time")
    parser.add_argument("--day", action="store_true", help="try all tests on what lives")
    parser.add_argument("--known", action="store_true", help="the known breaks instead")
    parser.add_argument("--results", type=Path, default=ROOT / "_build" / "mutants.jsonl")
    given = parser.parse_args()
    key = lambda row: (row["at"], row["was"], row["becomes"])  # noqa: E731
    drawn = (row for room in given.rooms for row in draw(room, given.each, given.seed))
    rows = {key(row): row for row in (known_breaks() if given.known else drawn)}
    given.results.parent.mkdir(exist_ok=True)
    for line in given.results.open(encoding="utf-8") if given.results.exists() else ():
        done = json.loads(line)
        if rows.get(key(done), {}).get("fate") == "LIVED":
            rows[key(done)] |= done
    for kind in ("room", "day")[: 1 + given.day]:
        left = [row for row in rows.values() if row["fate"] == "LIVED" and kind not in row]
        if kind == "day" and left:
            reach(left, given.jobs)
        shares = [(kind, left[i :: given.jobs], given.results) for i in range(given.jobs)]
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(try_all, *zip(*shares, strict=True)))
    return report(list(rows.values()), 1.0 if given.known else _ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
