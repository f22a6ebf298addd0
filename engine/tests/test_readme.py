"""The README of the engine says what is so."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_its_examples_run():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def test_it_fits_a_reading():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 130


def test_what_it_links_is_there():
    linked = re.findall(r"\]\(([^):]+)\)", README.read_text(encoding="utf-8"))
    assert len(linked) >= 2
    assert all((README.parent / name).is_file() for name in linked)
