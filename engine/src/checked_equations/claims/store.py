"""What was found for the claims of a chapter, kept in one small file of the book.

Stored is, by the label of a claim,
the key of its code, the draws, those of each ablation, and what fresh draws have shown ever since
the code was last changed; what they showed of earlier code stays, in a list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Store:
    """The file of one chapter.

    One that an installed package carries is not `writable`, and nothing is stored.
    """

    file: Path
    writable: bool = True

    def read(self, label: str) -> dict[str, Any]:
        """What is stored of a claim; nothing, if nothing is."""
        return dict(self._all().get(label, {}))

    def write(self, label: str, entry: Mapping[str, Any]) -> None:
        """Store a claim, if the file is the book's own."""
        if not self.writable:
            return
        entries = {**self._all(), label: dict(entry)}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partly = self.file.with_suffix(".part")  # whoever stops here loses nothing
        partly.write_text(_written(entries), encoding="utf-8")
        partly.replace(self.file)

    def _all(self) -> dict[str, Any]:
        if not self.file.is_file():
            return {}
        return dict(json.loads(self.file.read_text(encoding="utf-8")))


def _written(entries: Mapping[str, Any]) -> str:
    """JSON with a draw a line, so that a change can be read."""
    claims = []
    for label, entry in sorted(entries.items()):
        lines = [f"  {_one(key)}: {_value(value)}" for key, value in entry.items()]
        claims.append(f"{_one(label)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(claims) + "\n}\n"


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"    {_one(entry)}" for entry in value) + "\n  ]"
    if isinstance(value, dict) and any(isinstance(entry, list) for entry in value.values()):
        return "{" + ", ".join(f"{_one(k)}: {_value(v)}" for k, v in value.items()) + "}"
    return _one(value)


def _one(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
