"""Small statements of every form read as `read_to_the_letter.txt` says, or are refused so.

A row of it is what is bound and the LaTeX; the indented line below it is the canonical form, or
behind a `!` the error, and behind the last `@` the stretch that it points at.
"""

from pathlib import Path

import pytest

from checked_equations import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.ambiguities import behind_call
from checked_equations.latex.parser import parse, parse_expression
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


ONE_WAY = (
    r"\mathbb E_w[",
    r"\Pr(w",
    r"\inf_{i} x_i",
)  # printed as no source would bind or write it
READ = [row.values[:2] for row in _rows() if row.values[2][0] != "!"]


@pytest.mark.parametrize(
    ("bound", "latex"), [r for r in READ if not any(w in r[1] for w in ONE_WAY)]
)
def test_a_step_that_is_printed_reads_again_as_the_same(bound, latex):
    """What the printer leaves out, as the size of a sign, is compared so."""
    for step in parse(latex, BOUND[bound], free=bound == "free").steps:
        again = parse(to_latex(step), BOUND[bound], free=bound == "free")
        assert again.steps == (step,)


EULER = [
    "a = e",
    "e = a",
    "a^{e} = b",
    "a = e, b = a",
    "a = e.",
    r"a &= e \\ &= b",
    r"a = \log e b",
]
UNBOUND = ["a = e b", "a = e + b", "e b = a", "a = e - e", "a = b e", "a = e_1", "a = e(b)"]


@pytest.mark.parametrize("latex", [*EULER, *UNBOUND])
def test_a_letter_e_is_the_number_where_it_stands_alone_or_behind_a_function(latex):
    kinds = {"a": "value", "b": "value"}
    if latex in EULER:
        steps = parse(latex, kinds).steps
        assert any(part == t.Constant("e") for step in steps for _, part in t.walk(step))
    else:
        with pytest.raises(EquationError, match="unbound symbol"):
            parse(latex, kinds)


def test_an_average_runs_over_what_is_bound_to_run():
    with pytest.raises(EquationError, match="`x`"):
        parse_expression(r"\mathbb E_x[a]", {"a": "value"})


@pytest.mark.parametrize(("factors", "count"), [
    ("b a", 0), ("b f(a)", 0), ("f(a) b", 1), ("b f(a) a", 2), ("b a f(a) b", 3),
    ("f(a) f(b)", 1), ("f(a) b f(b) a", 1), ("f(a)", 0),
])  # fmt: skip
def test_factors_up_to_the_first_call_seem_to_belong_to_a_function(factors, count):
    kinds = {"a": "value", "b": "value", "f": "callable"}
    assert behind_call(parse_expression(factors, kinds)) == count
