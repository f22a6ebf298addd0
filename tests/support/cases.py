"""Many small cases in one test, each of which fails under its own name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Callable[[Any], str] | Iterable[str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As ``pytest.mark.parametrize``, but one test: each case that fails is a subtest of it.

    For cases of milliseconds, since a test of its own costs two before it begins, in every worker.
    The cases share the fixtures, and must leave them as they were; a generator goes on from one to
    the next. Written above another, it has all pairs, as there.
    """
    asked = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    rows = list(values)
    told = [ids(row) for row in rows] if callable(ids) else list(ids or map(_short, rows))
    assert rows, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        once, cases = getattr(test, "cases", (test, [("", {})]))
        cases = [
            (f"{said}-{name}" if said else name, one | _named(asked, row))
            for (said, one) in cases
            for name, row in zip(told, rows, strict=True)
        ]

        @functools.wraps(once)
        def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for said, one in cases:
                try:
                    once(**fixtures, **one)
                except (Exception, pytest.fail.Exception) as error:
                    with subtests.test(said):
                        raise error

        kept = [p for p in inspect.signature(once).parameters.values() if p.name not in cases[0][1]]
        also = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([also, *kept])  # type: ignore[attr-defined]
        run.cases = once, cases  # type: ignore[attr-defined]
        return run

    return decorate


def by_day(some: Iterable[Any], rest: Iterable[Any]) -> list[Any]:
    """Values for ``pytest.mark.parametrize`` of which only `some` are taken by day.

    For cases of one form whose code is the same: the night takes the `rest` as well. A tuple is a
    value for each name.
    """
    late = (one if isinstance(one, tuple) else (one,) for one in rest)
    return [*some, *(pytest.param(*values, marks=pytest.mark.nightly) for values in late)]


def _named(asked: list[str], row: Any) -> dict[str, Any]:
    return dict(zip(asked, row if len(asked) > 1 else [row], strict=True))


def _short(row: Any) -> str:
    parts = row if isinstance(row, tuple | list) else [row]
    said = "-".join(" ".join(str(getattr(part, "__name__", part)).split()) for part in parts)
    return said if len(said) <= 80 else said[:77] + "..."
