"""Write the surface of *Implicit surfaces* for its figure to operate: ``python tools/rabbit.py``.

The cells of the chapter make it, up to the picture of its answer. Run this when they have changed;
`tests/book/test_rabbit_playground.py` says so.
"""

from __future__ import annotations

import base64
import io
import os
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from checked_equations.book.execution import cells, named

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = ROOT / "book" / "gaussian-processes" / "implicit-surfaces.md"
MESH = ROOT / "book" / "_static" / "rabbit-mesh.js"
LAST = "x, squares, slopes = skin_of(posterior)"
HEAD = "/* The surface of a chapter, for rabbit-playground.js: written by tools/rabbit.py. */\n"


def made(*, drawn: bool = True) -> dict[str, Any]:
    """Return the variables of the chapter when its answer is drawn, or just before."""
    os.environ.setdefault("MPLBACKEND", "agg")  # figures without windows
    scope: dict[str, Any] = {"__name__": "__main__"}
    with chdir(CHAPTER.parent), redirect_stdout(io.StringIO()):
        for cell in cells(CHAPTER):
            if LAST in cell.code and not drawn:
                return scope
            exec(compile("\n" * (cell.line - 1) + cell.code, named(cell, CHAPTER), "exec"), scope)
            if LAST in cell.code:
                return scope
    raise LookupError(f"no cell has {LAST!r}")


def packed(scope: dict[str, Any]) -> str:
    """Return whole numbers in a string, in the order in which `unpack` of the figure takes them."""
    x, slopes = scope["x"], scope["slopes"]
    normals = slopes / np.linalg.norm(slopes, axis=1)[:, None]
    parts = [
        (x, 10_000, "<i2"),
        (scope["sd"], 100, "<u2"),
        (scope["points"], 10_000, "<i2"),
        (scope["squares"], 1, "<u2"),
        (normals, 127, "i1"),
        (scope["normals"], 127, "i1"),
    ]
    data = b""
    for values, by, kind in parts:
        whole = np.rint(np.ravel(values) * by).astype(kind).tobytes()
        data += whole + bytes(len(whole) % 2)  # each begins at an even place
    counts = f"places: {len(x)}, squares: {len(scope['squares'])}, touches: {len(scope['points'])}"
    return (
        f'{HEAD}window.gpRabbit = {{ {counts},\n  data: "{base64.b64encode(data).decode()}" }};\n'
    )


if __name__ == "__main__":
    MESH.write_text(packed(made()), "utf-8")
    print(f"{MESH.relative_to(ROOT)}: {MESH.stat().st_size} bytes")
