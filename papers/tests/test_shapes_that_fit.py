"""Marks of arrays: what holds for numbers alone is not certified, and what holds for arrays is."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import tried

from checked_papers.display_trials import UNFIT
from checked_papers.findings import AGREES
from checked_papers.tried.verdicts import ODD

TRUE = (
    r"(A B)^\top = B^\top A^\top",
    r"(A + B)^\top = A^\top + B^\top",
    r"(x^\top A y)^\top = y^\top A^\top x",
    r"x^\top y = y^\top x",
    r"x^\top A x = \frac{1}{2} x^\top (A + A^\top) x",
    r"\|x - y\|^2 = \|x\|^2 - 2 x^\top y + \|y\|^2",
    r"\|z - w\|^2 = \|z\|^2 - 2 z^\top w + \|w\|^2",
    r"\|s + z\|^2 + \|s - z\|^2 = 2 \|s\|^2 + 2 \|z\|^2",
    r"\|X w - y\|^2 = w^\top X^\top X w - 2 y^\top X w + y^\top y",
    r"\frac{\partial}{\partial w} (y - X w)^\top (y - X w) = -2 X^\top (y - X w)",
    r"\frac{\partial}{\partial w} \|y - X w\|^2 = 2 X^\top (X w - y)",
    r"\frac{\partial}{\partial w} w^\top A w = (A + A^\top) w",
    r"\frac{\partial}{\partial z} a^\top z = a",
    r"\frac{\partial}{\partial X} \log\det X = X^{-\top}",
    r"\frac{\partial}{\partial X} \operatorname{tr}(A X) = A^\top",
    r"\frac{\partial}{\partial X} \operatorname{tr}(X^\top A) = A",
    r"\frac{\partial}{\partial X} a^\top X b = a b^\top",
    r"\det(A B) = \det A \det B",
    r"\det(A^\top) = \det A",
    r"\det(A^{-1}) = \frac{1}{\det A}",
    r"\det(e^X) = e^{\operatorname{tr} X}",
    r"(e^X)^\top = e^{X^\top}",
    r"\log\det A = \operatorname{tr} \log A",
    r"(e^X)^{-1} = e^{-X}",
    r"\operatorname{tr}(A B) = \operatorname{tr}(B A)",
    r"\operatorname{tr}(A + B) = \operatorname{tr} A + \operatorname{tr} B",
    r"\operatorname{tr}(A^\top) = \operatorname{tr} A",
    r"\operatorname{tr}(x y^\top) = x^\top y",
    r"\operatorname{tr}(Z^\top Z) = \|Z\|_F^2",
    r"(A B)^{-1} = B^{-1} A^{-1}",
    r"(A^\top)^{-1} = (A^{-1})^\top",
    r"(A + B)^{-1} = A^{-1} - A^{-1} (A^{-1} + B^{-1})^{-1} A^{-1}",
    r"A^{-1} + B^{-1} = A^{-1} (A + B) B^{-1}",
    r"\det(A + u v^\top) = \det(A) (1 + v^\top A^{-1} u)",
    r"|z|^2 = z \bar z",
    r"\Re(z) = \frac{z + \bar z}{2}",
    r"e^{\mathrm i z} = \cos z + \mathrm i \sin z",
    r"\|-x\| = \|x\|",
    r"(w^\top x)^2 = w^\top x x^\top w",
    r"\|A x\|^2 = x^\top A^\top A x",
    r"s^2 - 2 s w + w^2 = (s - w)^2",
    r"\langle A x, y \rangle = \langle x, A^\top y \rangle",
    r"\langle x + y, x - y \rangle = \langle x, x \rangle - \langle y, y \rangle",
    r"\langle A, B \rangle = \operatorname{tr}(A^\top B)",
    # small letters in a printed matrix
    r"\det\begin{pmatrix} a & b \\ c & d \end{pmatrix} = a d - b c",
    r"\operatorname{tr}\begin{pmatrix} a & b \\ c & d \end{pmatrix} = a + d",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^\top = \begin{pmatrix} a & c \\ b & d \end{pmatrix}",
    r"\det\begin{pmatrix} A & 0 \\ 0 & D \end{pmatrix} = \det A \det D",
)
UNFITTING = (
    r"\operatorname{tr}(x^\top) = x",
    r"\operatorname{tr}(X) = X",
    r"\operatorname{tr}(A B) = A B",
    r"\operatorname{tr}(A + B) = A + B",
    r"\operatorname{tr}(A^{-1}) = A^{-1}",
    r"\det(A) = A",
    r"\det(A B) = A B",
    r"\det(X^{-1}) = X^{-1}",
    r"\|x - y\|^2 = \|x\|^2 - 2 x y + \|y\|^2",
    r"\|z + w\|^2 = \|z\|^2 + 2 z w + \|w\|^2",
    r"\|x\|^2 = x^2",
    r"\|x + y\|^2 = (x + y)^2",
    r"\|w\|^2 = w w",
    r"\operatorname{tr}(x y^\top) = x y",
    r"\langle x, y \rangle = x y",
)
DERIVATIVES = (r"(x y)' = x' y + x y'", r"\left(\frac{f}{g}\right)' = \frac{f' g - f g'}{g^2}")
NOT_FOR_ARRAYS = (
    r"\frac{\partial}{\partial w} (y - X w)^\top (y - X w) = -2 X (y - X w)",
    r"\frac{\partial}{\partial X} \log\det X = X^{-1}",
    r"\frac{\partial}{\partial X} \operatorname{tr}(A X) = A",
    r"\frac{\partial}{\partial X} \operatorname{tr}(X^{-1} A) = -X^{-1} A X^{-1}",
    r"\frac{\partial}{\partial X} \ln|X| = X^{-1}",
    r"e^{A + B} = e^A e^B",
    r"e^A e^B = e^B e^A",
    r"\log(A B) = \log A + \log B",
    r"\log\det A = \operatorname{tr} A",
    r"\det(e^X) = e^{\det X}",
    r"(a + b)^\top = a + b",
    r"(x y)^\top = x y",
    r"\left(\frac{a}{b}\right)^\top = \frac{a}{b}",
    r"\det(2 X) = 2 \det X",
    r"\det(A + B) = \det A + \det B",
    r"\operatorname{tr}(A B) = \operatorname{tr} A \operatorname{tr} B",
    r"\operatorname{tr}(A^{-1}) = \frac{1}{\operatorname{tr} A}",
    r"(A + B)^{-1} = A^{-1} + B^{-1}",
    r"(A B)^{-1} = A^{-1} B^{-1}",
    r"(A + B)^{-1} (A + B)^2 (A - B) = A^2 - B^2",
    r"(A B)^\top = A^\top B^\top",
    r"(A + B)^2 = A^2 + 2 A B + B^2",
    r"\|A x\| = \|A^\top x\|",
    r"\|x + y\| = \|x\| + \|y\|",
    r"\frac{\partial}{\partial w} w^\top A w = 2 A w",
    r"\frac{\partial}{\partial w} \|y - X w\|^2 = 2 X (X w - y)",
    r"\det(A^\top A) = \operatorname{tr}(A^\top A)",
    r"x^\top A y = y^\top A x",
    r"\det(M_{\alpha\beta}) > 0",
    r"\|A B\| = \|A\| \|B\|",
    r"\langle A x, y \rangle = \langle x, A y \rangle",
    r"\langle x, y \rangle^2 = \langle x, x \rangle \langle y, y \rangle",
    r"\langle A, B \rangle = \operatorname{tr}(A B)",
    r"x^\top A x = \operatorname{tr}(A x^\top x)",  # holds if A is a number
)


@pytest.mark.parametrize("latex", TRUE)
def test_what_holds_for_arrays_holds(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome in ("holds", AGREES), str(found)
    assert not found.region


@pytest.mark.parametrize("latex", UNFITTING)
def test_what_no_shapes_fit_is_a_note_and_not_read_as_one_of_numbers(latex: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.noted) == (ODD, True), str(found)
    assert UNFIT in found.why, found.why


@pytest.mark.parametrize("latex", NOT_FOR_ARRAYS)
def test_what_fails_for_arrays_does_not_simply_hold(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome not in ("holds", AGREES), str(found)


@pytest.mark.parametrize("latex", DERIVATIVES)
def test_a_prime_behind_small_letters_is_no_mark_of_arrays(latex: str) -> None:
    assert tried(latex, mending=False).verdict == "not read"


@pytest.mark.parametrize(
    "latex",
    [
        r"X^\top (y - X (X^\top X)^{-1} X^\top y) = 0",
        r"\left(I - X (X^\top X)^{-1} X^\top\right) X = 0",
        r"(X^\top X)^{-1} X^\top X - I = 0",
    ],
)
def test_zero_has_any_shape(latex):
    found = tried(latex, mending=False)
    assert found.outcome == "holds", str(found)
    assert "matrix n × p" in found.drawn["X"]


def test_what_is_zero_for_numbers_alone_is_told_so():
    found = tried("A B - B A = 0", mending=False)
    assert (found.outcome, found.region) == ("holds if", "A, B are numbers"), str(found)
