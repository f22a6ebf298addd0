"""Dots go on as the printed terms begin, where these determine how; what must not pass."""

import pytest

from checked_papers.tried import try_display
from checked_papers.tried.nist import NIST
from checked_papers.tried.verdicts import FAILS

TRUE = (
    r"\sin z = z - \frac{z^{3}}{3!} + \frac{z^{5}}{5!} - \frac{z^{7}}{7!} + \cdots",
    r"e^z = 1 + \frac{z}{1!} + \frac{z^{2}}{2!} + \frac{z^{3}}{3!} + \cdots",
    r"\arcsin z = z + \frac{1}{2} \frac{z^{3}}{3} + \frac{1 \cdot 3}{2 \cdot 4} \frac{z^{5}}{5}"
    r" + \frac{1 \cdot 3 \cdot 5}{2 \cdot 4 \cdot 6} \frac{z^{7}}{7} + \cdots",
    r"1 + 2 + 3 + \dots + n = \frac{n(n+1)}{2}",
    r"\frac{\mathrm{d}^n}{\mathrm{d}z^n} z^{a} = a(a-1)(a-2)\cdots(a-n+1) z^{a-n}",
    r"\tan z = \cfrac{z}{1-\cfrac{z^{2}}{3-\cfrac{z^{2}}{5-\cfrac{z^{2}}{7-}}}}\cdots",
    r"\arctan z = \cfrac{z}{1+\cfrac{z^{2}}{3+\cfrac{4z^{2}}{5+\cfrac{9z^{2}}{7+}}}}\cdots",
)
FALSE = (
    r"\sin z = z - \frac{z^{2}}{2!} + \frac{z^{3}}{3!} - \frac{z^{4}}{4!} + \cdots",
    r"\sin z = z - \frac{z^{3}}{3!} + \frac{z^{5}}{4!} - \frac{z^{7}}{7!} + \cdots",
    r"1 + 2 + 3 + \dots + n = \frac{n(n-1)}{2}",
    r"1 + 2 + 4 + \dots + n = \frac{n(n+1)}{2}",
    r"\tan z = \cfrac{z}{1-\cfrac{z^{2}}{3-\cfrac{z^{2}}{6-\cfrac{z^{2}}{7-}}}}\cdots",
    r"\tan z = \cfrac{z}{1+\cfrac{z^{2}}{3+\cfrac{z^{2}}{5+\cfrac{z^{2}}{7+}}}}\cdots",
)


@pytest.mark.parametrize("latex", TRUE)
def test_what_is_true_holds_and_every_slip_is_caught(latex):
    tried = try_display(latex, notation=NIST)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 5
    assert tried.mutants.survived == 0


@pytest.mark.parametrize("latex", FALSE)
def test_what_is_false_does_not_pass(latex):
    verdict = try_display(latex, notation=NIST, mending=False).verdict
    assert verdict in ("does not hold", FAILS, "not read")


@pytest.mark.parametrize("latex", [r"a + \dots = b", r"x = 1 + 2 + 5 + 9 + \dots"])
def test_dots_without_a_pattern_have_no_value(latex):
    assert try_display(latex).verdict in ("not read", "definition")
