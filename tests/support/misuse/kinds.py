"""The kinds of arguments, each with a right value and with the values that are wrong for it.

A value stands in a battery only if no reading of it is right: whoever passes it made a slip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np

NO_ARRAYS: Mapping[str, Any] = {
    "None": None, "a string": "x", "a dict": {}, "a set": {1.0}, "a function": abs, "a class": int,
    "an object": object(), "a generator": np.random.default_rng(0),
}  # fmt: skip

_IN_ARRAYS: Mapping[str, Any] = {
    "NumPy's True": np.True_, "a truth in an array": np.asarray(True),
    "a numeral in an array": np.asarray("2"),
}  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """A right value, and what is wrong in its place, by what is wrong with it."""

    right: Any
    wrong: Mapping[str, Any]

    @property
    def table(self) -> Argument:
        """The same where data are taken, which may be lists, frames and whole numbers."""
        return self.but("a list", "integers", "objects")

    def but(self, *names: str, **more: Any) -> Argument:
        """The same without the wrong values `names`, which are right here, and with `more`."""
        kept = {name: value for name, value in self.wrong.items() if name not in names}
        return Argument(self.right, {**kept, **more})


def _array(a: np.ndarray, *, mates: bool) -> dict[str, Any]:
    """What is wrong with any array in place of `a`; `mates` says that others must go with it."""
    wrong = {
        **NO_ARRAYS,
        "a list": a.tolist(),
        "a list of words": np.full(a.shape, "a").tolist(),
        "a list of truths": np.ones(a.shape, dtype=bool).tolist(),
        "a list with a hole": _with(a.astype(object), None).tolist(),
        "a ragged list": [[1.0], [1.0, 2.0]],
        "a number": 1.5,
        "a boolean": True,
        "a complex number": 1j,
        "words": np.full(a.shape, "a"),
        "two more axes": a[None, None],
        "integers": np.ones(a.shape, dtype=np.int64),
        "booleans": np.ones(a.shape, dtype=bool),
        "complex numbers": a + 0j,
        "objects": a.astype(object),
        "objects with a hole": _with(a.astype(object), None),
        "half precision": a.astype(np.float16),
        "a masked array": np.ma.masked_array(a, mask=False),
        "one more axis": a[None],
        "a NaN": _with(a, np.nan),
        "an infinity": _with(a, np.inf),
        "minus infinity": _with(a, -np.inf),
    }
    if mates:
        wrong["another namespace"] = array_api_strict.asarray(a)
        wrong["another precision"] = a.astype(np.float32)
    return wrong


def _with(a: np.ndarray, value: float | None) -> np.ndarray:
    spoilt = a.copy()
    spoilt[(0,) * a.ndim] = value
    return spoilt


def matrix(a: Any, *, rows: bool = False, columns: bool = False, mates: bool = True) -> Argument:
    """A matrix, whose `rows` or `columns` may be determined by the other arguments."""
    a = np.asarray(a, dtype=np.float64)
    wrong = {**_array(a, mates=mates), "a vector": a[0], "a scalar array": a[0, 0]}
    if rows:
        wrong |= {"a row too many": np.vstack([a, a[:1]]), "no rows": a[:0]}
    if columns:
        wrong |= {"a column too many": np.hstack([a, a[:, :1]]), "no columns": a[:, :0]}
    return Argument(a, wrong)


def vector(a: Any, *, size: bool = False, mates: bool = True) -> Argument:
    """A vector, whose `size` may be determined by the other arguments."""
    a = np.asarray(a, dtype=np.float64)
    wrong = {**_array(a, mates=mates), "a column": a[:, None], "a scalar array": a[0]}
    if size:
        wrong |= {"an entry too many": np.append(a, a[0]), "no entries": a[:0]}
    return Argument(a, wrong)


def covariance(a: Any, *, mates: bool = True) -> Argument:
    """A covariance matrix of the size that the other arguments give it."""
    base = matrix(a, rows=True, columns=True, mates=mates)
    skew = base.right.copy()
    skew[0, -1] += 1.0
    return base.but(
        **{"an asymmetric matrix": skew, "a negative matrix": -base.right - np.eye(len(skew))}
    )


def number(right: float = 1.0) -> Argument:
    """One finite real number."""
    return Argument(
        right,
        {
            **NO_ARRAYS, "a list": [right], "a numeral": str(right), "a complex number": 1j,
            "NaN": float("nan"), "infinity": float("inf"), "minus infinity": -float("inf"),
            "a vector": np.ones(2), "a boolean": True, "beyond all floats": 10**400, **_IN_ARRAYS,
            "NumPy's complex number": np.complex128(1.0 + 1.0j),
        },
    )  # fmt: skip


def positive(right: float = 1.0) -> Argument:
    """One positive number."""
    return number(right).but(zero=0.0, negative=-right, **{"minus zero": -0.0})


def nonnegative(right: float = 1.0) -> Argument:
    """One number that is not negative."""
    return number(right).but(negative=-right)


def within(right: float, low: float, high: float) -> Argument:
    """One number strictly between two others."""
    return number(right).but(**{"the lower end": low, "the upper end": high, "beyond": high + 1})


def whole(right: int = 2, least: int = 1, *, optional: bool = False) -> Argument:
    """A whole number from `least`."""
    wrong = {
        **NO_ARRAYS, "a fraction": 2.5, "a float": 2.0, "a boolean": True, "a numeral": "2",
        "a list": [2], "NaN": float("nan"), "infinity": float("inf"), "too small": least - 1,
        "far too small": -7, "a complex number": 2j, "a vector": np.ones(2, dtype=int),
        "NumPy's float": np.float64(2.0), **_IN_ARRAYS,
    }  # fmt: skip
    if optional:
        del wrong["None"]
    return Argument(right, wrong)


def entries(right: Any, size: int, *, repeat: bool = False, empty: bool = True) -> Argument:
    """Some of the numbers 0 to size − 1."""
    wrong = {
        "None": None, "one number": 0, "a string": "x", "below": [-1], "beyond": [size],
        "fractions": [0.5], "floats": [0.0], "booleans": [True, False],
        "a mask": np.ones(size, dtype=bool), "numerals": ["0"], "nested": [[0]], "NaN": [np.nan],
    }  # fmt: skip
    if not repeat:
        wrong["twice the same"] = [0, 0]
    if not empty:
        wrong["nothing"] = []
    return Argument(right, wrong)


def flag(right: bool = False) -> Argument:
    """True or False; a string that says "no" would be true."""
    return Argument(right, {"a string": "no", "None": None, "a number": 2, "a list": [False],
                            "an array": np.ones(2), "NaN": float("nan"), "zero": 0})  # fmt: skip


def one_of(right: str) -> Argument:
    """A word out of a few."""
    return Argument(right, {"no word of it": "nonsense", "None": None, "a number": 3,
                            "a list": [right], "capitals": right.upper(), "empty": ""})  # fmt: skip


def name(right: str = "a") -> Argument:
    """A string."""
    return Argument(right, {"None": None, "a number": 3, "bytes": b"a", "a list": ["a"]})


def thing(right: Any, *others: Any, optional: bool = False) -> Argument:
    """An object of a class of the package; `others` are things that it is easily taken for."""
    wrong = {
        "None": None, "a string": "x", "a number": 1.0, "its class": type(right), "a list": [right],
        "a boolean": True, "an object": object(),
        "an array": np.ones((2, 2)), "a dict": {},
        **{f"a {type(other).__name__}": other for other in others},
    }  # fmt: skip
    if optional:
        del wrong["None"]
    return Argument(right, wrong)


def stream(*, optional: bool = False) -> Argument:
    """A source of random numbers: a seed, a stream, or NumPy's generator; not its older one."""
    import gpnotes

    wrong = {
        "None": None, "a negative seed": -1, "a truth": True,
        "NumPy's old generator": np.random.RandomState(0), "a string": "x",
        "its class": gpnotes.ground.random.Stream, "the function": gpnotes.stream,
    }  # fmt: skip
    if optional:
        del wrong["None"]
    return Argument(Fresh(lambda: gpnotes.stream(1)), wrong)


def function(right: Callable[..., Any]) -> Argument:
    """A function."""
    return Argument(right, {"None": None, "a number": 3.0, "a string": "f", "an array": np.ones(2)})


def pairs(right: Any) -> Argument:
    """Limits of named parameters."""
    named = next(iter(right))
    return Argument(
        right,
        {
            "a pair": (0.1, 1.0), "a string": "x", "a number": 3.0,
            **{
                f"limits that are {said}": {named: value}
                for said, value in {
                    "reversed": (2.0, 1.0), "None": None, "one number": 1.0,
                    "three": (1.0, 2.0, 3.0), "one": (1.0,), "words": ("a", "b"),
                    "NaN": (np.nan, 1.0), "nowhere": (-2.0, -1.0),
                }.items()
            },
            "an unknown name": {"nobody": (1.0, 2.0)},
        },
    )  # fmt: skip


@dataclass(frozen=True)
class Fresh:
    """A right value that is made anew for each call, because a call uses it up."""

    make: Callable[[], Any]
