"""The ledger of a chapter: its counts, its gaps, and the gaps that are allowed for now.

``equations-baseline.toml``, with the pages or above them, has for each text the labels of the
equations that are not checked yet. A label that is checked now, or gone, must leave it.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ..check.outcomes import OUTCOMES
from ..check.records import Record
from .settings import nearest, once_a_state

EQUATIONS = ("equations without a record", "the baseline")  # that a ledger may miss
KINDS = ("identity", "inequality", "estimate", "definition")  # of records, the strongest first
BASELINE = "equations-baseline.toml"
_HEAD = """\
# Equations that no check has tried yet, for each text. This list may only shrink: a label that is
# checked, or gone, must leave it (`checked-equations check --write-baseline` takes them out).

"""


class LedgerError(ValueError):
    """Something that the ledger should hold is missing; `beside` has all but the equations."""

    def __init__(self, place: str, told: Mapping[str, str]) -> None:
        super().__init__(f"{place}: the ledger is not complete:{''.join(told.values())}")
        beside = "".join(said for what, said in told.items() if what not in EQUATIONS)
        self.beside = f"the ledger is not complete:{beside}" if beside else ""


def refuse_missing(place: str, lists: Mapping[str, Sequence[str]]) -> None:
    """Raise `LedgerError` with the names of everything missing, if anything is."""
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
    """Count the relations between the equations that were evaluated, and those only listed."""
    evaluated = sum(outcome == "evaluated" for outcome in outcomes)
    return {"inline_evaluated": evaluated, "inline_listed": len(outcomes) - evaluated}


@once_a_state
def read_baseline(file: Path) -> Mapping[Path, tuple[str, ...]]:
    """The labels that wait, by the path of their text; raises `ValueError` for anything else."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from error
    for page, labels in given.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ValueError(f"{file}: {page} must be a list of labels; got {labels!r}")
    return {(file.parent / page).resolve(): tuple(labels) for page, labels in given.items()}


def waiting(text: Path | None) -> tuple[str, ...]:
    """The labels of `text` that need no check yet."""
    file = nearest(BASELINE, text.parent) if text else None
    return read_baseline(file).get(text.resolve(), ()) if text and file else ()


def outgrown(
    listed: Collection[str], labels: Collection[str], checked: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Each label of `listed` that must leave the file, and why."""
    for label in listed:
        if label in checked:
            yield label, f"{label} is checked now: take it out of {BASELINE}"
        elif label not in labels:
            yield label, f"no equation has the label {label}: take it out of {BASELINE}"


def write_baseline(file: Path, unchecked: Mapping[Path, Collection[str]]) -> int:
    """Keep in `file` the labels that wait, and count them; of a text there already some only go."""
    old = read_baseline(file) if file.is_file() else None
    kept: Mapping[Path, Collection[str]] = unchecked
    if old is not None:
        kept = {t: [x for x in old[t] if x in unchecked.get(t, old[t])] for t in old}
    written = _HEAD
    for text, labels in sorted((text, labels) for text, labels in kept.items() if labels):
        name = Path(os.path.relpath(text, file.parent.resolve())).as_posix()
        listed = "".join(f"  {json.dumps(label)},\n" for label in labels)
        written += f"{json.dumps(name)} = [\n{listed}]\n"
    file.write_text(written, encoding="utf-8")
    return sum(len(labels) for labels in kept.values())
