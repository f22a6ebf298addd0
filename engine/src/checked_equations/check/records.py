"""The record of a checked equation: frozen, and showing itself; so may a book's own records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from .badge import notebook_badge
from .outcomes import EstimateRecord, Mutants, StepRecord
from .phrases import plain

MIME = "application/vnd.checked-equation+json"


class Shown:
    """A record that displays as a badge, a plain line and a JSON bundle.

    A book may have kinds of its own. The JSON of such a record holds, next to its `kind`, under
    ``said`` its plain line without the name of the text, and, if it likes, under ``about`` the name
    of the thing that it speaks of, and under ``label`` the equation that it goes with.
    """

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; a residual that is no number becomes null."""
        return _json(self)

    def panel(self) -> str | None:
        """Return the inside of its open badge, as HTML; None for the engine's own kinds."""
        return None

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        data = self.to_json()
        html = notebook_badge(data, self.panel())
        return {"text/plain": plain(data), "text/html": html, MIME: data}

    def __repr__(self) -> str:
        return plain(self.to_json())


def _json(value: object) -> Any:
    if isinstance(value, Mutants):
        return {**value.counts, "list": _json(value.write() if value.write else value.list)}
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
class Record(Shown):
    """A checked equation or a definition.

    `latex` was read from the `text` as it was `saved`, at the `line` of the file; by the
    `digest` a page can see whether it shows the same. The numbers come by the `oracle` and,
    as far as their types tell, by the `route`; `backend` computed them, in `draws` sets, and on
    `tight` further ones an inequality was judged as an equality. `rtol`, `atol` and `approx` are
    the tolerances, `residual` is the worst of the `steps`, `estimate` the sample behind a Monte
    Carlo estimate.

    `notes` are properties that all draws share and the statement lacks: that every x is positive.
    Of a definition, `bare` are the statements that nothing was compared with, and `why`. `more` is
    the additions of a book's own verbs: words, by the word that they are shown behind.
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
    notes: tuple[str, ...] = ()
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Its line, which counts the mutants and needs none of them written."""
        return plain(replace(self, mutants=replace(self.mutants, list=(), write=None)).to_json())
