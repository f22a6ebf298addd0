"""The parts of the search for a mend, each on the smallest statement that shows it."""

from dataclasses import replace

import numpy as np
import pytest

from checked_equations import EquationError, Estimate, Nodes, check_equation
from checked_equations.check.mutants import Mutant
from checked_equations.check.relations import Tolerance
from checked_equations.errors import LibraryError
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex
from checked_papers import mend_equation
from checked_papers.mends import holds_on, mends_of_equation, same_claim
from checked_papers.mends.insertions import insertions_of
from checked_papers.mends.loose_reading import read_loosely
from checked_papers.mends.numbers import missed_by
from checked_papers.mends.pairs import everywhere, twice
from checked_papers.mends.search import (
    Mend,
    Mends,
    _sides,
    _sides_of_chain,
    _tidy,
    mends_of,
    mutant_statements,
)
from checked_papers.mends.supply import Supply, letters_in
from checked_papers.mends.words import holds_as_read, in_words, told

NUMBERS = {"a": 1.1, "b": 0.7, "c": 2.3, "d": 0.4}
VALUES = dict.fromkeys(NUMBERS, "value")
ONE, a, b = t.Number(1.0), t.Name("a"), t.Name("b")


def read(latex, kinds=VALUES):
    return parse(latex, kinds)


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (t.Product((ONE, ONE)), ONE),
        (t.Product((ONE, a)), a),
        (t.Product((a, ONE, b)), t.Product((a, b))),
        (t.Product((a, b)), t.Product((a, b))),
        (t.Quotient(t.Product((ONE, a)), b), t.Quotient(a, b)),
    ],
)
def test_factors_one_are_not_printed(node, wanted):
    assert _tidy(node) == wanted


def test_a_chain_ends_where_a_side_is_not_gone_on_from():
    steps = read(r"a = b = c = d, \quad b = d, \quad d = a = c").steps
    chains = [[side.key for side in _sides_of_chain(steps, place)] for place in range(len(steps))]
    first, last = list("abbccd"), list("daac")
    assert chains == [first, first, first, ["b", "d"], last, last]


def test_the_statement_after_each_mutant():
    made = [to_latex(one.steps[0]) for one in mutant_statements(read("a = b - c"), NUMBERS)]
    assert made == ["a = -b - c", "a = b + c", "a = -c", "a = b", "a = c - c", "a = b - b"]


def alike(one, other, bound=NUMBERS):
    kinds = {key: "callable" if callable(value) else "value" for key, value in bound.items()}
    return same_claim(read(one, kinds), read(other, kinds), [bound])


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("a = b c", "c b = a", True),
        ("a = b c", "-a = -b c", True),
        ("a = b c", "2 a = 2 b c", True),
        ("a = b c", r"\frac{a}{c} = b", True),
        ("a = b c", r"\frac{b c}{a} = 1", True),
        ("a = b c", "a = b d", False),
        ("a = b c", "a = b + c", False),
        ("a = b c", "a^2 = b c a", True),
        ("a = b c", "a^2 = b^2 c^2", False),
        ("a = b c, a = d", "a = b c, a = c", False),
        ("a + b = b + a", "a + b = b + a", True),
        ("a + b = b + a", "b + a = a + b", True),
        ("a + b = b + a", "a b = b a", False),
        ("a + b = b + a", "a = b", False),
        ("a = 0 b", "a = 0 c", True),
        (r"a = \log(-b)", r"a = \log(-b)", False),
        ("a = b", "a = b, c = d", False),
    ],
)
def test_two_claims_are_one_where_they_fail_alike(one, other, wanted):
    assert alike(one, other) == wanted


def test_claims_about_arrays_fail_alike_by_one_factor_alone():
    x, y = np.array([1.0, 2.0, 4.0]), np.array([0.3, 1.5, 0.2])
    bound = {"x": x, "y": y, "c": 2.5}
    assert alike("x = c y", "-x = -c y", bound)
    assert not alike("x = c y", "x = y c + x - c y", bound)
    assert not alike("x = y", r"x^\top x = y^\top y", bound)
    assert not alike("x = 2 y", "x = 3 y", bound)


def test_what_leaves_both_sides_zero_is_no_mend():
    holds = holds_on([{"a": 0.0, "b": 0.0, "c": 2.0, "d": 2.0}])
    assert not holds(read("a = b"))
    assert not holds(read("a = b c"))
    assert holds(read("c - d = a"))
    assert holds(read("c = d + a"))
    assert not holds(read("c = d, a = b"))
    assert not holds(read("a = b, c = d"))
    assert not holds(read("c = d, c = 2 d"))


def test_a_mend_leaves_a_thousandth_of_what_was_missed():
    drawn, printed = [{"a": 2.0, "b": 2.001}], read("a = b")
    nearer = Tolerance(rtol=1e-3)
    missed = 0.001 / 2.001
    assert holds_on(drawn, nearer, 1.001e3 * missed)(printed)
    assert not holds_on(drawn, nearer, 0.999e3 * missed)(printed)
    assert missed_by(printed, drawn, Tolerance()) == pytest.approx(missed)
    both = read("a = b, a = 2 b")
    assert missed_by(both, drawn, Tolerance()) == pytest.approx(missed)
    assert missed_by(both, drawn, nearer) == pytest.approx(2.002 / 4.002)
    assert missed_by(read("a = b, a = 2"), drawn, Tolerance()) == pytest.approx(missed)
    assert missed_by(read("a = 2"), drawn, Tolerance()) == np.inf
    assert missed_by(read(r"a = b, a = \log(-b)"), drawn, Tolerance()) == np.inf


def test_what_is_supplied_is_what_the_statement_names():
    table = np.array([[1.0, 2.0, 3.0]])
    bound = {"a": 1.5, "n": 3, "z": 2.0 + 0j, "w": 1j, "x": np.ones(3), "A": table, "u": np.sin,
             "e": Estimate(1.0, 0.1),
             "T": np.ones((2, 2, 2)), "q": "no number", "k": 7}  # fmt: skip
    kinds = {key: "callable" if key == "u" else "value" for key in bound}
    statement = read("a = x_n + u(n) + z w + A_{1,n} + e + T_{1,1,1}", kinds)
    supply = Supply.of(statement, bound, to_latex)
    assert set(supply.values) == {"a", "n", "z", "w", "x", "A", "u", "e"}
    assert supply.shapes == {"a": (), "n": (), "z": (), "w": (), "x": (3, 1), "A": (1, 3)}
    assert supply.whole == {"n": 3, "z": 2}
    assert supply.functions == ("u",)
    assert [to_latex(atom) for atom in supply.atoms] == [
        "a", "n", "z", "w", "x", "A", "x_{n}", "u(n)", "A_{1,n}"]  # fmt: skip
    assert supply.shape(t.Name("x")) == (3, 1)
    assert supply.shape(t.Number(2.0)) == ()
    assert supply.shape(t.Name("u")) is None
    assert supply.scope().indices == ()
    assert supply.scope().groups["n"] == supply.scope().groups["a"] == ()


def test_what_runs_is_supplied_where_it_runs():
    x, nodes = np.array([1.0, 2.5, 0.3]), Nodes([1.0, 2.5], [0.4, 0.6])
    bound = {"a": 1.0, "x": x, "s": nodes}
    statement = parse(r"a = \sum_{i=1}^3 x_i \mathbb E_s[s x_i]", {**VALUES, "x": "value",
                                                                   "s": "nodes"})  # fmt: skip
    supply = Supply.of(statement, bound, to_latex)
    total = statement.steps[0].right
    (mean,) = (part for _, part in t.walk(total) if isinstance(part, t.Expectation))
    inside = supply.inside(total)
    assert (supply.running, inside.running) == ((), ("i",))
    assert inside.inside(total) is inside
    assert inside.inside(mean).running == ("i", "s")
    assert inside.inside(mean).inside(mean).running == ("i", "s")
    assert [to_latex(atom) for atom in supply.here()] == ["a", "x"]
    assert [to_latex(atom) for atom in inside.here()] == ["a", "x", "x_{i}"]
    assert list(letters_in(total)) == ["i"]


def test_a_letter_runs_as_far_as_the_one_axis_that_it_counts():
    bound = {"a": 1.0, "A": np.ones((2, 3)), "x": np.ones(3), "N": 3, "B": np.ones((3, 3))}
    statement = read_loosely("a = A_{ij} x_j B_{jk} + N", dict.fromkeys(bound, "value"))
    supply = Supply.of(statement, bound, to_latex)
    side = statement.steps[0].right
    assert supply.extent("i", side) == t.Number(2.0)
    assert supply.extent("j", side) == t.Name("N")
    assert supply.extent("k", side) == t.Name("N")
    assert supply.extent("l", side) is None
    uneven = read_loosely("a = A_{jj} + N", dict.fromkeys(bound, "value")).steps[0].right
    assert supply.extent("j", uneven) is None
    again = Supply.of(read_loosely("a = A_{ij} + N a", dict.fromkeys(bound, "value")),
                      {**bound, "a": 3.0}, to_latex)  # fmt: skip
    assert again.extent("j", side) == t.Number(3.0)  # two symbols are bound to three


def test_a_form_holds_or_not_as_it_is_read():
    assert holds_as_read("a = b + d", [{"a": 1.1, "b": 0.7, "d": 0.4}])
    assert not holds_as_read("a = b - d", [{"a": 1.1, "b": 0.7, "d": 0.4}])
    assert not holds_as_read(r"a = \log(-b)", [{"a": 1.1, "b": 0.7}])
    assert holds_as_read("a = b", [{"a": 1.0, "b": 1.0005}], Tolerance(rtol=1e-3))
    with pytest.raises(EquationError, match="cannot stand here"):
        holds_as_read("a = + + b", [{"a": 1.1, "b": 0.7}])

    def without(x):
        raise LibraryError("no such function there")

    with pytest.raises(EquationError, match="no such function there"):
        holds_as_read("a = u(b)", [{"a": 1.1, "b": 0.7, "u": without}])


def test_what_is_not_read_has_no_mends():
    assert mends_of_equation("a = + + b", [{"a": 1.1, "b": 0.7}]) == Mends()
    assert Mends() == Mends((), 0, True)


@pytest.mark.parametrize("count", [1, 4, 5, 6])
def test_of_several_mends_four_are_said(count):
    (mend,) = mends_of_equation("c = a + b", [{"c": 0.4, "a": 1.1, "b": 0.7}]).found
    said = in_words(Mends((mend,) * count, 9), "c = a + b", VALUES)
    one = "with `-` for `+`: c = a - b"
    more = f"; and {count - 4} more" if count > 4 else ""
    several = f"{count} single edits would mend it, {'; '.join([one] * min(count, 4))}{more}"
    assert said == (f"it does {one}" if count == 1 else several)


@pytest.mark.parametrize(
    ("latex", "bound", "wanted"),
    [
        ("c = a b", {"c": 1.1, "a": 1.1, "b": 0.7}, ("without `b`", "c = a")),
        ("c = a", {"c": -1.1, "a": 1.1}, ("with a minus inserted", "c = -a")),
        ("c = x_{i} j", {"c": 14.0, "x": np.array([5.0, 7.0, 2.0]), "i": 1, "j": 2},
         ("with `j` for `i`", "c = x_{j} j")),
        ("c = a^{2}", {"c": 1.1, "a": 1.1}, ("without `^{2}`", "c = a")),
        ("c = a^{2}", {"c": 1.1, "a": 1.1}, ("with the factor `c` added", "c c = a^{2}")),
        ("c = a + b \\text{ for } a > 0", {"c": 0.4, "a": 1.1, "b": 0.7},
         ("with `-` for `+`", "c = a - b")),
        ("c &= a \\\\ &\\quad + b", {"c": 0.4, "a": 1.1, "b": 0.7},
         ("with `-` for `+`", "c &= a \\\\ &\\quad - b")),
        ("c = a + b, d = a", {"c": 0.4, "a": 1.1, "b": 0.7, "d": 1.1},
         ("with `-` for `+`", "c = a - b")),
    ],
)  # fmt: skip
def test_a_mend_is_told_in_the_letters_of_the_page(latex, bound, wanted):
    mends = mends_of_equation(latex, [bound])
    said = [told(mend, latex, dict.fromkeys(bound, "value")) for mend in mends.found]
    assert wanted in said


@pytest.mark.parametrize(
    ("latex", "mended", "wanted"),
    [
        (r"c = \sqrt{a} b", r"c = \sqrt{a b}", ("with `a` under it", r"c = \sqrt{a b}")),
        (r"c = \frac{d}{a} b", r"c = \frac{d}{a b}", ("with `a` under it", r"c = \frac{d}{a b}")),
        ("c = a b", "c = a + b", ("with `+` inserted", "c = a + b")),
    ],
)
def test_a_part_of_a_group_is_not_told_by_its_letters(latex, mended, wanted):
    before, after = read(latex), read(mended)
    sides = before.steps[0].right, after.steps[0].right
    edit = Mutant("", after.steps, (0,), *sides, "right")
    mend = Mend("$a$ under it", after, edit, own=True)
    assert told(mend, latex, VALUES) == wanted
    unknown = replace(mend, own=False)  # of an edit of a whole side that is not the engine's
    assert told(unknown, latex, VALUES) == ("with `a` under it", mended)


def test_the_same_edit_everywhere_and_at_two_places():
    supply = Supply.of(read("a = b b + c"), NUMBERS, to_latex)
    side = read("a = b b + c").steps[0].right
    rows = [f"{said}: {to_latex(new)}" for said, new in everywhere(side, supply)]
    assert rows[:4] == ["$a$ for each $b$: a a + c", "$c$ for each $b$: c c + c",
                        "an inverse inserted at each $b$: b^{-1} b^{-1} + c",
                        r"a transpose inserted at each $b$: b^\top b^\top + c"]  # fmt: skip
    assert not any("each $c$" in row for row in rows)
    pairs = [f"{said}: {to_latex(new)}" for said, new in twice(side, supply)]
    assert "a square inserted, twice: b^{2} b + c^{2}" in pairs
    assert "two signs: -b b - c" in pairs
    assert pairs[19:21] == ["the factor $a$ added, twice: a (b b) + a c",
                            "the factor $a$ added, twice: (b b) a + c a"]  # fmt: skip
    assert len(pairs) == 25


def test_what_no_edit_touches_is_computed_once_for_all_candidates():
    asked = []
    bound = {"f": lambda u: asked.append(float(u)) or np.exp(u), "a": 1.1, "b": 0.7, "c": 0.4}
    mends = mends_of_equation("c = f(b) + a", [bound])
    assert mends.tried > 100
    assert asked.count(0.7) < 0.25 * mends.tried  # an edit beside the call leaves it as it was


def test_an_estimate_is_given_no_mend():
    bound = {"c": 0.4, "a": 1.1, "b": 0.7}
    for value, suggested in ((0.4, True), (Estimate(0.4, 1e-3, n=9), False)):
        with pytest.raises(EquationError) as caught:
            check_equation("c = a + b", {**bound, "c": value})
        assert bool(caught.value.suggested) == suggested


def test_an_edit_must_touch_each_step_that_fails():
    bound = {"a": 1.1, "b": 0.7, "c": 0.4, "d": 5.0}
    statement = read("c = a + b, d = a + b")
    found = mends_of(statement, holds_on([bound]), [bound])
    assert (found.found, found.whole) == ((), True)
    assert found.tried > 0


@pytest.mark.parametrize(
    ("latex", "failing", "wanted"),
    [
        ("a = b", (0,), [(0, "right"), (0, "left")]),
        ("a = b = c", (0,), [(0, "right"), (0, "left")]),
        ("a = b = c", (1,), [(1, "right"), (0, "right")]),
        ("a = b = c = d", (2,), [(2, "right"), (1, "right")]),
        ("a = b, c = d", (1,), [(1, "right"), (1, "left")]),
        ("a = b = c", (0, 1), [(0, "right")]),
    ],
)
def test_a_side_that_two_steps_share_is_the_right_one_of_the_first(latex, failing, wanted):
    assert list(_sides(read(latex).steps, failing)) == wanted


OF_PRODUCTS = ("two factors exchanged", "a sum for", "a factor below", "a bracket", "the power of")


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("a b c", ["b a c", "a c b", "c b a", "a + b + c", r"\frac{a c}{b}", r"\frac{a b}{c}"]),
        ("a b c d", ["b a c d", "a c b d", "a b d c", "c b a d", "a d c b", "d b c a",
                     "a + b + c + d", r"\frac{a c d}{b}", r"\frac{a b d}{c}", r"\frac{a b c}{d}"]),
        ("(a + b) c (a - d)", ["c (a + b) (a - d)", "(a + b) (a - d) c", "(a - d) c (a + b)",
                               "(a + b) + c + (a - d)", r"\frac{(a + b) (a - d)}{c}",
                               r"\frac{(a + b) c}{a - d}", "a + b c (a - d)", "(a + b) c a - d"]),
        ("a (-b)", ["(-b) a", "a + (-b)", r"\frac{a}{-b}"]),
        ("(-a) b", ["b (-a)", "(-a) + b", r"\frac{-a}{b}"]),
        ("a b c^d", ["b a c^{d}", "a c^{d} b", "c^{d} b a", "a + b + c^{d}",
                     r"\frac{a c^{d}}{b}", r"\frac{a b}{c^{d}}", "(a b c)^{d}"]),
    ],
)  # fmt: skip
def test_what_is_tried_of_a_product_of_several(latex, wanted):
    side = read(f"a = {latex}").steps[0].right
    supply = Supply.of(read(f"a = {latex}"), NUMBERS, to_latex)
    edits = [to_latex(new) for said, new in insertions_of(side, None, supply)
             if said.startswith(OF_PRODUCTS)]  # fmt: skip
    assert edits == wanted


def test_a_term_that_is_added_stands_beside_one_of_the_node():
    """Of a lone symbol as of a sum: the signs are those of the terms."""
    supply = Supply.of(read("a = b"), {"a": 1.1, "b": 0.7}, to_latex)
    for side, terms, signs in (
        (b, (b,), (1,)),
        (t.Sum((b, t.Name("d")), (1, -1)), (b, t.Name("d")), (1, -1)),
    ):
        edits = dict(insertions_of(side, None, supply))
        assert edits["the term $+ a$ added"] == t.Sum((*terms, a), (*signs, 1))
        assert edits["the term $- a$ added"] == t.Sum((*terms, a), (*signs, -1))


def test_what_is_bound_by_its_own_name_is_no_entry():
    entry = t.Subscript(t.Name("x"), (t.Name("i"),))
    for also, wanted in (((), entry), (("x_i",), t.Name("x_i"))):
        kinds = dict.fromkeys(("a", "x", *also), "value")
        assert read_loosely("a = x_i", kinds).steps[0].right == wanted


@pytest.mark.parametrize(
    ("printed", "meant"),
    [("y = (a + b + d) c", "y = a + b + d c"), ("y = c (a + b + d)", "y = c a + b + d")],
)
def test_a_bracket_less_leaves_the_factor_at_the_nearest_of_three_terms(printed, meant):
    def drawn(draw):
        a, b, c, d = draw.uniform(0.5, 2.0, 4)
        found = {"a": a, "b": b, "c": c, "d": d}
        return found | {"y": a + b + d * c if "d c" in meant else c * a + b + d}

    assert f"a bracket less: {meant}" in str(mend_equation(printed, drawn))


@pytest.mark.parametrize(
    ("body", "extent"), [("A_{i i}", "c"), ("(A A)_{i i}", None), ("(A A)_{i i} A_{i 1}", "c")]
)
def test_a_letter_runs_as_far_as_the_axes_of_what_is_bound(body, extent):
    values = {"A": np.eye(2), "c": 2.0}
    statement = read(rf"c = \sum_{{i=1}}^2 {body}", dict.fromkeys(values, "value"))
    found = Supply.of(statement, values, to_latex).extent("i", statement.steps[0].right)
    assert (found and to_latex(found)) == extent
