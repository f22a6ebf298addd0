"""What is tried and does not hold is mended by the same edits as what is checked."""

import pytest

from checked_papers.tried import try_display

SPOILT = [
    (r"(a + b)^2 = a^2 + 3 a b + b^2", "(a + b)^{2} = a^{2} + 2 a b + b^{2}"),
    (
        r"\cos(x+y) = \cos x \cos y + \sin x \sin y",
        r"\cos(x + y) = \cos(x) \cos(y) - \sin(x) \sin(y)",
    ),
    (r"e^{x+y} = e^x + e^y", r"\exp(x + y) = \exp(x) \exp(y)"),
    (r"\sinh z = \frac{e^z + e^{-z}}{2}", r"\cosh(z) = \frac{\exp(z) + \exp(-z)}{2}"),
]


@pytest.mark.parametrize(("latex", "mended"), SPOILT)
def test_what_fails_everywhere_has_its_mends(latex, mended):
    tried = try_display(latex)
    assert tried.verdict == "does not hold"
    assert mended in [mend.step for mend in tried.mend.found]


@pytest.mark.parametrize(
    "latex", [r"(a + b)^2 = a^2 + 2 a b + b^2", r"\sqrt{x^2} = x", "c = a + b"]
)
def test_nothing_else_is_mended(latex):
    assert try_display(latex).mend is None
