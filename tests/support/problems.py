"""What an error says is wrong, asked without the search for what would mend it.

An `EquationError` looks for that when it is shown, and `match=` of pytest shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from checked_equations import EquationError


def says(pattern: str) -> Callable[[EquationError], bool]:
    """Whether the problem has the regular expression in it, for ``check=`` of `pytest.raises`."""
    return lambda error: re.search(pattern, error.problem) is not None
