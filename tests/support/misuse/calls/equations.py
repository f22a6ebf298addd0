"""A right call of the engine's one function that needs no chapter."""

from __future__ import annotations

import numpy as np

from checked_equations import check_equation

from ..answers import call
from ..kinds import Argument, name, nonnegative

_A, _B = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, 0.3], [-0.7, 2.0]])
_BOUND = {"A": _A, "B": _B}
_BINDINGS = Argument(
    _BOUND,
    {
        "None": None, "a string": "A", "a number": 1.0, "an array": _A, "a list": [_A, _B],
        "pairs": (("A", _A), ("B", _B)), "a boolean": True,
    },
)  # fmt: skip
_SPARE = Argument(None, {"a string": "x", "a list": ["x"], "a number": 1.0})

CALLS = (
    call("check_equation", check_equation,
         latex=name(r"(A B)^{-1} = B^{-1} A^{-1}"), bindings=_BINDINGS, oracle=name("by hand"),
         rtol=nonnegative(1e-9).but("None", "integers"), atol=nonnegative(1e-12),
         spare=_SPARE),
)  # fmt: skip
