"""The ledger of a chapter: what is counted, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..check.outcomes import OUTCOMES
from .records import Record

EQUATIONS = ("equations without a record", "the baseline")  # that a ledger may miss
KINDS = ("identity", "inequality", "estimate", "definition")  # of records, the strongest first


class LedgerError(ValueError):
    """Something that the ledger should hold is missing; `beside` tells of what is no equation."""

    def __init__(self, place: str, told: Mapping[str, str]) -> None:
        super().__init__(f"{place}: the ledger is not complete:{''.join(told.values())}")
        beside = "".join(said for what, said in told.items() if what not in EQUATIONS)
        self.beside = f"the ledger is not complete:{beside}" if beside else ""


def refuse_missing(place: str, lists: Mapping[str, Sequence[str]]) -> None:
    """Raise `LedgerError` with the names of what is missing, if anything is."""
    told = {what: f"\n  {what}: {', '.join(names)}" for what, names in lists.items() if names}
    if told:
        raise LedgerError(place, told)


_COUNTED = {"identity": "checked", "inequality": "checked", "estimate": "estimates"}


def totals(kinds: Sequence[str], mutants: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The counts of equations of these `kinds`, one for each, and of the outcomes of `mutants`.

    >>> totals(["identity", "definition"], [{"caught": 3, "indistinct": 1}])["mutants_caught"]
    3
    """
    counted = Counter(_COUNTED.get(kind, "definitions") for kind in kinds if kind in KINDS)
    return {
        "equations": len(kinds),
        **{name: counted[name] for name in ("checked", "estimates", "definitions")},
        **{f"mutants_{name}": sum(counts.get(name, 0) for counts in mutants) for name in OUTCOMES},
    }


def chapter_totals(records: Sequence[Record]) -> dict[str, int]:
    """The counts of a chapter; a label counts once, as the strongest of its records."""
    kinds: dict[str, str] = {}
    for record in records:
        known = kinds.get(record.label, record.kind)
        kinds[record.label] = min(known, record.kind, key=KINDS.index)
    return totals(list(kinds.values()), [record.mutants.counts for record in records])


def inline_totals(outcomes: Sequence[str]) -> dict[str, int]:
    """How many relations between the equations were evaluated, and how many are only listed."""
    evaluated = sum(outcome == "evaluated" for outcome in outcomes)
    return {"inline_evaluated": evaluated, "inline_listed": len(outcomes) - evaluated}
