"""Of short texts each stretch: what makes it whole, what can be marked, what is pointed at.

`balance_of_every_stretch.txt` holds for each function its results, in the order in which they
come first, with the stretches that have each: the first and the last, and how many there are. Run
as a program this writes it anew.
"""

from pathlib import Path

import pytest

from checked_equations.latex.balance import (
    anchor,
    balanced_span,
    bracketed_span,
    cover,
    is_argument,
    pieces,
    read_units,
)

FILE = Path(__file__).parents[1] / "data" / "balance_of_every_stretch.txt"
TEXTS = [  # that take each step from line to line of `balance.py` twice
    r"K_y^{-1} b", r"a &= b \\ &\quad + c d", r"\left( a + b \right) c", r"x_{i j}' y",
    r"\sqrt[3]{a b} + 12", r"\mathbf x^\top\! y", r"\begin{cases} a & b \\ c & d \end{cases} e",
    r"a {b c} d", r"\frac 12 a_1^2", r"b (a)",
]  # fmt: skip


def _bracketed(latex, start, end):
    return bracketed_span(latex, (start, end))


def _bracketed_within(latex, start, end):
    return bracketed_span(latex, (start, end), (1, len(latex) - 1))


def _balanced(latex, start, end):
    return balanced_span(latex, (start, end))


def _results(latex):
    for function in (_balanced, _bracketed, _bracketed_within, cover, anchor):
        found = {}
        for start in range(len(latex)):
            for end in range(start + 1, len(latex) + 1):
                found.setdefault(function(latex, start, end), []).append((start, end))
        for result, spans in found.items():
            if len(spans) > 1 or result != spans[0]:
                yield f"  {function.__name__} {result}: {spans[0]} to {spans[-1]}, {len(spans)}"
    yield f"  arguments {[at for at in range(len(latex)) if is_argument(latex, at)]}"
    yield f"  pieces {' '.join(str(end) for _, end in pieces(latex))}"
    yield f"  units {' '.join(_said(unit) for unit in read_units(latex).units)}"


def _said(unit):
    inner = (f"{group.span[0]}({' '.join(map(_said, group.units))})" for group in unit.groups)
    return f"{unit.nucleus[0]}-{unit.nucleus[1]}-{unit.end}[{','.join(inner)}]"


def _stored():
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            found[line] = []
        else:
            found[next(reversed(found))].append(line)
    return found


@pytest.mark.parametrize("latex", TEXTS)
def test_each_stretch_is_seen_so(latex):
    assert list(_results(latex)) == _stored()[latex]


if __name__ == "__main__":
    FILE.write_text("".join(f"{one}\n" for s in TEXTS for one in (s, *_results(s))))
