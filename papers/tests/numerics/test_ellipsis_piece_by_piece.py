"""The pieces of a pattern behind dots: numbers that go on, factors that grow, what is given."""

import pytest

from checked_equations import EquationError
from checked_equations.errors import OperationError
from checked_equations.evaluate.evaluator import Evaluator, Item
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse_expression
from checked_papers.numerics import ellipsis, unbound
from checked_papers.numerics.ellipsis import general, wrapped

DOTS = t.Name("\\dots")
BOUND = {"z": 0.4, "a": 1.7, "n": 4, "m": 2}
KINDS = dict.fromkeys(BOUND, "value")
OPEN = "no pattern that the printed terms determine"


def part(latex):
    return DOTS if latex == "..." else parse_expression(latex, KINDS)


def places(latexes, key="k"):
    """The values of the general tree at the places 1 to 6."""
    found = general([part(latex) for latex in latexes], key)
    if found is None:
        return None
    ev = Evaluator(BOUND)
    return [float(ev.value(found, {key: Item(i, i)})) for i in range(1, 7)]


@pytest.mark.parametrize(
    ("latexes", "wanted"),
    [
        (["7", "7"], [7, 7, 7, 7, 7, 7]),
        (["2", "5"], [2, 5, 8, 11, 14, 17]),
        (["9", "7", "5"], [9, 7, 5, 3, 1, -1]),
        (["4", "9", "16"], [4, 9, 16, 25, 36, 49]),
        (["25", "16", "9"], [25, 16, 9, 4, 1, 0]),
        (["3", "6", "12"], [3, 6, 12, 24, 48, 96]),
        (["8", "4", "2"], [8, 4, 2, 1, 0.5, 0.25]),
        (["1", "2", "4", "9"], None),
        (["4", "9", "17"], None),
        (["3", "6", "13"], None),
        (["0", "1", "4"], [0, 1, 4, 9, 16, 25]),
        (["0", "2", "4"], [0, 2, 4, 6, 8, 10]),
        (["a", "a^2"], None),
        (["2 a", "3 a"], [1.7 * k for k in range(2, 8)]),
        (["2 a", "3 z"], None),
        (["a + 2", "a - 4"], None),
        (["1 a", r"1 \cdot 3 a"], None),
        ([r"1 \cdot 3", r"1 \cdot 3 \cdot 5", r"1 \cdot 3 \cdot 5 \cdot 7"],
         [3, 15, 105, 945, 10395, 135135]),
        ([r"a \cdot 1", r"a \cdot 1 \cdot 3", r"a \cdot 1 \cdot 3 \cdot 5"],
         [1.7 * v for v in (1, 3, 15, 105, 945, 10395)]),
        ([r"1 \cdot 3", r"1 \cdot 4 \cdot 5"], None),
        ([r"1 \cdot 3", r"1 \cdot 3 \cdot 5 \cdot 7"], None),
        ([r"a \cdot z", r"a \cdot z \cdot n"], None),
    ],
)  # fmt: skip
def test_how_a_few_go_on(latexes, wanted):
    found = places(latexes)
    assert found == wanted if wanted is None else found == pytest.approx(wanted)


def test_three_trees_are_one_only_if_all_are_alike():
    trees = [part("2 a"), part("4 a"), part("a + 6")]
    assert general(trees) is None
    assert general([part("z^2"), part("a^2"), part("z^2")]) is None
    assert general([part("z^2"), part("z^2"), part("a^2")]) is None
    assert general([t.Sum((part("a"), part("2")), (1, 1)), t.Sum((part("a"), part("4")), (1, -1))]
                   ) is None  # fmt: skip
    assert general([part("a"), part("z")]) is None


def summed(*terms):
    signs = tuple(-1 if term[0] == "-" else 1 for term in terms)
    node = t.Dots(t.Sum(tuple(part(term[1:]) for term in terms), signs))
    return Evaluator(BOUND, beyond=unbound).value(node)


@pytest.mark.parametrize(
    ("terms", "wanted"),
    [
        (("+z^2", "+z^3", "+z^4", "+z^5", "+..."), 0.4**2 / 0.6),
        (("+9", "+z^2", "+z^3", "+z^4", "+..."), 9 + 0.4**2 / 0.6),
        (("+9", "-8", "+z^2", "+z^3", "+z^4", "+..."), 1 + 0.4**2 / 0.6),
        (("-z", "+z^2", "-z^3", "+z^4", "-..."), -0.4 / 1.4),
        (("+1", "+z", "+z^2", "+...", "+z^n"), sum(0.4**k for k in range(5))),
        (("+7", "+1", "+z", "+...", "+z^n"), None),
        (("+z^m", "+...", "+z^n"), sum(0.4**k for k in range(2, 5))),
        (("+z^n", "+...", "+z^n"), None),
        (("+z^2", "+...", "+z^n", "+..."), 0.4**2 / 0.6),
        (("+z^2", "+...", "-z^n", "+..."), None),
        (("+z^2", "+z^3", "+...", "+z^n", "+a"), None),
        (("+z^2", "+z^3", "-...", "+z^n"), None),
        (("+z^2", "+z^3", "+...", "+z^n", "-..."), None),
        (("+z^2", "+z^3", "+...", "+z^{n+m}"), sum(0.4**k for k in range(2, 7))),
    ],
)
def test_what_a_sum_with_dots_is(terms, wanted):
    if wanted is None:
        with pytest.raises(EquationError, match=OPEN):
            summed(*terms)
    else:
        assert float(summed(*terms)) == pytest.approx(wanted, rel=1e-9)


def test_how_many_of_the_printed_are_given():
    def at(k):
        if k == 1:
            raise OperationError("none")
        return 2.0 * k

    assert ellipsis._given(at, [4.0, 6.0, 8.0], 4) == 3
    assert ellipsis._given(at, [5.0, 6.0, 8.0], 4) == 2
    assert ellipsis._given(at, [4.0, 6.0, 9.0], 4) == 0
    assert ellipsis._given(at, [2.0, 4.0, 6.0], 3) == 2
    assert ellipsis._near(1.0, 1.0 + 1e-14)
    assert not ellipsis._near(1.0, 1.001)
    assert not ellipsis._near(0.0, 1e-9)


def test_what_has_dots_is_marked_from_within():
    inner = t.Sum((part("z"), part("z^2"), DOTS), (1, 1, 1))
    outer = t.Product((part("a"), t.Power(inner, part("2"))))
    marked = wrapped(outer)
    assert marked == t.Product((part("a"), t.Power(t.Dots(inner), part("2"))))
    both = t.Sum((t.Product((part("1"), part("3"), DOTS, part("9"))), DOTS), (1, 1))
    assert wrapped(both) == t.Dots(t.Sum((t.Dots(both.terms[0]), DOTS), (1, 1)))
    assert wrapped(part(r"\frac{a}{z}")) == part(r"\frac{a}{z}")


def test_a_value_that_is_not_finite_is_none():
    huge = t.Dots(t.Product((part("10^{300}"), part("10^{301}"), part("10^{302}"), DOTS,
                             part("10^{305}"))))  # fmt: skip
    with pytest.raises(EquationError, match=OPEN):
        Evaluator(BOUND, beyond=unbound).value(huge)
