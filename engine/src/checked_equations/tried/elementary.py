"""Elementary functions by their words, on principal branches: real where real, else complex."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def _of_inverse(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``\\operatorname{arccot} z`` is the arctangent of 1/z, and so on."""
    return lambda z: function(1.0 / z)


def _below(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``\\sec z`` is one over the cosine, and so on."""
    return lambda z: 1.0 / function(z)


def _sign(x: Any) -> Any:
    if np.iscomplexobj(x):
        raise ValueError("the sign of a complex number is not defined")
    return np.sign(x)


INVERSE = {"sin": np.arcsin, "cos": np.arccos, "tan": np.arctan}
HYPERBOLIC = {"sinh": np.arcsinh, "cosh": np.arccosh, "tanh": np.arctanh}
_RECIPROCAL = {
    "csc": "sin",
    "sec": "cos",
    "cot": "tan",
    "csch": "sinh",
    "sech": "cosh",
    "coth": "tanh",
}
_ALL = {**INVERSE, **HYPERBOLIC}
NAMED: Mapping[str, Callable[[Any], Any]] = {
    **{f"arc{name}": of for name, of in _ALL.items()},
    **{f"ar{name}": of for name, of in HYPERBOLIC.items()},
    **{name: _below(getattr(np, of)) for name, of in _RECIPROCAL.items()},
    **{f"arc{name}": _of_inverse(_ALL[of]) for name, of in _RECIPROCAL.items()},
    "ph": np.angle, "arg": np.angle, "sign": _sign,
}  # fmt: skip
WORDS: Mapping[str, Callable[[Any], Any]] = {
    **{f"\\operatorname{{{name}}}": of for name, of in NAMED.items()},
    **{f"\\{name}": of for name, of in NAMED.items() if name != "ph"},
    "\\Re": np.real, "\\Im": np.imag, "\\operatorname{Re}": np.real, "\\operatorname{Im}": np.imag,
}  # fmt: skip
