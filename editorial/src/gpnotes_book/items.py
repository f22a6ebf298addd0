"""The sources that the book answers, line by line: their items, and the verdict on each.

The items stand in ``sources/items.tsv`` below the settings of the book: a table with tabs between
the columns ``id``, ``source``, ``chapter`` (which answers the item) and ``item``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from csv import DictReader
from dataclasses import dataclass, field
from pathlib import Path

from .records import Refutation, Verdict

__all__ = ["VERDICTS", "Answers", "Item", "is_clear", "items_file", "read_items", "refuse_weak"]

VERDICTS = ("holds", "argued", "holds-if", "wrong", "ambiguous", "stub")


def items_file(settings: Path | None) -> Path | None:
    """Return the list of items below the file of a book's settings, where there is one."""
    file = settings.parent / "sources" / "items.tsv" if settings else None
    return file if file and file.is_file() else None


@dataclass(frozen=True)
class Item:
    """One item of a source.

    Parameters
    ----------
    id : str
        Its id.
    source : str
        The source it stands in.
    chapter : str
        The chapter that answers it.
    item : str
        What it says.
    """

    id: str
    source: str
    chapter: str
    item: str


def read_items(path: Path | None) -> dict[str, Item]:
    """Read all items of a table, by id; none where a book lists no items.

    Parameters
    ----------
    path : Path or None
        The table, with tabs between its columns.

    Returns
    -------
    dict of str to Item
        The items.
    """
    if path is None:
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(DictReader(file, delimiter="\t", quotechar=None, quoting=3))
    return {row["id"]: Item(**row) for row in rows}


@dataclass(frozen=True)
class Answers:
    """The answers that a chapter has given so far to the items of the sources that are its own.

    Parameters
    ----------
    chapter : str
        The slug of the chapter.
    items : mapping of str to Item
        The items of all chapters, by id.
    refutations : dict of str to Refutation
        The refutations so far, by item.
    verdicts : dict of str to Verdict
        The verdicts so far, by item.
    """

    chapter: str
    items: Mapping[str, Item]
    refutations: dict[str, Refutation] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def own(self) -> dict[str, Item]:
        """The items that this chapter must answer."""
        return {item.id: item for item in self.items.values() if item.chapter == self.chapter}

    def item(self, place: str, source_id: str) -> Item:
        """Return the item with an id, if this chapter answers it.

        Parameters
        ----------
        place : str
            The chapter or its file, with which an error begins.
        source_id : str
            The id.

        Returns
        -------
        Item
            The item.

        Raises
        ------
        ValueError
            If the id is unknown, or another chapter answers the item.
        """
        item = self.items.get(source_id)
        if item is None:
            raise ValueError(f"{place}: no item of the sources has the id {source_id}")
        if item.chapter != self.chapter:
            raise ValueError(f"{place}: {source_id} is for the chapter {item.chapter}")
        return item

    def forget(self, labels: Collection[str]) -> None:
        """Drop what rests on the equations with these labels: their text has changed."""
        for source_id in [i for i, r in self.refutations.items() if r.instead in labels]:
            del self.refutations[source_id]
        for source_id in [i for i, v in self.verdicts.items() if v.label in labels]:
            del self.verdicts[source_id]


def is_clear(evidence: tuple[float, float] | None) -> bool:
    """True if an experiment shows that the printed statement fails and the corrected one holds.

    Parameters
    ----------
    evidence : tuple of two float, or None
        The residuals of the printed and of the corrected statement.

    Returns
    -------
    bool
        False without evidence.

    Raises
    ------
    ValueError
        If the printed residual is not the larger one, or the other is negative.
    """
    if evidence is None:
        return False
    printed, corrected = evidence
    if not printed > corrected >= 0.0:
        raise ValueError(f"evidence= must show a larger printed residual; got {evidence}")
    return True


def refuse_weak(where: str, verdict: str, why: str, shown: bool, section: str = "") -> None:
    """Refuse a verdict without its evidence or reason.

    Parameters
    ----------
    where : str
        The place and the verdict, with which the error begins.
    verdict : str
        The verdict.
    why : str
        Its reason.
    shown : bool
        True if an equation or an experiment stands behind it.
    section : str, default ""
        The label of the section that argues it.

    Raises
    ------
    ValueError
        If the word is no verdict, ``"wrong"`` has no evidence, ``"argued"`` has no section or an
        equation beside it, or another has no reason where it needs one.
    """
    if verdict not in VERDICTS:
        raise ValueError(f"{where} is no verdict; choose among {', '.join(VERDICTS)}")
    if verdict == "wrong" and not shown:
        raise ValueError(f"{where} needs a refute, a checked label= or evidence=")
    if (verdict == "argued") != bool(section):
        raise ValueError(f'{where}: "argued", and no other verdict, needs section=')
    if verdict == "argued" and shown:
        raise ValueError(f"{where} takes no label= or evidence=: no number shows it")
    if verdict in ("holds-if", "ambiguous", "stub") and not why.strip():
        raise ValueError(f"{where} needs why=: what is missing, or what it means")
