"""All tests of a room, found by its name for `make check` and `make mutants`, or an error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
import rooms

pytestmark = pytest.mark.slow  # of the house, not of the processor


@pytest.mark.parametrize("home", rooms.HOMES)
def test_a_package_is_found_by_its_path_and_has_rooms(home):
    assert rooms.find(home) == home
    assert rooms.every(rooms.ROOT, home)


def test_each_room_has_its_tests():
    lost = []
    for home in rooms.HOMES:
        for room in rooms.every(rooms.ROOT, home):
            try:
                assert all((rooms.ROOT / path).exists() for path in rooms.find_tests(str(room)))
            except LookupError as problem:
                lost.append(str(problem))
    assert not lost, "\n".join(lost)


def misplaced(tree):
    """Test files that have the name of a room, but are not among its tests.

    That is the name of a module or folder anywhere in the package, or of a public class in the same
    wing (``test_robust_max``); or it begins like a module or folder at its own place, but for the
    plural (``test_estimator_checks`` by ``estimators``).
    """
    for home, tests in rooms.HOMES.items():
        known = rooms.every(tree, home)
        places = {PurePosixPath(home), *known}
        named = {}
        for room in known:
            named.setdefault(room.stem, []).append(room)
            wing = room.relative_to(home).parts[0]
            for name in public_classes(tree / room):
                named.setdefault((wing, name), []).append(room)
        for file in sorted((tree / tests).rglob("test_*.py")):
            place = home / file.parent.relative_to(tree / tests)
            if place not in places:
                continue  # no wing: of the book, or the other package's
            name = file.stem.removeprefix("test_")
            wing = file.relative_to(tree / tests).parts[0]
            wanted = named.get(name, []) + named.get((wing, name), [])
            wanted += [room for room in known if room.parent == place and begins(name, room.stem)]
            path = file.relative_to(tree).as_posix()
            if wanted and not any(
                among(path, rooms.find_tests(str(room), tree)) for room in wanted
            ):
                yield f"{path} is named for {', '.join(map(str, wanted))}: move or rename it"


def begins(name, stem):
    return f"{name}_".startswith(f"{stem.removesuffix('s')}_")


def public_classes(module):
    if not module.suffix:
        return set()
    names = re.findall(r"^class ([A-Z]\w*)", module.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in names}


def among(path, found):
    return any(path == place or path.startswith(f"{place}/") for place in found)


def test_no_test_file_has_the_name_of_a_room_elsewhere():
    assert not (found := list(misplaced(rooms.ROOT))), "\n".join(found)


MISPLACED = {  # as they once were: the file, its room, and the place where the room was looked for
    "infer/test_softmax": ("infer/laplace/softmax", "infer/test_laplace"),
    "games/test_polynomials": ("games/methods/polynomials", "games/test_methods"),
    "test_multi_output": ("estimators/multi_output", "test_estimators"),
    "test_estimator_checks": ("estimators/base", "test_estimators"),
    "model/test_categorical": ("model/likelihoods/categorical", "model/test_likelihoods"),
    "model/test_robust_max": ("model/likelihoods/multiclass", "model/test_likelihoods"),
    "evaluate/test_probabilities": ("latex/lexer/probabilities", "latex/test_parser"),
}


@pytest.mark.parametrize("file", MISPLACED)
def test_a_test_file_of_a_room_elsewhere_is_reported(tmp_path, file):
    room, looked_at = MISPLACED[file]
    module = tmp_path / "src" / "gpnotes" / f"{room}.py"
    wing = tmp_path / "src" / "gpnotes" / Path(file).parent / "__init__.py"
    for path in (module, wing, *(tmp_path / "tests" / f"{test}.py" for test in (file, looked_at))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    module.write_text("class RobustMax: ...\n")
    said = list(misplaced(tmp_path))
    assert len(said) == 1
    assert said[0].startswith(f"tests/{file}.py is named for src/gpnotes/")


@pytest.fixture
def tree(tmp_path):
    """A package of five wings, three with tests."""
    files = [
        *("model/kernels/base.py", "model/kernels/sums.py", "model/priors.py", "model/labels.py"),
        *("model/__init__.py", "infer/exact.py", "infer/labels.py", "draw/paths.py"),
        *("testing/kernels.py", "games/nash.py", "games/search.py"),
    ]
    tests = [
        *("model/kernels/test_sums.py", "model/kernels/test_use.py", "model/test_priors.py"),
        *("model/test_priors_of_scales.py", "test_infer.py"),
        *("games/test_nash.py", "games/test_search.py", "test_games.py"),
    ]
    names = [f"src/gpnotes/{name}" for name in files] + [f"tests/{name}" for name in tests]
    for path in (tmp_path / name for name in names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


NAMED = {
    "kernels": "model/kernels",  # a folder before a module
    "model/kernels": "model/kernels",
    "model/kernels/": "model/kernels",
    "kernels/base": "model/kernels/base.py",
    "base": "model/kernels/base.py",
    "model/priors.py": "model/priors.py",
    "infer/labels": "infer/labels.py",
    "src/gpnotes/infer/labels.py": "infer/labels.py",
    "infer": "infer",
}


@pytest.mark.parametrize("name", NAMED)
def test_a_room_is_found_by_its_path_or_the_end_of_it(tree, name):
    assert rooms.find(name, tree) == f"src/gpnotes/{NAMED[name]}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("labels", "say which labels: src/gpnotes/infer/labels.py, src/gpnotes/model/labels.py"),
        ("ernels", "is called ernels"),
        ("src/gpnotes/infer/labels", "there is no src/gpnotes/infer/labels"),
    ],
)
def test_what_names_no_room_or_several_is_refused(tree, name, said):
    with pytest.raises(LookupError, match=said):
        rooms.find(name, tree)


TESTS = {
    "model/kernels/sums.py": ["model/kernels/test_sums.py", "model/kernels/test_use.py"],
    "model/kernels/base.py": ["model/kernels"],  # those of its room
    "model/kernels": ["model/kernels"],
    "model/priors.py": ["model/test_priors.py", "model/test_priors_of_scales.py"],
    "games/nash.py": ["games/test_nash.py", "test_games.py"],  # of the whole room beside it
    "model/labels.py": ["model"],  # those of its wing
    "infer/exact.py": ["test_infer.py"],
}


@pytest.mark.parametrize("room", TESTS)
def test_tests_are_at_the_mirrored_place_or_above_it(tree, room):
    found = rooms.find_tests(f"src/gpnotes/{room}", tree)
    assert found == [f"tests/{path}" for path in TESTS[room]]


def test_a_wing_without_tests_is_no_success(tree):
    with pytest.raises(LookupError, match=r"draw/paths\.py has no tests at its place under tests"):
        rooms.find_tests("src/gpnotes/draw/paths.py", tree)


def test_the_command_prints_both_or_fails(root: Path):
    def say(name):
        command = [sys.executable, str(root / "tools" / "rooms.py"), name]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    module, own, *others = say("linalg").stdout.split()
    assert (module, own) == ("src/gpnotes/ground/linalg.py", "tests/ground/test_linalg.py")
    assert "tests/ground/test_torch.py" in others
    assert "tests/ground/test_random.py" not in others
    assert say("tests/ground/test_linalg.py").stdout.split() == ["tests/ground/test_linalg.py"]
    wrong = say("nothing")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "is called nothing" in wrong.stderr
