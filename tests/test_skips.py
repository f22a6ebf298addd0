"""In CI a test that is skipped fails the run, unless the list says why it may be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest
import skips

pytestmark = pytest.mark.slow

TESTS = """
import pytest
def test_of_differences():
    pytest.skip("differences need float64")
def test_of_a_library():
    pytest.importorskip("nobody_has_this")
"""


RUNS = {  # what is in CI there, and the options
    "by day": ("true", "-m", "not nightly"),
    "by workers": ("true", "-m", "not nightly", "-n", "1"),
    "of one that may be skipped": ("true", "-m", "not nightly", "-k", "differences"),
    "elsewhere": ("false", "-m", "not nightly"),
    "by night": ("true", "-m", ""),
}
CHILD = """
import contextlib, io, json, os, sys, pytest
found = {}
for name, (ci, *options) in json.loads(sys.argv[1]).items():
    os.environ["CI"] = ci
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:nbval", *options])
    found[name] = int(code), said.getvalue()
print(json.dumps(found))
"""


@pytest.fixture
def runs(root, once):
    """The status and the output of each run beside the conftest of the house, in one process."""

    def made(folder):
        (folder / "conftest.py").write_bytes((root / "conftest.py").read_bytes())
        (folder / "pytest.ini").write_text(
            f"[pytest]\npythonpath = {root}/tests/support\nmarkers = nightly\n    site\n"
        )
        (folder / "test_some.py").write_text(TESTS)
        command = [sys.executable, "-c", CHILD, json.dumps(RUNS)]
        return json.loads(subprocess.check_output(command, cwd=folder, text=True))

    return once("skips", made)


@pytest.mark.parametrize("how", ["by day", "by workers"])
def test_a_skip_that_is_not_on_the_list_fails_a_run_of_ci(runs, how):
    code, text = runs[how]
    assert code == 1, text
    _, _, said = text.partition("not in tests/support/skips.toml")
    assert re.search(r"^could not import 'nobody_has_this'", said, re.M)
    assert not re.search(r"^differences need", said, re.M)


@pytest.mark.parametrize("how", ["of one that may be skipped", "elsewhere", "by night"])
def test_one_that_is_on_it_does_not_nor_any_elsewhere_and_by_night(runs, how):
    code, text = runs[how]
    assert code == 0, text


def test_each_row_has_a_pattern_and_says_why():
    rows = tomllib.loads(skips.ALLOWED.read_text("utf-8"))["skip"]
    assert all(re.compile(row["reason"]) and row["why"] for row in rows)
    assert len(rows) < 12
