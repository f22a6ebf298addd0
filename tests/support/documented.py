"""Defaults that the documentation of a class or function names, beside those that it has."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any


def defaults(called: Any) -> dict[str, tuple[Any, Any]]:
    """Each parameter ``name : type, default value`` with what is said and what there is."""
    said = re.findall(r"^    (\w+) : .*, default (\S+)$", inspect.getdoc(called) or "", re.M)
    said += re.findall(r"^(\w+) : .*, default (\S+)$", inspect.getdoc(called) or "", re.M)
    there = inspect.signature(called).parameters
    return {
        name: (ast.literal_eval(value), there[name].default)
        for name, value in said if name in there and _is_literal(value)
    }  # fmt: skip


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True
