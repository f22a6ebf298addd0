"""The relations between the lines are found, with their lines and their headings."""

import json
from pathlib import Path

import pytest
from run_chapters import chapters

from checked_equations.book import prose

BOOK = Path(__file__).parents[3] / "book"
FEW = {  # relations in the sentences of chapters that have ten of them or fewer
    "which-approximation": 0, "inference/mcmc": 1, "inference/laplace": 4,
    "inference/bayesian-neural-networks": 7, "inference/calibration": 7,
    "sequential/beliefs": 3, "decisions/asking-for-labels": 9,
}  # fmt: skip
PAGE = """\
---
title: "$a = z$"
---
# A title

Before $a = b$, a price of \\$5, and `$c = code$`.

## 1  First part

| table | of |
| --- | --- |
| $d < e$ | $f$ |

A sentence that
goes on: $g
= h$ and {math}`i = j`.

% a comment with $k = comment$
<!-- another, $l = comment$ -->

$$
m = n
$$

```{math}
o \\le p
```

```{math}
:label: eq-one
q = numbered
```

### 1.1  Deeper

````{admonition} A note with $r = s$
```{exercise} Show it
:label: ex-one

Show $t \\approx u$.
```
````

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-a
    caption: |
      **a** At $v = w$,
      and $x = y$.
  image:
    alt: $z = alt$
---
text = "$a = code$"
```

## 2  Last part

$\\sum_{i=1}^n x_i$ and $f(x = 1)$ state nothing, $A_{i=1}$ neither; $i = 1$ does.
"""


def found(text=PAGE):
    known = prose.formulas(text)
    return {r.latex.replace("\n", " "): r for r in known if prose.relates(r.latex)}


def test_sentences_tables_captions_and_exercises_are_read_and_code_is_not():
    assert list(found()) == [
        "a = b", "d < e", "g = h", "i = j", "m = n", r"o \le p", "r = s", r"t \approx u",
        "v = w", "x = y", "i = 1",
    ]  # fmt: skip


def test_each_relation_knows_its_line():
    lines = PAGE.splitlines()
    for latex, relation in found().items():
        first = relation.latex.split("\n")[0]
        assert first in lines[relation.line - 1], latex


def test_each_relation_knows_its_headings():
    headings = {latex: relation.headings for latex, relation in found().items()}
    assert headings["a = b"] == ("A title",)
    assert headings["d < e"] == ("A title", "1  First part")
    assert headings[r"t \approx u"] == ("A title", "1  First part", "1.1  Deeper")
    assert headings["i = 1"] == ("A title", "2  Last part")


def test_a_notebook_is_read_by_its_cells(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# One\n", "Here $a = b$.\n"]},
        {"cell_type": "code", "source": ["'$c = d$'"]},
        {"cell_type": "markdown", "source": ["And $a = b$ again, $\\bar e = f$."]},
    ]
    path = tmp_path / "small.ipynb"
    path.write_text(json.dumps({"cells": cells}, indent=1), encoding="utf-8")
    relations = [f for f in prose.read_formulas(path) if prose.relates(f.latex)]
    assert [r.latex for r in relations] == ["a = b", "a = b", r"\bar e = f"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(r.latex.replace("\\", "\\\\") in lines[r.line - 1] for r in relations)
    assert len({r.line for r in relations}) == 2


def test_a_caption_is_read_and_not_held_against_the_text_beside_it():
    cells = [
        {"cell_type": "markdown", "source": ["Here $a = b$."]},
        {"cell_type": "markdown", "source": ["$c = d$"], "metadata": {"tags": ["caption"]}},
    ]
    content = json.dumps({"cells": cells}, indent=1)
    assert [r.latex for r in prose._placed(content, ".ipynb")] == ["a = b", "c = d"]
    assert prose.sentences(content, ".ipynb") == {"a = b"}


def test_a_label_in_a_comment_is_no_sentence():
    text = "So $a = b$ <!-- $c = d$ -->.\n\n$$\ne = f\n$$\n<!-- label: eq-a -->\n\n$$g = h$$\n"
    assert [r.latex for r in prose.formulas(text)] == ["a = b", "g = h"]


SLUGS = chapters(BOOK)


@pytest.mark.parametrize("slug", SLUGS)
def test_it_finds_what_the_book_typesets(slug):
    """The parser that makes the pages sees the same mathematics in the text."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True})
    dollar = pytest.importorskip("mdit_py_plugins.dollarmath").dollarmath_plugin
    text = (BOOK / f"{slug}.md").read_text(encoding="utf-8")
    parsed = markdown.use(dollar).enable("table").parse(text)
    typeset = [
        child.content.strip()
        for token in parsed
        for child in token.children or ()
        if child.type == "math_inline" and prose.relates(child.content)
    ]
    ours = {formula.latex for formula in prose.read_formulas(BOOK / f"{slug}.md")}
    assert [latex for latex in typeset if latex not in ours] == []
    assert len(typeset) >= FEW.get(slug, 11)
