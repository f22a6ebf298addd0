"""The calls of the package's functions that a call makes, in their order: what a reader follows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpnotes

_HOME = f"{Path(gpnotes.__file__).parent}/"


def trip(call: Callable[[], object]) -> list[str]:
    """Return the functions of the package that are called, as ``fast/radial_profiles.py rbf``.

    It is called once before, for what is made when it is first needed. A generator counts each time
    that it is asked, and so does a comprehension where Python makes a function of it, before 3.12.
    """
    call()
    found: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_HOME):
            found.append(f"{code.co_filename.removeprefix(_HOME)} {code.co_name}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found
