"""Conventions for letters: whole numbers, complex numbers and constants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from checked_equations.evaluate.values import kind
from checked_equations.latex.names import normal

from . import kinds
from .kinds import Kind
from .notation import Notation

CONSTANTS: dict[str, Any] = {
    "\\mathrm i": 1j, "i": 1j, "e": math.e, "\\mathrm e": math.e, "\\degree": math.pi / 180.0,
}  # fmt: skip
_WHOLE = frozenset("nmkijlNMK") | {"\\ell"}
COMPLEX = frozenset("zwsZ") | {"\\zeta"}  # in a reference work, or beside marks of complex numbers
_FUNCTIONS = frozenset("fghFGHPQ") | {"\\phi", "\\varphi", "\\psi", "\\Phi", "\\Psi"}


@dataclass(frozen=True)
class Known:
    """The bindings known beforehand, from normal form to value."""

    bindings: Mapping[str, Any]
    constants: Mapping[str, Any]
    doubtful: tuple[str, ...] = ()
    reference: bool = False  # whether letters are those of a reference work

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Return the kinds of the names, for the grammar."""
        return {key: kind(value) for key, value in self.bindings.items()}

    def is_number(self, key: str) -> bool:
        """Return whether a letter before brackets is a factor, and no unknown function."""
        polynomial = "_" in key and letter(key) in ("p", "q")
        return key not in self.kinds and letter(key) not in _FUNCTIONS and not polynomial


def letter(key: str) -> str:
    """The letter of a symbol, without scripts and primes."""
    return key.partition("_")[0].partition("^")[0].rstrip("'")


def by_custom(key: str, complex_letters: Set[str] = frozenset()) -> Kind:
    """The kind of a symbol by its letter: n, m, k, i, j whole, others real unless they are complex.

    >>> by_custom("n").name, by_custom("z_1").name, by_custom("z_1", COMPLEX).name
    ('whole', 'real', 'complex')
    """
    own = letter(key)
    if own in _WHOLE:
        return kinds.whole
    return kinds.complex_ if own in complex_letters else kinds.real


def known(bindings: Mapping[str, Any], notation: Notation | None = None) -> Known:
    """Return the constants that everybody knows, and the bindings."""
    own = {normal(key): value for key, value in bindings.items()}
    if notation is None:
        return Known(own, CONSTANTS)
    named = {normal(key): value for key, value in notation.constants.items()}
    doubtful = tuple(f"\\mathrm{{{name}}}" for name in notation.doubtful)
    return Known(own, {**CONSTANTS, **named}, doubtful, notation.reference)
