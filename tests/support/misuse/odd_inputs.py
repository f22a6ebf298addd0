"""Odd inputs: right calls whose arrays are laid out, typed or scaled in an unusual way.

Each alteration of an array either leaves its numbers as they are, and then the answer must stay,
or changes them, and then the answer must be free of NaN or an error that names an argument. No call
may write into what it was given. `tried` makes one such call from a seed, `found` as many as asked.
"""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from gpnotes.ground.linalg import FactorisationError

from .answers import Call, has_holes, names_it, numbers, spent

SECONDS = 10  # for a call: what takes longer is left out, and told
CLOSE = 1e-5  # of the largest entry of an answer: other layouts take other paths of BLAS
LARGEST = 100  # decimal powers by which numbers are scaled

Array = np.ndarray
Alteration = Callable[[Array, random.Random], Any]
Rightly = tuple[list[Array] | Exception, list[Array] | Exception]


def _fortran(a: Array, _: random.Random) -> Array:
    return np.asfortranarray(a)


def _reversed(a: Array, _: random.Random) -> Array:
    return a[::-1].copy()[::-1]


def _every_other(a: Array, _: random.Random) -> Array:
    wide = np.full((*a.shape[:-1], 2 * a.shape[-1]), np.nan, dtype=a.dtype)
    wide[..., ::2] = a
    return wide[..., ::2]


def _read_only(a: Array, _: random.Random) -> Array:
    a = a.copy()
    a.flags.writeable = False
    return a


def _broadcast(a: Array, _: random.Random) -> Array:
    """One entry for all, with strides of nought."""
    return np.broadcast_to(a.reshape(-1)[0], a.shape)


def _big_endian(a: Array, _: random.Random) -> Array:
    return a.astype(a.dtype.newbyteorder(">"))


def _table(a: Array, _: random.Random) -> Any:
    return {1: pd.Series, 2: pd.DataFrame}.get(a.ndim, np.array)(a)


def _subclass(a: Array, _: random.Random) -> Array:
    return a.view(np.recarray)


def _half_masked(a: Array, rng: random.Random) -> Array:
    mask = np.zeros(a.shape, dtype=bool)
    mask.flat[rng.randrange(a.size)] = True
    return np.ma.masked_array(a, mask=mask)


def _scaled(a: Array, rng: random.Random) -> Array:
    return a * 10.0 ** rng.uniform(-LARGEST, LARGEST)


def _columns_scaled(a: Array, rng: random.Random) -> Array:
    return a * 10.0 ** np.asarray([rng.uniform(-LARGEST, LARGEST) for _ in range(a.shape[-1])])


def _shifted(a: Array, rng: random.Random) -> Array:
    return a + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(0.0, LARGEST)


def _constant(a: Array, rng: random.Random) -> Array:
    return np.full_like(a, rng.choice([0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e15]))


def _twice_the_same(a: Array, rng: random.Random) -> Array:
    a = a.copy()
    a[rng.randrange(len(a))] = a[rng.randrange(len(a))]
    return a


def _one_far_away(a: Array, rng: random.Random) -> Array:
    a = a.copy()
    a.flat[rng.randrange(a.size)] *= 10.0 ** rng.uniform(0.0, LARGEST)
    return a


# the same numbers: the answer must stay, or the kind be refused
SAME: Mapping[str, Alteration] = {
    "columns first": _fortran,
    "reversed": _reversed,
    "every other": _every_other,
    "read-only": _read_only,
    "big-endian": _big_endian,
    "a table": _table,
    "of a subclass": _subclass,
}
# other numbers: an answer without NaN, or an error that names an argument
OTHER: Mapping[str, Alteration] = {
    "one entry for all": _broadcast,
    "masked in part": _half_masked,
    "scaled": _scaled,
    "scaled by columns": _columns_scaled,
    "shifted": _shifted,
    "constant": _constant,
    "a row twice": _twice_the_same,
    "one entry far away": _one_far_away,
}


@dataclass(frozen=True)
class Oddity:
    """A call with an odd input, and what was wrong with its answer."""

    called: str
    argument: str
    alteration: str
    seed: int
    fault: str

    def __str__(self) -> str:
        made = f"tried({self.called!r}, {self.argument!r}, {self.alteration!r}, {self.seed})"
        return f"{made}: {self.fault}"


def altered(a: Array, alteration: str, seed: int) -> Any:
    """The odd input, from its seed."""
    return {**SAME, **OTHER}[alteration](a, random.Random(seed))


def found(calls: Mapping[str, Call], seed: int, cases: int) -> Iterator[Oddity]:
    """What is wrong among so many cases, drawn by a seed."""
    rng = random.Random(seed)
    asked = [
        (row.called, name)
        for row in calls.values()
        for name, argument in row.arguments.items()
        if _may_be_altered(argument.right)
    ]
    answered: dict[str, Rightly] = {}
    for _ in range(cases):
        called, name = rng.choice(asked)
        alteration = rng.choice([*SAME, *OTHER])
        if oddity := tried(calls[called], name, alteration, rng.randrange(10**6), answered):
            yield oddity


def _may_be_altered(right: Any) -> bool:
    return isinstance(right, Array) and right.dtype == np.float64 and right.size > 1


def tried(
    row: Call,
    argument: str,
    alteration: str,
    seed: int,
    answered: dict[str, Rightly] | None = None,
) -> Oddity | None:
    """Make one call with an odd input; return what is wrong with the answer, if anything.

    `answered` keeps what the right call of each row says, which is asked twice alone.
    """
    fault = partial(Oddity, row.called, argument, alteration, seed)
    given = row.right()
    given[argument] = altered(given[argument], alteration, seed)
    before = {name: _copied(value) for name, value in given.items()}
    answer = _answer(row, given)
    written = [name for name, value in before.items() if not _same(value, _copied(given[name]))]
    if written:
        return fault(f"{written[0]} was written into")
    if isinstance(answer, Exception):
        return None if _names_one(answer, row) else fault(f"{type(answer).__name__}: {answer}")
    usual, again = _rightly(row, {} if answered is None else answered)
    if isinstance(usual, Exception) or isinstance(again, Exception):
        return fault(f"the right call says {usual}")
    if alteration in SAME and _close(usual, again):  # else it draws, or keeps a state
        if not _close(usual, answer):  # what was given may have kept something since
            usual, _ = _rightly(row, {})
        return None if _close(usual, answer) else fault("the answer is another")
    holes = sum(map(has_holes, answer)) - sum(map(has_holes, usual))
    return fault("NaN") if holes > 0 else None


def _rightly(row: Call, answered: dict[str, Rightly]) -> Rightly:
    """The answers of two right calls: they differ where the function draws, or keeps a state."""
    if row.called not in answered:
        answered[row.called] = _answer(row, deepcopy(row.right())), _answer(row, row.right())
    return answered[row.called]


def _answer(row: Call, arguments: Mapping[str, Any]) -> list[Array] | Exception:
    """The numbers of an answer, or the error in its place."""
    try:
        with _limited(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(numbers(spent(row.function(**arguments))))
    except _TooLong:
        return _TooLong(f"{next(iter(arguments))} takes longer than {SECONDS} s")
    except Exception as error:  # noqa: BLE001  which errors are right is asked for afterwards
        return error


def _names_one(error: Exception, row: Call) -> bool:
    """An error of ours: of the right kind, and it names an argument."""
    if isinstance(error, FactorisationError):  # it names the matrix, of which an input is a part
        return True
    if isinstance(error, AssertionError):  # what is to be checked does not hold, for such inputs
        return row.called.startswith("check_")
    known = isinstance(error, TypeError | ValueError | _TooLong)
    return known and any(names_it(str(error), name) for name in row.arguments)


def _close(usual: list[Array], odd: list[Array]) -> bool:
    return len(usual) == len(odd) and all(
        a.shape == b.shape
        and np.allclose(a, b, rtol=0.0, atol=CLOSE * (1e-3 + _largest(a)), equal_nan=True)
        for a, b in zip(usual, odd, strict=True)
    )


def _largest(a: Array) -> float:
    return float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0))


def _copied(value: Any) -> Any:
    """The numbers of an argument, apart from it; None for what holds none of its own."""
    if isinstance(value, np.ma.MaskedArray):
        return np.array(value.filled(0.0))
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series):
        return np.array(value)
    return None


def _same(before: Any, after: Any) -> bool:
    return before is None or np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


class _TooLong(Exception):
    """A call that was ended."""


@contextmanager
def _limited() -> Iterator[None]:
    """End what takes too long, where the system can."""

    def stop(_: int, __: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
