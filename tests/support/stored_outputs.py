"""What the cells of a chapter printed, as the tests store it: a line of JSON for each cell.

A line has a digest of the cell's code and tags, and then its outputs, each under the name that
notebooks give its kind: ``["5d41402abc4b2a76", {"stream": "1.25\\n"}]``. The code itself stands in
the chapter alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from nbformat import v4

_DATA = ("execute_result", "display_data")


def digest(cell: Any) -> str:
    """Return a digest of the code and tags of a cell."""
    known = json.dumps([cell.source, list(cell.metadata.get("tags", []))])
    return hashlib.sha256(known.encode()).hexdigest()[:16]


def dump(cells: Iterable[Any]) -> str:
    """Return the digests and outputs of cells that have run, as text to be stored."""
    rows = ([digest(cell), *map(_short, cell.outputs)] for cell in cells)
    lines = ",\n".join(f" {json.dumps(row, ensure_ascii=False, sort_keys=True)}" for row in rows)
    return f"[\n{lines}\n]\n"


def outputs(text: str) -> list[tuple[str, list[Any]]]:
    """Return for each stored cell its digest and its outputs, as a notebook has them."""
    return [(row[0], [_whole(output) for output in row[1:]]) for row in json.loads(text)]


def _short(output: Any) -> dict[str, Any]:
    kind = output.output_type
    if kind == "stream":
        return {kind: output.text}
    return {kind: output.data if kind in _DATA else [output.ename, output.evalue]}


def _whole(short: dict[str, Any]) -> Any:
    ((kind, held),) = short.items()
    if kind == "stream":
        return v4.new_output(kind, name="stdout", text=held)
    if kind in _DATA:
        return v4.new_output(kind, data=held)
    return v4.new_output(kind, ename=held[0], evalue=held[1], traceback=[])
