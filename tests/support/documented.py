"""Documented defaults of a class or function, next to the actual ones."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any


def defaults(called: Any) -> dict[str, tuple[Any, Any]]:
    """Return the documented and the actual default of each ``name : type, default value``."""
    text = inspect.getdoc(called) or ""
    said = re.findall(r"^(?: {4})?(\w+) : .*, default (\S+)$", text, re.M)
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
