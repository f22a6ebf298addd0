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


def _of_whole(function: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    def of(*every: Any) -> int:
        if any(np.iscomplexobj(one) or one != np.floor(one) for one in every):
            raise ValueError("its arguments must be whole numbers")
        return function(*map(int, every))

    return of


def _remainder(a: Any, m: Any) -> Any:
    if np.iscomplexobj(a) or np.iscomplexobj(m) or not m:
        raise ValueError("a remainder is of real numbers, and by one that is not zero")
    return np.mod(a, m)


_NAMED = ("sec", "csc", "cot", "coth")
_COMMANDS = {
    "sech": "sech", "csch": "csch",
    "arsinh": "arcsinh", "arcosh": "arccosh", "artanh": "arctanh",
    "arcsinh": "arcsinh", "arccosh": "arccosh", "arctanh": "arctanh",
    "arcsec": "arcsec", "arccsc": "arccsc", "arccot": "arccot",
    "arcsech": "arcsech", "arccsch": "arccsch", "arccoth": "arccoth",
}  # fmt: skip
DIVISIBILITY = {  # calls whose letters are whole numbers
    "\\gcd": _of_whole(math.gcd), "\\mathrm{gcd}": _of_whole(math.gcd),
    "\\mathrm{lcm}": _of_whole(math.lcm), "\\mathrm{residue}": _remainder,
}  # fmt: skip
WORDS: Mapping[str, Callable[..., Any]] = {
    **{f"\\operatorname{{{name}}}": FUNCTIONS[name] for name in _NAMED},
    **{f"\\{word}": FUNCTIONS[name] for word, name in _COMMANDS.items()},
    "\\sign": _sign, "\\operatorname{sign}": _sign,
    **DIVISIBILITY, "\\mathrm{mod}": _remainder,
}  # fmt: skip
