"""Each mutant of small statements, and how a page writes it.

`mutants_to_the_letter.txt` has those of a few, which together take each step from line to line of
`mutants.py`, `rewrites.py` and `balance.py` that all of them take. Run as a program this writes
them anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from checked_equations import Distribution, Nodes
from checked_equations.check.bindings import name_kinds, normalised, swap_groups
from checked_equations.check.mutants import all_mutants
from checked_equations.check.rewrites import rewrite
from checked_equations.latex.balance import balanced
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex

FILE = Path(__file__).with_suffix(".txt")
_ROOT = np.array([[2.0, 0.5], [0.3, 1.0]])
_NODES = Nodes([0.5, 1.5], [0.5, 0.5])
NUMBERS = {
    **dict.fromkeys("abcd", 1.5), "n": 2, "x": np.ones(2), "y": np.ones(2), "A": _ROOT, "B": _ROOT,
    "f": np.sin, "g": np.cos, "h": lambda u, w: u, "k": lambda u, w: w, "s": _NODES, "K_y": _ROOT,
    "q": Distribution(_NODES), "p": Distribution(_NODES, density=np.exp),
}  # fmt: skip
STATEMENTS = [
    "a = b = c", "a = -b", "a = b - c + 0", r"a = 0 (b + c)", r"a = \frac{0}{b} + c",
    r"a = (-b)^2 + |-c| + (-d)^3", r"a = (-1)^{n + 1} b", r"a = \|-x\| + (b - c)^2",
    r"a = \frac{1}{2} b c", r"a = \frac{1}{b} c", r"a = b \cdot \frac{1}{c}", r"a = b / c",
    r"a \le b + c", r"a < b", r"a \approx b c", r"x \propto 2 y", r"a \ne b + c", r"A \succeq B",
    r"A = A^\top", r"A = -A^\top", r"A = A^{-1} K_y^{-1}", r"x = A y + \left( B x \right)",
    r"A = B \odot K_y \odot A", r"A = B \otimes K_y",
    r"a = \langle x, y \rangle + \langle x, x \rangle", r"a = \|x\|_1 + \|y\| + \|x\|_\infty",
    r"a = \sqrt{b} + \sqrt[3]{c}", r"a = \det A + |B|", r"a = \min(b, c) + \max(c, d)",
    r"a = \lfloor b \rfloor", r"a = \sin b \cos(c + d)", r"a = \sum_{i=1}^n x_i y_i",
    r"a = \sum_{i=1}^n \sum_{j=1}^{n} A_{ij} x_j", r"a = \prod_{i=2}^{4} b^i",
    r"a = \sum_{i=1}^\infty b^{-i}", r"a = \max_{i=1}^n x_i", r"a = \sum_i x_i",
    r"a = f(b) + g(f(c))", r"f(a) = \max(f(a), c)", r"a = h(b, c) - k(c, d)", r"a = h(b + 2, c)",
    r"f(b) = g(b)", r"a = f'(b) + f''(c)", r"a = \mathbb E_s[s]", r"a = \mathbb E_s[s^2 + b]",
    r"a = \mathbb E_{q(u)}[u b]", r"a = \operatorname{Var}_s[s]",
    r"a = \operatorname{Cov}_s(s, s^2)", r"a = \int_0^2 s^2 b \,\mathrm d s",
    r"a = \int_0^2 s \,\mathrm d s", r"y = \nabla_x (x^\top A x)",
    r"a = \frac{\partial f(b)}{\partial b}", r"a = \lim_{u \to 0^+} \frac{f(u)}{u}",
    r"a = \begin{cases} b & \text{if } b > c \\ c & \text{otherwise} \end{cases}",
    r"a = \begin{cases} b & \text{if } b > c \\ c & \text{if } b < d \\ d & \text{otherwise}"
    r" \end{cases}",
    r"a = \mathbf 1[b \le c] d", r"A = \begin{bmatrix} a & -b \\ c & d \end{bmatrix}",
    r"a = 3.5 b^3", r"a = b + c \\ c = d - 2", "a &= b c \\\\ &= c b, \\quad d = 2 a",
    r"a = \left( b + c \right) (d)", r"a = \left[ b - \left( c - d \right) \right] b",
    r"a = b\,c \times d", r"a = \frac bc + \sqrt d", r"a = b^c + b^{c}", r"a=b-c",
    r"a = + b - {c}", r"A = K_y^{-1} B K_y^{-\top}", r"a = f \left( b \right) + g\big(c\big)",
    r"a = -b c",
]  # fmt: skip


def mutants(latex):
    """The mutants of a statement, each with the edit of its text."""
    numbers = normalised({key: value for key, value in NUMBERS.items() if key in latex})
    kinds = name_kinds(numbers)
    statement = parse(latex, kinds)
    made = all_mutants(statement, swap_groups(numbers), lambda node: balanced(latex, node.span))
    return [(one, rewrite(latex, statement, one, kinds)) for one in made]


def read(mutant):
    """Its name, what it is, and how its steps read."""
    marks = ("strict", "finer", "claimed", "loses", "harmless")
    said = " ".join(mark for mark in marks if getattr(mutant, mark))
    steps = "; ".join(
        f"{i}: {to_latex(s)}" for i, s in zip(mutant.places, mutant.steps, strict=True)
    )
    return f"{mutant.said} | {said} | {steps}"


def written(latex, edit):
    """The text after an edit, what a page points at before it, and what it then marks."""
    if edit is None:
        return "no text"
    after = edit(latex)
    return " | ".join((after, latex[slice(*edit.place)], after[slice(*edit.shown)])).rstrip()


def rows(latex):
    """Two lines for each mutant."""
    return [line for one, edit in mutants(latex) for line in (read(one), written(latex, edit))]


def stored():
    """The lines that the file holds for each statement."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").split("\n")[:-1]:
        if line.startswith("# "):
            found[line[2:]] = own = []
        else:
            own.append(line)
    return found


if __name__ == "__main__":
    lines = [line for one in stored() for line in (f"# {one}", *rows(one))]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
