"""What the text around a display says of its symbols."""

from __future__ import annotations

from pathlib import Path

from cases import each

from checked_equations.papers.declarations import Declared
from checked_equations.papers.findings import Finding
from checked_equations.papers.reading import read
from checked_equations.papers.substitution import substituted
from checked_equations.papers.trying import tasks, try_one


def last(folder: Path, text: str) -> Finding:
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    return try_one(list(tasks(read(folder / "paper.tex"), Declared(), {}))[-1])


@each(
    ("text", "outcome", "why"),
    [
        # definitions
        (r"\[ \log p = - a x^2 \] where $p = \exp(-a x^2)$.", "holds",
         r"with p = \exp(-a x^2), as the text says"),
        (r"Let $c = a + b$. Then \[ c^2 = a^2 + 2 a b + b^2. \]", "holds",
         "with c = a + b, as the text says"),
        (r"\[ K_y^{-1} K + \sigma^2 K_y^{-1} = I \] where $K_{y} = K + \sigma^2 I$", "holds",
         r"with K_{y} = K + \sigma^2 I, as the text says"),
        # conditions
        (r"\[ \sqrt{x^2} = x \] for all $x > 0$.", "holds", "for x > 0, as the text says"),
        # a text that does not help, or speaks of another display
        (r"\[ c^2 = a^2 + 3 a b + b^2 \] where $c = a + b$.", "", "one side only"),
        (r"\[ \sqrt{x^2} = x \] It is known. Now for $x > 0$.", "holds if", ""),
        (r"\[ \sqrt{x^2} = x. \] for all $x > 0$.", "holds if", ""),
        (r"We saw $c = a + b$ once. \[ d = e \] Then \[ c^2 = a^2 + 2 a b + b^2. \]", "",
         "one side only"),
        (r"not: $c = a + b$, \[ c^2 = a^2 + 2 a b + b^2. \]", "", "one side only"),
    ],
)  # fmt: skip
def test_what_the_text_says(tmp_path: Path, text: str, outcome: str, why: str) -> None:
    found = last(tmp_path, text)
    assert (found.outcome, why in found.why) == (outcome, True), str(found)


@each(
    ("latex", "definition", "wanted"),
    [
        ("K_y^{-1} b", "K_{y} = A", r"\left(A\right)^{-1} b"),
        (r"\hat x + x_1 + x' + ax + x", "x = y", r"\hat \left(y\right) + x_1 + x' + ax + "
         r"\left(y\right)"),
        (r"\sigma s", r"\sigma = 2", r"\left(2\right) s"),
        ("x = x + 1", "x = x + 1", "x = x + 1"),
        ("f(x)", "f(x) = x", "f(x)"),
    ],
)  # fmt: skip
def test_substitution(latex: str, definition: str, wanted: str) -> None:
    assert substituted(latex, [definition]) == wanted
