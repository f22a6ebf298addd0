"""The editorial process of the book: chapters that answer sources, and verdicts on each item.

It adds three things to the engine's `Chapter`: ``check(..., source=...)`` says which items an
equation answers, `refute` sees that a printed formula fails, and `source` gives the verdict. The
engine knows nothing of it, and neither does the package of Gaussian processes. With it travel the
packed equations of the book, for notebooks that leave their page.
"""

from __future__ import annotations

try:
    from checked_equations import Distribution, Estimate, Nodes, Outcome, Pick, glue
except ImportError as problem:
    raise ImportError(
        f"{__name__} needs the engine of the book: from a clone, pip install ./engine"
    ) from problem

from .chapter import Chapter
from .records import Refutation, Verdict

__all__ = [
    "Chapter", "Distribution", "Estimate", "Nodes", "Outcome", "Pick", "Refutation", "Verdict",
    "glue",
]  # fmt: skip
__equations__ = f"{__path__[0]}/data"  # the packed equations of the book, for their engine
