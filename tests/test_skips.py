"""In CI a skip fails the run, unless tests/support/skips.toml says why it may be."""

from __future__ import annotations

import re
import tomllib

import pytest
import skips

pytestmark = pytest.mark.slow

TESTS = """
import pytest
def test_of_differences():
    pytest.skip("differences need float64")
def test_of_a_library():
    pytest.importorskip("a_library_that_is_not_there")
"""


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("false", 0)])
def test_a_skip_that_is_not_on_the_list_fails_a_run_of_ci(tmp_path, monkeypatch, capsys, ci, code):
    (tmp_path / f"test_of_ci_{ci}.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = nightly\n")
    monkeypatch.setenv("CI", ci)
    options = ["-c", str(tmp_path / "pytest.ini"), "-p", "no:cacheprovider", "-m", "not nightly"]
    assert pytest.main([*options, str(tmp_path)], plugins=[skips]) == code
    _, _, said = capsys.readouterr().out.partition("not in tests/support/skips.toml")
    assert bool(re.search(r"^could not import 'a_library", said, re.M)) == (ci == "true")
    assert "differences need" not in said


def test_each_row_has_a_pattern_and_says_why():
    rows = tomllib.loads(skips.ALLOWED.read_text("utf-8"))["skip"]
    assert all(re.compile(row["reason"]) and row["why"] for row in rows)
    assert len(rows) < 12
