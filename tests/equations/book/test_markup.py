"""Labelled equations are found with their lines, in every fence; the rest is refused or ignored."""

import json

import pytest

from gpnotes.equations.book import markup, packing

CHAPTER = """\
---
kernelspec: {name: python3}
---
# A title

```{math}
:label: eq-one
a &= b \\\\
  &= c
```

Unlabelled, so not numbered:

```{math}
d = e
```

````{admonition} A note
:class: tip

```{math}
:label: eq-two

f = g
```
````

:::{math}
:label: eq-three
h = i
:::

````markdown
```{math}
:label: eq-example
not = ours
```
````

```{code-cell} ipython3
s = '''
:::{math}
:label: eq-in-code
:::
'''
```

~~~~{math}
---
label: eq-four
---
j = k
~~~~
"""


def test_finds_every_labelled_equation_and_its_line():
    found = markup.equations(CHAPTER)
    lines = CHAPTER.splitlines()
    assert list(found) == ["eq-one", "eq-two", "eq-three", "eq-four"]
    for equation in found.values():
        assert lines[equation.line - 1] == equation.latex.split("\n")[0]
    assert found["eq-one"].latex == "a &= b \\\\\n  &= c"


def test_longer_fences_and_indentation():
    deep = "1. item\n\n   ``````{math}\n   :label: eq-deep\n   :class: wide\n   x = y\n   ``````\n"
    found = markup.equations(deep)
    assert (found["eq-deep"].line, found["eq-deep"].latex.strip()) == (6, "x = y")


def test_a_notebook_gives_lines_of_its_file(tmp_path):
    source = "Words.\n\n```{math}\n:label: eq-one\na = b\n```\n"
    cells = [
        {"cell_type": "code", "source": ["x = ':label: eq-code'"], "metadata": {}, "outputs": []},
        {"cell_type": "markdown", "source": source.splitlines(keepends=True), "metadata": {}},
    ]
    path = tmp_path / "chapter.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    (equation,) = markup.read(path).values()
    lines = path.read_text().splitlines()
    assert equation.latex == "a = b"
    assert equation.line > 15
    assert lines[equation.line - 1].strip() == json.dumps("a = b\n") + ","


def test_a_label_in_two_cells_of_a_notebook_is_refused(tmp_path):
    source = ["```{math}\n", ":label: eq-one\n", "a = b\n", "```\n"]
    cells = [{"cell_type": "markdown", "source": source, "metadata": {}}] * 2
    path = tmp_path / "chapter.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    with pytest.raises(ValueError, match="the label eq-one stands in two cells"):
        markup.read(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("one\n$$\na = b\n$$ (eq-dollar)\n", r"line 4: the equation eq-dollar must be"),
        ("$$a = b$$ (eq-dollar)\n", r"line 1: the equation eq-dollar must be"),
        ("\\begin{align}\na = b \\label{eq-bare}\n\\end{align}\n", r"line 2: .*eq-bare"),
        ("```{math}\n:label: eq-empty\n\n```\n", r"line 1: the equation eq-empty is empty"),
        ("```{math} a = b\n:label: eq-arg\n```\n", r"line 1: .*eq-arg must begin on its own line"),
        ("```{math}\n:label: eq-open\na = b\n", r"line 1: the fence ``` is never closed"),
    ],
)
def test_what_could_not_be_checked_is_refused(source, message):
    with pytest.raises(ValueError, match=message):
        markup.equations(source)


def test_a_label_twice_names_both_lines():
    twice = "```{math}\n:label: eq-a\nx = y\n```\n" * 2
    with pytest.raises(ValueError, match=r"line 7: the label eq-a is already on line 3"):
        markup.equations(twice)


def test_dollars_without_a_label_and_code_spans_are_left_alone():
    assert (
        markup.equations("$$\na = b\n$$\n\n`\\label{x}` and `$$ (eq)`\n\n$$a$$ (see below)\n") == {}
    )


def test_pack_writes_what_packaged_reads(tmp_path):
    book, data = tmp_path / "book", tmp_path / "data"
    (book / "part").mkdir(parents=True)
    (book / "sources").mkdir()
    (book / "_build").mkdir()
    (book / "part" / "one.md").write_text(CHAPTER)
    (book / "_build" / "one.md").write_text(CHAPTER)
    (book / "plain.md").write_text("# No equations\n")
    (book / "sources" / "items.tsv").write_text("id\tsource\tchapter\titem\nS1\ts\tpart/one\tx\n")
    written = packing.pack(book, data)
    first = [path.read_bytes() for path in written]
    assert markup.packaged("part/one", data) == markup.equations(CHAPTER)
    assert list(json.loads(written[0].read_text())) == ["part/one"]
    assert [path.read_bytes() for path in packing.pack(book, data)] == first
    with pytest.raises(ValueError, match=r"other/two has no two.md or two.ipynb.*part/one"):
        markup.packaged("other/two", data)


def test_a_fault_in_a_packed_page_names_the_page(tmp_path):
    (tmp_path / "bad.md").write_text("$$a$$ (eq-a)\n")
    with pytest.raises(ValueError, match=r"bad\.md: line 1"):
        packing.pack(tmp_path, tmp_path / "data")
