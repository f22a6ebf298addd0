"""The lists that `make mutants` and `make breaks` read name lines that the packages have."""

from __future__ import annotations

import ast

import mutants
import pytest
import rooms

pytestmark = pytest.mark.slow  # of the house, not of the processor


def test_every_edit_that_is_known_to_change_nothing_has_its_line():
    paths = [path for home in rooms.HOMES for path in (rooms.ROOT / home).rglob("*.py")]
    texts = (ast.unparse(ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    lines = {line.strip() for text in texts for line in text.splitlines()}
    known = mutants.known()
    assert known
    assert [was for was, becomes in known if was not in lines or was == becomes] == []


def test_every_break_that_was_once_let_through_has_its_place():
    """A text that its file has not once ends the program that tries them."""
    assert len([row["at"] for row in mutants.known_breaks()]) >= 15
