"""Papers and pages whose equations are unbound: they are tried, one verdict each, and reported.

A verdict says what it rests on: *checked* on numbers that came by a route of their own, *tried* on
numbers that were drawn for the printed symbols, *a definition*, or *not read*.

`sources` reads the files of a paper, `tried` draws numbers for a display and compares its sides,
and the modules here read what a text declares and report. `checked_equations` finds by entry points
what it asks for: `command_line`, `manuscript`, `tried_badges`, `mends` and `draw_notes`.

>>> from checked_papers import mend_equation
"""

from __future__ import annotations

from .equation_mends import Mended, mend_equation

__all__ = ["Mended", "mend_equation"]
