"""What a page needs so that a reader can make the edits that were tried: a file of data a page.

It lies beside the page, and the script fetches it when the first badge is opened: by a script
element, since a page that is read from the disk may fetch nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..book.html import number
from ..book.phrases import mutants_caught, together
from ..latex.balance import is_balanced
from .ledger import Row

Data = Mapping[str, Any]
SUFFIX = ".mutants.js"  # of the file beside the page


def write(page: Path, rows: Iterable[Row]) -> None:
    """Write the file beside the `page`, or take it away where there is nothing to tell."""
    data = {  # by label the LaTeX and the mutants of each record that has some
        row.label: [_record(record) for record in row.records]
        for row in rows
        if any(record["mutants"]["list"] for record in row.records)
    }
    path = page.with_suffix(SUFFIX)
    if not data:
        path.unlink(missing_ok=True)
        return
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"window.checkedEquations = {text};\n", "utf-8")


def _record(record: Data) -> dict[str, Any]:
    """The LaTeX, every mutant, and which of them have a row in the list, with what it adds."""
    mutants = record["mutants"]["list"]
    places = {(mutant["edit"], mutant["latex"]): i for i, mutant in enumerate(mutants)}
    return {
        "latex": record.get("latex", ""),
        "sum": mutants_caught(record["mutants"]),
        "mutants": [  # name, how the edited part reads, outcome, how far off, why; where it is
            [
                *(_marked(mutant.get("said") or mutant["edit"]), _shown(mutant["latex"])),
                mutant["outcome"],
                number(mutant["residual"]) if mutant["outcome"] == "caught" else "",
                mutant.get("why", ""),
                *(list(mutant.get(part) or ()) for part in ("changed", "place", "shown")),
            ]
            for mutant in mutants
        ],
        "rows": [[places[r["edit"], r["latex"]], r.get("why", "")] for r in together(mutants)],
    }


def _marked(said: str) -> str:
    """A name in which mathematics that cannot be typeset alone stands between backticks."""
    return "".join(_shown(part) if i % 2 else part for i, part in enumerate(said.split("$")))


def _shown(latex: str) -> str:
    return f"${latex}$" if is_balanced(latex) else f"`{latex}`"
