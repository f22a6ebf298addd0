"""What the flip test says of a book, as ``flips.json`` keeps it: counts, and the slips that passed.

Each chapter has its own part, so that one chapter can be tried again alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .flips import SEED, Outcome, chapters, digest, inline_outcomes, outcomes, run_chapter

__all__ = ["write_flips"]


def write_flips(book: Path, slugs: Collection[str] = ()) -> Path:
    """Run the flip test on the chapters `slugs` of `book`, or on all, and keep ``flips.json``.

    Raises `ValueError` for a slug of no chapter, and where other chapters have not been tried yet.
    """
    place = book / "flips.json"
    every = chapters(book)
    if unknown := sorted(set(slugs) - set(every)):
        raise ValueError(f"slugs must be chapters of the book, {every}; got {unknown}")
    kept = json.loads(place.read_text(encoding="utf-8")) if slugs and place.is_file() else {}
    tried = {
        slug: _try(book, slug) if slug in (slugs or every) else _kept(kept, slug) for slug in every
    }
    content = json.dumps(_report(tried), indent=1, ensure_ascii=False) + "\n"
    place.write_text(content, encoding="utf-8")
    return place


Tried = tuple[dict[str, Any], list[dict[str, Any]]]  # a chapter's counts, and its uncaught slips


def _try(book: Path, slug: str) -> Tried:
    path = book / f"{slug}.md"
    chapter = run_chapter(path, slug)
    numbered = outcomes(chapter)
    kinds = sorted({outcome.kind for outcome in numbered})
    part = {
        "digest": digest(path),
        **_counts(numbered),
        "passing": _counts(inline_outcomes(chapter)),
        "kinds": {kind: _counts([o for o in numbered if o.kind == kind]) for kind in kinds},
    }
    return part, [{"chapter": slug, **asdict(o)} for o in numbered if not o.by]


def _kept(report: Mapping[str, Any], slug: str) -> Tried:
    part = report.get("chapters", {}).get(slug, {})
    if "kinds" not in part:
        raise ValueError(f"flips.json has no counts of {slug}: try the whole book once")
    return part, [outcome for outcome in report["uncaught"] if outcome["chapter"] == slug]


def _report(tried: Mapping[str, Tried]) -> dict[str, Any]:
    """The counts of all chapters together and of each kind of edit, and what was not caught."""
    parts = [part for part, _ in tried.values()]
    kinds = sorted({kind for part in parts for kind in part["kinds"]})
    return {
        "seed": SEED,
        **_total(parts),
        "passing": _total([part["passing"] for part in parts]),
        "kinds": {k: _total([p["kinds"][k] for p in parts if k in p["kinds"]]) for k in kinds},
        "chapters": {slug: part for slug, (part, _) in tried.items()},
        "uncaught": [outcome for _, uncaught in tried.values() for outcome in uncaught],
    }


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return {
        "edits": len(outcomes),
        "caught": sum(bool(outcome.by) for outcome in outcomes),
        "caught_by_numbers": sum(outcome.by == "numbers" for outcome in outcomes),
    }


def _total(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = ("edits", "caught", "caught_by_numbers")
    return {name: sum(count[name] for count in counts) for name in names}
