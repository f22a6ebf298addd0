"""The ledger of a chapter: what is counted, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..latex.equation import Equation
from .records import Record
from .sources import Item

__all__ = ["refuse_incomplete", "totals"]

_KINDS = {"identity": "checked", "inequality": "checked", "estimate": "estimates"}
_OUTCOMES = ("caught", "indistinct", "survived", "spared")


def totals(equations: int, records: Sequence[Record]) -> dict[str, int]:
    """The counts of a chapter; a label counts once, as the strongest of its records."""
    order = ("definitions", "estimates", "checked")
    strongest: dict[str, str] = {}
    for record in records:
        kind = _KINDS.get(record.kind, "definitions")
        known = strongest.get(record.label, kind)
        strongest[record.label] = max(kind, known, key=order.index)
    return {
        "equations": equations,
        **{kind: list(strongest.values()).count(kind) for kind in reversed(order)},
        **{f"mutants_{o}": sum(getattr(r.mutants, o) for r in records) for o in _OUTCOMES},
    }


def refuse_incomplete(
    place: str,
    equations: Mapping[str, Equation],
    records: Sequence[Record],
    items: Mapping[str, Item],
    verdicts: Collection[str],
    outdated: Collection[str] = (),
) -> None:
    """Raise `ValueError` with the equations without a record and the items without a verdict.

    `outdated` are labels whose text has changed since they were checked.
    """
    done = {record.label for record in records}
    since = dict.fromkeys(outdated, "; its text has changed since it was checked")
    lists = {
        "equations without a record": [
            f"{e.label} (line {e.line}{since.get(e.label, '')})"
            for e in equations.values()
            if e.label not in done
        ],
        "items without a verdict": [
            f"{i.id} ({i.item})" for i in items.values() if i.id not in verdicts
        ],
    }
    missing = [f"\n  {what}: {', '.join(names)}" for what, names in lists.items() if names]
    if missing:
        raise ValueError(f"{place}: the ledger is not complete:{''.join(missing)}")
