"""Rules for the sentence of a claim: it may not say more than was found out.

A sentence says in how many draws it holds, and what happened in each other setting and without each
cause. It names a cause only where one was taken away, compares sides only where their costs are
known, and types no number that could be pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from checked_equations.claims.sentence import TOKEN

__all__ = ["page_faults", "sentence_faults", "typed_numbers"]

Data = Mapping[str, Any]
_CAUSE = re.compile(r"\b(because|causes?d?|owing to|due to|explains?)\b", re.IGNORECASE)
_RIVALS = re.compile(r"\b(beats?|wins?|ahead of|cheaper than|faster than)\b", re.IGNORECASE)
_COUNT = re.compile(r"\b\d+ of (the )?\d+\b|\d\s*±\s*\d|\b\d+(\.\d+)?\s*(%|per cent\b)")


def typed_numbers(text: str) -> Iterator[str]:
    """Yield the fault of a sentence that types a share, an error or a percentage.

    Parameters
    ----------
    text : str
        The sentence, as it is written.
    """
    if typed := _COUNT.search(TOKEN.sub("", text)):
        yield f"{typed[0]!r} is typed; paste it"


def sentence_faults(text: str, record: Data) -> Iterator[str]:
    """Yield the faults of a sentence that says more, or less, than its claim has found out.

    Parameters
    ----------
    text : str
        The sentence, as it is written.
    record : mapping
        The data of the claim.
    """
    yield from typed_numbers(text)
    tokens = (found[1].partition(":") for found in TOKEN.finditer(text))
    printed = {(path.strip(), of.strip()) for path, _, of in tokens}
    paths, names = {path for path, _ in printed}, {of for _, of in printed}
    bare = TOKEN.sub("", text)
    if not record["once"] and "share" not in paths:
        yield "the sentence does not say {share}"
    if (cause := _CAUSE.search(bare)) and not record["without"]:
        yield f"{cause[0]!r} names a cause, and the claim takes none away (without=)"
    yield from _unsaid(record, paths, names)
    if (rival := _RIVALS.search(bare)) and len(record["seconds"]) < 2:
        yield f"{rival[0]!r} compares sides, and the claim does not say what each costs"
    for name in record["worst"]:
        if ("worst", name) not in printed:
            yield f"the mean of {name} hides its worst part: say {{worst:{name}}}"


def _unsaid(record: Data, paths: set[str], names: set[str]) -> Iterator[str]:
    """Yield the settings and causes that were tried and stand nowhere in the sentence."""
    for word in ("with", "without"):
        for name in record["settings" if word == "with" else word]:
            if name not in names:
                yield f"what happens {word} {name} is not said ({{share:{name}}})"
    if record["blocks"] and "blocks" not in paths:
        yield "the draws overlap: say how many blocks are independent ({blocks})"


def page_faults(page: Any) -> Iterator[tuple[int, str]]:
    """Yield line and words for each fault of a page that a build has read.

    Parameters
    ----------
    page : Page
        The page, with its claims, its sentences about them and the records of its cells.
    """
    for sentence in page.claims:
        if record := page.claimed.get(sentence.label):
            for fault in sentence_faults(sentence.text, record):
                yield sentence.line, f"the claim {sentence.label}: {fault}"
    for sentence in page.cited:
        if sentence.label in page.claimed:
            for fault in typed_numbers(sentence.text):
                yield sentence.line, f"what is told of {sentence.label}: {fault}"
