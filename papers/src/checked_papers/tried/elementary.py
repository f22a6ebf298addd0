"""Words for elementary functions, those that the language itself has not: ``\\sech``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from checked_equations.evaluate.operations import FUNCTIONS


def _sign(x: Any) -> Any:
    if np.iscomplexobj(x):
        raise ValueError("the sign of a complex number is not defined")
    return np.sign(x)


def _whole(number: Any) -> int:
    if number != np.floor(number):
        raise ValueError("its arguments must be whole numbers")
    return int(number)


def _gcd(*every: Any) -> int:
    return math.gcd(*map(_whole, every))


def _lcm(*every: Any) -> int:
    return math.lcm(*map(_whole, every))


def _vec(a: Any) -> Any:
    return np.reshape(a, -1, order="F")  # its columns below each other


_NAMED = ("sec", "csc", "cot", "coth")
_COMMANDS = {
    "sech": "sech", "csch": "csch",
    "arsinh": "arcsinh", "arcosh": "arccosh", "artanh": "arctanh",
    "arcsinh": "arcsinh", "arccosh": "arccosh", "arctanh": "arctanh",
    "arcsec": "arcsec", "arccsc": "arccsc", "arccot": "arccot",
    "arcsech": "arcsech", "arccsch": "arccsch", "arccoth": "arccoth",
}  # fmt: skip
DIVISIBILITY: Mapping[str, Callable[..., Any]] = {  # calls whose letters are whole numbers
    "\\gcd": _gcd, "\\mathrm{gcd}": _gcd, "\\mathrm{residue}": np.mod,
    "\\mathrm{lcm}": _lcm,
}  # fmt: skip
VEC = "\\mathrm{vec}"
WORDS: Mapping[str, Callable[..., Any]] = {
    **{f"\\operatorname{{{name}}}": FUNCTIONS[name] for name in _NAMED},
    **{f"\\{word}": FUNCTIONS[name] for word, name in _COMMANDS.items()},
    "\\sign": _sign, "\\operatorname{sign}": _sign,
    **DIVISIBILITY, "\\mathrm{mod}": np.mod, VEC: _vec,
}  # fmt: skip
