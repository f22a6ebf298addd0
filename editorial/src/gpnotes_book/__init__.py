"""The editorial process of the book: chapters that answer sources, and rules for their words.

It adds to the engine's `Chapter`: ``check(..., source=...)`` says which items an equation answers,
`refute` sees that a printed formula fails, `source` gives the verdict, and `symbols` binds numbers
for the relations in sentences. The sentence of a claim has rules of its own. `glue` hands a value
to the sentences of its page. The engine knows nothing of it, and neither does the package of
Gaussian processes. With it travels the book itself, its text, notation, items and claims, for
notebooks that leave their page.
"""

from __future__ import annotations

from pathlib import Path

from checked_equations import Distribution, Estimate, Nodes, Outcome, Pick

from .chapter import Chapter
from .gluing import glue
from .records import Refutation, Verdict

__all__ = [
    "Chapter", "Distribution", "Estimate", "Nodes", "Outcome", "Pick", "Refutation", "Verdict",
    "glue",
]  # fmt: skip

_HERE = Path(__file__).resolve().parent
_CARRIED = _HERE / "book"  # in what setup.py has built; in a clone the book lies beside
__equations__ = str(_CARRIED if _CARRIED.is_dir() else _HERE.parents[2] / "book")
