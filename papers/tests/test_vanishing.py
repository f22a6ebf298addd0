"""Statements that something is zero hold although rounding leaves a rest; false ones do not."""

import pytest
from displays import holds, tried, twin

ZEROS = [
    (r"\int_{-\infty}^\infty x e^{-x^2} \,\mathrm d x = 0", ("x e", "x^2 e")),
    (r"\int_{-\pi}^\pi \sin x \,\mathrm d x = 0", (r"\sin", r"\sin^2")),
    (r"\int_{-a}^a x^3 \,\mathrm d x = 0", ("x^3", "x^4")),
    (r"\frac{\mathrm d}{\mathrm d x} (\sin^2 x + \cos^2 x) = 0", ("+", "-")),
    (r"\frac{\mathrm d^2}{\mathrm d x^2} (2 x + a) = 0", ("2 x", "2 x^2")),
]


@pytest.mark.parametrize(("latex", "slip"), ZEROS)
def test_it_holds_and_its_false_twin_does_not(latex, slip):
    holds(latex)
    assert "holds" not in tried(twin(latex, slip), mending=False).outcome.split()[:1]
