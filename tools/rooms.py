"""Paths of a room of the code and of its tests: one rule for all commands.

``python tools/rooms.py infer/exact`` prints both, for `make check`; `make mutants` asks as well. A
room is a module or a folder of a package. It is named by its path from here
(``src/gpnotes/infer/exact.py``), by its path in its package (``infer/exact``), or by the end of
that where no other ends so (``exact``).

Its tests are at the mirrored place: ``tests/infer/test_exact.py``, ``tests/infer/test_exact_*.py``,
or a folder ``tests/infer/exact``. A module has also those of the folder around it that are of no
other room (``tests/infer/test_ties.py``): a file more never hides what tested it before. Where a
room has none of its own, all of the folder above it are taken, up to its wing; where that has none
either, the command fails. Of `gpnotes` all tests are no answer. There are no exceptions:
``tests/test_rooms.py`` reports a test file that is elsewhere.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
HOMES = {  # of the packages, and of their tests
    "src/gpnotes": "tests",
    "editorial/src/gpnotes_book": "tests/editorial",
    "engine/src/checked_equations": "engine/tests",
    "papers/src/checked_papers": "papers/tests",
}


def find(name: str, tree: Path = ROOT) -> str:
    """Return the path of the room of that name, from the root; LookupError if there is not one."""
    name = name.rstrip("/")
    if name.startswith(("src/", "engine/", "papers/", "editorial/", "tests/")):
        if not (tree / name).exists():
            raise LookupError(f"there is no {name}")
        return name
    known = [path for home in HOMES for path in every(tree, home)]
    ending = [path for path in known if _ends(path, name)]
    whole = [path for path in ending if str(_inside(path)) == name.removesuffix(".py")]
    folders = [path for path in ending if not path.suffix]
    found = whole or folders or ending
    if not found:
        raise LookupError(f"no room of {', '.join(HOMES)} is called {name}")
    if len(found) > 1:
        raise LookupError(f"say which {name}: {', '.join(map(str, found))}")
    return str(found[0])


def find_tests(room: str, tree: Path = ROOT) -> list[str]:
    """Return the files and folders that test it; LookupError if there are none."""
    if "tests" in PurePosixPath(room).parts[:2]:
        return [room]
    home = _home(room)
    for place in [PurePosixPath(room), *PurePosixPath(room).parents]:
        if there := _mirrored(tree, place, home):
            return there + (_of_no_other(tree, place, home) if place.suffix else [])
        if str(place) == home:
            break
    raise LookupError(f"{room} has no tests at its place under {HOMES[home]}, nor has its wing")


def _mirrored(tree: Path, room: PurePosixPath, home: str) -> list[str]:
    if str(room) == home:
        return [HOMES[home]] if HOMES[home] != "tests" else []
    place = tree / HOMES[home] / _inside(room)
    files = [
        *place.parent.glob(f"test_{place.name}.py"),
        *place.parent.glob(f"test_{place.name}_*.py"),
    ]
    there = [place] if any(place.rglob("test_*.py")) else []
    return [path.relative_to(tree).as_posix() for path in sorted(there + files)]


def _of_no_other(tree: Path, module: PurePosixPath, home: str) -> list[str]:
    """Return the test files of the folder around a module that no other room has for its own."""
    around = module.parent
    if str(around) == home:
        return []
    rooms = {path.stem for path in (tree / around).iterdir() if not path.stem.startswith("__")}
    owned = re.compile(rf"test_({'|'.join(map(re.escape, rooms))})(_.*)?\.py")
    folder = tree / HOMES[home] / _inside(around)
    paths = [path for path in folder.glob("test_*.py") if not owned.fullmatch(path.name)]
    beside = [path for path in _mirrored(tree, around, home) if path.endswith(".py")]
    return sorted([*beside, *(path.relative_to(tree).as_posix() for path in paths)])


def every(tree: Path, home: str) -> list[PurePosixPath]:
    """Return all modules and folders of a package."""
    files = (path.relative_to(tree) for path in (tree / home).rglob("*.py"))
    modules = {PurePosixPath(path) for path in files}
    folders = {path.parent for path in modules} - {PurePosixPath(home)}
    return sorted(folders | {path for path in modules if path.name != "__init__.py"})


def _ends(path: PurePosixPath, name: str) -> bool:
    parts = PurePosixPath(name.removesuffix(".py")).parts
    return path.with_suffix("").parts[-len(parts) :] == parts


def _home(room: str) -> str:
    for home in HOMES:
        if PurePosixPath(room).is_relative_to(home):
            return home
    raise LookupError(f"{room} is in no package: {', '.join(HOMES)}")


def _inside(path: PurePosixPath) -> PurePosixPath:
    inside = path.relative_to(_home(str(path)))
    return inside.parent / inside.stem


def main() -> int:
    """Print the room and its tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", help="such as infer/exact, kernels or src/gpnotes/infer/exact.py")
    try:
        room = find(parser.parse_args().room)
        print(*dict.fromkeys([room, *find_tests(room)]))
    except LookupError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
