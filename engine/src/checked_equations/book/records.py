"""What a verb of a chapter leaves behind: frozen records that show themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from ..check.outcomes import EstimateRecord, Mutants, StepRecord
from .badge import notebook_badge
from .phrases import plain

__all__ = ["MIME", "InlineRecord", "Ledger", "Record", "Refutation", "Symbols", "Verdict"]

MIME = "application/vnd.checked-equation+json"


class _Shown:
    """A record that displays as a badge, a plain line and a JSON bundle."""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; a residual that is no number becomes null."""
        return _json(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        data = self.to_json()
        return {"text/plain": plain(data), "text/html": notebook_badge(data), MIME: data}

    def __repr__(self) -> str:
        return plain(self.to_json())


def _json(value: Any) -> Any:
    if isinstance(value, Mutants):
        written = value.written()
        return {**written.counts, "list": _json(written.list)}
    if is_dataclass(value):
        return {item.name: _json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _json(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_json(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


@dataclass(frozen=True, repr=False)
class Record(_Shown):
    """A checked equation or a definition.

    `text` names what it was read from, `saved` says when that was saved, and `digest` stands for
    the `latex` that was read, so that a page can tell whether it is the one that it shows. Of a
    definition, `bare` are the statements that nothing was compared with, and `why` is the reason.
    """

    label: str
    chapter: str
    kind: str
    line: int
    oracle: str = ""
    rtol: float | None = None
    atol: float | None = None
    approx: float | None = None
    residual: float | None = None
    steps: tuple[StepRecord, ...] = ()
    draws: int = 0
    mutants: Mutants = field(default_factory=lambda: Mutants.of(()))
    sources: tuple[str, ...] = ()
    backend: str = "numpy"
    milliseconds: float = 0.0
    estimate: EstimateRecord | None = None
    tight: int = 0
    route: tuple[str, ...] = ()
    text: str = ""
    saved: str = ""
    digest: str = ""
    latex: str = ""
    why: str = ""
    bare: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Refutation(_Shown):
    """A formula of a source that does not hold, and the equation that does.

    `printed_residual` is `None` where the shapes of the formula do not conform. `taken` holds
    the source's words where it prints no such formula, and `granted` what was mended in a
    printed one, or supposed of the words, before it was evaluated.
    """

    chapter: str
    source_id: str
    latex: str
    printed_residual: float | None
    corrected_residual: float
    instead: str
    kind: str = "refutation"
    text: str = ""
    taken: str = ""
    granted: str = ""


@dataclass(frozen=True, repr=False)
class Verdict(_Shown):
    """The verdict on one item of a source."""

    chapter: str
    source_id: str
    verdict: str
    label: str = ""
    why: str = ""
    printed_residual: float | None = None
    corrected_residual: float | None = None
    kind: str = "source"


@dataclass(frozen=True)
class InlineRecord:
    """A relation of a sentence: "evaluated" on the numbers of `by`, or "listed" and `why`.

    Of its `mutants` that can be told from it, so many were `caught`.
    """

    latex: str
    line: int
    outcome: str
    why: str = ""
    by: str = ""
    residual: float | None = None
    caught: int = 0
    mutants: int = 0


@dataclass(frozen=True, repr=False)
class Symbols(_Shown):
    """What the symbols of a chapter, or of what stands under one heading, stand for."""

    chapter: str
    names: tuple[str, ...]
    under: str = ""
    spared: Mapping[str, str] = field(default_factory=dict)
    kind: str = "symbols"


@dataclass(frozen=True, repr=False)
class Ledger(_Shown):
    """The summary of a chapter, and the outcomes of the relations between the lines."""

    chapter: str
    totals: Mapping[str, int]
    inline: tuple[InlineRecord, ...] = ()
    kind: str = "ledger"
    text: str = ""
