"""True displays from many fields, each paired with a plausible false one; nothing is bound."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

from pathlib import Path

import pytest
from displays import AGREES, FAILS, tried

from checked_papers.declarations import declared
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read

PAIRS = (
    # limits: those that are zero, and functions that oscillate and have none
    (r"\lim_{n \to \infty} \frac{n!}{n^n} = 0", r"\lim_{n \to \infty} \frac{n!}{n^n} = 1"),
    (r"\lim_{x \to \infty} \frac{\ln x}{\sqrt x} = 0", r"\lim_{x \to \infty} \frac{\ln x}{\sqrt x} = 1"),
    (r"\lim_{x \to \infty} \frac{x}{e^x} = 0", r"\lim_{x \to \infty} \frac{e^x}{x} = 0"),
    (r"\lim_{n \to \infty} (\sqrt{n + 1} - \sqrt n) = 0", r"\lim_{n \to \infty} (\sqrt{n^2 + n} - n) = 0"),
    (r"\lim_{x \to 0^+} \sqrt x \ln x = 0", r"\lim_{x \to 0^+} \sqrt x \ln x = 1"),
    (r"\lim_{n \to \infty} a^n = 0, \quad 0 < a < 1", r"\lim_{x \to \infty} \sin(\ln x) = 0"),
    (r"\lim_{n \to \infty} n^{1 / \ln n} = e", r"\lim_{n \to \infty} n^{1 / \ln n} = 1"),
    # integrals of functions that keep oscillating, and peaks far from zero
    (r"\int_0^\infty \frac{\sin x}{x} \,dx = \frac{\pi}{2}", r"\int_0^\infty \sin x \,dx = 1"),
    (r"\int_0^\infty \sin(x^2) \,dx = \frac12 \sqrt{\frac{\pi}{2}}", r"\int_0^\infty \sin(a x) \,dx = \frac1a"),
    (r"\int_0^\infty \frac{\cos x}{\sqrt x} \,dx = \sqrt{\frac{\pi}{2}}", r"\int_0^\infty \sqrt x \sin x \,dx = \frac12 \sqrt{\frac{\pi}{2}}"),
    (r"\int_{-\infty}^\infty e^{-\frac{(x - m)^2}{2 s^2}} \,dx = \sqrt{2 \pi} |s|", r"\int_{-\infty}^\infty e^{-(x - 40)^2} \,dx = 0"),
    (r"\int_{-\infty}^\infty x^2 \frac{e^{-x}}{(1 + e^{-x})^2} \,dx = \frac{\pi^2}{3}", r"\int_{-\infty}^\infty \frac{e^{-x}}{(1 + e^{-x})^2} \,dx = 2"),
    (r"\int_{-\infty}^\infty \frac{\sin x}{x} \,dx = \pi", r"\int_{-\infty}^\infty e^{-(x - 200)^2} \,dx = 0"),
    (r"\int_{-\infty}^\infty \int_{-\infty}^\infty e^{-x^2 - y^2} \,dx \,dy = \pi", r"\int_0^\infty \int_0^x e^{-x - y} \,dy \,dx = 1"),
    # orders of arrays, of any size
    (r"\|x\| \ge 0", r"\|x\| \ge \frac{1}{100}"),
    (r"x^\top A^\top A x \ge 0", r"x^\top x \ge \frac{1}{10}"),
    (r"\|x + y\|^2 \le 2 \|x\|^2 + 2 \|y\|^2", r"\|x\|^2 \le 1000"),
    (r"\operatorname{tr}(A^\top A) \ge 0", r"\operatorname{tr}(A^\top A) \ge 1"),
    (r"x^\top A x \ge 0, \quad A = B^\top B", r"x^\top A x \ge 1, \quad A = B^\top B"),
    (r"\|x\|_1 \le \sqrt n \|x\|_2, \quad x \in \mathbb R^n", r"\|x\|_1 \le 3 \|x\|_2"),
    (r"\|A\|_2 \le \|A\|_F", r"\|A\|_F \le 2 \|A\|_2"),
    (r"|x| \ge x", r"|x| \le x"),
    (r"\max(x, y) \ge x", r"|a b| \le a b"),
    # arrays whose sizes are printed
    (r"\det(c A) = c^n \det A, \quad A \in \mathbb R^{n \times n}", r"\det(c A) = c \det A, \quad A \in \mathbb R^{n \times n}"),
    # closed orders
    (r"\frac12 < \frac23 < \frac34", r"\frac12 < \frac34 < \frac23"),
    # properties of matrices behind a claim
    (r"x^\top A x = 0, \quad A^\top = -A", r"x^\top A x = 0, \quad A^\top = A"),
    (r"(I - 2 P)^2 = I, \quad P^2 = P", r"(I - P)^2 = I, \quad P^2 = P"),
    (r"(A B)^\top = B A, \quad A = A^\top, B = B^\top", r"(A B)^\top = A B, \quad A = A^\top, B = B^\top"),
    (r"\|Q x\| = \|x\|, \quad Q^\top Q = I", r"\|Q x + y\| = \|x + y\|, \quad Q^\top Q = I"),
    (r"\det(Q)^2 = 1, \quad Q^T Q = I", r"\det(Q) = 1, \quad Q^T Q = I"),
    (r"(A + B)^2 = A^2 + 2 A B + B^2, \quad A B = B A", r"(A + B)^2 = A^2 + B^2, \quad A B = B A"),
    (r"e^{A + B} = e^A e^B, \quad A B = B A", r"e^{A + B} = e^A + e^B, \quad A B = B A"),
    # a printed matrix below a power
    (
        r"\operatorname{tr}\begin{pmatrix} a & b \\ c & d \end{pmatrix}^2 = a^2 + 2 b c + d^2",
        r"\operatorname{tr}\begin{pmatrix} a & b \\ c & d \end{pmatrix}^2 = a^2 + b^2 + c^2 + d^2",
    ),
    # linear algebra
    ("c A = A c", r"\operatorname{tr}(A B C) = \operatorname{tr}(A C B)"),
    ("A (x + y) = A x + A y", r"(A - B)(A + B) = A^2 - B^2"),
    (r"e^{A x + b} = e^{A x} e^b", r"(A x)(A y) = A^2 x y"),  # an exponent is a number
    (r"A (c x) = c (A x)", r"A^{-1} x = \frac{x}{A}"),
    (r"A^{-1} (x + b) = A^{-1} x + A^{-1} b", r"A^{-1} (x + b) = \frac{x + b}{A}"),
    (r"\|A\|_2 \le \|A\|_F", r"\|A\|_2 \le \|A\|_1"),
    (r"(A B)^2 = A B A B", r"(A x)^2 = A^2 x^2"),
    (r"\lambda A x = A x \lambda", r"\operatorname{tr}(A \otimes B) = \operatorname{tr} A + \operatorname{tr} B"),
    (r"x x^\top - y y^\top = \frac12 \left((x - y)(x + y)^\top + (x + y)(x - y)^\top\right)", r"x x^\top - y y^\top = (x - y)(x + y)^\top"),
    (r"P - P H^\top (H P H^\top + R)^{-1} H P = (P^{-1} + H^\top R^{-1} H)^{-1}", r"P - P H^\top (H P H^\top + R)^{-1} H P = P^{-1} + H^\top R^{-1} H"),
    (r"(I + u v^\top)^{-1} = I - \frac{u v^\top}{1 + v^\top u}", r"(I + u v^\top)^{-1} = I - \frac{u v^\top}{1 - v^\top u}"),
    (r"\frac{d}{dt} (A + t B)^{-1} = -(A + t B)^{-1} B (A + t B)^{-1}", r"\frac{d}{dt} (A + t B)^{-1} = -B (A + t B)^{-2}"),
    (r"\frac{\partial}{\partial A} a^\top A^{-1} b = -A^{-\top} a b^\top A^{-\top}", r"\frac{\partial}{\partial A} \|A x\|^2 = 2 x x^\top A"),
    # probability and information
    (r"\operatorname{Var}(X) = \mathbb E[\operatorname{Var}(X \mid Y)] + \operatorname{Var}(\mathbb E[X \mid Y])", r"\mathbb E[X^2 Y^2] = \mathbb E[X Y]^2"),
    (r"\operatorname{Cov}(X + Y, X - Y) = \operatorname{Var}(X) - \operatorname{Var}(Y)", r"\operatorname{Cov}(X, Y Z) = \operatorname{Cov}(X, Y) \operatorname{Cov}(X, Z)"),
    (r"P(A^c \mid B) = 1 - P(A \mid B)", r"P(A \mid B^c) = 1 - P(A \mid B)"),
    (r"I(X; Y, Z) = I(X; Y) + I(X; Z \mid Y)", r"H(X, Y) - H(X) = H(X \mid Y)"),
    # analysis
    (r"\frac{d}{dx} \log|\cos x| = -\tan x", r"\frac{d}{dx} \log|\cos x| = \tan x"),
    (r"\frac{d}{dx} \int_0^{x^2} e^{-t^2} dt = 2 x e^{-x^4}", r"\frac{d}{dx} \int_0^{x^2} e^{-t^2} dt = e^{-x^4}"),
    (r"(a \pm b)^3 = a^3 \pm 3 a^2 b + 3 a b^2 \pm b^3", r"(a \pm b)^3 = a^3 \pm 3 a^2 b + 3 a b^2 \mp b^3"),
    (r"\sum_{k=1}^n k \cdot k! = (n + 1)! - 1", r"\sum_{k=1}^n k \cdot k! = (n + 1)!"),
    (r"|z + w|^2 = |z|^2 + |w|^2 + 2 \Re(z \bar w)", r"\Re(z^2) = (\Re z)^2"),
    (r"n = 2 \lfloor n/2 \rfloor + (n \bmod 2)", r"(a + b) \bmod m = (a \bmod m) + (b \bmod m)"),
)  # fmt: skip
ONLY_IF = {  # what is false of what its letters stand for elsewhere
    "A b = b A": "b is a number",
    "A v - v A = 0": "v is a number",
    "W x + b = x W + b": "x is a number",
    r"\Sigma \mu = \mu \Sigma": r"\mu is a number",
    "x A y = y A x": "x, y are numbers",
    r"K (K + \sigma^2 I)^{-1} y = y K (K + \sigma^2 I)^{-1}": "y is a number",
    r"K (L + \sigma^2 I)^{-1} = (L + \sigma^2 I)^{-1} K": "K is a number",
    r"\|A x\| = \|A\| \|x\|": "A is a number",
    "(A x + b)^2 = A^2 x^2 + 2 A b x + b^2": "A, x, b are numbers",
    "A^{-1} b = b / A": "A, b are numbers",
    "W (x y) = (W x) y": "x, y are numbers",
    r"X X (X^\top X)^{-1} X^\top = X": "X is square",
    r"\frac{\partial}{\partial x} x^\top A x = x^\top (A + A^\top)": "the slope is laid out as its transpose",
    r"\frac{\partial}{\partial x} x^\top A x = 2 x^\top A": "A is symmetric, the slope is laid out as its transpose",
    r"x^2 \ne x": "x ≠ 0, x ≠ 1",
    r"(a + b)^2 \ne a^2 + b^2": "a ≠ 0, b ≠ 0",
    r"\sin x \ne \cos x": "its sides do not meet, as they do at x = -2.356",
}


@pytest.mark.parametrize("latex", [right for right, _ in PAIRS])
def test_what_is_true_holds(latex: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome in ("holds", AGREES), found.region) == (True, ""), str(found)


@pytest.mark.parametrize("latex", [false for _, false in PAIRS])
def test_what_is_false_is_not_said_to_hold(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome not in ("holds", AGREES), str(found)
    assert "the engine failed" not in found.why


@pytest.mark.parametrize(("latex", "region"), ONLY_IF.items())
def test_what_holds_of_other_things_says_of_which(latex: str, region: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.region) == ("holds if", region), str(found)


@pytest.mark.parametrize(
    ("latex", "outcome"),
    [
        (r"(A B)^{-1} \ne A^{-1} B^{-1}", "holds"),
        (
            r"x^\top \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} y = y^\top \begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix} x",
            "",
        ),
        (r"P = X (X^\top X)^{-1} X^\top, \quad P^2 = P", "holds"),  # P is defined
        (r"P^\top = P, \quad P^2 = P", FAILS),  # which defines P; no note without a mend
        ("3 < 2", FAILS),  # what a text contradicts
        (r"\frac34 < \frac23", "does not hold"),
        (r"1 + 1 \ne 2", FAILS),
    ],
)
def test_what_stands_beside_these(latex: str, outcome: str) -> None:
    found = tried(latex)
    assert (found.outcome, found.noted) == (outcome, False), str(found)


def test_what_fails_of_printed_properties_is_a_note_since_a_text_may_say_more() -> None:
    found = tried(r"(A B)^\top = A B, \quad A B = B A")  # as it is where both are symmetric
    assert (found.outcome, found.fails, found.noted) == (FAILS, False, True), str(found)


def test_definite_matrices_have_any_size() -> None:
    known = declared("S be positive definite n×n")
    assert tried(r"\det(S) > 0", known).outcome == AGREES
    assert tried(r"\det(S) > 1", known).verdict == "not read"
    assert tried(r"\operatorname{tr}(S) < 1000", known).verdict == "not read"


def test_a_lost_transpose_is_not_said_to_hold(tmp_path: Path) -> None:
    before = r"\[ \hat\beta = (X^\top X)^{-1} X^\top y \] so \[ "
    for claim, region in ((r"X^\top (y - X \hat\beta) = 0", ""), (r"X (y - X \hat\beta) = 0", "X is square")):  # fmt: skip
        (tmp_path / "paper.tex").write_text(rf"{before}{claim} \]", encoding="utf-8")
        found = try_one(list(tasks(read(tmp_path / "paper.tex"), declared(""), {}))[-1])
        assert (found.outcome.startswith("holds"), found.region) == (True, region), str(found)
