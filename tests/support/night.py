"""The tests that run at night alone, listed in ``night.toml`` with their reasons: a pytest plugin.

``python tests/support/night.py`` collects the whole suite and prints what breaks the law of that
list: each level of each parameter that runs at night runs by day as well, and each entry leaves at
least one test to the night.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

LISTED = Path(__file__).with_name("night.toml")
WHOLE = pytest.StashKey[list[pytest.Item]]()  # all tests, where a run collects the whole suite


@cache
def rows() -> list[dict[str, str]]:
    """Return the entries of the list."""
    return tomllib.loads(LISTED.read_text("utf-8"))["night"]


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the listed tests ``nightly``, and keep all where these are the whole suite."""
    listed = re.compile("|".join(f"(?:{row['tests']})" for row in rows()))
    for item in items:
        if listed.match(item.nodeid):
            item.add_marker("nightly")
    if config.args == config.getini("testpaths"):
        config.stash[WHOLE] = list(items)


def lost_levels(items: Iterable[Any]) -> Iterator[str]:
    """Yield each level of a parameter that a family of tests takes at night alone.

    A family that the list leaves to the night as a whole has no day to compare with.
    """
    day, night = defaultdict(set), defaultdict(set)
    for item in items:
        if hasattr(item, "callspec"):
            family = item.nodeid.partition("[")[0]
            found = night if item.get_closest_marker("nightly") else day
            found[family] |= {(name, _level(v)) for name, v in item.callspec.params.items()}
    for family in sorted(day.keys() & night.keys()):
        for name, level in sorted(night[family] - day[family]):
            yield f"{family}: {name} = {level} runs at night alone"


def _level(value: Any) -> str:
    """Name a value: by its text where that tells it apart, and else by its identity."""
    said = repr(value)
    return said if len(said) < 200 and " at 0x" not in said else f"{said[:60]} {id(value)}"


def broken(items: Sequence[Any]) -> list[str]:
    """Return what breaks the law in the whole suite."""
    nightly = [item.nodeid for item in items if item.get_closest_marker("nightly")]
    return [*lost_levels(items), *idle_rows(nightly)]


def idle_rows(nightly: list[str]) -> Iterator[str]:
    """Yield each entry of the list that leaves no test to the night."""
    for row in rows():
        if not any(re.match(row["tests"], one) for one in nightly):
            yield f"night.toml: {row['tests']} matches no test"


class _Collected:
    """A plugin that keeps what pytest collects."""

    items: list[pytest.Item]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = list(items)


def main() -> int:
    """Collect everything and print what breaks the law."""
    seen = _Collected()
    options = ["--collect-only", "-qq", "-m", "", "-p", "no:cacheprovider", *sys.argv[1:]]
    with redirect_stdout(StringIO()) as said:
        code = pytest.main(options, plugins=[seen])
    if code:
        print(said.getvalue()[-3000:])
        return int(code)
    nightly = [item.nodeid for item in seen.items if item.get_closest_marker("nightly")]
    found = list(lost_levels(seen.items)) if sys.argv[1:] else broken(seen.items)
    print(*found, f"{len(seen.items)} tests, {len(nightly)} of them at night alone", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
