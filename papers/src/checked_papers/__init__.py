"""Trials of the unbound equations of papers and pages, each with its verdict, and their reports.

A verdict says what it rests on: *checked* on numbers that came by a route of their own, *tried* on
numbers that were drawn for the printed symbols, *a definition*, or *not read*.

`sources` reads the files of a paper, `tried` draws numbers for a display and compares its sides,
and the modules here read the declarations of a text and write reports. `checked_equations` finds
`command_line`, `manuscript`, `tried_badges`, `mends` and `draw_notes` by entry points.

>>> from checked_papers import mend_equation
"""

from __future__ import annotations

from .equation_mends import Mended, mend_equation

__all__ = ["Mended", "mend_equation"]
