"""Which spaces a run of the tests takes, and what a namespace cannot do, each with its reason.

The spaces themselves are listed once, in `gpnotes.testing.array_namespaces`. `ONLY_HERE` are those
whose library stands in this folder; nobody who installs the package has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from gpnotes.testing import ArraySpace
from gpnotes.testing.array_namespaces import LISTED, ListedSpace

ONLY_HERE: tuple[ListedSpace, ...] = ()


@dataclass(frozen=True)
class Cannot:
    """What a namespace cannot do: the test fails there, and must, or takes `too_long`.

    `space` and `test` are regular expressions: ``jax``, ``tests/infer/test_exact.py::test_fit``.
    """

    space: str
    test: str
    reason: str
    too_long: bool = False

    def concerns(self, space: str, test: str) -> bool:
        return bool(re.match(self.space, space) and re.match(self.test, test))

    @property
    def mark(self) -> pytest.MarkDecorator:
        kind = pytest.mark.skip if self.too_long else pytest.mark.xfail
        return kind(reason=self.reason)


CANNOT: tuple[Cannot, ...] = ()


def wanted(names: list[str]) -> list[ListedSpace]:
    """The rows of the namespaces, spaces or runs that are asked for; those of the day else."""
    rows = (*LISTED, *ONLY_HERE)
    known = {name for row in rows for name in row.names}
    if unknown := [name for name in names if name not in known]:
        raise pytest.UsageError(f"--namespace takes one of {sorted(known)}; got {unknown[0]!r}")
    return [row for row in rows if {*(names or ["day"])} & {*row.names}]


def parameters(names: list[str], dear: bool) -> list[Any]:
    """The spaces as parameters of a test; where a library is missing, it is skipped and says so.

    Who asks for a namespace by its name must have it. Each operation of array-api-strict is a
    hundred of NumPy's, so `dear` tests there are nightly.
    """
    return [_parameter(row, opened(row), names, dear) for row in wanted(names)]


@cache
def opened(row: ListedSpace) -> ArraySpace:
    """The space of a row, opened once."""
    return row.opened()


def _parameter(row: ListedSpace, space: ArraySpace, names: list[str], dear: bool) -> Any:
    if space.reason and {*names} & {*row.names[:2]}:
        raise pytest.UsageError(f"--namespace asks for {row.name}, but {space.reason}")
    skip = [pytest.mark.skip(reason=space.reason)] if space.reason else []
    late = [pytest.mark.nightly] if dear and row.name.startswith("strict") else []
    return pytest.param(space, id=row.name, marks=skip + late)


def limits(space: ArraySpace, test: str) -> list[pytest.MarkDecorator]:
    """What a space cannot do of a test, as marks."""
    return [row.mark for row in CANNOT if row.concerns(space.name, test)]
