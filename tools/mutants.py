"""Mutants of the package's own arithmetic: how many does a room's own tests kill?

``make mutants ROOM=decide/games SAMPLE=40`` copies what is tracked to a scratch folder, lets Cosmic
Ray find every place in the room where one of `_OPERATORS` fits, picks `SAMPLE` places by lot, makes
one edit at each, and runs the tests of the room. What lives is printed as a difference.
Annotations and decorators are no arithmetic, and a few arguments change no result: edits there are
passed over. Edits of which `tools/indistinct.toml` says why no caller can tell them from the
original are counted apart.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import rooms
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
_SIGNS = "(Add|Sub|Mul|Div|Pow)"
_OPERATORS = re.compile(
    rf"core/(ReplaceBinaryOperator_{_SIGNS}_{_SIGNS}|NumberReplacer|AddNot|ReplaceAndWithOr"
    r"|ReplaceOrWithAnd|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ZeroIterationForLoop"
    r"|ReplaceUnaryOperator_(USub_UAdd|Delete_USub|Delete_Not)"
    r"|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Lt_GtE|Gt_LtE"
    r"|LtE_Gt|GtE_Lt|Is_IsNot|IsNot_Is))$"
)
_ENOUGH = 0.95
_INDISTINCT = ROOT / "tools" / "indistinct.toml"
# They change no result: whether zip complains of lengths that are equal anyway, and how many
# matrices the guess of the memory counts.
_IDLE = ("strict", "copies")


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        _copy(tree)
        session = _session(tree, options)
        _keep(session, options.sample, options.seed, tree)
        _cosmic_ray(tree, "exec", "mutants.toml", session.name)
        return _report(session, options.room)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    room = "such as games, infer/exact or src/gpnotes/infer/exact.py; by default that of the day"
    parser.add_argument("room", nargs="?", default=_of_today(), help=room)
    parser.add_argument("--sample", type=int, default=40, help="how many mutants to try")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a mutant may take")
    return parser.parse_args()


def _of_today() -> str:
    """A room of a wing of gpnotes; each has its turn."""
    package = ROOT / "src" / "gpnotes"
    inside = (path.relative_to(package) for path in package.glob("*/*") if path.name[0] not in "_.")
    every = sorted(path.as_posix() for path in inside if path.suffix in {"", ".py"})
    return every[date.today().toordinal() % len(every)]


def _copy(tree: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.splitlines()):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def _session(tree: Path, options: argparse.Namespace) -> Path:
    """Let Cosmic Ray list all mutants of the room, after the tests have passed without one."""
    try:
        module = rooms.find(options.room, tree)
        tests = rooms.find_tests(module, tree)
    except LookupError as problem:
        sys.exit(str(problem))
    command = " ".join([
        "env", f"PYTHONPATH={tree}/src:{tree}/engine/src:{tree}/editorial/src", "OMP_NUM_THREADS=1",
        sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", module, *tests,
    ])  # fmt: skip
    (tree / "mutants.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{module}"\ntimeout = {options.timeout}\n'
        f'excluded-modules = []\ntest-command = "{command}"\n\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    _cosmic_ray(tree, "baseline", "mutants.toml")
    _cosmic_ray(tree, "init", "mutants.toml", "mutants.sqlite")
    return tree / "mutants.sqlite"


def _cosmic_ray(tree: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "cosmic_ray.cli", *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"cosmic-ray {arguments[0]}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def _keep(session: Path, sample: int, seed: int, tree: Path) -> None:
    """Pick the places by lot, then one edit at each; the others are skipped."""
    draw = random.Random(seed)
    with use_db(session, WorkDB.Mode.open) as db:
        places: dict[tuple, list[WorkItem]] = {}
        for item in sorted(db.work_items, key=lambda item: str(item.mutations)):
            if _is_arithmetic(item, tree):
                edit = item.mutations[0]
                places.setdefault((str(edit.module_path), edit.start_pos), []).append(item)
        chosen = draw.sample(sorted(places), min(sample, len(places)))
        kept = {draw.choice(places[place]).job_id for place in chosen}
        others = [item.job_id for item in db.work_items if item.job_id not in kept]
        db.set_multiple_results(others, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def _is_arithmetic(item: WorkItem, tree: Path) -> bool:
    edit = item.mutations[0]
    if not _OPERATORS.match(edit.operator_name):
        return False
    return not any(
        start <= edit.start_pos < end for start, end in _passed_over(tree / edit.module_path)
    )


def _passed_over(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations, decorators and the arguments `_IDLE` stand."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.keyword) and node.arg in _IDLE:
            parts.append(node.value)
        for part in (*parts, *getattr(node, "decorator_list", ())):
            if part is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _report(session: Path, room: str) -> int:
    with use_db(session, WorkDB.Mode.open) as db:
        tried = [
            (item, result)
            for item, result in db.completed_work_items
            if result.worker_outcome != WorkerOutcome.SKIPPED
        ]
    known = _known()
    lived = [(item, result) for item, result in tried if not result.is_killed]
    alive = [(item, result) for item, result in lived if _edit(result.diff) not in known]
    for item, result in alive:
        edit = item.mutations[0]
        print(f"\n{edit.module_path}, {edit.operator_name}\n{result.diff}")
    killed, indistinct = len(tried) - len(lived), len(lived) - len(alive)
    able = killed + len(alive)
    apart = f", {indistinct} indistinct" if indistinct else ""
    print(f"{room}: {killed} of {able} mutants killed ({killed / max(able, 1):.0%}){apart}")
    return int(killed < _ENOUGH * able)


def _known() -> set[tuple[str, str]]:
    rows = tomllib.loads(_INDISTINCT.read_text(encoding="utf-8"))["edit"]
    return {(row["was"], row["becomes"]) for row in rows}


def _edit(diff: str) -> tuple[str, str]:
    """The line that the edit changed, before and after, without its indentation."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    was = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    becomes = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return was, becomes


if __name__ == "__main__":
    sys.exit(main())
