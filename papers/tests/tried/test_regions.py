"""What is said to hold in a region holds in all of it, and what holds nowhere whole is not told."""

import pytest

from checked_papers.tried import try_display
from checked_papers.tried.kinds import COMPLEX, REAL, vector
from checked_papers.tried.nist import COMMON, NIST
from checked_papers.tried.verdicts import UNTOLD

SMALL, POSITIVE, EITHER, NEGATIVE, LARGE = (region.said for region in REAL)
RIGHT = COMPLEX[0].said

EXACT = {  # the vocabulary says just where these hold
    r"|x| = x": "x > 0",
    r"|x| = -x": "x < 0",
    r"\sqrt{x^2} = x": "x > 0",
    r"\sqrt{x^2} = -x": "x < 0",
    r"\max(x, 0) = x": "x > 0",
    r"\frac{|x|}{x} = 1": "x > 0",
    r"\operatorname{sign}(x) = 1": "x > 0",
    r"\arctan x + \arctan\frac{1}{x} = \frac{\pi}{2}": "x > 0",
    r"\sqrt{z^2} = z": r"\Re z > 0",
    r"|z| = z": "z > 0",
    r"(x^a)^b = x^{a b}": "x > 0",  # unless x = -1, a = 2 and the like are drawn
    r"(x^2)^a = x^{2 a}": "x > 0",
    r"(x^m)^{1/n} = x^{m/n}": "x > 0",
}
INSIDE = {  # these hold in more than the vocabulary says
    r"|x + y| = x + y": ["x, y > 0"],
    r"\sqrt{a^2 + 2 a b + b^2} = a + b": ["a, b > 0"],
    r"|x y| = x |y|": ["x, y > 0"],
    r"\sqrt{x^2 y} = x \sqrt{y}": ["x, y > 0"],
    r"a^2 \ge a": ["a < 0"],
    r"|x y| = x y": [SMALL, POSITIVE, NEGATIVE, LARGE],
    r"|a + b| = |a| + |b|": [SMALL, POSITIVE, NEGATIVE, LARGE],
    r"\arctan(\tan x) = x": [SMALL, EITHER],
    r"\arcsin(\sin x) = x": [SMALL, EITHER],
    r"\arccos(\cos x) = x": [SMALL, POSITIVE],
    r"\arctan x + \arctan y = \arctan \frac{x+y}{1-xy}": [SMALL, EITHER],
    r"\cos x = \sqrt{1 - \sin^2 x}": [SMALL, EITHER],
    r"|x - 1| = 1 - x": [SMALL, EITHER, NEGATIVE],
    r"x^2 < x": [SMALL],
    r"\lfloor x \rfloor = 0": [SMALL],
    r"\sqrt{z w} = \sqrt z \sqrt w": [SMALL, POSITIVE, LARGE, RIGHT],
    r"\ln(z w) = \ln z + \ln w": [SMALL, POSITIVE, LARGE, RIGHT],
    r"\arg(z w) = \arg z + \arg w": [SMALL, POSITIVE, LARGE, RIGHT],
}
AT_PLACES = {
    "x^2 > 0": "x ≠ 0",
    r"1 + x < e^x": "x ≠ 0",
    r"\ln x < x - 1": "x ≠ 1",
    r"x^2 + y^2 > 0": "x, y are not all 0",
    r"a^2 + b^2 > 2 a b": "a ≠ b",
    r"\frac{a + b}{2} > \sqrt{a b}": "a, b > 0, a ≠ b",
    r"n^2 > n, \quad n \in \mathbb N": "n ≠ 1",
    r"p (1 - p) < \frac{1}{4}": "p ≠ 0.5",
    r"\operatorname{sign}(x)^2 = 1": "x ≠ 0",
    r"\operatorname{sign}(x) = \begin{cases} 1 & x \ge 0 \\ -1 & x < 0 \end{cases}": "x ≠ 0",
    r"\lceil x \rceil = \lfloor x \rfloor + 1": "x is not whole",
    r"1 - \frac{x^2}{2} < \cos x": "x ≠ 0",
    r"a^2 + b^2 + c^2 > a b + b c + c a": "a, b, c are not all equal",
    r"\lfloor x + \frac{1}{2} \rfloor = \lceil x - \frac{1}{2} \rceil": "x ≠ 0.5",
}
WHERE_SIDES_MEET = {
    r"-1 < \sin x < 1": "x = -1.571",
    r"|\cos x| < 1": "x = 3.142",
    r"\sin(2 x) < 1": "x = -2.356",
    r"\sin x + \cos x < \sqrt 2": "x = 0.7854",
}
AT_NO_PLACE = (
    r"x^2 > 0, \quad x \ne 0",
    r"p^2 < p, \quad 0 < p < 1",
    r"x^2 + y^2 + 1 > 0",
    r"\tanh x < 1",
    r"x > \sin x, \quad x > 0",
    r"x^4 + 1 > x^2",
    r"\operatorname{sign}(x y) = \operatorname{sign}(x) \operatorname{sign}(y)",
    r"\lfloor -x \rfloor = -\lceil x \rceil",
    r"|x| = \begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}",
    r"\lfloor x \rfloor \le x < \lfloor x \rfloor + 1",
)
NOWHERE_WHOLE = (
    r"\sqrt{(a-b)^2} = a - b",
    r"\sqrt{(a-b)^2} = b - a",
    r"|a - b| = a - b",
    r"|a - b| = |a| - |b|",
    r"\sqrt{(x-1)^2} = x - 1",
    r"\max(a, b) = a",
    r"\min(a, b) = b",
    r"\sum_{t=1}^n e^{-2\pi i j t / n} = 0",  # unless n divides j, which few numbers show
    r"\gcd(a, b c) = \gcd(a, b) \gcd(a, c)",  # unless a = b = c
)
ONE_SIDE_HAS_NONE = (
    r"\ln(a b) = \ln a + \ln b",
    r"\sqrt{a}\sqrt{b} = \sqrt{a b}",
    r"\sin(\arcsin x) = x",
    r"\log(x^2) = 2 \log x",
    r"\sum_{k=0}^\infty x^k = \frac{1}{1 - x}",
)
WHEREVER_THEY_HAVE_VALUES = (
    r"\ln(a b) = \ln a + \ln b, \quad a, b > 0",
    r"\sum_{k=0}^\infty x^k = \frac{1}{1 - x}, \quad |x| < 1",
    r"x^a x^b = x^{a + b}",
    r"\lceil n / m \rceil = \lfloor (n + m - 1) / m \rfloor, \quad n, m \in \mathbb{N}",
    r"\sqrt{x^4} = x^2",
    r"\max(a, b) = \frac{a + b + |a - b|}{2}",
    r"|a - b| = \max(a, b) - \min(a, b)",
)


def _notation_of(latex):
    """That in which z and w are complex, where they stand."""
    return NIST if "z" in latex else COMMON


@pytest.mark.parametrize(("latex", "region"), EXACT.items())
def test_where_it_holds_is_said(latex, region):
    assert str(try_display(latex, notation=_notation_of(latex))) == f"holds if {region}"


@pytest.mark.parametrize(("latex", "regions"), INSIDE.items())
def test_only_regions_in_which_all_of_it_holds_are_told(latex, regions):
    told = ", ".join(regions)
    found = try_display(latex, notation=_notation_of(latex))
    assert found.region in (told, f"in the regions: {told}")


@pytest.mark.parametrize(("latex", "region"), AT_PLACES.items())
def test_where_sides_meet_or_jump_a_strict_order_or_an_equality_is_tried_too(latex, region):
    assert str(try_display(latex)) == f"holds if {region}"


@pytest.mark.parametrize(("latex", "place"), WHERE_SIDES_MEET.items())
def test_where_sides_meet_is_searched_for(latex, place):
    said = f"holds if its sides do not meet, as they do at {place}"
    assert str(try_display(latex)) == said


def test_places_of_vectors_are_tried_too():
    known = {"x": vector("n"), "y": vector("n")}
    found = str(try_display(r"\|x + y\| < \|x\| + \|y\|", kinds=known))
    assert "no one of x, y is a multiple of the other, x ≠ 0" in found
    assert str(try_display(r"\|x\| > 0", kinds=known)) == "holds if x ≠ 0"
    assert str(try_display(r"\|x - y\| > 0", kinds=known)) == "holds if x ≠ y"


CHANCES = (
    r"\sum_{i=1}^n p_i \log p_i \ge 0",
    r"\lfloor x \rfloor + \lfloor y \rfloor < \lfloor x + y \rfloor",
)


@pytest.mark.parametrize("latex", CHANCES)
def test_what_holds_on_some_numbers_of_a_region_is_not_told_to_hold_there(latex):
    assert try_display(latex, mending=False).verdict == "not read"


@pytest.mark.parametrize("latex", AT_NO_PLACE)
def test_what_holds_there_as_well_wants_no_condition(latex):
    assert str(try_display(latex)) == "holds"


@pytest.mark.parametrize("latex", ["|x + y| < |x| + |y|", "|x y| < |x| |y|"])
def test_sides_that_are_the_same_on_many_numbers_are_not_in_strict_order(latex):
    for seed in range(5):
        assert try_display(latex, rng=seed, mending=False).verdict not in ("holds", "holds if")


@pytest.mark.parametrize("latex", NOWHERE_WHOLE)
def test_where_numbers_of_one_region_disagree_none_is_told(latex):
    tried = try_display(latex)
    assert (tried.verdict, tried.why, tried.region) == ("not read", UNTOLD, None)


@pytest.mark.parametrize("latex", WHEREVER_THEY_HAVE_VALUES)
def test_what_holds_on_all_numbers_needs_no_region(latex):
    assert str(try_display(latex)) == "holds"


@pytest.mark.parametrize("latex", ONE_SIDE_HAS_NONE)
def test_that_one_side_has_no_value_for_some_numbers_is_said(latex):
    assert str(try_display(latex)) == "holds (where both sides have a value)"


def test_what_holds_near_by_and_not_far_out_does_not_simply_hold():
    assert try_display(r"\ln(e^z) = z", notation=NIST).verdict == "holds if"
    assert try_display(r"|x - 20| = 20 - x").region != "x > 0"
    assert try_display(r"|x - 20| = 20 - x").verdict == "holds if"


def test_whole_numbers_are_told_only_where_other_symbols_do_not_matter():
    tried = try_display(r"(x^n)^{1/n} = x, \quad x > 0")
    assert tried.verdict == "holds", tried
    assert "n =" not in str(try_display(r"n^2 |x| = n x"))
