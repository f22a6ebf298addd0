"""A function that everybody knows, on the left side, makes a statement and no definition."""

from __future__ import annotations

import pytest
from displays import FAILS, holds, tried, twin

WORDED = [
    (r"\operatorname{erfc}(x) = 1 - \operatorname{erf}(x)", ("1 -", "1 +")),
    (r"\operatorname{erfc} x = 1 - \operatorname{erf} x", ("1 -", "1 +")),
    (r"\mathrm{erf}(x) = \frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt", ("{2}", "{1}")),
    (r"\sinh(x) = \frac{e^x - e^{-x}}{2}", ("e^x -", "e^x +")),
    (r"\operatorname{sech}(x) = \frac{1}{\cosh(x)}", (r"\cosh", r"\sinh")),
]
LETTERED = [
    (r"\Gamma(n) = (n - 1)!", ("(n - 1)!", "n!")),
    (r"\Gamma(n + 1) = n!", ("n + 1", "n")),
    (r"\Gamma(x) = \int_0^\infty t^{x - 1} e^{-t} dt", ("x - 1", "x")),
    (r"\operatorname{Si}(x) = \int_0^x \frac{\sin t}{t} dt", (r"\sin t", r"-\sin t")),
]


@pytest.mark.parametrize(("latex", "slip"), WORDED)
def test_a_slip_in_what_a_word_means_is_accused(latex: str, slip: tuple[str, str]) -> None:
    holds(latex)
    found = tried(twin(latex, slip))
    assert found.fails
    assert found.mends


@pytest.mark.parametrize(("latex", "slip"), LETTERED)
def test_a_slip_in_what_a_letter_may_mean_is_a_note(latex: str, slip: tuple[str, str]) -> None:
    holds(latex)
    found = tried(twin(latex, slip))
    assert (found.outcome, found.fails) == (FAILS, False), str(found)
    assert found.mends


def test_the_shortest_of_mends_that_agree_is_the_first() -> None:
    assert tried(r"\Gamma(n) = n!").mends[0].endswith(r"\Gamma (n) = (n - 1)!")


def test_a_word_that_no_single_edit_mends_is_a_note() -> None:
    assert tried(r"\operatorname{erf}(x) = \int_0^x e^{-t^2} dt").outcome == FAILS


@pytest.mark.parametrize(
    "latex",
    [
        r"\Gamma(t) = \Gamma_0 e^{-t}",  # a width
        r"\Gamma(x) = x^2 + 3",
        r"\operatorname{sinc}(x) = \frac{\sin \pi x}{\pi x}",  # so do others
        r"\Phi(x) = \frac{1}{2} \left(1 + \operatorname{erf}(x / \sqrt 2)\right)",
        r"W(x) = \Gamma(x)",
        r"T_1(x) = 1 + x",
        r"J_0(x) = x^2",
        r"\psi(x) = x^2",
    ],
)
def test_what_may_define_another_function_does_so(latex: str) -> None:
    assert tried(latex).verdict == "definition", str(tried(latex))
