"""Dots in sums and products: each pattern has its value, or there is none."""

from __future__ import annotations

import math

import pytest

from checked_equations import EquationError
from checked_equations.evaluate.evaluator import Evaluator, Item
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse_expression, parse_free
from checked_papers.numerics import unbound
from checked_papers.numerics.ellipsis import general, wrapped

DOTS = t.Name("\\dots")
BOUND = {"z": 0.4, "a": 1.7, "n": 4, "m": 2, "w": 0.5j, "f": 4.0}
KINDS = dict.fromkeys(BOUND, "value")
OPEN = "no pattern that the printed terms determine"
Z, W, R = 0.4, 0.5j, math.sqrt(2.0) - 1.0


def part(latex):
    return DOTS if latex == "..." else parse_expression(latex, KINDS)


def value(node):
    return Evaluator(BOUND, beyond=unbound).value(node)


def summed(*terms):
    """The value of signed terms, of which one is the dots."""
    signs = tuple(-1 if term[0] == "-" else 1 for term in terms)
    return value(t.Dots(t.Sum(tuple(part(term[1:]) for term in terms), signs)))


def multiplied(*factors):
    return value(t.Dots(t.Product(tuple(map(part, factors)))))


def double(k):
    """The product of the odd numbers below 2 k."""
    return math.prod(range(1, 2 * k, 2))


ROWS = (r"\frac{a \cdot 1}{2 \cdot 4} z", r"\frac{a \cdot 1 \cdot 3}{2 \cdot 4 \cdot 6} z^2",
        r"\frac{a \cdot 1 \cdot 3 \cdot 5}{2 \cdot 4 \cdot 6 \cdot 8} z^3")  # fmt: skip
ENDLESS = [
    # numbers that go on by steps, as squares, by factors
    (("+z^2", "+z^4", "+z^6", "+..."), Z**2 / (1 - Z**2)),
    (("+z^5", "+z^7", "+z^9", "+..."), Z**5 / (1 - Z**2)),
    ((r"+\frac{1}{1}", r"+\frac{1}{4}", r"+\frac{1}{9}", "+..."), math.pi**2 / 6),
    ((r"+\frac{1}{9}", r"+\frac{1}{25}", r"+\frac{1}{49}", "+..."), math.pi**2 / 8 - 1),
    ((r"+\frac{1}{3}", r"+\frac{1}{6}", r"+\frac{1}{12}", "+..."), 2 / 3),
    (("+z^2", "+z^4", "+z^8", "+..."), sum(Z**2**k for k in range(1, 9))),
    (("+2 z^2", "+3 z^3", "+4 z^4", "+..."), Z / (1 - Z) ** 2 - Z),
    # signs that turn, and what stands before the pattern begins
    (("+z^2", "-z^4", "+z^6", "-..."), Z**2 / (1 + Z**2)),
    (("-z^2", "+z^4", "-z^6", "+..."), -(Z**2) / (1 + Z**2)),
    (("-z^2", "-z^4", "-z^6", "-..."), -(Z**2) / (1 - Z**2)),
    (("+z^2", "-z^4", "+z^6", "-z^8", "+..."), Z**2 / (1 + Z**2)),
    (("+5", "+z^2", "+z^4", "+z^6", "+..."), 5 + Z**2 / (1 - Z**2)),
    (("-5", "+z^2", "+z^4", "+z^6", "+..."), -5 + Z**2 / (1 - Z**2)),
    (("+5", "+3", "-z^2", "+z^4", "-z^6", "+..."), 8 - Z**2 / (1 + Z**2)),
    (("+z", r"-\frac{z^3}{3}", r"+\frac{z^5}{5}", "-..."), math.atan(Z)),
    (("+w^2", "+w^4", "+w^6", "+..."), -0.2),
    (("+w", "+w^2", "+w^3", "+w^4", "+..."), W / (1 - W)),
    # products that grow, with one factor before those that go on
    ((r"+\frac{1 \cdot 3}{2 \cdot 4} z^5", r"+\frac{1 \cdot 3 \cdot 5}{2 \cdot 4 \cdot 6} z^7",
      r"+\frac{1 \cdot 3 \cdot 5 \cdot 7}{2 \cdot 4 \cdot 6 \cdot 8} z^9", "+..."),
     Z / math.sqrt(1 - Z**2) - Z - Z**3 / 2),
    (("+" + ROWS[0].replace("z", "z^1"), "+" + ROWS[1], "+" + ROWS[2], "+..."),
     sum(1.7 * double(k) / (2 ** (k + 1) * math.factorial(k + 1)) * Z**k for k in range(1, 60))),
]  # fmt: skip
WITH_A_TERM = [
    (("+1", "+z", "+...", "+z^n"), sum(Z**k for k in range(5))),
    (("+z", "+z^2", "+...", "+z^n"), sum(Z**k for k in range(1, 5))),
    (("+z^2", "+...", "+z^n"), sum(Z**k for k in range(2, 5))),
    (("+z^2", "+z^3", "+...", "+z^n"), sum(Z**k for k in range(2, 5))),
    (("+5", "+z", "+z^2", "+...", "+z^n"), 5 + sum(Z**k for k in range(1, 5))),
    (("-5", "-z", "-z^2", "-...", "-z^n"), -5 - sum(Z**k for k in range(1, 5))),
    (("-z", "-z^2", "-...", "-z^n"), -sum(Z**k for k in range(1, 5))),
    (("+1", "+z", "+...", "+z^n", "+..."), 1 / (1 - Z)),
    (("+7", "+z", "+z^2", "+...", "+z^n", "+..."), 7 + Z / (1 - Z)),
    (("+(-1)^0 z^0", "+(-1)^1 z^1", "+...", "+(-1)^n z^n", "+..."), 1 / (1 + Z)),
    (("+1", "+w", "+...", "+w^n"), sum(W**k for k in range(5))),
]  # fmt: skip
REFUSED = [
    ("+z^2", "+z^4", "+..."),
    ("+z^2", "+..."),
    ("+1", "+z", "+z^2", "+..."),
    ("+z^2", "-z^4", "+z^6", "+..."),
    ("+z^2", "+z^4", "+z^6", "-..."),
    ("+z^2", "+z^4", "+z^7", "+..."),
    (r"+\frac{1}{2}", r"+\frac{1}{5}", r"+\frac{1}{9}", "+..."),
    ("+z^2", "+a^4", "+z^6", "+..."),
    ("+2 z", "+3 a", "+4 z", "+..."),
    ("+1", "+z", "-...", "+z^n"),
    ("+1", "+z", "+...", "+z^n", "-..."),
    ("+1", "+...", "+z^2", "+z^n"),
    ("+1", "+z", "+...", "+z^{2 n}"),
    ("+5", "+z", "+...", "+z^n"),
    ("+1", "+z", "+...", "+z^f"),
    ("+z^3", "+z^4", "+...", "+z^n"),
]


@pytest.mark.parametrize(("terms", "wanted"), ENDLESS + WITH_A_TERM)
def test_a_sum_with_a_pattern_has_its_value(terms, wanted):
    found = summed(*terms)
    assert complex(found) == pytest.approx(complex(wanted), rel=1e-9)
    assert (found.dtype.kind == "c") == isinstance(wanted, complex)


@pytest.mark.parametrize("terms", REFUSED)
def test_a_sum_without_a_pattern_has_no_value(terms):
    with pytest.raises(EquationError, match=OPEN):
        summed(*terms)


PRODUCTS = [
    (("a", "a + 1", "a + 2", "...", "a + 5"), math.prod(1.7 + k for k in range(6))),
    (("a + 1", "a + 2", "...", "a + 5"), math.prod(1.7 + k for k in range(1, 6))),
    (("2", "a + 1", "a + 2", "a + 3", "...", "a + 5"), 2 * math.prod(1.7 + k for k in range(1, 6))),
    (("3", "7", "a + 1", "a + 2", "a + 3", "...", "a + 4"), 21 * 2.7 * 3.7 * 4.7 * 5.7),
    (("n", "n - 1", "n - 2", "...", "n - m + 1"), 12.0),
    (("n", "n - 1", "n - 2", "...", "n - m + 3"), 1.0),
    (("1", "3", "...", "9"), 945.0),
    (("1", "2", "4", "...", "32"), 32768.0),
    (("1", "2", "...", "5", "a", "3"), 120 * 1.7 * 3),
    (("1 + w", "2 + w", "...", "4 + w"), math.prod(k + W for k in range(1, 5))),
]


@pytest.mark.parametrize(("factors", "wanted"), PRODUCTS)
def test_a_product_with_a_pattern_has_its_value(factors, wanted):
    assert complex(multiplied(*factors)) == pytest.approx(complex(wanted), rel=1e-12)


def test_dots_may_stand_before_the_bracket_of_the_last_factor():
    row = (*map(part, ("1", "3")), t.Apply(DOTS.key, (part("2 n - 1"),)), part("a"))
    assert value(t.Dots(t.Product(row))) == pytest.approx(105 * 1.7)


@pytest.mark.parametrize(
    "factors",
    [("1", "3", "...", "6"), ("1", "3", "..."), ("1", "...", "5"), ("1", "a", "...", "5")],
)
def test_a_product_without_a_pattern_has_no_value(factors):
    with pytest.raises(EquationError, match=OPEN):
        multiplied(*factors)


def test_the_tree_of_a_pattern_is_each_printed_one_in_its_place():
    trees = [part(latex) for latex in (r"\frac{z^2}{3}", r"\frac{z^4}{9}", r"\frac{z^6}{27}")]
    found = general(trees, "k")
    for place, tree in enumerate(trees, start=1):
        at = Evaluator(BOUND).value(found, {"k": Item(place, place)})
        assert at == pytest.approx(value(tree), rel=1e-12)
    assert general([part("z^2"), part("z + 2")]) is None
    assert general([part("z^2"), part("z^2")]) == part("z^2")


def test_behind_the_dots_of_a_sum_stands_one_term():
    """Of two, ``1 + 2 + … + 9 + 10``, the second would be lost."""
    with pytest.raises(EquationError, match=OPEN):
        summed("+z", "+z^2", "+...", "+z^n", "+z^n")


def test_dots_behind_a_continued_fraction_belong_to_it():
    fraction = r"\cfrac{z}{1 - \cfrac{z^2}{3 - \cfrac{z^2}{5 - \cfrac{z^2}{7 - \dots}}}}"
    for written in (
        rf"{fraction} \cdots", rf"2 + {fraction}", rf"2 {fraction}", rf"2 {fraction} \cdots",
    ):  # fmt: skip
        (step,) = parse_free(f"d = {written}").steps
        wanted = math.tan(Z) * (1 + written.startswith("2 \\")) + 2 * written.startswith("2 +")
        assert value(wrapped(step.right)) == pytest.approx(wanted, rel=1e-9), written
