"""What fails on drawn numbers and accuses nobody, since it may mean something else."""

from __future__ import annotations

import pytest
from displays import AGREES, FAILS, tried

from checked_papers.declarations import declared


# All of them stand in lecture notes, and are right there.
@pytest.mark.parametrize(
    ("latex", "said"),
    [
        ("V(x) = V(-x)", "the function `V` is not known"),
        (r"D(g h) = D(g) D(h)", "the function `D` is not known"),
        (r"\rho(z^n) = (\rho(z))^n", "the function `\\rho` is not known"),
        ("n + S(m) = S(n + m)", "the function `S` is not known"),
        ("k(x - y) = k(y - x)", "`k` may be a function"),
        ("V(a x) = a V(x)", "the function `V` is not known"),
        (r"\gamma^{-1}(t) = \gamma(1 - t)", "may be a function"),
        ("(X - c)^2(y) = (X(y) - c)^2", "the function `X` is not known"),
        (r"(\alpha f)(x + y) = \alpha f(x) + \alpha f(y)", "the function `f` is not known"),
        (r"\mathrm d (f g) = (\mathrm d f) g + f (\mathrm d g)", ""),
        (r"x \smile x = - x \smile x", ""),
        (r"1 \mapsto 2", "an arrow"),
        (r"\frac{\sinh(A y)}{A^2} \to A^{-2} e^{A y}", "an arrow"),
        (r"\frac{1}{3} = 0.332", "so many digits"),
        (r"\det(A - \lambda I) = 0", "on one side only"),
        (r"\mathbf v (1 + i) = \mathbf v - i \mathbf v", "is printed as an array"),
        ("c^2 = a^2 + b^2", "a, b, c on one side only"),
        ("a x + b = 0", "a, b, x on one side only"),
        (r"A \mathbf x = d \mathbf x", "on one side only"),  # which `A` for `d` would mend
    ],
)
def test_what_may_mean_something_else(latex: str, said: str) -> None:
    found = tried(latex)
    assert found.verdict == "not read", str(found)
    assert said in found.why


@pytest.mark.parametrize(
    ("latex", "said", "noted"),
    [
        (r"\cosh^2 x + \sinh^2 x = 1", "x on one side only", True),
        ("(A - c I) \\mathbf x = A \\mathbf x + c I \\mathbf x", "", True),
        ("3 + 4 = 1", "two numbers", True),
        ("0 &= 12", "two numbers", False),
        # equations to be solved, and properties
        ("P^2 = P", "no single edit would mend it", False),
        ("x = \\cos x", "no single edit would mend it", False),
    ],
)
def test_what_fails_on_all_numbers_is_told_and_accuses_nobody(
    latex: str, said: str, *, noted: bool
) -> None:
    found = tried(latex)
    assert (found.outcome, found.fails, found.noted) == (FAILS, False, noted), str(found)
    assert said in found.why


@pytest.mark.parametrize(
    "latex",
    [
        "(a + b)^2 = a^2 + 3 a b + b^2",
        r"\cos(2 x) = 1 - \sin^2 x",
        "x (y + 1) = x y + y",
        r"\cosh(x + y) = \cosh x \cosh y - \sinh x \sinh y",
        r"\frac{1}{3} = 0.4333",
        r"(\lambda I - T)^{-1} = \lambda^{-1} (I - \lambda T)^{-1}",
    ],
)
def test_what_cannot_is_accused(latex: str) -> None:
    assert tried(latex).fails, str(tried(latex))


def test_what_is_declared_leaves_no_doubt() -> None:
    assert not tried("V(x) = V(-x)").fails
    assert tried("V(x) = V(-x)", declared("V(x) = x + x^3; x be real")).fails
    even = tried("V(x) = V(-x)", declared("V(x) = x^2; x be real"))
    assert even.outcome == AGREES, "the one slip in it is as true"


def test_a_mend_is_told() -> None:
    found = tried(r"\cos(2 x) = 1 - \sin^2 x")
    assert found.mends == (r"a factor `2` inserted: \cos(2 x) = 1 - 2 (\sin(x))^{2}",)
    said = "tried: does not hold; it would with a factor `2` inserted: "
    assert str(found).startswith(said)
    several = tried(r"\sum_{k=1}^n k = \frac{n (n - 1)}{2}")
    assert "single edits would mend it" in str(several)
    assert len(several.mends) > 1


@pytest.mark.parametrize(
    "latex",
    [
        r"H(X_1, \cdots, X_n) = \sum_{i=1}^n H(X_i \mid X_1, \cdots, X_{i-1})",
        r"H(X) = - p \log p \stackrel{\textrm{def}}{=} H(p)",
        r"\displaystyle}c<{",
    ],
)
def test_what_is_strange_is_no_failure_of_the_engine(latex: str) -> None:
    found = tried(latex)
    assert found.verdict in ("not read", "definition")
    assert "failed" not in found.why
