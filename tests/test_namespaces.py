"""The list of array namespaces: who runs which, and what they cannot do."""

import itertools
import re

import namespaces
import nightly
import pytest
import yaml

from gpnotes.testing.array_namespaces import LISTED, ListedSpace


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        ([], {"numpy-float64", "numpy-float32", "strict-device1"}),
        (["night"], {"strict-CPU_DEVICE", "strict-no_float64"}),
        (["cupy", "jax-float32"], {"cupy-float64", "cupy-float32", "jax-float32"}),
    ],
)
def test_a_space_that_nobody_asked_for_makes_no_test(names, kinds):
    """Not one that is skipped: among a thousand of these a real one would not be seen."""
    assert {row.name for row in namespaces.wanted(names)} == kinds


def test_who_asks_for_a_namespace_must_have_it(monkeypatch):
    with pytest.raises(pytest.UsageError, match=r"--namespace takes one of .*; got 'numpi'"):
        namespaces.wanted(["numpi"])
    lost = ListedSpace("lost-float64", "lost_library", "float64", "cpu", "elsewhere")
    monkeypatch.setattr(namespaces, "ONLY_HERE", (lost,))
    with pytest.raises(pytest.UsageError, match="lost-float64, but lost_library is not installed"):
        namespaces.parameters(["lost"])
    (skipped,) = namespaces.parameters(["elsewhere"])  # a whole run goes on without it
    assert [mark.name for mark in skipped.marks] == ["skip"]


def test_every_namespace_has_its_run(root):
    """A job of CI for those of their own, and one of the night for these and those of the night."""
    listed = (*LISTED, *namespaces.ONLY_HERE)
    assert {row.run for row in listed} <= {"day", "night", "own", "gpu"}
    of_their_own = {row.names[1] for row in listed if row.run == "own"}
    workflow = yaml.safe_load((root / ".github/workflows/ci.yml").read_text("utf-8"))
    assert set(workflow["jobs"]["arrays"]["strategy"]["matrix"]["namespace"]) == of_their_own
    asked = [target.split("=")[1] for target in nightly.targets() if "NAMESPACE=" in target]
    assert sorted(asked) == sorted({*of_their_own, "night"})


def test_what_a_namespace_cannot_do_is_a_test_that_there_is(root):
    for row in namespaces.CANNOT:
        file, _, test = row.test.partition("::")
        assert_there(root, file, test.partition("[")[0])


def assert_there(root, file, test):
    text = (root / file).read_text("utf-8")
    assert not test or f"def {test}" in text, f"no such test: {file}::{test}"


def test_by_day_some_test_of_each_room_runs_on_the_stand_in_for_cupy(root):
    for test in namespaces.BY_DAY:
        assert_there(root, *test.split("::"))
    takes = re.compile(r"^def test_\w+\((.*, )?space\b", re.M)
    homes = (root / home for home in ("tests", "engine/tests"))
    every = itertools.chain(*(home.rglob("test_*.py") for home in homes))
    rooms = {str(file.relative_to(root).parent) for file in every if takes.search(file.read_text())}
    chosen = [test.partition("::")[0].rpartition("/")[0] for test in namespaces.BY_DAY]
    assert {*chosen} == rooms
    assert all(chosen.count(room) == 1 for room in rooms if not room.startswith("engine/"))
    spaces = {by: [p.id for p in namespaces.parameters([], by)] for by in ("", test)}
    assert [name for name in spaces[test] if name not in spaces[""]] == ["standin-float64"]
