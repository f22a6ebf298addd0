"""The tables of a grammar are made once, and told apart from those of another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token

from checked_equations.latex import parser_tables as tables

RULES = "equation: NAME REL expression\nexpression: NAME\n%declare NAME REL\n"
OTHER = RULES.replace("expression: NAME", "expression: NAME+")
ENV = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
WORDS = [Token("NAME", "a"), Token("REL", "="), Token("NAME", "b")]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rules that have been made anew so far; bytecode may be written."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    told: list[str] = []

    def counted(rules: str) -> Lark:
        told.append(rules)
        return make(rules)

    make = tables._made
    monkeypatch.setattr(tables, "_made", counted)
    return told


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "__pycache__" / "tables.grammar"


def read(parser: Lark) -> Any:
    return parser.parse(iter(WORDS), start="equation")


def test_they_are_made_once_and_read_alike(made: list[str], place: Path) -> None:
    first, second = tables.kept(RULES, place), tables.kept(RULES, place)
    assert made == [RULES]
    assert read(first) == read(second)
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_those_of_other_rules_are_not_taken(made: list[str], place: Path) -> None:
    tables.kept(RULES, place)
    assert len(tables.kept(OTHER, place).rules) > len(tables.kept(RULES, place).rules)
    assert made == [RULES, OTHER, RULES]


def test_nor_those_of_another_lark(
    made: list[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.kept(RULES, place)
    monkeypatch.setattr(tables.lark, "__version__", "another")
    tables.kept(RULES, place)
    assert made == [RULES, RULES]


@pytest.mark.parametrize("end", [0, 20, 40, -1])
def test_what_is_damaged_is_made_again(made: list[str], place: Path, end: int) -> None:
    whole = read(tables.kept(RULES, place))
    place.write_bytes(place.read_bytes()[:end])
    assert read(tables.kept(RULES, place)) == whole
    assert read(tables.kept(RULES, place)) == whole
    assert made == [RULES, RULES]


def test_nothing_is_written_where_python_writes_no_bytecode(
    made: list[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert read(tables.kept(RULES, place)) == read(tables.kept(RULES, place))
    assert made == [RULES, RULES]
    assert not place.parent.exists()


def test_a_folder_that_cannot_be_made_is_no_fault(made: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert read(tables.kept(RULES, tmp_path / "file" / "tables.grammar"))
    assert made == [RULES]


def test_a_full_disk_is_no_fault_and_keeps_no_part_of_a_file(
    made: list[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError("no space left")

    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", half)
        assert read(tables.kept(RULES, place))
    assert list(place.parent.iterdir()) == []
    assert read(tables.kept(RULES, place))
    assert made == [RULES, RULES]


def test_they_lie_with_the_bytecode(tmp_path: Path) -> None:
    """Of two processes the second makes nothing."""
    code = (
        "import sys, numpy, lark\n"
        "sys.pycache_prefix = sys.argv[1]\n"  # the bytecode of others may lie where it lay
        "from checked_equations.latex import parser_tables as g, parser\n"
        "made = g._made\n"
        "g._made = lambda rules: print('made') or made(rules)\n"
        "print(len(parser.parse('a = b', {'a': 'value', 'b': 'value'}).steps))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    said = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=ENV).stdout.split()
        for _ in range(2)
    ]
    assert said == [["made", "1"], ["1"]]
    assert len(list(tmp_path.rglob("*.grammar"))) == 1
