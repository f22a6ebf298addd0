"""What holds in the limit holds with every printed term, and by what was defined before."""

import pytest

from checked_papers.tried import try_display
from checked_papers.tried.nist import NIST
from checked_papers.tried.verdicts import FAILS

TRUE = (
    (r"\Gamma\left(az+b\right)\sim\sqrt{2\pi}e^{-az}(az)^{az+b-(1/2)}", [r"a\;(>0)"]),
    (r"\frac{\Gamma\left(z+a\right)}{\Gamma\left(z+b\right)}\sim z^{a-b}", [r"z\to\infty"]),
    (r"|\Gamma\left(x+iy\right)|\sim\sqrt{2\pi}|y|^{x-(1/2)}e^{-\pi|y|/2}", []),
    (r"\sin x \sim x - \frac{x^3}{6} + \dots", [r"x\to 0"]),
    (r"\sqrt{x^2 + 1} \sim x + \frac{1}{2x} - \frac{1}{8x^3} + \dots", []),
)
FALSE = (
    (r"\Gamma\left(az+b\right)\sim\sqrt{2\pi}e^{-az}(az)^{az+b+(1/2)}", [r"a\;(>0)"]),
    (r"\frac{\Gamma\left(z+a\right)}{\Gamma\left(z+b\right)}\sim z^{b-a}", [r"z\to\infty"]),
    (r"|\Gamma\left(x+iy\right)|\sim\sqrt{\pi}|y|^{x-(1/2)}e^{-\pi|y|/2}", []),
    (r"\sin x \sim x - \frac{x^3}{3} + \dots", [r"x\to 0"]),
    (r"\sqrt{x^2 + 1} \sim x + \frac{1}{2x} - \frac{1}{4x^3} + \dots", []),
    (r"\ln x \sim \ln(2x)", []),  # true, and too slowly to be seen
)


@pytest.mark.parametrize(("latex", "conditions"), TRUE)
def test_what_holds_in_the_limit_holds_and_every_slip_is_caught(latex, conditions):
    tried = try_display(latex, conditions=conditions, notation=NIST)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 0
    assert tried.mutants.survived == 0, tried.mutants.list


@pytest.mark.parametrize(("latex", "conditions"), FALSE)
def test_what_does_not_fails_and_accuses_no_one(latex, conditions):
    found = try_display(latex, conditions=conditions, notation=NIST)
    assert found.verdict in (FAILS, "not read")


def test_the_way_is_read_where_it_is_printed():
    latex = r"\frac{\sqrt{x + 1}}{x} \sim \frac{1}{\sqrt{x}} + \frac{1}{2 x^{3/2}} + \dots,"
    assert try_display(latex + r"\quad x \to \infty").verdict == "holds"
    assert try_display(latex + r"\quad x \to 0").verdict == FAILS
    assert try_display(latex).verdict in (FAILS, "not read")  # as what a paper draws from


DEFINED = [
    r"\mathsf{U}\left(x,t\right) = \frac{1}{\sqrt{4\pi t}}"
    r"\int_{-\infty}^{\infty}\frac{e^{-(x-y)^{2}/(4t)}}{1+y^{2}}\,\mathrm{d}y",
    r"r = a + b",
]


@pytest.mark.parametrize(
    ("latex", "verdict"),
    [
        (r"\mathsf{U}\left(-x,t\right) = \mathsf{U}\left(x,t\right)", "holds"),
        (r"\mathsf{U}\left(-x,t\right) = -\mathsf{U}\left(x,t\right)", "not read"),
        (r"\mathsf{U}\left(t,x\right) = \mathsf{U}\left(x,t\right)", "not read"),
        (r"r^2 - a^2 = b (r + a)", "holds"),
        (r"r^2 - a^2 = b (r - a)", "not read"),
    ],
)
def test_what_displays_before_define_is_known(latex, verdict):
    assert try_display(latex, definitions=DEFINED, notation=NIST).verdict == verdict


def test_one_over_a_pole_is_nothing():
    assert try_display(r"\frac{2}{\Gamma(-n)} = 0", notation=NIST).verdict == "holds"
    assert try_display(r"\frac{2}{\Gamma(n)} = 0", notation=NIST).verdict != "holds"
    assert try_display(r"\frac{\Gamma(-n)}{\Gamma(-n)} = 0", notation=NIST).verdict == "not read"


@pytest.mark.parametrize(
    ("right", "verdict"),
    [
        (r"2/(\pi z)", "holds"),
        (r"J_{\nu+1}(z)Y_{\nu}(z)-J_{\nu}(z)Y_{\nu+1}(z)", "holds"),
        (r"1/(\pi z)", "fails on all numbers drawn"),  # a factor 2 mends it
    ],
)
def test_a_wronskian(right, verdict):
    latex = r"\mathscr{W}\left\{J_{\nu}\left(z\right),Y_{\nu}\left(z\right)\right\} = " + right
    assert try_display(latex, notation=NIST).verdict == verdict


def test_a_letter_with_a_running_index_goes_nowhere():
    latex = r"S(a, x) \sim e^{-a x^2} \sum_{k=0}^{\infty} a_{k} x^{-k}"
    assert try_display(latex, notation=NIST).verdict == "not read"
