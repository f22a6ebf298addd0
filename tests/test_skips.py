"""In CI a test that is skipped fails the run, unless the list says why it may be."""

from __future__ import annotations

import os
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


@pytest.fixture
def run(root, tmp_path):
    """A function that runs tests as CI does or does not, beside the conftest of the house."""
    (tmp_path / "conftest.py").write_bytes((root / "conftest.py").read_bytes())
    (tmp_path / "Makefile").write_bytes((root / "Makefile").read_bytes())
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {root}/tests/support\nmarkers = nightly\n    book\n    site\n"
    )
    (tmp_path / "test_some.py").write_text(TESTS)

    def done(*options, ci="true"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval"]
        return subprocess.run(
            [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "CI": ci},
        )  # fmt: skip

    return done


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "by workers"])
def test_a_skip_that_is_not_on_the_list_fails_a_run_of_ci(run, workers):
    result = run("-m", "not nightly", *workers)
    assert result.returncode == 1, result.stdout + result.stderr
    _, _, said = result.stdout.partition("not in tests/support/skips.toml")
    assert re.search(r"^could not import 'nobody_has_this'", said, re.M)
    assert not re.search(r"^differences need", said, re.M)


def test_one_that_is_does_not(run):
    assert run("-m", "not nightly", "-k", "differences").returncode == 0


def test_elsewhere_and_by_night_a_skip_is_one(run):
    assert run("-m", "not nightly", ci="false").returncode == 0
    assert run("-m", "").returncode == 0


def test_each_row_has_a_pattern_and_says_why():
    rows = tomllib.loads(skips.ALLOWED.read_text("utf-8"))["skip"]
    assert all(re.compile(row["reason"]) and row["why"] for row in rows)
    assert len(rows) < 12
