"""What `make check` and `make mutants` find when a room is named: all its tests, or an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import rooms

pytestmark = pytest.mark.slow  # of the house, not of the processor


@pytest.mark.parametrize("home", rooms.HOMES)
def test_a_package_is_found_by_its_path_and_has_rooms(home):
    assert rooms.find(home) == home
    assert rooms.every(rooms.ROOT, home)


@pytest.mark.parametrize(
    "room", [room for home in rooms.HOMES for room in rooms.every(rooms.ROOT, home)]
)
def test_each_room_has_its_tests(room):
    found = rooms.find_tests(str(room))
    assert found
    assert all((rooms.ROOT / path).exists() for path in found)


def test_what_is_tested_elsewhere_is_there():
    for room, elsewhere in rooms.ELSEWHERE.items():
        assert all((rooms.ROOT / path).exists() for path in (room, *elsewhere))


@pytest.fixture
def tree(tmp_path):
    """A package of two wings, of which one has no tests."""
    files = [
        *("model/kernels/base.py", "model/kernels/sums.py", "model/priors.py", "model/labels.py"),
        *("model/__init__.py", "infer/exact.py", "infer/labels.py", "draw/paths.py"),
        "testing/kernels.py",
    ]
    tests = [
        *("model/kernels/test_sums.py", "model/kernels/test_use.py", "model/test_priors.py"),
        *("model/test_priors_of_scales.py", "test_infer.py"),
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
    "model/kernels/sums.py": ["model/kernels/test_sums.py"],
    "model/kernels/base.py": ["model/kernels"],  # those of its room
    "model/kernels": ["model/kernels"],
    "model/priors.py": ["model/test_priors.py", "model/test_priors_of_scales.py"],
    "model/labels.py": ["model"],  # those of its wing
    "infer/exact.py": ["test_infer.py"],
}


@pytest.mark.parametrize("room", TESTS)
def test_tests_are_at_the_mirrored_place_or_above_it(tree, room, monkeypatch):
    monkeypatch.setattr(rooms, "ELSEWHERE", {})
    found = rooms.find_tests(f"src/gpnotes/{room}", tree)
    assert found == [f"tests/{path}" for path in TESTS[room]]


def test_those_that_are_elsewhere_are_told(tree, monkeypatch):
    monkeypatch.setattr(rooms, "ELSEWHERE", {"src/gpnotes/draw": ("tests/test_infer.py",)})
    assert rooms.find_tests("src/gpnotes/draw/paths.py", tree) == ["tests/test_infer.py"]


def test_a_wing_without_tests_is_no_success(tree):
    with pytest.raises(LookupError, match=r"draw/paths\.py has no tests at its place under tests"):
        rooms.find_tests("src/gpnotes/draw/paths.py", tree)


def test_the_command_prints_both_or_fails(root: Path):
    def say(name):
        command = [sys.executable, str(root / "tools" / "rooms.py"), name]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert say("linalg").stdout.split() == [
        "src/gpnotes/ground/linalg.py", "tests/ground/test_linalg.py",
    ]  # fmt: skip
    assert say("tests/ground/test_linalg.py").stdout.split() == ["tests/ground/test_linalg.py"]
    wrong = say("nothing")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "is called nothing" in wrong.stderr
