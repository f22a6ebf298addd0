"""The items of the sources, line by line: which chapter must answer which."""

from __future__ import annotations

from collections.abc import Iterator
from csv import DictReader
from dataclasses import dataclass
from pathlib import Path

from . import markup

__all__ = ["VERDICTS", "Item", "clear", "find_items", "read_items"]

VERDICTS = ("holds", "holds-if", "wrong", "ambiguous", "stub")


@dataclass(frozen=True)
class Item:
    """One item: its id, the source it stands in, the chapter that answers it, what it says."""

    id: str
    source: str
    chapter: str
    item: str


def find_items(folder: Path) -> Path:
    """``sources/items.tsv`` in `folder` or above it, else the packaged copy."""
    for place in _candidates(folder.resolve()):
        if place.is_file():
            return place
    return markup.DATA / "items.tsv"


def _candidates(folder: Path) -> Iterator[Path]:
    for above in (folder, *folder.parents):
        yield above / "sources" / "items.tsv"
        yield above / "book" / "sources" / "items.tsv"


def read_items(path: Path) -> dict[str, Item]:
    """All items of the table, by id."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(DictReader(file, delimiter="\t", quotechar=None, quoting=3))
    return {row["id"]: Item(**row) for row in rows}


def clear(evidence: tuple[float, float] | None) -> bool:
    """Whether an experiment shows that the printed statement fails and the corrected one holds."""
    if evidence is None:
        return False
    printed, corrected = evidence
    if not printed > corrected >= 0.0:
        raise ValueError(f"evidence= must show a larger printed residual; got {evidence}")
    return True
