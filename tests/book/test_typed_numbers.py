"""No decimal, percentage or ratio in the prose of a chapter is typed: a cell computes it.

Allowed are what `glue` pastes, the role `literature`, numbers of sections and versions, and figures
that state a set-up: those that stand in the code of the same section as well. What was typed when
this test came is in ``typed_numbers.toml``, which may only become shorter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
KNOWN = tomllib.loads((Path(__file__).parent / "typed_numbers.toml").read_text("utf-8"))
CHAPTERS = sorted(
    path.relative_to(BOOK).with_suffix("").as_posix()
    for path in BOOK.glob("*/*.md")
    if "\nchapter.ledger()" in path.read_text("utf-8")
)

HEAD = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
# What is no prose: displays, other code, options of directives, formulas, roles, code in a line.
APART = re.compile(
    r"^(`{3,})\{math\}.*?^\1$|^```(?!\{)[^\n]*\n.*?^```$|^:[\w-]+:[^\n]*$|\$\$.*?\$\$|\$[^$]+\$"
    r"|\{[\w:.]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
# Figures that are names: section 4.2, version 1.0, the source's (3.1).
NAMED = re.compile(
    r"(?:[Ss]ections?|[Cc]hapters?|[Vv]ersions?|[Ee]quations?|[Ff]igures?|§)\s*\d+(?:\.\d+)*"
    r"|\(\d+\.\d+\)"
)
SMALL = ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
LARGE = [*SMALL, "fifteen", "twenty", "thirty", "forty", "fifty", "hundred"]
TYPED = re.compile(
    r"(?<![\w.])\d+\.\d+(?![\w.]*\d)|\b\d+(?= ?%)"
    rf"|\b(?:one|two|{'|'.join(LARGE)}) (?:in|out of) (?:a )?(?:{'|'.join(LARGE)})\b"
)


def cells_and_prose(section: str) -> tuple[str, str]:
    """The code of a section, and what is read: captions and descriptions of figures as well."""
    cells = CELL.findall(section)
    options = [match[1] for cell in cells if (match := OPTIONS.match(cell))]
    prose = "\n".join([CELL.sub("", section), *options])
    code = "\n".join(OPTIONS.sub("", cell) for cell in cells)
    return code, NAMED.sub(" ", APART.sub(" ", prose))


def states_a_setting(figure: str, code: str) -> bool:
    """Whether the code has the figure too, as it stands or, of a percentage, as a share."""
    if not figure[0].isdigit():
        return False
    numbers = {float(text) for text in re.findall(r"(?<![\w.])\d+\.?\d*(?:e-?\d+)?", code)}
    share = () if "." in figure else (float(figure) / 100,)
    return not numbers.isdisjoint((float(figure), *share))


def typed(text: str) -> Iterator[str]:
    """The figures of a chapter's prose that no cell of their section has."""
    for section in SECTION.split(HEAD.sub("", text)):
        code, prose = cells_and_prose(section)
        yield from (f for f in TYPED.findall(prose) if not states_a_setting(f, code))


@pytest.mark.parametrize("slug", CHAPTERS)
def test_no_number_in_prose_is_typed(slug: str) -> None:
    """Glue it, or give it the role `literature`; what is gone goes from the list, too."""
    found = sorted(typed((BOOK / f"{slug}.md").read_text("utf-8")))
    new = list(found)
    for figure in KNOWN.get(slug, []):
        if figure in new:
            new.remove(figure)
    assert new == []
    idle = list(KNOWN.get(slug, []))
    for figure in found:
        if figure in idle:
            idle.remove(figure)
    assert idle == [], "these are typed no longer: strike them from typed_numbers.toml"


def test_all_chapters_are_read() -> None:
    assert len(CHAPTERS) >= 6
    assert set(KNOWN) <= set(CHAPTERS)


PAGE = """---
title: 9.9
---
# A title

Some 12.5 % and 0.25 of it, {glue:text}`a` 1.25 and $x = 3.75$; `0.5` in section 4.2.

## A section

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: |
      The share is 0.75 at the length 0.2.
---
length, level = 0.2, 0.95
```

At 95 % of the 0.2, and 14 % of it, in eight out of ten and six in twelve, {literature}`7.5 <a>`.

```{math}
:label: eq-a
x = 1.5
```
"""


def test_what_counts_as_typed() -> None:
    assert list(typed(PAGE)) == [
        "12.5",
        "0.25",
        "1.25",
        "14",
        "eight out of ten",
        "six in twelve",
        "0.75",
    ]
