"""Which relations of the sentences no numbers judge: a list that may only shrink.

It stands in a file ``relations-listed.toml`` at the root of a book, for each chapter the LaTeX of
its relations that are listed and not evaluated. Where the file is, a relation that leaves the
evaluated ones (a slip such as a lost square leaves a symbol that nothing binds) is an error. Its
table ``evaluated`` says how many relations and expressions are: of one that stands twice, an edit
of one leaves the other.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence

from .records import InlineRecord
from .settings import Settings

LISTED = "relations-listed.toml"


def newly_listed(
    slug: str, settings: Settings, inline: Sequence[InlineRecord]
) -> dict[str, list[str]]:
    """What the file does not list though nothing evaluates it, and what it lists for no reason."""
    file = settings.file.parent / LISTED if settings.file else None
    if file is None or not file.is_file():
        return {}
    listed = tomllib.loads(file.read_text(encoding="utf-8"))
    known = Counter(map(_spaced, listed.get(slug, ())))
    evaluated = sum(record.outcome == "evaluated" for record in inline)
    said = listed.get("evaluated", {}).get(slug, evaluated)
    found = [r for r in inline if r.outcome == "listed" and not r.spared]
    now = Counter(_spaced(record.latex) for record in found)
    new = [r for r in found if now[_spaced(r.latex)] > known[_spaced(r.latex)]]
    gone = list((known - now).elements())
    return {
        "relations that no numbers judge (bind their symbols, or spare them)": [
            f"${r.latex}$ (line {r.line}: {r.why})" for r in new
        ],
        f"relations that must leave {LISTED}": [f"${latex}$" for latex in gone],
        f"formulas that are evaluated, of {said} in {LISTED}": (
            [str(evaluated)] if evaluated != said else []
        ),
    }


def _spaced(latex: str) -> str:
    return " ".join(latex.split())
