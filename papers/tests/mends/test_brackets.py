"""A bracket in the wrong place, as a published slip had it, is moved to where it belongs."""

from __future__ import annotations

import math

import pytest

from checked_papers import mend_equation

TAU, NU, P, X = 1.7, 3.3, 2.0, 0.7


@pytest.mark.parametrize(
    ("latex", "bindings", "reads"),
    [
        (r"c = \frac{\Gamma(\nu + p) / 2}{\Gamma(\nu / 2)}",  # a multivariate t in SciPy
         {"c": math.gamma((NU + P) / 2) / math.gamma(NU / 2), r"\nu": NU, "p": P,
          r"\Gamma": math.gamma}, r"\Gamma(\frac{\nu + p}{2})"),
        (r"c = \frac{1}{\tau} \exp\{1 / \tau - 1\}",  # a lognormal variance in PyMC
         {"c": (math.exp(1 / TAU) - 1) / TAU, r"\tau": TAU}, r"\exp(1 / \tau) - 1"),
        (r"c = a \exp(b) - 1", {"c": 2.2 * math.exp(0.3 - 1), "a": 2.2, "b": 0.3},
         r"a \exp(b - 1)"),
        (r"c = \sqrt{a + b}", {"c": math.sqrt(TAU) + P, "a": TAU, "b": P}, r"\sqrt{a} + b"),
        (r"c = \frac{3}{4 \sqrt 5 (1 - x^2 / 5)}",  # a kernel in a cookbook
         {"c": 3 / (4 * math.sqrt(5)) * (1 - X**2 / 5), "x": X}, r"\frac{3}{4 \sqrt{5}} (1"),
    ],
)  # fmt: skip
def test_a_bracket_is_moved(latex: str, bindings: dict[str, object], reads: str) -> None:
    mended = mend_equation(latex, bindings)
    assert len(mended.found) == 1
    assert reads.replace(" ", "") in mended.found[0][1].replace(" ", "")
