"""Labelled equations are found with their lines, in every fence; the rest is refused or ignored."""

import json

import pytest

from checked_equations import Chapter, EquationError
from checked_equations.book import markup, prose

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
    equations = markup.equations(CHAPTER)
    lines = CHAPTER.splitlines()
    assert list(equations) == ["eq-one", "eq-two", "eq-three", "eq-four"]
    for equation in equations.values():
        assert lines[equation.line - 1] == equation.latex.split("\n")[0]
    assert equations["eq-one"].latex == "a &= b \\\\\n  &= c"


def test_longer_fences_and_indentation():
    deep = "1. item\n\n   ``````{math}\n   :label: eq-deep\n   :class: wide\n   x = y\n   ``````\n"
    equations = markup.equations(deep)
    assert (equations["eq-deep"].line, equations["eq-deep"].latex.strip()) == (6, "x = y")


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
        ("```{math}\n:label: eq-empty\n\n```\n", r"line 1: the equation eq-empty is empty"),
        ("```{math} a = b\n:label: eq-arg\n```\n", r"line 1: .*eq-arg must begin on its own line"),
        ("```{math}\n:label: eq-open\na = b\n", r"line 1: the fence ``` is never closed"),
        ("one\n$$\n\n$$ (eq-empty)\n", r"line 2: the equation eq-empty is empty"),
        ("$$a \\label{eq-a}$$ (eq-b)\n", r"line 1: a display has one label; got eq-b and eq-a"),
        (
            "one\n\\begin{align}\na &= b \\label{eq-a} \\\\\nc &= d \\label{eq-b}\n\\end{align}\n",
            r"line 2: a display has one label; got eq-a and eq-b",
        ),
    ],
)
def test_what_could_not_be_checked_is_refused(source, message):
    with pytest.raises(ValueError, match=message):
        markup.equations(source)


def test_a_label_twice_names_both_lines():
    twice = "```{math}\n:label: eq-a\nx = y\n```\n" * 2
    with pytest.raises(ValueError, match=r"line 7: the label eq-a is already on line 3"):
        markup.equations(twice)


LABELLED = """\
One, $$a = b$$ (eq-line)

$$
c = d
$$ (eq-block)

$$e = f$$

- In a list, and with the label inside:

  $$
    g &= h \\label{eq-inside} \\\\
      &= i
  $$

\\begin{align}
j &= k \\\\
  &= l \\label{eq-align}
\\end{align}

```{math}
\\label{eq-bare}
m = n
```

```{eval-rst}
.. math::
   :label: eq-rst

   o = p
```

% $$q = r$$ (eq-comment)
`$$s = t$$ (eq-span)`

````
$$u = v$$ (eq-shown)
````
"""


def test_a_label_is_read_however_it_is_given():
    equations = markup.equations(LABELLED)
    names = ["eq-line", "eq-block", "eq-inside", "eq-align", "eq-bare", "eq-rst"]
    assert list(equations) == names
    assert not any("label" in equation.latex for equation in equations.values())
    lines = LABELLED.splitlines()
    for equation in equations.values():
        first = equation.latex.split("\n")[0].split("  ")
        assert all(part.strip() in lines[equation.line - 1] for part in first), equation
    assert equations["eq-align"].latex.startswith(r"\begin{align}")
    # an error points with its column into the line of the file
    assert equations["eq-inside"].latex.index(r"\\") == lines[
        equations["eq-inside"].line - 1
    ].index(r"\\")


RESTRUCTURED = """\
Title
=====

.. math:: a = b
   :label: eq-argument

.. note::

   .. math::
      :label: eq-note

      c &= d \\\\
        &= e

.. math::

   f = g \\label{eq-inside}

.. math:: h = i

As it is written::

   .. math:: no = no
      :label: eq-literal

.. code-block:: rst

   .. math:: no = no
      :label: eq-code

.. a comment

   .. math:: no = no
      :label: eq-comment
"""


def test_restructured_text_is_read_as_well():
    parsed = markup.parse(RESTRUCTURED, ".rst")
    assert list(parsed) == ["eq-argument", "eq-note", "eq-inside"]
    assert parsed["eq-note"].latex == "c &= d \\\\\n  &= e"
    lines = RESTRUCTURED.splitlines()
    for equation in parsed.values():
        assert equation.latex.split("\n")[0].strip() in lines[equation.line - 1]


@pytest.mark.parametrize("source", ["$$a = b$$ (eq-a)", r"$$a = b \label{eq-a}$$"])
def test_what_has_a_label_is_no_relation_of_the_sentences(source):
    assert prose.formulas(source) == []
    assert [found.latex for found in prose.formulas("$$a = b$$")] == ["a = b"]


def test_dollars_without_a_label_and_code_spans_are_left_alone():
    assert (
        markup.equations("$$\na = b\n$$\n\n`\\label{x}` and `$$ (eq)`\n\n$$a$$ (see below)\n") == {}
    )


FORMS = {
    "directive.md": "```{{math}}\n:label: eq-a\n{0}\n```\n",
    "dollars.md": "$$\n{0}\n$$ (eq-a)\n",
    "comment.md": "$$\n{0} \\tag{{1.2}}\n$$\n<!-- label: eq-a -->\n",
    "aligned.md": "$$\\begin{{aligned}}\n{0}\n\\end{{aligned}} \\tag{{1.2}}$$ <!-- label: eq-a -->",
    "label.md": "$$\n{0} \\label{{eq-a}}\n$$\n",
    "environment.md": "\n\\begin{{equation}}\n{0} \\label{{eq-a}}\n\\end{{equation}}\n",
    "evaluated.md": "```{{eval-rst}}\n.. math:: {0}\n   :label: eq-a\n```\n",
    "directive.rst": ".. math::\n   :label: eq-a\n\n   {0}\n",
}


def test_a_number_by_hand_and_what_stands_around_it_all_make_no_other_equation():
    plain = markup.equations("```{math}\n:label: eq-a\na &= b \\\\\n  &= c\n```\n")["eq-a"]
    dressed = "$$\n\\begin{aligned}\na &= b \\\\\n  &= c\n\\end{aligned}\n\\tag{1.2}\n$$\n"
    found = markup.equations(f"{dressed}<!-- label: eq-a -->\n")["eq-a"]
    assert (found.digest, found.line) == (plain.digest, 3)
    two = r"$$\begin{aligned}a&=b\end{aligned} \quad \begin{aligned}c&=d\end{aligned}$$ (eq-a)"
    assert markup.equations(two)["eq-a"].latex == two[2:-9]


def test_a_comment_that_is_no_label_names_nothing():
    assert markup.equations("$$\na = b\n$$\n<!-- eq-a -->\n") == {}
    assert markup.equations("$$a = b$$\n\nWords. <!-- label: eq-a -->\n") == {}


@pytest.mark.parametrize("name", FORMS)
def test_a_chapter_checks_it_however_it_is_labelled(name, tmp_path):
    path = tmp_path / name
    path.write_text(f"# Words\n\n{FORMS[name].format('c = a + b')}")
    bindings = {"a": 1.25, "b": 2.5, "c": 3.75}
    chapter = Chapter("part/one", path)
    assert chapter.check("eq-a", bindings, oracle="by hand").mutants.caught > 3
    path.write_text(f"# Words\n\n{FORMS[name].format('c = a - b')}")
    line = 1 + path.read_text().splitlines().index(
        next(line for line in path.read_text().splitlines() if "c = a" in line)
    )
    with pytest.raises(EquationError, match=rf"{name}, eq-a, line {line}, column \d+: step 1 of 1"):
        chapter.check("eq-a", bindings, oracle="by hand")
