"""Texts that are compared but for how another processor, or another library, rounds."""

from __future__ import annotations

import math
import re

__all__ = ["Numbers"]

_RTOL = 1e-6
_DECIMAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")


class Numbers(str):
    """Text that equals other text with the same words and nearly the same decimals."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        return _words(self) == _words(other) and all(map(_near, _decimals(self), _decimals(other)))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _words(text: str) -> list[str]:
    return _DECIMAL.split(text)


def _decimals(text: str) -> list[float]:
    return [float(number) for number in _DECIMAL.findall(text)]


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_RTOL, abs_tol=0.0)
