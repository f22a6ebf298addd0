"""Messages name what a reader of a paper can do, and nothing that nobody has bound."""

from __future__ import annotations

import re

import pytest
from displays import tried

from checked_papers.declarations import declared


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        ("V(x) = V(-x)", "write `% let V(x) = …` above, or `% let V be real`"),
        ("k(x - y) = k(y - x)", "write `% let k be real` above if it is a number"),
        (r"\mathbf v (1 + i) = \mathbf v - i \mathbf v", r"write `% let \mathbf v in R^n` above"),
        (r"\det(A + u v) = (1 + v^T A^{-1} u) \det A", "`v` is taken for a number"),
        (r"17^2 \approx 300", r"how near `\approx` means is not said"),
        (r"E[X] = n p", "say over which variable"),
        (r"a + b \bmod m = a", r"what `\bmod` divides is not clear: write brackets around it"),
        (r"\nabla^2 (f g) = g \nabla^2 f", "the Laplacian and the Hessian are both written so"),
        (r"\nabla \cdot (\nabla \times F) = 0", "a divergence is not read"),
    ],
)
def test_a_reader_is_told_what_would_help(latex: str, said: str) -> None:
    why = tried(latex, mending=False).why
    assert said in why
    assert not re.search("bound names|bind |declare what|approx=", why)
    for clause in re.findall(r"`% let ([^`…]*)`", why):
        assert declared(clause).kinds, "what it says to write is a declaration"
