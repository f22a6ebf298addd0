"""The notation of a book: of each symbol, the field of a drawn problem that has its value.

The file is the one from which the page of the notation is made, in YAML or JSON: groups of
``symbols``, of which the engine reads ``fields`` and ``chapter``::

    - symbols:
        - latex: ["K_{*f}", "K_{f*}"]
          meaning: "kernel between test inputs and inputs; its transpose"
          fields: {"K_{*f}": Ksf, "K_{f*}": Kfs}
          chapter: part/slug            # where the letters mean this and only there
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..check.fields import Fields
from .file_states import once_a_state
from .settings import Settings, read_yaml


def read_fields(settings: Settings, chapter: str) -> Fields:
    """The fields that the book's notation gives to the symbols of `chapter`.

    Raises `ValueError` for a field that is given to no form of its row.
    """
    file = settings.notation_file
    rows = _rows(file) if file else ()
    own = [row["fields"] for row in rows if row.get("chapter", chapter) == chapter]
    return Fields.of_rows(own)


def packed_rows(file: Path) -> list[dict[str, Any]]:
    """What `read_fields` needs of the notation in `file`, to be written as JSON."""
    kept = ("latex", "shown", "fields", "chapter")
    rows = _rows(file)
    return [{"symbols": [{key: row[key] for key in kept if key in row} for row in rows]}]


@once_a_state
def _rows(file: Path) -> tuple[dict[str, Any], ...]:
    """The rows of the notation that name fields."""
    groups = []
    if file.suffix == ".json":
        groups = json.loads(file.read_text(encoding="utf-8"))
    elif find_spec("yaml"):  # it comes with what builds a book; without it a symbol has no field
        groups = read_yaml(file)
    rows = [row for group in groups for row in group["symbols"] if row.get("fields")]
    for row in rows:
        strange = sorted(set(row["fields"]) - {*row["latex"], *row.get("shown", ())})
        if strange:
            raise ValueError(f"{file}: {', '.join(strange)} is no form of a row of the notation")
    return tuple(rows)
