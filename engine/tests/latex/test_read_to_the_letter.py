"""Small statements of every form read as `read_to_the_letter.txt` says, or are refused so.

A row of it is what is bound and the LaTeX; the indented line below it is the canonical form, or
behind a `!` the error, and behind the last `@` the stretch that it points at.
"""

from pathlib import Path

import pytest

from checked_equations import EquationError
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex

FILE = Path(__file__).parents[1] / "data" / "read_to_the_letter.txt"


def _each(kind, names):
    return dict.fromkeys(names.split(), kind)


BOUND = {
    "free": {},
    "plain": {
        **_each("value", r"a b c d n m A B x y K_y \sigma"), **_each("callable", "f g u"),
        "C": "set",
    },
    "drawn": {
        **_each("value", "a b c x y"), **_each("callable", "f g"), **_each("nodes", "s t"),
        "q": "distribution", "p(z)": "distribution", r"p(w \mid z)": "conditional",
        "r(z)": "distribution", "h": "conditional",
    },
    "lone": {"a": "value", "p(z)": "distribution", r"p(w \mid z)": "conditional"},
    "special": {
        **_each("value", r"a b c d n x y z L K KL \sigma_n^2 v z^+ x_i b_n rate \mathrm{rate}"),
        **_each("callable", "k w P"), r"p(y|\mathrm{do}(x))": "callable", "C": "set",
        r"\hat x": "value", r"\bar y": "value", r"\mathbf x": "value", r"\boldsymbol x": "value",
    },
}  # fmt: skip


def reading(bound, latex):
    """The canonical form, or the error and what it points at."""
    try:
        statement = parse(latex, BOUND[bound], free=bound == "free")
    except EquationError as error:
        return f"! {error.problem} @ {latex[slice(*error.span)]}"
    said = "; ".join(map(to_latex, statement.steps))
    return said + "".join(f" | {to_latex(condition)}" for condition in statement.conditions)


def _rows():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    for asked, wanted in zip(lines[::2], lines[1::2], strict=True):
        bound, _, latex = asked.partition(" ")
        yield pytest.param(bound, latex, wanted[2:], id=asked)


@pytest.mark.parametrize(("bound", "latex", "wanted"), list(_rows()))
def test_it_reads_so(bound, latex, wanted):
    assert reading(bound, latex) == wanted
